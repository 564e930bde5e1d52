"""Answers beside those that are due: their times."""

import pytest

from australis.apps.linear_road.record import LIMITS
from tests.apps.linear_road.validation.test_validate import EMIT, EMPTY, counts, judged
from tests.oracles.linear_road import Road, balance, expenditure, report, travel


@pytest.mark.parametrize("kind", LIMITS)
@pytest.mark.parametrize("speed", [1.0, 3.0])
def test_response_times_are_held_against_the_limit_of_the_type(kind: int, speed: float) -> None:
    crashed = [report(30 * i, vid, 5, spd=0, lane=2) for i in range(4) for vid in (2, 3)]
    rows = [*crashed, report(121, 1, 5), balance(121, 1, 1), expenditure(121, 1, 1, 0, 1), travel(121, 1, 1, 1, 2)]
    answers = [list(line) for line in Road(rows).answers()]
    for line in answers:
        line[EMIT[line[0]]] = round(line[EMIT[line[0]]] / speed + 0.5, 3)
    (chosen,) = [line for line in answers if line[0] == kind and 121 in line]
    for response, count, fault in (
        (0, 0, "late"),
        (LIMITS[kind], 0, "late"),
        (LIMITS[kind] + 0.002, 1, "late"),
        (-0.01, 1, "early"),
    ):
        chosen[EMIT[kind]] = int(1000 * (121 / speed + response)) / 1000
        verdict = judged(rows, [tuple(line) for line in answers], speed=speed, history=EMPTY)
        assert counts(verdict)[kind][fault] == count
        assert verdict.ok == (count == 0)
    assert verdict.tallies[kind].worst == pytest.approx(0.5 if kind == 0 else -0.01, abs=0.001)


def test_emit_may_be_the_time_of_day() -> None:
    """Where what was driven does not know when time 0 was, the driver has told it."""
    rows, began = [report(0, 1, 5), report(121, 2, 5), balance(122, 1, 1)], 1_700_000_000.125
    answers = [list(line) for line in Road(rows).answers()]
    for line in answers:
        line[EMIT[line[0]]] = f"{began + line[EMIT[line[0]]] / 2 + 0.25:.3f}"
    verdict = judged(rows, [tuple(line) for line in answers], speed=2.0, began=began)
    assert verdict.ok, verdict.text()
    assert verdict.tallies[0].worst == pytest.approx(0.25, abs=0.001)
    assert judged(rows, [tuple(line) for line in answers], speed=2.0, began=began - 5).late == 3
    assert counts(judged(rows, [tuple(line) for line in answers], speed=2.0, began=began + 5))[0]["early"] == 2
