"""The commands about a network file."""

from australis.cli.main import app
from tests.cli.commands import FILE, RUN, told


def test_check_says_that_a_file_is_valid(place):
    assert told("check", "net.yaml").stdout == "net.yaml: valid; 1 input, 1 box, 1 output\n"


def test_explain_and_draw(place):
    assert "fast: filter of reports" in told("explain", "net.yaml", "--svg", "net.svg").stdout
    assert (place / "net.svg").read_text().startswith("<svg")
    assert "missing/net.svg" in told("explain", "net.yaml", "--svg", "missing/net.svg", code=1).stderr


def test_run_over_files(place):
    result = told("run", "net.yaml", "--local", "--input", "reports=reports.csv", "--output", "fast=fast.jsonl")
    assert result.stdout == "fast: 2 tuples in fast.jsonl\n"
    assert (place / "fast.jsonl").read_text() == '{"time": 1, "mph": 70}\n{"time": 3, "mph": 80}\n'
    assert "70" in told("run", "net.yaml", "--local", "--input", "reports=reports.csv").stdout


def test_a_network_comes_from_the_standard_input(place):
    shown = RUN.invoke(app, ["check", "-"], input=FILE)
    assert shown.stdout == "standard input: valid; 1 input, 1 box, 1 output\n"
    shown = RUN.invoke(app, ["check", "-"], input="australis: 2")
    assert shown.stderr.startswith("australis: standard input, line 1: ")
    assert told("explain", "net.yaml", "--svg", "-").stdout.rstrip().endswith("</svg>")
