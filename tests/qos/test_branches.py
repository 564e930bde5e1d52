"""Branches: a partition of boxes and outputs in which nothing but inputs is shared."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

import australis as au
from australis.model.network import Network
from australis.qos.branches import Branch, branches, followed_by
from tests.plan.test_planning import networks

REPORTS = au.stream("reports", "time int, vid int")
BEATS = au.stream("beats", "time int, vid int")


def names(network: Network) -> list[str]:
    return [branch.name for branch in branches(network)]


def reaching(network: Network, box: str) -> set[str]:
    """The boxes that an arrow or a table joins with one, by going from one to the next."""
    tables = {node.name: node.box.keyed.name for node in network.nodes if node.box.keyed is not None}
    joined = [{a.source, node.name} for node in network.nodes for a in node.sources if a.source in network.named]
    joined += [{one, two} for one, two in combinations(tables, 2) if tables[one] == tables[two]]
    found, ahead = {box}, [box]
    while ahead:
        name = ahead.pop()
        more = {other for pair in joined if name in pair for other in pair} - found
        found |= more
        ahead += more
    return found


@given(networks())
def test_branches_are_what_arrows_and_tables_join(network: Network) -> None:
    found = branches(network)
    assert sorted(name for branch in found for name in branch.boxes) == sorted(network.named)
    assert sorted(name for branch in found for name in branch.outputs) == sorted(o.name for o in network.outputs)
    arrows = {output.name: output.arrow.source for output in network.outputs}
    streams = {input.name for input in network.inputs if not input.static}
    for branch in found:
        assert all(reaching(network, box) == set(branch.boxes) for box in branch.boxes)
        sources = {arrow.source for box in branch.boxes for arrow in network.named[box].sources}
        sources |= {arrows[name] for name in branch.outputs}
        assert {arrows[name] for name in branch.outputs} & set(network.named) <= set(branch.boxes)
        assert set(branch.inputs) == sources & streams
        assert branch.boxes or len(branch.outputs) == 1
    assert len(set(names(network))) == len(found)


def test_what_joins_branches_and_what_does_not() -> None:
    fast, slow = REPORTS.filter("vid > 1", box="fast"), REPORTS.filter("vid < 1", box="slow")
    assert names(au.network(fast=fast, slow=slow)) == ["fast", "slow"]
    assert names(au.network(fast=fast, slow=slow, both=fast.union(slow))) == ["fast, slow, both"]
    assert names(au.network(fast=fast, more=fast.map(time="time"), raw=REPORTS)) == ["fast, more", "raw"]
    owners = au.static("owners", "vid int, owner string")
    one, two = (stream.join(owners, "left.vid = right.vid") for stream in (REPORTS, BEATS))
    assert names(au.network(one=one, two=two)) == ["one", "two"]  # a stored table is there before all streams
    table = au.table("last", "vid int, at int", key="vid")
    written, read = REPORTS.write(table, at="time"), BEATS.read(table)
    assert names(au.network(written, read=read, raw=BEATS)) == ["read", "raw"]
    (branch, raw) = branches(au.network(written, read=read, raw=BEATS))
    assert set(branch.inputs) == {"reports", "beats"}
    assert raw == Branch((), ("raw",), ("beats",))


def test_a_branch_without_outputs_is_known_by_its_first_box() -> None:
    table = au.table("last", "vid int, at int", key="vid")
    assert names(au.network(REPORTS.write(table, at="time", box="kept"), raw=REPORTS)) == ["box kept", "raw"]


A, B, C = (Branch((f"box_{name}",), (name,), ("reports",)) for name in "abc")


@given(st.dictionaries(st.sampled_from("abc"), st.integers(0, 1)))
def test_positions_are_kept_where_branches_stay(behind: dict[str, int]) -> None:
    assert followed_by((A, B, C), (A, B, C), behind) == behind


def test_positions_of_branches_that_change() -> None:
    assert followed_by((A, B), (A, C), {"b": 1}) == {}  # one that is new is with those that are not behind
    split = [Branch(("box_b",), (), ("reports",)), Branch((), ("b",), ("reports",))]
    assert followed_by((A, B), (A, *split), {"b": 1}) == {"box box_b": 1, "b": 1}
    joined = [Branch((*A.boxes, *B.boxes), ("a", "b"), ("reports",))]
    assert followed_by((A, B), joined, {"a": 1, "b": 1}) == {"a, b": 1}
    assert followed_by((A, B), joined, {}) == {}
    assert followed_by((A, B), joined, {"b": 1}) is None
    more = [A, Branch(("box_b", "new"), ("b", "new"), ("reports", "beats"))]
    assert followed_by((A, B), more, {"b": 1}) == {"b, new": 1}
