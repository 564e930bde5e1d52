"""Plans: the stages of small networks, and that running a network by its plan changes nothing."""

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import australis as au
from australis.boxes import Read, Write
from australis.model.box import EVERYWHERE
from australis.model.network import Arrow
from australis.plan import plan
from tests.planned import Step, check

REPORTS = au.stream("reports", "time int, vid int, mph int, xway int, seg int")
BEATS = au.stream("beats", "time int")
CARS = au.static("cars", "vid int, plate string")
ACCOUNTS = au.table("accounts", "vid int, balance bigint", key="vid")


def entering(entry):
    """An entry in short; what costs an exchange has an arrow."""
    how = {None: "as it comes", (): "in one", EVERYWHERE: "everywhere"}.get(entry.by) or f"by {' '.join(entry.by)}"
    return f"{entry.arrow.source} {'-> ' if entry.exchange else ''}{how}"


def stages(*streams, sources=None, **outputs):
    """The stages of a network in short: what enters, which boxes run, and whether in one partition."""
    net = au.network(*streams, outputs)
    planned = plan(net, sources)
    valid(net, planned)
    return [
        (", ".join(map(entering, stage.entries)), " ".join(stage.nodes) + (" (one)" if stage.one else ""))
        for stage in planned.stages
    ]


def valid(net, planned):
    """What holds for every plan."""
    place = {node.name: at for at, node in enumerate(net.nodes)}
    assert {name for stage in planned.stages for name in stage.nodes} == place.keys()
    assert [stage.index for stage in planned.stages] == list(range(len(planned.stages)))
    assert sorted([*planned.straight, *(name for stage in planned.stages for name in stage.outputs)]) == sorted(
        output.name for output in net.outputs
    )
    for stage in planned.stages:
        assert list(stage.nodes) == sorted(stage.nodes, key=place.__getitem__)
        fed = [inlet for entry in stage.entries for inlet in entry.feeds]
        assert len(fed) == len(set(fed))
        for name in stage.nodes:
            node = net.named[name]
            for side, arrow in enumerate(node.sources):
                assert (name, side) in fed or arrow.source in stage.nodes
            if isinstance(node.box, Write):
                readers = [n.name for n in net.nodes if isinstance(n.box, Read) and n.box.table == node.box.table]
                assert set(readers) <= set(stage.nodes)
        for entry in stage.entries:
            assert entry.static == any(input.name == entry.arrow.source and input.static for input in net.inputs)
            if entry.origin is not None:
                assert entry.origin < stage.index
                assert entry.arrow in planned.stages[entry.origin].leaves


def test_boxes_that_need_no_key_run_where_the_source_is_read():
    fast = REPORTS.filter("mph > 60", box="fast")
    both = fast.map(vid="vid", box="vids").union(REPORTS.map(vid="vid", box="all"), box="both")
    assert stages(both=both, fast=fast) == [("reports as it comes", "fast vids all both")]


def test_one_exchange_before_an_aggregate_and_after_the_filter():
    stats = REPORTS.filter("mph > 0", box="moving").aggregate(
        on="time", size=60, by=["xway", "seg"], mph="avg(mph)", box="stats"
    )
    jams = stats.filter("mph < 40", box="jams")
    assert stages(jams=jams) == [("reports as it comes", "moving"), ("moving -> by xway seg", "stats jams")]
    assert stages(jams=jams, sources={"reports": ("xway",)}) == [("reports as it comes", "moving stats jams")]
    assert stages(jams=jams, sources={"reports": ("seg", "xway")}) == [("reports as it comes", "moving stats jams")]
    assert len(stages(jams=jams, sources={"reports": ("xway", "vid")})) == 2
    assert len(stages(jams=jams, sources={"reports": None})) == 2


def counted(stream, by, box):
    return stream.aggregate(on="time", size=60, by=by, n="count(*)", box=box)


