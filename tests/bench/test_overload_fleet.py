"""The fleet of the overload benchmark: its reports are the same again, and its network can leave objects out."""

from itertools import pairwise

import numpy as np
import pyarrow as pa

import australis as au
from australis.bench.overload_fleet import (
    ACCURACIES,
    ALERTS,
    ANSWERS,
    DEMANDING,
    QUERIES,
    SIZES,
    STRIDE,
    Fleet,
    exact,
    watched,
)
from australis.bench.overload_network import INPUT
from australis.connectors.sources.load_curve import LoadCurve
from australis.qos.branches import branches
from australis.qos.lighter import lighter_boxes

FLEET = Fleet(50, 200)
CURVE = LoadCurve(((0, 100), (1, 5000)))


def reports(first: int, last: int) -> pa.Table:
    return pa.Table.from_batches(list(FLEET.reports(CURVE, 7_000_000, first, last)))


def test_reports_are_the_same_however_they_are_read() -> None:
    whole = reports(0, 400)
    assert pa.concat_tables([reports(0, 130), reports(130, 400)]).combine_chunks() == whole.combine_chunks()
    assert whole["id"].to_pylist() == [n % 50 for n in range(400)]


def test_objects_go_on_by_their_stride_and_turn_at_the_edge() -> None:
    count, rounds = FLEET.objects, 2000
    whole = reports(0, count * rounds)
    for name in ("x", "y"):
        places = whole[name].to_numpy().reshape(rounds, count)
        assert places.min() >= 0
        assert places.max() <= 1
        moved = np.abs(np.diff(places, axis=0))
        assert moved.max() <= STRIDE + 1e-9
        turned = np.abs(np.diff(moved, axis=0)) > 1e-9
        assert 0 < turned.mean() < 0.02
        assert len(np.unique(np.round(moved[0], 9))) > count / 2


def test_most_queries_are_content_with_little_and_the_smallest_ask_for_more() -> None:
    rows = FLEET.query_rows()
    sizes, asked = rows["width"].to_numpy() ** 2, rows["accuracy"].to_numpy()
    assert rows["query"].to_pylist() == list(range(200))
    assert SIZES[0] <= sizes.min() <= sizes.max() <= SIZES[1]
    assert set(asked) == {*ACCURACIES, DEMANDING}
    assert sizes[asked == DEMANDING].max() < sizes[asked != DEMANDING].min()
    assert 0 < rows["focal"].null_count < 200


def test_the_inputs_are_given_all_queries_and_reports_that_cannot_wait() -> None:
    given = FLEET.feed(watched(), CURVE, 10, 0)
    assert given.keys() == {INPUT, QUERIES} == {each.name for each in watched().inputs}
    assert given[QUERIES].num_rows == 200
    assert given[INPUT].urgent


def test_answers_are_left_out_by_the_box_that_watches_and_alerts_are_exact() -> None:
    network = watched()
    assert {name: reach.outputs for name, reach in lighter_boxes(network).items()} == {"watch": {ANSWERS}}
    assert {output.name: output.qos.exact for output in network.outputs} == {ALERTS: True, ANSWERS: False}
    assert len(branches(network)) == 1  # none can wait for the other


def test_without_shedding_both_networks_give_the_same() -> None:
    runs = [au.Local(each) for each in (watched(), exact())]
    for run in runs:
        run.push({QUERIES: FLEET.query_rows()})
    for first, last in pairwise((0, 50, 180, 400)):
        results = [run.push({INPUT: reports(first, last)}) for run in runs]
        updates = [
            sorted(zip(*(each[ANSWERS][name].to_pylist() for name in ("query", "sign", "id")), strict=True))
            for each in results
        ]
        assert updates[0] == updates[1] != []
        assert results[0][ALERTS] == results[1][ALERTS]
