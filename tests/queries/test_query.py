"""Queries as they are written, parsed."""

import pytest

from australis.queries.parse import parse
from australis.queries.query import Select


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("reports", "reports"),
        ("reports AS r", "r"),
        ("TUMBLE(TABLE reports, time, SIZE 60)", "reports"),
        ("TUMBLE(TABLE reports, time, SIZE 60) w", "w"),
        ("(SELECT * FROM reports)", ""),
        ("(SELECT * FROM reports) s", "s"),
    ],
)
def test_the_name_of_what_a_query_is_from(source: str, name: str) -> None:
    (statement,) = parse(f"SELECT * FROM {source}")
    (select,) = statement.query.selects
    assert isinstance(select, Select)
    assert select.first.name == name
