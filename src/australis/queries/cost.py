"""Costs: what a report costs if the selection comes before INSIDE, and if it comes after (SOLE 7.3).

A report is a tuple of the stream of objects. All costs are nanoseconds a report, as measured on one core with 100,000
objects; only their ratios matter. See docs/sql.md for the model.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from australis.arrow.columns import plain
from australis.expressions import Expr
from australis.expressions.node import FunctionCall, Name, Node, walk
from australis.expressions.user import registered
from australis.queries.spatial import Inside, Moving

REPORT, UPDATE, LOOKUP = 250.0, 200.0, 8.0
"""The costs of recording where an object is now, of emitting one update, and of seeing that an object is unknown."""
PART, FUNCTION = 6.0, 1000.0
"""The costs of evaluating an operator, a function or a column of an expression, and a function of the user."""
PLACE = 0.1
"""The fraction of all objects in a rectangle, if nothing is known."""

Sample = Callable[[str], pa.RecordBatch | None]
"""Gives the beginning of a stream by its name, or None."""

_ASSUMED = {"=": 0.1, "!=": 0.9, "<": 1 / 3, ">": 1 / 3, "<=": 1 / 3, ">=": 1 / 3, "between": 0.25, "like": 0.25}


@dataclass(frozen=True)
class Selectivity:
    """The fraction of tuples that passes, and whether that was measured."""

    value: float
    measured: bool

    def __str__(self) -> str:
        return f"{self.value:.3g} ({'measured' if self.measured else 'assumed'})"


@dataclass(frozen=True)
class OrderCosts:
    """The costs of both orders, from estimates."""

    selected: Selectivity
    inside: Selectivity
    predicate: float
    """The cost of the selection for a tuple."""

    @property
    def selection_first(self) -> float:
        passing = REPORT + 2 * self.inside.value * UPDATE
        return self.predicate + (1 - self.selected.value) * LOOKUP + self.selected.value * passing

    @property
    def inside_first(self) -> float:
        """Every report of an object inside may retract one update and emit another."""
        return REPORT + 2 * self.inside.value * (UPDATE + self.predicate)


def predicate(condition: Expr) -> float:
    """The cost of evaluating a condition."""
    cost = 0.0
    for part in walk(condition.node):
        if isinstance(part, FunctionCall | Name):
            own = (
                isinstance(part, FunctionCall)
                and part.function in condition.functions
                and registered([part.function])[0]
            )
            cost += FUNCTION if own else PART
    return cost


def selected(condition: Expr, sample: pa.RecordBatch | None) -> Selectivity:
    """The fraction of reports that satisfies a condition."""
    if sample is None or not sample.num_rows:
        return Selectivity(_assume_selectivity(condition.node), False)
    return Selectivity(condition.bind(sample.schema).mask(sample).true_count / sample.num_rows, True)


def inside(clause: Inside, moving: Moving, sample: pa.RecordBatch | None) -> Selectivity:
    """The fraction of objects in a rectangle. Around a focal object, it is measured around other objects."""
    if sample is None or not sample.num_rows:
        return Selectivity(PLACE, False)
    x, y = (plain(sample.column(name).cast(pa.float64()).drop_null())[0] for name in (moving.x, moving.y))
    size = min(len(x), len(y))
    if clause.focal is None:
        within = (clause.x1 <= x[:size]) & (x[:size] <= clause.x2) & (clause.y1 <= y[:size]) & (y[:size] <= clause.y2)
    else:
        far_x, far_y = x[:size] - np.roll(x[:size], size // 2), y[:size] - np.roll(y[:size], size // 2)
        within = (np.abs(far_x) <= clause.x2) & (np.abs(far_y) <= clause.y2)
    return Selectivity(float(within.mean()) if size else PLACE, size > 0)


def _assume_selectivity(node: Node) -> float:
    """The fraction that a condition of this form selects, as a rule of thumb."""
    if not isinstance(node, FunctionCall):
        return 0.5
    if node.function == "and":
        return math.prod(map(_assume_selectivity, node.args))
    if node.function == "or":
        return 1 - math.prod(1 - _assume_selectivity(arg) for arg in node.args)
    if node.function == "not":
        return 1 - _assume_selectivity(node.args[0])
    if node.function == "in":
        return min(0.5, _ASSUMED["="] * (len(node.args) - 1))
    return _ASSUMED.get(node.function, 0.5)
