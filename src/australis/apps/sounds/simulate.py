"""Write artificial sounds to files: WAV, FLAC, raw or CSV."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import soundfile

from australis.apps.sounds.sounds import Sound
from australis.boxes.signals.segments import Samples
from australis.connectors.sources import wav
from australis.errors import RunError

_STEP = 1 << 20  # frames at a time
FORMS = (".wav", ".flac", ".raw", ".pcm", ".csv")


def simulate(sound: Sound, out: Path, frames: int, on_progress: Callable[[int], None] | None = None) -> None:
    """Write `frames` frames of a sound to a file. `on_progress` is called with the number of frames at each step."""
    form = out.suffix.lower()
    if form not in FORMS:
        raise RunError(f"{out}: a sound is written to a name that ends in one of {', '.join(FORMS)}")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            write = _writer(stack, sound, out, form, frames)
            for begin in range(0, frames, _STEP):
                end = min(begin + _STEP, frames)
                write(sound.frames(begin, end))
                if on_progress is not None:
                    on_progress(end - begin)
    except (OSError, soundfile.LibsndfileError) as error:
        raise RunError(f"{out}: cannot be written ({error}); give another file") from None


def _writer(stack: ExitStack, sound: Sound, out: Path, form: str, frames: int) -> Callable[[Samples], object]:
    if form == ".flac":
        flac = soundfile.SoundFile(out, "w", sound.rate, sound.channels, "PCM_16", format="FLAC")
        return stack.enter_context(flac).write  # type: ignore[no-any-return]
    file = stack.enter_context(out.open("wb"))
    if form == ".csv":
        names = [f"c{channel + 1}" for channel in range(sound.channels)] if sound.channels > 1 else ["audio"]
        lines: Any = stack.enter_context(pa.csv.CSVWriter(file, pa.schema([(name, pa.int16()) for name in names])))
        return lambda some: lines.write(pa.table(dict(zip(names, np.ascontiguousarray(some.T), strict=True))))
    if form == ".wav":
        file.write(wav.head(sound.rate, sound.channels, "int16", frames))
    return lambda some: file.write(some.tobytes())


def write_events(sound: Sound, out: Path, frames: int) -> int:
    """Write the events of a sound as CSV, with the first and the last sample of each. Returns how many there are."""
    first, last = sound.events(0, frames).T
    try:
        pa.csv.write_csv(pa.table({"start": first, "end": last}), out)
    except OSError as error:
        raise RunError(f"{out}: cannot be written ({error}); give another file") from None
    return len(first)
