"""Rows of filters, and those of them that are counted together."""

import numpy as np

import australis as au
from australis.model.network import Arrow
from australis.plan.rules.rows import counted_filters, filter_rows
from australis.plan.rules.wiring import Wiring
from tests.plan.rules.agreement import A, net

ROWS = net(
    """f: a -> filter: mph > 1
    g: f -> filter: x > 1
    m: g -> map: {u: mph, v: x, big: big}
    h: m -> filter: u > 2
    i: h -> filter: big * big > 5
    j: i -> filter: v > 2
    k: a -> filter: vid = 1
    l: k -> filter: mph > 7""",
    p="j",
    q="l",
    r="k",
)


COUNTED = {"f": [["f", "g"]], "h": [["h", "j"]]}


def names(rows):
    return [[node.name for node in row] for row in rows]


def test_filters_that_nothing_comes_between_are_a_row():
    assert names(filter_rows(Wiring(ROWS))) == [["f", "g"], ["h", "i", "j"], ["k"], ["l"]]
    fixed = Wiring(ROWS, [Arrow("i", "out")])
    assert names(filter_rows(fixed)) == [["f", "g"], ["h"], ["j"], ["k"], ["l"]]


def test_filters_that_cannot_fail_are_counted_together():
    counted = {first: names(groups) for first, groups in counted_filters(ROWS).items()}
    assert counted == COUNTED


@au.function("double")
def of_its_train(x):
    return np.full(len(x), float(len(x)))


def test_a_function_that_is_not_pure_ends_a_row():
    drawn = net("f: a -> filter: mph > 1\ng: f -> filter: of_its_train(x) > 1\nh: g -> filter: x > 1", p="h")
    assert names(filter_rows(Wiring(drawn))) == [["f"], ["h"]]


def test_long_rows_are_counted_in_parts_whatever_their_order():
    def row(order):
        stream = A
        for number in order:
            stream = stream.filter(f"mph > {number}", box=f"f{number}")
        return counted_filters(au.network(out=stream))

    (one,) = row(range(1, 10)).values()
    (two,) = row(range(9, 0, -1)).values()
    assert names(one) == names(two) == [["f1", "f2", "f3", "f4", "f5", "f6"], ["f7", "f8", "f9"]]
