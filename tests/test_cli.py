"""The command line."""

from inspect import signature

import pytest
from typer.testing import CliRunner

from australis.cli import app

RUN = CliRunner()
FILE = """\
australis: 1
inputs:
  reports: time int, mph int
boxes:
  fast: {filter: mph > 60, from: reports}
outputs:
  fast: fast
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.yaml").write_text(FILE)
    (tmp_path / "reports.csv").write_text("time,mph\n1,70\n2,50\n3,80\n")
    return tmp_path


def told(*arguments, code=0):
    result = RUN.invoke(app, list(arguments))
    assert result.exit_code == code, result.output
    return result


def test_version():
    assert told("--version").stdout.startswith("australis 0.")


def test_check_says_that_a_file_is_valid(place):
    assert told("check", "net.yaml").stdout == "net.yaml: valid; 1 input, 1 box, 1 output\n"


def test_mistakes_are_one_line_on_stderr_without_a_traceback(place):
    (place / "net.yaml").write_text(FILE.replace("mph > 60", "mhp > 60"))
    result = told("check", "net.yaml", code=1)
    assert result.stdout == ""
    assert result.stderr.startswith("australis: net.yaml, line 5: filter fast: `mhp > 60`: there is no column `mhp`")
    assert result.stderr.count("\n") == 1
    assert told("explain", "nothing.yaml", code=1).stderr == (
        "australis: nothing.yaml: [Errno 2] No such file or directory: 'nothing.yaml'\n"
    )


def test_debug_shows_the_traceback(place):
    result = RUN.invoke(app, ["--debug", "check", "nothing.yaml"])
    assert type(result.exception).__name__ == "NetworkError"


def test_explain_and_draw(place):
    assert "fast: filter of reports" in told("explain", "net.yaml", "--svg", "net.svg").stdout
    assert (place / "net.svg").read_text().startswith("<svg")
    assert "missing/net.svg" in told("explain", "net.yaml", "--svg", "missing/net.svg", code=1).stderr


def test_run_over_files(place):
    result = told("run", "net.yaml", "--local", "--input", "reports=reports.csv", "--output", "fast=fast.jsonl")
    assert result.stdout == "fast: 2 tuples in fast.jsonl\n"
    assert (place / "fast.jsonl").read_text() == '{"time": 1, "mph": 70}\n{"time": 3, "mph": 80}\n'
    assert "70" in told("run", "net.yaml", "--local", "--input", "reports=reports.csv").stdout


def test_mistakes_in_a_run(place):
    assert "give --local" in told("run", "net.yaml", code=1).stderr
    assert (
        "--input reports: write it as name=path"
        in told("run", "net.yaml", "--local", "--input", "reports", code=1).stderr
    )
    assert "no file matches" in told("run", "net.yaml", "--local", "--input", "reports=x.csv", code=1).stderr


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


def test_demo():
    shown = told("demo").stdout
    assert "stats: aggregate of reports" in shown
    assert "jams" in shown


def test_bench_hands_its_options_on(monkeypatch):
    boxes = pytest.importorskip("australis.bench.boxes")
    given = []
    real = signature(boxes.main)
    monkeypatch.setattr(boxes, "main", lambda **options: given.append(real.bind(**options).arguments))
    told("bench", "boxes", "--tuples", "10", "--train", "5", "--only", "filter")
    assert (given[0]["tuples"], given[0]["train"], given[0]["only"]) == (10, 5, "filter")


def test_help_lists_the_commands():
    shown = told("--help").stdout
    for command in ("check", "explain", "run", "demo", "bench"):
        assert command in shown
