"""An outlet: a sink that is open for the tuples of an output."""

from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pytest

from australis.arrow.schema import schema
from australis.engine.checkpoint import Checkpoint
from australis.engine.outlet import outlet
from australis.errors import RunError

SCHEMA = schema("a int")


@dataclass
class Notes:
    """A sink, and its own writer, that notes what is asked of it."""

    dropped: str = ""
    fails: bool = False
    asked: list[object] = field(default_factory=list)

    def open(self, schema: pa.Schema, run: str = "", replace: bool = False) -> "Notes":
        self.asked.append((schema, replace))
        return self

    def agree(self, planned: int, committed: int) -> str:
        self.asked.append((planned, committed))
        if self.fails:
            raise RunError("batch 1 is missing")
        return self.dropped

    def write(self, version: int, tuples: pa.RecordBatch) -> None: ...

    def close(self) -> None:
        self.asked.append("closed")


def test_a_sink_is_opened_where_the_checkpoint_is(tmp_path: Path) -> None:
    checkpoint, sink = Checkpoint(tmp_path), Notes()
    opened = outlet("out", sink, SCHEMA, checkpoint)  # type: ignore[arg-type]
    assert (opened.sink, opened.schema, opened.writer) == (sink, SCHEMA, sink)
    assert sink.asked == [(SCHEMA, False), (checkpoint.log.planned, checkpoint.log.committed)]


def test_without_a_checkpoint_that_lasts_results_are_replaced(tmp_path: Path) -> None:
    outlet("out", sink := Notes(), SCHEMA, Checkpoint(tmp_path, lasting=False))  # type: ignore[arg-type]
    assert sink.asked[0] == (SCHEMA, True)


def test_what_is_dropped_is_warned_of(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="output out: batch 3 is dropped"):
        outlet("out", Notes("batch 3 is dropped"), SCHEMA, Checkpoint(tmp_path))  # type: ignore[arg-type]


def test_a_sink_that_does_not_agree_is_closed_and_named(tmp_path: Path) -> None:
    sink = Notes(fails=True)
    with pytest.raises(RunError, match="output out: batch 1 is missing"):
        outlet("out", sink, SCHEMA, Checkpoint(tmp_path))  # type: ignore[arg-type]
    assert sink.asked[-1] == "closed"
