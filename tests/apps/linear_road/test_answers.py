"""The one flat file of all outputs."""

from pathlib import Path

import pyarrow as pa
import pytest

from australis.apps.linear_road.answers import LINES, AnswerLog, lines, timed
from australis.errors import RunError

ALERTS = pa.record_batch({"type": [1, 1], "time": [7, 9], "vid": [3, 4], "seg": [50, 0]})
BALANCES = pa.record_batch({"type": [2], "time": [7], "qid": [2**31 - 1], "balance": [0]})


def test_a_line_has_its_fields_in_order() -> None:
    assert timed(lines("alerts", ALERTS), 8.25) == b"1,7,8.250,3,50\n1,9,8.250,4,0\n"
    assert timed(lines("balances", BALANCES), 0.0004) == b"2,7,0.000,7,2147483647,0\n"
    assert timed(lines("alerts", ALERTS.slice(0, 0)), 1.0) == b""


@pytest.mark.parametrize(("since", "kept"), [(0, ["1,7,5.000,3,50", "1,9,5.000,4,0", "2,7,5.000,7,2147483647,0"]),
                                             (8, ["1,9,5.000,4,0"])])  # fmt: skip
def test_a_batch_is_written_when_all_outputs_have_come(tmp_path: Path, since: int, kept: list[str]) -> None:
    path = tmp_path / "answers.csv"
    sinks = AnswerLog(path, lambda: 5.0, since).sinks()
    writers = {name: sink.open(pa.schema([]), "run") for name, sink in sinks.items()}
    tuples = {"alerts": [ALERTS], "balances": [BALANCES]}
    writers["alerts"].write(0, [ALERTS, ALERTS])  # a batch that was stopped, and comes again
    for name in reversed(LINES):  # in the order of a network file, whatever that is
        assert path.read_bytes() == b""
        writers[name].write(0, tuples.get(name, []))
    assert path.read_text().splitlines() == kept
    for writer in writers.values():
        writer.close()


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (sink, *_) = AnswerLog(tmp_path, lambda: 0.0).sinks().values()
    with pytest.raises(RunError, match="choose a file that can be written to"):
        sink.open(pa.schema([]), "run")
