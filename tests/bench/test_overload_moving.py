"""The part of the overload benchmark about moving objects: what is told of a run in this process that sheds."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import australis as au
from australis.bench.overload_curves import TrialSpan
from australis.bench.overload_fleet import ALERTS, ANSWERS, QUERIES, Fleet, watched
from australis.bench.overload_goals import goals
from australis.bench.overload_moving import WAYS, compared, figures_of
from australis.bench.overload_network import INPUT
from australis.bench.overload_picture import draw
from australis.bench.overload_tables import tables
from australis.bench.overload_trial import OverloadTrial
from australis.connectors.sources.load_curve import LoadCurve
from australis.errors import RunError
from australis.qos.shedding import shed_plan
from tests.bench.overload_trials import batch, trial

FLEET, SPAN = Fleet(2_000, 60), TrialSpan(4.0, 16.0, 0.0)
BATCHES, EACH, BEGAN = 20, 2_500, 7_000_000


@pytest.fixture(scope="module")
def shed() -> OverloadTrial:
    """A batch of reports a second; from the fifth on, a fifth of all answers is to be told."""
    net, curve = watched(), LoadCurve(((0, EACH),))
    run, batches = au.Local(net), []
    kept: dict[str, list[pa.RecordBatch]] = {ALERTS: [], ANSWERS: []}
    run.push({QUERIES: FLEET.query_rows()})
    for number in range(BATCHES):
        if number == SPAN.begin:
            run.leave_out(shed_plan(net, {ANSWERS: 0.2}))
        reports = pa.Table.from_batches(list(FLEET.reports(curve, BEGAN, number * EACH, (number + 1) * EACH)))
        results = run.push({INPUT: reports})
        for name, parts in kept.items():
            parts.append(results[name])
        given = {name: len(results[name]) for name in kept}
        batches.append(batch(float(number), EACH, given=given, delays=dict.fromkeys(kept, 0.4)))
    tables = {name: pa.Table.from_batches(parts) for name, parts in kept.items()}
    return OverloadTrial(curve, float(BATCHES), batches, [], 0.0, kept=tables, began=BEGAN)


def test_every_query_has_its_accuracy_and_alerts_are_whole(shed: OverloadTrial) -> None:
    found = compared(FLEET, shed, SPAN)
    accuracy, alerts = found["accuracy"], found["alerts"]
    assert accuracy["kept"] == accuracy["queries"] == FLEET.queries
    assert accuracy["moments"] == len(accuracy["series"]) == BATCHES
    assert accuracy["strangers"] == 0
    assert accuracy["ratio"] >= 1 - 1e-9
    assert accuracy["told"] < 0.4
    assert [each["told"] for each in accuracy["series"][:4]] == [1.0] * 4
    assert alerts["equal"] == alerts["came"] == alerts["all"] > 0


def test_what_is_missing_is_found(shed: OverloadTrial) -> None:
    updates, alerts = shed.kept[ANSWERS], shed.kept[ALERTS]
    none = updates["query"].to_numpy() != 7  # query 7 is told of nothing
    given = [each.given[ANSWERS] for each in shed.batches]
    left, at = [], 0
    for count in given:
        left.append(int(none[at : at + count].sum()))
        at += count
    batches = [
        batch(each.second, each.taken, given={ALERTS: each.given[ALERTS] - (not number), ANSWERS: left[number]})
        for number, each in enumerate(shed.batches)
    ]
    kept = {ANSWERS: updates.filter(pa.array(none)), ALERTS: alerts[1:]}
    found = compared(FLEET, OverloadTrial(shed.curve, shed.seconds, batches, [], 0.0, kept=kept, began=BEGAN), SPAN)
    assert found["accuracy"]["kept"] == FLEET.queries - 1
    assert found["accuracy"]["ratio"] == 0
    assert found["alerts"]["came"] == found["alerts"]["equal"] == found["alerts"]["all"] - 1


def test_updates_of_batches_that_were_not_measured_are_told(shed: OverloadTrial) -> None:
    short = OverloadTrial(shed.curve, shed.seconds, shed.batches[:-1], [], 0.0, kept=shed.kept, began=BEGAN)
    with pytest.raises(RunError, match=r"[\d,]+ updates came in batches that were not measured"):
        compared(FLEET, short, SPAN)


def test_figures_of_a_trial() -> None:
    late, span = {2: 2.0, 3: 1.5}, TrialSpan(2.0, 6.0, 6.0)
    made = trial(
        [
            batch(second, given={ALERTS: 10, ANSWERS: 100}, delays={ALERTS: late.get(second, 0.5), ANSWERS: 1.0},
                  shed={"objects watch": 50} if 2 < second < 10 else {})
            for second in range(14)
        ]
    )  # fmt: skip
    found = figures_of(watched(), made, span, {ANSWERS: 0.3})
    assert found["utility"] == {ALERTS: 1.0, ANSWERS: pytest.approx(0.9)}
    assert found["total"] == pytest.approx(1.9)
    assert (found["delay"], found["settled"], found["flat"]) == ({ALERTS: 0.5, ANSWERS: 1.0}, 1.0, 1.0)
    assert (found["shed before"], found["shed"], found["shed until"]) == (0, 250, 1.0)
    assert found["taken"] == pytest.approx(1000)


def test_a_trial_without_batches_is_told_as_well(tmp_path: Path) -> None:
    span = TrialSpan(2.0, 6.0, 6.0)
    report: dict[str, Any] = {
        "factor": 2.0,
        "capacity": 1000.0,
        "objects": FLEET.objects,
        **compared(FLEET, trial([]), span),
    }
    report["ways"] = {way: figures_of(watched(), trial([]), span, {}) for way in WAYS}
    assert report["ways"]["ours"]["delay"] == {ALERTS: None, ANSWERS: None}
    assert report["accuracy"]["moments"] == 0
    assert "moving: queries that kept their accuracy" in [
        goal.what for goal in goals({"moving": report}) if not goal.met
    ]
    (file,) = draw({"moving": report}, tmp_path)
    assert file.exists()
    assert all(len(row) == len(columns) for _, columns, rows in tables({"moving": report}) for row in rows)
