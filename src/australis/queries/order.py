"""Order: whether the tuples of a planned stream come in the order that a window or a join takes for granted."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import pyarrow as pa

from australis.api.stream import Stream
from australis.model.ascent import Disorder
from australis.model.network import Input

_ADVICE = "say how many tuples late they may be: SLACK in TUMBLE and HOP, or `slack` (--slack) for the whole query"


def disorder(stream: Stream, column: str, by: Iterable[str] = ()) -> str | None:
    """Why a stream may not ascend on a column in each group of `by`, or None where it does if its inputs do."""
    found = _Ascent(stream).disorder(column, set(by))
    if found is None:
        return None
    return f"{found.reason}; {_ADVICE}" if found.slack_helps else found.reason


@dataclass(frozen=True)
class _Ascent:
    """A stream, of which boxes ask whether it ascends."""

    stream: Stream

    @property
    def stored(self) -> bool:
        return self.stream.static

    @property
    def schema(self) -> pa.Schema:
        return self.stream.schema

    def disorder(self, column: str, by: AbstractSet[str]) -> Disorder | None:
        made = self.stream.origin
        if isinstance(made, Input):
            return None
        return made.box.disorder(column, by, [_Ascent(source) for source in made.sources])
