"""Trials of the overload benchmark that are made up, to check what is told of them."""

from collections.abc import Sequence

from australis.bench.overload_network import SEGMENTS, Yield
from australis.bench.overload_trial import OverloadTrial, ProcessLook, TrialBatch
from australis.connectors.sources.load_curve import LoadCurve

YIELDS = {"alerts": Yield(0.01, 0.01), "dashboard": Yield(0.0, 0.0), "archive": Yield(0.9, 0.3)}
DELAYS = {"alerts": 0.3, "dashboard": 0.4, "archive": 0.5}


def batch(second: float, taken: int = 1000, parts: dict[str, float] | None = None, **changes: object) -> TrialBatch:
    """A batch a second, in which a window of each segment ends, and outputs get parts of what they could."""
    kept = {"alerts": 1.0, "dashboard": 1.0, "archive": 1.0} | (parts or {})
    worth = {name: kept[name] * (SEGMENTS if name == "dashboard" else YIELDS[name].worth * taken) for name in kept}
    given = {name: round(kept[name] * 100) for name in kept}
    fields = {
        "second": second, "seconds": 0.5, "taken": taken, "given": given, "worth": worth, "delays": DELAYS, "shed": {},
        "boxes": {"moving": taken}, "spent": 0.2,
    }  # fmt: skip
    return TrialBatch(**(fields | changes))  # type: ignore[arg-type]


def trial(batches: Sequence[TrialBatch], seconds: float = 20.0, looks: Sequence[ProcessLook] = ()) -> OverloadTrial:
    return OverloadTrial(LoadCurve(((0, 1000),)), seconds, batches, looks, 0.1)
