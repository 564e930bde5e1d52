"""Readings: each box and output belongs to one, and entries that several of them share have an address for each."""

from pathlib import Path

from australis.engine.addresses import StageEntry
from australis.engine.batch import Apart, Batch
from australis.engine.readings import address_of, readings
from tests.engine.test_positions import NET, job_of, rate


def test_boxes_and_outputs_belong_to_one_reading(tmp_path: Path) -> None:
    job = job_of(NET, rate(), tmp_path)
    (whole,) = readings(job, Batch(1, 9))
    assert (whole.place, whole.label, whole.boxes) == (0, "out", frozenset(NET.named))
    assert whole.outputs == {"fast", "stats", "sums", "all"}
    assert whole.moment == Batch(1, 9).moment
    batch = Batch(2, 9, until=8, apart=(Apart(("stats", "all"), 5), Apart(("fast",), 6)))
    front, one, two = readings(job, batch)
    assert [each.label for each in (front, one, two)] == ["out", "stats", "fast"]
    assert [sorted(each.outputs) for each in (front, one, two)] == [["sums"], ["all", "stats"], ["fast"]]
    assert [sorted(each.boxes) for each in (front, one, two)] == [["sums"], ["stats"], ["third"]]
    assert [each.moment.clock for each in (front, one, two)] == [8, 5, 6]


def test_an_entry_of_several_branches_has_an_address_for_each_reading(tmp_path: Path) -> None:
    job = job_of(NET, rate(), tmp_path)
    (shared,) = job.later  # both windows take the same exchange
    entries = [address for address in job.addresses if isinstance(address, StageEntry)]
    assert entries == [StageEntry(shared.index, 0, place) for place in range(len(job.branches) + 1)]
    front, one = readings(job, Batch(2, 9, apart=(Apart(("stats",), 5),)))
    assert [address_of(job, shared.index, 0, each) for each in (front, one)] == [0, 1]
    assert front.takes(shared.entries[0])
    assert one.takes(shared.entries[0])
    (entry,) = (stage.entries[0] for stage in job.at_source)
    assert not one.takes(entry)
