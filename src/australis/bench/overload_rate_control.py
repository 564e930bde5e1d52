"""Rate control: what a chain does behind a source that can wait, however much is offered to it (XStream's figure 7)."""

from __future__ import annotations

from typing import Any

from australis.bench.overload_curves import TrialSpan
from australis.bench.overload_network import network
from australis.bench.overload_steps import Setting
from australis.bench.overload_trial import run_trial
from australis.connectors.sources.load_curve import LoadCurve

CHAIN = "archive"
"""The output whose boxes are the chain."""
FACTORS = (0.5, 1.0, 2.0, 5.0)
_PLENTY = 50.0
"""How many times the capacity of the whole network is offered to find out how much the chain takes."""
_FIRST = 0.4
"""The part of a trial that is left out: batches are as long as they should be after some of them."""


def rate_control(setting: Setting) -> dict[str, Any]:
    """What the chain takes a second, and the most memory, at several times what it takes at full speed."""
    # A trial in which hardly a batch was done tells little: the chain takes at least what the whole network does.
    full = max(_offered(setting, _PLENTY * setting.capacity)["taken"], setting.capacity)
    loads = [{"factor": factor} | _offered(setting, factor * full) for factor in FACTORS]
    return {"full": full, "loads": loads}


def _offered(setting: Setting, rate: float) -> dict[str, Any]:
    setting.note(f"rate control: {rate:,.0f} tuples a second")
    span: TrialSpan = setting.span
    seconds = span.load / 2
    trial = run_trial(setting.spark, network(CHAIN), LoadCurve(((0, rate),)), seconds, patient=True)
    batches = trial.between(_FIRST * seconds, seconds)
    if len(batches) < 2:  # the trial is too short for more: what it took over all of its time is a lower bound
        taken, spans = sum(batch.taken for batch in trial.batches), max([seconds, *(b.second for b in trial.batches)])
    else:
        taken, spans = sum(batch.taken for batch in batches[1:]), batches[-1].second - batches[0].second
    return {
        "offered": rate,
        "taken": taken / spans,
        "shed": sum(sum(batch.shed.values()) for batch in trial.batches),
        "memory": trial.memory,
        "others": trial.others,
    }
