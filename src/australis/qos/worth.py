"""Worth: how much the tuples of outputs with a value graph are worth, so that those worth least are shed (Aurora 4.5).

Tasks count tuples by their worth, in BINS: those that come to an output (`WorthCounts.arrived`), and where tuples are
left out by their worth, those that came and those that were left out (`WorthCounts.left_out`). What was offered to an
output is then, bin by bin, what came to it, and what was left out on its way, times the part of such tuples that boxes
after that place would have let through. That part is the one of tuples of the same bin that went on; of a bin of which
none has gone on yet, the one by which the output would have what it had before.

So no bin is forgotten because all of it is shed: it is counted where it is left out, and comes back when better tuples
become few. While all of it is shed, the part of it that boxes let through is held, for none goes on to tell another. If
that changes meanwhile, the loss that is told is wrong by it, and so is where the others begin to be shed. That rights
itself as soon as one goes on. Which tuples are worth least does not depend on it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from math import exp
from typing import Any

import numpy as np

from australis.arrow.columns import Bools, Floats, Ints
from australis.errors import RunError
from australis.expressions import expr
from australis.model.network import Network, Output
from australis.model.qos import WorthHistogram
from australis.model.train import Train
from australis.qos.ranks import BINS, ValueRank
from australis.qos.shedding import Place

MEMORY = 10.0
"""A batch that was so many seconds ago counts a third as much as the last one."""
_WHOLE = 1_000_000


def worth_rank(output: Output) -> ValueRank | None:
    """The rank by which tuples of an output would be shed, before any are counted; none without a value graph."""
    if output.qos.value is None:
        return None
    column, graph = output.qos.value
    return ValueRank(expr(column), graph, (0,) * BINS, output=output.name)


@dataclass
class WorthCounts:
    """What a task counts, by output and by place; the place is none where tuples come to the output itself."""

    came: dict[tuple[str, Place | None], Ints] = field(default_factory=dict)
    dropped: dict[tuple[str, Place | None], Ints] = field(default_factory=dict)
    worths: dict[str, Floats] = field(default_factory=dict)
    """The sum of the worth of what came to each output, by bin."""

    def arrived(self, rank: ValueRank, train: Train) -> None:
        """Count tuples that come to an output, before any are shed there."""
        worth = rank.worth(train)
        bins = rank.bins(worth)
        _add(self.came, (rank.output, None), np.bincount(bins, minlength=BINS))
        sums = np.bincount(bins, worth, BINS)
        self.worths[rank.output] = self.worths.get(rank.output, np.zeros(BINS)) + sums

    def left_out(self, rank: ValueRank, place: Place, train: Train, kept: Bools, counts_kept: bool = True) -> None:
        """Count tuples that came to a place, and those that were left out; those that went on if nobody else does."""
        bins = rank.bins(rank.worth(train))
        dropped = np.bincount(bins[~kept], minlength=BINS)
        _add(self.dropped, (rank.output, place), dropped)
        _add(self.came, (rank.output, place), np.bincount(bins, minlength=BINS) if counts_kept else dropped)

    def rows(self) -> Iterator[tuple[str, str | None, dict[str, Ints | Floats]]]:
        """The rows of measurements: the output, the place in words, and the counts."""
        for (output, place), came in self.came.items():
            if place is None:
                yield output, None, {"came": came, "worths": self.worths[output]}
            else:
                yield output, " ".join(place), {"came": came, "dropped": self.dropped[output, place]}


def _add(sums: dict[tuple[str, Place | None], Ints], key: tuple[str, Place | None], counts: Ints) -> None:
    sums[key] = sums.get(key, np.zeros(BINS, np.int64)) + counts


@dataclass(frozen=True)
class Offer:
    """What a batch offered to an output and what came out, in tuples and in worth."""

    offered: float
    kept: float
    worth_offered: float
    worth_kept: float
    places: tuple[Place, ...] = ()
    """Where tuples were left out by their worth."""


@dataclass(frozen=True)
class Pass:
    """Tuples that went on at a place, by their worth, and how many of them boxes let through to the output."""

    through: Floats
    of: Floats

    def faded(self, fade: float) -> Pass:
        return Pass(self.through * fade, self.of * fade)

    def parts(self) -> Floats:
        return np.clip(self.through / np.where(self.of > 0, self.of, 1.0), 0.0, 1.0)


@dataclass(frozen=True)
class OutputWorth:
    """How many tuples were offered to an output of late, by their worth."""

    counts: Floats = field(default_factory=lambda: np.zeros(BINS))
    came: Floats = field(default_factory=lambda: np.zeros(BINS))
    worths: Floats = field(default_factory=lambda: np.zeros(BINS))
    """The worth of those that came, in all."""
    passes: Mapping[Place, Pass] = field(default_factory=dict)

    def means(self) -> Floats:
        """What a tuple of each bin is worth on average; the middle of the bin where none came."""
        middle = (np.arange(BINS) + 0.5) / BINS
        return np.where(self.came > 0, self.worths / np.where(self.came > 0, self.came, 1.0), middle)

    def render(self) -> dict[str, Any]:
        """The sums as JSON can hold them."""
        passes = [[*place, each.through.tolist(), each.of.tolist()] for place, each in self.passes.items()]
        sums = {"counts": self.counts, "came": self.came, "worths": self.worths}
        return {name: each.tolist() for name, each in sums.items()} | {"passes": passes}

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> OutputWorth:
        """The sums in what `render` made."""
        places = {(str(kind), str(name)): Pass(_numbers(t), _numbers(of)) for kind, name, t, of in data["passes"]}
        counts, came, worths = (_numbers(data[name]) for name in ("counts", "came", "worths"))
        return cls(counts, came, worths, places)


@dataclass(frozen=True)
class Worths:
    """What is known of the outputs with value graphs. It is a value: `add` gives the next one."""

    network: Network
    outputs: Mapping[str, OutputWorth] = field(default_factory=dict)
    read: float = 0.0
    """How many tuples were read from sources for that."""

    def add(self, rows: Iterable[Mapping[str, Any]], elapsed: float) -> tuple[Worths, dict[str, Offer]]:
        """What is known after a batch, `elapsed` seconds after the one before; and what the batch offered."""
        batches: dict[str, _BatchWorth] = {}
        read = 0.0
        for row in rows:
            if row["kind"] == "worth":
                batches.setdefault(row["name"], _BatchWorth()).add(row)
            elif row["kind"] == "source":
                read += row["given"]
        fade = exp(-max(elapsed, 0.0) / MEMORY)
        outputs, offers = dict(self.outputs), {}
        for output in self.network.outputs:
            name = output.name
            if name in outputs or name in batches:
                known, batch = outputs.get(name, OutputWorth()), batches.get(name, _BatchWorth())
                order = [place for place in self._upstream(output) if place in batch.dropped]
                usual = read / self.read if self.read else 0.0
                outputs[name], offers[name] = _added(known, batch, order, self._downstream, fade, usual)
        return replace(self, outputs=outputs, read=self.read * fade + read), offers

    def counts(self) -> dict[str, tuple[int, ...]]:
        """How many of a million tuples of each output are worth how much, as a plan takes it."""
        totals = {name: float(each.counts.sum()) for name, each in self.outputs.items()}
        return {
            name: tuple(np.rint(each.counts / totals[name] * _WHOLE).astype(np.int64).tolist())
            for name, each in self.outputs.items()
            if totals[name] > 0
        }

    def histograms(self) -> dict[str, WorthHistogram]:
        """How the worth of each output's tuples is spread, as a road map takes it."""
        return {
            name: WorthHistogram(tuple(each.counts.tolist()), tuple((each.counts * each.means()).tolist()))
            for name, each in self.outputs.items()
            if each.counts.sum() > 0
        }

    def render(self) -> str:
        """What is known as JSON, to be kept on a checkpoint."""
        values = {output.name: _value(output) for output in self.network.outputs}
        outputs = {name: each.render() | {"value": values[name]} for name, each in self.outputs.items()}
        return json.dumps({"read": self.read, "outputs": outputs})

    @classmethod
    def parse(cls, text: str, network: Network) -> Worths:
        """What is known by a text that `render` made, of the outputs of a network that value the same as then."""
        try:
            data = json.loads(text)
            values = {output.name: _value(output) for output in network.outputs if output.qos.value is not None}
            known = {name: each for name, each in data["outputs"].items() if values.get(name) == each["value"]}
            (read,) = _numbers([data["read"]], 1).tolist()
            return cls(network, {name: OutputWorth.parse(each) for name, each in known.items()}, read)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise RunError(f"this is not what outputs are worth: {error!r}") from error

    def followed_by(self, network: Network) -> Worths:
        """What is known of the network that follows: of outputs that value the same as before."""
        values = {output.name: output.qos.value for output in self.network.outputs}
        same = {output.name for output in network.outputs if values.get(output.name) == output.qos.value}
        return Worths(network, {name: each for name, each in self.outputs.items() if name in same}, self.read)

    def _upstream(self, output: Output) -> Iterator[Place]:
        """The places before an output, from it up to the inputs."""
        yield "output", output.name
        yield from (("box", node.name) for node in reversed(self.network.nodes))
        yield from (("input", input.name) for input in self.network.inputs)

    def _downstream(self, place: Place, other: Place) -> bool:
        """Whether tuples that went on at a place may come to another, which is no output."""
        kind, name = other
        open_ = [name] if kind == "box" else []
        while open_:
            for arrow in self.network.named[open_.pop()].sources:
                if arrow.source == place[1]:
                    return True
                if arrow.source in self.network.named:
                    open_.append(arrow.source)
        return False


