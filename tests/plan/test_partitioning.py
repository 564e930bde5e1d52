"""How boxes change the partitioning and the order of what passes through them."""

import pytest

from australis.arrow.schema import schema
from australis.boxes import Filter, Map, Union
from australis.expressions import expr
from australis.model.box import EVERYWHERE, OUT, Box, Key
from australis.plan.partitioning import (
    ANYHOW,
    COPIED,
    TOGETHER,
    Partitioning,
    output_order,
    output_partitioning,
)

STREAM = schema("time int, xway int, seg int")
FILTER = Filter(expr("seg > 0"))
RENAMED = Map((("time", expr("time")), ("way", expr("xway")), ("next", expr("seg + 1"))))
BY_WAY = Partitioning(("xway",))


def test_only_columns_are_columns() -> None:
    assert [each.columns for each in (ANYHOW, TOGETHER, COPIED, BY_WAY)] == [(), (), (), ("xway",)]
    assert COPIED.by == EVERYWHERE


@pytest.mark.parametrize(
    ("box", "before", "after"),
    [
        (FILTER, BY_WAY, BY_WAY),
        (FILTER, ANYHOW, ANYHOW),
        (FILTER, COPIED, COPIED),
        (RENAMED, BY_WAY, Partitioning(("way",))),
        (RENAMED, Partitioning(("xway", "time"), "reports"), Partitioning(("way", "time"), "reports")),
        (RENAMED, Partitioning(("xway", "seg")), ANYHOW),
    ],
)
def test_one_input(box: Box, before: Partitioning, after: Partitioning) -> None:
    assert output_partitioning(box, OUT, [STREAM], [before]) == after


@pytest.mark.parametrize(
    ("left", "right", "after"),
    [
        (BY_WAY, BY_WAY, BY_WAY),
        (BY_WAY, Partitioning(("seg",)), ANYHOW),
        (BY_WAY, Partitioning(("xway",), "reports"), ANYHOW),
        (BY_WAY, COPIED, ANYHOW),
        (COPIED, COPIED, ANYHOW),
    ],
)
def test_a_union_is_partitioned_if_all_its_inputs_are_alike(
    left: Partitioning, right: Partitioning, after: Partitioning
) -> None:
    assert output_partitioning(Union(2), OUT, [STREAM, STREAM], [left, right]) == after


@pytest.mark.parametrize(
    ("box", "before", "after"),
    [
        (FILTER, ("time", "seg"), ("time", "seg")),
        (FILTER, (), ()),
        (RENAMED, ("time", "xway"), ("time", "way")),
        (RENAMED, ("time", "seg", "xway"), ("time",)),
        (RENAMED, ("seg", "time"), ()),
    ],
)
def test_an_order_is_known_as_far_as_its_columns_pass(box: Box, before: Key, after: Key) -> None:
    assert output_order(box, OUT, [STREAM], [before]) == after


def test_a_union_has_the_order_on_which_its_inputs_agree() -> None:
    assert output_order(Union(2), OUT, [STREAM, STREAM], [("time",), ("time",)]) == ("time",)
    assert output_order(Union(2), OUT, [STREAM, STREAM], [("time",), ("seg",)]) == ()
