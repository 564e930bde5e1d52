"""How long things take to start: importing, a help text, a small run in this process and on Spark.

Each is compared with what it is built on, in fresh processes and in turn.
"""

from __future__ import annotations

import json as json_
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Sheet

from australis.bench.imports import Imported, by_package, measure_imports
from australis.errors import RunError

LIBRARIES, SPARK = "import numpy, pyarrow", "Spark and one job"
"""The baselines: the libraries that streams are made of, and a session that runs a job."""

_NETWORK = """\
australis: 2
inputs:
  reports: time int, vid int, mph int, xway int, seg int
boxes:
  stats:
    aggregate: {on: time, size: 60, by: [xway, seg], cars: count(distinct vid), mph: avg(mph)}
    from: reports
  jams:
    filter: cars > 50 and mph < 40
    from: stats
outputs:
  jams: {from: jams, latency: {2: 1.0, 10: 0.0}}
"""
_BARE = """\
import os
from australis.engine.spark import java
os.environ["JAVA_HOME"] = str(java.quiet())
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false").getOrCreate()
spark.sparkContext.setLogLevel("OFF")
assert spark.range(1000).selectExpr("sum(id)").first()[0] == 499500
spark.stop()
"""
_PHASES = """\
import sys, time
since = [time.perf_counter(), time.process_time()]
def done(phase):
    now = [time.perf_counter(), time.process_time()]
    print(phase, *(one - other for one, other in zip(now, since)), sep="\\t")
    since[:] = now
"""
_LOCAL = """\
import australis as au
done("the package")
net = au.load("jams.yaml")
done("the network, with what reads it and its boxes")
from australis.kernels.jit import longer
import numpy
longer(numpy.zeros(1, "int64"))
done("numba, with a first kernel")
net.run_local(reports="reports.csv", jams="jams.csv")
done("the run, with its kernels")
"""
_ON_SPARK = """\
import australis as au
net = au.load("jams.yaml")
done("the package and the network")
from australis.engine.spark.session import session
spark, _ = session()
done("Spark")
run = net.start({"reports": "reports.csv", "jams": "jams.csv"}, spark=spark)
done("the start of the run")
run.wait()
done("the run to its end")
spark.stop()
done("the end of Spark")
"""
# This process becomes the parent of orphans (a subreaper), so that Spark's processes are counted too.
_METER = """\
import ctypes, os, resource, subprocess, sys, time
try:
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
except (AttributeError, OSError):
    pass
start = time.perf_counter()
told = subprocess.run(sys.argv[1:], capture_output=True, text=True)
wall = time.perf_counter() - start
try:
    while True:
        os.wait()
except ChildProcessError:
    pass
used = resource.getrusage(resource.RUSAGE_CHILDREN)
if told.returncode:
    sys.exit(told.stderr)
print(wall, used.ru_utime + used.ru_stime)
"""


@dataclass(frozen=True)
class Took:
    """Seconds by the clock, and processor seconds of all processes that were started."""

    wall: float
    processor: float


def commands(folder: Path, spark: bool = True) -> dict[str, list[str]]:
    """The commands that are measured, by name. The files of the runs are in a folder."""
    python, australis = [sys.executable, "-c"], [sys.executable, "-m", "australis"]
    files = ["--source", f"reports={folder / 'reports.csv'}", "--sink", f"jams={folder / 'jams.csv'}"]
    run = [*australis, "run", str(folder / "jams.yaml"), *files]
    by_name = {
        LIBRARIES: [*python, LIBRARIES],
        "import australis": [*python, "import australis"],
        "australis --help": [*australis, "--help"],
        "australis check": [*australis, "check", str(folder / "jams.yaml")],
        "australis run --local": [*run, "--local"],
    }
    return by_name | ({SPARK: [*python, _BARE], "australis run": run} if spark else {})


