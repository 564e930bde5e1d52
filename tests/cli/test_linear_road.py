"""The tools of Linear Road together, as people run them."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from australis.apps.linear_road.benchmark import Benchmark
from australis.apps.linear_road.feed import feed
from australis.apps.linear_road.road_history import open_history
from australis.apps.linear_road.shed_note import note_of, write_note
from australis.apps.linear_road.validation import validate
from australis.qos.shedding import shed_plan
from tests.cli import commands

pytestmark = pytest.mark.spark

SECONDS = 480
AUSTRALIS = (str(Path(sys.executable).with_name("australis")), "linear-road")


def tool(*words: object, check: bool = True) -> "subprocess.CompletedProcess[str]":
    """Run `australis linear-road` with these words."""
    command = [*AUSTRALIS, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert not check or done.returncode == 0, done.stderr + done.stdout
    return done


def told(*words: object, code: int = 0) -> Any:
    """Run a command in this process."""
    return commands.told(*map(str, words), code=code)


@pytest.fixture(scope="module")
def road(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight minutes of two expressways, with their history."""
    folder = tmp_path_factory.mktemp("linear") / "road"
    said = tool("simulate", "--out", folder, "--xways", 2, "--seconds", SECONDS, "--seed", os.getpid()).stdout
    assert "reports of" in said
    tool("history", folder)
    return folder


def test_a_run_at_full_speed_is_right_to_the_last_tuple(road: Path, tmp_path: Path) -> None:
    """Also by graphs by which travel times may be shed: at full speed all can wait."""
    given, answers = ("--input", road, "--history", road / "history"), tmp_path / "answers.csv"
    file, costs = tmp_path / "road.yaml", tmp_path / "costs.json"
    file.write_text(tool("network", "--flood").stdout)
    note_of(answers).write_text('{"travel times": 7}')  # of a run before
    tool("run", *given, "--output", answers, "--speed", "max", "--copies", 2, "--network", file, "--costs", costs)
    assert not note_of(answers).exists()
    boxes = json.loads(costs.read_text())["boxes"]
    assert boxes["types"]["selectivity"]["1"] > 0.9
    assert boxes["journeys"]["seconds"] > 0
    verdict = json.loads(
        tool("validate", *given, "--output", answers, "--speed", "max", "--copies", 2, "--json").stdout
    )
    assert verdict["ok"]
    assert verdict["answers"]["toll notifications"]["due"] > 10_000
    assert verdict["answers"]["travel times"]["due"] > 100

    lines = answers.read_text().splitlines()
    (tmp_path / "fewer.csv").write_text("\n".join(lines[1:]))
    said = tool("validate", *given, "--output", tmp_path / "fewer.csv", "--speed", "max", "--copies", 2, check=False)
    assert said.returncode == 1
    assert "missing (1)" in said.stdout


