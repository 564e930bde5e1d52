"""Folds: the aggregate functions of Aggregate and Resample."""

from australis.boxes.folds.fold import Accumulators, Feed, Fold
from australis.boxes.folds.known import fold
from australis.boxes.folds.window_function import WINDOW_FUNCTIONS, WindowFunction, window_function

__all__ = ["WINDOW_FUNCTIONS", "Accumulators", "Feed", "Fold", "WindowFunction", "fold", "window_function"]
