"""The tables of the overload benchmark, for the terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Sheet

from australis.bench.overload_goals import goals
from australis.bench.overload_network import PARTS

Rows = list[list[str]]
WAYS = {"ours": "by graphs", "random": "random", "none": "none"}
RANKED = {"state": "state-based", "feedback": "feedback-based", "together": "none waits"}


def tables(report: dict[str, Any]) -> Iterator[tuple[str, list[str], Rows]]:
    """The tables of a report: a title, the names of columns, and rows."""
    if costs := report.get("costs"):
        rows = [[name, f"{part:.1%}", f"{PARTS[name]:.0%}"] for name, part in costs["parts"].items()]
        title = f"A tuple costs {costs['tuple'] * 1e6:.2f} µs of a core, a batch {costs['batch'] * 1e3:.0f} ms"
        yield title, ["part", "of the cost", "meant"], rows
    if capacity := report.get("capacity"):
        rows = [[f"{rate:,.0f}", "held" if held else "not held"] for rate, held in capacity.get("tried", [])]
        title = f"Capacity: {capacity['found']:,.0f} tuples a second; `check` predicts {capacity['predicted']:,.0f}"
        yield title, ["tuples a second", ""], rows
    loads = [*report.get("steps", []), *report.get("curves", [])]
    if loads:
        names = list(loads[0]["ways"]["ours"]["utility"])
        yield (
            "Utility",
            ["load", "shedding", *names, "all", "best", "fairness", "on time"],
            [_worth(each, way, names) for each in loads for way in each["ways"]],
        )
        columns = ["load", "shedding", "tuples/s", *names, "back in", "shed for"]
        yield (
            "What came, and the seconds until delays were back and nothing was shed",
            columns,
            [_came(each, way, names) for each in loads for way in each["ways"]],
        )
        columns = ["load", "model", "boxes", "all", "work", "MB", "batch, s", "shed", "control", "others"]
        yield (
            "What it took by graphs: cores, as the model has it and as measured",
            columns,
            [_took(each) for each in loads],
        )
    if semantic := report.get("semantic"):
        rows = [[way, f"{semantic['worth'][way]:.1%}", f"{semantic['tuples'][way]:,}"] for way in semantic["worth"]]
        yield "The archive at 2 times, dropped by", ["", "of its worth", "tuples"], rows
    if control := report.get("rate control"):
        rows = [
            [f"{each['factor']:g}", f"{each['offered']:,.0f}", f"{each['taken']:,.0f}", f"{each['memory'] / 1e6:,.0f}"]
            for each in control["loads"]
        ]
        title = f"A chain behind a source that can wait; it takes {control['full']:,.0f} tuples a second at full speed"
        yield title, ["times", "offered", "taken", "MB"], rows
    for each in report.get("grid", []):
        names = list(each["plans"][0]["kept"]) if each["plans"] else []
        rows = [
            [f"{plan['utility']:.2f}", *(f"{plan['kept'][name]:.0%}" for name in names), f"{plan['load']:.0%}"]
            for plan in each["plans"]
        ]
        yield f"Plans that were run at {each['factor']:g} times", ["utility", *names, "load"], rows
    if waits := report.get("priorities"):
        columns = ["branches", "alerts, s", "in time", "back in", "shed", "archive behind, s", "caught up in"]
        rows = [_waited(way, figures) for way, figures in waits["ways"].items()]
        rate = f"{waits['capacity']:,.0f} tuples a second"
        yield f"A branch that can wait, at {waits['factor']:g} times a capacity of {rate}", columns, rows
    if moving := report.get("moving"):
        yield from _moving(moving)
    reached = [[goal.what, goal.goal, goal.found, "met" if goal.met else "not met"] for goal in goals(report)]
    if reached:
        yield "Goals", ["", "goal", "found", ""], reached


def _worth(load: dict[str, Any], way: str, names: list[str]) -> list[str]:
    figures, best = load["ways"][way], load["best"] if way == "ours" else None
    return [
        load["name"] if way == "ours" else "", WAYS[way], *(f"{figures['utility'][name]:.2f}" for name in names),
        f"{figures['total']:.2f}", f"{best['utility']:.2f}" if best else "", f"{figures['fairness']:.2f}",
        f"{figures['flat']:.0%}",
    ]  # fmt: skip


def _came(load: dict[str, Any], way: str, names: list[str]) -> list[str]:
    figures = load["ways"][way]
    return [
        load["name"] if way == "ours" else "", WAYS[way], f"{figures['taken']:,.0f}",
        *(f"{figures['delivered'][name]:.0%}" for name in names), _after(figures["settled"]),
        _after(figures["shed until"]),
    ]  # fmt: skip


def _waited(way: str, figures: dict[str, Any]) -> list[str]:
    delay = "" if figures["delay"] is None else f"{figures['delay']:.2f}"
    return [
        RANKED[way], delay, f"{figures['on time']:.0%}", _after(figures["settled"]), f"{figures['shed']:,}",
        f"{figures['behind']:.1f}", _after(figures["caught up"]),
    ]  # fmt: skip


def _moving(moving: dict[str, Any]) -> Iterator[tuple[str, list[str], Rows]]:
    """What queries about moving objects were told, and what that was worth."""
    accuracy, rate = moving["accuracy"], f"{moving['capacity']:,.0f} reports a second"
    rows = [
        [f"{each['accuracy']:.0%}", f"{each['queries']:,}", f"{each['kept']:,}", f"{each['least']:.1%}",
         f"{each['least'] / each['accuracy']:.2f}", f"{each['mean']:.1%}"]
        for each in accuracy["asked"]
    ]  # fmt: skip
    title = f"Queries about {moving['objects']:,} objects, at {moving['factor']:g} times a capacity of {rate}"
    yield title, ["asked for", "queries", "always had it", "least", "to asked", "mean"], rows
    names = list(moving["ways"]["ours"]["delay"])
    columns = ["shedding", "told", "utility", *(f"{name}, s" for name in names), "on time", "back in", "left out"]
    told = {"ours": accuracy["told"]}
    back = _after(moving["ways"]["ours"]["shed until"])
    yield (
        f"What that was worth; seconds until all objects were in answers again: {back}",
        columns,
        [_told(way, figures, told.get(way, 1.0)) for way, figures in moving["ways"].items()],
    )


def _told(way: str, figures: dict[str, Any], told: float) -> list[str]:
    return [
        WAYS[way], f"{told:.0%}", f"{figures['total']:.2f}",
        *("" if delay is None else f"{delay:.2f}" for delay in figures["delay"].values()), f"{figures['flat']:.0%}",
        _after(figures["settled"]), f"{figures['shed']:,}",
    ]  # fmt: skip


def _took(load: dict[str, Any]) -> list[str]:
    figures = load["ways"]["ours"]
    return [
        load["name"], f"{figures['predicted']:.2f}", f"{figures['spent']['counted']:.2f}",
        f"{figures['spent']['processes']:.2f}", f"{figures['work']:.2f}", f"{figures['memory'] / 1e6:,.0f}",
        "" if figures["batch"] is None else f"{figures['batch']:.2f}", f"{figures['shed']:,}",
        f"{figures['steering']:.2%}", f"{figures['others']:.2f}",
    ]  # fmt: skip


def _after(seconds: float | None) -> str:
    return "never" if seconds is None else f"{seconds:.1f}"


def show(report: dict[str, Any], console: Console) -> None:
    """Print the tables."""
    for title, columns, rows in tables(report):
        sheet = Sheet(box=SIMPLE_HEAD, padding=(0, 0, 0, 1), show_edge=False, pad_edge=False)
        for place, column in enumerate(columns):
            sheet.add_column(column, justify="right" if place else "left", no_wrap=True)
        for row in rows:
            sheet.add_row(*row)
        console.print(title, highlight=False)
        console.print(sheet)
        console.print()
    console.print(_machine(report), highlight=False)
    if (others := busy(report)) is not None:
        console.print(f"other processes kept {others:.2f} cores busy on average", highlight=False)


def _machine(report: dict[str, Any]) -> str:
    known = {name: f"{value:.1f}" if name == "load" else value for name, value in report["machine"].items()}
    return ", ".join(f"{name} {value}" for name, value in known.items())


def busy(report: dict[str, Any]) -> float | None:
    """How many cores other processes kept busy, over all trials of a report."""
    loads = [*report.get("steps", []), *report.get("curves", [])]
    found = [figures["others"] for each in loads for figures in each["ways"].values()]
    found += report.get("capacity", {}).get("others", [])
    for name in ("priorities", "moving"):
        found += [figures["others"] for figures in report.get(name, {}).get("ways", {}).values()]
    return sum(found) / len(found) if found else None


def markdown(report: dict[str, Any]) -> str:
    """The tables as Markdown."""
    where = _machine(report)
    lines = [f"{where}\n"]
    for title, columns, rows in tables(report):
        lines += [title, "", *(f"| {' | '.join(line)} |" for line in (columns, ["---"] * len(columns), *rows)), ""]
    return "\n".join(lines)
