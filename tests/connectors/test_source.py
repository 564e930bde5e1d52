"""Sources: all that one has, batch by batch."""

from itertools import cycle

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.connectors.source import Known, Placed, Positioned, Releasing, Source, parts
from australis.connectors.sources.files import Files
from australis.connectors.sources.iterated import Iterated
from australis.connectors.sources.memory import MemorySource
from australis.connectors.sources.push import Push
from australis.connectors.sources.rate import Rate
from australis.connectors.sources.replay import Replay

BATCHES = tuple(pa.record_batch({"a": list(range(low, low + 3))}) for low in (0, 3))


@pytest.mark.parametrize("limit", [1, 2, 6, 100])
def test_all_that_a_source_has_in_order_however_long_batches_are(limit: int) -> None:
    found = list(parts(MemorySource(BATCHES), limit))
    assert [value for part in found for value in part.tuples["a"].to_pylist()] == list(range(6))
    assert [number for part in found for number in part.number.tolist()] == list(range(1, 7))


def test_a_source_is_asked_for_what_it_can_do() -> None:
    iterated = Iterated("a", BATCHES[0].schema, iter(BATCHES))
    assert isinstance(iterated, Placed)
    assert not isinstance(iterated, Known)
    assert not isinstance(iterated, Releasing)


TUPLES = schema("time int, vid int")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Source]:
    """Sources of 24 tuples that can be at several positions, all of which are there."""
    folder = tmp_path_factory.mktemp("sources")
    for number in range(4):
        lines = "".join(f"{6 * number + row},{row}\n" for row in range(6))
        (folder / f"{number}.csv").write_text("time,vid\n" + lines)
    (folder / "spool").mkdir()
    for number in range(6):
        lines = "".join(f'{{"time": {4 * number + row}, "vid": {row}}}\n' for row in range(4))
        (folder / "spool" / f"{number + 1:012}-{number}.jsonl").write_text(lines)
    files = Files(f"{folder}/*.csv", TUPLES)
    return {
        "files": files,
        "replay": Replay(files, "time", speed=1e6, began=0),
        "rate": Rate(TUPLES, 1e6, (("time", "cast(n as int)"),), limit=24, began=0),
        "push": Push("127.0.0.1", 0, TUPLES, str(folder / "spool")),
    }


@given(steps=st.lists(st.integers(1, 9), min_size=1), others=st.lists(st.integers(1, 30), min_size=1))
@pytest.mark.parametrize("name", ["files", "replay", "rate", "push"])
def test_one_who_is_behind_catches_up_with_one_who_is_not(
    name: str, steps: list[int], others: list[int], sources: dict[str, Source]
) -> None:
    source = sources[name]
    assert isinstance(source, Positioned)
    front = behind = source.start()
    read = list[int]()
    for step, most in zip(steps, cycle(others), strict=False):
        front = source.latest(front, step)
        end = source.latest(behind, most)
        ahead = source.position(end) > source.position(front)
        end = source.cut(end, front) if ahead else end
        if ahead:
            assert source.position(end) == source.position(front)
        for split in source.splits(behind, end, 2):
            read += [time for part in source.read(split) for time in part.tuples["time"].to_pylist()]
        assert read == list(range(len(read)))
        # From the same position all comes that is left, however it was reached.
        if source.position(end) == source.position(front):
            rest = [source.splits(at, source.latest(at, 99), 1) for at in (front, end)]
            times = [[t for split in each for part in source.read(split) for t in part.tuples["time"].to_pylist()]
                     for each in rest]  # fmt: skip
            assert times[0] == times[1] == list(range(len(read), 24))
        behind = end