def test_keys_with_something_in_common_share_an_exchange():
    ways, segs = counted(REPORTS, "xway", "ways"), counted(REPORTS, ["xway", "seg"], "segs")
    assert stages(ways=ways, segs=segs) == [("reports -> by xway", "ways segs")]
    assert stages(segs=segs, ways=ways) == [("reports -> by xway", "segs ways")]
    assert stages(segs=segs, ways=counted(segs, "xway", "ways")) == [("reports -> by xway", "segs ways")]
    assert stages(ways=ways, vids=counted(REPORTS, "vid", "vids")) == [
        ("reports -> by xway", "ways"),
        ("reports -> by vid", "vids"),
    ]


def test_a_map_keeps_the_columns_that_it_copies():
    segs = counted(REPORTS, ["xway", "seg"], "segs")
    renamed = segs.map(time="time", way="xway", place="seg", box="renamed")
    assert stages(out=counted(renamed, ["place", "way"], "last")) == [
        ("reports -> by xway seg", "segs renamed last"),
    ]
    assert stages(out=counted(renamed, "place", "last")) == [("reports -> by seg", "segs renamed last")]
    lost = segs.map(time="time", way="xway", place="seg + 0", box="lost")
    assert stages(out=counted(lost, ["way", "place"], "last")) == [("reports -> by xway", "segs lost last")]
    assert stages(out=counted(lost, "place", "last")) == [
        ("reports -> by xway seg", "segs lost"),
        ("lost -> by place", "last"),
    ]


def test_what_needs_all_tuples_runs_in_one_partition_with_what_follows():
    sorted_ = REPORTS.filter("mph > 0", box="moving").bsort("time", 2, box="sorted")
    assert stages(out=counted(sorted_, "vid", "last")) == [
        ("reports as it comes", "moving"),
        ("moving -> in one", "sorted last (one)"),
    ]
    assert stages(out=counted(sorted_, "vid", "last"), sources={"reports": ()}) == [
        ("reports as it comes", "moving sorted last (one)"),
    ]


PAIRS = {"on": [au.order("time", by="vid"), au.order("time", by="vid")], "size": 5}


def test_both_sides_of_a_join_lie_alike():
    other = au.stream("other", "time int, vid int, xway int")
    joined = REPORTS.join(other, "left.vid = right.vid", **PAIRS, box="pairs")
    assert stages(out=joined) == [("reports -> by vid, other -> by vid", "pairs")]
    # each source divides in its own way, so that one of them is of no use to the other
    assert stages(out=joined, sources={"reports": ("vid",)}) == [("reports -> by vid, other -> by vid", "pairs")]
    before = counted(REPORTS, "vid", "before").join(other, "left.vid = right.vid", **PAIRS, box="pairs")
    assert stages(out=before) == [("reports -> by vid, other -> by vid", "before pairs")]
    itself = REPORTS.join(REPORTS.filter("mph > 0", box="moving"), "left.vid = right.vid", **PAIRS, box="pairs")
    assert stages(out=itself, sources={"reports": ("vid",)}) == [("reports as it comes", "moving pairs")]


def test_keys_of_a_join_correspond_by_position():
    orders = [au.order("time", by=["vid", "seg"]), au.order("time", by=["seg", "vid"])]
    crossed = counted(REPORTS, ["seg", "vid"], "one").join(
        counted(REPORTS, ["vid", "seg"], "two"),
        "left.vid = right.seg and left.seg = right.vid",
        on=orders,
        size=1,
        box="pairs",
    )
    assert stages(out=crossed) == [
        ("reports -> by seg vid", "one two"),
        ("one as it comes, two -> by vid seg", "pairs"),
    ]


def test_a_stream_may_enter_twice():
    orders = [au.order("time", by="vid"), au.order("time", by="seg")]
    odd = REPORTS.join(REPORTS, "left.vid = right.seg", on=orders, size=1, box="odd")
    planned = plan(au.network(out=odd))
    assert [(entry.by, entry.feeds) for entry in planned.stages[0].entries] == [
        (("vid",), (("odd", 0),)),
        (("seg",), (("odd", 1),)),
    ]


