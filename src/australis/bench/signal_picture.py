"""The figures of signals as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from australis.bench import signal_forms, signal_memory

_SYSTEMS = {"borealis": "Borealis", "commercial": "Commercial", "no segments": "XStream without segments",
            "xstream": "XStream", "spark": "Australis on Spark", "kernel": "bare kernel"}  # fmt: skip


def draw(report: dict[str, Any], path: Path) -> None:
    """Table I as bars, figure 6 as lines, figure 8 as bars; all in million samples a second, on a log scale."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(3, 1, figsize=(8, 10), layout="constrained")
    names = list(report["applications"])
    for place, (key, label) in enumerate(_SYSTEMS.items()):
        there = [(at, report["applications"][name][key]) for at, name in enumerate(names)
                 if key in report["applications"][name]]  # fmt: skip
        axes[0].bar([at + 0.13 * (place - 2.5) for at, _ in there], [value for _, value in there], 0.13, label=label)
    axes[0].set(yscale="log", ylabel="M samples/s", title="Table I", xticks=range(len(names)), xticklabels=names)
    axes[0].legend(fontsize="small", ncols=3)
    if "memory" in report:
        batches = report["memory"]["batches"]
        for place, label in enumerate(batches["columns"][1:], 1):
            axes[1].plot(
                [row[0] for row in batches["rows"]], [row[place] for row in batches["rows"]], "o-", label=label
            )
        axes[1].set(xscale="log", yscale="log", xlabel=batches["columns"][0], ylabel="M samples/s")
        axes[1].set_title(signal_memory.TITLE, fontsize="medium")
        axes[1].legend(fontsize="small")
        bars = [(f"{title}\n{row[0]}", row[1]) for title, table in report["forms"].items() for row in table["rows"]]
        axes[2].barh([label.replace("\n", ": ") for label, _ in bars][::-1], [value for _, value in bars][::-1])
        axes[2].set(xscale="log", xlabel="M samples/s")
        axes[2].set_title(signal_forms.TITLE, fontsize="medium")
    else:
        axes[1].set_visible(False)
        axes[2].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
