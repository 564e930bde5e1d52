"""Transform: each segment as another, by named steps such as `hann` and `fft` (XStream II-A)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from australis.arrow.schema import segment as segment_type
from australis.boxes.signals.column import Segments, chosen, dtype_of, segments, starts
from australis.boxes.signals.families import Rowwise
from australis.boxes.signals.named import call, check
from australis.boxes.signals.steps import HALF, INVERSE, STEPS, WHOLE, Step
from australis.errors import NetworkError
from australis.model.box import Moment, Tables, Trains, bound
from australis.model.facts import Facts, without

Arguments = tuple[float, ...]
_NAMES = {**STEPS, "ifft": None}
_FORM = b"spectrum"


@dataclass(frozen=True)
class Transform(Rowwise):
    """The tuple, with a segment made of its own in place of it, or in the column `into`.

    The steps are applied one after the other to all segments of a length at once; null stays null.

    | step | gives |
    | --- | --- |
    | `hann`, `hamming`, `blackman`, `bartlett`, `flattop`, `kaiser(beta)` | the samples under a window function |
    | `fft` | the spectrum, complex: of real samples the bins from 0 Hz to half their rate, of complex ones all |
    | `ifft` | the samples of a spectrum, from index 0 on: real or complex, as `fft` was given them |
    | `irfft`, `irfft(size)` | those of a spectrum of real samples: an even number, or so many; `ifft(size)` too |
    | `icfft` | those of a spectrum of complex samples: as many as there are bins |
    | `abs`, `power`, `db` | magnitudes, their squares, decibels |
    | `center`, `normalize` | less the mean; then over the largest magnitude |
    | `scale(by)` | times a number |
    | `float32`, `float64`, `int16`, `int32` | samples of that type, rounded and at most as large as it holds |

    An index of a spectrum stands for a frequency: `timebase.time(k)` gives Hz. Of complex samples the bins are in the
    order of `numpy.fft.fft`. A column of a spectrum remembers of which samples it is, as long as boxes hand it on as it
    is; where that is not known, `ifft` is refused, and one of the other two is what is meant.

    >>> from australis.boxes.signals.segments import segment
    >>> from australis.testing.signals import signal
    >>> from australis.boxes.signals.timebases import timebase
    >>> from australis.testing import apply
    >>> train = signal("audio segment<int16>", audio=[segment([1, -1, 1, -1], timebase(8), dtype="int16")])
    >>> (spectrum,) = segments(apply(Transform(("fft", "abs")), train)[0]["audio"]).values()
    >>> spectrum.timebase.time(2), np.asarray(spectrum).tolist()
    (Fraction(4, 1), [0.0, 0.0, 4.0])
    """

    steps: tuple[str, ...]
    column: str = ""
    into: str = ""

    kind: ClassVar[str] = "transform"

    @classmethod
    def make(cls, *steps: str, column: str = "", into: str = "") -> Transform:
        """Make another segment of each by steps such as `hann` and `fft`, in place of it or in a column of its own."""
        return cls(steps, column, into)

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        (stream,) = inputs
        if not self.steps:
            raise NetworkError("a transform takes at least one step, such as fft")
        return {"out": self._schema(stream)}

    def facts(self, title: str, given: Sequence[Facts], streams: Sequence[pa.Schema]) -> Facts:
        known, column = given[0], chosen(streams[0], self.column)
        into = self.into or column
        rates, sizes = without(known.rates, {into}), without(known.sizes, {into})
        size = known.sizes.get(column)
        length = None if size is None else self.length(streams[0], size)
        if length is not None:
            sizes[into] = length
        return replace(known, rates=rates, sizes=sizes)

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        (train,) = trains
        column = chosen(train.schema, self.column)
        schema = self._schema(train.schema)
        steps = [(STEPS[name], arguments) for name, arguments in self._steps(train.schema)[0]]
        results = self._made(segments(train[column]), dtype_of(schema, self.into or column), steps).arrow()
        columns: list[Any] = [train.part(name) for name in train.schema.names]
        if not self.into or self.into in train.schema.names:
            columns[train.schema.get_field_index(self.into or column)] = results
        else:
            columns.append(results)
        return (train.made(schema, columns),)

    def _made(self, signal: Segments, dtype: np.dtype[Any], steps: list[tuple[Step, Arguments]]) -> Segments:
        blocks = [(rows, block) for rows, block in signal.blocks() if block.shape[1]]
        for each, arguments in steps:
            signal = each.places(signal, *arguments)
            blocks = [(rows, each.apply(block, *arguments)) for rows, block in blocks]
            sizes = np.zeros(len(signal), np.int32)
            for rows, block in blocks:
                sizes[rows] = block.shape[1]
            signal = replace(signal, sizes=sizes)
        if len(blocks) == 1 and len(blocks[0][0]) == len(signal):
            return signal.on(np.ascontiguousarray(blocks[0][1], dtype).reshape(-1), starts(signal.sizes), signal.sizes)
        offsets, at = np.zeros(len(signal), np.int32), 0
        for rows, block in blocks:
            offsets[rows] = at + np.arange(len(rows)) * block.shape[1]
            at += block.size
        flat = [block.astype(dtype, copy=False).reshape(-1) for _, block in blocks]
        return signal.on(np.concatenate(flat) if flat else np.empty(0, dtype), offsets, signal.sizes)

    def length(self, stream: pa.Schema, size: int) -> int:
        """How many samples segments of a size have after it."""
        real = dtype_of(stream, chosen(stream, self.column)).kind != "c"
        for name, arguments in self._steps(stream)[0]:
            if name == "fft" and real:
                size = size // 2 + 1
            elif name == "irfft":
                size = int(arguments[0]) if arguments else max(2 * (size - 1), 1)
            real = STEPS[name].result(np.dtype(np.float32)).kind != "c"
        return size

    @bound
    def _steps(self, stream: pa.Schema) -> tuple[list[tuple[str, Arguments]], np.dtype[Any], str]:
        """The steps by name, with the inverse that is meant by `ifft`; the type of the result, and its form."""
        column = chosen(stream, self.column)
        dtype, form = dtype_of(stream, column), _form(stream.field(column))
        steps = []
        for text in self.steps:
            name, arguments = call(text, _NAMES, "step")
            if name == "ifft":
                if dtype.kind == "c" and not form:
                    raise NetworkError(
                        f"`{text}`: it is not known of which samples `{column}` is the spectrum; write irfft if they"
                        " were real, icfft if they were complex"
                    )
                name = INVERSE[form or HALF]
            step = STEPS[name]
            if dtype.kind not in step.takes:
                wanted = "complex samples, such as those of fft" if step.takes == "c" else "real samples"
                raise NetworkError(f"`{text}` takes {wanted}, and is given {dtype}")
            if name in INVERSE.values() and form and name != INVERSE[form]:
                kind = "real" if form == HALF else "complex"
                raise NetworkError(f"`{text}` is given the spectrum of {kind} samples: write {INVERSE[form]}")
            check(text, arguments, *step.arguments)
            step.check(*arguments)
            steps.append((name, arguments))
            form = "" if name != "fft" else WHOLE if dtype.kind == "c" else HALF
            dtype = step.result(dtype)
        return steps, dtype, form

    @bound
    def _schema(self, stream: pa.Schema) -> pa.Schema:
        _, dtype, form = self._steps(stream)
        name = self.into or chosen(stream, self.column)
        field = pa.field(name, segment_type(dtype.name), metadata={_FORM: form} if form else None)
        if name in stream.names:
            return stream.set(stream.get_field_index(name), field)
        return stream.append(field)


def _form(field: pa.Field[Any]) -> str:
    """The form of the spectrum in a column, as the transform that made it wrote it down; empty if nobody did."""
    return (field.metadata or {}).get(_FORM, b"").decode()
