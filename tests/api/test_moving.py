"""`stream.moving`: which boxes `watch` and `ask` draw."""

import pytest

import australis as au

SHIPS = au.stream("ships", "id int, x double, y double")
CIRCLES = au.stream("circles", "query string, kind string, x double, y double, radius double")
NEAREST = au.stream("nearest", "query string, kind string, x double, y double, k int")
CIRCLE = {"kind": "circle", "x": 0, "y": 0, "radius": 9}
KNN = {"kind": "knn", "k": 1, "x": 0, "y": 0}


def kinds(stream: au.Stream) -> list[str]:
    return [node.box.kind for node in au.network(out=stream).nodes]


@pytest.mark.parametrize(
    ("queries", "spread", "boxes"),
    [
        (CIRCLES, None, ["watch"]),
        (NEAREST, None, ["watch"]),
        (CIRCLES, 1, ["lead", "watch"]),
        (NEAREST, 2, ["lead", "watch", "nearest", "union"]),
    ],
)
def test_partitions_that_share_queries_have_a_lead_and_merge_the_nearest(
    queries: au.Stream, spread: int | None, boxes: list[str]
) -> None:
    assert kinds(SHIPS.moving.watch(queries, spread=spread)) == boxes


@pytest.mark.parametrize(("spread", "share"), [(None, 10), (1, 10), (3, 3), (11, 1)])
def test_each_partition_has_its_share_of_the_budget_and_never_none(spread: int | None, share: int) -> None:
    (watch,) = [
        node.box
        for node in au.network(out=SHIPS.moving.watch(CIRCLES, cache=1.0, budget=10, spread=spread)).nodes
        if node.box.kind == "watch"
    ]
    assert watch.budget == share  # type: ignore[attr-defined]


def test_no_partition_is_refused() -> None:
    with pytest.raises(au.NetworkError, match="`spread` is a number of partitions, 1 or more, not 0"):
        SHIPS.moving.watch(CIRCLES, spread=0)


def test_queries_that_are_known_need_boxes_for_the_nearest_alone() -> None:
    assert kinds(SHIPS.moving.ask({"near": CIRCLE})) == ["ask"]
    assert kinds(SHIPS.moving.ask({"next": KNN})) == ["ask", "nearest"]
    assert kinds(SHIPS.moving.ask({"near": CIRCLE, "next": KNN})) == ["ask", "nearest", "union"]
