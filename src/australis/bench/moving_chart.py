"""A chart: the results of an experiment as a table, and a plot of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Sheet


@dataclass(frozen=True)
class Panel:
    """A part of a plot: columns of the table as lines over the first column, or over another."""

    title: str
    lines: Sequence[str]
    over: str = ""
    scale: str = ""
    """The axes with logarithmic scales: `x`, `y`, both or none."""


@dataclass(frozen=True)
class Chart:
    """One of the paper's figures, measured: rows of numbers."""

    name: str
    figure: str
    """Its number in the paper."""
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[float]]
    panels: Sequence[Panel]

    def show(self, console: Console) -> None:
        sheet = Sheet(*self.columns, box=SIMPLE_HEAD, title=f"{self.title} (figure {self.figure})")
        for row in self.rows:
            sheet.add_row(*map(_short, row))
        console.print(sheet)

    def draw(self, folder: Path) -> Path:
        """Write the plot, and return its file."""
        import matplotlib

        matplotlib.use("agg")
        from matplotlib import pyplot

        folder.mkdir(parents=True, exist_ok=True)
        size = (4.2 * len(self.panels), 3.2)
        figure, axes = pyplot.subplots(1, len(self.panels), figsize=size, layout="constrained", squeeze=False)
        for panel, axis in zip(self.panels, axes[0], strict=True):
            over = panel.over or self.columns[0]
            for name in panel.lines:
                axis.plot(self._column(over), self._column(name), marker=".", label=name)
            axis.set(xlabel=over, title=panel.title)
            axis.title.set_fontsize(10)
            for side, line in (("x", axis.xaxis), ("y", axis.yaxis)):
                if side in panel.scale:
                    axis.set(**{f"{side}scale": "log"})
                    line.set_major_formatter(_power)
                    line.set_minor_formatter(_power)
            axis.grid(alpha=0.3)
            if len(panel.lines) > 1:
                axis.legend(fontsize=8)
        figure.suptitle(fill(self.title, 46 * len(self.panels)), fontsize=11)
        path = folder / f"moving_{self.name}.png"
        figure.savefig(path, dpi=90, metadata={"Software": None})
        pyplot.close(figure)
        return path

    def record(self) -> dict[str, Any]:
        return {"figure": self.figure, "title": self.title, "columns": list(self.columns), "rows": self.rows}

    def _column(self, name: str) -> list[float]:
        place = list(self.columns).index(name)
        return [row[place] for row in self.rows]


def _power(value: float, _: int) -> str:
    """A label at 1, 2 and 5 of each power of ten."""
    return f"{value:g}" if f"{value:e}"[0] in "125" else ""


def _short(value: float) -> str:
    return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
