"""Semantic drops: the worth that an output keeps if the least is dropped first, beside random drops (Aurora 4.5)."""

from __future__ import annotations

from typing import Any

import numpy as np

import australis as au
from australis.bench.overload_curves import step
from australis.bench.overload_figures import delivered
from australis.bench.overload_network import INPUT, LIMITS, network, source
from australis.bench.overload_steps import Setting
from australis.bench.overload_trial import run_trial
from australis.qos.ranks import BINS, ValueRank
from australis.qos.road_map import road_map
from australis.qos.shedder import Shedder

ARCHIVE = "archive"
FACTOR = 2.0
_SAMPLE = 50_450


def semantic(setting: Setting) -> dict[str, Any]:
    """The worth that the archive keeps at twice the capacity, with drops by value and with as many by chance."""
    inputs = {INPUT: FACTOR * setting.capacity}
    plan = road_map(setting.model, inputs).at(setting.most)
    worths: dict[str, float] = {}
    tuples: dict[str, int] = {}
    span = setting.span
    for way, known in (("value", {ARCHIVE: worth_counts()}), ("random", None)):
        setting.note(f"semantic drops: {way}")
        shed, _ = Shedder(setting.network).plan(plan.kept, worth=known)
        trial = run_trial(
            setting.spark,
            setting.network,
            step(FACTOR, setting.capacity, span),
            span.end,
            shed=False,
            headroom=setting.model.machine.headroom,
            plans=[(span.begin, shed)],
        )
        worths[way] = delivered(trial, setting.yields, span.steady, span.end)[ARCHIVE]
        tuples[way] = sum(batch.given.get(ARCHIVE, 0) for batch in trial.between(span.steady, span.end))
    return {
        "kept": dict(plan.kept),
        "worth": worths,
        "tuples": tuples,
        "ratio": worths["value"] / worths["random"] if worths["random"] else None,
    }


def worth_counts() -> list[int]:
    """How many results of the archive are worth how much, in the bins that plans know them by."""
    net = network()
    (output,) = (output for output in net.outputs if output.name == ARCHIVE)
    assert output.qos.value is not None
    column, graph = output.qos.value
    made = source(1000.0, _SAMPLE, 0)
    (split,) = made.splits(made.start(), {"began": 0, "n": _SAMPLE}, 1)
    run = au.Local(net, {"segments": LIMITS})
    counts = np.zeros(BINS, np.int64)
    for part in made.read(split):
        results = run.push({INPUT: part.tuples})[ARCHIVE]
        worth = graph.utilities(results[column].to_numpy())
        counts += np.bincount(ValueRank.bins(worth), minlength=BINS)
    return counts.tolist()
