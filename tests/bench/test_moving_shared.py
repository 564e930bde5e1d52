"""How many queries fit in a memory. The experiments themselves run in the tests of `moving_paper`."""

import pytest

from australis.bench.moving_shared import Bytes, _most_queries

BYTES = Bytes(object=100.0, query=10.0, alone=5.0)


def test_queries_that_share_pay_for_an_object_once() -> None:
    assert BYTES.shared(3, 4) == 3 * 10 + 4 * 100
    assert BYTES.apart(3) == 3 * (10 + 5 * 100)


@pytest.mark.parametrize("memory", [120.0, 1000.0, 54_321.0])
def test_the_most_queries_that_fit_are_found(memory: float) -> None:
    """Each brings an object with it, up to fifty: to a thousandth, as many as a search one by one finds."""
    found = _most_queries(BYTES, lambda queries: min(queries, 50), memory)
    most = max(count for count in range(1, 6000) if BYTES.shared(count, min(count, 50)) <= memory)
    assert most - max(1, most // 1000) <= found <= most
