"""Worth: what is counted of tuples, and what was offered to outputs although some of it was shed on the way."""

from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import australis as au
from australis.errors import RunError
from australis.qos.ranks import BINS
from australis.qos.worth import MEMORY, WorthCounts, Worths, worth_rank
from australis.testing import train

REPORTS = au.stream("reports", "v double, n bigint")
GRAPH = {0: 0.0, 50: 0.2, 100: 1.0}
FAST = REPORTS.map(box="every", v="v", n="n").filter("n > 10", box="fast")
NETWORK = au.network(
    archive=FAST.output(delivered={0: 0, 1: 1}, value={"v": GRAPH}),
    counted=REPORTS.map(box="m", n="n").output(delivered={0: 0, 1: 1}, value={"n": {0: 0.0, 1: 1.0}}),
    exact=REPORTS.filter("n > 1", box="exact"),
)
OUTPUTS = {output.name: output for output in NETWORK.outputs}
VALUES = st.none() | st.floats() | st.sampled_from([0.0, -0.0, 50.0, 100.0, 1e308, float("-inf")])


def worth_of(value: float | None) -> float:
    """One tuple at a time: what is not known is worth all."""
    if value is None or np.isnan(value):
        return 1.0
    if value <= 50:
        return 0.2 * max(value, 0) / 50
    return min(0.2 + 0.8 * (value - 50) / 50, 1.0)


@given(st.lists(st.tuples(VALUES, st.booleans()), max_size=50))
def test_tuples_are_counted_by_their_worth(tuples):
    rank, counts = worth_rank(OUTPUTS["archive"]), WorthCounts()
    assert rank is not None
    stream, kept = train("v double", v=[value for value, _ in tuples]), np.array([keep for _, keep in tuples], np.bool_)
    counts.arrived(rank, stream)
    counts.left_out(rank, ("box", "fast"), stream, kept)
    counts.left_out(rank, ("box", "every"), stream, kept, counts_kept=False)
    came, dropped, sums = np.zeros(BINS, np.int64), np.zeros(BINS, np.int64), np.zeros(BINS)
    for value, keep in tuples:
        place = min(int(worth_of(value) * BINS), BINS - 1)
        came[place] += 1
        sums[place] += worth_of(value)
        dropped[place] += not keep
    rows = {port: {name: each.tolist() for name, each in values.items()} for _, port, values in counts.rows()}
    assert rows[None]["came"] == came.tolist()
    assert rows[None]["worths"] == pytest.approx(sums.tolist())
    assert rows["box fast"] == {"came": came.tolist(), "dropped": dropped.tolist()}
    assert rows["box every"] == {"came": dropped.tolist(), "dropped": dropped.tolist()}


@pytest.mark.parametrize("number", [2**63 - 1, -(2**63), 2**53 + 1, 0])
def test_whole_numbers_at_the_ends_have_a_worth(number):
    rank = worth_rank(OUTPUTS["counted"])
    assert rank is not None
    assert rank.worth(train("n bigint", n=[number, None])).tolist() == [float(number > 0), 1.0]


def test_outputs_without_a_value_graph_have_no_worth():
    assert worth_rank(OUTPUTS["exact"]) is None


def row(port: str | None, came: dict[int, int], dropped: dict[int, int] | None = None) -> dict[str, object]:
    def bins(counts: dict[int, int]) -> list[int]:
        return [counts.get(place, 0) for place in range(BINS)]

    worths = [count * (place + 0.5) / BINS for place, count in enumerate(bins(came))]
    return {"kind": "worth", "name": "archive", "port": port, "came": bins(came), "dropped": bins(dropped or {}),
            "worths": worths}  # fmt: skip


def known(*batches: list[dict[str, object]], elapsed: float = 1.0) -> tuple[Worths, list[dict[str, object]]]:
    worths, offers = Worths(NETWORK), []
    for rows in batches:
        worths, offer = worths.add(rows, elapsed)
        offers.append(offer)
    return worths, offers


