"""The order of a selection and INSIDE, by cost (SOLE 7.3)."""

import numpy as np
import pyarrow as pa
import pytest

import australis as au
from australis.boxes.moving import Ask
from australis.queries import Inside, Moving, cost, sql_network

CARS = "id int, x double, y double, type string, speed int"


def kinds(text: str, told: list[str] | None = None, sample: pa.RecordBatch | None = None) -> list[str]:
    heard = [] if told is None else told
    net = sql_network(text, {"cars": CARS}, sample=lambda _: sample, told=heard.append)
    return [node.box.kind for node in net.nodes]


def cars(trucks: float) -> pa.RecordBatch:
    n, rng = 1000, np.random.default_rng(1)
    types = np.where(np.arange(n) < trucks * n, "truck", "car")
    made = {"id": np.arange(n), "x": rng.random(n) * 10, "y": rng.random(n) * 10, "type": types, "speed": np.arange(n)}
    return pa.RecordBatch.from_pydict(made, schema=au.stream("cars", CARS).schema)


def test_a_selection_that_keeps_few_comes_first_and_one_that_keeps_all_last() -> None:
    text = "SELECT id FROM cars WHERE type = 'truck' INSIDE (0, 0, 5, 2)"
    assert kinds(text) == ["ask", "map"]
    assert kinds(text, sample=cars(0.05)) == ["ask", "map"]
    told: list[str] = []
    assert kinds(text, told, cars(1.0)) == ["ask", "filter", "map"]
    assert "`type = 'truck'` after INSIDE: " in told[0]
    assert "passes 1 (measured), INSIDE 0.099 (measured)" in told[0]


def test_what_costs_much_is_done_for_few() -> None:
    @au.function("boolean")
    def slow_test(speed: pa.Array) -> pa.Array:
        return pa.array([each is not None for each in speed.to_pylist()])

    text = "SELECT id FROM cars WHERE slow_test(speed) INSIDE (0, 0, 5, 2)"
    assert kinds(text) == ["ask", "filter", "map"]


def test_the_nearest_are_of_those_selected() -> None:
    assert kinds("SELECT id FROM cars WHERE speed > 3 kNN (2, 1, 1)", sample=cars(1.0)) == ["ask", "nearest", "map"]


def test_either_order_can_be_had() -> None:
    text = "SELECT id FROM cars WHERE type = 'truck' INSIDE (0, 0, 5, 2)"
    for first, only in (("selection", True), ("inside", False)):
        net = sql_network(text, {"cars": CARS}, moving=Moving(first=first))
        (ask,) = [node.box for node in net.nodes if isinstance(node.box, Ask)]
        assert (ask.only is not None) == only


@pytest.mark.parametrize(
    ("text", "part"),
    [("a = 1", 0.1), ("a > 1", 1 / 3), ("a > 1 and b = 2", 1 / 30), ("a = 1 or b = 2", 0.19), ("not a = 1", 0.9),
     ("a in (1, 2)", 0.2), ("a between 1 and 2", 0.25), ("c", 0.5)],
)  # fmt: skip
def test_what_a_condition_is_assumed_to_select(text: str, part: float) -> None:
    assert cost.selected(au.expr(text), None).value == pytest.approx(part)


def test_the_part_in_a_rectangle_is_measured() -> None:
    sample = cars(0.5)
    assert cost.inside(Inside(0, 0, 5, 2), Moving(), sample).value == pytest.approx(0.1, abs=0.03)
    around = cost.inside(Inside(-5, -5, 5, 5, focal=3), Moving(), sample)
    assert around.value == pytest.approx(0.75**2, abs=0.06)  # that two numbers up to 10 differ by 5 at most
    assert not cost.inside(Inside(0, 0, 5, 2), Moving(), None).measured
