"""The options of commands that run a network."""

from dataclasses import fields, replace
from inspect import signature
from pathlib import Path

import pytest

from australis.cli.options import Options, paths, several, with_options
from australis.errors import RunError
from tests.cli.commands import FILE, told


def test_functions_come_from_a_module(place):
    (place / "net.yaml").write_text(FILE.replace("mph > 60", "cli_twice(mph) > 150"))
    assert "--functions module.py" in told("check", "net.yaml", code=1).stderr
    (place / "mine.py").write_text(
        "import pyarrow.compute as pc\nimport australis as au\n\n"
        "@au.function('bigint')\ndef cli_twice(x):\n    return pc.multiply(x, 2)\n"
    )
    result = told("run", "net.yaml", "--functions", "mine.py", "--local", "--input", "reports=reports.csv")
    assert "80" in result.stdout
    assert "70" not in result.stdout
    (place / "mine.py").write_text("import nothing_of_the_kind\n")
    assert (
        "--functions mine.py: ModuleNotFoundError" in told("check", "net.yaml", "--functions", "mine.py", code=1).stderr
    )


def test_functions_come_from_an_installed_module(place):
    (place / "net.yaml").write_text(FILE.replace("mph > 60", "'lr_spent(mph, mph, mph) > 150'"))
    told("check", "net.yaml", "--functions", "australis.apps.linear_road.functions")
    for name in ("nothing.of_the_kind", "nothing.py", "no-name"):
        assert f"--functions {name}: " in told("check", "net.yaml", "--functions", name, code=1).stderr


@pytest.mark.parametrize(
    ("how", "option"),
    [
        (Options(), ""),
        (Options(master="local[2]"), ""),
        (Options(master="spark://host:7077"), "--master"),
        (Options(checkpoint=Path("road"), master="yarn"), "--checkpoint"),
    ],
)
def test_options_that_make_others_read_the_sources(how: Options, option: str) -> None:
    assert how.elsewhere == option


@pytest.mark.parametrize("name", [each.name for each in fields(Options)])
def test_options_for_spark_are_refused_beside_local(name: str) -> None:
    how = replace(Options(local=True), **{name: True})
    if name in ("train", "speed", "strict", "no_optimize", "quiet", "local"):
        how.check()
        return
    with pytest.raises(
        RunError, match=f"--{name.replace('_', '-')}: is for runs on Spark; leave it out, or leave out --local"
    ):
        how.check()


def test_a_command_has_its_own_parameters_and_all_options() -> None:
    taken: list[object] = []

    def command(file: Path, *, how: Options) -> None:
        """Say what it is."""
        taken.append((file, how))

    made = with_options(command)
    assert list(signature(made).parameters) == ["file", *(each.name for each in fields(Options))]
    assert made.__doc__ == "Say what it is."
    made(file=Path("net.yaml"), **vars(Options(train=5)))
    assert taken == [(Path("net.yaml"), Options(train=5))]


def test_values_with_commas_or_again() -> None:
    assert several([" a , b", "", "c,,"]) == ["a", "b", "c"]
    assert several(None) == []


def test_a_file_may_have_a_comma_in_its_name(tmp_path: Path) -> None:
    odd = tmp_path / "a,b.py"
    odd.touch()
    assert paths([str(odd), "c.py,d.py"], "--functions") == [odd, Path("c.py"), Path("d.py")]
    with pytest.raises(RunError, match=r"--functions s3://bucket/f\.py"):
        paths(["s3://bucket/f.py"], "--functions")
