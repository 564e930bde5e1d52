"""What streams of objects and of queries must have."""

import pytest

from australis.arrow.schema import schema
from australis.boxes.moving import Watch
from australis.errors import AustralisError
from australis.expressions import expr
from tests.boxes.moving.test_watch import OBJECTS, QUERIES


@pytest.mark.parametrize(
    ("box", "objects", "queries", "message"),
    [
        (Watch(id="vid"), OBJECTS, QUERIES, r"`vid`.*id, x, y"),
        (Watch(), "id string, x double, y double", QUERIES, r"`id`.*string.*whole number"),
        (Watch(), "id int, x string, y double", QUERIES, r"`x`.*string.*number"),
        (Watch(), OBJECTS, "query int, x int", r"lacks `kind`"),
        (Watch(), OBJECTS, "query int, kind int", r"`kind`.*int32.*text"),
        (Watch(), OBJECTS, "query int, kind string, k double", r"`k`.*double.*whole"),
        (Watch(), OBJECTS, "query int, kind string, x string", r"`x`.*string.*number"),
        (Watch(timeout=3), OBJECTS, QUERIES, r"`timeout`.*`time`"),
        (Watch(timeout="3 ms", time="time"), OBJECTS, QUERIES, r"3 ms is no whole number of seconds, as `time`"),
        (Watch(cache=2.0, speed=1.0, timeout=1, time="time"), OBJECTS, QUERIES, r"`cache`.*2.0"),
        (Watch(cache=1.0), OBJECTS, QUERIES, r"`speed` and `timeout`"),
        (Watch(conditions=(("heavy", expr("mass > 3")),)), OBJECTS, QUERIES, r"`mass`"),
        (Watch(conditions=(("heavy", expr("time + 3")),)), OBJECTS, QUERIES, r"heavy.*`time \+ 3`.*int"),
        (Watch(carry=("colour",)), OBJECTS, QUERIES, r"`colour`"),
        (Watch(carry=("id",)), OBJECTS, QUERIES, r"two columns `id`"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_when_a_network_is_built(
    box: Watch, objects: str, queries: str, message: str
) -> None:
    with pytest.raises(AustralisError, match=message):
        box.outputs(schema(objects), schema(queries))
