"""Capacity: bisection, what counts as held, and what `check` predicts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.bench import overload_capacity
from australis.bench.overload_capacity import bisect, guessed, hopeless, modelled, on_the_flat_parts, predicted, warm_up
from australis.bench.overload_network import INPUT, network
from australis.model.qos import BoxCost, Costs
from tests.bench.overload_trials import DELAYS, batch, trial

NETWORK = network()


@given(st.floats(10, 1e6), st.floats(0.3, 3))
def test_bisection_closes_in_on_the_largest_rate_that_holds(limit: float, off: float) -> None:
    search = bisect(lambda rate: rate <= limit, limit * off, 12)
    assert search.held <= limit < search.failed
    assert search.failed / search.held < 1.02
    assert len(search.tried) == 12


def test_a_search_that_holds_nothing_or_all_says_so() -> None:
    assert bisect(lambda rate: False, 100, 3).held == 0
    assert bisect(lambda rate: True, 100, 3).failed == float("inf")


def test_a_rate_is_held_if_all_delays_stay_on_the_flat_parts_until_the_end() -> None:
    calm = [batch(second + 0.9) for second in range(20)]
    assert on_the_flat_parts(NETWORK, trial(calm), 5, 20)
    assert not on_the_flat_parts(NETWORK, trial(calm[:15]), 5, 20)
    assert not on_the_flat_parts(NETWORK, trial([]), 5, 20)
    late = [batch(second + 0.9, delays=DELAYS | {"alerts": 0.8 if second == 12 else 0.3}) for second in range(20)]
    assert not on_the_flat_parts(NETWORK, trial(late), 5, 20)
    assert on_the_flat_parts(NETWORK, trial(late), 14, 20)


def test_a_trial_that_is_far_behind_need_not_go_on() -> None:
    enough = hopeless(NETWORK, 5.0)
    assert enough(8.0, {"alerts": 2.1})
    assert not enough(6.0, {"alerts": 2.1})
    assert not enough(8.0, {"alerts": 1.9, "archive": None})


@pytest.mark.parametrize(
    ("seconds", "runs"),
    [((0.3, 0.2, 0.12, 0.11, 0.05), 4), ((0.1, 0.1, 0.1, 0.05), 3), (tuple(0.8**turn for turn in range(20)), 8)],
    ids=["until batches get no shorter", "thrice at least", "not for ever"],
)
def test_it_warms_up(seconds: tuple[float, ...], runs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    trials = iter([trial([batch(1.0, seconds=each), batch(2.0, seconds=each), batch(3.0)]) for each in seconds])
    monkeypatch.setattr(overload_capacity, "run_trial", lambda *args, **options: next(trials))
    notes: list[str] = []
    assert warm_up(None, NETWORK, notes.append) == list(seconds[:runs])  # type: ignore[arg-type]
    assert notes[1] == f"warming up: a batch takes {seconds[0] * 1000:.0f} ms"


def test_check_predicts_the_rate_at_which_the_machine_is_full() -> None:
    costs = Costs({"moving": BoxCost(1e-5, {"out": 0.0})}, batch=0.05)
    model = modelled(NETWORK, costs, 1.0)
    rate = predicted(model)
    assert model.load({INPUT: rate}) == pytest.approx(model.most)
    assert rate == pytest.approx((1 - 0.05 / 0.25) * 2 / 1e-5)
    assert guessed(model) == rate


def test_a_search_begins_somewhere_if_by_the_model_no_rate_holds() -> None:
    model = modelled(NETWORK, Costs({"moving": BoxCost(1e-5, {"out": 0.0})}, batch=3.0), 1.0)
    assert predicted(model) == 0
    assert model.load({INPUT: guessed(model)}) == pytest.approx(0.5)
