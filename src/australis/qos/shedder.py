"""The load shedder: from what each output is to keep to a plan for the next batch, and what windows must remember."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from australis.model.network import Network
from australis.qos.ranks import WindowPart
from australis.qos.road_map import Demands
from australis.qos.shedding import ShedPlan, shed_plan


@dataclass(frozen=True)
class Shedder:
    """What was left out of windows so far: one that has lost tuples must not come out later."""

    network: Network
    windows: Mapping[str, WindowPart] = field(default_factory=dict)
    """By the box that has the windows."""
    known: Demands | None = field(default=None, compare=False, repr=False)
    """What is to be known of the network, once somebody has asked."""

    def plan(
        self,
        kept: Mapping[str, float],
        seen: Mapping[str, int] | None = None,
        worth: Mapping[str, Sequence[int]] | None = None,
        apart: bool = False,
        lacking: Collection[str] = (),
    ) -> tuple[ShedPlan | None, Shedder]:
        """The plan by which outputs keep their parts, none if nothing is left out; and the shedder after it.

        `seen` has the greatest window that each box has had tuples of, as far as it is known. Where branches are
        `apart`, they are not given the same tuples of inputs: nothing is left out before they part. Boxes that are
        still `lacking` something that they left out are told to work with all again, so that it is known what they
        lack.
        """
        demands, seen = self.known or Demands(self.network), seen or {}
        parts = demands.parts(kept)
        windows = dict(self.windows)
        for name in sorted(demands.windowed):
            before = windows.get(name, WindowPart())
            if before.parts or parts[name] < 1:
                # While it is not known which windows have begun, no more of them are kept.
                last = before.parts[-1] if before.parts else 1.0
                part = parts[name] if name in seen else min(last, parts[name])
                windows[name] = before.changed(part, seen.get(name, 0))
        after = replace(self, windows=windows, known=demands)
        if not windows and not lacking and all(part >= 1 for part in kept.values()):
            return None, after
        samples = {name: parts[name] for name in sorted(demands.sampled)}
        known = {name: each for name, each in (worth or {}).items() if name not in demands.of_samples}
        results = self._of_results(kept, demands, parts)
        plan = shed_plan(self.network, results, windows, known, samples=samples, apart=apart)
        return replace(plan, lighter={**dict.fromkeys(lacking, 1.0), **plan.lighter}), after

    def by_hand(
        self, plan: ShedPlan, seen: Mapping[str, int], lacking: Collection[str] = ()
    ) -> tuple[ShedPlan, Shedder]:
        """A plan that somebody gives, with what was left out of windows before; and the shedder after it."""
        names = dict.fromkeys([*self.windows, *plan.results])
        whole = WindowPart()
        windows = {
            name: self.windows.get(name, whole).followed_by(plan.results.get(name, whole), seen.get(name))
            for name in names
        }
        lighter = {**dict.fromkeys(lacking, 1.0), **plan.lighter}
        return replace(plan, results=windows, lighter=lighter), replace(self, windows=windows)

    def _of_results(self, kept: Mapping[str, float], demands: Demands, parts: Mapping[str, float]) -> dict[str, float]:
        """What outputs keep of what comes to them: of the results of windows that were kept, more than of all.

        Of results of samples they keep all: as much as the largest sample that they are made of has.
        """
        whole = {name: max(parts[box] for box in demands.sampled if name in demands.below[box]) for name in kept
                 if name in demands.of_samples}  # fmt: skip
        above = {
            output: min((parts[name] for name in demands.windowed if output in demands.below[name]), default=1.0)
            for output in kept
        }
        return {
            output: whole.get(output, min(part / above[output], 1.0) if above[output] else 1.0)
            for output, part in kept.items()
        }
