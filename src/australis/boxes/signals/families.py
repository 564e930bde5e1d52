"""The two families of boxes for signals: those that give each tuple with other columns, and those that follow keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import pyarrow as pa

from australis.errors import ArgumentPlace, NetworkError, listing
from australis.model.box import Box, Key, unchanged
from australis.model.facts import NOTHING, Facts, SignalGroup

_BY = ArgumentPlace("by", silent=True)


class Rowwise(Box):
    """A box that gives each tuple with other columns beside or in place of its own."""

    immediate: ClassVar[bool] = True

    def passes(self, port: str, *inputs: pa.Schema) -> Mapping[int, Mapping[str, str]]:
        return {0: unchanged(inputs[0])}

    def facts(self, title: str, given: Sequence[Facts], streams: Sequence[pa.Schema]) -> Facts:
        return given[0]


class Following(Box):
    """A box that follows the signals of keys, and gives columns of the key."""

    by: Key

    def keys(self, *inputs: pa.Schema) -> tuple[Key, ...] | None:
        return (self.by,) * self.arity

    def passes(self, port: str, *inputs: pa.Schema) -> Mapping[int, Mapping[str, str]]:
        return super().passes(port, *inputs) or {side: {name: name for name in self.by} for side in range(self.arity)}

    def facts(self, title: str, given: Sequence[Facts], streams: Sequence[pa.Schema]) -> Facts:
        for side, known in enumerate(given):
            check_groups(self.by, [group for group in known.groups if not self.apart(group, side, streams)])
        return replace(self.followed(given, streams), groups=tuple(SignalGroup(name, title, name) for name in self.by))

    def apart(self, group: SignalGroup, side: int, streams: Sequence[pa.Schema]) -> bool:
        """Whether signals of different groups on an input may meet, and are not mixed."""
        return False

    def followed(self, given: Sequence[Facts], streams: Sequence[pa.Schema]) -> Facts:
        """The rates and sizes of the signals that it gives."""
        return NOTHING


def check_groups(by: Key, groups: Sequence[SignalGroup]) -> None:
    """Refuse a box whose `by` lacks a column by which boxes before it keep signals apart."""
    for group in groups:
        if group.column is None:
            raise NetworkError(
                f"{group.box} tells signals apart by `{group.name}`, which was left behind on the way:"
                f" they would be mixed; keep the column, and give it in `by` ({_by(by, group.name)})",
                _BY,
            )
        if group.column not in by:
            raise NetworkError(
                f"{group.box} tells signals apart by `{group.column}`, and this box was not told of it: they"
                f" would be mixed; give {_by(by, group.column)}",
                _BY,
            )


def _by(there: Key, more: str) -> str:
    if not there:
        return f'by="{more}"'
    return f"by=[{listing(f'{name!r}' for name in (*there, more))}]".replace("'", '"')
