"""Project: maps that keep only what anybody needs."""

from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import australis as au
from australis.model.box import Box
from australis.model.network import Arrow
from australis.plan.rules import optimize
from australis.plan.rules.project import project
from tests.plan.rules import agreement, drawings
from tests.plan.rules.agreement import NONE, compare, many, net, outcome

STATS = "aggregate: {on: time, size: 4, by: vid, mph: max(mph)}"
JUMPS = "aggregate: {on: time, advance: x > 1, n: count(*)}"
NEARBY = "resample: {on: [time, {on: time, by: vid}], size: 3, m: avg(mph + left.big)}"
PAIRS = "join: {where: left.vid = right.vid, on: {on: time, by: vid}, size: 9}"
CLASSES = "join: {where: left.vid = right.vid, on: [tup#, null]}"
WRITE = "w: a -> write: {table: seen, most: mph}"
COLUMNS = "map: {time: time, vid: vid, mph: mph}"

FIRES = {
    "windows": (net(f"s: a -> {STATS}", p="s"), net(f"s_columns: a -> {COLUMNS}\ns: s_columns -> {STATS}", p="s")),
    "windows that a predicate advances": (
        net(f"s: a -> {JUMPS}", p="s"),
        net(f"s_columns: a -> map: {{time: time, x: x}}\ns: s_columns -> {JUMPS}", p="s"),
    ),
    "a sort before a map": (
        net("s: a -> bsort: {on: time, slack: 2, by: vid}\nm: s -> map: {u: x}", p="m"),
        net(
            "s_columns: a -> map: {time: time, vid: vid, x: x}\n"
            "s: s_columns -> bsort: {on: time, slack: 2, by: vid}\nm: s -> map: {u: x}",
            p="m",
        ),
    ),
    "what a filter between reads": (
        net("s: a -> bsort: {on: time, slack: 2}\nf: s -> filter: mph > 3\nm: f -> map: {u: x}", p="m"),
        net(
            "s_columns: a -> map: {time: time, mph: mph, x: x}\ns: s_columns -> bsort: {on: time, slack: 2}\n"
            "f: s -> filter: mph > 3\nm: f -> map: {u: x}",
            p="m",
        ),
    ),
    "both sides of a join": (
        net(f"j: a, b -> {PAIRS}\nm: j -> map: {{u: x, v: big_right}}", p="m"),
        net(
            "j_columns_1: a -> map: {time: time, vid: vid, big: big, x: x}\n"
            "j_columns_2: b -> map: {time: time, vid: vid, big: big}\n"
            f"j: j_columns_1, j_columns_2 -> {PAIRS}\nm: j -> map: {{u: x, v: big_right}}",
            p="m",
        ),
    ),
    "a stored table": (
        net(f"j: a, cars -> {CLASSES}\nm: j -> map: {{u: class, v: name}}", p="m"),
        net(
            "j_columns_1: a -> map: {vid: vid, name: name}\nj_columns_2: cars -> map: {vid: vid, class: class}\n"
            f"j: j_columns_1, j_columns_2 -> {CLASSES}\nm: j -> map: {{u: class, v: name}}",
            p="m",
        ),
    ),
    "a merged union": (
        net("u: a, b -> union: {on: time}\nm: u -> map: {u: x}", p="m"),
        net(
            "u_columns_1: a -> map: {time: time, x: x}\nu_columns_2: b -> map: {time: time, x: x}\n"
            "u: u_columns_1, u_columns_2 -> union: {on: time}\nm: u -> map: {u: x}",
            p="m",
        ),
    ),
    "a write": (
        net(f"{WRITE}\nm: w -> map: {{u: most, v: x}}", p="m"),
        net(
            "w_columns: a -> map: {vid: vid, mph: mph, x: x}\nw: w_columns -> write: {table: seen, most: mph}\n"
            "m: w -> map: {u: most, v: x}",
            p="m",
        ),
    ),
    "a resample": (
        net(f"r: a, b -> {NEARBY}", p="r"),
        net(
            "r_columns_1: a -> map: {time: time, big: big}\nr_columns_2: b -> map: {time: time, vid: vid, mph: mph}\n"
            f"r: r_columns_1, r_columns_2 -> {NEARBY}",
            p="r",
        ),
    ),
    "nothing at all is needed": (
        net("s: a -> aggregate: {on: tup#, size: 3, n: count(*)}", p="s"),
        net("s_columns: a -> map: {time: time}\ns: s_columns -> aggregate: {on: tup#, size: 3, n: count(*)}", p="s"),
    ),
    "late tuples that are only counted": (
        net(f"f: a -> filter: mph > 3\ns: f -> {STATS}", p="s"),
        net(f"f: a -> filter: mph > 3\ns_columns: f -> {COLUMNS}\ns: s_columns -> {STATS}", p="s"),
    ),
}