def test_without_shedding_it_is_what_came_and_older_batches_count_less():
    worths, offers = known([row(None, {3: 40, 31: 60})], [row(None, {3: 100})])
    old = exp(-1 / MEMORY)
    counts = worths.outputs["archive"].counts
    assert (counts[3], counts[31]) == (pytest.approx(100 + 40 * old), pytest.approx(60 * old))
    assert (offers[0]["archive"].offered, offers[0]["archive"].kept) == (100, 100)
    assert sum(worths.counts()["archive"]) == pytest.approx(1_000_000, abs=BINS)
    assert worths.counts().keys() == {"archive"}
    assert Worths(NETWORK).counts() == {}


def test_what_was_shed_on_the_way_counts_as_much_as_boxes_would_have_let_through():
    # Of what went on at the place, half of bin 3 and all of bin 20 came through.
    shed = row("box fast", {3: 1000, 20: 80}, {3: 900, 20: 20})
    _, (offer,) = known([shed, row(None, {3: 50, 20: 60})])
    assert offer["archive"].offered == pytest.approx(50 + 450 + 60 + 20)
    assert offer["archive"].places == (("box", "fast"),)


def test_what_is_shed_at_the_output_itself_counts_whole():
    shed = row("output archive", {3: 40, 31: 60}, {3: 40})
    _, (offer,) = known([shed, row(None, {3: 40, 31: 60})])
    assert (offer["archive"].offered, offer["archive"].kept) == (100, 60)
    assert offer["archive"].worth_kept == pytest.approx(60 * 31.5 / BINS)
    assert offer["archive"].worth_offered == pytest.approx(60 * 31.5 / BINS + 40 * 3.5 / BINS)


def test_places_one_after_another_count_each_tuple_once():
    first = row("box every", {3: 1000}, {3: 500})  # 500 go on, of which every second comes to the next place
    second = row("box fast", {3: 250}, {3: 150})
    _, (offer,) = known([first, second, row(None, {3: 100})])
    assert offer["archive"].offered == pytest.approx(500)


def test_a_bin_of_which_all_is_shed_keeps_its_share_and_grows_with_what_is_shed():
    before = [row(None, {3: 50, 20: 100})]
    shed = [row("box fast", {3: 1000, 20: 100}, {3: 1000}), row(None, {20: 100})]
    _, offers = known(before, shed)
    assert offers[1]["archive"].offered == pytest.approx(150)
    more = [row("box fast", {3: 4000, 20: 100}, {3: 4000}), row(None, {20: 100})]
    worths, offers = known(before, shed, *[more] * 60)
    assert offers[-1]["archive"].offered == pytest.approx(300)
    assert worths.outputs["archive"].counts[3] > worths.outputs["archive"].counts[20]


def test_when_all_is_shed_at_once_as_much_is_offered_of_what_is_read_as_before():
    def read(tuples: int) -> dict[str, object]:
        return {"kind": "source", "name": "reports", "given": tuples}

    before = [row(None, {3: 50, 20: 100}), read(1000)]
    shed = [row("box fast", {3: 1800, 20: 200}, {3: 1800, 20: 200}), read(2000)]
    _, offers = known(before, before, shed, elapsed=7.0)
    assert offers[-1]["archive"].offered == pytest.approx(300)
    assert offers[-1]["archive"].kept == 0


def test_when_the_better_tuples_end_what_is_left_is_offered():
    before = [row(None, {3: 50, 20: 100})]
    shed = [row("box fast", {3: 50, 20: 100}, {3: 50}), row(None, {20: 100})]
    only_low = [row("box fast", {3: 150}, {3: 150}), row(None, {})]
    worths, _ = known(before, shed, *[only_low] * 60)
    counts = worths.counts()["archive"]
    assert counts[3] > 0.9 * sum(counts)
    unseen = [row("box fast", {1: 150}, {1: 150}), row(None, {})]  # worth less than anything before
    worths, _ = known(before, shed, *[unseen] * 60)
    assert worths.counts()["archive"][1] > 0.9 * sum(worths.counts()["archive"])


