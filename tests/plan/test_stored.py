"""What is stored: boxes with state, boxes over stored tables, and tables that stay the same with other columns."""

import australis as au
from australis.plan.stored import same_tables, stateful, static_sides

REPORTS = au.stream("reports", "time int, vid int, seg int, mph int")
CARS = au.static("cars", "vid int, plate string")
SEEN = au.table("seen", "vid int, most int", key="vid")
NAMES = CARS.map(vid="vid", name="upper(plate)", box="names")
STATS = REPORTS.aggregate(on="time", size=60, by="seg", n="count(*)", box="stats")
JOINED = REPORTS.filter("mph > 3", box="moving").join(NAMES, "left.vid = right.vid", box="joined")
WRITTEN = REPORTS.write(SEEN, most="mph", box="written")
NET = au.network(
    stats=STATS, joined=JOINED, written=WRITTEN, read=REPORTS.read(SEEN, box="read"), all=NAMES.union(NAMES, box="all")
)


def test_boxes_with_tables_have_state_and_those_that_read_one_of_another_have_not() -> None:
    assert {node.name for node in NET.nodes if stateful(NET, node)} == {"stats", "joined", "written"}


def test_what_is_made_of_stored_tables_alone_is_stored() -> None:
    assert {node.name: sides for node in NET.nodes if (sides := static_sides(NET, node))} == {
        "names": [0],
        "joined": [1],
        "all": [0, 1],
    }


def test_tables_are_the_same_if_they_do_not_hold_the_columns_that_differ() -> None:
    whole, narrow = REPORTS.schema, au.stream("r", "time int, vid int, seg int").schema
    stats, joined = NET.named["stats"].box, NET.named["joined"].box
    names = NET.schemas["names"]["out"]
    assert same_tables(stats, [whole], [narrow])
    assert not same_tables(joined, [whole, names], [whole, CARS.schema])
    assert not same_tables(stats, [whole], [au.stream("r", "time int, vid int, seg bigint, mph int").schema])
