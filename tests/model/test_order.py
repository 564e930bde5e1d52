"""Order specifications (Aurora 5.2.2)."""

from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.boxes.join.join import Join
from australis.expressions import expr
from australis.model.order import Order
from australis.testing import Cut, cuts, train
from tests.oracles.order import Order as Arriving
from tests.oracles.running import run
from tests.oracles.tuples import Stream, passed, stream_of, streams

STREAMS = streams(a=st.none() | st.integers(-2, 5), g=st.none() | st.sampled_from("xy"))


@given(STREAMS, st.integers(0, 4), st.sampled_from([(), ("g",)]), cuts())
def test_late_is_what_more_than_slack_larger_tuples_precede(
    stream: Stream, slack: int, by: tuple[str, ...], cut: Cut
) -> None:
    arriving = Arriving("a", slack, by)
    late = [each for each in stream if arriving.arrive(each) is None]
    box = Join(Order("a", slack, by), Order("b"), 0, expr("false"))
    got = run(box, [stream_of("a int, g string", stream), train("b int", b=[])], cut)
    assert got == ([], passed(late), [])


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(0, 3))
def test_more_slack_makes_fewer_tuples_late(values: list[int], slack: int) -> None:
    def late(slack: int) -> set[int]:
        box = Join(Order("a", slack), Order("b"), 0, None)
        return {number for _, _, number in run(box, [train("a int", a=values), train("b int", b=[])])[1]}

    assert late(slack + 1) <= late(slack)
    assert late(len(values)) == set()


def test_an_order_says_itself() -> None:
    assert str(Order("time", 2, ("sid", "k"))) == "on time, slack 2, by sid, k"
    assert str(Order("time")) == "on time"


def test_the_attribute_of_arrival_numbers_has_a_name_of_its_own() -> None:
    assert (Order("tup#").attribute, Order("time").attribute) == ("tup", "time")
    assert str(Order("tup#").check(schema("a int"))) == "int64"