def test_a_network_that_follows_knows_what_it_values_alike():
    worths, _ = known([row(None, {3: 40})])
    assert worths.followed_by(NETWORK).counts() == worths.counts()
    other = au.network(archive=FAST.output(delivered={0: 0, 1: 1}, value={"v": {0: 1.0, 9: 0.0}}))
    assert worths.followed_by(other).counts() == {}


@given(st.lists(st.tuples(st.integers(0, 31), st.integers(0, 10**9)), max_size=8), st.floats(0, 1e6))
def test_extremes_of_counts_and_times_stay_finite(bins, elapsed):
    came = dict(bins)
    shed = row("box fast", came, came)
    worths, offers = known([row(None, came)], [shed, row(None, {})], [shed, row(None, came)], elapsed=elapsed)
    for offer in offers:
        each = offer["archive"]
        assert np.isfinite([each.offered, each.kept, each.worth_offered, each.worth_kept]).all()
        assert each.kept <= each.offered
    assert all(count >= 0 for counts in worths.counts().values() for count in counts)


def learned(seed: int = 3) -> Worths:
    """What is known after some batches, of which some were shed."""
    chance, worths = np.random.default_rng(seed), Worths(NETWORK)
    for _ in range(3):
        came, dropped = chance.integers(0, 99, BINS), chance.integers(0, 9, BINS)
        sums = came * (np.arange(BINS) + 0.25) / BINS
        rows = [
            {"kind": "worth", "name": "archive", "port": None, "came": came, "worths": sums},
            {"kind": "worth", "name": "archive", "port": "box fast", "came": came + 2 * dropped, "dropped": dropped},
            {"kind": "source", "name": "reports", "given": 9999},
        ]
        worths, _ = worths.add(rows, 1.0)
    return worths


def same(one: Worths, other: Worths) -> bool:
    return one.render() == other.render()


def test_what_is_known_is_read_as_it_was_written():
    worths = learned()
    again = Worths.parse(worths.render(), NETWORK)
    assert same(again, worths)
    assert again.counts() == worths.counts()
    row = {"kind": "source", "name": "reports", "given": 10}
    assert same(again.add([row], 1.0)[0], worths.add([row], 1.0)[0])


def test_what_outputs_valued_otherwise_is_not_taken_over():
    other = au.network(
        archive=FAST.output(delivered={0: 0, 1: 1}, value={"v": {0: 0.0, 100: 1.0}}),
        counted=REPORTS.map(box="m", n="n").output(delivered={0: 0, 1: 1}),
    )
    assert Worths.parse(learned().render(), other).outputs == {}
    assert Worths.parse(learned().render(), au.network(exact=REPORTS)).outputs == {}


@pytest.mark.parametrize(
    "text",
    ["", "7", "{}", '{"read": -1, "outputs": {}}', '{"read": 0, "outputs": []}',
     learned().render().replace("[", "[NaN, ", 2), learned().render().replace('"counts"', '"count"')],
)  # fmt: skip
def test_what_is_not_of_its_form_is_refused(text):
    with pytest.raises(RunError, match="this is not what outputs are worth"):
        Worths.parse(text, NETWORK)


def test_the_spread_is_of_what_was_offered():
    worths = learned()
    histogram = worths.histograms()["archive"]
    assert sum(histogram.counts) > worths.outputs["archive"].came.sum()  # some of it was shed
    means = np.array(histogram.worths) / np.array(histogram.counts)
    assert means == pytest.approx((np.arange(BINS) + 0.25) / BINS)
    assert histogram.curve.concave
    assert Worths(NETWORK).histograms() == {}