def test_a_static_table_is_read_by_the_stage_that_uses_it():
    named = REPORTS.join(CARS, "left.vid = right.vid", box="named")
    assert stages(out=named) == [("reports -> by vid, cars by vid", "named")]
    assert stages(out=named, sources={"reports": ("vid",)}) == [("reports as it comes, cars everywhere", "named")]
    some = CARS.filter("vid > 3", box="some")
    twice = counted(REPORTS.join(some, "left.vid = right.vid", box="named"), "seg", "segs").map(
        {"time": "time", "vid": "seg"}, box="odd"
    )
    twice = twice.join(some, "left.vid = right.vid", box="again")
    assert stages(out=twice) == [
        ("cars everywhere, reports -> by vid", "some named"),
        ("cars everywhere, named -> by seg", "some segs odd again"),
    ]
    assert stages(some=some, plates=CARS) == [("cars in one", "some (one)")]
    assert plan(au.network(some=some, plates=CARS)).straight == ("plates",)


def test_a_static_table_beside_a_stream():
    vids = REPORTS.map(vid="vid", plate="'?'", box="vids")
    assert stages(out=vids.union(CARS, box="both")) == [("reports as it comes, cars in one", "vids both")]
    some = CARS.filter("vid > 3", box="some")
    assert stages(out=vids.union(some, box="both")) == [
        ("reports as it comes", "vids"),
        ("cars in one", "some (one)"),
        ("vids as it comes, some as it comes", "both"),
    ]


def test_a_table_is_in_the_stage_of_its_write_and_its_reads():
    charged = REPORTS.write(ACCOUNTS, balance="mph", box="charge")
    seen = REPORTS.filter("mph > 60", box="fast").read(ACCOUNTS, box="seen")
    assert stages(charged, seen=seen) == [
        ("reports as it comes", "fast"),
        ("reports -> by vid, fast -> by vid", "charge seen"),
    ]
    assert stages(charged, seen=seen, sources={"reports": ("vid",)}) == [("reports as it comes", "fast charge seen")]
    asked = au.stream("asked", "time int, vid int").read(ACCOUNTS, box="told")
    assert stages(charged, told=asked) == [("reports -> by vid, asked -> by vid", "charge told")]
    # a source that divides in its own way is of no use where others must meet it
    assert stages(charged, told=asked, sources={"reports": ("vid",), "asked": ("vid",)}) == [
        ("reports -> by vid, asked -> by vid", "charge told")
    ]


def test_a_table_and_static_inputs():
    charged = REPORTS.write(ACCOUNTS, balance="mph", box="charge")
    told = CARS.read(ACCOUNTS, box="told")
    assert stages(charged, told=told) == [("reports -> by vid, cars by vid", "charge told")]
    # in every partition, all of the static table would be told as often
    assert stages(charged, told=told, sources={"reports": ("vid",)}) == [
        ("reports -> by vid, cars by vid", "charge told")
    ]
    filled = CARS.write(ACCOUNTS, balance="0", box="fill")
    assert stages(filled, out=REPORTS.read(ACCOUNTS, box="seen")) == [("cars by vid, reports -> by vid", "fill seen")]


def test_a_table_that_is_read_behind_an_exchange_of_what_is_written_lies_in_one_partition():
    charged = REPORTS.write(ACCOUNTS, balance="mph", box="charge")
    segs = charged.aggregate(on="time", size=60, by="seg", vid="max(vid)", box="segs")
    assert stages(out=segs.read(ACCOUNTS, box="seen")) == [("reports -> in one", "charge segs seen (one)")]
    other = au.table("other", "seg int, n int", key="seg")
    first = charged.read(other, box="of_other").filter("mph > 1", box="passed")
    crossing = REPORTS.write(other, n="mph", box="write_other").read(ACCOUNTS, box="of_accounts")
    assert stages(first=first, crossing=crossing) == [
        ("reports -> in one", "charge write_other of_other passed of_accounts (one)")
    ]


