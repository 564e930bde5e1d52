"""What a run has learned is read as it was saved; what is damaged or older is told and forgotten."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from australis.engine.learned import Learned, read_learned
from australis.qos.monitor import Monitor
from tests.qos.test_monitor import batch
from tests.qos.test_worth import NETWORK
from tests.qos.test_worth import learned as known

LEARNED = Learned(Monitor().add(batch(1000, 2.0, 250), 1.0), 0.06)


def test_what_is_saved_is_read_again(tmp_path: Path) -> None:
    for learned in (LEARNED, Learned(), Learned(LEARNED.monitor), replace(LEARNED, worths=known().render())):
        learned.save(tmp_path)
        assert read_learned(tmp_path) == learned
    assert [path.name for path in (tmp_path / "measures").iterdir()] == ["learned.json"]
    assert (tmp_path / "measures" / "learned.json").stat().st_mode & 0o777 == 0o600


def test_nothing_saved_is_nothing_learned(tmp_path: Path) -> None:
    assert read_learned(tmp_path) == Learned()


def test_every_cut_and_every_changed_byte_is_told_and_forgotten(tmp_path: Path) -> None:
    LEARNED.save(tmp_path)
    path = tmp_path / "measures" / "learned.json"
    whole = path.read_bytes()
    broken = [whole[:length] for length in range(0, len(whole), 7)]
    broken += [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(0, len(whole), 3)]
    for content in broken:
        path.write_bytes(content)
        with pytest.warns(UserWarning, match=r"learned.json: .*; what boxes cost is measured anew"):
            assert read_learned(tmp_path) == Learned()


@pytest.mark.parametrize(
    "saved", [{}, [], 1, {"format": 0}, {"format": 1}, {"format": 2}, {"format": 2, "check": 0, "learned": 7}]
)
def test_what_is_of_another_form_is_told_and_forgotten(tmp_path: Path, saved: object) -> None:
    LEARNED.save(tmp_path)
    (tmp_path / "measures" / "learned.json").write_text(json.dumps(saved))
    with pytest.warns(UserWarning, match="what boxes cost is measured anew"):
        assert read_learned(tmp_path) == Learned()


@pytest.mark.parametrize("learned", [Learned(Monitor(time=float("nan"))), Learned(batch=float("inf"))])
def test_numbers_that_cannot_be_are_told_and_forgotten(tmp_path: Path, learned: Learned) -> None:
    learned.save(tmp_path)
    with pytest.warns(UserWarning, match="what boxes cost is measured anew"):
        assert read_learned(tmp_path) == Learned()


def test_what_cannot_be_saved_is_told(tmp_path: Path) -> None:
    (tmp_path / "measures").write_text("no folder")
    with pytest.warns(UserWarning, match="what boxes cost cannot be saved"):
        LEARNED.save(tmp_path)
    with pytest.warns(UserWarning, match="what boxes cost is measured anew"):
        assert read_learned(tmp_path) == Learned()


def test_what_outputs_are_worth_is_read_for_the_network_that_runs() -> None:
    learned = Learned(worths=known().render())
    assert learned.worths_in(NETWORK).counts() == known().counts()
    assert Learned().worths_in(NETWORK).counts() == {}
    with pytest.warns(UserWarning, match="it is counted anew"):
        assert Learned(worths="{}").worths_in(NETWORK).counts() == {}
