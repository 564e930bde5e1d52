"""What a trial shows: arithmetic over batches that are made up."""

import pytest

from australis.bench import overload_figures as figures
from australis.bench.overload_network import network
from australis.bench.overload_trial import ProcessLook
from australis.model.qos import BoxCost, Costs
from tests.bench.overload_trials import DELAYS, YIELDS, batch, trial

NETWORK = network()
CALM = [batch(second + 0.9) for second in range(20)]


def test_if_nothing_is_shed_all_is_delivered_and_worth_all():
    seen = trial(CALM)
    assert figures.delivered(seen, YIELDS, 5, 15) == {"alerts": 1.0, "dashboard": 1.0, "archive": 1.0}
    assert figures.utilities(NETWORK, seen, YIELDS, 5, 15) == dict.fromkeys(YIELDS, 1.0)
    assert figures.total(NETWORK, figures.utilities(NETWORK, seen, YIELDS, 5, 15)) == 3.0


def test_what_is_shed_counts_by_its_worth_and_by_the_graph():
    seen = trial([batch(second + 0.9, parts={"dashboard": 0.5, "archive": 0.2}) for second in range(20)])
    parts = figures.delivered(seen, YIELDS, 5, 15)
    assert parts == {"alerts": 1.0, "dashboard": pytest.approx(0.5), "archive": pytest.approx(0.2)}
    worths = figures.utilities(NETWORK, seen, YIELDS, 5, 15)
    assert worths == {"alerts": 1.0, "dashboard": pytest.approx(0.9), "archive": pytest.approx(0.95)}


def test_an_exact_output_that_is_shed_is_worth_nothing():
    seen = trial([batch(second + 0.9, parts={"alerts": 0.9}) for second in range(20)])
    assert figures.utilities(NETWORK, seen, YIELDS, 5, 15)["alerts"] == 0.0


def test_what_waits_is_not_lost_but_late():
    slow = [batch(second + 0.9, taken=100, delays=DELAYS | {"alerts": 1.25}) for second in range(20)]
    seen = trial(slow)
    assert figures.delivered(seen, YIELDS, 0, 20)["archive"] == pytest.approx(1.0)
    assert figures.utilities(NETWORK, seen, YIELDS, 0, 20)["alerts"] == pytest.approx(0.5)


def test_an_output_without_results_is_worth_nothing():
    seen = trial([batch(second + 0.9, parts={"archive": 0.0}, delays={"alerts": 0.1}) for second in range(20)])
    assert figures.utilities(NETWORK, seen, YIELDS, 5, 15)["archive"] == 0.0
    assert figures.utilities(NETWORK, trial([]), YIELDS, 5, 15)["alerts"] == 0.0


def test_delays_are_back_after_the_last_batch_that_was_late():
    late = DELAYS | {"alerts": 0.6}
    seen = trial([batch(second + 0.9, delays=late if second in (6, 8) else DELAYS) for second in range(20)])
    assert figures.settled(NETWORK, seen, 5, 15) == pytest.approx(3.9)
    assert figures.settled(NETWORK, seen, 10, 15) == 0.0
    assert figures.settled(NETWORK, seen, 5, 9) is None
    assert figures.settled(NETWORK, trial([]), 5, 15) is None
    assert figures.on_the_flat_part(NETWORK, seen.between(5, 15)) == pytest.approx(0.8)
    assert figures.on_the_flat_part(NETWORK, []) == 0.0


def test_a_delay_a_little_beyond_the_bend_is_on_the_flat_part():
    assert not figures.late(NETWORK, batch(0, delays={"alerts": 0.54}))
    assert figures.late(NETWORK, batch(0, delays={"alerts": 0.56}))


def test_shedding_ends_with_the_last_batch_that_sheds():
    seen = trial([batch(second + 0.9, shed={"box archived": 5} if second < 12 else {}) for second in range(20)])
    assert figures.shed_until(seen, 10) == pytest.approx(1.9)
    assert figures.shed_until(seen, 12) == 0.0
    assert figures.shed_until(trial(seen.batches[:12]), 10) is None


def test_work_is_what_boxes_took_by_their_costs():
    costs = Costs({"moving": BoxCost(2e-4)})
    assert figures.work(trial(CALM), costs, 5, 15) == pytest.approx(0.2)


def test_processor_time_is_that_of_works_and_that_of_processes():
    looks = [ProcessLook(float(second), 1 << 20, 1.5 * second, 0.25 * second) for second in range(20)]
    seen = trial(CALM, looks=looks)
    assert figures.spent(seen, 5, 15) == {"counted": pytest.approx(0.2), "processes": pytest.approx(1.5)}
    assert seen.others == pytest.approx(0.25)
    assert seen.memory == 1 << 20
    assert figures.spent(trial(CALM), 5, 15)["processes"] == 0.0


def test_the_series_has_a_point_a_second():
    series = figures.over_time(NETWORK, trial(CALM), YIELDS)
    assert [each["second"] for each in series] == list(range(1, 21))
    assert series[10]["total"] == 3.0
    assert series[10]["delay"] == DELAYS
    assert series[10]["rate"] == 1000
