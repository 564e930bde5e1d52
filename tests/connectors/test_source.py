"""Sources: all that one has, batch by batch."""

import pyarrow as pa
import pytest

from australis.connectors.source import Known, Placed, Releasing, parts
from australis.connectors.sources.iterated import Iterated
from australis.connectors.sources.memory import MemorySource

BATCHES = tuple(pa.record_batch({"a": list(range(low, low + 3))}) for low in (0, 3))


@pytest.mark.parametrize("limit", [1, 2, 6, 100])
def test_all_that_a_source_has_in_order_however_long_batches_are(limit: int) -> None:
    found = list(parts(MemorySource(BATCHES), limit))
    assert [value for part in found for value in part.tuples["a"].to_pylist()] == list(range(6))
    assert [number for part in found for number in part.number.tolist()] == list(range(1, 7))


def test_a_source_is_asked_for_what_it_can_do() -> None:
    iterated = Iterated("a", BATCHES[0].schema, iter(BATCHES))
    assert isinstance(iterated, Placed)
    assert not isinstance(iterated, Known)
    assert not isinstance(iterated, Releasing)