def test_resample_has_all_of_its_left_in_each_partition_and_gives_its_late_ones_from_one():
    orders = ["time", au.order("time", by="vid")]
    steady = BEATS.resample(REPORTS, on=orders, size=5, mph="avg(mph)", box="steady")
    late = steady.late_left.filter("time > 0", box="late")
    net = au.network(steady=steady, late=late, late_right=steady.late_right, each=counted(late, (), "each"))
    planned = plan(net)
    valid(net, planned)
    assert [entering(entry) for entry in planned.stages[0].entries] == ["beats -> everywhere", "reports -> by vid"]
    assert planned.stages[0].nodes == ("steady", "late")
    assert planned.stages[0].copied == (Arrow("steady", "late_left"), Arrow("late", "out"), Arrow("late", "rest"))
    assert planned.stage_of("each").one
    assert planned.stages[1].entries[0].origin == 0


def test_a_union_of_one_partition_and_many_goes_where_it_is_wanted():
    sorted_ = REPORTS.bsort("time", 2, box="sorted")
    both = sorted_.union(REPORTS.filter("mph > 0", box="moving"), box="both")
    assert stages(out=counted(both, "vid", "vids")) == [
        ("reports as it comes", "moving"),
        ("reports -> in one", "sorted (one)"),
        ("sorted -> by vid, moving -> by vid", "both vids"),
    ]
    assert stages(out=both)[-1] == ("sorted as it comes, moving as it comes", "both")
    assert stages(out=counted(both, (), "all"))[-1] == ("both -> in one", "all (one)")


def test_stages_do_not_feed_each_other_both_ways():
    moving = REPORTS.filter("mph > 0", box="moving")
    segs = counted(moving, "seg", "segs").map(time="time", seg="seg", box="mapped")
    both = segs.union(moving.map(time="time", seg="seg", box="other"), box="both")
    assert stages(out=both) == [
        ("reports as it comes", "moving other"),
        ("moving -> by seg, other as it comes", "segs mapped both"),
    ]


def test_the_order_of_windows_is_known_under_other_names():
    segs = counted(REPORTS, ["xway", "seg"], "segs").map(way="xway", time="time", box="named")
    (entry,) = plan(au.network(out=counted(segs, (), "all"))).stages[1].entries
    assert entry.order == ("time", "way")


def test_a_network_without_boxes_has_no_stages():
    planned = plan(au.network(out=REPORTS))
    assert (planned.stages, planned.straight) == ((), ("out",))


def test_sources_that_do_not_fit():
    net = au.network(out=REPORTS.join(CARS, "left.vid = right.vid"))
    with pytest.raises(au.NetworkError, match="no stream input report; there are reports; did you mean `reports`"):
        plan(net, {"report": ("vid",)})
    with pytest.raises(au.NetworkError, match="no stream input cars"):
        plan(net, {"cars": ("vid",)})
    with pytest.raises(au.NetworkError, match=r"input reports: its source is divided by `vdi`, .*did you mean `vid`"):
        plan(net, {"reports": ("vdi",)})


@pytest.mark.parametrize("partitions", [1, 2, 3])
def test_what_a_source_divides_in_its_own_way_meets_the_rest(partitions):
    asked = au.stream("asked", "time int, vid int")
    charged = REPORTS.write(ACCOUNTS, balance="mph", box="charge")
    known = REPORTS.join(CARS, "left.vid = right.vid", box="known")
    net = au.network(charged, known=known, seen=asked.read(ACCOUNTS), told=CARS.read(ACCOUNTS))
    vids = list(range(20))
    steps = [
        Step({"cars": {"vid": vids, "plate": list(map(str, vids))}}),
        Step({"reports": {"time": vids, "vid": vids, "mph": vids, "xway": vids, "seg": vids}}),
        Step({"asked": {"time": vids, "vid": vids}}),
        Step(end=True),
    ]
    sources = {"reports": ("vid",), "asked": ("vid",)}
    found = check(net, plan(net, sources), steps, partitions, sources)
    assert [len(found[name]) for name in ("known", "seen", "told")] == [20, 20, 20]
    assert [balance for _, _, balance in found["seen"]] == vids


