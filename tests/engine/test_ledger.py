"""The ledger of measurements on a checkpoint."""

from pathlib import Path

import pyarrow as pa
import pytest

from australis.engine import ledger
from australis.engine.ledger import Ledger
from australis.engine.measures import SCHEMA, output, sink, whole_batch


def rows(batch: int) -> list[pa.RecordBatch]:
    return [output(batch, name, [], 0) for name in ("a", "b")]


@pytest.mark.slow
def test_it_keeps_the_last_thousand_batches(tmp_path: Path) -> None:
    kept = Ledger(tmp_path)
    for batch in range(2000):
        kept.write(batch, rows(batch))
    found = ledger.read(tmp_path)["batch"].to_pylist()
    assert found == sorted([*range(found[0], 2000), *range(found[0], 2000)])
    assert 768 <= len(found) / 2 <= 1024
    assert kept.table()["batch"].to_pylist()[-1] == 1999
    kept.close()
    assert ledger.read(tmp_path)["batch"].to_pylist() == found


def test_a_file_that_was_not_finished_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    kept = Ledger(tmp_path)
    for batch in range(3):
        kept.write(batch, rows(batch))
    (path,) = (tmp_path / "measures").iterdir()
    path.write_bytes(path.read_bytes()[:-50])
    assert ledger.read(tmp_path)["batch"].to_pylist() == [0, 0, 1, 1]
    again = Ledger(tmp_path)
    again.write(3, rows(3))
    assert ledger.read(tmp_path)["batch"].to_pylist() == [0, 0, 1, 1, 3, 3]
    again.close()
    kept.close()


def test_a_batch_that_is_run_again_is_there_once(tmp_path: Path) -> None:
    kept = Ledger(tmp_path)
    for batch in (1, 2, 2):
        kept.write(batch, [whole_batch(batch, float(batch), [])])
    assert kept.table()["batch"].to_pylist() == [1, 2]
    kept.close()
    again = Ledger(tmp_path)
    for batch in (2, 3):
        again.write(batch, [whole_batch(batch, 10.0 * batch, [])])
    assert again.table()["batch"].to_pylist() == [2, 3]
    found = ledger.read(tmp_path)
    again.close()
    assert (found["batch"].to_pylist(), found["seconds"].to_pylist()) == ([1, 2, 3], [1.0, 20.0, 30.0])


def test_columns_that_were_not_measured_yet_are_null(tmp_path: Path) -> None:
    old = SCHEMA.remove(SCHEMA.get_field_index("fixed")).remove(SCHEMA.get_field_index("delays"))
    (tmp_path / "measures").mkdir()
    with pa.ipc.new_stream(str(tmp_path / "measures" / f"{1:012}.arrows"), old) as stream:
        stream.write_batch(pa.RecordBatch.from_pylist([{"batch": 1, "kind": "output", "delay": 0.5}], old))
    kept = Ledger(tmp_path)
    kept.write(2, [sink(2, "a", 0.5, 10), whole_batch(2, 1.0, [])])
    found = ledger.read(tmp_path)
    kept.close()
    assert found.schema.equals(SCHEMA)
    assert found["batch"].to_pylist() == [1, 2, 2]
    assert (found["fixed"].to_pylist(), found["delay"].to_pylist()) == ([None, None, 1.0], [0.5, None, None])
