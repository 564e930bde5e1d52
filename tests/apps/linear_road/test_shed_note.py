"""How many answers are missing, from the tuples that were shed by place."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from australis.apps.linear_road.network import network
from australis.apps.linear_road.record import TRAVEL
from australis.apps.linear_road.shed_note import note_of, shed_answers, write_note
from australis.apps.linear_road.validation.shed import read_shed
from australis.engine.totals import Totals
from australis.errors import RunError
from australis.model.network import Network


@pytest.mark.parametrize(
    ("shed", "missing"),
    [
        ({}, {}),
        ({"box journeys": 0}, {}),
        ({"box journeys": 12, "output journeys": 3}, {"journeys": 15}),
        ({"box account": 4, "box balances": 1}, {"balances": 5}),
        ({"box tolls": 7}, {"tolls": 7}),
        ({"box alerted": 7}, {"alerts": None}),  # most would have been no alerts
        ({"output alerts": 2, "box alerted": 7}, {"alerts": None}),
        ({"box alerted": 7, "output alerts": 2}, {"alerts": None}),
        ({"box notified": 7}, {"tolls": None, "alerts": None}),
    ],
)
def test_tuples_that_were_shed_are_answers_where_each_would_have_been_one(
    shed: dict[str, int], missing: dict[str, int | None]
) -> None:
    assert shed_answers(network(), shed) == missing


@dataclass
class Ran:
    """What a run has shed."""

    totals: Totals
    optimized: Network = field(default_factory=network)


def ran(shed: Mapping[str, int]) -> Ran:
    return Ran(Totals(shed=dict(shed)))


def test_a_note_lies_beside_the_answers_while_it_is_true(tmp_path: Path) -> None:
    output = tmp_path / "answers.csv"
    assert write_note(ran({"box journeys": 12}), output) == {"travel times": 12}  # type: ignore[arg-type]
    assert json.loads(note_of(output).read_text()) == {"travel times": 12}
    assert read_shed(note_of(output)) == {TRAVEL: 12}
    assert write_note(ran({}), output) == {}  # type: ignore[arg-type]
    assert not note_of(output).exists()
    with pytest.raises(RunError, match="what was shed is not noted"):
        write_note(ran({"box journeys": 12}), tmp_path / "none" / "answers.csv")  # type: ignore[arg-type]
