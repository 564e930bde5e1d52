"""Files of samples as sources of segments: WAV, FLAC, raw and CSV, whole, in folders, and as they grow."""

import struct
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

import australis as au
from australis.arrow.schema import schema as schema_of
from australis.boxes.signals import Segment, segment, timebase
from australis.boxes.signals.column import segments
from australis.boxes.signals.segments import runs
from australis.connectors import sink
from australis.connectors.source import Part, Source, parts
from australis.connectors.sources import wav
from australis.connectors.sources.samples import Samples
from australis.connectors.sources.uri import source
from australis.errors import RunError
from australis.testing.signals import signal

MONO = "file string, audio segment<int16>"
STEREO = "file int, left segment<int16>, right segment<int16>"
RATE = 8_000


def noise(frames: int, channels: int = 1, seed: int = 1) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).integers(-32768, 32767, (frames, channels)).astype(np.int16)


def signals(found: list[Part], column: str) -> dict[Any, list[Segment]]:
    """The runs of each file."""
    each: dict[Any, list[Segment]] = {}
    for part in found:
        files = part.tuples.column(0).to_pylist()
        for file, value in zip(files, segments(part.tuples.column(column)).values(), strict=True):
            each.setdefault(file, []).append(value)
    return {file: runs(its) for file, its in each.items()}


def whole(found: list[Part], column: str = "audio") -> dict[Any, list[int]]:
    """The samples of files whose signals have no gaps."""
    return {file: np.asarray(run).tolist() for file, (run,) in signals(found, column).items()}


