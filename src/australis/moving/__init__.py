"""Moving objects: the shared operator that answers many queries about them at once (SOLE)."""

from australis.moving.distinct import Distinct
from australis.moving.watch import Watch

__all__ = ["Distinct", "Watch"]
