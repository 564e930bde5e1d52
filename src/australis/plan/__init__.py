"""The planner: a network as stages, superboxes that one task runs, and the exchanges between them."""

from australis.plan.planning import plan
from australis.plan.stage import Entry, Plan, Stage

__all__ = ["Entry", "Plan", "Stage", "plan"]
