"""Every kind of source and of sink through both runners: what one takes the other takes, and gives the same."""

import gzip
import importlib
import io
import json
import pkgutil
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import australis as au
from australis.api.network import Network
from australis.connectors import dead_letters as letters
from australis.connectors.binding import bind_sinks, bind_sources
from australis.connectors.push.bodies import JSON, post
from australis.connectors.push.spool import Spool
from australis.connectors.sinks.memory import MemorySink
from australis.connectors.sources.memory import MemorySource
from australis.connectors.sources.uri import read
from australis.engine.local_run import run_bound
from australis.engine.spark.frame_sink import FrameSink
from australis.testing import rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

N = au.stream("n", "n int").schema
AUDIO = au.stream("audio", "audio segment<int16>").schema
NUMBERS = [(0,), (1,), (2,)]
BATCH = pa.record_batch({"n": [0, 1, 2]}, N)
RUNNERS = ("local", "spark")
LONG = 120.0  # seconds


def classes(wanted: Callable[[type], bool]) -> set[str]:
    """The classes of the package's connectors that have what is wanted; protocols are none."""
    found = set()
    for package in ("australis.connectors", "australis.engine.spark"):
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            for each in vars(importlib.import_module(module.name)).values():
                if isinstance(each, type) and not getattr(each, "_is_protocol", False) and wanted(each):
                    found.add(each.__name__)
    return found


def is_source(kind: type) -> bool:
    return all(hasattr(kind, name) for name in ("start", "latest", "splits", "read", "finished"))


def is_sink(kind: type) -> bool:
    return hasattr(kind, "open") and list(signature(kind.open).parameters) == ["self", "schema", "run", "replace"]


def posted(folder: Path) -> str:
    with closing(Spool(folder)) as spool:
        spool.put(post(JSON, b'{"n": 0}\n{"n": 1}\n{"n": 2}\n', N))
    return f"push:0?spool={folder}"


SOURCES: dict[str, tuple[str, Callable[[Path, Any], Any]]] = {
    "a file": ("Files", lambda place, spark: f"{place}/one.csv"),
    "a path": ("Files", lambda place, spark: place / "one.csv"),
    "no header": ("Files", lambda place, spark: f"{place}/headless.csv?header=false"),
    "a compressed file": ("Files", lambda place, spark: f"{place}/one.csv.gz"),
    "a glob": ("Files", lambda place, spark: f"{place}/several/*.jsonl"),
    "a folder": ("Files", lambda place, spark: f"{place}/several/"),
    "a growing folder": ("Files", lambda place, spark: f"{place}/several/?follow=true"),
    "a replay": ("Replay", lambda place, spark: f"replay:{place}/one.csv?on=n&speed=1000000"),
    "a rate": ("Rate", lambda place, spark: "rate:1000000?limit=3"),
    "posts": ("Push", lambda place, spark: posted(place / "posts")),
    "samples": ("Samples", lambda place, spark: f"samples:{place}/one.raw?rate=8"),
    "a memory source": ("MemorySource", lambda place, spark: MemorySource((BATCH,))),
    "a table": ("MemorySource", lambda place, spark: pa.table(BATCH)),
    "mappings": ("MemorySource", lambda place, spark: [{"n": 0}, {"n": 1}, {"n": 2}]),
    "parts": ("Iterated", lambda place, spark: iter([BATCH.slice(0, 1), {"n": []}, {"n": [1, 2]}])),
    "a list of parts": ("Iterated", lambda place, spark: [BATCH.slice(0, 2), BATCH.slice(2)]),
    "a frame of Spark": ("Frame", lambda place, spark: spark.createDataFrame(NUMBERS, "n int").coalesce(1)),
}


def test_every_kind_of_source_is_tried() -> None:
    assert {kind for kind, _ in SOURCES.values()} == classes(is_source)


def laid_out(place: Path) -> Path:
    (place / "several").mkdir(parents=True)
    text = "n\n0\n1\nmany\n2\n"
    (place / "one.csv").write_text(text)
    (place / "headless.csv").write_text("0\n1\n2\n")
    (place / "one.csv.gz").write_bytes(gzip.compress(text.encode()))
    (place / "several" / "a.jsonl").write_text('{"n": 0}\n{"n": 1}\n')
    (place / "several" / "b.jsonl").write_text('{"n": 2}\n')
    np.arange(12, dtype=np.int16).tofile(place / "one.raw")
    return place


def schema_of(kind: str) -> pa.Schema:
    return AUDIO if kind == "samples" else N


def until(done: Callable[[], bool], limit: float = LONG) -> None:
    end = time.monotonic() + limit
    while not done() and time.monotonic() < end:
        time.sleep(0.05)


Told = tuple[dict[str, list[Any]], Counter[tuple[Any, ...]]]


