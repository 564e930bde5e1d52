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
SORT = "bsort: {on: time, slack: 2}"
RIGHT = "j_columns_2: b -> map: {time: time, vid: vid}"
OTHER = "o: b -> map: {time: time, vid: vid, y: x}"
COLUMNS = "map: {time: time, vid: vid, mph: mph}"
NEVER_NULL = au.stream(
    "a", pa.schema([pa.field("time", pa.int32()), pa.field("vid", pa.int32(), nullable=False), ("x", "double")])
)


def hours(stream, box):
    return stream.aggregate(on="time", size=4, by="vid", n="count(*)", box=box)


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
    "late tuples of one side of a join": (
        net(f"j: a, b -> {PAIRS}\nm: j -> map: {{u: x}}", p="m", l="j.late_left"),
        net(f"{RIGHT}\nj: a, j_columns_2 -> {PAIRS}\nm: j -> map: {{u: x}}", p="m", l="j.late_left"),
    ),
    "late tuples of the other side of a join": (
        net(f"{OTHER}\nj: a, o -> {PAIRS}\nm: j -> map: {{u: x}}", p="m", l="j.late_right"),
        net(
            f"{OTHER}\nj_columns_1: a -> map: {{time: time, vid: vid, x: x}}\nj: j_columns_1, o -> {PAIRS}\n"
            "m: j -> map: {u: x}",
            p="m",
            l="j.late_right",
        ),
    ),
    "a second box, behind one whose output would change": (
        au.network(p=hours(NEVER_NULL, "s"), q=hours(agreement.B, "t")),
        au.network(p=hours(NEVER_NULL, "s"), q=hours(agreement.B.select("time", "vid", box="t_columns"), "t")),
    ),
    "nothing but late tuples of a join": (
        net(f"j: a, b -> {PAIRS}", l="j.late_left"),
        net(f"{RIGHT}\nj: a, j_columns_2 -> {PAIRS}", l="j.late_left"),
    ),
    "a join without a predicate": (
        net("j: a, b -> join: {on: time, size: 2}\nm: j -> map: {u: x}", p="m"),
        net(
            "j_columns_1: a -> map: {time: time, x: x}\nj_columns_2: b -> map: {time: time}\n"
            "j: j_columns_1, j_columns_2 -> join: {on: time, size: 2}\nm: j -> map: {u: x}",
            p="m",
        ),
    ),
    "a read": (
        net(f"{WRITE}\nr: b -> read: seen\nm: r -> map: {{u: most, v: x}}", o="w", p="m"),
        net(
            f"{WRITE}\nr_columns: b -> map: {{vid: vid, x: x}}\nr: r_columns -> read: seen\n"
            "m: r -> map: {u: most, v: x}",
            o="w",
            p="m",
        ),
    ),
    "what the rest of a filter is needed for": (
        net(
            f"s: a -> {SORT}\nf: s -> filter: mph > 3\nm: f -> map: {{u: vid}}\nn: f.rest -> map: {{v: x}}",
            p="m",
            q="n",
        ),
        net(
            f"s_columns: a -> map: {{time: time, vid: vid, mph: mph, x: x}}\ns: s_columns -> {SORT}\n"
            "f: s -> filter: mph > 3\nm: f -> map: {u: vid}\nn: f.rest -> map: {v: x}",
            p="m",
            q="n",
        ),
    ),
    "what a route reads": (
        net(f"s: a -> {SORT}\nr: s -> route: [mph > 3, vid = 1]\nm: r.1 -> map: {{u: x}}", p="m"),
        net(
            f"s_columns: a -> map: {{time: time, vid: vid, mph: mph, x: x}}\ns: s_columns -> {SORT}\n"
            "r: s -> route: [mph > 3, vid = 1]\nm: r.1 -> map: {u: x}",
            p="m",
        ),
    ),
}


@pytest.mark.parametrize("case", FIRES)
def test_fires(case):
    before, after = FIRES[case]
    assert project(before, NONE) == after
    assert project(after, NONE) is None
    for seed in range(4):
        compare(before, after, seed)


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


class Unsaid(Picky):
    """Does not say of which input the tuples are that it refuses."""

    def passes(self, port, *inputs):
        return {}


STAYS = {
    "an output of the box": net("s: a -> bsort: {on: time, slack: 2}\nm: s -> map: {u: x}", p="m", q="s"),
    "late tuples that are used": net(f"s: a -> {STATS}\nm: s.late -> map: {{u: x}}", p="s", q="m"),
    "a box that needs no partition": net("f: a -> filter: x > 1\nm: f -> map: {u: x}", p="m"),
    "a union by arrival": net("u: a, b -> union: {}\nm: u -> map: {u: x}", p="m"),
    "a stored table that is written": net(
        "w: cars -> write: {table: seen, most: class}\nm: w -> map: {u: most}", p="m"
    ),
    "refused tuples that become dead letters": au.network(p=agreement.A.draw(Picky(), name="k").map(u="x", box="m")),
    "refused tuples of whichever input": au.network(p=agreement.A.draw(Unsaid(), name="k").map(u="x", box="m")),
    "a column of an output that is never null": au.network(p=hours(NEVER_NULL, "s")),
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


SORTED = net(f"s: a -> {SORT}\nm: s -> map: {{u: x}}", p="m")
FIXED = {
    "the box": (SORTED, "s", None),
    "windows, whose columns stay the same": (net(f"s: a -> {STATS}", p="s"), "s", None),
    "a box behind it": (net(f"s: a -> {SORT}\nf: s -> filter: mph > 3\nm: f -> map: {{u: x}}", p="m"), "f", None),
    "a box behind late tuples": (
        net(f"s: a -> {STATS}\nf: s.late -> filter: mph > 3\nm: f -> map: {{u: mph}}", p="s", q="m"),
        "f",
        None,
    ),
    "the input": (
        SORTED,
        "a",
        net(f"s_columns: a -> map: {{time: time, x: x}}\ns: s_columns -> {SORT}\nm: s -> map: {{u: x}}", p="m"),
    ),
}


@pytest.mark.parametrize("case", FIXED)
def test_a_fixed_arrow_has_all_its_columns(case):
    before, name, after = FIXED[case]
    assert project(before, NONE, [Arrow(name, "out")]) == after


def test_people_read_refused_tuples_whole():
    before = STAYS["refused tuples that become dead letters"]
    kept = {name: name for name in ("vid", "x")}
    forced = au.network(p=agreement.A.map(kept, box="k_columns").draw(Picky(), name="k").map(u="x", box="m"))
    letters = [str(each.run_local(agreement.given(before)).dead_letters.to_pylist()) for each in (before, forced)]
    assert letters[0] != letters[1]


def test_an_output_keeps_its_schema():
    """A map does not know that a column has no nulls, and groups show in the results as they are."""
    before = STAYS["a column of an output that is never null"]
    forced = au.network(p=hours(NEVER_NULL.map(time="time", vid="vid"), "s"))
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
