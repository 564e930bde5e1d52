"""Tuples wait until the span of the objects' time in which they came is over."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from australis.boxes.moving import Watch
from australis.testing import Cut, cuts
from tests.boxes.moving.test_stepwise import numbered
from tests.boxes.moving.test_watch import CONDITIONS, TRUCKS, trains, worlds
from tests.oracles.moving import World, spans, stepwise
from tests.oracles.running import run


@pytest.mark.slow
@settings(max_examples=60)
@given(worlds(), cuts(), st.none() | st.integers(0, 5), st.booleans(), st.integers(1, 6))
def test_every_span_of_time_is_told_of_however_the_stream_is_cut(
    world: Any, cut: Cut, timeout: int | None, restart: bool, span: int
) -> None:
    box = Watch(conditions=TRUCKS, time="time", timeout=timeout, every=span)
    streams = trains(world)
    out = run(box, streams, cut, restart=restart)[0]
    assert numbered(out) == stepwise(World(CONDITIONS, timeout), streams, spans(streams, span))
