"""Golden networks as jobs: task by task, with state on a checkpoint, as Spark runs them but without it."""

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from urllib.request import Request, urlopen

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import soundfile

import australis as au
from australis.api.network import Network
from australis.connectors.sources import uri
from australis.connectors.sources.files import Files
from australis.connectors.sources.memory import MemorySource
from australis.connectors.sources.push import Push
from australis.engine.addresses import DEAD_LETTERS, MEASURES, PARTS
from australis.engine.exchange import merged
from australis.engine.job import Job
from australis.engine.positions import Takes
from australis.engine.spark.control import Control, Directive
from australis.engine.spark.rounds import run_round, unpack_outputs
from australis.engine.spark.shipping import ship
from australis.engine.spark.stream_source import StreamReader
from australis.engine.state import state
from australis.engine.succession import planned
from australis.testing import rows

GOLDEN = [path.parent for path in sorted(Path(__file__).parents[1].glob("golden/*/network.yaml"))]


def golden(folder: Path) -> tuple[Network, dict[str, Files]]:
    net = au.load(folder / "network.yaml")
    sources = {}
    for input in net.inputs:
        (path,) = folder.glob(f"{input.name}.*")
        sources[input.name] = Files(str(path), input.schema)
    return net, sources


def batches(
    job: Job, limit: int, folder: Path, takes: Iterator[Takes] | None = None
) -> Iterator[dict[str, pa.RecordBatch]]:
    """What each batch gives to each output, and to the dead letters; and how much branches take in each."""
    control = Control(str(folder))
    control.write_job(job.number, ship(job))
    control.write(Directive(job.number, limit))
    reader = StreamReader(control)
    offset = reader.initialOffset()
    while True:
        control.write(Directive(job.number, limit, takes={} if takes is None else next(takes)))
        after = reader.latestOffset(offset)
        if after == offset:
            return
        pieces = reader.partitions(offset, after)
        made = [batch for piece in pieces for batch in reader.read(piece)]
        for at in range(len(job.rounds)):
            there = pa.Table.from_batches(made)
            made = []
            for partition in range(job.partitions):
                mine = there.filter(pa.compute.equal(there["bucket"], partition)).to_batches()
                made += run_round(job, at, pieces[0].batch, partition, iter(mine))
        trains = unpack_outputs(job, pa.Table.from_batches(made))
        names = {str(where): at for at, where in enumerate(job.addresses) if isinstance(where, str)}
        yield {name: merged(job.schema(at), trains.get(name, [])).tuples for name, at in names.items()}
        offset = after


