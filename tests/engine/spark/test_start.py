"""Starting a run, as far as it comes without Spark."""

from pathlib import Path
from typing import Any

import pytest

from australis.engine.checkpoint import Checkpoint
from australis.errors import RunError
from tests.engine.spark.test_restarted import NET, given


def failing(*_: object, **__: object) -> None:
    raise RunError("Spark does not start")


def test_a_run_whose_first_start_failed_can_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that was killed while Spark started: its sinks are open then, and nothing else is done."""
    (tmp_path / "reports").mkdir()
    monkeypatch.setattr("australis.engine.spark.start.session", failing)
    for _ in range(2):
        with pytest.raises(RunError, match="Spark does not start"):
            NET.start(given(tmp_path), checkpoint=tmp_path / "checkpoint")


def test_a_sink_that_is_refused_leaves_the_others_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "reports").mkdir()
    monkeypatch.setattr("australis.engine.spark.start.session", failing)
    with pytest.raises(RunError, match=r"output fast: .*fast\.txt"):
        NET.start({**given(tmp_path), "fast": f"{tmp_path}/fast.txt"}, checkpoint=tmp_path / "checkpoint")
    with pytest.raises(RunError, match="Spark does not start"):
        NET.start(given(tmp_path), checkpoint=tmp_path / "checkpoint")


@pytest.mark.parametrize(("one", "other"), [("out/", "out/"), ("out/", "out/*.csv"), ("out.csv", "out.csv")])
def test_two_outputs_do_not_go_to_one_place(one: str, other: str, tmp_path: Path) -> None:
    wanted = {**given(tmp_path), "cars": f"{tmp_path}/{one}", "fast": f"{tmp_path}/{other}"}
    with pytest.raises(RunError, match=r"output fast: .*out.*: another output or another run writes to it"):
        NET.start(wanted)


def test_a_second_start_is_refused_before_it_touches_a_sink(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("australis.engine.spark.start.session", failing)
    with Checkpoint(tmp_path / "checkpoint").begin(), pytest.raises(RunError, match="another run uses it; stop that"):
        NET.start(given(tmp_path), checkpoint=tmp_path / "checkpoint")
    assert not (tmp_path / "cars.csv").exists()
    assert not (tmp_path / "fast").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"partitions": 0}, "`partitions` is a number of tasks from 1 to 65,536, not 0"),
        ({"partitions": 2**16 + 1}, "`partitions` is a number of tasks"),
        ({"train": 0}, "`train` is the most tuples of an input in a batch, 1 or more, not 0"),
        ({"trigger": -1}, "`trigger` is a time between two batches"),
        ({"trigger": 400 * 86_400}, "`trigger` is a time between two batches"),
        ({"trigger": "soon"}, "soon"),
    ],
)
def test_numbers_that_no_run_can_have_are_refused(
    options: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("australis.engine.spark.start.session", failing)
    with pytest.raises(RunError, match=message):
        NET.start(given(tmp_path), **options)
