"""The analysis of `australis check --rates`: whether a machine holds a network."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from australis.api.network import Network
from australis.cli import arguments
from australis.errors import RunError, listing
from australis.model.qos import Costs, read_costs
from australis.plan import Plan, plan
from australis.qos.analysis import Analysis
from australis.qos.load import HEADROOM, LoadModel, Machine
from australis.qos.typical import GUESSES, MACHINE, Part, Typical, filled, typical


def analyse(
    network: Network,
    file: Path,
    rates: list[str],
    costs: Path | None,
    kept_in: tuple[list[str], list[str]],
    shed: bool,
    cores: int | None,
    partitions: int | None,
    headroom: float | None,
) -> bool:
    """Print whether a machine holds a network at given rates, and why; returns whether it does.

    `kept_in` has the sources and sinks, as the command line names them: what they cost goes by their formats.
    """
    cores = cores or os.cpu_count() or 1
    machine = Machine(cores, partitions or cores, HEADROOM if headroom is None else headroom)
    inputs = {name: _rate(name, text) for name, text in arguments.by_name("--rates", rates).items()}
    whole = {input.name: () if machine.partitions == 1 else None for input in network.inputs if not input.static}
    planned = plan(network, whole)
    known = _typical(network, planned, kept_in) if costs is None else filled(network, _costs(network, costs))
    analysis = Analysis(LoadModel(network, planned, known.costs, machine), inputs, known.parts)
    for line in analysis.lines(shed):
        print(line)
    for line in _warned(file, network, costs, known.parts):
        print(line)
    return analysis.fits


def _typical(network: Network, planned: Plan, kept_in: tuple[list[str], list[str]]) -> Typical:
    sources, sinks = arguments.by_name("--source", kept_in[0]), arguments.by_name("--sink", kept_in[1])
    for name in sources:
        arguments.check_name(name, [input.name for input in network.inputs], "input", "--source")
    for name in sinks:
        arguments.check_name(name, [output.name for output in network.outputs], "output", "--sink")
    return typical(network, planned, sources, sinks)


def _warned(file: Path, network: Network, costs: Path | None, parts: frozenset[Part]) -> Iterator[str]:
    """What is not known of a network, and how to measure it."""
    if not parts:
        return
    boxes = [node.name for node in network.nodes if ("box", node.name) in parts]
    if costs is None:
        what = "these are typical costs"
    else:
        what = f"{costs} has no costs of {listing(boxes)}: typical ones are taken"
    source = " ".join(f"--source {input.name}=..." for input in network.inputs)
    yield ""
    yield f"{what}, of {MACHINE}"
    yield f"it is guessed that {GUESSES}"
    yield f"to measure them here: australis measure {file} {source} --to costs.json; then give --costs costs.json"


def _rate(name: str, text: str) -> float:
    try:
        return float(text.replace(",", "").replace("_", ""))
    except ValueError:
        raise RunError(f"--rates {name}={text}: a rate is a number of tuples a second") from None


def _costs(network: Network, path: Path) -> Costs:
    costs = read_costs(path)
    known = {node.name for node in network.nodes}
    if costs.boxes and not known & costs.boxes.keys():
        raise RunError(f"{path}: these are the costs of another network; it has none of the boxes of this one")
    return costs
