"""Load shedding (SOLE 6): no query falls below the accuracy that it asks for, and a budget is met if it can be."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from australis.boxes.moving import Watch
from australis.expressions import expr
from australis.model.train import Train
from australis.testing import Cut, cuts, rows, train
from tests.boxes.moving.test_watch import CONDITIONS, OBJECTS, QUERIES, asked, journeys, worlds
from tests.oracles.moving import Ledger, World, steps, told
from tests.oracles.tuples import Tuple, stream_of

ASKED = f"{QUERIES}, accuracy double"
RANGES = worlds(kinds=("rectangle", "circle"))
ACCURACIES = st.lists(st.sampled_from([None, 0.0, 0.3, 0.5, 0.7, 1.0]), min_size=10, max_size=10)


def box(budget: int) -> Watch:
    """With a cache of no width: what a query wants is its region."""
    return Watch(conditions=(("trucks", expr("type = 'truck'")),), cache=0, budget=budget, time="time", carry=("type",))


def streams(world: Any, accuracies: list[float | None], again: bool = False) -> list[Train]:
    reports, wanted = world
    wanted = [
        each._replace(row={**each.row, "accuracy": accuracy})
        for each, accuracy in zip(wanted, accuracies, strict=False)
    ]
    if again:
        last = {each.row["id"]: each.row for each in reports if None not in (each.row["id"], each.row["x"])}
        reports = [*reports, *(Tuple(row, 0, 101 + place) for place, row in enumerate(last.values()))]
    return [stream_of(OBJECTS, reports), stream_of(ASKED, wanted)]


class Watched:
    """What is known and kept after a step, and what queries would have of it."""

    def __init__(self, tables: Any, world: World) -> None:
        self.kept, shed = (set(map(int, tables[name]["id"][tables[name].slots])) for name in ("objects", "shadows"))
        assert not self.kept & shed
        known = self.kept | shed
        world.objects = {key: row for key, row in world.objects.items() if key in known}
        self.full = world.answers()
        self.wanted = {
            name: 1.0 if query["accuracy"] is None else query["accuracy"] for name, query in world.queries.items()
        }
        self.led = {query["focal"] for query in world.queries.values()}

    def locked(self, identifier: int) -> bool:
        """Whether some query would have too little without an object."""
        return any(
            identifier in full and len(full & self.kept) - 1 < self.wanted[name] * len(full) - 1e-9
            for name, full in self.full.items()
        )


@given(RANGES, ACCURACIES, cuts(), st.booleans(), st.integers(1, 4))
def test_every_query_has_the_accuracy_that_it_asks_for(world, accuracies, cut: Cut, restart: bool, budget: int) -> None:
    everything, ledger, parts = World(CONDITIONS), Ledger(), {}
    for (reports, wanted), (updates, refused, _, changes), tables in steps(
        box(budget), streams(world, accuracies), cut, restart
    ):
        assert not len(refused)
        for _, row in told(reports):
            everything.report(row)
        for _, row in told(wanted):
            everything.ask(row)
            if row["action"] == "remove":
                parts.pop(row["query"], None)
        ledger.add(updates)
        parts.update(dict(rows(changes)))
        now = Watched(tables, everything)
        for name, answer in ledger.answers(everything.queries).items():
            full = now.full[name]
            assert answer == full & now.kept
            assert len(answer) >= now.wanted[name] * len(full) - 1e-9
            assert abs(parts.get(name, 1.0) - (len(answer) / len(full) if full else 1.0)) < 1e-9


@given(RANGES, ACCURACIES, st.integers(1, 4))
def test_the_budget_is_met_when_all_have_reported_unless_what_is_kept_is_locked(world, accuracies, budget: int) -> None:
    everything, tables = World(CONDITIONS), None
    for (reports, wanted), _, state in steps(box(budget), streams(world, accuracies, again=True), Cut((100,))):
        for _, row in told(reports):
            everything.report(row)
        for _, row in told(wanted):
            everything.ask(row)
        tables = state
    now = Watched(tables, everything)
    assert len(now.kept) <= budget or all(now.locked(identifier) for identifier in now.kept - now.led)


@given(
    journeys(),
    st.lists(asked(("rectangle", "circle", "polygon", "knn"), True), min_size=2, max_size=6),
    ACCURACIES,
    cuts(20),
    st.integers(1, 4),
    st.sampled_from(["objects", "queries"]),
)
def test_with_a_whole_cache_answers_have_their_accuracy_though_all_move(
    reports, wanted, accuracies, cut: Cut, budget: int, shed: str
) -> None:
    """Beside all objects computed anew, once all have reported since they were known: see the cache of one."""
    for number, (row, accuracy) in enumerate(zip(wanted, accuracies, strict=False)):
        row |= {"action": None, "query": number, "accuracy": accuracy}
    streams = [
        stream_of(OBJECTS, [Tuple(row, 0, number) for number, row in enumerate(reports, 2)]),
        stream_of(ASKED, [Tuple(row, 0, 1) for row in wanted]),
    ]
    moving = replace(box(budget), cache=1, speed=2, timeout=4, shed=shed)
    world, ledger, since = World(CONDITIONS, timeout=4), Ledger(), set()
    for (reported, asking), (updates, *_), _ in steps(moving, streams, cut):
        known = len(world.objects) == 6
        for _, row in told(reported):
            world.report(row)
            since |= {row["id"]} if known else set()
        for _, row in told(asking):
            world.ask(row)
        ledger.add(updates)
        if len(since) == 6:
            answers = ledger.answers(world.queries)
            for name, full in world.answers().items():
                accuracy = world.queries[name]["accuracy"]
                assert len(answers[name] & full) >= (1.0 if accuracy is None else accuracy) * len(full) - 1e-9


def test_those_that_fewest_queries_want_go_first() -> None:
    """SOLE's Figure 10c in small: two objects that one query wants, one that two do; there is room for two."""
    reports = train(OBJECTS, id=[1, 2, 3], x=[0, 4, 8], y=[0, 0, 0], time=[0] * 3, type=["a", "b", "c"])
    wanted = train(
        "query int, kind string, x int, y int, width int, height int, accuracy double",
        query=[1, 2], kind=["rectangle"] * 2, x=[1, 6], y=[0, 0], width=[6, 6], height=[2, 2], accuracy=[0.5, 0.5],
        first=4,
    )  # fmt: skip
    ((_, (updates, _, _, changes), tables),) = steps(box(2), [reports, wanted], Cut(()))
    assert sorted(rows(updates)) == [(1, 1, 2, "b"), (2, 1, 2, "b"), (2, 1, 3, "c")]
    assert rows(changes) == [(1, 0.5)]
    assert tables["objects"].rows(tables["objects"].slots, ["id", "type"]).to_pydict() == {
        "id": [2, 3],
        "type": ["b", "c"],
    }
    assert tables["shadows"].get("id", tables["shadows"].slots).to_pylist() == [1]
