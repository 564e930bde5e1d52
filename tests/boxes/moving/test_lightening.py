"""Answers that are told in part: every query has its accuracy, what is left out is counted, and all comes back."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.boxes.moving import Watch
from australis.model.box import Moment
from australis.model.train import Train, empty
from australis.testing import Cut, cuts, rows, train
from tests.boxes.moving.test_shedding import ACCURACIES, ASKED, OBJECTS, streams
from tests.boxes.moving.test_watch import CONDITIONS, TRUCKS, worlds
from tests.oracles.moving import Ledger, World, steps, told

BOX = Watch(conditions=TRUCKS, every="train", time="time", carry=("type",))
BOXES = [replace(BOX, shed=shed, cache=cache) for shed in ("objects", "queries") for cache in (None, 0)]
IDS = range(6)
"""Of the objects: one at least comes back with every train."""
PARTS = st.just([1.0]) | st.lists(st.sampled_from([0.0, 0.2, 0.6, 0.9, 1.0]), min_size=1, max_size=4)


def followed(box, world, accuracies, cut, restart, parts):
    """After each step: the world, answers and accuracies told, whether all must be back by then, and the tables."""
    everything, ledger, tellings, since = World(CONDITIONS), Ledger(), {}, len(IDS)
    for number, ((reports, wanted), (updates, _, _, changes), tables) in enumerate(
        steps(box, streams(world, accuracies), cut, restart, parts)
    ):
        for _, row in told(reports):
            everything.report(row)
        for _, row in told(wanted):
            everything.ask(row)
            if row["action"] == "remove":
                tellings.pop(row["query"], None)
        ledger.add(updates)
        tellings.update(dict(rows(changes)))
        some = len(reports) or len(wanted)
        since = 0 if parts[number % len(parts)] < 1 else since + bool(some)
        yield everything, ledger.answers(everything.queries), tellings, since >= len(IDS), tables


def accuracy_of(query) -> float:
    return 1.0 if query["accuracy"] is None else query["accuracy"]


@given(worlds(), ACCURACIES, cuts(), st.booleans(), PARTS, st.sampled_from(BOXES[::2]))
def test_every_query_has_its_accuracy_whatever_part_is_asked_for(world, accuracies, cut: Cut, restart, parts, box):
    for everything, answers, tellings, whole, tables in followed(box, world, accuracies, cut, restart, parts):
        members = missed = 0
        for name, full in everything.answers().items():
            had = len(answers[name] & full)
            assert had >= accuracy_of(everything.queries[name]) * len(full) - 1e-9
            assert answers[name] <= full or everything.queries[name]["kind"] == "knn"
            assert abs(tellings.get(name, 1.0) - (had / len(full) if full else 1.0)) < 1e-9
            members, missed = members + len(full), missed + len(full) - had
        lightened = box.lightened(tables)
        if whole:
            assert answers == everything.answers()
        if lightened.members:
            assert (lightened.members, lightened.missed) == (members, missed)
            assert lightened.idle <= lightened.reports
        else:
            assert not missed


@given(worlds(kinds=("rectangle", "circle")), ACCURACIES, cuts(), st.booleans(), PARTS, st.sampled_from(BOXES[1::2]))
def test_with_a_cache_of_no_width_too_of_what_is_kept(world, accuracies, cut: Cut, restart, parts, box):
    for everything, answers, _, whole, tables in followed(box, world, accuracies, cut, restart, parts):
        known = set(map(int, tables["objects"]["id"][tables["objects"].slots]))
        everything.objects = {key: row for key, row in everything.objects.items() if key in known}
        for name, full in everything.answers().items():
            assert answers[name] <= full
            assert len(answers[name]) >= accuracy_of(everything.queries[name]) * len(full) - 1e-9
        assert not whole or answers == everything.answers()


@given(
    worlds(kinds=("rectangle", "circle")), ACCURACIES, cuts(), st.booleans(), PARTS, st.sampled_from(BOXES[1::2]),
    st.integers(1, 4),
)  # fmt: skip
def test_a_budget_holds_beside_it(world, accuracies, cut: Cut, restart, parts, box, budget):
    for everything, answers, tellings, _, tables in followed(
        replace(box, budget=budget), world, accuracies, cut, restart, parts
    ):
        kept, shed = (set(map(int, tables[name]["id"][tables[name].slots])) for name in ("objects", "shadows"))
        everything.objects = {key: row for key, row in everything.objects.items() if key in kept | shed}
        for name, full in everything.answers().items():
            assert answers[name] == full & kept
            assert len(answers[name]) >= accuracy_of(everything.queries[name]) * len(full) - 1e-9
            assert abs(tellings.get(name, 1.0) - (len(answers[name]) / len(full) if full else 1.0)) < 1e-9


@given(worlds(), cuts(), st.booleans())
def test_without_a_part_nothing_changes(world, cut: Cut, restart: bool):
    """Beside a box whose queries name no accuracy, and which therefore never tells a part."""
    reports, queries = streams(world, [0.0] * 10)
    names = [name for name in queries.schema.names if name != "accuracy"]
    bare = Train(queries.tuples.select(names), queries.ts, queries.number)
    found = [
        [(outputs[0].tuples, outputs[0].number.tolist(), outputs[2].tuples) for _, outputs, _ in made]
        for made in (steps(BOX, [reports, each], cut, restart) for each in (queries, bare))
    ]
    assert found[0] == found[1]


def city(objects: int, queries: int, ticks: int, accuracies: Sequence[float] = (0.0,)) -> tuple[list[Train], Train]:
    """Reports of all objects, tick by tick, and overlapping squares, which take turns in what they are content with."""
    chance = np.random.default_rng(5)
    place, speed = chance.random((2, objects)), chance.uniform(-0.01, 0.01, (2, objects))
    ids, trains = np.arange(objects), []
    for tick in range(ticks):
        x, y = np.abs(1 - (place + tick * speed) % 2)
        columns = {"id": ids, "x": x, "y": y, "time": ids * 0 + tick, "type": ["car"] * objects}
        trains.append(train(OBJECTS, **columns, first=1 + queries + tick * objects))
    where = chance.random((2, queries))
    wanted = train(
        "query int, kind string, x double, y double, width double, height double, accuracy double",
        query=np.arange(queries), kind=["rectangle"] * queries, x=where[0], y=where[1], width=[0.2] * queries,
        height=[0.2] * queries, accuracy=np.resize(accuracies, queries),
    )  # fmt: skip
    return trains, wanted


@pytest.mark.parametrize(("part", "off"), [(0.9, 0.02), (0.5, 0.02), (0.2, 0.02)])
def test_a_part_of_all_answers_is_told_and_as_many_updates(part: float, off: float):
    reports, wanted = city(500, 60, 40)
    counts = {}
    for each in (1.0, part):
        box, none = BOX, empty(wanted.schema)
        tables = box.tables(schema(OBJECTS), wanted.schema)
        ledger, counts[each] = Ledger(), []
        for number, train_ in enumerate(reports):
            updates, *_ = box.step(tables, (train_, none if number else wanted), Moment(number, part=each))
            ledger.add(updates)
            counts[each].append(len(updates))
        if each < 1:
            lightened = box.lightened(tables)
            assert 1 - lightened.missed / lightened.members == pytest.approx(part, abs=off)
            assert sum(map(len, ledger.sets.values())) == lightened.members - lightened.missed
            # An object that is left out stays so: what enters and leaves answers is the same part of all that would.
            assert sum(counts[each][20:]) == pytest.approx(part * sum(counts[1.0][20:]), rel=0.25)


@pytest.mark.parametrize("cache", [None, 0])
@pytest.mark.parametrize("shed", ["objects", "queries"])
def test_no_query_falls_below_its_accuracy_while_all_move(shed: str, cache: float | None):
    reports, wanted = city(500, 60, 40, [0.0, 0.3, 0.5, 0.8])
    box, ledger, locked = replace(BOX, shed=shed, cache=cache), Ledger(), 0
    tables = box.tables(schema(OBJECTS), wanted.schema)
    asked = {name: np.array(wanted[name]) for name in ("x", "y", "accuracy")}
    for number, each in enumerate(reports):
        trains = (each, empty(wanted.schema) if number else wanted)
        updates, *_ = box.step(tables, trains, Moment(number, part=0.3 if number else 1.0))
        ledger.add(updates)
        x, y = np.array(each["x"]), np.array(each["y"])
        for query in range(60):
            inside = (abs(x - asked["x"][query]) <= 0.1) & (abs(y - asked["y"][query]) <= 0.1)
            full, answer = set(np.flatnonzero(inside).tolist()), ledger.sets.get(query, set())
            assert answer <= full
            assert len(answer) >= asked["accuracy"][query] * len(full) - 1e-9
            locked += len(answer) - 1 < asked["accuracy"][query] * len(full) - 1e-9
    assert box.lightened(tables).missed > 0.1 * box.lightened(tables).members
    assert locked > 60  # queries had just what they asked for, time and again


def test_answers_change_by_an_eighth_a_train_and_are_whole_in_the_end():
    reports, wanted = city(500, 60, 30)
    parts = [1.0, 1.0, *[0.5] * 12, *[0.8] * 8, *[1.0] * 8]
    tables, told_parts = BOX.tables(schema(OBJECTS), wanted.schema), []
    for number, (each, part) in enumerate(zip(reports, parts, strict=False)):
        BOX.step(tables, (each, empty(wanted.schema) if number else wanted), Moment(number, part=part))
        lightened = BOX.lightened(tables)
        told_parts.append(1 - lightened.missed / max(lightened.members, 1))
    assert all(abs(after - before) < 1 / 8 + 0.02 for before, after in pairwise(told_parts))
    assert told_parts[13] == pytest.approx(0.5, abs=0.02)
    assert told_parts[21] == pytest.approx(0.8, abs=0.02)
    assert told_parts[22] < 1
    assert told_parts[-1] == 1
    assert not tables["objects"]["#shed"].any()
    assert BOX.lightened(tables).members == 0  # nothing is left to tell


def test_those_that_fewest_queries_want_go_first():
    reports = train(OBJECTS, id=[1, 2, 3], x=[0, 4, 8], y=[0, 0, 0], time=[0] * 3, type=["a", "b", "c"])
    wanted = train(
        "query int, kind string, x int, y int, width int, height int, accuracy double",
        query=[1, 2, 3], kind=["rectangle"] * 3, x=[1, 6, 4], y=[0] * 3, width=[6, 6, 9], height=[2] * 3,
        accuracy=[0.0] * 3, first=4,
    )  # fmt: skip
    tables, ledger = BOX.tables(schema(OBJECTS), wanted.schema), Ledger()
    for number in range(16):
        trains = (reports, empty(wanted.schema)) if number else (reports, wanted)
        updates, *_ = BOX.step(tables, trains, Moment(number, part=0.5))
        ledger.add(updates)
    assert ledger.sets == {1: {2}, 2: {2}, 3: {2}}
    for number in (20, 21):
        updates, *_ = BOX.step(tables, (reports, empty(wanted.schema)), Moment(number))
        ledger.add(updates)
    assert ledger.sets == {1: {1, 2}, 2: {2, 3}, 3: {1, 2, 3}}


@pytest.mark.parametrize(
    ("box", "queries", "ports"),
    [
        (BOX, ASKED, {"out"}),
        (replace(BOX, every=None), ASKED, set()),
        (BOX, ASKED.replace(", accuracy double", ""), set()),
        (replace(BOX, every=None, cache=0), ASKED, {"out"}),
    ],
)
def test_it_can_work_with_less_where_queries_name_accuracies_and_trains_are_taken_as_a_whole(box, queries, ports):
    assert box.lightens(schema(OBJECTS), schema(queries)) == ports
    assert ("accuracy" in box.outputs(schema(OBJECTS), schema(queries))) == bool(ports)
