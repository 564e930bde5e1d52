"""What boxes say of themselves, held against what they give."""

from pathlib import Path

import pytest

import australis as au
from australis.model.box import lost

ROOT = Path(__file__).parents[2]
NETWORKS = sorted([*ROOT.glob("tests/golden/*/network.yaml"), *ROOT.glob("examples/**/*.yaml")])


def sides() -> au.Network:
    """Boxes with late tuples of several inputs."""
    one = au.stream("one", "k int, a segment<int16>")
    two = au.stream("two", "k int, b segment<int16>")
    ranges = au.stream("ranges", "k int, start bigint, end bigint, keep boolean")
    zipped, cut = one.signal.zip(two, by="k", box="zip"), ranges.signal.sync(one, by="k", box="sync")
    return au.network(
        zip=zipped, cut=cut, first=zipped.port("late_1"), second=zipped.port("late_2"), signal=cut.port("late_1")
    )


def check(net: au.Network) -> None:
    for node in net.nodes:
        inputs = [net.schema(arrow) for arrow in node.sources]
        for port, schema in net.schemas[node.name].items():
            for side, columns in node.box.passes(port, *inputs).items():
                assert not lost(port) or schema.equals(inputs[side]), f"{node.name}.{port}"
                for name, there in columns.items():
                    assert inputs[side].field(name).type == schema.field(there).type, f"{node.name}.{port}: {name}"
            for name in node.box.sorts(port) or ():
                assert name in schema.names, f"{node.name}.{port}: {name}"


@pytest.mark.parametrize("path", NETWORKS, ids=lambda path: path.parent.name)
def test_columns_that_pass_are_there_and_lost_tuples_are_those_that_came(path: Path) -> None:
    check(au.load(path))


def test_late_tuples_of_several_inputs_are_those_of_their_own() -> None:
    check(sides())
