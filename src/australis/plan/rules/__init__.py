"""The rules of the optimizer: each gives a network that does the same for less, or nothing."""

from australis.plan.rules.optimize import MEASURED, RULES, STATELESS, Firing, optimize
from australis.plan.rules.rows import counted_filters
from australis.plan.rules.source import source_filters, source_predicates

__all__ = [
    "MEASURED",
    "RULES",
    "STATELESS",
    "Firing",
    "counted_filters",
    "optimize",
    "source_filters",
    "source_predicates",
]
