"""Costs: what boxes, sources, exchanges and sinks take for a tuple, and what boxes make of one (Aurora 4.4)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from australis.errors import RunError
from australis.model.qos.histogram import WorthHistogram
from australis.model.qos.passing import JointPasses


@dataclass(frozen=True)
class BoxCost:
    """What a box takes for a tuple, in seconds of one core, and the tuples that it gives for each, by port."""

    seconds: float
    selectivity: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check("seconds", self.seconds)
        for port, tuples in self.selectivity.items():
            _check(f"selectivity of port {port}", tuples)


@dataclass(frozen=True)
class Costs:
    """What a network costs, in seconds of one core for a tuple. What is not named was not measured.

    >>> costs = Costs({"fast": BoxCost(2e-8, {"out": 0.1})}, sources={"reports": 1e-7}, batch=0.06)
    >>> Costs.parse(costs.render()) == costs
    True
    """

    boxes: Mapping[str, BoxCost] = field(default_factory=dict)
    sources: Mapping[str, float] = field(default_factory=dict)
    """By input."""
    exchanges: Mapping[str, float] = field(default_factory=dict)
    """By arrow, as people write it."""
    sinks: Mapping[str, float] = field(default_factory=dict)
    """By output."""
    batch: float = 0.0
    """What a batch takes whatever is in it."""
    worth: Mapping[str, WorthHistogram] = field(default_factory=dict)
    """How much the tuples of outputs with a value graph are worth."""
    passes: tuple[JointPasses, ...] = ()
    """Which of the filters in a row tuples pass, where that was counted; a filter is in one of them at most."""

    def __post_init__(self) -> None:
        for kind in ("sources", "exchanges", "sinks"):
            for name, seconds in getattr(self, kind).items():
                _check(f"{kind}: {name}", seconds)
        _check("batch", self.batch)

    def render(self) -> str:
        """The costs as JSON."""
        return json.dumps(asdict(self), indent=2) + "\n"

    @classmethod
    def parse(cls, text: str) -> Costs:
        """The costs in a text that `render` made, or that a person wrote in its form."""
        try:
            data: dict[str, Any] = json.loads(text)
            boxes = {name: BoxCost(**box) for name, box in data.pop("boxes", {}).items()}
            passes = [JointPasses(tuple(each["filters"]), tuple(each["counts"])) for each in data.pop("passes", ())]
            worth = {
                name: WorthHistogram(tuple(each["counts"]), tuple(each["worths"]))
                for name, each in data.pop("worth", {}).items()
            }
            return cls(boxes, **data, worth=worth, passes=tuple(passes))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise RunError(f"these are no costs: {error}; `australis measure` writes some") from error


def read_costs(path: str | Path) -> Costs:
    """The costs in a file."""
    try:
        return Costs.parse(Path(path).read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"{path}: the costs cannot be read ({error})") from error
    except RunError as error:
        raise RunError(f"{path}: {error.reason}") from error


def _check(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < 0:
        raise RunError(f"costs are finite numbers from 0 on; `{name}` is {value!r}")
