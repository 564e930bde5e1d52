"""Lines of CSV as samples."""

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from australis.boxes.signals.column import segments
from australis.connectors.source import parts
from australis.connectors.sources.uri import source
from tests.connectors.sources.test_sound import MONO, signals, taken, whole


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.none() | st.integers(-32768, 32767), max_size=200),
    st.integers(1, 50),
    st.integers(1, 4),
    st.booleans(),
    st.booleans(),
)
def test_lines_of_csv_are_samples(
    samples: list[int | None], size: int, count: int, header: bool, channels: bool
) -> None:
    lines = ["" if each is None else f"{each},{-each // 2}" if channels else str(each) for each in samples]
    names = "left,right" if channels else "left"
    schema = "file int, left segment<int16>" + (", right segment<int16>" if channels else "")
    expected: dict[int, int] = {at: each for at, each in enumerate(samples) if each is not None}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "one.csv"
        path.write_text("".join(f"{line}\n" for line in [*([names] if header else []), *lines]))
        given = source(f"{path}?rate=8000&size={size}&header={str(header).lower()}", schema)
        start, found = given.start(), []
        while (end := given.latest(start, 2)) != start:
            found += [part for split in given.splits(start, end, count) for part in given.read(split)]
            start = end
        told = {
            run.start + at: value
            for run in signals(found, "left").get(0, [])
            for at, value in enumerate(np.asarray(run).tolist())
        }
        assert told == expected
        assert all(n <= size for part in found for n in segments(part.tuples.column("left")).sizes.tolist())
        if channels:
            right = [value for run in signals(found, "right").get(0, []) for value in np.asarray(run).tolist()]
            assert right == [-each // 2 for each in samples if each is not None]


def test_a_line_that_is_no_sample_is_a_letter_and_a_gap(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("audio\n1\n2\nloud\n4\n")
    (part,) = parts(source(f"{tmp_path}/one.csv?rate=10", MONO))
    assert [(run.start, np.asarray(run).tolist()) for run in signals([part], "audio")["one.csv"]] == [
        (0, [1, 2]), (3, [4]),
    ]  # fmt: skip
    assert [(letter.raw, letter.position) for letter in part.letters] == [(b"loud", 10)]


def test_csv_that_grows_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("audio\n1\n2\n3")
    given = source(f"{path}?rate=10&follow=true", MONO)
    found, offset = taken(given, given.start())
    path.write_text("audio\n1\n2\n3\n4\n")
    more, offset = taken(given, offset)
    (run,) = signals(found + more, "audio")["one.csv"]
    assert np.asarray(run).tolist() == [1, 2, 3, 4]
    path.write_text("audio\n10\n2\n3\n4\n5\n")  # another file of that name, read anew
    assert whole(list(parts(source(f"{path}?rate=10", MONO)))) == {"one.csv": [10, 2, 3, 4, 5]}
