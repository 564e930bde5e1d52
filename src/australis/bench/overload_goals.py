"""Goals of the overload benchmark: what is to be reached, what was, and whether that is enough."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from australis.bench.overload_curves import SHORT_BURSTS
from australis.qos.priorities import WAYS as RANKINGS

SETTLED = 10.0
RECOVERED = 20.0


@dataclass(frozen=True)
class Goal:
    """A figure that was to be reached; none was found where a run has not shown it."""

    what: str
    goal: str
    found: str
    met: bool


def goals(report: dict[str, Any]) -> Iterator[Goal]:
    """The goals about which a report says something."""
    if (capacity := report.get("capacity")) and capacity.get("found"):
        ratio = capacity["predicted"] / capacity["found"]
        yield Goal("rate that `check` predicts, to that found", "1 ± 0.15", f"{ratio:.2f}", 0.85 <= ratio <= 1.15)
    steps = {each["factor"]: each for each in report.get("steps", [])}
    for factor, each in steps.items():
        yield from _step(factor, each)
    for each in report.get("curves", []):
        yield from _curve(each)
    for each in (*report.get("steps", []), *report.get("curves", [])):
        if windows := each.get("windows"):
            found = f"{windows['equal']:,} / {windows['came']:,}"
            yield Goal(f"{each['name']}: windows that are exact", "all", found, windows["equal"] == windows["came"])
    if 1.0 in steps and 5.0 in steps:
        yield from _collapse(steps[1.0]["ways"]["ours"], steps[5.0]["ways"]["ours"])
    for each in report.get("grid", []):
        if each["plans"] and (step := steps.get(each["factor"])):
            best, ours = each["plans"][0]["utility"], step["ways"]["ours"]["total"]
            what = f"{step['name']}: utility, to the best of {len(each['plans'])} plans run"
            yield Goal(what, ">= 95%", f"{ours / best:.1%}" if best else "", ours >= 0.95 * best)
    if control := report.get("rate control"):
        yield from _rate_control({each["factor"]: each for each in control["loads"]})
    if semantic := report.get("semantic"):
        ratio = semantic["ratio"] or 0.0
        yield Goal("2 times: worth kept by value, to random drops", ">= 1.3", f"{ratio:.2f}", ratio >= 1.3)
    if waits := report.get("priorities"):
        for way in RANKINGS:
            yield from _waits(f"{waits['factor']:g} times, {way}-based", waits["ways"][way])
    if moving := report.get("moving"):
        yield from _moving(moving)


def _moving(moving: dict[str, Any]) -> Iterator[Goal]:
    """Every query keeps its accuracy, the exact output is whole, and both are in time again."""
    accuracy, alerts = moving["accuracy"], moving["alerts"]
    ours, none = moving["ways"]["ours"], moving["ways"]["none"]
    kept, whole = accuracy["kept"], accuracy["queries"]
    yield Goal("moving: queries that kept their accuracy", "all", f"{kept:,} / {whole:,}",
               kept == whole and accuracy["moments"] > 0)  # fmt: skip
    yield Goal("moving: objects told that are in no answer", "0", f"{accuracy['strangers']:,}",
               not accuracy["strangers"])  # fmt: skip
    wrong = alerts["all"] + alerts["came"] - 2 * alerts["equal"]
    yield Goal("moving: alerts that are missing or wrong", "0", f"{wrong:,}", not wrong and alerts["all"] > 0)
    yield Goal("moving: seconds until delays are back", f"<= {SETTLED:g}", _seconds(ours["settled"]),
               ours["settled"] is not None and ours["settled"] <= SETTLED)  # fmt: skip
    yield Goal("moving: utility, beside none", "not below", f"{ours['total']:.2f} / {none['total']:.2f}",
               ours["total"] >= none["total"] - 0.01)  # fmt: skip


def _waits(name: str, figures: dict[str, Any]) -> Iterator[Goal]:
    """Of two branches one can wait: the other keeps its delays, nothing is shed, and the first catches up."""
    yield Goal(f"{name}: tuples shed", "0", f"{figures['shed']:,}", not figures["shed"])
    yield Goal(f"{name}: seconds until alerts are in time", f"<= {SETTLED:g}", _seconds(figures["settled"]),
               figures["settled"] is not None and figures["settled"] <= SETTLED)  # fmt: skip
    yield Goal(f"{name}: alerts in time after that", "all", f"{figures['on time']:.1%}", figures["on time"] == 1)
    yield Goal(f"{name}: seconds until the archive has caught up", "it has", _seconds(figures["caught up"]),
               figures["caught up"] is not None)  # fmt: skip


def _step(factor: float, step: dict[str, Any]) -> Iterator[Goal]:
    ours, random, name = step["ways"]["ours"], step["ways"]["random"], step["name"]
    if factor <= 0.9:
        yield Goal(f"{name}: tuples shed", "0", f"{ours['shed']:,}", not ours["shed"])
    if step["best"]:
        part = ours["total"] / step["best"]["utility"] if step["best"]["utility"] else 0.0
        yield Goal(f"{name}: utility, to the best by the model", ">= 95%", f"{part:.1%}", part >= 0.95)
    better = ours["total"] >= random["total"] - 0.01
    yield Goal(
        f"{name}: utility, beside random drops", "not below", f"{ours['total']:.2f} / {random['total']:.2f}", better
    )
    if factor > 1:
        yield Goal(f"{name}: seconds until delays are back", f"<= {SETTLED:g}", _seconds(ours["settled"]),
                   ours["settled"] is not None and ours["settled"] <= SETTLED)  # fmt: skip
        yield Goal(f"{name}: seconds until nothing is shed", f"<= {RECOVERED:g}", _seconds(ours["shed until"]),
                   ours["shed until"] is not None and ours["shed until"] <= RECOVERED)  # fmt: skip
    spent = ours["spent"]["counted"]
    ratio = ours["predicted"] / spent if spent else 0.0
    yield Goal(f"{name}: load predicted, to processor time", "1 ± 0.1", f"{ratio:.2f}", 0.9 <= ratio <= 1.1)
    yield Goal(f"{name}: time of the controller", "< 2%", f"{ours['steering']:.2%}", ours["steering"] < 0.02)


def _curve(curve: dict[str, Any]) -> Iterator[Goal]:
    ours, random = curve["ways"]["ours"], curve["ways"]["random"]
    if curve["name"] == SHORT_BURSTS:
        yield Goal(f"{SHORT_BURSTS}: tuples shed", "0", f"{ours['shed']:,}", not ours["shed"])
    found = f"{ours['total']:.2f} / {random['total']:.2f}"
    yield Goal(
        f"{curve['name']}: utility, beside random drops", "not below", found, ours["total"] >= random["total"] - 0.01
    )


def _collapse(one: dict[str, Any], five: dict[str, Any]) -> Iterator[Goal]:
    work = five["work"] / one["work"] if one["work"] else 0.0
    memory = five["memory"] / one["memory"] if one["memory"] else 0.0
    yield Goal("work done a second at 5 times, to 1 time", ">= 90%", f"{work:.1%}", work >= 0.9)
    yield Goal("most memory at 5 times, to 1 time", "<= 1.2", f"{memory:.2f}", 0 < memory <= 1.2)


def _rate_control(loads: dict[float, dict[str, Any]]) -> Iterator[Goal]:
    one, five = loads[1.0], loads[5.0]
    taken = five["taken"] / one["taken"] if one["taken"] else 0.0
    memory = five["memory"] / one["memory"] if one["memory"] else 0.0
    shed = sum(each["shed"] for each in loads.values())
    yield Goal("a source that can wait: tuples taken at 5 times, to 1 time", ">= 90%", f"{taken:.1%}", taken >= 0.9)
    yield Goal("a source that can wait: most memory", "<= 1.2", f"{memory:.2f}", 0 < memory <= 1.2)
    yield Goal("a source that can wait: tuples shed", "0", f"{shed:,}", not shed)


def _seconds(value: float | None) -> str:
    return "never" if value is None else f"{value:.1f}"
