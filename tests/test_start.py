"""What is loaded to begin with: a command loads what it needs when it needs it."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import australis

ROOT = Path(__file__).parents[1]
HEAVY = {"numba", "llvmlite", "pyspark", "py4j", "sqlglot", "pydantic", "shapely", "soundfile", "scipy", "pywt",
         "matplotlib", "pandas", "yaml", "prometheus_client", "psutil"}  # fmt: skip
LOADED = "\nimport sys\nprint(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"


def loaded(code: str, folder: Path = ROOT) -> set[str]:
    """The packages that a process has loaded at the end of some code."""
    command = [sys.executable, "-c", code + LOADED]
    told = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    return set(told.stderr.splitlines()[-1].split())


def called(*words: str) -> str:
    """Code that is the command line with these words, and goes on after it."""
    return (
        f"import sys\nsys.argv = ['australis', *{list(words)!r}]\nfrom australis.cli.main import app\n"
        "try:\n    app()\nexcept SystemExit as end:\n    assert not end.code, end.code"
    )


def test_the_package_alone_loads_nothing_of_others() -> None:
    light = loaded("import australis as au")
    assert not light & {*HEAVY, "typer", "rich", "numpy", "pyarrow"}


@pytest.mark.parametrize("words", [["--help"], ["--version"]], ids=" ".join)
def test_the_list_of_commands_loads_none_of_them(words: list[str]) -> None:
    assert not loaded(called(*words)) & {*HEAVY, "numpy", "pyarrow"}


@pytest.mark.parametrize("words", ["run", "bench", "sql", "linear-road simulate", "moving", "signals"])
def test_a_help_text_loads_only_what_shows_it(words: str) -> None:
    """What reads the command line loads pydantic, once there is a command."""
    assert not loaded(called(*words.split(), "--help")) & ({*HEAVY, "numpy", "pyarrow"} - {"pydantic"})


NETWORK = """\
import australis as au
reports = au.stream("reports", "time int, vid int, mph int, xway int, seg int")
jams = (reports
        .aggregate(on="time", size=60, by=["xway", "seg"], cars="count(distinct vid)", mph="avg(mph)")
        .filter("cars > 50 and mph < 40"))
net = au.network(jams=jams.output(latency={2: 1.0, 10: 0.0}))
"""


def test_a_network_is_built_without_what_runs_it() -> None:
    assert not loaded(NETWORK) & (HEAVY - {"sqlglot"})


@pytest.mark.slow
@pytest.mark.parametrize("sink", ["jams.csv", "jams.jsonl"])
def test_a_local_run_loads_no_spark_and_nothing_of_other_boxes(sink: str, tmp_path: Path) -> None:
    (tmp_path / "write.py").write_text(NETWORK + "au.dump(net, 'jams.yaml')\n")
    subprocess.run([sys.executable, "write.py"], cwd=tmp_path, check=True)
    source = f"reports={ROOT / 'examples' / 'reports.csv'}"
    words = ["run", "jams.yaml", "--local", "--source", source, "--sink", f"jams={sink}"]
    others = {"pyspark", "py4j", "pandas", "shapely", "soundfile", "pywt", "matplotlib", "prometheus_client", "psutil"}
    assert not loaded(called(*words), tmp_path) & others
    assert "120" in (tmp_path / sink).read_text()


def test_a_name_of_the_package_is_its_own_whatever_module_was_imported_first() -> None:
    """Some are those of modules too, which Python would put in their place."""
    code = (
        "import importlib, types, australis as au\n"
        "for name in au.__all__:\n"
        "    try:\n        importlib.import_module(f'australis.{name}')\n"
        "    except ModuleNotFoundError:\n        pass\n"
        "import australis.api.stream\n"
        "assert not [name for name in au.__all__ if isinstance(getattr(au, name), types.ModuleType)]\n"
        "assert callable(au.stream) and callable(au.network) and callable(au.expr)\n"
        "assert isinstance(au.errors, types.ModuleType)\n"
        "from australis import stream, Local\n"
        "assert stream is au.stream\n"
    )
    loaded(code)


def test_the_package_lists_its_names_and_refuses_others() -> None:
    assert set(australis.__all__) <= set(dir(australis))
    with pytest.raises(AttributeError, match="No australis attribute straem"):
        _ = australis.straem  # type: ignore[attr-defined]


PACKAGES = ["australis", "australis.boxes", "australis.boxes.moving", "australis.boxes.signals", "australis.queries"]


@pytest.mark.parametrize("package", PACKAGES)
def test_what_types_are_told_of_is_what_is_there(package: str) -> None:
    module = import_module(package)
    stub = Path(str(module.__file__)).with_suffix(".pyi")
    told = {
        alias.name: node.module
        for node in ast.parse(stub.read_text()).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sorted(told) == sorted(module.__all__)
    for name, place in told.items():
        assert getattr(module, name) is getattr(import_module(f"{package}.{place}"), name)