def main(repeat: int = 5, spark: bool = True, json: Path | None = None) -> None:
    """Measure, and print how long each command takes, what it imports, and the phases of a run."""
    console = Console()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_files(folder)
        measured_commands = commands(folder, spark)
        with console.status("once, to warm up") as status:
            for words in measured_commands.values():
                measure(words, folder)
            turns: dict[str, list[Took]] = {each: [] for each in measured_commands}
            for turn in range(repeat):
                status.update(f"turn {turn + 1} of {repeat}")
                for each, words in measured_commands.items():
                    turns[each].append(measure(words, folder))
            status.update("what is imported, and the phases of a run")
            loaded = measure_imports(measured_commands["australis run --local"], folder)
            local = phases(_LOCAL, folder)
            on_spark = phases(_ON_SPARK, folder) if spark else {}
    took = {each: _median(some) for each, some in turns.items()}
    console.print(_comparison(took, repeat))
    console.print(_imports(loaded))
    console.print(_parts("Phases of a run in this process, once", local))
    if spark:
        console.print(_parts("Phases of a run on Spark, once", on_spark))
    if json is not None:
        figures = {
            "repeat": repeat,
            "took": {each: asdict(it) for each, it in took.items()},
            "imports": [asdict(each) for each in loaded],
            "local": {each: asdict(it) for each, it in local.items()},
            "spark": {each: asdict(it) for each, it in on_spark.items()},
        }
        json.write_text(json_.dumps(figures, indent=2))


def measure(words: list[str], folder: Path) -> Took:
    """How long a command takes, in a fresh process."""
    result = subprocess.run([sys.executable, "-c", _METER, *words], cwd=folder, capture_output=True, text=True)
    if result.returncode:
        raise RunError(f"bench start: `{' '.join(words)[:80]}` failed: {result.stderr.strip()[-400:]}")
    wall, processor = map(float, result.stdout.split())
    return Took(wall, processor)


def phases(code: str, folder: Path) -> dict[str, Took]:
    """How long each phase of a run takes. Processor time is that of Python alone."""
    result = subprocess.run([sys.executable, "-c", _PHASES + code], cwd=folder, capture_output=True, text=True)
    if result.returncode:
        raise RunError(f"bench start: a run failed: {result.stderr.strip()[-400:]}")
    lines = (line.split("\t") for line in result.stdout.splitlines())
    return {phase: Took(float(wall), float(processor)) for phase, wall, processor in lines}


def _median(some: Iterable[Took]) -> Took:
    walls, processors = zip(*((each.wall, each.processor) for each in some), strict=True)
    return Took(median(walls), median(processors))


def _comparison(took: Mapping[str, Took], repeat: int) -> Sheet:
    sheet = Sheet(box=SIMPLE_HEAD, title=f"To begin: by the clock and of processors, medians of {repeat} in turn")
    for heading in ("", "seconds", "× numpy, pyarrow", "× Spark"):
        sheet.add_column(heading, no_wrap=True)
    for name, it in took.items():
        libraries, spark = (_ratio(it, took.get(other)) for other in (LIBRARIES, SPARK))
        sheet.add_row(name, f"{it.wall:.2f}  {it.processor:.2f}", libraries, spark)
    return sheet


def _ratio(one: Took, other: Took | None) -> str:
    return "" if other is None else f"{one.wall / other.wall:.2f}  {one.processor / other.processor:.2f}"


def _imports(loaded: list[Imported]) -> Sheet:
    sheet = Sheet("package", "modules", "ms", "its slowest module", box=SIMPLE_HEAD)
    sheet.title = "What a run in this process imports: the time of each module without those that it imports"
    for each in by_package(loaded)[:12]:
        sheet.add_row(each.package, str(each.modules), f"{each.seconds * 1e3:.0f}", each.slowest)
    return sheet


def _parts(title: str, took: Mapping[str, Took]) -> Sheet:
    sheet = Sheet("phase", "seconds", "of this process", box=SIMPLE_HEAD, title=title)
    for name, it in took.items():
        sheet.add_row(name, f"{it.wall:.2f}", f"{it.processor:.2f}")
    return sheet


def _write_files(folder: Path) -> None:
    """Write a network, and four minutes of two segments: sixty cars creep in one, and ten drive in the other."""
    (folder / "jams.yaml").write_text(_NETWORK)
    reports = [
        f"{time},{vid},{20 if vid < 60 else 60},0,{1 if vid < 60 else 2}"
        for time in range(0, 240, 10)
        for vid in range(70)
    ]
    (folder / "reports.csv").write_text("\n".join(["time,vid,mph,xway,seg", *reports, ""]))
