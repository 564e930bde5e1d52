"""The progress of a run line by line."""

import io
import json

import pytest
from rich.console import Console

from australis.cli import progress
from australis.cli.lines import Notes, Objects
from australis.engine.service import OutputService, Service
from tests.cli.standin import StandIn


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return StandIn(tmp_path / "road")


def test_objects_for_programs_are_one_a_batch_and_one_at_the_end(run, capsys):
    told = Objects(run)
    run.batch(taken=10, given=4, letters=2)
    told.show()
    told.show("a note is for people")
    run.batch(taken=20, given=0, letters=1, worst=None)
    told.close()
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first == {
        "batch": 1, "seconds": 0.25, "taken": {"reports": 10}, "given": {"fast": 4}, "delay": {"fast": 0.5},
        "late": {}, "refused": {}, "letters": 2, "shed": {}, "skipped": {}, "utility": {}, "loss": {}, "used": None,
        "state": "",
    }  # fmt: skip
    assert (second["batch"], second["delay"], second["letters"]) == (2, {"fast": None}, 1)
    assert progress.total_object(run, 1.5, True, "end") == {
        "batches": 2, "seconds": 1.5, "taken": {"reports": 30}, "given": {"fast": 4}, "late": {}, "refused": {},
        "shed": {}, "skipped": {}, "letters": 3, "letters_in": str(run.checkpoint.path / "letters"), "ended": "end",
    }  # fmt: skip
    assert progress.total_object(run, 1.5, False, "end")["letters_in"] is None


def test_objects_have_what_outputs_are_worth(run, capsys):
    run.service = Service({"fast": OutputService(0.91234, 0.25)}, used=1.23456, state="shed")
    run.batch(taken=10, given=4)
    Objects(run).show()
    found = json.loads(capsys.readouterr().out)
    assert (found["utility"], found["loss"], found["used"], found["state"]) == (
        {"fast": 0.9123}, {"fast": 0.25}, 1.2346, "shed"
    )  # fmt: skip


def test_a_log_has_each_note_once():
    console = Console(file=io.StringIO(), width=20)
    for quiet in (False, True):
        told = Notes(console, quiet)
        for note in ("", "a note longer than the screen is wide", "a note longer than the screen is wide", ""):
            told.show(note)
        told.close()
    assert console.file.getvalue() == "a note longer than the screen is wide\n"
