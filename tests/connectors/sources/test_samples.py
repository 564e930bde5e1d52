"""Files of samples that go on together."""

from pathlib import Path

import numpy as np
import pytest

from australis.arrow.schema import schema
from australis.boxes.signals.column import segments
from australis.connectors.source import parts
from australis.connectors.sources.samples import Samples
from australis.errors import RunError

SCHEMA = schema("site int, audio segment<int16>")


@pytest.fixture
def paths(tmp_path: Path) -> tuple[str, ...]:
    """Files of 5, 0 and 12 samples."""
    made = [tmp_path / f"{site}.raw" for site in range(3)]
    for site, (path, count) in enumerate(zip(made, (5, 0, 12), strict=True)):
        path.write_bytes((np.arange(count) + 100 * site).astype(np.int16).tobytes())
    return tuple(map(str, made))


def heard(found: list) -> dict[int, list[int]]:  # type: ignore[type-arg]
    """The samples of each site, in the order of their numbers."""
    each: dict[int, list[int]] = {}
    for part in found:
        for site, value in zip(part.tuples["site"].to_pylist(), segments(part.tuples["audio"]).values(), strict=True):
            each.setdefault(site, []).extend(np.asarray(value).tolist())
    return each


@pytest.mark.parametrize("limit", [1, 100])
@pytest.mark.parametrize("size", [1, 4, 99])
def test_files_go_on_together(paths: tuple[str, ...], size: int, limit: int) -> None:
    source = Samples(SCHEMA, paths[::2], 8, size)
    found = list(parts(source, limit))
    numbers = [number for part in found for number in part.number.tolist()]
    assert numbers == sorted(set(numbers))
    assert heard(found) == {0: list(range(5)), 1: list(range(200, 212))}


def test_files_are_read_over_and_over(paths: tuple[str, ...]) -> None:
    source = Samples(SCHEMA, paths[:1], 8, 4, times=3)
    assert heard(list(parts(source))) == {0: list(range(5)) * 3}
    assert source.finished({"samples": 15})
    assert not source.finished({"samples": 14})
    assert source.backlog({"samples": 0}) == 4


def test_splits_have_files_of_their_own(paths: tuple[str, ...]) -> None:
    source = Samples(SCHEMA, paths[::2], 8, 4)
    splits = source.splits({"samples": 0}, {"samples": 12}, 2)
    assert [sorted(heard(list(source.read(split)))) for split in splits] == [[0], [1]]
    assert source.by == ("site",)


@pytest.mark.parametrize(
    ("columns", "count", "options", "message"),
    [
        ("audio segment<int16>", 2, {}, "several files need a column that tells them apart"),
        ("audio segment<int16>", 0, {}, "there is no file"),
        ("audio segment<int16>", 1, {"size": 0}, "at least one sample"),
        ("audio segment<int16>", 1, {"times": 0}, "read at least once"),
    ],
)
def test_mistakes_are_told(
    paths: tuple[str, ...], columns: str, count: int, options: dict[str, int], message: str
) -> None:
    with pytest.raises(RunError, match=message):
        Samples(schema(columns), paths[:count], 8, **options)
