"""Charts: a table, and a plot of it."""

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from australis.bench.moving_chart import Chart, Panel, _power, _short

CHART = Chart("sizes", "12", "How large", ("n", "one", "two"), [(1, 0.12345, 1e6), (10, 1.0, 2e6)],
              [Panel("first", ["one", "two"], scale="xy"), Panel("second", ["two"], over="one")])  # fmt: skip


def test_a_table_has_short_numbers() -> None:
    out = StringIO()
    CHART.show(Console(file=out, width=80))
    lines = [line.split() for line in out.getvalue().splitlines()]
    assert ["1", "0.123", "1,000,000"] in lines
    assert "How large (figure 12)" in out.getvalue()


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (999.9, "1e+03"), (-1000, "-1,000"), (0.000123456, "0.000123")])
def test_numbers_are_short(value: float, text: str) -> None:
    assert _short(value) == text


@pytest.mark.parametrize(("value", "text"), [(1, "1"), (20, "20"), (0.05, "0.05"), (3, ""), (1e6, "1e+06"), (70, "")])
def test_some_of_each_power_are_labelled(value: float, text: str) -> None:
    assert _power(value, 0) == text


def test_the_plot_is_a_file_and_the_record_has_all(tmp_path: Path) -> None:
    path = CHART.draw(tmp_path / "plots")
    assert path == tmp_path / "plots" / "moving_sizes.png"
    assert path.read_bytes().startswith(b"\x89PNG")
    assert CHART.record() == {"figure": "12", "title": "How large", "columns": ["n", "one", "two"], "rows": CHART.rows}
