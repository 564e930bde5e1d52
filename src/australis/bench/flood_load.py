"""Flood load: how many expressways and requests a machine holds, by the model of `australis check`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from australis.apps.linear_road.record import BALANCE, EXPENDITURE, REPORT, TRAVEL
from australis.model.network import OUT, Arrow
from australis.qos.analysis import Analysis
from australis.qos.load import LoadModel

INPUT, TYPES, JOURNEYS = "sent", "types", "journeys"
PORTS = {REPORT: "1", BALANCE: "2", EXPENDITURE: "3", TRAVEL: "4"}
"""The port of the box `types` by which tuples of a type leave it."""


@dataclass(frozen=True)
class FloodLoad:
    """What the tuples of Linear Road take of a machine, whatever part of them is of which type."""

    model: LoadModel
    sent: Mapping[int, float]
    """The part of each type in what vehicles send without a flood."""

    @property
    def reports(self) -> float:
        """The tuples a second that vehicles may send without a flood."""
        return self.model.most / self._seconds(self.sent)

    @property
    def hopeless(self) -> float:
        """The tuples a second that vehicles send alone at which the headroom is full of work, whatever is shed."""
        return self.model.machine.headroom / self._seconds(self.sent)

    @property
    def journeys(self) -> float:
        """The requests for travel times a second that could be answered if there were nothing else."""
        return self.model.most / self._seconds({TRAVEL: 1.0})

    def kept(self, reports: float, journeys: float) -> float:
        """The part of travel times that fits beside what vehicles send, by tuples a second."""
        sent = {kind: self.sent.get(kind, 0.0) * reports for kind in PORTS}
        model = self._with(sent | {TRAVEL: sent[TRAVEL] + journeys})
        road = Analysis(model, {INPUT: reports + journeys}).road
        return road.at(model.most).kept[JOURNEYS]

    def _seconds(self, types: Mapping[int, float]) -> float:
        """The part of a second that the machine takes for a tuple of a mix of types."""
        return self._with(types).coefficients[Arrow(INPUT, OUT)]

    def _with(self, types: Mapping[int, float]) -> LoadModel:
        """The model for another mix of types."""
        whole, costs = sum(types.values()), self.model.costs
        ports = {port: types.get(kind, 0.0) / whole for kind, port in PORTS.items()}
        boxes = {**costs.boxes, TYPES: replace(costs.boxes[TYPES], selectivity=ports)}
        return replace(self.model, costs=replace(costs, boxes=boxes))