def test_windows_that_close_at_once_come_in_order_from_all_partitions():
    segs = counted(REPORTS, ["xway", "seg"], "segs")
    totals = segs.aggregate(on="time", size=60, n="sum(n)", box="totals")
    net = au.network(totals=totals, late=totals.late)
    (entry,) = plan(net).stages[1].entries
    assert entry.order == ("time", "xway", "seg")
    reports = {"time": [0, 5, 70, 80, 130], "vid": [1] * 5, "mph": [9] * 5, "xway": [0, 1, 0, 1, 2], "seg": [1] * 5}
    for partitions in (1, 2, 3):
        found = check(net, plan(net), [Step({"reports": reports}), Step(end=True)], partitions, exact=False)
        assert found == {"totals": [(0, 2), (60, 2), (120, 1)], "late": []}


COLUMNS = "abc"
SCHEMA = "t int, a int, b int, c int"


def same(**made):
    """A map that gives streams the one schema again."""
    return {name: made.get(name, name) for name in ("t", *COLUMNS)}


@st.composite
def networks(draw):
    """Networks of all kinds of boxes whose streams have one schema, so that any may follow any other."""
    static = au.static("fixed", SCHEMA)
    streams = [au.stream("one", SCHEMA), au.stream("two", SCHEMA)]
    statics, ends, tables = [static], [], []
    bys = st.lists(st.sampled_from(COLUMNS), unique=True, max_size=2)
    kinds = (
        *("filter", "map", "union", "bsort", "aggregate", "join", "resample", "write", "read"),
        *(
            "map",
            "aggregate",
            "aggregate",
            "write",
            "read",
            "static_box",
            "static_join",
            "static_union",
            "static_table",
        ),
    )
    for index in range(draw(st.integers(1, 8))):
        # Rather after the latest box than beside it: it is chains of boxes whose keys must fit.
        stream, other = draw(st.sampled_from(streams[-2:])), draw(st.sampled_from(streams))
        by = draw(bys)
        size, slack = draw(st.integers(0, 3)), draw(st.integers(0, 2))
        name = f"{draw(st.sampled_from(kinds))}_{index}"
        match name.rpartition("_")[0]:
            case "filter":
                streams += stream.route(f"a = {size}", f"c > {size}", box=name)
            case "map":
                swapped = draw(st.permutations(COLUMNS))
                lost = {draw(st.sampled_from(COLUMNS)): "cast((b + c) % 3 as int)"} if draw(st.booleans()) else {}
                streams.append(stream.map(same(**{**dict(zip(COLUMNS, swapped, strict=True)), **lost}), box=name))
            case "union":
                on = draw(st.sampled_from(["", "", "t"]))
                streams.append(stream.union(other, draw(st.sampled_from(streams)), on=on, box=name))
            case "bsort":
                streams.append(stream.bsort("t", slack, by, box=name))
            case "aggregate":
                functions = {c: draw(st.sampled_from([f"max({c})", f"last({c})"])) for c in COLUMNS if c not in by}
                made = stream.aggregate(
                    functions,
                    on="t",
                    size=size + 1,
                    by=by,
                    slack=slack,
                    timeout=draw(st.sampled_from([None, 2])),
                    box=name,
                )
                streams += [made.map(same(), box=f"{name}_same"), made.late]
            case "join":
                left, right = draw(st.permutations(COLUMNS)), draw(st.permutations(COLUMNS))
                pairs = list(zip(left, right, strict=True))[: draw(st.integers(0, 2))]
                where = " and ".join(f"left.{one} = right.{each}" for one, each in pairs) or None
                on = [au.order("t", slack, [one for one, _ in pairs]), au.order("t", 0, [each for _, each in pairs])]
                made = stream.join(other, where, on=on, size=size, box=name)
                streams.append(made.map(same(b="b_right", c="cast((c + c_right) % 7 as int)"), box=f"{name}_same"))
                ends += [made.late_left, made.late_right]
            case "resample":
                functions = {c: f"max({c})" for c in COLUMNS if c not in by}
                made = stream.resample(
                    other, functions, on=[au.order("t", slack), au.order("t", 0, by)], size=size, box=name
                )
                streams += [made.map(same(), box=f"{name}_same"), made.late_left, made.late_right]
            case "write" if by:
                table = au.table(f"table{index}", {**dict.fromkeys(by, "int"), "v": "int"}, key=by)
                tables.append(table)
                made = stream.write(table, v="(coalesce(old.v, 0) * 2 + c) % 7", box=name)
                streams.append(made.map(same(**{c: "v" for c in COLUMNS if c not in by[:1]}), box=f"{name}_same"))
            case "read" if tables:
                made = stream.read(draw(st.sampled_from(tables)), box=name)
                streams.append(made.map(same(c="v"), box=f"{name}_same"))
            case "static_box":
                source = draw(st.sampled_from(statics))
                if draw(st.booleans()):
                    statics.append(source.filter(f"c > {size}", box=name))
                else:
                    made = source.aggregate(
                        on="tup#", size=2, by=by, **{c: f"max({c})" for c in "abct" if c not in by}, box=name
                    )
                    streams.append(made.map(same(), box=f"{name}_same"))
            case "static_table" if tables:
                made = draw(st.sampled_from(statics)).read(draw(st.sampled_from(tables)), box=name)
                streams.append(made.map(same(c="v"), box=f"{name}_same"))
            case "static_table" if by:
                table = au.table(f"table{index}", {**dict.fromkeys(by, "int"), "v": "int"}, key=by)
                tables.append(table)
                made = draw(st.sampled_from(statics)).write(table, v="c", box=name)
                streams.append(made.map(same(c="v"), box=f"{name}_same"))
            case "static_join":
                left, right = draw(st.permutations(COLUMNS)), draw(st.permutations(COLUMNS))
                count = draw(st.integers(0, 2))
                pairs = list(zip(left, right, strict=True))[:count]
                where = " and ".join(f"left.{one} = right.{each}" for one, each in pairs) or None
                made = stream.join(draw(st.sampled_from(statics)), where, box=name)
                streams.append(made.map(same(c="c_right"), box=f"{name}_same"))
            case "static_union":
                streams.append(stream.union(draw(st.sampled_from(statics)), box=name))
    return au.network({f"out{i}": each for i, each in enumerate([*streams, *ends, *statics])})


