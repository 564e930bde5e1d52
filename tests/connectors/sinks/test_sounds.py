"""A file a tuple as a sink."""

from pathlib import Path

import pytest
import soundfile

from australis.connectors import sink
from australis.errors import RunError
from australis.testing.signals import signal
from tests.connectors.sinks.test_sound import RATE, SCHEMA, SIZES, contents, expected, some, written


@pytest.mark.parametrize("form", ["wav", "flac"])
def test_each_tuple_is_a_file_that_is_counted(form: str, tmp_path: Path) -> None:
    for _ in range(2):
        written(f"{tmp_path}/out/*.{form}")
    names = sorted(path.name for path in (tmp_path / "out").glob(f"*.{form}"))
    assert names == [f"{number:06d}.{form}" for number in range(1, len(SIZES) + 1)]
    for name, size in zip(names, SIZES, strict=True):
        frames, rate = soundfile.read(tmp_path / "out" / name, dtype="int16")
        assert (frames.tolist(), rate) == (expected(size).tolist(), RATE)


def test_files_are_named_by_columns_and_none_replaces_another(tmp_path: Path) -> None:
    written(str(tmp_path / "out" / "{site:02d} {name}.wav"))
    names = sorted(path.name for path in (tmp_path / "out").glob("*.wav"))
    assert names == sorted(
        ["01 n100.wav", "01 n1.wav", "01 n2.wav", "01 n30.wav", "01 n50.wav", "01 n50-2.wav", "01 n50-3.wav",
         "01 n3.wav"]
    )  # fmt: skip


def test_what_stands_in_a_column_does_not_leave_the_folder(tmp_path: Path) -> None:
    odd = signal(SCHEMA, site=[1], name=["../../x/\0y"], left=[some(0, 5)], right=[None]).tuples
    writer = sink.open(f"{tmp_path}/out/{{name}}.wav", odd.schema)
    writer.write(0, [odd])
    writer.close()
    assert [path.name for path in tmp_path.rglob("*.wav")] == ["_.._x_y.wav"]


def test_sounds_of_another_run_are_refused_or_replaced(tmp_path: Path) -> None:
    for text in ("out.wav", "out/*.wav"):
        written(str(tmp_path / text))
        before = contents(tmp_path)
        with pytest.raises(RunError, match=r"another run|not of this run"):
            written(str(tmp_path / text), "two")
        assert contents(tmp_path) == before
        written(str(tmp_path / text), "two", replace=True)
        assert len(contents(tmp_path)) == len(before)
    dear = tmp_path / "out" / "dear.wav"
    dear.write_bytes(b"of somebody else")
    written(f"{tmp_path}/out/*.wav", "three", replace=True)
    assert len(contents(tmp_path)) == len(before) + 1
    assert dear.read_bytes() == b"of somebody else"
