"""Folds: the aggregate functions of Aggregate and Resample."""

from australis.boxes.folds.fold import Accumulators, Feed, Fold
from australis.boxes.folds.known import fold

__all__ = ["Accumulators", "Feed", "Fold", "fold"]