@st.composite
def scripts(draw):
    """Steps: the static table, trains of the two streams in turn, clocks between them, the end."""
    chance = np.random.default_rng(draw(st.integers(0, 1000)))
    steps = [Step({"fixed": _tuples(chance, 0)})]
    for turn in range(draw(st.integers(1, 5))):
        clock = turn * 10**6 if chance.random() < 0.5 else None
        steps.append(Step({"two" if turn % 2 else "one": _tuples(chance, turn)}, clock))
    return [*steps, Step(clock=9 * 10**6), Step(end=True)]


def _tuples(chance, turn):
    """A train whose times rise, a few of them late, and some values are null."""
    count = int(chance.integers(0, 12))
    times = 3 * turn + np.arange(count) // 3 - (chance.random(count) < 0.2) * chance.integers(0, 4, count)
    columns = [times, *(chance.integers(0, top, count) for top in (3, 4, 6))]
    null = chance.random((4, count)) < 0.05
    return {
        name: [None if gone else int(value) for value, gone in zip(column, nulls, strict=True)]
        for name, column, nulls in zip(("t", *COLUMNS), columns, null, strict=True)
    }


@given(networks(), scripts(), st.sampled_from([None, (), ("a",), ("b", "a")]), st.integers(1, 3))
def test_a_network_run_by_its_plan_gives_the_same(net, steps, key, partitions):
    sources = {"one": key}
    planned = plan(net, sources)
    note(au.dumps(net))
    note(net.explain())
    note(str(planned))
    valid(net, planned)
    check(net, planned, steps, partitions, sources)
