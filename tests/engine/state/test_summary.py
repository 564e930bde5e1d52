"""A summary of the state on a checkpoint folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from australis.engine.state import state
from australis.engine.state.store import DELTA, SNAPSHOT, store
from australis.engine.state.summary import describe
from tests.engine.state.test_state import held, often, script, scripted


@pytest.fixture
def checkpoint() -> Iterator[Path]:
    with often() as path:
        yield path


def test_a_summary_tells_what_a_checkpoint_holds(checkpoint: Path) -> None:
    assert describe(checkpoint) == []
    scripted(checkpoint, 0, 10, partition=1)
    scripted(checkpoint, 0, 2)
    state.open(checkpoint, "a/b c", 11, 0, script.tables, network=5).commit(1)
    (checkpoint / "state" / "stage" / "notes.txt").write_text("by hand")
    odd, first, second = describe(checkpoint)
    assert (odd.stage, odd.partition, odd.version, odd.oldest, odd.network, odd.rows) == ("a/b c", 11, 1, 0, 5, 0)
    assert (first.stage, first.partition, first.version, first.oldest) == ("stage", 0, 2, 0)
    assert (second.partition, second.version, second.oldest) == (1, 10, 6)
    assert second.tables == {"writer": {"table": len(script.expected(10))}}
    paths = list((checkpoint / "state" / "stage" / "1").iterdir())
    assert (second.files, second.bytes) == (len(paths), sum(path.stat().st_size for path in paths))
    for version in (second.oldest, second.version):
        assert held(checkpoint, version, 1) == script.expected(version)
    assert store(checkpoint, "stage", 1).head(9, SNAPSHOT) is not None
    assert store(checkpoint, "stage", 1).head(5, DELTA) is None
