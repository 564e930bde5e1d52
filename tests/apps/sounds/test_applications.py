"""XStream's applications: what they find in sounds that are made up, on one process and on Spark."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
import soundfile

import australis as au
from australis.apps.sounds.sounds import Sound
from australis.arrow.schema import schema
from australis.bench.applications import APPLICATIONS, record
from australis.boxes.signals.column import column, segments
from australis.boxes.signals.segments import segment
from australis.boxes.signals.timebases import timebase
from australis.connectors.sinks.memory import MemorySink
from australis.connectors.source import parts
from australis.connectors.sources import uri
from australis.connectors.sources.samples import Samples
from australis.errors import RunError
from australis.testing import rows
from tests.boxes.signals.test_mixing import SITES, mixed, readings
from tests.oracles.signals import leaks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXAMPLES = Path(__file__).parents[3] / "examples" / "signals"
SHORT = 300_000


def source(folder: Path, name: str, size: int = 50_000) -> Samples:
    (input_,) = APPLICATIONS[name]().inputs
    return Samples(input_.schema, record(folder, name, SHORT), 48_000, size)


def found(folder: Path, name: str, size: int, limit: int) -> list[Any]:
    net = APPLICATIONS[name]()
    batches = [part.tuples for part in parts(source(folder, name, size), limit)]
    ((_, output),) = net.run_local({net.inputs[0].name: batches}).items()
    return sorted(rows(output), key=repr)


@pytest.mark.parametrize("name", APPLICATIONS)
def test_the_example_is_the_application(name: str) -> None:
    assert au.load(EXAMPLES / f"{name}.yaml") == APPLICATIONS[name]()


@pytest.mark.parametrize("name", ["statfilter", "silencefilter", "detectaudio", "pipeline"])
def test_how_the_signal_is_chunked_changes_nothing(name: str, tmp_path: Path) -> None:
    first = found(tmp_path, name, 50_000, 1 << 20)
    assert first
    assert first == found(tmp_path, name, 7_777, 20)


def test_about_half_of_the_windows_of_speech_pass(tmp_path: Path) -> None:
    assert 0.3 < len(found(tmp_path, "statfilter", 50_000, 99)) / (2 * (SHORT // 4096)) < 0.7


def test_silence_is_cut_out(tmp_path: Path) -> None:
    sound = Sound("speech", seed=0).frames(0, SHORT)[:, 0]
    windows = sound[: SHORT // 4096 * 4096].reshape(-1, 4096)
    loud = np.flatnonzero(windows.astype(np.float64).std(axis=1) > 600) * 4096
    kept = [start for site, start, _ in found(tmp_path, "silencefilter", 50_000, 99) if site == 0]
    assert sorted(kept) == loud.tolist()


def test_every_call_is_found_in_all_channels(tmp_path: Path) -> None:
    events = sorted((row for row in found(tmp_path, "detectaudio", 50_000, 99) if row[0] == 0), key=lambda row: row[1])
    calls = Sound("calls", channels=4, seed=0)
    sound = calls.frames(0, SHORT)
    for (_, start, end, *channels), (first, last) in zip(events, calls.events(0, SHORT), strict=True):
        assert start < first < last < end
        for channel, each in enumerate(channels):
            assert each["samples"] == sound[start : end + 1, channel].tolist()


def test_noise_that_becomes_louder_for_good_is_no_event() -> None:
    """Ten seconds of quiet, then a minute of noise that is twenty times as loud, with a call after all."""
    base, rate = timebase(48_000), 48_000
    sound = np.random.default_rng(1).normal(0, 50, 70 * rate)
    sound[10 * rate :] *= 20
    at = np.arange(rate // 5)
    for second, loud in ((8, 1_000), (65, 20_000)):
        sound[second * rate : second * rate + len(at)] += loud * np.sin(2 * np.pi * 5_250 / rate * at)
    heard = column([segment(sound.astype(np.int16), base)], "int16")
    given = {"site": [0], "one": heard, "two": heard, "three": heard, "four": heard}
    events = APPLICATIONS["detectaudio"]().run_local(array=given)["events"]
    assert [start // rate + 1 for start in events.column("start").to_pylist()] == [8, 65]


def test_leaks_are_those_of_a_window_at_a_time(tmp_path: Path) -> None:
    """As XStream's authors tell them."""
    for site in (0, 1):
        got = [(start, ratio) for each, start, ratio in found(tmp_path, "pipeline", 50_000, 99) if each == site]
        expected = leaks(Sound("pipes", seed=site).frames(0, SHORT)[:, 0].tolist())
        assert [start for start, _ in sorted(got)] == [start for start, _ in expected] != []
        assert [ratio for _, ratio in sorted(got)] == pytest.approx([ratio for _, ratio in expected], rel=1e-4)


def burst(decay: float, at: int, size: int = 12_000) -> list[int]:
    """A pipe that is struck once, with some noise; the ringing falls to a third in so many samples."""
    time = np.arange(size) - at
    ring = np.where(time < 0, 0, 6000 * np.exp(-np.abs(time) / decay) * np.sin(2 * np.pi * time / 128))
    hum = 100 * np.sin(2 * np.pi * np.arange(size) / 40)
    return np.rint(ring + hum + np.random.default_rng(at).normal(0, 5, size)).astype(int).tolist()


@pytest.mark.parametrize("at", [0, 77, 3000, 7000])
@pytest.mark.parametrize(("decay", "leaking"), [(60, True), (80, True), (400, False), (900, False), (1e-9, False)])
def test_a_burst_that_dies_down_soon_is_a_leak(decay: float, leaking: bool, at: int) -> None:
    sound = burst(decay, at)
    given = {"site": [7], "audio": column([segment(sound, timebase(48_000), dtype="int16")], "int16")}
    got = APPLICATIONS["pipeline"]().run_local(audio=given)["leaks"].to_pylist()
    assert [(row["start"], row["ratio"]) for row in got] == [
        (start, pytest.approx(ratio, rel=1e-4)) for start, ratio in leaks(sound)
    ]
    assert [row["site"] for row in got] == ([7] if leaking else [])


