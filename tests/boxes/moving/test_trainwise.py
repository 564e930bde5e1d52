"""Trains as a whole: answers after every train, where updates are told after trains."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from australis.boxes.moving import Watch
from australis.testing import Cut, cuts
from tests.boxes.moving.test_watch import CONDITIONS, TRUCKS, follow, trains, worlds
from tests.oracles.moving import World


@settings(max_examples=15)
@given(worlds(), cuts(), st.none() | st.integers(0, 5), st.booleans())
def test_answers_are_what_all_objects_give(world: Any, cut: Cut, timeout: int | None, restart: bool) -> None:
    box = Watch(conditions=TRUCKS, time=None if timeout is None else "time", timeout=timeout, every="train")
    follow(box, trains(world), cut, World(CONDITIONS, timeout), restart)
