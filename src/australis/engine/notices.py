"""Notices: what a run says when shedding or a wait begins and ends, and when what may not be shed is too much."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from australis.engine.service import BranchWait, OutputService, Service
from australis.errors import listing
from australis.model.network import Network
from australis.qos.control import EXACT, NOTHING_SHED, SHED

CALM = 5.0
"""After how many seconds without shedding it has ended: batches that shed and others may take turns."""
WAIT = 2.0
"""After how many seconds it is told that a branch waits."""
_REMEMBERED = 100
_log = logging.getLogger("australis")


@dataclass
class _Wait:
    """A branch that waits since a time: when it was last seen to, how far it was behind, and whether that was told."""

    since: int
    last: int
    most: BranchWait
    told: bool = False


@dataclass
class Notices:
    """Sees the service of a run after each batch. Every notice is a line, which is logged too."""

    lines: tuple[tuple[int, str], ...] = ()
    """The last ones, by their numbers from 1. One thread adds while others read."""
    _state: str = field(default=NOTHING_SHED, init=False)
    _since: int = field(default=0, init=False)
    _last: int = field(default=0, init=False)
    _before: float = field(default=1.0, init=False)
    _lowest: float = field(default=1.0, init=False)
    _losses: dict[str, float] = field(default_factory=dict, init=False)
    _waits: dict[str, _Wait] = field(default_factory=dict, init=False)

    def see(self, now: int, network: Network, service: Service, kept: Mapping[str, float]) -> None:
        """See what is shed from now on, by the part that outputs keep; the time is in microseconds."""
        self._see_waits(now, service.behind)
        utility = _utility(network, service.outputs)
        state, calm = service.state, now - self._last >= CALM * 1e6
        if state == self._state:
            self._last = now
        elif state == EXACT or (state == SHED and (calm or self._state == NOTHING_SHED)):
            self._say(_begins(now, network, service, kept, utility))
            self._state, self._since, self._last = state, now, now
            self._before = self._lowest = utility
            self._losses = {}
        if self._state == NOTHING_SHED:
            return
        self._lowest = min(self._lowest, utility)
        for name, each in service.outputs.items():
            self._losses[name] = max(self._losses.get(name, 0.0), each.loss)
        if state == NOTHING_SHED and calm:
            self._say(self._ends(utility))
            self._state = NOTHING_SHED

    def _see_waits(self, now: int, behind: Mapping[str, BranchWait]) -> None:
        """See which branches wait. Those that are behind for a moment only are not told of."""
        for name, wait in behind.items():
            known = self._waits.setdefault(name, _Wait(now, now, wait))
            known.last, known.most = now, max(known.most, wait, key=lambda each: each.tuples)
            if not known.told and now - known.since >= WAIT * 1e6:
                known.told = True
                self._say(f"{name} waits since {_clock(known.since)}: {wait.tuples:,} tuples behind")
        for name, known in list(self._waits.items()):
            if name in behind or (known.told and now - known.last < CALM * 1e6):
                continue
            del self._waits[name]
            if known.told:
                seconds, most = (known.last - known.since) / 1e6, known.most
                self._say(
                    f"{name} has caught up at {_clock(known.last)}, after {seconds:.0f} s: it was up to {most.tuples:,}"
                    f" tuples and {most.seconds:.0f} s behind"
                )

    def _ends(self, utility: float) -> str:
        seconds, at = (self._last - self._since) / 1e6, _clock(self._last)
        before = f"{self._before:.2f} before, {self._lowest:.2f} at the lowest, and is {utility:.2f}"
        worth = f"the utility of all outputs was {before}"
        if self._state == EXACT:
            return f"not too much any more since {at}, after {seconds:.0f} s; {worth}"
        lost = ", ".join(f"{loss:.0%} of {name}" for name, loss in self._losses.items() if loss)
        return f"shedding ended at {at}, after {seconds:.0f} s: up to {lost or 'nothing'} was lost in a minute; {worth}"

    def _say(self, line: str) -> None:
        number = self.lines[-1][0] + 1 if self.lines else 1
        self.lines = (*self.lines, (number, line))[-_REMEMBERED:]
        _log.warning(line)


def _begins(now: int, network: Network, service: Service, kept: Mapping[str, float], utility: float) -> str:
    if service.state == SHED:
        parts = [f"{name} keeps {part:.0%}" for name, part in kept.items() if part < 1]
        return f"shedding since {_clock(now)}: {', '.join(parts)}; the utility of all outputs was {utility:.2f}"
    exact = [output.name for output in network.outputs if output.qos.exact]
    used = "" if service.used is None else f" (all together {service.used:.0%} of the headroom)"
    whose = f"the exact outputs alone ({listing(exact)}) take" if exact else "what may not be shed takes"
    return (
        f"too much since {_clock(now)}: {whose} more than the machine holds{used}. Nothing is shed, and delays"
        " grow: send less, give the run more cores, or say by a `delivered` graph how much of an output may be shed"
    )


def _utility(network: Network, outputs: Mapping[str, OutputService]) -> float:
    """What all outputs are worth by their weights, between 0 and 1."""
    weights = {output.name: output.qos.weight for output in network.outputs if output.name in outputs}
    total = sum(weights.values())
    return sum(weight * outputs[name].utility for name, weight in weights.items()) / total if total else 1.0


def _clock(now: int) -> str:
    """The time of day."""
    return datetime.fromtimestamp(now / 1e6).strftime("%H:%M:%S")
