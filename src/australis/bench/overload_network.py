"""The network of the overload benchmark: alerts that are exact, a dashboard of windows, an archive that can wait."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

import australis as au
from australis.api.network import Network
from australis.arrow.columns import Floats
from australis.arrow.schema import schema
from australis.connectors.sources.load_curve import LoadCurve
from australis.connectors.sources.rate import Rate
from australis.kernels.jit import kernel
from australis.model.network import Output

INPUT = "reports"
SCHEMA = "time timestamptz, vid int, seg int, mph double"
SEGMENTS = 200
WINDOW = 1
"""The seconds of a window of the dashboard."""
WINDOWED = "dashboard"
"""The output that gives a result for a window of a segment, and not for a tuple."""
STEPS = {"alerts": 88, "dashboard": 320, "archive": 450}
"""Over how many tenths of a second each branch drives a vehicle ahead: what the branches cost goes by that."""
_PERIOD = 1009
"""After so many tuples speeds begin again, so that whole periods have all of them."""
COLUMNS = {
    "vid": "cast(n % 50000 as int)",
    "seg": f"cast(n * 31 % {SEGMENTS} as int)",
    "mph": f"n * 7919 % {_PERIOD} / 10.09",
}
LIMITS = pa.table(
    {"seg": pa.array(range(SEGMENTS), pa.int32()), "posted": pa.array([50.0 + seg % 5 * 10 for seg in range(SEGMENTS)])}
)
PARTS = {"first part": 0.05, "alerts": 0.1, "dashboard": 0.35, "archive": 0.5}
"""What the parts of the network are to cost, of all."""


@au.function("double", name="overload_ahead", pure=True)
def ahead(mph: Any, top: Any, steps: Any) -> Floats:
    """The speed of each vehicle after so many tenths of a second on a free road (the intelligent driver model)."""
    if not len(mph):
        return np.empty(0)
    speeds: Floats = _ahead(mph.to_numpy(zero_copy_only=False), top.to_numpy(zero_copy_only=False), steps[0].as_py())
    return speeds


@kernel
def _ahead(mph: Floats, top: Floats, steps: int) -> Floats:
    speeds = np.empty(len(mph))
    for row in range(len(mph)):
        speed, share = mph[row], 1 / top[row]
        for _ in range(steps):
            squared = (speed * share) ** 2
            speed += 0.3 * (1 - squared * squared)
        speeds[row] = speed
    return speeds


def network(*only: str) -> Network:
    """A filter, a map and a read of a table, then three branches with graphs of their own, or some of them."""
    table = au.table("limits", "seg int, top double", key="seg")
    limits = au.static("segments", "seg int, posted double").write(table, top="posted", box="limits")
    kept = {"time": "time", "vid": "vid", "seg": "seg", "mph": "mph"}
    known = (
        au.stream(INPUT, SCHEMA)
        .filter("mph >= 5", box="moving")
        .map({**kept, "mph": "least(mph, 95.0)"}, box="capped")
        .read(table, box="limit")
    )

    def driven(name: str) -> dict[str, str]:
        return {**kept, "top": "top", "soon": f"overload_ahead(mph, top, {STEPS[name]})"}

    alerts = known.map(driven("alerts"), box="warned").filter("soon < 33", box="alerts")
    windows = known.map(driven("dashboard"), box="expected").aggregate(
        on="time", size=f"{WINDOW} second", by="seg", cars="count(*)", mph="avg(mph)", soon="avg(soon)", box="windows"
    )
    archive = known.map(driven("archive"), box="archived")
    outputs = {
        "alerts": alerts.output(latency={0.5: 1, 2: 0}),
        "dashboard": windows.output(latency={2: 1, 10: 0}, delivered={0: 0, 0.5: 0.9, 1: 1}),
        "archive": archive.output(
            latency={10: 1, 60: 0}, delivered={0: 0, 0.2: 0.95, 1: 1}, value={"mph": {0: 0.1, 60: 0.2, 95: 1}}
        ),
    }
    return au.network(limits, {name: outputs[name] for name in only or outputs})


BRANCHES = {
    "alerts": ("warned", "alerts"), "dashboard": ("expected", "windows"), "archive": ("archived",),
}  # fmt: skip
"""The boxes of each branch."""


@dataclass(frozen=True)
class PatientRate(Rate):
    """Tuples that wait until they are taken, as those of files do."""

    @property
    def urgent(self) -> bool:
        return False


def source(curve: LoadCurve | float, tuples: int | None, began: int | None, patient: bool = False) -> Rate:
    """The input by a load curve; what is due at the same moments from the same beginning is the same."""
    kind = PatientRate if patient else Rate
    return kind(schema(SCHEMA), curve, tuple(COLUMNS.items()), limit=tuples, began=began)


Feed = Callable[[Network, LoadCurve | float, int | None, int | None, bool], dict[str, Any]]
"""What the inputs of a network are given: by a load curve, so many tuples, from a moment on, and whether they can wait.
"""


def feed(
    network: Network, curve: LoadCurve | float, tuples: int | None, began: int | None, patient: bool = False
) -> dict[str, Any]:
    """The stream by a load curve, and the stored table if the network has one."""
    tables = {"segments": LIMITS} if any(input.static for input in network.inputs) else {}
    return {INPUT: source(curve, tuples, began, patient), **tables}


def parts_of_cost(shares: Mapping[tuple[str, str], float]) -> dict[str, float]:
    """The part of the whole that the first part and each branch cost, from the seconds of works by kind and name.

    >>> seconds = {("source", "reports"): 1.0, ("map", "warned"): 2.0, ("sink", "archive"): 5.0}
    >>> parts_of_cost(seconds)
    {'first part': 0.125, 'alerts': 0.25, 'dashboard': 0.0, 'archive': 0.625}
    """
    of = dict.fromkeys(PARTS, 0.0)
    for (kind, name), seconds in shares.items():
        branches = [branch for branch, boxes in BRANCHES.items() if name in boxes or (kind, name) == ("sink", branch)]
        of[branches[0] if branches else "first part"] += seconds
    whole = sum(of.values())
    return {name: seconds / whole if whole else 0.0 for name, seconds in of.items()}


@dataclass(frozen=True)
class Yield:
    """What a tuple of the input is worth at an output if nothing is shed: how many results, and their worth in all."""

    tuples: float
    worth: float


def yields() -> dict[str, Yield]:
    """The yield of each output that gives a result for a tuple; exact, since speeds and segments come round again."""
    count = _PERIOD * SEGMENTS
    made = source(1000.0, count, 0)
    (split,) = made.splits(made.start(), {"began": 0, "n": count}, 1)
    run = au.Local(network(), {"segments": LIMITS})
    outputs = {output.name: output for output in run.network.outputs}
    found = {name: [0.0, 0.0] for name in outputs}
    for part in made.read(split):
        for name, results in run.push({INPUT: part.tuples}).items():
            found[name][0] += results.num_rows
            found[name][1] += worth(outputs[name], [results])
    return {name: Yield(tuples / count, value / count) for name, (tuples, value) in found.items()}


def worth(output: Output, trains: list[Any]) -> float:
    """What results are worth by the value graph of their output: 1 each where it has none."""
    if output.qos.value is None:
        return float(sum(train.num_rows for train in trains))
    column, graph = output.qos.value
    return float(sum(graph.utilities(train[column].to_numpy()).sum() for train in trains))
