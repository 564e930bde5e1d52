"""Facts: what is known of signals before a run, from box to box, so that networks that cannot be meant are refused.

Known are the columns by which boxes before told signals apart, the rates of signals, and how long windows are. Where
a box is not one of those that hand a fact on, nothing is known any more, and nothing is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

from australis.arrow.schema import samples_of
from australis.boxes import Aggregate, BSort, Filter, Map, Union
from australis.boxes.signals import (
    KEYED,
    ROWWISE,
    Apply,
    Lfilter,
    Rerate,
    Rewindow,
    Stats,
    Sync,
    Transform,
    Window,
    Zip,
)
from australis.boxes.signals.column import chosen
from australis.boxes.signals.timebases import timebase
from australis.errors import NetworkError, listing
from australis.model.box import Box

if TYPE_CHECKING:
    from australis.model.network import Node


@dataclass(frozen=True)
class Group:
    """A column by which a box told signals apart; none if it was left behind since."""

    name: str
    box: str
    column: str | None


@dataclass(frozen=True)
class Facts:
    """What is known of a stream: of columns of segments, their rates and how many samples each segment has."""

    groups: tuple[Group, ...] = ()
    rates: Mapping[str, Fraction] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)


_NOTHING = Facts()
Fact = TypeVar("Fact")


def check_signals(nodes: Sequence[Node], schemas: Mapping[str, Mapping[str, pa.Schema]]) -> None:
    """Refuse boxes that mix signals, put different rates side by side, or look beyond a spectrum."""
    known: dict[tuple[str, str], Facts] = {}
    for node in nodes:
        given = [known.get((arrow.source, arrow.port), _NOTHING) for arrow in node.sources]
        streams = [schemas[arrow.source][arrow.port] for arrow in node.sources]
        title = f"{node.box.kind} {node.name}"
        _check_groups(title, node.box, given, streams)
        _check_rates(title, node.box, given, streams)
        _check_bands(title, node.box, given, streams)
        made = _made(title, node.box, given, streams)
        for port in schemas[node.name]:
            # Late tuples are those that came.
            known[node.name, port] = given[0] if port == "late" else _NOTHING if port.startswith("late") else made


def _check_groups(title: str, box: Box, given: Sequence[Facts], streams: Sequence[pa.Schema]) -> None:
    if not isinstance(box, (*KEYED, Lfilter)):
        return
    for side, facts in enumerate(given):
        for group in facts.groups:
            # One signal may be cut by the ranges of many: only where it has the column too are they mixed.
            apart = isinstance(box, Sync) and not side and not any(group.name in each.names for each in streams[1:])
            if group.column in box.by or apart:
                continue
            if group.column is None:
                raise NetworkError(
                    f"{title}: {group.box} tells signals apart by `{group.name}`, which was left behind on the way:"
                    f" they would be mixed; keep the column, and give it in `by` ({_by(box.by, group.name)})"
                )
            raise NetworkError(
                f"{title}: {group.box} tells signals apart by `{group.column}`, and this box was not told of it: they"
                f" would be mixed; give {_by(box.by, group.column)}"
            )


def _by(there: tuple[str, ...], more: str) -> str:
    if not there:
        return f'by="{more}"'
    return f"by=[{listing(f'{name!r}' for name in (*there, more))}]".replace("'", '"')


def _check_rates(title: str, box: Box, given: Sequence[Facts], streams: Sequence[pa.Schema]) -> None:
    if not isinstance(box, Zip):
        return
    rates = {name: facts.rates[name] for facts, stream in zip(given, streams, strict=True) for name in stream.names
             if name in facts.rates}  # fmt: skip
    for name, rate in rates.items():
        first, its = next(iter(rates.items()))
        if rate != its:
            factor = its / rate
            raise NetworkError(
                f"{title}: `{first}` has {float(its):,.10g} samples a second and `{name}` {float(rate):,.10g}: bring"
                f" them to one rate first, such as by rerate({factor.numerator}, {factor.denominator}) of `{name}`"
            )


def _check_bands(title: str, box: Box, given: Sequence[Facts], streams: Sequence[pa.Schema]) -> None:
    if not isinstance(box, Stats):
        return
    column = chosen(streams[0], box.column)
    size = given[0].sizes.get(column)
    for text, least in box.needs():
        if size is not None and least >= size:
            raise NetworkError(
                f"{title}: `{text}` lies beyond `{column}`, which has {size} samples (bins): 0 to {size - 1}; take a"
                " band within, or longer windows"
            )


def _made(title: str, box: Box, given: Sequence[Facts], streams: Sequence[pa.Schema]) -> Facts:
    """What is known of the main outputs of a box."""
    if isinstance(box, KEYED):
        groups = tuple(Group(name, title, name) for name in box.by)
        return replace(_followed(box, given, streams), groups=groups)
    if isinstance(box, Aggregate):
        return Facts(tuple(Group(name, title, name) for name in box.order.by))
    if isinstance(box, Map):
        return _mapped(box, given[0])
    if isinstance(box, Filter):
        looked = {name for predicate in box.predicates for name in predicate.columns}
        return replace(given[0], groups=tuple(each for each in given[0].groups if each.column not in looked))
    if isinstance(box, Union):
        return _common(given)
    if isinstance(box, Lfilter):
        more = tuple(Group(name, title, name) for name in box.by)
        return replace(given[0], groups=(*given[0].groups, *more), sizes={})
    if isinstance(box, Transform):
        return _transformed(box, given[0], streams[0])
    if isinstance(box, Apply):
        changed = {name for name, _ in box.columns}
        return replace(given[0], rates=_without(given[0].rates, changed), sizes=_without(given[0].sizes, changed))
    return given[0] if isinstance(box, (*ROWWISE, BSort)) else _NOTHING


def _followed(box: Box, given: Sequence[Facts], streams: Sequence[pa.Schema]) -> Facts:
    """Rates and sizes of signals after boxes that follow them."""
    if isinstance(box, Window):
        return Facts(rates={box.value: timebase(box.rate).frequency})
    if isinstance(box, Zip | Sync):
        rates = {name: rate for facts in given for name, rate in facts.rates.items()}
        names = [each.name for stream in streams for each in stream if samples_of(each.type) is not None]
        return Facts(rates=rates, sizes=dict.fromkeys(names, box.size) if isinstance(box, Zip) and box.size else {})
    if not isinstance(box, Rewindow | Rerate):
        return _NOTHING
    column = chosen(streams[0], box.column)
    rate = given[0].rates.get(column)
    if isinstance(box, Rewindow):
        return Facts(rates={} if rate is None else {column: rate}, sizes={column: box.size})
    return Facts(rates={} if rate is None else {column: rate * box.up / box.down})


def _mapped(box: Map, given: Facts) -> Facts:
    copied = [(name, made.copies) for name, made in box.columns if made.copies is not None]
    names = {source: name for name, source in reversed(copied)}
    groups = tuple(replace(each, column=names.get(each.column or "")) for each in given.groups)
    rates = {name: given.rates[source] for name, source in copied if source in given.rates}
    return Facts(groups, rates, {name: given.sizes[source] for name, source in copied if source in given.sizes})


def _transformed(box: Transform, given: Facts, stream: pa.Schema) -> Facts:
    column = chosen(stream, box.column)
    into = box.into or column
    rates, sizes = _without(given.rates, {into}), _without(given.sizes, {into})
    size = given.sizes.get(column)
    length = None if size is None else box.length(stream, size)
    if length is not None:
        sizes[into] = length
    return replace(given, rates=rates, sizes=sizes)


def _common(given: Sequence[Facts]) -> Facts:
    """What is known of streams that are merged: groups of any, and what is the same of all."""
    first, *others = given
    rates = {name: rate for name, rate in first.rates.items() if all(rate == each.rates.get(name) for each in others)}
    sizes = {name: size for name, size in first.sizes.items() if all(size == each.sizes.get(name) for each in others)}
    return Facts(tuple(dict.fromkeys(group for each in given for group in each.groups)), rates, sizes)


def _without(facts: Mapping[str, Fact], names: set[str]) -> dict[str, Fact]:
    return {name: fact for name, fact in facts.items() if name not in names}