@pytest.mark.parametrize("level", [0, 5, -5])
def test_a_still_pipe_does_not_leak(level: int) -> None:
    given = {"site": [7], "audio": column([segment([level] * 9000, timebase(48_000), dtype="int16")], "int16")}
    assert APPLICATIONS["pipeline"]().run_local(audio=given)["leaks"].num_rows == 0


def test_leaks_are_found_where_the_pipe_leaks(tmp_path: Path) -> None:
    """In windows that hold a blow that leaks and no other; not in those that hold one that does not, or none."""
    pipe = Sound("pipes", seed=0)
    found_in = {start for site, start, _ in found(tmp_path, "pipeline", 50_000, 99) if site == 0}
    leaking = {int(first) for first, _ in pipe.events(0, SHORT)}
    blows = {first: first in leaking for first, *_ in pipe._turns(0, SHORT)}
    seen = []
    for start in range(0, SHORT - 8192, 7692):
        inside = [leaks for first, leaks in blows.items() if start - 4000 < first < start + 8192]
        whole = [leaks for first, leaks in blows.items() if start <= first < start + 8192 - 500]
        if len(inside) == len(whole) <= 1:
            assert (start in found_in) == any(whole), start
            seen += whole
    assert min(seen.count(True), seen.count(False)) >= 2


@pytest.mark.spark
def test_on_spark_it_finds_the_same_and_writes_what_it_hears(tmp_path: Path, spark: "SparkSession") -> None:
    """From files that go on together to sounds, a file an event, and to Parquet."""
    net = APPLICATIONS["detectaudio"]()
    record(tmp_path, "detectaudio", SHORT)
    expected = found(tmp_path, "detectaudio", 50_000, 99)
    (events,) = net.outputs
    places = {
        "array": f"samples:{tmp_path}/*.raw?rate=48000&size=7777",
        "events": f"{tmp_path}/parquet/",
        "sounds": f"{tmp_path}/sounds/{{site}}-{{start}}.wav",
    }
    both = replace(net, outputs=(events, replace(events, name="sounds")))
    both.run(places, spark=spark, checkpoint=str(tmp_path / "checkpoint"), partitions=2, train=60)
    kept = pa.Table.from_batches(
        [part.tuples for part in parts(uri.source(str(tmp_path / "parquet"), net.schema(events.arrow)))]
    )
    assert sorted(rows(kept), key=repr) == expected
    for site, start, _, *channels in expected:
        heard, rate = soundfile.read(tmp_path / "sounds" / f"{site}-{start}.wav", dtype="int16")
        assert rate == 48_000
        assert heard.T.tolist() == [each["samples"] for each in channels]
    assert len(list((tmp_path / "sounds").glob("*.wav"))) == len(expected)


def test_signals_among_other_boxes_are_the_same_on_spark(spark: "SparkSession") -> None:
    net = mixed()
    found = {output.name: MemorySink() for output in net.outputs}
    net.run({"readings": readings(60), "sites": pa.table(SITES), **found}, spark=spark, partitions=2, train=120)
    for name, table in net.run_local(readings=readings(60), sites=SITES).items():
        assert sorted(rows(found[name].table()), key=repr) == sorted(rows(table), key=repr), name


def test_raw_files_are_read_as_they_are_whatever_the_limit(tmp_path: Path) -> None:
    wanted = schema("name string, left segment<int16>, right segment<int16>")
    sounds = [np.arange(200, dtype=np.int16).reshape(-1, 2), np.arange(90, dtype=np.int16).reshape(-1, 2) * 3]
    for place, sound in enumerate(sounds):
        (tmp_path / f"{place}.raw").write_bytes(sound.tobytes())
    given = Samples(wanted, (str(tmp_path / "0.raw"), str(tmp_path / "1.raw")), "30000/1001", 13)
    for limit in (1, 4, 99):
        heard: dict[str, list[int]] = {"0.raw": [], "1.raw": []}
        numbers: list[int] = []
        for part in parts(given, limit):
            numbers += part.number.tolist()
            for name, left, right in rows(part.tuples):
                assert left["start"] * 2 == len(heard[name])
                heard[name] += np.stack([left["samples"], right["samples"]], axis=1).ravel().tolist()
        assert numbers == sorted(set(numbers))
        assert [heard["0.raw"], heard["1.raw"]] == [sound.ravel().tolist() for sound in sounds]
    assert given.backlog(given.start()) >= len(numbers)
    first, second = given.splits(given.start(), {"samples": 99}, 2)
    (part,) = given.read(second)
    assert {row[0] for row in rows(part.tuples)} == {"1.raw"}
    assert given.before(first) < numbers[0]
    (base,) = {each.timebase for each in segments(part.tuples.column("left")).values() if each is not None}
    assert base.rate == 30_000


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("a int", "segments of one type"),
        ("k double, a segment<int16>", "a number or a text"),
        ("a segment<int16>", "tells them apart"),
        ("a segment<int16>, b segment<int32>", "segments of one type"),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns: str, message: str, tmp_path: Path) -> None:
    paths = tuple(str(tmp_path / name) for name in ("a", "b"))
    for path in paths:
        Path(path).write_bytes(b"")
    with pytest.raises(RunError, match=message):
        Samples(schema(columns), paths, 8)
    with pytest.raises(RunError, match="no file"):
        Samples(schema("a segment<int16>"), (str(tmp_path / "none"),), 8)
