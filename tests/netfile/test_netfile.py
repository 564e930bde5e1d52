"""Network files: read as people mean them, written without loss, every mistake told with its place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import australis as au
from australis.api.network import Network
from australis.boxes import Aggregate, BSort, Filter, Join, Map, Read, Resample, Route, Union, Write
from australis.expressions import expr
from australis.model.network import Arrow, Input, Output
from australis.netfile import netfile
from tests import traffic

HEAD = """\
australis: 2
inputs:
  reports: time int, vid int, mph int, xway int, seg int
"""


def file(boxes, outputs="  out: a", more=""):
    """A file with these boxes, whose lines are indented as they stand here."""
    return f"{HEAD}{more}boxes:\n{boxes}\noutputs:\n{outputs}\n"


def box(written, source="reports", more=""):
    return au.loads(file(f"  a:\n    {written}\n    from: {source}", more=more)).named["a"].box


def test_an_argument_misspelt_among_columns_is_told():
    text = """australis: 2
inputs: {reports: "time int, mph int"}
boxes:
  stats: {aggregate: {on: time, size: 60, n: count(*), SLACK}, from: reports}
outputs: {out: stats}
"""
    for wrong, near in (("slak: 3", "slack"), ("timeot: 5 s", "timeout")):
        with pytest.raises(au.AustralisError, match=f"aggregate stats: .*did you mean `{near}`"):
            netfile.loads(text.replace("SLACK", wrong))


def test_the_whole_form():
    net = au.loads("""
australis: 2
inputs:
  reports: time int, vid int, mph int, xway int, seg int
  cars: {static: vid int, plate string}
tables:
  accounts: {schema: "vid int, balance bigint", key: vid}
boxes:
  jams:                                    # before the box that feeds it
    filter: cars > 50 and mph < 40
    from: stats
  stats:
    aggregate: {on: time, size: 60, by: [xway, seg], cars: count(distinct vid), mph: avg(mph)}
    from: reports
  fan:
    route:
      - mph > 80
      - mph < 10
    from: reports
  both:
    union: [fan, fan.2]
  plates:
    join: {where: left.vid = right.vid, on: [{on: time, slack: 2}, null]}
    from: [both, cars]
  charge:
    write: {table: accounts, balance: "coalesce(old.balance, 0) + mph"}
    from: fan.rest
groups:
  statistics: [stats, {alarms: [jams]}]
outputs:
  jams: {from: jams, latency: {2: 1.0, 10: 0.0}, value: {cars: {0: 0.1, 90: 1}}}
  late: stats.late
  plates: plates
