"""The command line."""

import json
import re
import shlex
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from urllib.request import urlopen

import pytest

import australis as au
from australis.cli import arguments as given
from australis.cli import run as command
from australis.cli.main import app
from australis.connectors import dead_letters as letters
from australis.connectors.sinks.console import Console
from australis.connectors.sinks.single import Single
from australis.connectors.source import parts
from tests.cli.commands import FILE, RUN, told


def test_version():
    assert told("--version").stdout.startswith("australis 0.")


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


def test_a_local_run_tells_of_lines_that_do_not_read_or_is_strict(place):
    Path("bad.csv").write_text(Path("reports.csv").read_text() + "soon\n")
    command = ("run", "net.yaml", "--local", "--input", "reports=bad.csv")
    result = told(*command)
    assert "70" in result.stdout
    assert "1 dead letter; the first: reports: bad.csv: at " in result.stderr
    assert "dead letter" not in told(*command, "--quiet").stderr
    assert "without `strict`" in told(*command, "--strict", code=1).stderr


@pytest.mark.parametrize(
    ("options", "mistake"),
    [
        ("", "input reports has no source: give it one, such as --source reports=reports.csv"),
        ("--source reports", "--source reports: write it as NAME=TEXT, such as --source reports=reports.csv"),
        ("--input reports=", "--source reports=: write it as NAME=TEXT"),
        ("--source report=r.csv", "there is no input report; there are reports; did you mean `reports`?"),
        ("--source fast=r.csv", "--source fast: there is no input fast; there are reports"),
        ("--source reports=a.csv --source reports=b.csv", "--source reports=b.csv: reports is given already"),
        ("--source reports=replay:r.csv", "--source reports: replay:r.csv: say which column is the time"),
        ("--source reports=r.csv --sink slow=s.csv", "--sink slow: there is no output slow; there are fast"),
        ("--source reports=r.csv --sink fast=f.doc", "--sink fast=f.doc: there is no sink `f.doc`; a sink is one of"),
        ("--source reports=r.csv --trigger 5", "--trigger 5: `5` is not a duration"),
        ("--source reports=r.csv --speed 2", "write one with the column that has the times, such as --source"
         " 'reports=replay:r.csv?on=time'"),
        ("--source reports=replay:r.csv?on=time --speed soon", "--speed soon: give a number, such as 10, or `max`"),
        ("--source reports=replay:r.csv?on=time --speed 0", "--speed 0: give a number above zero"),
        ("--source reports=replay:r.csv?on=time --speed inf", "--speed inf: give a number above zero"),
        ("--source reports=r.csv --metrics 70000", "--metrics 70000: `70000` is no port"),
        ("--source reports=r.csv --metrics here", "--metrics here: `here` is no port"),
        ("--source reports=r.csv --metrics 192.0.2.1:9", "metrics at 192.0.2.1:9: Cannot assign requested address"),
        ("--source reports=r.csv --master nobody", "--master nobody: is no Spark cluster; write for example spark://"),
        ("--source reports=r.csv --local --json", "--json: is for runs on Spark; leave it out, or leave out --local"),
        ("--source reports=nothing.csv --local", "no file matches"),
    ],
)  # fmt: skip
def test_mistakes_in_a_run_are_one_line_without_spark(place, options, mistake):
    result = told("run", "net.yaml", *options.split(), code=1)
    assert result.stdout == ""
    assert result.stderr.startswith("australis: ")
    assert mistake in result.stderr
    assert result.stderr.count("\n") == 1


def test_numbers_that_are_none(place):
    for option in ("--partitions", "--train"):
        result = told("run", "net.yaml", option, "0", code=2)
        assert result.stderr.startswith(f"australis: Invalid value for '{option}'")
        assert result.stderr.count("\n") == 1


def test_speed_is_that_of_every_replay(place):
    inputs = au.stream("a", "time int"), au.stream("b", "time int"), au.stream("c", "time int")
    net = au.network(all=inputs[0].union(*inputs[1:]))
    texts = {"a": "replay:a.csv?on=time&speed=3", "b": "replay:b.csv?on=time", "c": "c.csv"}
    found = given.sources(net, texts, "2.5")
    assert [getattr(source, "speed", None) for source in found.values()] == [2.5, 2.5, None]
    assert [getattr(source, "speed", None) for source in given.sources(net, texts).values()] == [3, 1, None]


