"""Ways to append."""

import pytest

from australis.bench import signal_memory
from australis.bench.applications import SOUNDS

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", signal_memory.MANAGERS)
def test_all_managers_append_the_same(name: str) -> None:
    first, second, third = signal_memory._split(SOUNDS["pipeline"].frames(0, 1500)[:, 0].copy())
    append = signal_memory.MANAGERS[name]
    assert append(append(first, second), third) == first.append(second).append(third)
