"""What boxes leave out by themselves: sums over steps, and the objects of the last one."""

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from australis.model.lightened import Lightened

COUNTS = st.integers(0, 2**62)
STEPS = st.lists(st.builds(Lightened, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS), min_size=1, max_size=5)


@given(STEPS)
def test_steps_add_up_and_objects_are_those_of_the_last(steps: list[Lightened]) -> None:
    *_, whole = accumulate(steps, Lightened.followed_by)
    assert whole.members == sum(step.members for step in steps)
    assert whole.missed == sum(step.missed for step in steps)
    assert (whole.reports, whole.idle) == (sum(step.reports for step in steps), sum(step.idle for step in steps))
    assert whole.objects == steps[-1].objects


def test_a_box_that_leaves_out_nothing_adds_nothing() -> None:
    assert Lightened(4, 2, 3, 1, 5).followed_by(Lightened()) == Lightened(4, 2, 3, 1, 0)
