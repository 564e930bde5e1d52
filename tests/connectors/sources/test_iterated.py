"""Parts of a stream as an iterable gives them."""

from collections.abc import Iterator
from pathlib import Path

from australis.arrow.schema import schema
from australis.connectors.source import parts
from australis.connectors.sources.iterated import Iterated

SCHEMA = schema("a int")


def test_a_part_is_asked_for_when_the_one_before_it_was_read() -> None:
    asked: list[int] = []

    def given() -> Iterator[dict[str, list[int]]]:
        for count in (2, 0, 1):
            asked.append(count)
            yield {"a": [count] * count}

    source = Iterated("r", SCHEMA, given())
    start = source.start()
    end = source.latest(start, 1)
    assert (asked, end, source.finished(end)) == ([2], {"parts": 1, "tuples": 2}, False)
    (split,) = source.splits(start, end, 4)
    (part,) = source.read(split)
    assert (part.tuples["a"].to_pylist(), part.number.tolist()) == ([2, 2], [1, 2])
    rest = []
    while (more := source.latest(end, 1)) != end:
        rest += [each.number.tolist() for split in source.splits(end, more, 1) for each in source.read(split)]
        end = more
    assert rest == [[], [3]]
    assert source.finished(end)


def test_without_parts_it_is_over_at_once() -> None:
    source = Iterated("r", SCHEMA, [])
    assert list(parts(source)) == []
    assert source.finished(source.start())
    assert Iterated("r", SCHEMA, []).placed(Path("spool")).schema == SCHEMA
