"""Folds: the aggregate functions of Aggregate and Resample."""

from australis.boxes.folds.fold import Accumulators, Contributions, Fold
from australis.boxes.folds.known import fold

__all__ = ["Accumulators", "Contributions", "Fold", "fold"]
