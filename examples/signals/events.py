"""Find the events in a long recording, and write each as a sound of its own with a picture, and a page of them all.

    python examples/signals/events.py RECORDING.wav --out events --low 4500 --high 6000

Without a recording it makes one up: marmots that call, as four microphones hear them. What stands out of the noise
between two frequencies is an event (XStream's DETECTAUDIO); it is cut out of all channels.
"""

import argparse
import html
import sys
from pathlib import Path

import soundfile

import australis as au
from australis.apps.sounds.picture import png, read_events
from australis.apps.sounds.simulate import simulate
from australis.apps.sounds.sounds import Sound
from australis.apps.sounds.survey import recording, survey
from australis.errors import AustralisError

WINDOW, GAP = 32, 96
TYPES = {"PCM_U8": "int16", "PCM_16": "int16", "PCM_24": "int32", "FLOAT": "float32"}
MOST = 200  # events that the page shows


def network(channels: int, samples: str, low: float, high: float, threshold: float) -> au.Network:
    """Events of the first channel, between two bins of its spectrum, and what all channels heard of them.

    A bin at an end of the band counts as much as it lies in it.
    """
    names = [f"c{channel + 1}" for channel in range(channels)]
    sound = au.stream("sound", ", ".join(f"{name} segment<{samples}>" for name in names))
    windows = sound.map(c1="c1").signal.rewindow(WINDOW, GAP)
    scores = windows.signal.transform("hann", "fft", into="spectrum").signal.stats(
        column="spectrum", score=f"band({low}, {high})"
    )
    events = scores.signal.cfar("score", column="c1", threshold=threshold).signal.sync(sound)
    return au.network(sounds=events, found=events.map(start="start", end='"end"'))


def bins(low: float, high: float, rate: int) -> tuple[int, int]:
    """The lowest and the highest bin of a band in Hz; a recording has no sound above half of its rate."""
    top = rate / 2
    if not 0 <= low <= high:
        sys.exit(
            f"a band goes from a frequency to a higher one, not from {low:g} to {high:g} Hz; change --low and --high"
        )
    if low > top:
        sys.exit(
            f"at {rate:,} samples a second there is no sound above {top:g} Hz, so none from {low:g} to {high:g} Hz;"
            " change --low and --high"
        )
    if high > top:
        print(f"at {rate:,} samples a second there is no sound above {top:g} Hz: looking from {low:g} Hz to there")
    first, last = (round(hertz * WINDOW / rate) for hertz in (low, min(high, top)))
    return first, last


def page(name: str, rate: int, events: list[tuple[int, int]]) -> str:
    """A page with the recording, and all its events."""
    rows = [
        f"<figure><figcaption><span><b>{start / rate:,.2f} s</b>, {(end + 1 - start) / rate:.2f} s long</span>"
        f"<audio controls preload=none src={start:012d}.wav></audio></figcaption>"
        f"<img loading=lazy src={start:012d}.png alt='the event at {start / rate:.2f} s'></figure>"
        for start, end in events[:MOST]
    ]
    more = f"<p>and {len(events) - MOST:,} more, in this folder</p>" if len(events) > MOST else ""
    style = (
        "body{font:15px system-ui;max-width:1100px;margin:2em auto;color:#2b2b2b}img{width:100%}figure{margin:2em 0}"
        "figcaption{display:flex;gap:1em;align-items:center}audio{height:2em;margin-left:auto}"
    )
    title = f"{html.escape(name)}: {counted(len(events))}"
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title><style>{style}</style>"
        f"<h1>{title}</h1><img src=recording.png alt='the recording'>{''.join(rows)}{more}</html>"
    )


def counted(events: int) -> str:
    return "no event" if not events else "1 event" if events == 1 else f"{events:,} events"


def main() -> None:
    asked = argparse.ArgumentParser(description="Find the events in a recording.")
    asked.add_argument("recording", nargs="?", type=Path, help="WAV or FLAC; one is made up if none is given")
    asked.add_argument("--out", type=Path, default=Path("events"), help="the folder to write")
    asked.add_argument("--low", type=float, default=4500, help="the lowest frequency of an event in Hz")
    asked.add_argument("--high", type=float, default=6000, help="the highest")
    asked.add_argument("--threshold", type=float, default=16, help="standard deviations above the noise")
    asked.add_argument("--seconds", type=float, default=12, help="of the recording that is made up")
    asked.add_argument("--spark", action="store_true", help="run it on Spark, for a recording of days")
    given = asked.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.recording is None:
        given.recording = given.out / "recording.flac"
        sound = Sound("calls", channels=4)
        simulate(sound, given.recording, int(given.seconds * sound.rate))

    file = recording(given.recording)
    info = soundfile.info(given.recording)
    low, high = bins(given.low, given.high, info.samplerate)
    net = network(info.channels, TYPES.get(info.subtype, "float64"), low, high, given.threshold)
    found = given.out / "events.csv"
    places = {"sound": str(given.recording), "sounds": f"{given.out}/{{start:012d}}.wav", "found": str(found)}
    net.run(places) if given.spark else net.run_local(places)

    events = read_events(found)
    (given.out / "recording.png").write_bytes(png(survey(file, 0, file.frames()), events))
    for start, end in events.tolist()[:MOST]:
        title = f"{start / info.samplerate:,.2f} s"
        picture = png(survey(file, start, end + 1), title=title)
        (given.out / f"{start:012d}.png").write_bytes(picture)
    (given.out / "index.html").write_text(page(given.recording.name, info.samplerate, events.tolist()))
    places = ", ".join(f"{start / info.samplerate:.1f}" for start, _ in events)
    print(f"{given.recording}: {counted(len(events))}" + (f", at {places} s" if len(events) else ""))
    if not len(events):
        print(
            f"nothing between {given.low:g} and {given.high:g} Hz is {given.threshold:g} standard deviations above the"
            f" noise; try another band, or a --threshold below {given.threshold:g}"
        )
    print(f"sounds and pictures: {given.out / 'index.html'}")


if __name__ == "__main__":
    try:
        main()
    except AustralisError as error:
        sys.exit(str(error))