@dataclass
class _BatchWorth:
    """What was counted in a batch of one output."""

    came: Floats = field(default_factory=lambda: np.zeros(BINS))
    worths: Floats = field(default_factory=lambda: np.zeros(BINS))
    dropped: dict[Place, Floats] = field(default_factory=dict)
    went_on: dict[Place, Floats] = field(default_factory=dict)

    def add(self, row: Mapping[str, Any]) -> None:
        came = np.array(row["came"], np.float64)
        if row["port"] is None:
            self.came, self.worths = self.came + came, self.worths + np.array(row["worths"], np.float64)
            return
        kind, _, name = row["port"].partition(" ")
        dropped, zeros = np.array(row["dropped"], np.float64), np.zeros(BINS)
        self.dropped[kind, name] = self.dropped.get((kind, name), zeros) + dropped
        self.went_on[kind, name] = self.went_on.get((kind, name), zeros) + came - dropped


def worths_of(network: Network, rows: Iterable[Mapping[str, Any]]) -> Worths:
    """What is known of outputs by all that was measured of a run."""
    worths = Worths(network)
    for _, batch in groupby(rows, key=lambda row: row["batch"]):
        every = list(batch)
        worths, _ = worths.add(every, sum(row["seconds"] for row in every if row["kind"] == "batch"))
    return worths


