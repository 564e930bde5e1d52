"""The command line of signals: `australis signals simulate | show`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from australis.cli.groups import Commands
from australis.errors import RunError

app = Commands("Signals: sounds that are made up, and pictures of recordings.")


@app.command()
def simulate(
    out: Annotated[Path, typer.Option(metavar="FILE", help="WAV, FLAC, raw (.raw, .pcm) or CSV, by its name.")],
    kind: Annotated[str, typer.Option(metavar="NAME", help="Make speech, calls, pipes, tones or noise.")] = "speech",
    seconds: Annotated[float, typer.Option(metavar="T", min=0.0, help="How many seconds of it.")] = 60.0,
    rate: Annotated[int, typer.Option(metavar="HZ", min=1, help="Samples a second of a channel.")] = 48_000,
    channels: Annotated[int, typer.Option(metavar="N", min=1, help="How many microphones hear it.")] = 1,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="The same seed gives the same bytes.")] = 1,
    events: Annotated[
        Path | None, typer.Option(metavar="FILE.CSV", help="Write here where its events are: start,end in samples.")
    ] = None,
) -> None:
    """Make up a sound, with events that are known.

    \b
    australis signals simulate --out voice.wav
    australis signals simulate --out marmots.flac --kind calls --channels 4 \\
        --events calls.csv
    """
    from australis.apps.sounds.simulate import simulate as run_simulation
    from australis.apps.sounds.simulate import write_events
    from australis.apps.sounds.sounds import Sound

    if not math.isfinite(seconds):
        raise RunError(f"--seconds is a finite number, not {seconds}")
    sound, frames = Sound(kind, rate, channels, seed), round(seconds * rate)
    run_simulation(sound, out, frames)
    print(f"{out}: {frames:,} samples of {channels} {'channels' if channels > 1 else 'channel'} at {rate:,} Hz")
    if events is not None:
        print(f"{events}: {write_events(sound, events, frames):,} events")


@app.command()
def show(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="WAV, FLAC, OGG, MP3, ..., or raw (.raw, .pcm).")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.PNG", help="Write the picture here; else beside the file.")
    ] = None,
    events: Annotated[
        Path | None, typer.Option(metavar="FILE", help="CSV or Parquet of events to mark: start, end in samples.")
    ] = None,
    begin: Annotated[float, typer.Option("--from", metavar="SECOND", min=0.0, help="Where to begin.")] = 0.0,
    end: Annotated[float | None, typer.Option("--to", metavar="SECOND", help="Where to end; else at its end.")] = None,
    channel: Annotated[int, typer.Option(metavar="N", help="Whose spectrogram to draw, counted from 1.")] = 1,
    raw: Annotated[bool, typer.Option("--raw", help="Its bytes are samples of 16 bits, whatever its name.")] = False,
    rate: Annotated[str, typer.Option(metavar="HZ", help="Samples a second of a raw file.")] = "",
    channels: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="How many are in a raw file; else one.")
    ] = None,
) -> None:
    """Draw a recording: the waveform of each channel and a spectrogram, with events marked."""
    from australis.apps.sounds.picture import png, read_events
    from australis.apps.sounds.survey import recording, survey

    if not math.isfinite(begin) or not math.isfinite(end or 0.0):
        raise RunError(f"--from and --to are finite numbers of seconds, not {begin} and {end}")
    file = recording(path, rate, channels, raw)
    hertz = float(file.timebase.frequency)
    last = file.frames() if end is None else round(end * hertz)
    picture = png(survey(file, round(begin * hertz), last, channel), None if events is None else read_events(events))
    picture_file = path.with_suffix(".png") if out is None else out
    try:
        picture_file.write_bytes(picture)
    except OSError as error:
        raise RunError(f"{picture_file}: cannot be written ({error}); give another file") from None
    print(picture_file)
