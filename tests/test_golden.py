"""Golden networks: a file, its inputs, and what must come out, however the inputs are cut into trains.

A folder of tests/golden holds `network.yaml`, a file named after each input, and `<output>.expected.*` for each output.
"""

from pathlib import Path

import pytest

import australis as au
from australis.connectors.sources import uri
from australis.testing import rows

GOLDEN = sorted(path.parent for path in Path(__file__).parent.glob("golden/*/network.yaml"))


def one(folder: Path, name: str) -> Path:
    (found,) = folder.glob(name)
    return found


@pytest.mark.parametrize("optimize", [True, False], ids=["optimized", "as drawn"])
@pytest.mark.parametrize("train", [1, 3, 65536])
@pytest.mark.parametrize("folder", GOLDEN, ids=lambda folder: folder.name)
def test_a_golden_network_gives_what_it_must(folder, train, optimize):
    net = au.load(folder / "network.yaml")
    found = net.run_local(
        {input.name: one(folder, f"{input.name}.*") for input in net.inputs}, train=train, optimize=optimize
    )
    # How several streams take turns is the runner's choice: what comes out is the same, its order need not be.
    form = sorted if sum(not input.static for input in net.inputs) > 1 else list
    for output in net.outputs:
        expected = uri.read(one(folder, f"{output.name}.expected.*"), net.schema(output.arrow))
        assert form(rows(found[output.name])) == form(row for batch in expected for row in rows(batch))


@pytest.mark.parametrize("folder", GOLDEN, ids=lambda folder: folder.name)
def test_a_golden_network_is_written_and_read_back(folder):
    net = au.load(folder / "network.yaml")
    assert au.loads(au.dumps(net)) == net
