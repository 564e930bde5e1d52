"""The network of boxes, against the oracle that goes one tuple at a time."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from australis.apps.linear_road.answers import EMIT, LINES
from australis.apps.linear_road.network import network
from australis.apps.linear_road.record import INPUT
from tests.apps.linear_road.validation.test_validate import SPEEDS, feeds
from tests.oracles.linear_road import Past, Road, Row


def answers(rows: list[Row], past: Past | None, train: int = 1 << 16) -> list[tuple[object, ...]]:
    """All answers of the network, as lines with Time for Emit."""
    columns = list(zip(*rows, strict=True)) or [()] * len(INPUT)
    sent = pa.record_batch([pa.array(each, field.type) for each, field in zip(columns, INPUT, strict=True)], INPUT)
    given = network(past).run_local(sent=sent, train=train)
    return sorted(
        line
        for name, fields in LINES.items()
        for line in zip(*(given[name]["time" if each == EMIT else each].to_pylist() for each in fields), strict=True)
    )


def nearest(line: tuple[object, ...]) -> tuple[object, ...]:
    """An answer with its estimates in whole numbers."""
    return tuple(int(value + 0.5) if isinstance(value, float) and value > 0 else value for value in line)


@given(rows=feeds(), past=st.sampled_from([None, SPEEDS]))
def test_the_network_answers_as_the_oracle_does(rows: list[Row], past: Past | None) -> None:
    ordered = sorted(rows, key=lambda row: row.time)
    assert answers(ordered, past) == sorted(map(nearest, Road(ordered, past).answers()))


@given(rows=feeds(), train=st.integers(1, 40))
def test_answers_do_not_depend_on_how_the_stream_is_cut(rows: list[Row], train: int) -> None:
    ordered = sorted(rows, key=lambda row: row.time)
    assert answers(ordered, None, train) == answers(ordered, None)
