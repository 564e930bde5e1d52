"""Which objects are kept, and what is given back."""

import gc
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

import australis as au
from australis.boxes.moving import Watch
from australis.plan import plan
from australis.testing import Cut, train
from tests.oracles.answers import Sums
from tests.oracles.moving import steps
from tests.planned import Planned, Step


def test_each_partition_keeps_its_part_of_a_budget() -> None:
    """One query that wants all objects, and needs a quarter of them."""
    wanted = "query int, kind string, x double, y double, radius double, k int, accuracy double"
    objects, queries = au.stream("o", "id int, x double, y double"), au.stream("q", wanted)
    seen = objects.moving.watch(queries, cache=0, budget=8, spread=2, box="watch")
    net = au.network(seen=seen, refused=seen.port("refused"), accuracy=seen.port("accuracy"))
    planned, sums = Planned(net, plan(net), 2, exact=False), Sums()
    query = {"query": 1, "kind": "circle", "x": 0.0, "y": 0.0, "radius": 9.0, "k": None, "accuracy": 0.25}
    planned.step(Step({"q": [query]}))
    planned.step(Step({"o": [{"id": each, "x": 1.0, "y": 0.0} for each in range(20)]}))
    held = [tables["watch"] for tables in planned.tables[planned.plan.stage_of("watch").index]]
    kept = [len(each["objects"]) for each in held]
    known = [len(each["objects"]) + len(each["shadows"]) for each in held]
    assert sum(known) == 20
    assert all(known)
    assert all(count <= max(4, whole / 4 + 1) for count, whole in zip(kept, known, strict=True))
    sums.add((sign, each) for _, sign, each in planned.found["seen"])
    assert len(sums.rows()) == sum(kept) < 20
    assert [round(part * whole) for (_, part), whole in zip(planned.found["accuracy"], known, strict=True)] == kept


@pytest.mark.slow
def test_memory_is_given_back() -> None:
    """Of 40,000 objects a fifth must stay; bytes are those that Python says it holds."""
    many = np.arange(40_000)
    reports = train("id bigint, x double, y double, time bigint, a bigint, b bigint, c bigint", id=many, x=many % 200,
        y=many // 200, time=many * 0, a=many, b=many, c=many)  # fmt: skip
    wanted = train(
        "query int, kind string, x int, y int, width int, height int, accuracy double",
        query=[1], kind=["rectangle"], x=[100], y=[100], width=[300], height=[300], accuracy=[0.2],
    )  # fmt: skip
    whole = Watch(cache=0, time="time", carry=("a", "b", "c"))
    held, light = {}, replace(whole, budget=8000)
    list(steps(light, [reports, wanted], Cut(())))  # what is loaded for the first time would count
    for name, each in {"whole": whole, "light": light}.items():
        tracemalloc.start()
        (tables,) = [tables for _, _, tables in steps(each, [reports, wanted], Cut(()))]
        gc.collect()
        held[name] = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        told_of = sum(table.nbytes for table in tables.values())
        assert abs(held[name] - told_of) < 0.2 * told_of
    assert (len(tables["objects"]), len(tables["shadows"])) == (8000, 32000)
    assert held["light"] < 0.5 * held["whole"]