@pytest.fixture(scope="module")
def sourced(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> dict[str, Told]:
    """What each runner reads from every source, all of them inputs of one network, and its dead letters."""
    names = {kind: kind.replace(" ", "_") for kind in SOURCES}
    net = au.network({f"{name}_out": au.stream(name, schema_of(kind)).filter("true") for kind, name in names.items()})
    found = {}
    place = tmp_path_factory.mktemp("sources")
    for runner in RUNNERS:
        laid_out(place)
        given = {name: SOURCES[kind][1](place, spark) for kind, name in names.items()}
        sinks = {f"{name}_out": MemorySink() for name in names.values()}

        def done(sinks: dict[str, MemorySink] = sinks) -> bool:
            return all(sum(part.num_rows for parts in list(each.batches.values()) for part in parts) >= (
                1 if name == "samples_out" else 3) for name, each in sinks.items())  # fmt: skip

        if runner == "local":
            # A source that never came to its tuples would leave the run waiting.
            late = time.monotonic() + LONG
            results = run_bound(net, bind_sources(net, given), bind_sinks(net, sinks), (),
                                stop=lambda done=done, late=late: done() or time.monotonic() > late)  # fmt: skip
            dead = results.dead_letters
        else:
            run = net.start({**given, **sinks}, spark=spark, partitions=2, checkpoint=place / "checkpoint")
            until(lambda done=done, run=run: done() or not run.active)
            run.stop()
            dead = letters.dead_letters(place / "checkpoint").drop_columns(["batch"])
            assert run.letters == dead.num_rows
        tuples = {kind: sinks[f"{name}_out"].table().to_pylist() for kind, name in names.items()}
        found[runner] = tuples, Counter(tuple(row.values()) for row in dead.to_pylist())
        place.rename(place.with_name(f"{place.name}-{runner}"))
    return found


@pytest.mark.spark
@pytest.mark.parametrize("kind", SOURCES)
def test_both_runners_read_the_same(sourced: dict[str, Told], kind: str) -> None:
    local, spark = (sourced[runner][0][kind] for runner in RUNNERS)
    assert local == spark
    if kind != "samples":
        assert [tuple(row.values()) for row in local] == NUMBERS


@pytest.mark.spark
def test_both_runners_have_the_same_dead_letters(sourced: dict[str, Told]) -> None:
    local, spark = (sourced[runner][1] for runner in RUNNERS)
    assert local == spark
    assert {name for name, *_ in local} == {"a_file", "a_path", "a_compressed_file", "a_replay"}
    assert all(raw == b"many" for *_, raw in local)


class Target:
    """Keeps batches with their ids."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, int], list[Any]] = {}

    def last_batch(self, run: str) -> int | None:
        return max((batch for other, batch in self.kept if other == run), default=None)

    def write(self, run: str, batch: int, table: pa.Table) -> None:
        self.kept[run, batch] = rows(table)


@contextmanager
def listening() -> Iterator[tuple[str, list[bytes]]]:
    """A web server, and what is posted to it."""
    taken: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            taken.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/", taken
        server.shutdown()
        thread.join()


class Place:
    """Where sinks write, and what they wrote there."""

    def __init__(self, folder: Path, url: str, posts: list[bytes]) -> None:
        self.folder, self.url, self.posts = folder, url, posts
        self.memory, self.target = MemorySink(), Target()
        self.called: list[Any] = []
        self.printed = io.TextIOWrapper(io.BytesIO())

    def call(self, batch: int, table: pa.Table) -> None:
        self.called += rows(table)

    def frame(self, frame: Any, batch: int) -> None:
        self.called += [tuple(row) for row in frame.collect()]

    def back(self, name: str) -> list[Any]:
        """The tuples in a file or a folder."""
        return [row for part in read(self.folder / name, N) for row in rows(part)]

    def sounds(self, pattern: str) -> list[bytes]:
        return [path.read_bytes() for path in sorted(self.folder.glob(pattern))]

    def lines(self, wanted: str) -> list[str]:
        self.printed.seek(0)
        return re.findall(wanted, self.printed.read(), re.MULTILINE)


SINKS: dict[str, tuple[str, Callable[[Place], Any], Callable[[Place], Any], Any]] = {
    **{
        f"out{suffix}": ("Single", lambda at, to=f"out{suffix}": at.folder / to,
                         lambda at, to=f"out{suffix}": at.back(to), NUMBERS)
        for suffix in (".csv", ".jsonl", ".csv.gz", ".jsonl.zst", ".arrows")
    },
    **{
        f"out{suffix}": ("Whole", lambda at, to=f"out{suffix}": f"{at.folder}/{to}",
                         lambda at, to=f"out{suffix}": at.back(to), NUMBERS)
        for suffix in (".parquet", ".arrow", ".feather")
    },
    "out/": ("Folder", lambda at: f"{at.folder}/out/", lambda at: at.back("out"), NUMBERS),
    "csv/*.csv": ("Folder", lambda at: f"{at.folder}/csv/*.csv", lambda at: at.back("csv"), NUMBERS),
    "out.wav": ("Wav", lambda at: f"{at.folder}/out.wav", lambda at: at.sounds("out.wav"), None),
    "wav/*.wav": ("Sounds", lambda at: f"{at.folder}/wav/*.wav", lambda at: at.sounds("wav/*.wav"), None),
    "memory": ("MemorySink", lambda at: at.memory, lambda at: rows(at.memory.table()), NUMBERS),
    "a target": ("Transactional", lambda at: at.target,
                 lambda at: [row for _, some in sorted(at.target.kept.items()) for row in some], NUMBERS),
    "a function": ("Callback", lambda at: at.call, lambda at: sorted(at.called), sorted(NUMBERS * 2)),
    "frames": ("FrameSink", lambda at: FrameSink(at.frame), lambda at: sorted(at.called), sorted(NUMBERS * 2)),
    "http": ("Http", lambda at: at.url,
             lambda at: [(json.loads(line)["n"],) for line in b"".join(at.posts).splitlines()], NUMBERS),
    "console": ("Console", lambda at: "console", lambda at: at.lines(r"^ +\d+ *$"), None),
    "-": ("Standard", lambda at: "-", lambda at: at.lines(r"^\d+$"), ["0", "1", "2"]),
}  # fmt: skip


def test_every_kind_of_sink_is_tried() -> None:
    assert {kind for kind, *_ in SINKS.values()} == classes(is_sink)


@pytest.fixture(scope="module")
def sunk(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> dict[str, Place]:
    """What each runner writes to every sink, all of them for outputs of one network."""
    numbers, audio = au.stream("numbers", N), au.stream("audio", AUDIO)
    some = {f"out{place}": kind for place, kind in enumerate(SINKS)}
    net = au.network({name: (audio if "wav" in kind else numbers).filter("true") for name, kind in some.items()})
    (part,) = read_samples(laid_out(tmp_path_factory.mktemp("samples") / "in"))
    found = {}
    for runner in RUNNERS:
        with listening() as (url, posts), pytest.MonkeyPatch.context() as patch:
            at = found[runner] = Place(tmp_path_factory.mktemp(runner), url, posts)
            patch.setattr(sys, "stdout", at.printed)
            given = {"numbers": BATCH, "audio": part, **{name: SINKS[kind][1](at) for name, kind in some.items()}}
            net.run_local(given) if runner == "local" else net.run(given, spark=spark, partitions=2)
    return found


def read_samples(place: Path) -> Iterator[pa.RecordBatch]:
    return read(f"samples:{place}/one.raw?rate=8", AUDIO)


@pytest.mark.spark
@pytest.mark.parametrize("kind", SINKS)
def test_both_runners_write_the_same(sunk: dict[str, Place], kind: str) -> None:
    _, _, written, expected = SINKS[kind]
    local, spark = (written(sunk[runner]) for runner in RUNNERS)
    assert local == spark
    assert local == expected if expected is not None else local


@pytest.mark.spark
@pytest.mark.parametrize("runner", RUNNERS)
def test_a_file_named_gz_is_compressed(sunk: dict[str, Place], runner: str) -> None:
    assert gzip.decompress((sunk[runner].folder / "out.csv.gz").read_bytes()) == b'"n"\n0\n1\n2\n'


WRONG = {
    "no such source": {"n": "kafka:reports"},
    "a replay without a time": {"n": "replay:one.csv"},
    "an option that is none": {"n": "one.csv?haeder=false"},
    "no port": {"n": "push:soon"},
    "an address for a source": {"n": "s3://bucket/one.csv"},
    "other columns": {"n": MemorySource((pa.record_batch({"m": [1]}),))},
    "tuples that do not fit": {"n": [{"n": "one"}]},
    "a number for a source": {"n": 7},
    "no source": {},
    "another name": {"n": "one.csv", "uot": "out.csv"},
    "no such sink": {"n": "one.csv", "out": "out.doc"},
    "a number for a sink": {"n": "one.csv", "out": 7},
    "an address for a sink": {"n": "one.csv", "out": "s3://bucket/out.csv"},
    "no folder": {"n": "one.csv", "out": "missing/out.csv"},
    "no folder for a whole file": {"n": "one.csv", "out": "missing/out.parquet"},
    "a compressed stream of Arrow": {"n": "one.csv", "out": "out.arrows.gz"},
    "a file that no run wrote": {"n": "one.csv", "out": "one.csv"},
    "an option of the standard output": {"n": "one.csv", "out": "-?header=false"},
    "no sound": {"n": "one.csv", "out": "out.wav"},
}


@pytest.mark.parametrize("what", WRONG)
def test_mistakes_are_told_in_the_same_words(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before there is any Spark."""
    monkeypatch.chdir(laid_out(tmp_path / "in"))
    net: Network = au.network(out=au.stream("n", N).filter("true"))
    told = []
    for run in (net.run_local, net.start):
        with pytest.raises(au.RunError) as caught:
            run(WRONG[what])
        told.append(str(caught.value))
    assert told[0] == told[1]
