"""The part of the overload benchmark about branches that wait: its network, and what is told of a trial."""

import pytest

from australis.bench.overload_curves import TrialSpan
from australis.bench.overload_priorities import ALERTS, ARCHIVE, branched, caught_up, figures_of
from australis.qos.branches import branches
from tests.bench.overload_trials import batch, trial

SPAN = TrialSpan(2.0, 6.0, 6.0)


def test_the_branches_share_nothing_but_the_input() -> None:
    assert [(branch.name, branch.inputs) for branch in branches(branched())] == [
        (ALERTS, ("reports",)),
        (ARCHIVE, ("reports",)),
    ]


def test_figures_of_a_trial() -> None:
    late = {2: 0.9, 3: 0.5}
    made = trial(
        [
            batch(second, delays={ALERTS: late.get(second, 0.3), ARCHIVE: 1.0 + second},
                  behind={ARCHIVE: float(second)} if 3 < second < 10 else {}, shed={"box a": 2} if second == 5 else {})
            for second in range(14)
        ]
    )  # fmt: skip
    found = figures_of(branched(), made, SPAN)
    assert (found["delay"], found["on time"], found["settled"], found["shed"]) == (0.3, 1.0, 0.0, 2)
    assert (found["behind"], found["caught up"]) == (9.0, pytest.approx(1.0))


def test_a_branch_that_is_behind_to_the_end_has_not_caught_up() -> None:
    made = trial([batch(second, behind={ARCHIVE: 1.0}) for second in range(14)])
    assert caught_up(made, SPAN.end) is None
    assert caught_up(trial([batch(second) for second in range(14)]), SPAN.end) == 0.0
    assert caught_up(trial([]), 0.0) is None
