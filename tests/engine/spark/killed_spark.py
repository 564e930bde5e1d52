"""Kill processes of Spark while a network runs, and start it again in the same one: `python killed_spark.py FOLDER`.

Each line that it writes is an object in JSON that tells what was seen; the last has the results.
"""

import json
import os
import signal
import socket
import sys
import threading
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import australis as au
from australis.arrow.schema import schema
from australis.connectors.source import Offset
from australis.connectors.sources.push import Push
from australis.engine.spark.run import Run
from australis.errors import RunError

POSTS = 8  # before each kill, and after the last
SCHEMA = schema("i int")


@dataclass(frozen=True)
class Told(Push):
    """Posts, planned by a process that tells who it is."""

    def latest(self, offset: Offset, limit_rows: int) -> Offset:
        Path(self.spool).with_name("planner").write_text(str(os.getpid()))
        return super().latest(offset, limit_rows)


def tell(**seen: Any) -> None:
    print(json.dumps(seen), flush=True)


def post(port: int, i: int) -> str:
    """Post a tuple; the status of the answer, or what went wrong."""
    body = json.dumps({"i": i}).encode() + b"\n"
    request = urllib.request.Request(f"http://127.0.0.1:{port}/", body, {"Content-Type": "application/x-ndjson"})
    try:
        with urllib.request.urlopen(request) as answer:
            return str(answer.status)
    except urllib.error.HTTPError as refused:
        return str(refused.code)
    except urllib.error.URLError as error:
        return type(error.reason).__name__


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def started(folder: Path, port: int) -> Run:
    numbers = au.stream("n", SCHEMA).map(i="i", odd="i % 2")
    net = au.network(out=numbers, odds=numbers.aggregate(on="i", size=1000, slack=100, by="odd", n="count(*)"))
    source = Told("127.0.0.1", port, SCHEMA, str(folder / "spool"))
    return net.start(n=source, out=folder / "out.csv", checkpoint=folder / "checkpoint", master="local[2]")


def spark_process() -> int:
    from pyspark import SparkContext

    assert SparkContext._gateway is not None
    return int(SparkContext._gateway.proc.pid)


def over(run: Run) -> dict[str, Any]:
    """How a run ends of itself."""
    try:
        run.wait()
    except RunError as error:
        told = str(error)
    else:
        told = ""
    again = ""
    try:
        run.stop()
    except RunError as error:
        again = str(error)
    return {"told": told, "again": again == told, "active": run.active}


def main(folder: Path) -> None:
    port, posted = free_port(), 0
    for victim in "planner", "spark", "":
        run = started(folder, port)
        for _ in range(POSTS):
            assert post(port, posted) == "200"
            posted += 1
        if victim:
            while not run.progress and run.active:  # some are done, and some are perhaps not
                run.wait(0.01)
            pid = spark_process() if victim == "spark" else int((folder / "planner").read_text())
            os.kill(pid, signal.SIGKILL)
            tell(
                victim=victim, **over(run), answer=post(port, -1), threads=sorted(t.name for t in threading.enumerate())
            )
        else:
            while len((folder / "out.csv").read_text().splitlines()) < posted + 1:
                assert not run.wait(0.01)
            run.stop()
            lines = (folder / "out.csv").read_text().splitlines()[1:]
            tell(found=sorted(int(line.partition(",")[0]) for line in lines), posted=posted)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
