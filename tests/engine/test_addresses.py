"""Addresses: where the parcels of a job go."""

import australis as au
from australis.connectors import dead_letters
from australis.engine.addresses import DEAD_LETTERS, MEASURES, PARTS, StageEntry, list_addresses, schema_at
from australis.engine.measures import PART, SENT
from australis.plan import plan

REPORTS = au.stream("reports", "time int, vid int")
CARS = au.static("cars", "vid int, plate string")
NETWORK = au.network(
    n=REPORTS.filter("vid > 0").aggregate(on="time", size=60, by="vid", n="count(*)"),
    plates=REPORTS.join(CARS, "left.vid = right.vid"),
)


def test_entries_of_streams_outputs_and_what_every_job_has() -> None:
    planned = plan(NETWORK)
    *entries, n, plates, letters, measures, parts = list_addresses(NETWORK, planned.stages)
    assert (n, plates, letters, measures, parts) == ("n", "plates", DEAD_LETTERS, MEASURES, PARTS)
    taken = [planned.stages[each.stage].entries[each.entry] for each in entries if isinstance(each, StageEntry)]
    assert taken == [entry for stage in planned.stages for entry in stage.entries if not entry.static]
    assert any(entry.static for stage in planned.stages for entry in stage.entries)


def test_the_columns_of_an_address() -> None:
    planned = plan(NETWORK)
    for address in list_addresses(NETWORK, planned.stages):
        if isinstance(address, StageEntry):
            entry = planned.stages[address.stage].entries[address.entry]
            assert schema_at(NETWORK, planned, address) == NETWORK.schema(entry.arrow)
    assert schema_at(NETWORK, planned, "plates").names == ["time", "vid", "vid_right", "plate"]
    assert schema_at(NETWORK, planned, DEAD_LETTERS) == dead_letters.SCHEMA
    assert (schema_at(NETWORK, planned, MEASURES), schema_at(NETWORK, planned, PARTS)) == (SENT, PART)
