"""Golden networks as jobs: task by task, with state on a checkpoint, as Spark runs them but without it."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest

import australis as au
from australis.network import Network
from australis.run import state
from australis.run.control import Control, Order
from australis.run.job import LETTERS, MEASURES, PARTS, Job
from australis.run.reader import Reader
from australis.run.sent import send
from australis.run.sources.files import Files
from australis.run.spark import opened, run_round
from australis.run.succession import planned
from australis.run.wire import merged
from australis.testing import rows

GOLDEN = [path.parent for path in sorted(Path(__file__).parents[1].glob("golden/*/network.yaml"))]


def golden(folder: Path) -> tuple[Network, dict[str, Files]]:
    net = au.load(folder / "network.yaml")
    sources = {}
    for input in net.inputs:
        (path,) = folder.glob(f"{input.name}.*")
        sources[input.name] = Files(str(path), input.schema)
    return net, sources


def batches(job: Job, limit: int, folder: Path) -> Iterator[dict[str, pa.RecordBatch]]:
    """What each batch gives to each output, and to the dead letters."""
    control = Control(str(folder))
    control.put(job.number, send(job))
    control.give(Order(job.number, limit))
    reader = Reader(control)
    offset = reader.initialOffset()
    while (after := reader.latestOffset(offset)) != offset:
        pieces = reader.partitions(offset, after)
        made = [batch for piece in pieces for batch in reader.read(piece)]
        for at in range(len(job.rounds)):
            there = pa.Table.from_batches(made)
            made = []
            for partition in range(job.partitions):
                mine = there.filter(pa.compute.equal(there["bucket"], partition)).to_batches()
                made += run_round(job, at, pieces[0].batch, partition, iter(mine))
        trains = opened(job, pa.Table.from_batches(made))
        names = {str(where): at for at, where in enumerate(job.addresses) if isinstance(where, str)}
        yield {name: merged(job.schema(at), trains.get(name, [])).tuples for name, at in names.items()}
        offset = after


@pytest.mark.parametrize("partitions", [1, 2, 4])
@pytest.mark.parametrize("limit", [2, 7, 1000])
@pytest.mark.parametrize("warm", [True, False], ids=["warm", "cold"])
@pytest.mark.parametrize("folder", GOLDEN, ids=lambda folder: folder.name)
def test_a_golden_network_gives_the_same_as_a_job(
    folder: Path, partitions: int, limit: int, warm: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("australis.run.job.TRAIN", 3)
    # However long a batch takes, no window times out.
    monkeypatch.setattr("australis.run.reader.time", SimpleNamespace(time_ns=lambda: 10**18))
    net, sources = golden(folder)
    job = Job(net, planned(net, sources, partitions), sources, str(tmp_path / "checkpoint"), partitions)
    found: dict[str, Counter[object]] = {output.name: Counter() for output in net.outputs}
    for results in batches(job, limit, tmp_path):
        assert not results.pop(LETTERS).num_rows
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
    letters = [row for each in results for row in each[LETTERS].to_pylist()]
    assert [(letter["input"], letter["raw"]) for letter in letters] == [("reports", b"2,fast"), ("reports", b"four")]
