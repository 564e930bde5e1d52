"""Shed note: how many answers of each kind a run has left out, beside its answers for the validator."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from australis.apps.linear_road.record import OUTPUTS
from australis.apps.linear_road.validation.verdict import NAMES
from australis.errors import RunError
from australis.model.network import Network

if TYPE_CHECKING:
    from australis.engine.spark.run import Run


def note_of(output: Path) -> Path:
    """The file of the note for a file of answers."""
    return output.with_name(f"{output.name}.shed.json")


def write_note(run: Run, output: Path) -> dict[str, int | None]:
    """Write what a run has shed since its beginning, and return that; no note stays if it has shed nothing."""
    shed = {NAMES[OUTPUTS[name]]: count for name, count in shed_answers(run.optimized, run.totals.shed).items()}
    try:
        if shed:
            note_of(output).write_text(json.dumps(shed) + "\n")
        else:
            note_of(output).unlink(missing_ok=True)
    except OSError as error:
        raise RunError(f"{note_of(output)}: {error.strerror}; what was shed is not noted: {shed}") from None
    return shed


def shed_answers(network: Network, shed: Mapping[str, int]) -> dict[str, int | None]:
    """How many answers of outputs are missing, from the tuples that were shed by place (`run.totals.shed`).

    None where that cannot be told: a box between the place and the output does not give a result for each tuple.
    """
    missing: dict[str, int | None] = {}
    for place, count in shed.items():
        kind, _, name = place.partition(" ")
        for output, each in _below(network, kind, name).items() if count else ():
            before = missing.get(output, 0)
            missing[output] = before + count if each and before is not None else None
    return missing


def _below(network: Network, kind: str, name: str) -> dict[str, bool]:
    """The outputs below a place, and whether each of its tuples would have come to one result there."""
    if kind == "output":
        return {name: True}
    reached = {name: kind == "input" or (name in network.named and network.named[name].box.keeps_all)}
    for node in network.nodes:
        above = [reached[arrow.source] for arrow in node.sources if arrow.source in reached]
        if above and node.name not in reached:
            reached[node.name] = all(above) and node.box.keeps_all
    return {output.name: reached[output.arrow.source] for output in network.outputs if output.arrow.source in reached}
