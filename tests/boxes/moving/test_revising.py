"""What objects carried before a step."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from australis.boxes.moving import Watch
from australis.testing import Cut, cuts
from tests.boxes.moving.test_watch import TRUCKS, trains, worlds
from tests.oracles.answers import Sums
from tests.oracles.running import run


@given(worlds(), cuts(), st.booleans())
def test_what_leaves_is_what_entered_if_it_is_revised(world: Any, cut: Cut, restart: bool) -> None:
    """A law of one box, in one partition: every row that leaves is there."""
    box, sums = Watch(conditions=TRUCKS, carry=("type", "time"), revise=True), Sums()
    for (query, sign, *row), _, _ in run(box, trains(world), cut, restart=restart)[0]:
        sums.add([(sign, query, *row)])