""")
    assert [node.name for node in net.nodes] == ["stats", "jams", "fan", "both", "plates", "charge"]
    assert net.inputs[1] == Input("cars", au.static("cars", "vid int, plate string").schema, static=True)
    assert net.named["jams"].group == ("statistics", "alarms")
    assert net.named["both"].sources == (Arrow("fan", "1"), Arrow("fan", "2"))
    assert net.named["plates"].box == Join(au.Order("time", 2), None, None, expr("left.vid = right.vid"))
    assert [str(output.arrow) for output in net.outputs] == ["jams.out", "stats.late", "plates.out"]
    assert net.outputs[0].qos.latency.utility(6) == 0.5
    assert au.loads(au.dumps(net)) == net


def test_every_box():
    on = au.Order("time")
    assert box("filter: mph > 60") == Filter(expr("mph > 60"))
    assert box("filter: true") == Filter(expr("true"))
    assert box("filter: [mph > 60, vid < 3 or vid > 9]") == Filter(expr("mph > 60 and (vid < 3 or vid > 9)"))
    assert box("route: [mph > 60, vid < 3]") == Route((expr("mph > 60"), expr("vid < 3")))
    assert box("map: {kph: mph * 1.6, one: 1, no: false}") == Map(
        (("kph", expr("mph * 1.6")), ("one", expr("1")), ("no", expr("false")))
    )
    assert box("map: {columns: mph}") == Map((("columns", expr("mph")),))
    assert box("map: {columns: {columns: mph}}") == Map((("columns", expr("mph")),))
    assert box("union: {}", "[reports, reports]") == Union(2)
    assert box("union: {on: time}", "[reports, reports]") == Union(2, "time")
    assert box("bsort: time") == BSort(on)
    assert box("bsort: {on: time, slack: 2, by: vid}") == BSort(au.Order("time", 2, ("vid",)))
    assert box("aggregate: {on: tup#, size: 2, partial: true, n: count(*)}").partial
    timed = box("aggregate: {on: time, size: 60, advance: 10, slack: 1, by: vid, timeout: 5 s, n: count(*)}")
    assert isinstance(timed, Aggregate)
    assert (timed.order, timed.size, timed.advance, timed.timeout) == (au.Order("time", 1, ("vid",)), 60, 10, "5 s")
    until = box("aggregate: {on: time, advance: mph = 0, n: count(*)}")
    assert (until.size, until.advance) == (None, expr("mph = 0"))
    clash = box('aggregate: {on: time, size: 60, functions: {size: "count(*)", on: max(mph)}}')
    assert [name for name, _ in clash.functions] == ["size", "on"]
    sided = box("join: {where: left.vid = right.vid, size: 5, on: [time, {on: time, by: [vid]}]}", "[reports, reports]")
    assert sided == Join(on, au.Order("time", 0, ("vid",)), 5, expr("left.vid = right.vid"))
    assert box("join: {size: 5, on: time}", "[reports, reports]") == Join(on, on, 5, None)
    resampled = box("resample: {on: time, size: 10, mph: avg(mph)}", "[reports, reports]")
    assert isinstance(resampled, Resample)
    assert (resampled.left, resampled.right, resampled.size) == (on, on, 10)
    tables = 'tables:\n  accounts: {schema: "vid int, size int, tab bigint", key: [vid]}\n'
    written = box("write: {table: accounts, columns: {size: mph}, tab: 1}", more=tables)
    assert isinstance(written, Write)
    assert sorted(name for name, _ in written.columns) == ["size", "tab"]


def test_reading_a_table():
    more = 'tables:\n  accounts: {schema: "vid int, balance bigint, tab int", key: vid}\n'
    made = au.loads(
        file(
            "  w: {write: {table: accounts, tab: 1}, from: reports}\n"
            "  a: {read: accounts, from: reports}\n"
            "  b: {read: {table: accounts, columns: [tab]}, from: reports}\n"
            "  c: {read: {table: accounts, columns: tab}, from: reports}",
            "  a: a\n  b: b\n  c: c",
            more,
        )
    )
    boxes = [made.named[name].box for name in "abc"]
    assert [box.columns for box in boxes if isinstance(box, Read)] == [(), ("tab",), ("tab",)]
    assert au.loads(au.dumps(made)) == made


def test_words_that_yaml_takes_for_something_else():
    net = au.loads("""
australis: 2
inputs:
  no: on int, yes int, at timestamp
boxes:
  off:
    aggregate: {on: on, size: 60, y: max(yes), n: count(*)}
    from: no
  1:
    filter: yes = 12
    from: no
outputs:
  y: off
  n: 1