@pytest.mark.slow
@pytest.mark.parametrize("partitions", [1, 2, 4])
@pytest.mark.parametrize("limit", [2, 7, 1000])
@pytest.mark.parametrize("warm", [True, False], ids=["warm", "cold"])
@pytest.mark.parametrize("folder", GOLDEN, ids=lambda folder: folder.name)
def test_a_golden_network_gives_the_same_as_a_job(
    folder: Path, partitions: int, limit: int, warm: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("australis.engine.task.TRAIN", 3)
    # However long a batch takes, no window times out.
    monkeypatch.setattr("australis.engine.spark.stream_source.time", SimpleNamespace(time_ns=lambda: 10**18))
    net, sources = golden(folder)
    job = Job(net, planned(net, sources, partitions), sources, str(tmp_path / "checkpoint"), partitions)
    found: dict[str, Counter[object]] = {output.name: Counter() for output in net.outputs}
    for results in batches(job, limit, tmp_path):
        assert not results.pop(DEAD_LETTERS).num_rows
        assert not results.pop(PARTS).num_rows
        assert results.pop(MEASURES).num_rows
        for name, tuples in results.items():
            found[name].update(rows(tuples))
        if not warm:
            state.warm.clear()
    given = {name: source.path for name, source in sources.items()}
    for name, table in net.run_local(given).items():
        assert found[name] == Counter(rows(table)), name


def test_what_cannot_be_read_goes_to_the_dead_letters_whole(tmp_path: Path) -> None:
    path = tmp_path / "reports.csv"
    path.write_text("time,mph\n1,50\n2,fast\n3,70\nfour\n5,80\n")
    reports = au.stream("reports", "time int, mph int")
    net = au.network(out=reports.aggregate(on="time", size=10, n="count(*)"))
    sources = {"reports": Files(str(path), reports.schema)}
    job = Job(net, planned(net, sources, 2), sources, str(tmp_path / "checkpoint"), 2)
    results = list(batches(job, 1000, tmp_path))
    assert [row for each in results for row in rows(each["out"])] == [(0, 3)]
    letters = [row for each in results for row in each[DEAD_LETTERS].to_pylist()]
    assert [(letter["input"], letter["raw"]) for letter in letters] == [("reports", b"2,fast"), ("reports", b"four")]


# Files of one column `a int` by what they hold: tuples, nothing, or nothing that reads.
CONTENTS = {
    "one.csv": b"a\n2\n",
    "header.csv": b"a\n",
    "bad.csv": b"a\nx\n",
    "one.jsonl": b'{"a": 2}\n',
    "blank.jsonl": b"\n\n",
    "bad.jsonl": b"x\n",
    "none.parquet": 0,
    "one.parquet": 1,
    "none.arrow": 0,
    "one.arrow": 1,
    "none.arrows": 0,
    "one.arrows": 1,
}
EMPTY = ["header.csv", "bad.csv", "blank.jsonl", "bad.jsonl", "none.parquet", "none.arrow", "none.arrows"]


def file(path: Path, name: str) -> None:
    held, table = CONTENTS[name], pa.table({"a": pa.array([2], pa.int32())})
    if isinstance(held, bytes):
        path.write_bytes(held)
    elif path.suffix == ".parquet":
        pa.parquet.write_table(table.slice(0, held), path)
    else:
        kind = pa.ipc.new_file if path.suffix == ".arrow" else pa.ipc.new_stream
        with kind(str(path), table.schema) as writer:
            for batch in table.to_batches()[:held]:
                writer.write_batch(batch)


NUMBERS = au.stream("numbers", "a int")
COUNTED = {
    "alone": lambda: au.network(out=NUMBERS.map(a="a + 1")),
    "at once": lambda: au.network(out=NUMBERS.aggregate(on="tup#", size=1, n="count(*)", a="last(a)")),
    "by key": lambda: au.network(out=NUMBERS.aggregate(on="tup#", size=1, by="a", n="count(*)")),
    "beside another": lambda: au.network(out=NUMBERS.union(au.stream("others", "a int"))),
    "beside a table": lambda: au.network(out=NUMBERS.join(au.static("others", "a int"), "left.a = right.a")),
}


@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.parametrize("empty", EMPTY)
@pytest.mark.parametrize("shape", COUNTED)
def test_a_file_without_tuples_stops_nothing_wherever_it_comes(
    shape: str, empty: str, partitions: int, tmp_path: Path
) -> None:
    net, kind = COUNTED[shape](), empty.partition(".")[2]
    orders = [(empty,), (empty, empty), (f"one.{kind}", empty), (empty, f"one.{kind}"),
              (f"one.{kind}", empty, f"one.{kind}"), (empty, f"one.{kind}", empty)]  # fmt: skip
    for at, order in enumerate(orders):
        folder = tmp_path / str(at)
        (folder / "in").mkdir(parents=True)
        for place, name in enumerate(order):
            file(folder / "in" / f"{place}.{kind}", name)
        sources: dict[str, object] = {"numbers": Files(f"{folder}/in/", NUMBERS.schema)}
        if len(net.inputs) > 1:
            sources["others"] = MemorySource((pa.record_batch({"a": pa.array([2], pa.int32())}),))
        job = Job(net, planned(net, sources, partitions), sources, str(folder / "checkpoint"), partitions)
        results = list(batches(job, 1000, folder))
        assert len(results) == 1
        count = sum(name.startswith("one") for name in order) + (shape == "beside another")
        assert results[0]["out"].num_rows == count, order
        assert results[0][DEAD_LETTERS].num_rows == sum(name.startswith("bad") for name in order)


def test_inputs_without_tuples_come_to_their_end(tmp_path: Path) -> None:
    left, right = au.stream("left", "a int"), au.static("right", "a int")
    net = au.network(out=left.join(right, "left.a = right.a"), all=left.aggregate(on="tup#", size=1, n="count(*)"))
    nothing = MemorySource((pa.record_batch({"a": pa.array([], pa.int32())}),))
    for partitions in 1, 3:
        sources = {"left": nothing, "right": nothing}
        job = Job(net, planned(net, sources, partitions), sources, str(tmp_path / f"{partitions}"), partitions)
        (results,) = batches(job, 1000, tmp_path)
        assert not results["out"].num_rows
        assert not results["all"].num_rows


def test_sounds_that_do_not_decode_stop_nothing(tmp_path: Path) -> None:
    for place in range(3):
        soundfile.write(tmp_path / f"{place}.flac", np.ones((9000, 1), np.int16), 8000, "PCM_16")
    data = (tmp_path / "1.flac").read_bytes()
    (tmp_path / "1.flac").write_bytes(data[:42])  # its header and no more
    audio = au.stream("audio", "file string, audio segment<int16>")
    net = au.network(out=audio.map(file="file"))
    for partitions in 1, 3:
        sources = {"audio": uri.source(f"{tmp_path}/*.flac", audio.schema)}
        job = Job(net, planned(net, sources, partitions), sources, str(tmp_path / f"{partitions}"), partitions)
        (results,) = batches(job, 1000, tmp_path)
        assert results[DEAD_LETTERS].num_rows
        assert {file for (file,) in rows(results["out"])} == {"0.flac", "2.flac"}


def test_posts_of_which_nothing_reads_stop_nothing(tmp_path: Path) -> None:
    net = au.network(out=NUMBERS.map(a="a"))
    push = Push("127.0.0.1", 0, NUMBERS.schema, str(tmp_path / "spool"))
    with closing(push.open()) as endpoint:
        for body in b'{"a": 2}', b"nonsense", b'{"a": 1}':
            url = "http://{}:{}".format(*endpoint.address)
            urlopen(Request(url, body, {"Content-Type": "application/x-ndjson"})).close()
    job = Job(net, planned(net, {"numbers": push}, 1), {"numbers": push}, str(tmp_path / "checkpoint"), 1)
    (results,) = batches(job, 1000, tmp_path)
    assert rows(results["out"]) == [(2,), (1,)]
    assert results[DEAD_LETTERS].num_rows == 1


A, B, S = au.static("a", "x int"), au.static("b", "x int"), au.stream("s", "x int")
STORED = {
    "as it is": lambda: au.network(out=A),
    "mapped": lambda: au.network(out=A.map(y="x + 1")),
    "counted": lambda: au.network(out=A.aggregate(on="tup#", size=1, by="x", n="count(*)")),
    "joined": lambda: au.network(out=A.join(B, "left.x = right.x")),
    "merged with a stream": lambda: au.network(out=S.union(A)),
    "counted with a stream": lambda: au.network(out=S.union(A).aggregate(on="tup#", size=1, by="x", n="count(*)")),
    "beside a stream": lambda: au.network(out=S.map(x="x"), other=A.map(x="x"), joined=A.join(B, "left.x = right.x")),
    "joined with a stream too": lambda: au.network(out=S.join(A, "left.x = right.x"), other=A.filter("x > 1")),
}


@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.parametrize("warm", [True, False], ids=["warm", "cold"])
@pytest.mark.parametrize("shape", STORED)
def test_what_is_made_of_stored_tables_alone_comes_out_once(
    shape: str, warm: bool, partitions: int, tmp_path: Path
) -> None:
    net = STORED[shape]()
    held = {name: pa.record_batch({"x": pa.array(range(5), pa.int32())}) for name in (i.name for i in net.inputs)}
    sources = {name: MemorySource((tuples,)) for name, tuples in held.items()}
    job = Job(net, planned(net, sources, partitions), sources, str(tmp_path / "checkpoint"), partitions)
    found: dict[str, Counter[object]] = {output.name: Counter() for output in net.outputs}
    for results in batches(job, 2, tmp_path):
        for output in net.outputs:
            found[output.name].update(rows(results[output.name]))
        if not warm:
            state.warm.clear()
    for name, table in net.run_local(held).items():
        assert found[name] == Counter(rows(table)), name
