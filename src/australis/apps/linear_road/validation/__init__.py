"""Validation: what a run of Linear Road had to answer, recomputed from its input alone, against what it did (3.3)."""

from australis.apps.linear_road.validation.reference import reference, write_reference
from australis.apps.linear_road.validation.validate import validate
from australis.apps.linear_road.validation.verdict import Verdict

__all__ = ["Verdict", "reference", "validate", "write_reference"]
