"""A frame of Spark as an input, as the run reads it from the spool."""

from pathlib import Path

import pyarrow as pa

from australis.arrow.schema import schema
from australis.engine.spark.frame_source import Frame


def spooled(spool: Path, number: int, *partitions: list[int]) -> None:
    """Write a batch of a frame to the spool."""
    folder = spool / f"{number:012}"
    folder.mkdir(parents=True)
    for partition, values in enumerate(partitions):
        batch = pa.record_batch({"x": pa.array(values, pa.int64())})
        with pa.ipc.new_stream(folder / f"{partition:06}.arrows", batch.schema) as stream:
            stream.write_batch(batch)


def values(frame: Frame, start: object, end: object) -> list[int]:
    splits = frame.splits(start, end, 1)  # type: ignore[arg-type]
    return [value for split in splits for part in frame.read(split) for value in part.tuples["x"].to_pylist()]


def test_tuples_come_by_batches_and_in_them_by_partitions(tmp_path: Path) -> None:
    frame = Frame(schema("x bigint"), str(tmp_path))
    spooled(tmp_path, 0, [1, 2], [3])
    start = frame.start()
    first = frame.latest(start, 1000)
    assert values(frame, start, first) == [1, 2, 3]
    assert frame.latest(first, 1000) == first
    spooled(tmp_path, 10, [2**63 - 1])
    spooled(tmp_path, 9, [-(2**63)])
    second = frame.latest(first, 1000)
    assert values(frame, first, second) == [-(2**63), 2**63 - 1]


def test_it_is_finished_when_the_end_is_there_and_all_is_read(tmp_path: Path) -> None:
    frame = Frame(schema("x bigint"), str(tmp_path))
    spooled(tmp_path, 0, [1])
    last = frame.latest(frame.start(), 1000)
    assert not frame.finished(last)
    (tmp_path / "end").touch()
    assert not frame.finished(frame.start())
    assert frame.finished(last)


def test_what_is_done_with_is_removed_but_not_the_newest(tmp_path: Path) -> None:
    frame = Frame(schema("x bigint"), str(tmp_path))
    frame.release(frame.start())
    for number in range(3):
        spooled(tmp_path, number, [number])
    frame.release(frame.latest(frame.start(), 1000))
    assert [path.name for path in tmp_path.iterdir()] == [f"{2:012}"]


def test_a_spool_has_a_place(tmp_path: Path) -> None:
    frame = Frame(schema("x bigint"), "")
    assert frame.placed(tmp_path).spool == str(tmp_path)
    assert frame.placed(tmp_path).placed(Path("elsewhere")).spool == str(tmp_path)