def test_a_run_from_a_flat_file_that_is_killed_goes_on(road: Path, tmp_path: Path) -> None:
    """The first half of a flat file at once, then so slowly that it is killed on the way in any case."""
    flat, answers = tmp_path / "flat.dat", tmp_path / "answers.csv"
    with flat.open("wb") as file:
        command = [*AUSTRALIS, "drive", str(road), "--speed", "max"]
        subprocess.run(command, stdout=file, check=True, timeout=600)
    run = ["run", "--input", str(flat), "--history", str(road / "history"), "--output", str(answers),
           "--checkpoint", str(tmp_path / "checkpoint")]  # fmt: skip
    first = subprocess.Popen([*AUSTRALIS, *run, "--lead", str(SECONDS // 2), "--speed", "2"], start_new_session=True)
    limit = time.monotonic() + 600
    while not (answers.exists() and answers.stat().st_size) and time.monotonic() < limit:
        assert first.poll() is None
        time.sleep(0.1)
    time.sleep(1.5)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    before = answers.stat().st_size
    tool(*run, "--speed", "max")
    assert answers.stat().st_size > before > 0
    stream = feed(flat)
    verdict = validate(stream, answers, open_history(road / "history", feed(road)), speed=float("inf"))
    assert verdict.ok, verdict.text()


def test_of_a_flood_none_is_wrong_and_what_is_missing_was_shed(road: Path, tmp_path: Path, spark: Any) -> None:
    """Shed by a plan, so that it does not depend on how busy the machine is."""
    flooded, answers, file = tmp_path / "flooded", tmp_path / "answers.csv", tmp_path / "road.yaml"
    said = told("linear-road", "flood", road, "--out", flooded, "--rate", 250, "--from", SECONDS - 240).stdout
    assert "60,000 requests for travel times more" in said.replace("\n", " ")
    file.write_text(told("linear-road", "network", "--flood").stdout)
    stream = feed(flooded)
    bench = Benchmark(stream, answers, open_history(road / "history", stream), math.inf, file=file)
    with bench.start(spark=spark, train=10_000) as run:
        run.leave_out(shed_plan(run.optimized, {"journeys": 0.25}))
        run.wait()
    assert run.totals.shed.keys() == {"box journeys"}
    shed, given = run.totals.shed["box journeys"], run.totals.given["journeys"]
    assert 30_000 < shed < 60_000
    assert write_note(run, answers) == {"travel times": shed}

    def validated(output: Path, *words: object, code: int = 1) -> str:
        asked = ("--input", flooded, "--history", road / "history", "--speed", "max", "--output", output)
        return str(told("linear-road", "validate", *asked, *words, code=code).stdout)

    verdict = json.loads(validated(answers, "--shed", note_of(answers), "--json", code=0))
    assert verdict["ok"]
    assert verdict["answers"]["travel times"]["missing"] == shed
    assert verdict["answers"]["travel times"]["right"] == given
    assert verdict["answers"]["toll notifications"]["due"] > 5000
    unnoted = validated(answers)
    assert f"verdict: none is wrong, but {shed:,} travel times are missing" in unnoted
    assert f"travel times, missing ({shed}), the first 10:" in unnoted
    (tmp_path / "less.json").write_text(json.dumps({"travel times": shed - 1}))
    assert "what is missing is not what was shed" in validated(answers, "--shed", tmp_path / "less.json")
    lines = answers.read_text().splitlines()
    place = next(place for place, line in enumerate(lines) if line.startswith("4,"))
    lines[place] = ",".join([*lines[place].split(",")[:-2], "1", "0"])
    (tmp_path / "wrong.csv").write_text("\n".join(lines))
    assert "verdict: NOT right" in validated(tmp_path / "wrong.csv", "--shed", note_of(answers))


def test_mistakes_are_told(tmp_path: Path) -> None:
    said = tool("run", "--input", tmp_path / "none", "--output", tmp_path / "answers.csv", check=False)
    assert said.returncode == 1
    assert "no such file or folder; `australis linear-road simulate --out" in said.stderr
    said = tool("simulate", "--out", tmp_path / "road", "--format", "xml", check=False)
    assert said.returncode == 1
    assert "xml" in said.stderr
    (tmp_path / "flat.dat").write_text("0,1\n")
    said = tool("history", tmp_path / "flat.dat", check=False)
    assert "say with --out where the history goes" in said.stderr
    said = tool("validate", "--input", tmp_path / "flat.dat", "--output", tmp_path / "none.csv", check=False)
    assert "none.csv" in said.stderr
    said = tool("drive", tmp_path / "flat.dat", "--speed", "fast", check=False)
    assert "--speed fast: give a number, such as 10, or `max`" in said.stderr


def test_what_asks_about_the_past_is_not_run_or_rated_without_a_history(tmp_path: Path) -> None:
    tool("simulate", "--out", tmp_path / "road", "--seconds", 120)
    for words in (("run", "--output", tmp_path / "answers.csv", "--speed", "max"), ("rate", "--minutes", 1)):
        said = tool(*words, "--input", tmp_path / "road", check=False)
        assert said.returncode == 1
        assert "requests ask about the weeks before" in said.stderr
        assert not (tmp_path / "answers.csv").exists()


def test_options_that_contradict_each_other_and_bad_lines_are_told(tmp_path: Path) -> None:
    flat = tmp_path / "flat.dat"
    flat.write_text("0,1,1,50,0,7,0,5,26400,-1,-1,-1,-1,-1,-1\n")
    for words, said in (
        (("rate", "--input", flat, "--from", 64, "--to", 32), "--from 64 --to 32: give no more expressways"),
        (("drive", flat, "--speed", "max", "--to", "a:1", "--listen", 2), "--to a:1 and --listen 2: give one of them"),
        (("drive", flat), "flat.dat, line 1: `0,1,1,50,0,7,"),
        (("run", "--input", flat, "--output", tmp_path / "answers.csv"), "lane is 7; give 0 to 4"),
    ):
        refused = tool(*words, check=False)
        assert refused.returncode == 1
        assert said in refused.stderr