@pytest.mark.parametrize("name", ["one.wav", "one.flac", "one.raw"])
def test_a_recording_is_cut_in_segments_at_its_own_rate(name: str, tmp_path: Path) -> None:
    sound = noise(1000, 2)
    path = tmp_path / name
    if path.suffix == ".raw":
        path.write_bytes(sound.tobytes())
    else:
        soundfile.write(path, sound, RATE, "PCM_16")
    given = source(f"{path}?size=300{'&rate=8000' if path.suffix == '.raw' else ''}", STEREO)
    (part,) = parts(given)
    assert segments(part.tuples.column("left")).sizes.tolist() == [300, 300, 300, 100]
    assert part.number.tolist() == [1, 301, 601, 901]
    for at, column in enumerate(("left", "right")):
        (run,) = signals([part], column)[0]
        assert (run.timebase, np.asarray(run).tolist()) == (timebase(RATE), sound[:, at].tolist())


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.integers(0, 200), min_size=1, max_size=4), st.integers(1, 90), st.integers(1, 5), st.integers(1, 3),
    st.booleans(),
)  # fmt: skip
def test_files_that_are_joined_are_one_signal(
    lengths: list[int], size: int, limit: int, count: int, removed: bool
) -> None:
    """Also if they come one by one, and are moved away once they are read."""
    with tempfile.TemporaryDirectory() as folder:
        given = source(f"{folder}/?size={size}&joined=true&follow=true", "audio segment<int16>")
        start, found = given.start(), []
        for at, length in enumerate(lengths):
            soundfile.write(Path(folder) / f"{at}.wav", noise(length, seed=at), RATE, "PCM_16")
            while (end := given.latest(start, limit)) != start:
                found += [part for split in given.splits(start, end, count) for part in given.read(split)]
                start = end
            if removed and length:
                (Path(folder) / f"{at}.wav").unlink()
        together = np.concatenate([noise(length, seed=at)[:, 0] for at, length in enumerate(lengths)])
        values = [value for part in found for value in segments(part.tuples.column("audio")).values()]
        joined = runs(values)
        assert [np.asarray(run).tolist() for run in joined] == ([together.tolist()] if len(together) else [])


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 300), min_size=1, max_size=4), st.integers(1, 130), st.integers(1, 5), st.integers(1, 3))
def test_how_files_are_cut_changes_nothing(lengths: list[int], size: int, limit: int, count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        sounds = {f"{at}.wav": noise(length, seed=at) for at, length in enumerate(lengths)}
        for name, sound in sounds.items():
            soundfile.write(Path(folder) / name, sound, RATE, "PCM_16")
        given = source(f"{folder}/?size={size}", MONO)
        start, found, numbers = given.start(), [], []
        while (end := given.latest(start, limit)) != start:
            for split in given.splits(start, end, count):
                for part in given.read(split):
                    found.append(part)
                    numbers += part.number.tolist()
            start = end
        assert given.finished(start)
        assert numbers == sorted(set(numbers))
        assert whole(found) == {name: sound[:, 0].tolist() for name, sound in sounds.items() if len(sound)}
        sizes = [each for part in found for each in segments(part.tuples.column("audio")).sizes.tolist()]
        assert len(sizes) == sum(-(-length // size) for length in lengths)


@pytest.mark.parametrize("subtype", ["PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "PCM_U8", "ULAW"])
@pytest.mark.parametrize("samples", ["int16", "int32", "float32", "float64"])
def test_samples_are_read_as_soundfile_does_or_refused_where_they_do_not_fit(
    subtype: str, samples: str, tmp_path: Path
) -> None:
    path = tmp_path / "one.wav"
    soundfile.write(path, noise(50).astype(np.float64) / 40_000, RATE, subtype)
    told = soundfile.read(path, dtype=samples)[0].tolist()
    exact = soundfile.read(path, dtype="float64")[0]
    scale = {"int16": 2.0**15, "int32": 2.0**31}.get(samples, 1.0)
    given = source(str(path), f"file string, audio segment<{samples}>")
    if (np.array(told) / scale == exact).all() and (samples[0] == "f" or subtype not in ("FLOAT", "DOUBLE")):
        assert whole(list(parts(given))) == {"one.wav": told}
    else:
        with pytest.raises(RunError, match=f"has samples of {subtype}, which {samples} does not hold; read segments"):
            list(parts(given))


def test_channels_are_chosen(tmp_path: Path) -> None:
    sound = noise(100, 4)
    soundfile.write(tmp_path / "one.wav", sound, RATE, "PCM_16")
    found = list(parts(source(f"{tmp_path}/one.wav?channels=4,2", STEREO)))
    assert whole(found, "left")[0] == sound[:, 3].tolist()
    assert whole(found, "right")[0] == sound[:, 1].tolist()


@pytest.mark.parametrize(
    ("text", "schema", "told"),
    [
        ("one.wav", MONO, r"one.wav: has 2 channels, for 1 columns of segments; give as many, or choose .*channels=1"),
        ("one.wav?channels=3", MONO, "one.wav: has no channel 3, but 2, counted from 1"),
        ("one.wav?rate=44100", STEREO, "one.wav: has 8000 samples a second, and rate=44100 is asked for; leave it out"),
        ("one.raw", MONO, r"one.raw: a raw file does not tell its rate; say it, such as .*one.raw\?rate=48000"),
        ("one.wav", "a int, b int, audio segment<int16>", "at most one that tells files apart"),
        ("*.wav", "left segment<int16>, right segment<int16>", "two.wav: is not the first file; several need a column"),
        ("bad/text.wav", MONO, "text.wav: is no WAV file"),
        ("bad/empty.wav", MONO, "empty.wav: has no whole head; .*put a whole file in its place"),
        ("samples:bad/empty.wav", MONO, "empty.wav: .*It cannot be read"),
        ("samples:bad/text.wav", MONO, "text.wav: is no WAV file"),
        ("samples:bad/text.flac", MONO, "text.flac: .*It cannot be read"),
        ("bad/text.ogg?rate=8000", MONO, "text.ogg: the format is told by the name, .*convert other sounds to FLAC"),
        ("samples:bad/text.mp3?rate=8000", MONO, "text.mp3: the format is told by the name, which ends in one of"),
        ("bad", MONO, "empty.wav: has no whole head"),
        ("none/", MONO, "no file matches none"),
        ("bad/text.flac", MONO, "text.flac: .* It cannot be read; leave it out, or put a whole file in its place"),
        ("one.csv", MONO, r"one.csv: CSV does not tell how many samples there are a second; say it \(rate=48000\)"),
        ("one.csv?joined=true&rate=8", MONO, "files of CSV are not joined to one signal; put them together"),
        ("one.wav?size=0", STEREO, "a segment has at least one sample, not size=0"),
        ("one.wav", "file int, left segment<complex64>, right segment<complex64>", "does not hold complex64; read"),
        ("samples:one.wav?times=0", STEREO, "a file is read at least once, not size=65536, times=0"),
        ("samples:none.wav", STEREO, "no file matches none.wav"),
    ],
)
def test_what_cannot_be_read_is_told(
    text: str, schema: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("one.wav", "two.wav"):
        soundfile.write(name, noise(100, 2), RATE, "PCM_16")
    for name in ("one.raw", "bad/text.wav", "bad/text.flac", "bad/text.ogg", "bad/text.mp3", "one.csv"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("audio\n" + "no sound at all\n" * 10)
    Path("bad/empty.wav").touch()
    with pytest.raises(RunError, match=told):
        list(parts(source(text, schema)))


def test_a_file_of_another_name_is_not_taken_for_bare_samples(tmp_path: Path) -> None:
    for name in ("one.ogg", "one.txt", "one"):
        (tmp_path / name).write_bytes(bytes(100))
        with pytest.raises(RunError, match=f"{name}: the format is told by the name"):
            Samples(schema_of(MONO), (str(tmp_path / name),), RATE)
    (tmp_path / "one.csv").write_text("audio\n" + "1\n" * 100)
    with pytest.raises(RunError, match=r"one.csv: Format not recognised. It cannot be read"):
        source(f"samples:{tmp_path}/*.csv?rate=8000", MONO)


def test_a_wav_file_without_a_head_is_waited_for_only_at_the_end(tmp_path: Path) -> None:
    given = source(f"{tmp_path}/?follow=true", MONO)
    (tmp_path / "1.wav").touch()
    assert taken(given, given.start()) == ([], given.start())
    soundfile.write(tmp_path / "2.wav", noise(100), RATE, "PCM_16")
    with pytest.raises(RunError, match=r"1.wav: has no whole head"):
        taken(given, given.start())
    soundfile.write(tmp_path / "1.wav", noise(10), RATE, "PCM_16")
    assert set(whole(taken(given, given.start())[0])) == {"1.wav", "2.wav"}


def test_what_does_not_decode_becomes_letters_and_takes_nothing_along(tmp_path: Path) -> None:
    path = tmp_path / "one.flac"
    soundfile.write(path, noise(40_000), RATE, "PCM_16")
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 3 // 4])
    found = list(parts(source(f"{path}?size=5000", MONO)))
    letters = [letter for part in found for letter in part.letters]
    assert letters
    assert all("one.flac: samples" in letter.reason and "do not decode" in letter.reason for letter in letters)
    kept = signals(found, "audio")["one.flac"][0]
    assert np.asarray(kept).tolist() == noise(40_000)[: len(kept), 0].tolist()
    assert len(kept) == min(letter.position for letter in letters) >= 20_000
    with pytest.raises(RunError, match=r"do not decode.*correct it, or read without `strict`"):
        list(parts(source(f"{path}?size=5000&strict=true", MONO)))


def taken(given: Source, start: dict[str, Any]) -> tuple[list[Part], dict[str, Any]]:
    end = given.latest(start, 1 << 20)
    return [part for split in given.splits(start, end, 2) for part in given.read(split)] if end != start else [], end


@pytest.mark.parametrize("length", [0, 0xFFFFFFFF])
def test_a_wav_file_that_grows_is_read_by_whole_frames(length: int, tmp_path: Path) -> None:
    sound, path = noise(3000, 2), tmp_path / "one.wav"
    head = bytearray(wav.head(RATE, 2, "int16", 0))
    head[40:44] = struct.pack("<I", length)
    path.write_bytes(bytes(head[:20]))
    given = source(f"{path}?follow=true&size=500", STEREO)
    found, offset = taken(given, given.start())
    assert not found
    path.write_bytes(bytes(head) + sound[:1000].tobytes() + b"\1\2\3")
    found, offset = taken(given, offset)
    assert whole(found, "left")[0] == sound[:1000, 0].tolist()
    with path.open("r+b") as file:
        file.seek(44)
        file.write(sound.tobytes())
        file.seek(0)
        file.write(wav.head(RATE, 2, "int16", 3000))  # as a recorder closes it
        file.seek(0, 2)
        file.write(b"LIST" + struct.pack("<I", 4) + b"abcd")
    more, offset = taken(given, offset)
    assert whole(found + more, "left")[0] == sound[:, 0].tolist()
    assert taken(given, offset) == ([], offset)
    soundfile.write(tmp_path / "two.wav", noise(10, 2), RATE, "PCM_16")
    path.write_bytes(path.read_bytes()[:4000])
    with pytest.raises(RunError, match=r"one.wav: has 989 frames, fewer than the 3000 that it had"):
        list(given.splits(given.start(), given.latest(given.start(), 99) | {"files": offset["files"]}, 1))


def test_recordings_that_come_later_follow(tmp_path: Path) -> None:
    given = source(f"{tmp_path}/?follow=true", MONO)
    assert given.latest(given.start(), 9) == given.start()
    soundfile.write(tmp_path / "1.wav", noise(100, seed=1), RATE, "PCM_16")
    found, offset = taken(given, given.start())
    soundfile.write(tmp_path / "2.flac", noise(200, seed=2), 44_100, "PCM_16")
    soundfile.write(tmp_path / ".3.wav", noise(200, seed=2), 44_100, "PCM_16")
    more, offset = taken(given, offset)
    assert whole(found + more) == {
        "1.wav": noise(100, seed=1)[:, 0].tolist(),
        "2.flac": noise(200, seed=2)[:, 0].tolist(),
    }
    assert signals(more, "audio")["2.flac"][0].timebase == timebase(44_100)
    assert not given.finished(offset)


def test_files_that_go_on_together_may_be_of_any_kind_and_be_read_over_and_over(tmp_path: Path) -> None:
    one, two = noise(250, seed=1), noise(100, seed=2)
    soundfile.write(tmp_path / "1.wav", one, RATE, "PCM_16")
    soundfile.write(tmp_path / "2.flac", two, RATE, "PCM_16")
    given = source(f"samples:{tmp_path}/*?size=64&times=3", MONO)
    assert isinstance(given, Samples)
    found = list(parts(given, 3))
    assert whole(found) == {"1.wav": one[:, 0].tolist() * 3, "2.flac": two[:, 0].tolist() * 3}
    split = [p for at in given.splits({"samples": 0}, {"samples": 750}, 2) for p in given.read(at)]
    assert whole(split) == whole(found)


@pytest.mark.parametrize("samples", ["int16", "float32", "complex64"])
@pytest.mark.parametrize("text", ["out/*.parquet", "out/*.arrow", "out.arrows", "out.jsonl", "out/*.jsonl"])
def test_segments_come_back_from_files_of_tuples(text: str, samples: str, tmp_path: Path) -> None:
    long = segment((noise(1000)[:, 0] / 7).astype(samples), timebase(48_000, "1/3"))
    schema = f"site int, audio segment<{samples}>"
    values = [long[10:20], None, long[15:400], segment([], timebase(1), dtype=samples), long[3:4]]
    train = signal(schema, site=range(5), audio=values).tuples
    writer = sink.open(str(tmp_path / text), train.schema)
    writer.write(0, [train[:2], train[2:]])
    writer.close()
    found = [part.tuples for part in parts(source(str(tmp_path / text), schema))]
    assert [value for each in found for value in segments(each.column("audio")).values()] == values


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"start": 0, "rate": 8, "per": 1, "samples": [1]}', "a segment has start, rate, per, phase and samples"),
        ('{"start": 0, "rate": 8, "per": 1, "phase": 0, "samples": [1, null]}', "none of them null"),
        ('{"start": 0, "rate": 0, "per": 1, "phase": 0, "samples": []}', "the rate of a segment is above zero"),
        ('{"start": 0, "rate": 1, "per": 1, "phase": 0, "samples": [70000]}', "70000"),
    ],
)
def test_an_object_that_is_no_segment_is_a_letter(text: str, reason: str, tmp_path: Path) -> None:
    good = '{"start": 5, "rate": 8, "per": 1, "phase": 0, "samples": [1, 2]}'
    lines = [f'{{"file": "a", "audio": {each}}}\n' for each in (good, text, "null")]
    (tmp_path / "one.jsonl").write_text("".join(lines))
    (part,) = parts(source(f"{tmp_path}/one.jsonl", MONO))
    assert [None if value is None else value.start for value in segments(part.tuples.column("audio")).values()] == [
        5, None,
    ]  # fmt: skip
    (letter,) = part.letters
    assert reason in letter.reason


def test_a_local_run_takes_sounds_and_gives_them(tmp_path: Path) -> None:
    sound = noise(10_000, 2)
    soundfile.write(tmp_path / "one.wav", sound, RATE, "PCM_16")
    (tmp_path / "net.yaml").write_text(
        "australis: 2\ninputs:\n  sound: file string, left segment<int16>, right segment<int16>\n"
        "boxes:\n  some:\n    filter: 'true'\n    from: sound\noutputs:\n  out: some\n"
    )
    net = au.load(tmp_path / "net.yaml")
    found = net.run_local(sound=f"{tmp_path}/one.wav?size=4000", out=f"{tmp_path}/out/*.wav")
    assert found["out"].num_rows == 3
    again = [soundfile.read(path, dtype="int16")[0] for path in sorted((tmp_path / "out").glob("*.wav"))]
    assert np.concatenate(again).tolist() == sound.tolist()
