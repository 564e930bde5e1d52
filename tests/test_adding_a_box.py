"""What docs/adding_a_box.md says is done to a copy of the package, and the box works wherever boxes do."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_documents import ROOT, blocks

USE = """
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

import australis as au

folder = Path(sys.argv[1])
NET = '''
australis: 2
inputs:
  reports: vid int, mph int
boxes:
  some: {sample: {n: 3, by: vid}, from: reports}
  fast: {filter: mph > 50, from: some}
  rare: {sample: 2, from: some}
outputs: {fast: fast, rare: rare}
'''
"""

DRAW = """
reports = au.stream("reports", "vid int, mph int")
some = reports.sample(3, by="vid", box="some")
net = au.network(fast=some.filter("mph > 50", box="fast"), rare=some.sample(2, box="rare"))
assert net == au.loads(NET), au.dumps(net)
assert au.loads(au.dumps(net)) == net
assert "sample: 2" in au.dumps(net), au.dumps(net)
plan = net.explain(plan=True)
assert "a count for each vid" in plan, plan
assert "sample" in net.svg()
for wrong in (
    lambda: reports.sample("three"), lambda: reports.sample(3, by="vidd"), lambda: au.loads(NET.replace("n: 3", "m: 3"))
):
    try:
        wrong()
    except au.AustralisError as error:
        assert "sample" in str(error), error
    else:
        raise AssertionError("it is not refused")
reports = [(i % 7 if i % 5 else None, i % 100) for i in range(20_000)]
vid, mph = (pa.array(column, pa.int32()) for column in zip(*reports))
table = pa.table({"vid": vid, "mph": mph})
pa.csv.write_csv(table, folder / "reports.csv")
local = au.loads(NET).run_local(reports=table)
pa.csv.write_csv(local["fast"], folder / "fast.expected.csv")
pa.csv.write_csv(local["rare"], folder / "rare.expected.csv")
"""

RUN = """
run = au.loads(NET).start(
    reports=folder / "reports.csv", fast=f"{folder}/fast.csv", rare=f"{folder}/rare.csv",
    checkpoint=folder / "checkpoint", master="local[2]", partitions=2, train=1000,
)
while not run.wait(0.05):
    print(run.progress[-1]["batch"] if run.progress else 0, flush=True)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with the box of the document."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "tests").mkdir()
    shutil.copy(ROOT / "tests/conftest.py", folder / "tests")
    for block in blocks(ROOT / "docs/adding_a_box.md"):
        for name in block.words:
            path = folder / name
            if name != "no-run":
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text((path.read_text() if path.exists() else "") + block.text)
    (folder / "draw.py").write_text(USE + DRAW)
    (folder / "run.py").write_text(USE + RUN)
    return folder


def python(place: Path, *arguments: str) -> "subprocess.Popen[str]":
    environment = os.environ | {"PYTHONPATH": str(place / "src")}
    command = [sys.executable, *arguments]
    return subprocess.Popen(
        command, cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip


def done(process: "subprocess.Popen[str]") -> None:
    out, errors = process.communicate(timeout=300)
    assert process.returncode == 0, out + errors


def test_it_is_one_file_one_line_and_one_test(place: Path) -> None:
    named = [(block.words[1], block.text.count("\n")) for block in blocks(ROOT / "docs/adding_a_box.md") if block.words]
    assert [name for name, _ in named] == [
        "src/australis/boxes/sample.py", "src/australis/boxes/__init__.pyi", "tests/boxes/test_sample.py",
    ]  # fmt: skip
    assert dict(named)["src/australis/boxes/__init__.pyi"] == 1


@pytest.mark.slow
def test_its_own_test_passes(place: Path) -> None:
    done(python(place, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/boxes/test_sample.py"))


@pytest.mark.slow
def test_it_is_drawn_written_explained_and_refused_in_plain_words(place: Path) -> None:
    done(python(place, "draw.py", str(place)))


@pytest.mark.spark
def test_it_runs_on_spark_in_partitions_and_goes_on_after_a_kill(place: Path) -> None:
    done(python(place, "draw.py", str(place)))
    first = python(place, "run.py", str(place))
    assert first.stdout is not None
    while int(first.stdout.readline() or "99") < 5:
        pass
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    assert (
        0
        < len((place / "fast.csv").read_text().splitlines())
        < len((place / "fast.expected.csv").read_text().splitlines())
    )
    done(python(place, "run.py", str(place)))
    for name in ("fast", "rare"):
        lines = [
            sorted((place / f"{name}{end}.csv").read_text().replace('"', "").splitlines()) for end in ("", ".expected")
        ]
        assert lines[0] == lines[1]
