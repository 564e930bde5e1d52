"""The command `australis demo`: Linear Road, simulated, run, validated and drawn."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to leave everything in.")] = Path("demo"),
    seconds: Annotated[int, typer.Option(metavar="T", min=60, help="How many seconds of traffic to answer.")] = 1200,
    lead: Annotated[int, typer.Option(metavar="T", min=0, help="How many seconds come before, at once.")] = 1800,
    speed: Annotated[float, typer.Option(metavar="K", min=1, help="How many times as fast as real time.")] = 20.0,
    seed: Annotated[int, typer.Option(metavar="N", help="Another seed gives another traffic.")] = 1,
) -> None:
    """Answer twenty minutes of Linear Road on Spark: simulated, run, validated, and drawn in one page.

    The exit status is 1 if an answer is wrong or missing. Late answers are reported, but are no failure: they depend
    on what else the machine does.
    """
    from rich.console import Console

    from australis.apps.linear_road.demo import demo as run_demo

    console = Console()
    with console.status("") as status:
        demonstration = run_demo(out, status.update, seconds, seed, speed, lead)
    verdict = demonstration.verdict
    console.print(verdict.text(), highlight=False, markup=False, soft_wrap=True)
    console.print(
        f"\n{demonstration.traffic}\nAll of it in pictures: {demonstration.page}", highlight=False, soft_wrap=True
    )
    if verdict.right and verdict.late:
        print(
            f"australis: {verdict.late:,} right answers came late, as the machine was busy; try a lower --speed than"
            f" {speed:g}",
            file=sys.stderr,
        )
    raise typer.Exit(0 if verdict.right else 1)
