"""What makes a network valid."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import australis as au
from australis.api.network import Network
from australis.arrow.schema import schema
from australis.boxes import Aggregate, BSort, Filter, Join, Map, Read, Union, Write
from australis.expressions import expr
from australis.expressions.aggregate import aggregation
from australis.model.network import Arrow, Input, Output
from australis.model.order import Order
from australis.model.parameters import keyed
from australis.model.qos import qos
from tests.model.test_network import ACCOUNTS, CARS, CHARGE, FAST, REPORTS, net, node

STATS = Aggregate((("n", aggregation("count(*)")),), Order("time"), 60, 60)
WRONG = {
    "a name that is no name": (lambda: net(node("too fast", FAST, "reports")), "box 'too fast': .*letters, digits"),
    "an empty name": (lambda: net(node("", FAST, "reports")), "box '': a name is made of"),
    "a group's name": (lambda: net(node("fast", FAST, "reports", group=("a b",))), "group 'a b': a name"),
    "two boxes of one name": (
        lambda: net(node("fast", FAST, "reports"), node("fast", FAST, "reports")),
        "2 boxes are named fast",
    ),
    "two inputs of one name": (lambda: net(node("fast", FAST, "reports"), inputs=(REPORTS, REPORTS)), "2 inputs are"),
    "a box named as an input": (lambda: net(node("reports", FAST, "reports")), "box reports: an input has that name"),
    "an output named as an input": (
        lambda: net(node("fast", FAST, "reports"), outputs={"reports": "fast"}),
        "output reports: an input has",
    ),
    "no output": (lambda: net(node("fast", FAST, "reports"), outputs={}), "at least one output"),
    "an arrow from nowhere": (
        lambda: net(node("fast", FAST, "report")),
        "filter fast: there is no input or box report; there are reports, fast; did you mean `reports`",
    ),
    "an output from nowhere": (
        lambda: net(node("fast", FAST, "reports"), outputs={"out": "fats"}),
        "output out: there is no input or box fats; there are reports, fast; did you mean `fast`",
    ),
    "a port that is not there": (
        lambda: net(node("fast", FAST, "reports"), node("slow", FAST, "fast.rset")),
        "filter slow: fast has no port rset; it has out, rest; did you mean `rest`",
    ),
    "an output's port that is not there": (
        lambda: net(node("fast", FAST, "reports"), outputs={"out": "fast.2"}),
        "output out: fast has no port 2",
    ),
    "too few inputs": (lambda: net(node("both", Union(2), "reports")), "union both: takes 2 inputs, is given reports"),
    "too many inputs": (
        lambda: net(node("fast", FAST, "reports", "reports")),
        "filter fast: takes 1 input, is given reports, reports",
    ),
    "a cycle": (
        lambda: net(node("a", Union(2), "reports", "c"), node("b", FAST, "a"), node("c", FAST, "b")),
        "the arrows form a cycle: a -> b -> c -> a",
    ),
    "a box on itself": (lambda: net(node("a", Union(2), "reports", "a")), "cycle: a -> a"),
    "a schema that does not fit": (
        lambda: net(node("fast", Filter(expr("mhp > 60")), "reports")),
        "filter fast: `mhp > 60`: there is no column `mhp`; did you mean `mph`.*time, vid, mph",
    ),
    "an order that does not fit": (
        lambda: net(node("sorted", BSort(Order("tiem")), "reports")),
        "bsort sorted: .*`tiem`.*did you mean `time`",
    ),
    "a box that leads nowhere": (
        lambda: net(node("idle", FAST, "reports"), node("fast", FAST, "reports")),
        "box idle reaches no output",
    ),
    "boxes that lead nowhere": (
        lambda: net(node("a", FAST, "reports"), node("b", FAST, "a"), node("fast", FAST, "reports")),
        "boxes a, b reach no output",
    ),
    "an input that nobody uses": (
        lambda: net(node("fast", FAST, "reports"), inputs=(REPORTS, CARS)),
        "input cars: no box or output uses it",
    ),
    "a table without a writer": (
        lambda: net(node("look", Read(ACCOUNTS, ()), "reports"), tables=(ACCOUNTS,)),
        "table accounts: no box of the network writes it",
    ),
    "a table that is not declared": (
        lambda: net(
            node("charge", CHARGE, "reports"),
            node("look", Read(replace(ACCOUNTS, name="acounts"), ()), "reports"),
            tables=(ACCOUNTS,),
        ),
        "read look: there is no table acounts; there are accounts; did you mean `accounts`",
    ),
    "a table with two writers": (
        lambda: net(node("a", CHARGE, "reports"), node("b", CHARGE, "reports"), tables=(ACCOUNTS,)),
        "table accounts: written by the boxes a, b; a table has one writer: union the streams first",
    ),
    "a table declared in two ways": (
        lambda: net(node("a", CHARGE, "reports"), tables=(keyed("accounts", "vid int, balance int", "vid"),)),
        "write a: table accounts is declared in another way too",
    ),
    "a reader before the writer": (
        lambda: net(
            node("look", Read(ACCOUNTS, ()), "reports"),
            node("apart", Map((("vid", expr("vid")), ("mph", expr("mph")))), "look"),
            node("charge", CHARGE, "apart"),
            tables=(ACCOUNTS,),
        ),
        "read look: reads table accounts upstream of the box charge, which writes it; use `old.`",
    ),
    "a stream without an order in a join": (
        lambda: net(node("pairs", Join(None, Order("time"), None, None), "reports", "reports")),
        "join pairs: its left side, reports.out, is a stream and needs an order",
    ),
    "a static table with an order in a join": (
        lambda: net(
            node("pairs", Join(Order("time"), Order("vid"), 5, None), "reports", "cars"), inputs=(REPORTS, CARS)
        ),
        "join pairs: its right side, cars.out, is a static table and has no order",
    ),
    "a value graph of no column": (
        lambda: Network((REPORTS,), (), (Output("out", Arrow("reports"), qos(value={"mhp": {0: 0, 9: 1}})),)),
        "output out: its value graph is about mhp, .*there are time, vid, mph; did you mean `mph`",
    ),
    "a value graph of a text": (
        lambda: Network(
            (replace(CARS, static=False),), (), (Output("out", Arrow("cars"), qos(value={"plate": {0: 0, 9: 1}})),)
        ),
        "output out: its value graph is about plate, a string, and needs a number",
    ),
}


def test_arrows_from_a_main_port_get_its_name():
    made = net(node("fast", FAST, "reports"), node("again", FAST, "fast"))
    assert made.nodes[1].sources == (Arrow("fast", "out"),)
    assert made.outputs[0].arrow == Arrow("again", "out")
    assert made.nodes[0].sources == (Arrow("reports", "out"),)
    assert [made.render_arrow(Arrow("fast", port)) for port in ("out", "rest")] == ["fast", "fast.rest"]


@given(st.permutations(range(6)))
def test_boxes_are_put_in_an_order_in_which_they_can_run(order):
    chain = [node(f"b{i}", FAST, f"b{i - 1}" if i else "reports") for i in range(6)]
    made = net(*(chain[i] for i in order), outputs={"out": "b5"})
    assert [n.name for n in made.nodes] == [f"b{i}" for i in range(6)]


@given(st.permutations("abcdef"))
def test_boxes_that_do_not_depend_on_each_other_stay_as_they_are_given(names):
    made = net(*(node(name, FAST, "reports") for name in names), outputs={f"out_{name}": name for name in names})
    assert [n.name for n in made.nodes] == names
    assert Network(made.inputs, made.nodes, made.outputs, made.tables) == made


def test_a_reader_comes_after_the_writer_of_its_table():
    asked = Input("asked", schema("vid int"))
    made = net(
        node("look", Read(ACCOUNTS, ()), "asked"),
        node("charge", CHARGE, "reports"),
        inputs=(REPORTS, asked),
        outputs={"out": "look"},
        tables=(ACCOUNTS,),
    )
    assert [n.name for n in made.nodes] == ["charge", "look"]


@pytest.mark.parametrize("what", WRONG)
def test_mistakes_name_the_box_and_what_there_is(what):
    make, told = WRONG[what]
    with pytest.raises(au.AustralisError, match=told):
        make()


def test_two_tables_that_wait_for_each_other_are_told():
    other = keyed("others", "vid int, count bigint", "vid")
    with pytest.raises(au.NetworkError, match=r"reads table .* upstream of"):
        net(
            node("a", Read(ACCOUNTS, ()), "reports"),
            node("b", Write(other, (("count", expr("1")),)), "a"),
            node("c", Read(other, ()), "reports"),
            node("d", CHARGE, "c"),
            outputs={"x": "b", "y": "d"},
            tables=(ACCOUNTS, other),
        )


def test_static_tables_stay_static_through_boxes_without_windows():
    made = net(
        node("known", Filter(expr("vid > 0")), "cars"),
        node("pairs", Join(Order("time"), None, None, expr("left.vid = right.vid")), "reports", "known"),
        inputs=(REPORTS, CARS),
    )
    assert [n.name for n in made.nodes] == ["known", "pairs"]
    with pytest.raises(au.NetworkError, match=r"right side, sorted\.out, is a stream"):
        net(
            node("sorted", BSort(Order("vid")), "cars"),
            node("pairs", Join(Order("time"), None, None, expr("left.vid = right.vid")), "reports", "sorted"),
            inputs=(REPORTS, CARS),
        )


def test_a_write_may_end_a_branch():
    made = net(node("charge", CHARGE, "reports"), node("fast", FAST, "reports"), tables=(ACCOUNTS,))
    assert len(made.nodes) == 2
