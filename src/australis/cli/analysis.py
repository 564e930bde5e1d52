"""The analysis of `australis check --rates`: whether a machine holds a network."""

from __future__ import annotations

import os
from pathlib import Path

from australis.api.network import Network
from australis.cli import arguments
from australis.errors import RunError
from australis.model.qos import Costs, read_costs
from australis.plan import plan
from australis.qos.analysis import Analysis
from australis.qos.load import HEADROOM, LoadModel, Machine


def analyse(
    network: Network,
    rates: list[str],
    costs: Path | None,
    shed: bool,
    cores: int | None,
    partitions: int | None,
    headroom: float | None,
) -> bool:
    """Print whether a machine holds a network at given rates, and why; returns whether it does."""
    cores = cores or os.cpu_count() or 1
    machine = Machine(cores, partitions or cores, HEADROOM if headroom is None else headroom)
    inputs = {name: _rate(name, text) for name, text in arguments.by_name("--rates", rates).items()}
    whole = {input.name: () if machine.partitions == 1 else None for input in network.inputs if not input.static}
    model = LoadModel(network, plan(network, whole), _costs(network, costs), machine)
    analysis = Analysis(model, inputs)
    for line in analysis.lines(shed):
        print(line)
    return analysis.fits


def _rate(name: str, text: str) -> float:
    try:
        return float(text.replace(",", "").replace("_", ""))
    except ValueError:
        raise RunError(f"--rates {name}={text}: a rate is a number of tuples a second") from None


def _costs(network: Network, path: Path | None) -> Costs:
    if path is None:
        raise RunError("what the boxes cost is not known: give --costs FILE, which `australis measure` writes")
    costs = read_costs(path)
    known = {node.name for node in network.nodes}
    if costs.boxes and not known & costs.boxes.keys():
        raise RunError(f"{path}: these are the costs of another network; it has none of the boxes of this one")
    return costs