def _value(output: Output) -> list[Any] | None:
    """The value graph of an output as JSON can hold it."""
    return None if output.qos.value is None else [output.qos.value[0], [list(p) for p in output.qos.value[1].points]]


def _numbers(values: Any, length: int = BINS) -> Floats:
    """Sums that were saved: finite numbers from 0 on."""
    numbers = np.array(values, np.float64)
    if numbers.shape != (length,) or not (np.isfinite(numbers) & (numbers >= 0)).all():
        raise ValueError(f"{values!r} are no {length} sums")
    return numbers


def _added(
    known: OutputWorth,
    batch: _BatchWorth,
    order: list[Place],
    downstream: Callable[[Place, Place], bool],
    fade: float,
    usual: float,
) -> tuple[OutputWorth, Offer]:
    """What is known of an output after a batch, and what the batch offered; places go from the output upwards."""
    passes = {place: each.faded(fade) for place, each in known.passes.items()}
    lost: dict[Place, Floats] = {}
    for place in order:
        went_on, dropped = batch.went_on[place], batch.dropped[place]
        if place[0] == "output":
            parts = np.ones(BINS)
        else:
            through = batch.came + sum(lost[other] for other in lost if downstream(place, other))
            passes[place] = _learn(passes.get(place), through, went_on, dropped, known.counts, usual)
            parts = passes[place].parts()
        lost[place] = dropped * parts
    offered = batch.came + sum(each for place, each in lost.items() if place[0] != "output")
    kept = batch.came - sum(each for place, each in lost.items() if place[0] == "output")
    after = OutputWorth(
        known.counts * fade + offered, known.came * fade + batch.came, known.worths * fade + batch.worths, passes
    )
    means = after.means()
    return after, Offer(
        float(offered.sum()), float(kept.sum()), float(offered @ means), float(kept @ means), tuple(order)
    )


def _learn(known: Pass | None, through: Floats, went_on: Floats, dropped: Floats, before: Floats, usual: float) -> Pass:
    """What is known of a place after a batch: of each bin, how many tuples went on, and how many came through.

    Of a bin of which none has gone on yet, as many would have come through as before. How many that is in this batch is
    told by the bins that went on, else by the tuples that were read. Of a bin that is new, it is as of all others.
    """
    none = np.zeros(BINS)
    known = Pass(none, none) if known is None else known
    after = Pass(known.through + np.minimum(through, went_on), known.of + went_on)
    blind = (after.of <= 0) & (dropped > 0)
    if not blind.any():
        return after
    seen = went_on > 0
    scale = float(through[seen].sum() / before[seen].sum()) if before[seen].sum() > 0 else usual
    usually = float(np.clip(after.through.sum() / after.of.sum(), 0.0, 1.0)) if after.of.sum() > 0 else 1.0
    guess = np.where(before > 0, np.minimum(before * scale, dropped), dropped * usually)
    return Pass(np.where(blind, guess, after.through), np.where(blind, dropped, after.of))
