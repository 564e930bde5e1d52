"""Goals: each is judged by what a report says, and a report that lacks something is not judged by it."""

from typing import Any

from australis.bench.overload_goals import goals

OURS: dict[str, Any] = {
    "total": 2.8, "shed": 0, "settled": 3.0, "shed until": 1.5, "predicted": 1.0, "steering": 0.005, "work": 1.5,
    "spent": {"counted": 1.05}, "memory": 1000,
}  # fmt: skip

WAITED = {"shed": 0, "settled": 3.0, "on time": 1.0, "caught up": 40.0}

MOVING: dict[str, Any] = {
    "accuracy": {"queries": 9, "kept": 9, "moments": 5, "strangers": 0},
    "alerts": {"came": 4, "equal": 4, "all": 4},
    "ways": {"ours": {"settled": 3.0, "total": 1.9}, "none": {"settled": None, "total": 0.2}},
}


def step(factor: float, **changes: Any) -> dict[str, Any]:
    ways = {"ours": OURS | changes, "random": OURS | {"total": 1.0}, "none": OURS | {"total": 0.0}}
    return {"name": f"{factor:g} times", "factor": factor, "best": {"utility": 2.85}, "ways": ways}


def unmet(report: dict[str, Any]) -> list[str]:
    return [goal.what for goal in goals(report) if not goal.met]


def test_a_report_without_parts_has_no_goals() -> None:
    assert list(goals({})) == []


def test_what_is_reached_is_met() -> None:
    report = {
        "capacity": {"predicted": 110.0, "found": 100.0},
        "steps": [step(0.9), step(1.0), step(5.0)],
        "curves": [step(1.0) | {"name": "sine", "factor": None, "windows": {"equal": 5, "came": 5, "all": 9}}],
        "semantic": {"ratio": 1.4},
        "priorities": {"factor": 1.3, "ways": {"state": WAITED, "feedback": WAITED, "together": WAITED | {"shed": 9}}},
        "moving": MOVING,
    }
    assert unmet(report) == []
    assert len(list(goals(report))) > 15


def test_what_is_not_reached_is_told() -> None:
    assert unmet({"capacity": {"predicted": 120.0, "found": 100.0}}) == ["rate that `check` predicts, to that found"]
    assert unmet({"steps": [step(0.9, shed=1)]}) == ["0.9 times: tuples shed"]
    assert unmet({"steps": [step(2.0, total=2.0)]}) == ["2 times: utility, to the best by the model"]
    assert unmet({"steps": [step(2.0, settled=None)]}) == ["2 times: seconds until delays are back"]
    late = {"shed until": 20.1}
    assert unmet({"steps": [step(2.0, **late)]}) == ["2 times: seconds until nothing is shed"]
    assert unmet({"steps": [step(2.0, predicted=2.0)]}) == ["2 times: load predicted, to processor time"]
    assert unmet({"steps": [step(2.0, steering=0.03)]}) == ["2 times: time of the controller"]
    assert unmet({"steps": [step(1.0), step(5.0, work=1.0, memory=1300)]}) == [
        "work done a second at 5 times, to 1 time",
        "most memory at 5 times, to 1 time",
    ]
    assert unmet({"curves": [step(1.0, shed=7) | {"name": "short bursts"}]}) == ["short bursts: tuples shed"]
    assert unmet({"semantic": {"ratio": None}}) == ["2 times: worth kept by value, to random drops"]
    waited = {"factor": 1.3, "ways": {"state": WAITED | {"shed": 5, "caught up": None}, "feedback": WAITED}}
    assert unmet({"priorities": waited}) == [
        "1.3 times, state-based: tuples shed",
        "1.3 times, state-based: seconds until the archive has caught up",
    ]
    assert unmet({"steps": [step(2.0) | {"windows": {"equal": 4, "came": 5, "all": 9}}]}) == [
        "2 times: windows that are exact"
    ]


def test_what_is_not_reached_of_moving_objects_is_told() -> None:
    for change in ({"kept": 8}, {"moments": 0}):
        found = MOVING | {"accuracy": MOVING["accuracy"] | change}
        assert unmet({"moving": found}) == ["moving: queries that kept their accuracy"]
    strangers = MOVING | {"accuracy": MOVING["accuracy"] | {"strangers": 1}}
    assert unmet({"moving": strangers}) == ["moving: objects told that are in no answer"]
    for alerts in (
        {"came": 3, "equal": 3, "all": 4},
        {"came": 5, "equal": 4, "all": 4},
        dict.fromkeys(MOVING["alerts"], 0),
    ):
        assert unmet({"moving": MOVING | {"alerts": alerts}}) == ["moving: alerts that are missing or wrong"]
    for settled in (None, 10.1):
        ways = MOVING["ways"] | {"ours": {"settled": settled, "total": 0.1}}
        assert unmet({"moving": MOVING | {"ways": ways}}) == [
            "moving: seconds until delays are back",
            "moving: utility, beside none",
        ]
