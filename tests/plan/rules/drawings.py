"""Random networks, of boxes that are drawn from a menu; every stream between them has the same columns."""

from collections.abc import Callable, Sequence

from hypothesis import strategies as st

import australis as au
from tests.plan.rules.agreement import CARS, SCHEMA, A, B

NAMES = [part.split()[0] for part in SCHEMA.split(", ")]
KEPT = {name: name for name in NAMES}
SEEN = au.table("seen", "vid int, most int", key="vid")
PREDICATES = [
    "mph > 30", "vid = 1", "vid > 0 and mph < 70", "x > 0.5", "isnan(x) or x < 1", "name like 'a%'", "name is not null",
    "mph / vid > 3", "vid is null or mph is not null", "big < 100", "big * big > 5", "not x = 0", "time > 2", "true",
]  # fmt: skip
MAPS: list[dict[str, str]] = [
    {"x": "x * 2"},
    {"name": "upper(name)"},
    {"mph": "vid", "vid": "mph"},
    {"vid": "coalesce(vid, 0)"},
    {"big": "big - 1"},
    {"mph": "case when mph > 5 then mph else vid end"},
    {"x": "x / big", "name": "'a'"},
    {"name": "name || name"},
]

Op = Callable[["Pick", au.Stream], au.Stream]


class Pick:
    """Draws parts of a network."""

    def __init__(self, draw: Callable[..., object], predicates: Sequence[str], wide: bool) -> None:
        self.draw, self.predicates, self.wide = draw, predicates, wide
        self.streams = [A, B]
        self.taken: set[int] = set()
        self.reads = False

    def of(self, some: Sequence[object]):
        return self.draw(st.sampled_from(some))

    def predicate(self) -> str:
        return self.of(self.predicates)

    def stream(self) -> au.Stream:
        """The latest, more often than not, or in a wide network one of the first, so that boxes are equal."""
        count = len(self.streams)
        at = (
            self.of(range(min(count, 4)))
            if self.wide
            else count - 1
            if self.of((1, 1, 1, 0))
            else self.of(range(count))
        )
        self.taken.add(at)
        return self.streams[at]


def whole(stream: au.Stream, **columns: str) -> au.Stream:
    """A stream of other columns as one of ours."""
    defaults = {"time": "cast(0 as int)", "vid": "cast(1 as int)", "mph": "cast(2 as int)", "big": "cast(3 as bigint)"}
    return stream.map({**defaults, "x": "cast(4 as double)", "name": "'e'", **columns})


def keep(pick: Pick, stream: au.Stream) -> au.Stream:
    return stream.filter(pick.predicate())


def part(pick: Pick, stream: au.Stream) -> au.Stream:
    """A filter of which the rest is used, too."""
    passed = stream.filter(pick.predicate())
    pick.streams.append(passed.rest)
    return passed


def make(pick: Pick, stream: au.Stream) -> au.Stream:
    return stream.map({**KEPT, **pick.of(MAPS[:2] if pick.wide else MAPS)})


def narrow(pick: Pick, stream: au.Stream) -> au.Stream:
    """A map of a few columns."""
    return whole(
        stream, **{name: name for name in pick.of((("time", "vid"), ("mph", "time"), ("x", "name"), ("big",)))}
    )


def both(pick: Pick, stream: au.Stream) -> au.Stream:
    return stream.union(pick.stream())


def sort(pick: Pick, stream: au.Stream) -> au.Stream:
    return stream.bsort("time", pick.of((0, 2)), pick.of(((), "vid", "name")))


def window(pick: Pick, stream: au.Stream) -> au.Stream:
    counted = stream.aggregate(on="tup#", size=pick.of((1, 3)), by=["vid", "name"], mph="max(mph)", big="count(*)")
    return whole(keep_one(pick, counted), time="cast(tup as int)", vid="vid", name="name", mph="mph", big="big")


def keep_one(pick: Pick, stream: au.Stream) -> au.Stream:
    """A filter on columns of a stream other than ours."""
    return stream.filter(pick.of(("vid = 1", "name = 'a' and mph > 3", "mph > 3", "vid > 0 and name is not null")))


def hourly(pick: Pick, stream: au.Stream) -> au.Stream:
    """Windows of windows: those of the first come in order."""
    first = stream.aggregate(on="time", size=4, by=["vid", "name"], slack=1, mph="max(mph)", big="count(*)")
    second = first.aggregate(on="time", size=8, by=["vid", "name"], mph="min(mph)", big="sum(big)")
    return whole(keep_one(pick, second), time="time", vid="vid", name="name", mph="mph")


def classes(pick: Pick, stream: au.Stream) -> au.Stream:
    joined = stream.join(CARS.filter("plate != 'D'"), "left.vid = right.vid")
    some = joined.filter(pick.of(("mph > 3 and class > 1", "plate = 'B'", "x > 0.5", "vid_right = 1 or mph > 3")))
    return some.map({**KEPT, "mph": "class"})


def pairs(pick: Pick, stream: au.Stream) -> au.Stream:
    order = au.order("time", by="vid", slack=pick.of((0, 1)))
    joined = stream.join(pick.stream(), "left.vid = right.vid", on=[order, order], size=2)
    return joined.filter(pick.of(("mph > 3", "mph_right > 3 and mph > 3", "x > x_right"))).map({**KEPT, "x": "x_right"})


def look_up(pick: Pick, stream: au.Stream) -> au.Stream:
    pick.reads = True
    return (
        stream.read(SEEN).filter(pick.of(("mph > 3", "most > 3", "most > 3 and vid = 1"))).map({**KEPT, "mph": "most"})
    )


@st.composite
def networks(
    draw: Callable[..., object],
    menu: Sequence[Op],
    boxes: int,
    predicates: Sequence[str] = PREDICATES,
    wide: bool = False,
    filtered: bool = False,
):
    """With `filtered`, all but writes of tables take inputs through filters alone."""
    pick = Pick(draw, predicates, wide)
    if filtered:
        pick.streams = [keep(pick, stream) for stream in pick.streams]
    for _ in range(boxes):
        stream = pick.stream()
        made = pick.of(menu)(pick, stream)
        pick.streams.append(made)
    writer = [A.write(SEEN, most="greatest(mph, old.most)")] if pick.reads else []
    ends = [stream for at, stream in enumerate(pick.streams) if at not in pick.taken and at > 1]
    return au.network(*writer, {f"out{at}": stream for at, stream in enumerate(ends)})
