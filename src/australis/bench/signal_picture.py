"""A picture of the measurements of signals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_SYSTEMS = {"borealis": "Borealis", "commercial": "Commercial", "no segments": "XStream without segments",
            "xstream": "XStream", "spark": "Australis on Spark", "kernel": "bare kernel"}  # fmt: skip


def draw(report: dict[str, Any], path: Path) -> None:
    """Table I as bars, figure 6 as lines, figure 8 as bars; all in million samples a second, on a log scale."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, (table, lines, bars) = pyplot.subplots(3, 1, figsize=(10, 11), layout="constrained")
    names = list(report["applications"])
    for place, (key, label) in enumerate(_SYSTEMS.items()):
        values = [(at, report["applications"][name].get(key)) for at, name in enumerate(names)]
        there = [(at + 0.13 * (place - 2.5), value) for at, value in values if value is not None]
        table.bar([at for at, _ in there], [value for _, value in there], 0.13, label=label)
    table.set(yscale="log", ylabel="M samples/s", xticks=range(len(names)), xticklabels=names, title="Table I")
    table.tick_params(axis="x", labelsize="small")
    table.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
    for axes in (lines, bars):
        axes.set_visible("memory" in report)
    if "memory" in report:
        batches = report["memory"]["batches"]
        along = [row[0] for row in batches["rows"]]
        for place, label in enumerate(batches["columns"][1:], 1):
            lines.plot(along, [row[place] for row in batches["rows"]], "o-", label=label)
        lines.set(xscale="log", yscale="log", xlabel=batches["columns"][0], ylabel="M samples/s", title="Figure 6")
        lines.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
        rows = [(f"{name}: {row[0]}", row[1]) for name, form in report["forms"].items() for row in form["rows"]][::-1]
        bars.barh([name for name, _ in rows], [value for _, value in rows])
        bars.set(xscale="log", xlabel="M samples/s", title="Figure 8")
        bars.tick_params(axis="y", labelsize="x-small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
