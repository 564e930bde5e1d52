"""Filter samples: which of the filters in a row tuples pass, each asked of all tuples that come to the row.

Measured one after another, filters tell only what they let through of what others left. So of the trains that go box
by box to be measured, a few tuples are shown to all filters of a row that cannot fail.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from australis.arrow.columns import arrow, flags
from australis.engine.superbox import Event, sampled
from australis.model.network import Node
from australis.model.qos.passing import JointPasses
from australis.model.train import Ints, Train

MOST_TUPLES = 4096
"""How many tuples of a train are shown to all filters at most, at even distances."""


@dataclass
class FilterSamples:
    """What one task counts. The filters are those of `counted_filters`, by the first box of their row."""

    filters: Mapping[str, Sequence[Sequence[Node]]] = field(default_factory=dict)
    counts: dict[tuple[str, ...], Ints] = field(default_factory=dict)
    """How many tuples passed just some filters, by their names."""
    _sampled: dict[str, bool] = field(default_factory=dict)

    def see(self, event: Event) -> None:
        """Count tuples that come to a row of filters, if their train is one of those that are measured so."""
        if not self.filters:
            return
        first = event.node if event.chain is None else event.chain.nodes[0]
        if first.name == event.node.name:
            self._sampled[first.name] = sampled(event.inputs[0])
        if event.node.name in self.filters and self._sampled[first.name]:
            for filters in self.filters[event.node.name]:
                self._count(filters, event.inputs[0])

    def _count(self, filters: Sequence[Node], train: Train) -> None:
        predicates = [node.box.selects for node in filters if node.box.selects is not None]
        names = sorted({name for predicate in predicates for name in predicate.columns}) or train.schema.names[:1]
        rows = np.arange(0, len(train), -(-len(train) // MOST_TUPLES))
        places = arrow(rows, None, pa.int64())
        schema = pa.schema([train.schema.field(name) for name in names])
        some = pa.RecordBatch.from_arrays([train[name].take(places) for name in names], schema=schema)
        patterns = np.zeros(len(rows), np.int64)
        for place, predicate in enumerate(predicates):
            patterns |= flags(predicate.bind(schema).mask(some)).astype(np.int64) << place
        counts = np.bincount(patterns, minlength=1 << len(predicates))
        key = tuple(node.name for node in filters)
        self.counts[key] = self.counts[key] + counts if key in self.counts else counts

    def passes(self) -> Iterator[JointPasses]:
        """What was counted."""
        for names, counts in self.counts.items():
            yield JointPasses(names, tuple(counts.tolist()))