def test_the_fastest_replay_waits_for_nothing(place):
    (place / "days.csv").write_text("time\n0\n864000\n")
    net = au.network(all=au.stream("a", "time int").filter("true"))
    source = given.sources(net, {"a": "replay:days.csv?on=time"}, "max")["a"]
    assert sum(part.tuples.num_rows for part in parts(replace(source, began=0))) == 2


def test_outputs_without_a_sink_are_shown_or_go_nowhere(place):
    net = au.network(a=au.stream("r", "time int").filter("time > 0"), b=au.stream("r", "time int").filter("time < 9"))
    assert given.sinks(net, {"b": "b.csv"}) == {"a": Console(name="a"), "b": Single("b.csv")}
    assert given.sinks(net, {"b": "console"}, printed=False) == {"b": Console(name="b")}


RATE = "reports=rate:2000?time=cast(n as int)&mph=cast(mod(n, 100) as int)"


@contextmanager
def started(*arguments):
    """The real command, as a process of its own."""
    command = [str(Path(sys.executable).with_name("australis")), "run", "net.yaml", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.spark
def test_a_run_on_spark(place):
    with (place / "reports.csv").open("a") as file:
        file.write("4,soon\n")
    arguments = ("--source", "reports=reports.csv", "--sink", "fast=fast.csv", "--checkpoint", "road")
    with started(*arguments) as process:
        out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert out == ""
    assert re.fullmatch(
        r"in: reports 3; out: fast 2 \(fast\.csv\); 1 batch in [\d.]+ s; 1 dead letter in road/letters; the first:"
        r" reports: \S+/reports\.csv: at 24: column mph: .*, in 4,soon\n",
        err,
    ), err
    assert (place / "fast.csv").read_text() == '"time","mph"\n1,70\n3,80\n'
    assert letters.dead_letters("road")["raw"].to_pylist() == [b"4,soon"]


@pytest.mark.spark
def test_json_has_an_object_a_batch_and_nothing_else_on_stdout(place):
    limited = f"{RATE}&limit=3000"
    with started("--source", limited, "--json", "--train", "1000", "--metrics", "0", "--partitions", "1") as process:
        first = process.stdout.readline()
        metrics = next(line for line in process.stderr if line.startswith("metrics at ")).split()[-1]
        with urlopen(metrics) as answer:
            assert b'australis_tuples_in_total{input="reports"}' in answer.read()
        out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    *batches, total = [json.loads(line) for line in (first + out).splitlines()]
    assert [each["batch"] for each in batches] == list(range(1, len(batches) + 1))
    assert len(batches) > 2
    assert max(each["taken"]["reports"] for each in batches) <= 1000
    assert sum(each["taken"]["reports"] for each in batches) == total["taken"]["reports"] == 3000
    assert sum(each["given"]["fast"] for each in batches) == total["given"]["fast"] == 30 * 39
    assert (total["batches"], total["letters"], total["ended"]) == (len(batches), 0, "end")


@pytest.mark.spark
def test_a_run_that_is_stopped_goes_on_with_nothing_lost_or_doubled(place):
    arguments = ("--source", RATE, "--sink", "fast=fast.csv", "--checkpoint", "road")
    ends = []
    for number in (signal.SIGINT, signal.SIGTERM):
        with started(*arguments) as process:
            size = (place / "fast.csv").stat().st_size if ends else 0
            limit = time.monotonic() + 300
            while not (place / "fast.csv").exists() or (place / "fast.csv").stat().st_size < size + 10_000:
                assert process.poll() is None, process.communicate()
                assert time.monotonic() < limit
                time.sleep(0.1)
            process.send_signal(number)
            out, err = process.communicate(timeout=300)
        assert process.returncode == 128 + number, err
        assert out == ""
        assert err.splitlines()[0] == command._STOPPING
        assert f"goes on from here: australis run net.yaml {shlex.join(arguments)}" in err.splitlines()[-1]
        ends.append((place / "fast.csv").read_text().splitlines()[1:])
    first, both = ends
    assert both[: len(first)] == first
    assert len(both) > len(first)
    expected = (f"{n},{n % 100}" for n in range(1 << 30) if n % 100 > 60)
    assert both == list(islice(expected, len(both)))


@pytest.mark.spark
def test_strict_ends_at_the_first_line_that_does_not_read_with_one_line(place):
    (place / "reports.csv").write_text("time,mph\n1,70\n4,soon\n")
    with started("--source", "reports=reports.csv", "--strict") as process:
        err = process.communicate(timeout=300)[1]
    assert process.returncode == 1
    assert err.startswith(f"australis: input reports: {place / 'reports.csv'}: at 14: column mph")
    assert err.count("\n") == 1


def test_help_lists_the_commands():
    shown = told("--help").stdout
    for name in ("check", "explain", "run", "demo", "bench"):
        assert name in shown


def test_python_runs_the_package():
    told = subprocess.run([sys.executable, "-m", "australis", "--version"], capture_output=True, text=True, check=True)
    assert told.stdout.startswith("australis 0.")
    told = subprocess.run([sys.executable, "-m", "australis", "check", "x"], capture_output=True, text=True)
    assert told.stderr.startswith("australis: x: ")


CSV = "time,mph\n1,70\n2,50\n3,80\n"
LINES = '{"time": 1, "mph": 70}\n{"time": 2, "mph": 50}\n{"time": 3, "mph": 80}\n'


@pytest.mark.parametrize(("given_as", "data"), [("-", CSV), ("-?format=csv", CSV), ("-?format=jsonl", LINES)])
@pytest.mark.parametrize(
    ("sink", "expected"),
    [
        ("-", '"time","mph"\n1,70\n3,80\n'),
        ("-?format=jsonl", '{"time": 1, "mph": 70}\n{"time": 3, "mph": 80}\n'),
    ],
)
def test_tuples_come_and_go_by_standard_input_and_output(place, given_as, data, sink, expected):
    words = ["run", "net.yaml", "--source", f"reports={given_as}", "--sink", f"fast={sink}", "--local"]
    shown = RUN.invoke(app, words, input=data)
    assert (shown.exit_code, shown.stdout) == (0, expected), shown.output
    query = ["sql", "SELECT time, mph FROM reports WHERE mph > 60", "--schema", "reports=time int, mph int"]
    shown = RUN.invoke(app, [*query, "--source", f"reports={given_as}", "--sink", f"out={sink}", "--local"], input=data)
    assert (shown.exit_code, shown.stdout) == (0, expected), shown.output


@pytest.mark.parametrize(
    ("words", "mistake"),
    [
        (["--source", "reports=-", "--checkpoint", "road"], "with --checkpoint it would have to be read again"),
        (["--source", "reports=-", "--master", "spark://a:7077"], "with --master it would have to be read again"),
        (["--source", "reports=-?format=xml", "--local"], "there is no format xml; there are csv"),
        (["--source", "reports=reports.csv", "--sink", "fast=-?x=1", "--local"], "there is no option x"),
        (["--source", "reports=reports.csv", "--sink", "fast=-", "--json"], "the standard output is for --json"),
    ],
)
def test_standard_input_and_output_that_cannot_be(place, words, mistake):
    shown = RUN.invoke(app, ["run", "net.yaml", *words], input=CSV)
    assert shown.exit_code == 1
    assert shown.stderr.startswith("australis: ")
    assert mistake in shown.stderr
    assert len(shown.stderr.splitlines()) == 1


@pytest.mark.spark
def test_a_run_on_spark_by_standard_input_and_output(place):
    words = ["run", "net.yaml", "--source", "reports=-", "--sink", "fast=-", "--quiet"]
    told = subprocess.run([sys.executable, "-m", "australis", *words], input=CSV, capture_output=True, text=True)
    assert (told.returncode, told.stdout, told.stderr) == (0, '"time","mph"\n1,70\n3,80\n', "")


def test_tables_are_alike_in_all_commands(place, capsys):
    shown = told("run", "net.yaml", "--source", "reports=reports.csv", "--local").stdout
    asked = told("sql", "SELECT time, mph FROM reports WHERE mph > 60", "--source", "reports=reports.csv", "--local")
    table = au.load("net.yaml").run_local(reports="reports.csv")["fast"]
    Console(name="fast").open(table.schema).write(1, table.to_batches())
    printed = capsys.readouterr().out
    rows = [[line.strip() for line in text.splitlines()[1:] if line.strip()] for text in (shown, asked.stdout, printed)]
    assert rows[0] == rows[1] == rows[2]
    assert printed.startswith("fast, batch 1: 2 tuples")
