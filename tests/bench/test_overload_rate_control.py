"""Rate control: the chain takes no more than it can, and nothing of a source that can wait is shed."""

from dataclasses import dataclass
from typing import Any

import pytest

from australis.bench import overload_rate_control as module
from australis.bench.overload_curves import TrialSpan
from australis.bench.overload_goals import goals
from australis.bench.overload_steps import Setting
from australis.bench.overload_trial import OverloadTrial, TrialBatch
from australis.connectors.sources.load_curve import LoadCurve


@dataclass
class Machine:
    """Takes what is offered, up to so many tuples a second."""

    most: float

    def run(self, _: Any, network: Any, curve: LoadCurve, seconds: float, patient: bool) -> OverloadTrial:
        assert patient
        taken = int(min(curve.at(0.5), self.most))
        batches = [
            TrialBatch(float(second), 1.0, taken, {}, {}, {}, {}, {}, 0.5) for second in range(1, int(seconds) + 1)
        ]
        return OverloadTrial(curve, seconds, batches, [], 0.0)


def test_the_chain_is_offered_times_what_it_takes_at_full_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "run_trial", Machine(1000).run)
    notes: list[str] = []
    setting = Setting(None, None, {}, 500.0, TrialSpan(), notes.append)  # type: ignore[arg-type]
    report = module.rate_control(setting)
    assert report["full"] == pytest.approx(1000)
    assert [each["taken"] for each in report["loads"]] == pytest.approx([500, 1000, 1000, 1000])
    assert len(notes) == 5


def test_a_collapse_is_told() -> None:
    loads = [
        {"factor": factor, "taken": taken, "memory": 1, "shed": 0} for factor, taken in ((1.0, 100.0), (5.0, 50.0))
    ]
    (taken, memory, shed) = goals({"rate control": {"full": 100.0, "loads": loads}})
    assert (taken.met, taken.found, memory.met, shed.met) == (False, "50.0%", True, True)
