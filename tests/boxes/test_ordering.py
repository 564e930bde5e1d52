"""What the order of an input lets an optimizer do."""

from dataclasses import dataclass

from australis.arrow.schema import schema
from australis.boxes.ordering import columns_of, never_late, takes_whole_groups
from australis.expressions import expr
from australis.model.ascent import Disorder
from australis.model.order import Order

STREAM = schema("t int, seg int, x double")


@dataclass(frozen=True)
class Known:
    """A stream that ascends on one column, whatever the groups."""

    ascends: str
    schema = STREAM
    stored = False

    def disorder(self, column: str, by: object) -> Disorder | None:
        return None if column == self.ascends else Disorder(f"{column} is in any order")


def test_the_columns_of_an_order() -> None:
    assert columns_of(Order("t", by=("seg",))) == {"t", "seg"}
    assert columns_of(Order("tup#", by=("seg",))) == {"seg"}


def test_a_predicate_on_the_groups_takes_them_whole_unless_zeros_differ() -> None:
    order = Order("t", by=("seg", "x"))
    assert takes_whole_groups(order, expr("seg > 1"), STREAM)
    assert not takes_whole_groups(order, expr("seg > t"), STREAM)
    assert not takes_whole_groups(order, expr("1 / x > 0"), STREAM)  # true of 0.0, and false of -0.0


def test_tuples_that_are_counted_or_ascend_are_never_late() -> None:
    assert never_late(Order("tup#"), Known(""))
    assert never_late(Order("t"), Known("t"))
    assert not never_late(Order("t"), Known("seg"))
