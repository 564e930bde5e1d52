"""Static analysis: whether a machine holds a network at given rates, what is the bottleneck, what is left out (4.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

from australis.errors import listing
from australis.model.network import Output
from australis.qos.load import LoadModel, Share, Work
from australis.qos.road_map import RoadMap, road_map
from australis.qos.typical import Part

_TYPICAL = "typical"


@dataclass(frozen=True)
class Analysis:
    """A network on a machine, with so many tuples a second on each input."""

    model: LoadModel
    inputs: Mapping[str, float]
    typical: frozenset[Part] = frozenset()
    """The parts of the network whose costs are typical ones, which nobody has measured."""

    @cached_property
    def shares(self) -> list[Share]:
        return self.model.shares(self.inputs)

    @cached_property
    def load(self) -> float:
        """The part of the machine's time that tuples take."""
        return self.model.load(self.inputs)

    @property
    def fits(self) -> bool:
        """Whether the headroom holds it, with all outputs on the flat parts of their latency graphs."""
        return self.load <= self.model.most

    @property
    def factor(self) -> float:
        """How many times these rates the machine holds."""
        return self.model.most / self.load if self.load else inf

    @property
    def exact_load(self) -> float:
        """The part of the machine's time that is left when all is shed that may be."""
        return self.road.plans[-1].load

    @property
    def exact_alone(self) -> bool:
        """Whether what may not be shed is more than the headroom holds: a run sheds nothing then."""
        return self.exact_load > self.model.machine.headroom

    @property
    def bottleneck(self) -> Share | None:
        """The part of the network that takes most of the machine's time."""
        return max(self.shares, key=lambda share: share.busy, default=None)

    @property
    def hopeless(self) -> list[Output]:
        """The outputs whose latency graph bends before a batch can be done, even without tuples."""
        least, outputs = 2 * self.model.costs.batch, self.model.network.outputs
        return [o for o in outputs if o.qos.latency is not None and o.qos.latency.bend <= least]

    @cached_property
    def road(self) -> RoadMap:
        return road_map(self.model, self.inputs)

    def lines(self, shed: bool = False) -> Iterator[str]:
        """The analysis as people read it; with `shed`, what would be left out where it does not fit."""
        yield from self._table()
        yield ""
        yield from self._verdict()
        for output in self.hopeless:
            assert output.qos.latency is not None
            yield (
                f"output {output.name}: its latency graph bends at {_seconds(output.qos.latency.bend)}, sooner than a"
                " batch can be done here: it is never worth all"
            )
        for output in self.model.network.outputs:
            if output.qos.delivered is not None and not output.qos.delivered.concave:
                hull = output.qos.delivered.hull
                yield f"output {output.name}: its delivered graph is not concave; shedding goes by its hull, {hull}"
        if shed:
            yield from self._shedding()

    def _table(self) -> Iterator[str]:
        rows = [("", "tuples/s", "µs a tuple", "cores", "of the time")]
        for share in self.shares:
            work = share.work
            remarks = [f"{share.cores:.3f} / {work.parallel}"] if work.parallel > 1 else []
            part = f"{share.busy:.1%}" + _remark([*remarks, *self._marked(work)])
            name = f"{work.kind} {work.name}"
            rows.append((name, f"{share.rate:,.0f}", f"{work.seconds * 1e6:,.3g}", f"{share.cores:.3f}", part))
        cores = sum(share.cores for share in self.shares)
        rows.append(("all tuples", "", "", f"{cores:.3f}", f"{self.load:.1%}"))
        if self.model.costs.batch:
            every, batch = self.model.interval(self.load), self.model.costs.batch
            remarks = [
                f"{_seconds(batch)} every {_seconds(every)}",
                *([_TYPICAL] if ("batch", "") in self.typical else []),
            ]
            rows.append(("batches", "", "", "", f"{batch / every:.1%}" + _remark(remarks)))
        yield from _aligned(rows)

    def _marked(self, work: Work) -> list[str]:
        """The mark of a part of the network whose cost is a typical one."""
        kind = work.kind if work.kind in ("source", "exchange", "sink") else "box"
        return [_TYPICAL] if (kind, work.name) in self.typical else []

    def _verdict(self) -> Iterator[str]:
        model, machine = self.model, self.model.machine
        room = f"{machine.headroom:.0%} of {machine.cores} core{'s' if machine.cores > 1 else ''}"
        flat = f", with every delay up to {_seconds(model.reach())}" if model.reach() < inf else ""
        verdict = "fits" if self.fits else "does NOT fit"
        yield f"{verdict}: {self.load:.1%} of the time, and {room} hold {model.most:.1%}{flat}"
        if (slowest := self.bottleneck) is not None and self.load:
            part = slowest.busy / self.load
            yield f"bottleneck: {slowest.work.kind} {slowest.work.name}, {part:.0%} of the time of all tuples"
        if self.load:
            rates = listing(f"{name}={rate * self.factor:,.0f}" for name, rate in self.inputs.items())
            yield f"largest rates: {rates} a second, {self.factor:.2f} times these"
        if self.fits:
            delay = model.delay(self.load, model.interval(self.load))
            yield f"results come about {_seconds(delay)} after the tuples that complete them"
        elif all(output.qos.exact for output in model.network.outputs):
            yield (
                "nothing may be shed, since no output has a `delivered` graph: sources that can wait are slowed, others"
                " refuse what they cannot keep"
            )
        elif self.exact_alone:
            exact = [output.name for output in model.network.outputs if output.qos.exact]
            whose = f"the exact outputs alone ({listing(exact)}) take" if exact else "what may not be shed takes"
            yield f"nothing would be shed: {whose} {self.exact_load:.1%} of the time, and delays would grow"
        if unmeasured := model.unmeasured:
            yield f"not measured, and counted as free: {listing(unmeasured)}"

    def _shedding(self) -> Iterator[str]:
        plan = self.road.plans[0] if self.exact_alone else self.road.at(self.model.most)
        yield ""
        if plan == self.road.plans[0]:
            yield "nothing is shed" + ("" if self.fits else ": nothing may be")
            return
        rows = [("output", "delivered", "worth")]
        parts, by_worth = self.road.demands.delivered(plan.kept), self.road.demands.by_worth
        for output in self.model.network.outputs:
            part, worth = plan.kept[output.name], parts[output.name]
            utility = 1.0 if output.qos.delivered is None else output.qos.delivered.utility(worth)
            remark = f"  ({worth:.1%} of what its tuples are worth)" if output.name in by_worth and part < 1 else ""
            rows.append((output.name, f"{part:.1%}", f"{utility:.3f}{remark}"))
        yield from _aligned(rows)
        yield ""
        for drop in self.road.drops(plan.kept):
            if not drop.before:
                yield f"box {drop.after} leaves out {1 - drop.kept:.1%} of its results by itself"
                continue
            where = f"as they enter {drop.before}" if not drop.after else f"between {drop.after} and {drop.before}"
            yield f"drops {1 - drop.kept:.1%} of the tuples {where}"
        if plan.load > self.model.most:
            yield f"and still does NOT fit: what may not be shed takes {plan.load:.1%} of the time"


def _remark(parts: Sequence[str]) -> str:
    """What stands behind the last number of a row, if anything."""
    return f"  ({', '.join(parts)})" if parts else ""


def _aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """The lines of a table: the first column to the left, others to the right, but for what comes after a number."""
    heads = [[cell.partition("  ")[0] for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*heads, strict=True)]
    for row, head in zip(rows, heads, strict=True):
        first, *others = (
            f"{cell:<{width}}" if not place else f"{cell:>{width}}"
            for place, (cell, width) in enumerate(zip(head, widths, strict=True))
        )
        remark = row[-1].removeprefix(head[-1])
        yield "  ".join([first, *others]).rstrip() + remark


def _seconds(seconds: float) -> str:
    """
    >>> _seconds(0.0612), _seconds(2.5)
    ('61 ms', '2.5 s')
    """
    return f"{seconds * 1e3:.0f} ms" if seconds < 1 else f"{seconds:.3g} s"
