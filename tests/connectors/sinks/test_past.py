"""The past of a sink, by which it can be cut back."""

from pathlib import Path

import pyarrow as pa
import pytest

from australis.connectors.sinks import past
from australis.connectors.sinks.past import NEVER, SinkHistory, cut_off
from australis.errors import RunError

COLUMNS = "i int"
SCHEMA = pa.schema({"i": pa.int32()})


def history(folder: Path) -> SinkHistory:
    return SinkHistory(folder / ".out.journal", folder / "out")


def written(folder: Path, last: int) -> SinkHistory:
    made = history(folder)
    made.begin("run", COLUMNS, 10)
    for batch in range(last + 1):
        made.add(batch, 20 + batch)
    made.close()
    return made


def test_sizes_are_known_again(tmp_path: Path) -> None:
    assert (history(tmp_path).run, history(tmp_path).last, history(tmp_path).sizes) == (None, NEVER, ())
    written(tmp_path, 2)
    again = history(tmp_path)
    assert (again.run, again.columns, again.last, again.sizes, again.torn) == ("run", COLUMNS, 2, (22,), False)
    again.check_columns(SCHEMA)
    with pytest.raises(RunError, match="out: has the columns i int, and the output has j int now"):
        again.check_columns(pa.schema({"j": pa.int32()}))


@pytest.mark.parametrize(("planned", "gone", "sizes"), [(5, 0, (23,)), (3, 0, (23,)), (1, 2, (21,)), (NEVER, 4, (10,))])
def test_it_goes_back_to_what_was_planned(tmp_path: Path, planned: int, gone: int, sizes: tuple[int, ...]) -> None:
    made = written(tmp_path, 3)
    assert made.back_to(planned, NEVER, spare=False) == gone
    made.close()
    assert history(tmp_path).sizes == sizes


def test_only_the_last_batches_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past, "_MARKS", 3)
    monkeypatch.setattr(past, "_LONG", 0)
    made = written(tmp_path, 9)
    assert [mark[0] for mark in made.marks] == [NEVER, 7, 8, 9]
    assert made.forgotten == 7
    with pytest.raises(RunError, match=r"holds at least 3 batches after batch 5.* and cannot be cut back so far"):
        made.back_to(5, 5, spare=False)
    assert made.back_to(7, 7, spare=False) == 2
    made.close()


def test_a_batch_that_counts_as_done_and_is_not_there_is_told(tmp_path: Path) -> None:
    made = written(tmp_path, 3)
    assert made.back_to(4, 4, spare=False) == 0
    with pytest.raises(RunError, match="ends with batch 3, and the checkpoint counts batches up to 4 as written"):
        made.back_to(4, 4, spare=True)


def test_words_for_what_was_cut_off() -> None:
    assert cut_off("out", 0) == ""
    assert cut_off("out", 1).startswith("out: cut off 1 batch that")
    assert cut_off("out", 2).startswith("out: cut off 2 batches that")
