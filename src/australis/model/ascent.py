"""Ascent: whether the tuples of a stream come in the order that a window or a join relies on."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import NamedTuple, Protocol

import pyarrow as pa


class Disorder(NamedTuple):
    """Why a stream may not ascend, and whether slack would help."""

    reason: str
    slack_helps: bool = True


class Ascent(Protocol):
    """An input of a box, as the box sees it when it says whether its results ascend."""

    @property
    def stored(self) -> bool:
        """Whether it is a stored table."""

    @property
    def schema(self) -> pa.Schema: ...

    def disorder(self, column: str, by: AbstractSet[str]) -> Disorder | None:
        """Why it may not ascend on a column in each group of `by`, or None. An ascent in groups holds in finer ones."""


def computed(column: str) -> Disorder:
    """The disorder of a column that an expression computes."""
    return Disorder(f"`{column}` is computed, so that it need not ascend")
