"""A delta: what changed in the tables of a partition, as the bytes of one file."""

import numpy as np
import pyarrow as pa
import pytest

from australis.arrow.schema import schema
from australis.engine.state.delta import PRELUDE, Delta, measured, pack, settle, unpack, whole
from australis.errors import RunError
from australis.model.table import Table

OWNER = ("box", "table")


def filled() -> Table:
    """A table with rows of extreme values."""
    table = Table(schema("k bigint, x double, s string"), ("k",))
    keys = pa.array([-(2**63), 2**63 - 1, None], pa.int64())
    slots = table.find([keys], 3)
    table.put("x", slots, pa.array([float("-inf"), None, -0.0]))
    table.put("s", slots, pa.array(["", "größer\0", None]))
    return table


def packed(table: Table, version: int = 3, parent: int = 0) -> tuple[int, bytes]:
    id, pieces = pack(version, 7, parent, measured({OWNER: table}), {OWNER: whole(table)})
    return id, b"".join(bytes(piece) for piece in pieces)


def read(data: bytes) -> Delta:
    return unpack("file", pa.py_buffer(data))


def test_a_snapshot_is_a_delta_from_nothing() -> None:
    table = filled()
    id, data = packed(table)
    delta = read(data)
    assert (delta.version, delta.network, delta.parent, delta.id) == (3, 7, 0, id)
    again = delta.onto({})[OWNER]
    assert again.key == table.key
    assert whole(again).equals(whole(table))


def test_a_table_that_did_not_change_has_no_stream_and_stays() -> None:
    table = filled()
    _, pieces = pack(4, 7, 1, measured({OWNER: table}), {})
    delta = read(b"".join(bytes(piece) for piece in pieces))
    assert [part.size for part in delta.parts] == [0]
    assert delta.onto({OWNER: table}) == {OWNER: table}


def test_the_id_follows_from_the_parent_and_the_rows() -> None:
    table, other = filled(), filled()
    other.put("x", other.slots, pa.array([0.0, 0.0, 0.0]))
    assert len({packed(table)[0], packed(table, parent=1)[0], packed(table, version=4)[0], packed(other)[0]}) == 4
    assert packed(table)[0] == packed(filled())[0]


def test_every_byte_that_changes_is_seen() -> None:
    _, data = packed(filled())
    for at in range(len(data)):
        with pytest.raises(RunError, match="file: the "):
            read(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])


@pytest.mark.parametrize("length", [0, PRELUDE.size - 1, PRELUDE.size + 8, -1])
def test_a_file_that_is_cut_short_is_seen(length: int) -> None:
    with pytest.raises(RunError, match="file: the file is damaged"):
        read(packed(filled())[1][:length])


def test_spare_slots_are_in_the_order_of_a_table_that_is_rebuilt() -> None:
    table = filled()
    table.free(table.slots[:2])
    settle(table)
    vacant = np.flatnonzero(~table.alive)[::-1]
    assert table.spare[: table.top].tolist() == vacant.tolist()
