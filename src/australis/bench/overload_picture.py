"""Pictures of the overload benchmark: what outputs are worth by the load, and over time under each load curve."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from australis.bench.overload_fleet import watched
from australis.bench.overload_network import network
from australis.bench.overload_tables import WAYS

_COLORS = {"alerts": "#c1272d", "dashboard": "#0b6fa4", "archive": "#5b8c2a", "answers": "#0b6fa4"}
_SHEDDING = {"ours": "#111111", "random": "#c98a00", "none": "#999999"}
_BEST = "#7a3e9d"


def draw(report: dict[str, Any], folder: Path) -> list[Path]:
    """Write the pictures of a report, and return their files."""
    import matplotlib

    matplotlib.use("agg")
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    if report.get("steps"):
        files.append(_by_load(report["steps"], folder / "overload_steps.png"))
    for each in (*report.get("steps", []), *report.get("curves", [])):
        name = each["name"].replace(" ", "_")
        files.append(_over_time(each, report["capacity"]["found"], folder / f"overload_{name}.png"))
    if report.get("moving"):
        files.append(_moving(report["moving"], folder / "overload_moving.png"))
    return files


def _by_load(steps: list[dict[str, Any]], path: Path) -> Path:
    """Utility of all outputs, what was delivered and the work done, by the load."""
    from matplotlib import pyplot

    factors = [each["factor"] for each in steps]
    figure, (worth, parts, done) = pyplot.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    bests = [(each["factor"], each["best"]["utility"]) for each in steps if each["best"]]
    if bests:
        worth.plot(*zip(*bests, strict=True), color=_BEST, linestyle="--", label="best plan of the model")
    for way, label in WAYS.items():
        totals = [each["ways"][way]["total"] for each in steps]
        worth.plot(factors, totals, marker="o", markersize=4, color=_SHEDDING[way], label=label)
        work = [each["ways"][way]["work"] for each in steps]
        done.plot(factors, work, marker="o", markersize=4, color=_SHEDDING[way], label=label)
    for name in (output.name for output in network().outputs):
        color, ours = _COLORS[name], [each["ways"]["ours"]["delivered"][name] for each in steps]
        parts.plot(factors, ours, marker="o", markersize=4, color=color, label=name)
    outputs = len(network().outputs)
    _axis(worth, "utility of all outputs", "load, times the capacity", (0, outputs * 1.05))
    _axis(parts, "part of the worth that came, shed by graphs", "load, times the capacity", (0, 1.05))
    _axis(done, "work done, cores", "load, times the capacity", (0, None))
    return _save(figure, path)


def _over_time(load: dict[str, Any], capacity: float, path: Path) -> Path:
    """The load, the delays and the delivered parts of our run, and the utility of each way, second by second."""
    from matplotlib import pyplot

    series = load["ways"]["ours"]["series"]
    seconds = [each["second"] for each in series]
    figure, (rate, delays, parts, worth) = pyplot.subplots(
        4, 1, figsize=(8, 8.4), sharex=True, layout="constrained", height_ratios=(1, 1.5, 1.2, 1.5)
    )
    rate.fill_between(seconds, [each["rate"] / capacity for each in series], step="pre", color="#c9d6df")
    rate.axhline(1, color="#555555", linewidth=0.8, linestyle=":")
    for output in network().outputs:
        color = _COLORS[output.name]
        delays.plot(seconds, [each["delay"][output.name] or None for each in series], color=color, label=output.name)
        if output.qos.latency is not None:
            delays.axhline(output.qos.latency.bend, color=color, linewidth=0.8, linestyle=":")
        parts.plot(seconds, [each["delivered"][output.name] for each in series], color=color, label=output.name)
    for way, label in WAYS.items():
        totals = [each["total"] for each in load["ways"][way]["series"]]
        worth.plot(seconds[: len(totals)], totals, color=_SHEDDING[way], label=label)
    if load["best"] and load["factor"] is not None:
        worth.axhline(load["best"]["utility"], color=_BEST, linewidth=1, linestyle="--", label="best plan of the model")
    delays.set_yscale("log")
    delays.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    _axis(rate, "load, times the capacity", "", (0, None), legend=False)
    _axis(delays, "longest delay in a second, s (dotted: where its graph bends)", "", (None, None))
    _axis(parts, "part of the worth that came, over 5 s", "", (0, 1.05), legend=False)
    _axis(worth, "utility of all outputs, over 5 s", "seconds", (0, len(network().outputs) * 1.05))
    figure.suptitle(load["name"], fontsize=12)
    return _save(figure, path)


def _moving(moving: dict[str, Any], path: Path) -> Path:
    """The load, the delays of outputs, and what queries about moving objects were told, batch by batch."""
    from matplotlib import pyplot

    series, told = moving["ways"]["ours"]["series"], moving["accuracy"]["series"]
    seconds = [each["second"] for each in series]
    figure, (rate, delays, parts, least) = pyplot.subplots(
        4, 1, figsize=(8, 8.4), sharex=True, layout="constrained", height_ratios=(1, 1.5, 1.2, 1.2)
    )
    rates = [each["rate"] / moving["capacity"] for each in series]
    rate.fill_between(seconds, rates, step="pre", color="#c9d6df")
    rate.axhline(1, color="#555555", linewidth=0.8, linestyle=":")
    for output in watched().outputs:
        color = _COLORS[output.name]
        delays.plot(seconds, [each["delays"].get(output.name) for each in series], color=color, label=output.name)
        if output.qos.latency is not None:
            delays.axhline(output.qos.latency.bend, color=color, linewidth=0.8, linestyle=":")
    parts.plot(seconds, [each["told"] for each in told], color=_COLORS["answers"])
    least.plot(seconds, [each["ratio"] for each in told], color=_SHEDDING["ours"])
    least.axhline(1, color="#555555", linewidth=0.8, linestyle=":")
    delays.set_yscale("log")
    delays.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    _axis(rate, "load, times the capacity", "", (0, None), legend=False)
    _axis(delays, "longest delay of a batch, s (dotted: where its graph bends)", "", (None, None))
    _axis(parts, "part of all answers that was told", "", (0, 1.05), legend=False)
    _axis(least, "least accuracy of a query, to that which it asks for", "seconds", (0, None), legend=False)
    figure.suptitle(f"queries about moving objects, {moving['factor']:g} times", fontsize=12)
    return _save(figure, path)


def _axis(axis: Any, title: str, below: str, limits: tuple[float | None, float | None], legend: bool = True) -> None:
    axis.set_title(title, fontsize=10, loc="left")
    axis.set_xlabel(below)
    axis.set_ylim(*limits)
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)
    if legend:
        axis.legend(fontsize=8, frameon=False, ncols=2)


def _save(figure: Any, path: Path) -> Path:
    from matplotlib import pyplot

    figure.savefig(path, dpi=100, metadata={"Software": None})
    pyplot.close(figure)
    return path