""")
    assert [node.name for node in net.nodes] == ["off", "1"]
    assert net.named["off"].box.order == au.Order("on")
    assert au.loads(au.dumps(net)) == net


def test_a_file_is_written_as_people_write_it():
    net = traffic.network()
    text = au.dumps(net)
    assert "    aggregate: {on: time, by: [xway, seg], size: 60, cars: count(distinct vid), mph: avg(mph)}\n" in text
    assert "  jams: {from: jams, latency: {2: 1.0, 10: 0.0}}\n" in text
    assert au.loads(text) == net
    assert au.dumps(au.loads(text)) == text


def test_files(tmp_path):
    net = traffic.network()
    au.dump(net, tmp_path / "net.yaml")
    assert au.load(tmp_path / "net.yaml") == net
    with pytest.raises(au.NetworkError, match=r"nothing\.yaml: .*No such file"):
        au.load(tmp_path / "nothing.yaml")


NAMES = st.text("abc_-01", min_size=1, max_size=4)


@st.composite
def networks(draw):
    """Networks of a few boxes of many kinds, with names that are hard on YAML."""
    source = au.stream(draw(NAMES) + "_in", {"t": "int", "odd name": "string", draw(NAMES) + "_x": "double"})
    key = source.schema.names[2]
    streams, ends = [source], []
    for _ in range(draw(st.integers(0, 5))):
        stream = draw(st.sampled_from(streams))
        groups = draw(st.lists(NAMES, max_size=2))
        made = draw(
            st.sampled_from(
                [
                    "filter",
                    "fan",
                    "map",
                    "union",
                    "bsort",
                    "aggregate",
                    "join",
                    "resample",
                    "watch",
                    "distinct",
                    "signal",
                ]
            )
        )
        slack, by, size = (
            draw(st.integers(0, 3)),
            draw(st.sampled_from([(), (key,), "odd name"])),
            draw(st.integers(1, 9)),
        )
        column = draw(
            st.sampled_from(["on", "size", "by", "columns", "functions", "where", "x_y", "no", "null", "from"])
        )
        text = draw(st.sampled_from(["'a: b'", "'#'", "'{, }'", "'it''s'", "'yes'", "' '", "''", '"odd name"']))
        with au.group(groups[0] if groups else "g"), au.group(groups[1] if len(groups) > 1 else "h"):
            match made:
                case "filter":
                    streams.append(stream.filter(f'"odd name" = {text}'))
                case "fan":
                    streams.extend(stream.route(f"t > {size}", f"t = {slack}"))
                case "map":
                    streams.append(stream.map({"t": "t", "odd name": f"concat({text}, '')", key: f'"{key}"'}))
                    ends.append(stream.map({column: f"t + {size}"}))
                case "union":
                    streams.append(stream.union(stream, stream, on=draw(st.sampled_from(["", "t"]))))
                case "bsort":
                    streams.append(stream.bsort("t", slack, by))
                case "aggregate":
                    advance = draw(st.sampled_from([None, size, f"t = {size}"]))
                    ends.append(stream.aggregate({column: "count(*)"}, on="t", size=size, advance=advance, by=by))
                case "join":
                    pair = [au.order("t", slack, by), draw(st.sampled_from(["t", au.order("t", slack, by)]))]
                    ends.append(stream.join(stream, f"left.t = {size}", on=pair, size=size))
                case "resample":
                    ends.append(
                        stream.resample(stream, {column: "count(*)"}, on=["t", au.order("t", by=by)], size=size)
                    )
                case "watch":
                    asked = au.stream("asked", "query int, kind string, x double, y double, radius double")
                    carry, where = draw(st.sampled_from([(), "odd name"])), {column: f"t > {size}"}
                    ends.append(
                        stream.moving.watch(asked, id="t", x=key, y=key, carry=carry, where=where, time="t", timeout=3)
                    )
                case "signal":
                    windows = stream.signal.window(
                        key, "t", size, draw(st.sampled_from([8, 0.5, "30/7"])), by="odd name"
                    )
                    low = draw(st.sampled_from([None, -1.5, 0]))
                    ranges = windows.signal.rerate(size + 1, size, by="odd name").signal.trigger(
                        slack, low, by="odd name"
                    )
                    both = ranges.signal.sync(windows, by="odd name").signal.rewindow(size, slack, by="odd name")
                    others = windows.map({"odd name": '"odd name"', "other": f'"{key}"'})
                    zipped = both.signal.zip(others, by="odd name", size=slack)
                    smooth = both.signal.lfilter([1, 0.5 * slack], by="odd name")
                    ends.append(zipped.signal.correlate("other", into="c"))
                    ends.append(smooth.signal.stats("std", columns={column: "trimpeak(0.5)"}))
                    ends.append(both.signal.spectrogram(size, by="odd name").signal.wavelet(size, column=key))
                case "distinct":
                    ends.append(stream.moving.distinct(by or "odd name", sign="t"))
    worth = draw(st.none() | st.just({0.5: 1.0, 10: 0.25}))
    return au.network({f"out{i}": each.output(latency=worth) for i, each in enumerate([*streams, *ends])})


@given(networks())
def test_what_is_written_is_read_back_the_same(net):
    assert au.loads(au.dumps(net)) == net


WRONG = {
    "bad yaml": ("a: [1, 2\nb: 3", r"^f\.yaml, line 2, column 2: .*expected"),
    "a tab": ("a:\n\tb: 1", r"^f\.yaml, line 2, column 1: "),
    "nothing": ("", r"^f\.yaml, line 1: a mapping with the keys australis, inputs.*goes here, not None"),
    "a list": ("- a", r"^f\.yaml, line 1: a mapping with the keys"),
    "a key twice": (
        file("  a: {filter: mph > 1, from: reports}\n  a: {filter: mph > 2, from: reports}"),
        r"^f\.yaml, line 6, column 3: the key `a` stands here again; it is in line 5 too",
    ),
    "a python object": (
        file("  a: !!python/object/apply:os.system [ls]"),
        r"^f\.yaml, line 5, column 6: .*constructor",
    ),
    "an unknown key": (
        HEAD + "box: {}\noutputs: {out: reports}",
        r"^f\.yaml, line 4: there is no key `box`; the keys are .*; did you mean `boxes`",
    ),
    "a missing key": (HEAD, r"^f\.yaml, line 1: the key `outputs` is missing"),
    "no version": ("inputs: {a: t int}\noutputs: {b: a}", "the key `australis` is missing"),
    "another version": (
        "australis: 3\ninputs: {a: t int}\noutputs: {b: a}",
        r"^f\.yaml, line 1: .*`australis: 2`, not 3$",
    ),
    "an older version": (
        "australis: 1\ninputs: {a: t int}\noutputs: {b: a}",
        r"^f\.yaml, line 1: .*`australis: 2`, not 1; since then a list under `filter` .* write `route`",
    ),
    "a wrong schema": ("australis: 2\ninputs:\n  a: t inr\noutputs: {b: a}", r"^f\.yaml, line 3: input a: .*inr"),
    "an input of another form": (
        "australis: 2\ninputs:\n  a: {statik: t int}\noutputs: {b: a}",
        r"^f\.yaml, line 3: input a: there is no key `statik`; .*did you mean `static`",
    ),
    "a table's key": (
        file("  a: {filter: mph > 1, from: reports}", more='tables:\n  t: {schema: "vid int", key: vdi}\n'),
        r"^f\.yaml, line 5: table t: the key vdi is no column; there are vid; did you mean `vid`",
    ),
    "a box that is no mapping": (
        file("  a: reports"),
        r"^f\.yaml, line 5: box a: a mapping with `from` and one of aggregate, bsort",
    ),
    "an unknown box": (
        file("  a:\n    fliter: mph > 1\n    from: reports"),
        r"^f\.yaml, line 6: box a: there is no key `fliter`; the keys are .*did you mean `filter`",
    ),
    "two kinds": (
        file("  a:\n    filter: mph > 1\n    map: {x: mph}\n    from: reports"),
        r"^f\.yaml, line 5: box a: it has one kind; given are filter, map of aggregate, bsort, filter",
    ),
    "no kind": (file("  a:\n    from: reports"), r"^f\.yaml, line 5: box a: it has one kind; given are none"),
    "no from": (file("  a:\n    filter: mph > 1"), r"^f\.yaml, line 5: filter a: the key `from` is missing"),
    "an arrow that is none": (file("  a:\n    filter: mph > 1\n    from: {x: y}"), r"filter a: an arrow comes from"),
    "wrong arity": (
        file("  a:\n    join: {on: time, size: 5}\n    from: reports"),
        r"^f\.yaml, line 7: join a: takes 2 inputs, is given reports",
    ),
    "a source that is not there": (
        file("  a:\n    filter: mph > 1\n    from: report"),
        r"^f\.yaml, line 7: filter a: there is no input or box report; .*did you mean `reports`",
    ),
    "a port that is not there": (
        file("  a:\n    filter: mph > 1\n    from: reports", "  out: a.rset"),
        r"^f\.yaml, line 9: output out: a has no port rset; it has out, rest; did you mean `rest`",
    ),
    "a wrong expression": (
        file("  a:\n    filter: mhp > 1\n    from: reports"),
        r"^f\.yaml, line 6: filter a: `mhp > 1`: there is no column `mhp`; did you mean `mph`",
    ),
    "a missing argument": (
        file("  a:\n    aggregate: {size: 60, n: count(*)}\n    from: reports"),
        r"^f\.yaml, line 6: aggregate a: the key `on` is missing; the keys are on, size",
    ),
    "an argument of a wrong type": (
        file("  a:\n    bsort: {on: time, slack: many}\n    from: reports"),
        r"^f\.yaml, line 6: bsort a: `slack` is a whole number, not 'many'",
    ),
    "an unknown argument": (
        file("  a:\n    bsort: {on: time, slak: 2}\n    from: reports"),
        r"^f\.yaml, line 6: bsort a: there is no key `slak`; .*did you mean `slack`",
    ),
    "a misspelt argument beside functions": (
        file("  a:\n    aggregate: {on: time, sise: 60, n: count(*)}\n    from: reports"),
        r"^f\.yaml, line 6: aggregate a: `sise=60` is neither an argument nor .* arguments are .*did you mean `size`",
    ),
    "a missing size": (
        file("  a:\n    aggregate: {on: time, n: count(*)}\n    from: reports"),
        r"^f\.yaml, line 5: aggregate a: give `size`",
    ),
    "a text with a comma between braces": (
        file("  a:\n    map: {x: coalesce(mph, 0), y: 1}\n    from: reports"),
        r"^f\.yaml, line 6: map a: `0\)` has no value; between \{ and \} a text with a comma needs quotes",
    ),
    "an order of another form": (
        file("  a:\n    join: {on: [time, {onn: time}], size: 5}\n    from: [reports, reports]"),
        r"^f\.yaml, line 6: join a: `on`: there is no key `onn`; .*did you mean `on`",
    ),
    "three orders": (
        file("  a:\n    join: {on: [time, time, time], size: 5}\n    from: [reports, reports]"),
        r"^f\.yaml, line 5: join a: `on` is one order, or a pair",
    ),
    "a size that is no length": (
        file("  a:\n    aggregate: {on: time, size: 1 minuet, n: count(*)}\n    from: reports"),
        r"^f\.yaml, line 5: aggregate a: `1 minuet` is not a duration",
    ),
    "a table that is not there": (
        file(
            "  a:\n    write: {table: acounts, tab: 1}\n    from: reports",
            more='tables:\n  accounts: {schema: "vid int, tab int", key: vid}\n',
        ),
        r"^f\.yaml, line 8: write a: there is no table acounts; there are accounts; did you mean `accounts`",
    ),
    "a function that is not there": (
        file("  a:\n    map: {x: my_own(mph)}\n    from: reports"),
        r"^f\.yaml, line 6: map a: .*there is no function `my_own`; .*@au\.function.*--functions module\.py",
    ),
    "a group of no box": (
        file("  a:\n    filter: mph > 1\n    from: reports", more="groups:\n  g: [aa]\n"),
        r"^f\.yaml, line 5: group g: there is no box aa; there are a; did you mean `a`",
    ),
    "a box in two groups": (
        file("  a:\n    filter: mph > 1\n    from: reports", more="groups:\n  g: [a]\n  h: [a]\n"),
        r"group . *: box a is in group . already",
    ),
    "a group that is no list": (
        file("  a:\n    filter: mph > 1\n    from: reports", more="groups:\n  g: a\n"),
        r"^f\.yaml, line 5: group g: a list of boxes.*not 'a'",
    ),
    "an output's graph": (
        file("  a:\n    filter: mph > 1\n    from: reports", "  out: {from: a, latency: {2: 0, 9: 1}}"),
        r"^f\.yaml, line 9: output out: a latency graph never rises",
    ),
    "an output's key": (
        file("  a:\n    filter: mph > 1\n    from: reports", "  out: {from: a, latancy: {2: 1, 9: 0}}"),
        r"^f\.yaml, line 9: output out: there is no key `latancy`; .*did you mean `latency`",
    ),
    "a box that leads nowhere": (
        file("  a:\n    filter: mph > 1\n    from: reports\n  b: {filter: mph > 2, from: reports}"),
        r"^f\.yaml, line 8: box b reaches no output",
    ),
    "a cycle": (
        file("  a:\n    union: [reports, b]\n  b:\n    filter: mph > 1\n    from: a"),
        r"^f\.yaml.*: the arrows form a cycle: a -> b -> a",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_mistakes_name_the_file_the_line_the_box_and_what_there_is(what):
    text, told = WRONG[what]
    with pytest.raises(au.AustralisError, match=f"(?s){told}"):
        netfile.loads(text, "f.yaml")


def test_names_are_checked_in_files_too():
    with pytest.raises(au.NetworkError, match="box 'a b': a name is made of"):
        au.loads(file("  a b: {filter: mph > 1, from: reports}", "  out: a b"))


def test_networks_of_the_api_and_of_files_are_the_same():
    reports = au.stream("reports", "time int, vid int, mph int, xway int, seg int")
    fast = reports.filter("mph > 60", box="a")
    assert au.network(out=fast) == au.loads(file("  a: {filter: mph > 60, from: reports}"))


def test_a_network_without_boxes():
    net = Network((Input("a", au.stream("a", "t int").schema),), (), (Output("b", Arrow("a")),))
    assert au.loads(au.dumps(net)) == net
