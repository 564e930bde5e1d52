"""The optimizer of a run: when it tries its rules, what it leaves alone, and answers that stay the same."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import australis as au
from australis.connectors.source import Source
from australis.connectors.sources.memory import MemorySource
from australis.engine.checkpoint import Checkpoint
from australis.engine.job import Job
from australis.engine.optimizing import ENOUGH, ENOUGH_COUNTED, WARM, Optimizer, follow, known_costs, rearranged
from australis.engine.succession import planned
from australis.errors import RunError
from australis.model.network import Network
from australis.model.qos.costs import BoxCost, Costs
from australis.plan.drawn import optimized
from australis.qos.monitor import Monitor
from tests.engine.test_succession import OWNERS, REPORTS, owners, ran, tuples

FILTERS = ("mph >= 1", "vid >= 1", "seg >= 1", "time >= 5", "mph < 90")


def filtered(stream: au.Stream = REPORTS) -> au.Stream:
    for number, predicate in enumerate(FILTERS, 1):
        stream = stream.filter(predicate, box=f"f{number}")
    return stream


NET = au.network(out=filtered().aggregate(on="time", size=50, by="vid", n="count(*)", box="stats"))


def backwards(monitor: Monitor | None, network: Network) -> Costs:
    """Costs by which the last of the filters in a row is the best to begin with."""
    order = [node.name for node in network.nodes if node.box.selects is not None]
    boxes = {name: BoxCost(1e-6 / (place + 1), {"out": 0.5}) for place, name in enumerate(order)}
    return Costs(boxes | {node.name: BoxCost(1e-6, {"out": 1.0}) for node in network.nodes if node.name not in boxes})


def order(network: Network) -> list[str]:
    return [node.name for node in network.nodes if node.box.selects is not None]


def job_of(net: Network, folder: Path, partitions: int = 2) -> Job:
    given = {"reports": MemorySource((tuples(),)), "owners": MemorySource((owners(),))}
    sources: dict[str, Source] = {input.name: given[input.name] for input in net.inputs}
    return Job(net, planned(net, sources, partitions), sources, str(folder), partitions)


def measured(network: Network, taken: int, given: Callable[[str], float]) -> list[dict[str, Any]]:
    """The rows of a batch in which boxes took so many tuples each."""
    empty = dict.fromkeys(("port", "seconds", "taken", "given", "fixed"))
    boxes = [
        empty | {"kind": "box", "name": node.name, "seconds": taken * 1e-7, "taken": taken} for node in network.nodes
    ]
    arrows = [
        empty | {"kind": "arrow", "name": node.name, "port": "out", "given": int(taken * given(node.name))}
        for node in network.nodes
    ]
    return [*boxes, *arrows]


def test_filters_are_reordered_by_what_was_measured() -> None:
    optimizer = Optimizer(NET, wait=0.0)
    rows = measured(NET, ENOUGH, lambda name: 0.1 if name == "f5" else 0.9)
    found = [optimizer.after(rows) for _ in range(WARM + 1)]
    assert found[:-1] == [None] * WARM  # they compile
    assert found[-1] is not None
    network, firings = found[-1]
    assert order(network)[0] == "f5"
    assert [firing.rule for firing in firings] == ["reorder"]
    assert firings[0].gain is not None
    assert firings[0].gain > 0.5


def test_a_box_that_had_few_tuples_is_not_known() -> None:
    monitor = Monitor().add(measured(NET, ENOUGH - 1, lambda name: 0.5), 0.0)
    assert known_costs(monitor, NET).boxes == {}
    monitor = monitor.add(measured(NET, 1, lambda name: 0.5), 0.0)
    assert known_costs(monitor, NET).boxes.keys() == NET.named.keys()


def test_rules_are_not_tried_before_their_time() -> None:
    tries = []

    def measure(monitor: Monitor, network: Network) -> Costs:
        tries.append(network)
        return Costs()

    optimizer = Optimizer(NET, measure, wait=3600.0, warm=0)
    assert optimizer.after([]) is None
    assert not tries
    optimizer.wait = 0.0
    assert optimizer.after([]) is None
    assert len(tries) == 1


def test_a_network_without_filters_in_a_row_is_not_even_measured() -> None:
    net = au.network(out=REPORTS.filter("mph > 3").aggregate(on="time", size=50, by="vid", n="count(*)"))
    optimizer = Optimizer(net, backwards, wait=0.0, warm=0)
    assert optimizer.idle
    assert optimizer.after(measured(net, ENOUGH, lambda name: 0.5)) is None
    assert optimizer.monitor == Monitor()


def test_what_was_measured_in_another_place_no_longer_counts() -> None:
    optimizer = Optimizer(NET, backwards, wait=0.0, warm=0)
    better = optimizer.after(measured(NET, ENOUGH, lambda name: 0.5))
    assert better is not None
    optimizer.follow(*better)
    assert {name for _, name, _ in optimizer.monitor.tuples} == {"stats"}


def test_what_filters_pass_counts_in_any_order_as_long_as_they_are_the_same() -> None:
    names, counts = ("f1", "f2", "f3", "f4", "f5"), [0] * 32
    counts[0b11110], counts[0b11101] = ENOUGH_COUNTED - 1, 0  # all but f1, and all but f2
    told = {"kind": "filters", "name": ", ".join(names), "port": None, "passes": counts}
    optimizer = Optimizer(NET, wait=0.0, warm=0)
    assert optimizer.after([*measured(NET, ENOUGH, lambda name: 0.9), told]) is None
    assert known_costs(optimizer.monitor, NET).passes == ()
    counts[0b11101] = 5 * ENOUGH_COUNTED
    better = optimizer.after([*measured(NET, ENOUGH, lambda name: 0.9), told])
    assert better is not None  # f2 removes most tuples, and f1 the others
    assert order(better[0])[:2] == ["f2", "f1"]
    optimizer.follow(*better)
    (passes,) = known_costs(optimizer.monitor, better[0]).passes
    assert passes.filters == names
    assert passes.part({"f2"}) == pytest.approx(2 * (ENOUGH_COUNTED - 1) / (7 * ENOUGH_COUNTED - 2), rel=0.01)
    other = au.network(out=REPORTS.filter("mph >= 77", box="f1").filter("vid >= 1", box="f2"))
    optimizer.follow(other)
    assert optimizer.monitor.passes == {}


def test_a_network_that_goes_to_and_fro_is_left_alone_for_longer_and_longer() -> None:
    optimizer = Optimizer(NET, backwards, wait=1e-9, warm=0)
    waits = []
    for _ in range(4):
        better = optimizer.after([])
        assert better is not None
        optimizer.follow(*better)
        waits.append(optimizer._returns)
    assert waits == [0, 1, 2, 3]


@pytest.mark.parametrize("partitions", [1, 2])
@pytest.mark.parametrize("warm", [True, False], ids=["warm", "cold"])
def test_answers_are_the_same_when_filters_change_places_in_the_middle(
    partitions: int, warm: bool, tmp_path: Path
) -> None:
    better = Optimizer(NET, backwards, wait=0.0, warm=0).after([])
    assert better is not None
    assert order(better[0]) == ["f5", "f4", "f3", "f2", "f1"]
    found = ran([NET, better[0], NET, better[0]], partitions, warm, tmp_path)
    expected = NET.run_local(reports=tuples(), optimize=False)["out"]
    assert found["out"] == Counter(map(tuple, (row.values() for row in expected.to_pylist())))


def test_a_job_goes_on_with_its_state_and_its_drawn_network(tmp_path: Path) -> None:
    job, better = job_of(NET, tmp_path), Optimizer(NET, backwards, wait=0.0, warm=0).after([])
    assert better is not None
    after = rearranged(job, 1, *better, 2)
    assert after is not None
    assert after.network == better[0]
    assert after.drawn_network == NET
    assert after.firings == tuple(better[1])
    assert {each.name for each in job.lineages} & {each.name for each in after.lineages}
    checkpoint = Checkpoint(tmp_path / "checkpoint")
    with checkpoint.begin():
        checkpoint.keep(after)
        saved = checkpoint.network(2)
    assert saved.network() == after.network
    assert saved.drawing() == after.drawn
    assert saved.firings == after.firings


def test_a_change_that_would_lose_something_is_not_made(tmp_path: Path) -> None:
    job = job_of(NET, tmp_path)
    gone = au.network(out=filtered())
    assert rearranged(job, 1, gone, (), 2) is None
    stored = au.network(out=filtered(), names=OWNERS.map(owner="owner", box="names"))
    other = au.network(out=filtered(), names=OWNERS.map(owner="upper(owner)", box="names"))
    assert rearranged(job_of(stored, tmp_path), 1, other, (), 2) is None


def test_what_stored_tables_gave_does_not_come_again(tmp_path: Path) -> None:
    named = REPORTS.map(vid="vid", owner="cast(mph as string)", box="named")
    slow = named.filter("vid > 1", box="f").filter("owner > '3'", box="g")
    net = au.network(all=slow.union(OWNERS, box="all"))
    better = Optimizer(net, backwards, wait=0.0, warm=0).after([])
    assert better is not None
    job = job_of(net, tmp_path)
    after = rearranged(job, 1, *better, 2)
    assert after is not None
    assert "all" in after.unchanged


def test_a_network_that_people_change_finds_the_state_that_rules_have_made(tmp_path: Path) -> None:
    pairs = REPORTS.join(OWNERS, "left.vid = right.vid", box="pairs")
    drawn = au.network(out=pairs.filter("mph > 50", box="fast"))
    running, made = optimized(drawn)
    assert made is not None
    assert made.altered
    job = replace(job_of(running, tmp_path), drawn=made)
    beside = au.network(out=pairs.filter("mph > 50", box="fast"), slow=REPORTS.filter("mph < 5", box="slow"))
    after = follow(job, 1, beside, job.sources, 2)
    assert after.drawn_network == beside
    assert {name: after.network.named[name] for name in running.named} == dict(running.named)
    assert after.firings == ()
    whole = au.network(out=pairs.filter("mph > 50", box="fast"), all=pairs)
    with pytest.raises(RunError, match="box pairs: rules of the optimizer have changed what the run holds for it"):
        follow(job, 1, whole, job.sources, 2)
    assert follow(job, 1, whole, job.sources, 2, lossy=True).network.named["fast"] == whole.named["fast"]


def test_a_network_that_people_change_is_optimized_where_state_stays(tmp_path: Path) -> None:
    job = job_of(NET, tmp_path)
    maps = REPORTS.map(mph="mph", box="m").map(m="mph * 2", box="n")
    other = replace(
        NET, nodes=(*NET.nodes, *au.network(x=maps).nodes), outputs=(*NET.outputs, *au.network(x=maps).outputs)
    )
    after = follow(job, 1, other, job.sources, 2)
    assert after.drawn_network == other
    assert "m_n" in after.network.named
    assert after.network.named["stats"].box == NET.named["stats"].box
    assert follow(job, 1, other, job.sources, 2, rules=False).network == other


def test_rules_that_did_the_same_before_are_not_told_again_when_people_change_the_network(tmp_path: Path) -> None:
    def drawn(**more: au.Stream) -> Network:
        maps = REPORTS.map(mph="mph", box="m").map(m="mph * 2", box="n")
        stats = filtered().aggregate(on="time", size=50, by="vid", n="count(*)", box="stats")
        return au.network(out=stats, x=maps, **more)

    def rules(job: Job) -> list[str]:
        return [str(firing) for firing in job.firings]

    maps = REPORTS.map(vid="vid", box="p").map(v="vid + 1", box="q")
    running, made = optimized(drawn())
    assert made is not None
    assert [str(firing) for firing in made.firings] == ["combine m, n, m_n", "project stats_columns, stats"]
    job = replace(job_of(running, tmp_path), drawn=made, firings=made.firings)
    assert rules(follow(job, 1, drawn(slow=REPORTS.filter("mph < 5", box="slow")), job.sources, 2)) == []
    more = drawn(y=maps)
    assert rules(follow(job, 1, more, job.sources, 2)) == ["combine p, q, p_q"]
    better = Optimizer(running, backwards, wait=0.0, warm=0).after([])
    assert better is not None
    turned = rearranged(job, 1, *better, 2)
    assert turned is not None
    assert [firing.rule for firing in turned.firings] == ["reorder"]
    after = follow(turned, 5, more, job.sources, 3)
    assert rules(after) == ["combine p, q, p_q"]
    assert rules(follow(after, 8, drawn(), job.sources, 4)) == []
    # Of other boxes, a rule of the same words is another.
    other = au.network(out=REPORTS.map(mph="mph", box="m").map(m="mph * 3", box="n"))
    assert rules(follow(after, 8, other, job.sources, 4, lossy=True)) == ["combine m, n, m_n"]
