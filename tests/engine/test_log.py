"""The log of a run: what is lost with the power, and what is damaged."""

import json
from pathlib import Path
from typing import Any

import pytest

from australis import RunError
from australis.engine.batch import Batch, room
from australis.engine.log import Log, sealed


def plan(version: int, **more: Any) -> str:
    offset = {"version": version, "first": room(0, True) + (version - 1) * room(2), "room": room(2), "clock": 7}
    offset |= {"end": False, "network": 1, "began": 1, "inputs": {"s": {"at": version}}} | more
    return f'v1\n{{"batchWatermarkMs":0}}\n{json.dumps(sealed(offset))}'


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """Three batches, of which the last is not committed."""
    made = Log(tmp_path / "query")
    made.make()
    (made.folder / "metadata").write_text('{"id":"6c3f"}')
    for number in range(3):
        (made.folder / "offsets" / str(number)).write_text(plan(number + 1))
        (made.folder / "offsets" / f".{number}.crc").write_bytes(b"crc\0")
    for number in range(2):
        (made.folder / "commits" / str(number)).write_text("v1\n{}")
    return made


def test_a_log_tells_what_was_planned_and_what_was_done(log: Log) -> None:
    log.mend()
    assert (log.planned, log.committed, log.done()) == (3, 2, False)
    assert log.inputs() == {"s": {"at": 3}}
    for number in range(3):
        log.sync(number)
    (log.folder / "offsets" / "3").write_text(plan(4, end=True))
    assert not log.done()
    for number in (2, 3):
        (log.folder / "commits" / str(number)).write_text("v1\n{}")
    assert log.done()


def test_an_empty_log_has_no_batch(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.mend()
    assert (log.planned, log.committed, log.last(), log.done(), log.inputs()) == (0, 0, None, False, {})


@pytest.mark.parametrize("lost", ["offsets/2", "commits/1", "offsets/.2.crc", "metadata"])
def test_entries_whose_bytes_never_came_to_the_disk_are_dropped(lost: str, log: Log) -> None:
    (log.folder / lost).write_bytes(b"")
    log.mend()
    assert not (log.folder / lost).exists()
    assert log.planned == (2 if lost == "offsets/2" else 3)
    assert log.committed == (1 if lost == "commits/1" else 2)


@pytest.mark.parametrize(
    ("old", "new"), [('"at": 3', '"at": 8'), ('"clock": 7', '"clock": 1'), ('"end": false', '"end": true')]
)
def test_a_plan_that_still_reads_but_is_another_is_told(old: str, new: str, log: Log) -> None:
    last = log.folder / "offsets" / "2"
    last.write_text(last.read_text().replace(old, new))
    with pytest.raises(RunError, match=r"offsets/2: the checkpoint is damaged: it is not what was written; restore"):
        log.mend()


def test_a_plan_without_a_checksum_is_read_as_it_is(log: Log) -> None:
    last = log.folder / "offsets" / "2"
    head, spark, text = last.read_text().splitlines()
    unsealed = {name: value for name, value in json.loads(text).items() if name != "check"}
    last.write_text("\n".join([head, spark, json.dumps(unsealed)]))
    log.mend()
    assert log.inputs() == {"s": {"at": 3}}


@pytest.mark.parametrize(
    ("damaged", "text", "told"),
    [
        ("offsets/2", "v1\n{}\n{", r"offsets/2: the checkpoint is damaged: it cannot be read"),
        ("offsets/2", "v1\n{}\n[]", r"offsets/2: the checkpoint is damaged: it cannot be read"),
        ("offsets/2", 'v1\n{}\n{"version": 3}', r"offsets/2: the checkpoint is damaged: it cannot be read.*clock"),
        ("offsets/1", None, r"offsets/1: the checkpoint is damaged: it is missing; restore"),
        ("offsets/1", "x", r"offsets/1: the checkpoint is damaged: it cannot be read"),
        ("metadata", "{", r"metadata: the checkpoint is damaged: it cannot be read"),
        ("metadata", "{}", r"metadata: the checkpoint is damaged: it cannot be read"),
        ("commits/7", "v1\n{}", r"offsets/7: the checkpoint is damaged: it is missing, and its batch is committed"),
    ],
)
def test_other_damage_is_told(damaged: str, text: str | None, told: str, log: Log) -> None:
    if text is None:
        (log.folder / damaged).unlink()
    else:
        (log.folder / damaged).write_text(text)
    with pytest.raises(RunError, match=told):
        log.mend()


def test_there_are_numbers_for_years_of_batches() -> None:
    """At 60 ms a batch, with 16 partitions."""
    batches = 10 * 365 * 86_400 * 1000 // 60
    last = Batch(batches, 0, first=room(0, True) + batches * room(16), room=room(16))
    assert last.moment.number < 2**63
    assert last.numbers(15, (1 << 26) - 1, 1)[0] == last.moment.number
    with pytest.raises(RunError, match="let batches be smaller"):
        last.numbers(15, 1 << 26, 1)
    with pytest.raises(RunError, match="let batches be smaller"):
        last.numbers(16, 0, 1)
