"""Stored tables, as tasks read them."""

import australis as au
from australis.plan.stored import static_sides

REPORTS = au.stream("reports", "vid int, mph int")
CARS = au.static("cars", "vid int, plate string")


def test_inputs_that_are_stored_or_made_of_stored_tables_alone() -> None:
    plates = CARS.filter("plate <> ''", box="plates")
    named = REPORTS.join(plates, "left.vid = right.vid", box="named")
    net = au.network(out=named.filter("mph > 60", box="fast"), plates=plates)
    assert {name: static_sides(net, node) for name, node in net.named.items()} == {
        "plates": [0],
        "named": [1],
        "fast": [],
    }
