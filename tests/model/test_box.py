"""What all boxes have."""

import gc
from dataclasses import dataclass

import pyarrow as pa

from australis.arrow.schema import schema
from australis.boxes import Filter
from australis.expressions import expr
from australis.model.box import bound, lost, unchanged

CALLS: list[list[str]] = []


@dataclass(frozen=True)
class Counting:
    """A box whose calls are counted."""

    name: str

    @bound
    def columns(self, *inputs: pa.Schema) -> list[str]:
        CALLS.append([self.name, *(name for stream in inputs for name in stream.names)])
        return CALLS[-1][1:]


def test_a_result_is_kept_for_each_box_until_the_schemas_change() -> None:
    CALLS.clear()
    one, other = Counting("one"), Counting("one")
    a, b = schema("a int"), schema("b int")
    assert [one.columns(a, b), one.columns(a, b), one.columns(schema("a int"), b)] == [["a", "b"]] * 3
    assert len(CALLS) == 1
    assert other.columns(a, b) == ["a", "b"]
    assert one.columns(a, schema("b bigint")) == ["a", "b"]
    assert one.columns(a, b) == ["a", "b"]
    assert len(CALLS) == 4
    assert one == other


def test_what_is_kept_goes_with_its_box() -> None:
    CALLS.clear()
    for turn in range(50):  # a new box may lie where an old one was
        assert Counting(str(turn)).columns(schema(f"c{turn} int")) == [f"c{turn}"]
    gc.collect()
    assert len(CALLS) == 50


def test_ports_of_tuples_that_were_lost() -> None:
    assert [lost(port) for port in ("late", "late_left", "refused_reports", "out", "", "later", "_late")] == [
        "late", "late", "refused", "", "", "", "",
    ]  # fmt: skip


def test_late_tuples_pass_as_they_came() -> None:
    left, right = schema("a int"), schema("b int, c int")
    box = Filter(expr("a > 1"))
    assert super(Filter, box).passes("late", left) == {0: {"a": "a"}}
    assert super(Filter, box).passes("late_left", left, right) == {0: {"a": "a"}}
    assert super(Filter, box).passes("late_right", left, right) == {1: unchanged(right)}
    assert super(Filter, box).passes("out", left) == {}
    assert unchanged(right) == {"b": "b", "c": "c"}
