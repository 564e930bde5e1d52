"""A fleet of moving objects, queries about it that name an accuracy, and the network that answers them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

import australis as au
from australis.api.network import Network
from australis.arrow.schema import schema
from australis.bench.moving_load import Load
from australis.bench.overload_capacity import CORES
from australis.bench.overload_network import INPUT
from australis.connectors.sources.load_curve import LoadCurve
from australis.connectors.sources.rate import Rate

ALERTS, ANSWERS, QUERIES = "alerts", "answers", "queries"
REPORT = "time timestamptz, id bigint, x double, y double, mph double"
QUERY = "query bigint, kind string, x double, y double, width double, height double, focal bigint, accuracy double"
ACCURACIES = (0.05, 0.1, 0.2)
"""What most queries are content with, in turns."""
DEMANDING, SMALL = 0.5, 0.02
"""What the smallest queries ask for, and which part of all they are. If they were many, others could miss little."""
SIZES = (0.0025, 0.01)
"""The least and the largest part of the space that a query covers."""
STRIDE = 0.004
"""How far an object goes between two reports at most, in each direction, where the sides of the space are 1."""
STEPS = 4000
"""Over how many tenths of a second an object is driven ahead when it enters or leaves an answer: updates are dear."""
_FAST = "mph > 99"


@dataclass(frozen=True)
class Fleet:
    """Objects that report in turn, and squares that are asked about, half of which move with an object.

    With every report an object goes straight on by the same stride, and turns back at the edge of the space. So a
    report leads to about as many updates however many of them come in a second.
    """

    objects: int = 10_000
    queries: int = 2_000

    def columns(self) -> dict[str, str]:
        """A report, made of its number."""

        def place(share: float, prime: int) -> str:
            """Places that fill the space evenly, and strides that differ from object to object."""
            stride = f"(n % {self.objects} * {prime} % 1009 / 504 - 1) * {STRIDE}"
            return f"abs((n % {self.objects} * {share} + n // {self.objects} * {stride} + 1000) % 2 - 1)"

        return {
            "id": f"n % {self.objects}",
            "x": place(0.7548776662466927, 31),
            "y": place(0.5698402909980532, 577),
            "mph": "n * 7919 % 1009 / 10.09",
        }

    def source(self, curve: LoadCurve | float, tuples: int | None, began: int | None) -> Rate:
        """Reports by a load curve; they cannot wait. Those of the same numbers are the same."""
        return Rate(schema(REPORT), curve, tuple(self.columns().items()), limit=tuples, began=began)

    def reports(self, curve: LoadCurve | float, began: int, first: int, last: int) -> Iterator[pa.RecordBatch]:
        """The reports of such a source from a number up to before another."""
        made = self.source(curve, None, began)
        for split in made.splits({"began": began, "n": first}, {"began": began, "n": last}, 1):
            for part in made.read(split):
                yield part.tuples

    def query_rows(self) -> pa.RecordBatch:
        """All queries, with the accuracies that they ask for."""
        rows = Load(self.objects, self.queries, *SIZES).query_rows()
        sizes, most = rows["width"].to_numpy(), np.resize(ACCURACIES, self.queries)
        accuracy = np.where(sizes <= np.quantile(sizes, SMALL), DEMANDING, most)
        columns = {name: rows[name] for name in schema(QUERY).names} | {"accuracy": pa.array(accuracy)}
        return pa.RecordBatch.from_pydict(columns, schema=schema(QUERY))

    def feed(
        self, network: Network, curve: LoadCurve | float, tuples: int | None, began: int | None, patient: bool = False
    ) -> dict[str, Any]:
        """What the inputs of the network are given: all queries at once, and reports by a load curve."""
        assert not patient, "reports of a fleet cannot wait"
        return {QUERIES: pa.Table.from_batches([self.query_rows()]), INPUT: self.source(curve, tuples, began)}


def watched() -> Network:
    """Alerts that are exact and soon due, and answers of which a part is enough.

    They share their first box, so that neither can wait for the other.
    """
    reports = au.stream(INPUT, REPORT).filter("id is not null", box="known")
    updates = reports.moving.watch(au.stream(QUERIES, QUERY), every="train", carry="mph", spread=CORES, box="watch")
    columns = {"query": "query", "sign": "sign", "id": "id", "soon": f"overload_ahead(mph, 95.0, {STEPS})"}
    return au.network(
        alerts=reports.filter(_FAST, box=ALERTS).output(latency={1: 1, 3: 0}),
        answers=updates.map(columns, box="expected").output(
            latency={2: 1, 10: 0}, delivered={0: 0, 0.3: 0.9, 1: 1}
        ),
    )  # fmt: skip


def exact() -> Network:
    """The same alerts and answers without graphs, in one partition, and without what makes updates dear."""
    reports = au.stream(INPUT, REPORT)
    updates = reports.moving.watch(au.stream(QUERIES, QUERY), every="train")
    return au.network(alerts=reports.filter(_FAST), answers=updates)