@pytest.mark.parametrize("case", FIRES)
def test_fires(case):
    before, after = FIRES[case]
    assert project(before, NONE) == after
    assert project(after, NONE) is None
    for seed in range(4):
        compare(before, after, seed)


STAYS = {
    "an output of the box": net("s: a -> bsort: {on: time, slack: 2}\nm: s -> map: {u: x}", p="m", q="s"),
    "late tuples that are used": net(f"s: a -> {STATS}\nm: s.late -> map: {{u: x}}", p="s", q="m"),
    "a box that needs no partition": net("f: a -> filter: x > 1\nm: f -> map: {u: x}", p="m"),
    "a union by arrival": net("u: a, b -> union: {}\nm: u -> map: {u: x}", p="m"),
    "a stored table that is written": net(
        "w: cars -> write: {table: seen, most: class}\nm: w -> map: {u: most}", p="m"
    ),
}


@pytest.mark.parametrize("case", STAYS)
def test_stays(case):
    assert project(STAYS[case], NONE) is None


def test_a_column_of_the_left_that_gives_one_of_the_right_its_name_stays():
    """Without it `big_right` would be `big`, which no box after it knows."""
    _, after = FIRES["both sides of a join"]
    assert "big" in dict(after.named["j_columns_1"].box.columns)
    with pytest.raises(Exception, match="big_right"):
        net(
            "j_columns_1: a -> map: {time: time, vid: vid, x: x}\n"
            "j_columns_2: b -> map: {time: time, vid: vid, big: big}\n"
            f"j: j_columns_1, j_columns_2 -> {PAIRS}\nm: j -> map: {{u: x, v: big_right}}",
            p="m",
        )


def test_a_fixed_arrow_has_all_its_columns():
    before = net("s: a -> bsort: {on: time, slack: 2}\nm: s -> map: {u: x}", p="m")
    assert project(before, NONE, [Arrow("s", "out")]) is None
    assert project(before, NONE, [Arrow("a", "out")]) == project(before, NONE)


@dataclass(frozen=True)
class Picky(Box):
    """Refuses tuples without a vid, and sums up nothing."""

    kind: ClassVar[str] = "picky"

    def outputs(self, *inputs):
        return {"out": inputs[0], "refused": inputs[0]}

    def keys(self, *inputs):
        return (("vid",),)

    def columns_needed(self, port, columns, *inputs):
        return (columns | {"vid"},)

    def step(self, tables, trains, moment):
        there = trains[0]["vid"].is_valid()
        return trains[0].where(there), trains[0].where(pc.invert(there))


def test_people_read_refused_tuples_whole():
    before = au.network(p=agreement.A.draw(Picky(), name="k").map(u="x", box="m"))
    assert project(before, NONE) is None
    kept = {name: name for name in ("vid", "x")}
    forced = au.network(p=agreement.A.map(kept, box="k_columns").draw(Picky(), name="k").map(u="x", box="m"))
    letters = [str(each.run_local(agreement.given(before)).dead_letters.to_pylist()) for each in (before, forced)]
    assert letters[0] != letters[1]


def test_an_output_keeps_its_schema():
    """A map does not know that a column has no nulls, and groups show in the results as they are."""
    never_null = pa.schema([pa.field("time", pa.int32()), pa.field("vid", pa.int32(), nullable=False), ("x", "double")])
    stats = {"on": "time", "size": 4, "by": "vid", "n": "count(*)", "box": "s"}
    before = au.network(p=au.stream("a", never_null).aggregate(**stats))
    forced = au.network(p=au.stream("a", never_null).map(time="time", vid="vid").aggregate(**stats))
    assert project(before, NONE) is None
    assert not before.schemas["s"]["out"].equals(forced.schemas["s"]["out"])


def test_columns_that_are_computed_for_nobody_are_not_needed_once_the_map_is_combined():
    before = net(f"m: a -> map: {{time: time, vid: vid, mph: mph, y: big * big}}\ns: m -> {STATS}", p="s")
    after, firings = optimize(before, NONE)
    assert [firing.rule for firing in firings] == ["project", "combine"]
    assert after == net(f"m_s_columns: a -> {COLUMNS}\ns: m_s_columns -> {STATS}", p="s")
    assert outcome(before, agreement.given(before)) is None  # too big a number, for nobody
    assert outcome(after, agreement.given(before)) is not None


MENU = [
    drawings.keep, drawings.make, drawings.both, drawings.sort, drawings.window, drawings.hourly, drawings.classes,
    drawings.pairs, drawings.look_up, drawings.narrow,
]  # fmt: skip


def test_random_networks_agree():
    fired = 0

    @given(drawings.networks(MENU, 8), st.integers(0, 1000))
    def agrees(network, seed):
        nonlocal fired
        before, after = network, project(network, NONE)
        while after is not None:
            fired += 1
            network, after = after, project(after, NONE)
        if network is not before:
            note(str(network))
            compare(before, network, seed)

    agrees()
    assert fired >= many(), f"the rule fired {fired} times"
