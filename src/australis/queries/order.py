"""Order: whether the tuples of a planned stream come in the order that a window or a join relies on."""

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
    """Why a stream may not ascend on a column in each group of `by`; None if it ascends when its inputs do."""
    problem = _Ascent(stream).disorder(column, set(by))
    if problem is None:
        return None
    return f"{problem.reason}; {_ADVICE}" if problem.slack_helps else problem.reason


@dataclass(frozen=True)
class _Ascent:
    """A planned stream, as boxes see it when they say whether their results ascend."""

    stream: Stream

    @property
    def stored(self) -> bool:
        return self.stream.static

    @property
    def schema(self) -> pa.Schema:
        return self.stream.schema

    def disorder(self, column: str, by: AbstractSet[str]) -> Disorder | None:
        origin = self.stream.origin
        if isinstance(origin, Input):
            return None
        return origin.box.disorder(column, by, [_Ascent(source) for source in origin.sources])
