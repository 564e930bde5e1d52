"""The command `australis measure`: what the parts of a network cost on this machine."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Annotated

import typer

from australis.cli import options
from australis.cli.network import File, load_network
from australis.errors import RunError

if TYPE_CHECKING:
    import pyarrow as pa

    from australis.api.network import Network
    from australis.engine.spark.run import Run
    from australis.model.qos import Costs

_FEW = 6


def measure(
    file: File,
    functions: options.Functions = None,
    source: options.Sources = None,
    sink: options.Sinks = None,
    to: Annotated[
        Path | None, typer.Option(metavar="FILE.JSON", help="Write the costs here, else to the standard output.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(metavar="S", min=1, help="Stop after so long, else at the end of the inputs.")
    ] = None,
    speed: options.Speed = None,
    train: options.Train = None,
    master: options.Master = None,
    partitions: options.Partitions = None,
) -> None:
    """Run a network for a while, and write what its boxes cost.

    \b
    australis measure jams.yaml --source reports=reports.csv --to costs.json
    australis check jams.yaml --rates reports=200000 --costs costs.json

    The network runs as it is drawn. Outputs without a sink are counted, and not kept. The first third of the batches is
    left out: it compiles.
    """
    from australis.cli import arguments
    from australis.cli import run as command
    from australis.connectors import standard

    net = load_network(file, functions)
    runs: list[Run] = []

    def started(run: Run) -> None:
        runs.append(run)
        if seconds is not None:
            timer = Timer(seconds, run.stop)
            timer.daemon = True
            timer.start()

    sinks = arguments.by_name("--sink", sink)
    with standard.read(arguments.by_name("--source", source), "") as sources:
        status = command.main(
            net,
            arguments.sources(net, sources, speed),
            arguments.sinks(net, sinks, printed=False),
            command.RunReporter(str(file), "", sinks=sinks),
            master=arguments.master(master),
            partitions=partitions,
            train=train,
            optimize=False,
            started=started,
        )
    if not runs:
        raise typer.Exit(status)
    text = measured_costs(net, runs[0].measures()).render()
    if to is None:
        sys.stdout.write(text)
        return
    try:
        to.write_text(text)
    except OSError as error:
        raise RunError(f"{to}: {error}") from error


def measured_costs(network: Network, table: pa.Table) -> Costs:
    """What the parts of a network cost, by the measurements of a run's batches."""
    from australis.qos.monitor import monitored
    from australis.qos.worth import worths_of

    rows = table.to_pylist()
    monitor, batches = monitored(rows, _FEW)
    if batches < _FEW:
        print(
            f"there were only {batches} batches, and the first ones compile: give more input, or a --train of fewer"
            " tuples, for costs to rely on",
            file=sys.stderr,
        )
    return replace(monitor.costs(network), worth=worths_of(network, rows).histograms())
