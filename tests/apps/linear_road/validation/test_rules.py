"""The rules of Linear Road one by one: for each a feed in which nothing else matters, a right and a wrong answer."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from australis.apps.linear_road.feed import feed
from australis.apps.linear_road.validation import validate, write_reference
from tests.oracles.linear_road import Past, Road, Row, balance, expenditure, report, travel, write

Rows = list[Row]


@dataclass(frozen=True)
class Case:
    """`right` is one of the answers due, or None for a rule by which there is none.

    `wrong` is refused in its place, or beside the others where it is None; each of `also` is accepted in its place.
    """

    rows: Rows
    right: str | None
    wrong: str
    also: tuple[str, ...] = ()
    past: Past | None = None


def each(seg: int, *seen: tuple[int, int], first: int = 2) -> Rows:
    """Reports of different vehicles from a segment, at times and speeds."""
    return [report(time, first + i, seg, spd=spd) for i, (time, spd) in enumerate(seen)]


def crowd(number: int, seg: int = 5, cars: int = 51, spd: int = 30, xway: int = 0) -> Rows:
    """So many cars in a minute, none of which is seen again."""
    vid = 1000 * (number + 100 * xway + 10 * seg)
    return [report(60 * (number - 1) + i % 30, vid + i, seg, spd=spd, xway=xway) for i in range(cars)]


def drive(vid: int, start: int, *segs: int, lane: int = 1, xway: int = 0, way: int = 0) -> Rows:
    """A trip: a report every 30 s, each from one of the segments."""
    return [report(start + 30 * i, vid, seg, lane=lane, xway=xway, way=way) for i, seg in enumerate(segs)]


def stop(vid: int, start: int = 0, seg: int = 5, count: int = 4, lane: int = 2, way: int = 0, feet: int = 9) -> Rows:
    """Reports from one position."""
    return [report(start + 30 * i, vid, seg, spd=0, lane=lane, way=way, feet=feet) for i in range(count)]


def crash(start: int = 0, seg: int = 5, way: int = 0) -> Rows:
    """An accident from 90 s after the start for 30 s."""
    return stop(100 + seg, start, seg, way=way) + stop(200 + seg, start, seg, way=way)


EMPTY = Past()
ONE_MILE = Past(lav={(2, 10, 0, 5): 70.0})
DAYS_END = Past(lav={(7, 1440, 0, 5): 30.0, (1, 2, 0, 6): 15.0})
FRACTIONS = Past(lav={(1, 10, 0, 5): 40.0, (1, 11, 0, 6): 40.0, (1, 13, 0, 7): 60.0})
WEST = Past(lav={(1, 1, 1, 7): 60.0, (1, 2, 1, 6): 30.0, (1, 4, 1, 5): 10.0})
DEAR = Past(lav={(1, 1, 0, 5): 39.5}, cnt={(1, 1, 0, 5): 52.5})
FREE = Past(lav={(1, 1, 0, 5): 40.0}, cnt={(1, 1, 0, 5): 99.0})
FULL_MINUTE = Past(
    lav={(1, m, 0, s): 45.0 for m in range(1, 9) for s in range(3)} | {(1, 5, 0, 3): 60, (1, 4, 0, 3): 6}
)

CASES = {
    "second 60 is in minute 2 and looks back on second 59": Case(
        [*each(5, (59, 40)), report(60, 1, 5)], "0,1,60,60,40,0", "0,1,60,60,-1,0"
    ),
    "a report of the same minute does not count": Case(
        [*each(5, (60, 40)), report(119, 1, 5)], "0,1,119,119,-1,0", "0,1,119,119,40,0"
    ),
    "the fifth minute before counts": Case(
        [*each(5, (0, 40)), report(359, 1, 5)], "0,1,359,359,40,0", "0,1,359,359,-1,0"
    ),
    "the sixth minute before does not": Case(
        [*each(5, (0, 40)), report(360, 1, 5)], "0,1,360,360,-1,0", "0,1,360,360,40,0"
    ),
    "a car that reports twice is averaged first": Case(
        [*each(5, (0, 10), (0, 45)), report(30, 2, 5, spd=20), report(60, 1, 5)], "0,1,60,60,30,0", "0,1,60,60,25,0"
    ),
    "minutes weigh the same however many cars they have": Case(
        [*each(5, (0, 10), (0, 20), (0, 30), (60, 60)), report(120, 1, 5)], "0,1,120,120,40,0", "0,1,120,120,30,0"
    ),
    "empty minutes are left out": Case(
        [*each(5, (0, 40), (180, 20)), report(240, 1, 5)], "0,1,240,240,30,0", "0,1,240,240,12,0"
    ),
    "lav is rounded down": Case([*each(5, (0, 39), (0, 40)), report(60, 1, 5)], "0,1,60,60,39,0", "0,1,60,60,40,0"),
    "thirds add up to a whole number": Case(
        [*each(5, (0, 40), (0, 40), (0, 41), (60, 40), (60, 40), (60, 39)), report(120, 1, 5)],
        "0,1,120,120,40,0",
        "0,1,120,120,39,0",
    ),
    "with no report lav is -1": Case([report(0, 1, 5)], "0,1,0,0,-1,0", "0,1,0,0,0,0"),
    "ramps count": Case(
        [report(0, 2, 5, spd=20, lane=0), report(0, 3, 5, spd=30, lane=4), report(60, 1, 5)],
        "0,1,60,60,25,0",
        "0,1,60,60,-1,0",
    ),
    "the other direction does not count": Case(
        [report(0, 2, 5, way=1), report(60, 1, 5)], "0,1,60,60,-1,0", "0,1,60,60,50,0"
    ),
    "another expressway does not count": Case(
        [report(0, 2, 5, xway=1), report(60, 1, 5)], "0,1,60,60,-1,0", "0,1,60,60,50,0"
    ),
    "a car that comes back within the minute is one car": Case(
        [
            report(0, 2, 5, spd=10),
            report(25, 2, 6),
            report(55, 2, 5, spd=20),
            report(55, 3, 5, spd=45),
            report(60, 1, 5),
        ],
        "0,1,60,60,30,0",
        "0,1,60,60,25,0",
    ),
    "the first report of a trip notifies, on the ramp too": Case([report(7, 1, 5, lane=0)], "0,1,7,7,-1,0", ""),
    "the same segment does not notify again": Case(drive(1, 0, 5, 5), None, "0,1,30,30,-1,0"),
    "the next segment notifies": Case(drive(1, 0, 5, 6), "0,1,30,30,-1,0", ""),
    "a later trip notifies again in the same segment": Case([*drive(1, 0, 5), *drive(1, 90, 5)], "0,1,90,90,50,0", ""),
    "a report after 31 s starts a trip": Case([report(0, 1, 5), report(31, 1, 5)], "0,1,31,31,-1,0", ""),
    "a report after 29 s starts a trip": Case([report(0, 1, 5), report(29, 1, 5)], "0,1,29,29,-1,0", ""),
    "another expressway is another trip": Case([*drive(1, 0, 5), *drive(1, 30, 5, xway=1)], "0,1,30,30,-1,0", ""),
    "the exit lane notifies nothing": Case(drive(1, 0, 5, lane=4), None, "0,1,0,0,-1,0"),
    "nor in a new segment": Case([report(0, 1, 5), report(30, 1, 6, lane=4)], None, "0,1,30,30,-1,0"),
    "four reports stop a vehicle": Case([*crash(), report(120, 1, 5)], "1,120,120,1,5", ""),
    "three do not": Case([*stop(2), *stop(3, 30, count=3), report(120, 1, 5)], None, "1,120,120,1,5"),
    "four reports that are not 30 s apart do not": Case(
        [*stop(2), *stop(3, 0, count=3), report(91, 3, 5, spd=0, lane=2, feet=9), report(120, 1, 5)],
        None,
        "1,120,120,1,5",
    ),
    "a vehicle stays stopped for 29 s": Case([*crash(1), report(180, 1, 5)], "1,180,180,1,5", ""),
    "and not for 30 s": Case([*crash(0), report(180, 1, 5)], None, "1,180,180,1,5"),
    "moving in the minute does not end its accident": Case(
        [*stop(2, count=5), *stop(3, count=5), report(150, 2, 5), report(150, 3, 5), report(239, 1, 5)],
        "1,239,239,1,5",
        "",
    ),
    "the entry lane has no accidents": Case(
        [*stop(2, lane=0), *stop(3, lane=0), report(120, 1, 5)], None, "1,120,120,1,5"
    ),
    "nor has the exit lane": Case([*stop(2, lane=4), *stop(3, lane=4), report(120, 1, 5)], None, "1,120,120,1,5"),
    "one vehicle is no accident": Case([*stop(2, count=8), report(240, 1, 5)], None, "1,240,240,1,5"),
    "nor are two in different lanes": Case([*stop(2), *stop(3, lane=3), report(120, 1, 5)], None, "1,120,120,1,5"),
    "nor two a foot apart": Case([*stop(2), *stop(3, feet=10), report(120, 1, 5)], None, "1,120,120,1,5"),
    "nor two in different directions": Case([*stop(2), *stop(3, way=1), report(120, 1, 5)], None, "1,120,120,1,5"),
    "nor two that never stand there together": Case([*stop(2), *stop(3, 30), report(180, 1, 5)], None, "1,180,180,1,5"),
    "one second together is enough": Case([*stop(2), *stop(3, 29), report(120, 1, 5)], "1,120,120,1,5", ""),
    "a notification looks at the minute before, not at its own": Case(
        [*crash(), report(119, 1, 5)], None, "1,119,119,1,5"
    ),
    "nor at the one before that": Case([*crash(), report(180, 1, 5)], None, "1,180,180,1,5"),
    "four segments downstream are in reach": Case([*crash(), report(120, 1, 1)], "1,120,120,1,5", "1,120,120,1,1"),
    "five are not": Case([*crash(), report(120, 1, 0)], None, "1,120,120,1,5"),
    "upstream is not": Case([*crash(), report(120, 1, 6)], None, "1,120,120,1,5"),
    "westbound, downstream is to the west": Case(
        [*crash(way=1), report(120, 1, 9, way=1)], "1,120,120,1,5", "1,120,120,1,9"
    ),
    "and upstream to the east": Case([*crash(way=1), report(120, 1, 4, way=1)], None, "1,120,120,1,5"),
    "an accident concerns its own direction": Case([*crash(way=1), report(120, 1, 5)], None, "1,120,120,1,5"),
    "the road ends at segment 99": Case([*crash(seg=99), report(120, 1, 97)], "1,120,120,1,99", "1,120,120,1,100"),
    "and does not go on in the west": Case([*crash(seg=0), report(120, 1, 97)], None, "1,120,120,1,0"),
    "westbound it ends at segment 0": Case(
        [*crash(seg=0, way=1), report(120, 1, 2, way=1)], "1,120,120,1,0", "1,120,120,1,-1"
    ),
    "the nearest accident is told": Case(
        [*crash(), *crash(seg=7), report(120, 1, 4)], "1,120,120,1,5", "1,120,120,1,7"
    ),
    "a vehicle in the exit lane is not alerted": Case([*crash(), report(120, 1, 5, lane=4)], None, "1,120,120,1,5"),
    "a vehicle that stays is not alerted again": Case([*crash(), *drive(1, 120, 5, 5)], None, "1,150,150,1,5"),
    "an accident makes the toll 0": Case(
        [*crash(seg=7), *crowd(2), report(120, 1, 5)], "0,1,120,120,30,0", "0,1,120,120,30,2"
    ),
    "the notification comes beside the alert": Case([*crash(), report(120, 1, 5)], "0,1,120,120,0,0", ""),
    "51 cars cost": Case([*crowd(1), report(60, 1, 5)], "0,1,60,60,30,2", "0,1,60,60,30,0"),
    "53 cost 18": Case([*crowd(1, cars=53), report(60, 1, 5)], "0,1,60,60,30,18", "0,1,60,60,30,9"),
    "50 cars do not": Case([*crowd(1, cars=50), report(60, 1, 5)], "0,1,60,60,30,0", "0,1,60,60,30,2"),
    "lav 39 costs": Case([*crowd(1, spd=39), report(60, 1, 5)], "0,1,60,60,39,2", "0,1,60,60,39,0"),
    "lav 40 does not": Case([*crowd(1, spd=40), report(60, 1, 5)], "0,1,60,60,40,0", "0,1,60,60,40,2"),
    "a lav that is rounded down to 39 costs": Case(
        [*crowd(1, cars=50, spd=40), report(0, 2, 5, spd=39), report(60, 1, 5)], "0,1,60,60,39,2", "0,1,60,60,40,0"
    ),
    "only cars of the minute before are counted": Case(
        [*crowd(1), report(120, 1, 5)], "0,1,120,120,30,0", "0,1,120,120,30,2"
    ),
    "a car that reports twice is counted once": Case(
        [*crowd(1, cars=50), report(30, 1000 * 51, 5, spd=30), report(60, 1, 5)], "0,1,60,60,30,0", "0,1,60,60,30,2"
    ),
    "leaving a segment is charged": Case(
        [*crowd(1), *drive(1, 60, 5, 6), balance(91, 1, 7)], "2,91,91,91,7,2", "2,91,91,91,7,0"
    ),
    "being in it is not": Case([*crowd(1), *drive(1, 60, 5, 5), balance(91, 1, 7)], "2,91,91,91,7,0", "2,91,91,91,7,2"),
    "the toll that was quoted is charged, not the one of now": Case(
        [*crowd(1), *crowd(2, cars=53), *drive(1, 60, 5, 5, 6), balance(121, 1, 7)],
        "2,121,121,121,7,2",
        "2,121,121,121,7,18",
    ),
    "leaving by the exit ramp charges nothing": Case(
        [*crowd(1), *drive(1, 60, 5), report(90, 1, 5, lane=4), balance(121, 1, 7)],
        "2,121,121,121,7,0",
        "2,121,121,121,7,2",
    ),
    "the exit ramp of the next segment charges the one before": Case(
        [*crowd(1), *drive(1, 60, 5), report(90, 1, 6, lane=4), balance(91, 1, 7)], "2,91,91,91,7,2", "2,91,91,91,7,0"
    ),
    "a trip that just ends charges nothing for its last segment": Case(
        [*crowd(1), *drive(1, 60, 5), *drive(1, 150, 8), balance(151, 1, 7)], "2,151,151,151,7,0", "2,151,151,151,7,2"
    ),
    "an account is charged on all expressways": Case(
        [*crowd(1), *crowd(3, xway=1), *drive(1, 60, 5, 6), *drive(1, 180, 5, 6, xway=1), balance(211, 1, 7)],
        "2,211,211,211,7,4",
        "2,211,211,211,7,2",
    ),
    "another vehicle's charges are not mine": Case(
        [*crowd(1), *drive(2, 60, 5, 6), balance(91, 1, 7)], "2,91,91,91,7,0", "2,91,91,91,7,2"
    ),
    "a balance may be 60 s old": Case(
        [*crowd(1), *drive(1, 60, 5, 6), balance(120, 1, 7)],
        "2,120,120,120,7,2",
        "2,120,120,59,7,0",
        also=("2,120,120,60,7,0", "2,120,120,89,7,0", "2,120,120,91,7,2"),
    ),
    "but not of the future": Case(
        [*crowd(1), *drive(1, 60, 5, 6), balance(100, 1, 7)], "2,100,100,100,7,2", "2,100,100,101,7,2"
    ),
    "it was true at its time": Case(
        [*crowd(1), *drive(1, 60, 5, 6), balance(100, 1, 7)], "2,100,100,100,7,2", "2,100,100,91,7,0"
    ),
    "and not before": Case(
        [*crowd(1), *drive(1, 60, 5, 6), balance(100, 1, 7)], "2,100,100,100,7,2", "2,100,100,89,7,2"
    ),
    "a charge of the very second may be in or not": Case(
        [*crowd(1), *drive(1, 60, 5, 6), balance(90, 1, 7)],
        "2,90,90,90,7,2",
        "2,90,90,90,7,1",
        also=("2,90,90,90,7,0", "2,90,90,89,7,0"),
    ),
    "an answer bears the time of its request": Case([balance(90, 1, 7)], "2,90,90,90,7,0", "2,89,90,89,7,0"),
    "a vehicle that never drove owes nothing": Case(
        [balance(10, 1, 7)], "2,10,10,10,7,0", "2,10,10,10,7,1", also=("2,10,10,-50,7,0",)
    ),
    "a day's expenditure is the history's": Case(
        [expenditure(5, 1, 7, 0, 3)], "3,5,5,7,70", "3,5,5,7,0", past=Past({(1, 3, 0): 70, (1, 4, 0): 8, (1, 3, 1): 9})
    ),
    "where there is no row it is 0": Case(
        [expenditure(5, 1, 7, 0, 3)], "3,5,5,7,0", "3,5,5,7,8", past=Past({(1, 4, 0): 8, (2, 3, 0): 9})
    ),
    "a mile takes 3600 s over its speed, rounded or not": Case(
        [travel(5, 1, 7, 5, 6, dow=2, tod=10)],
        "4,5,5,7,51.4285714,0",
        "4,5,5,7,53,0",
        also=("4,5,5,7,51,0", "4,5,5,7,52,0", "4,5,5,7,51.43,0"),
        past=ONE_MILE,
    ),
    "after the day's last minute comes the next weekday's first": Case(
        [travel(5, 1, 7, 5, 7, dow=7, tod=1440)], "4,5,5,7,360,0", "4,5,5,7,-1,0", past=DAYS_END
    ),
    "a fraction of a minute is in its minute": Case(
        [travel(5, 1, 7, 5, 8, tod=10)], "4,5,5,7,240,0", "4,5,5,7,-1,0", past=FRACTIONS
    ),
    "thirds of minutes add up to a full one, or just not": Case(
        [travel(5, 1, 7, 0, 4, tod=1)], "4,5,5,7,300,0", "4,5,5,7,301,0", also=("4,5,5,7,840,0",), past=FULL_MINUTE
    ),
    "westbound segments go down": Case([travel(5, 1, 7, 7, 4)], "4,5,5,7,540,0", "4,5,5,7,180,0", past=WEST),
    "a journey's toll follows from averages": Case(
        [travel(5, 1, 7, 5, 6)], "4,5,5,7,91.139241,12.5", "4,5,5,7,91,14", also=("4,5,5,7,91,12",), past=DEAR
    ),
    "an average of 40 is free": Case([travel(5, 1, 7, 5, 6)], "4,5,5,7,90,0", "4,5,5,7,90,4802", past=FREE),
    "a segment without history has no time": Case(
        [travel(5, 1, 7, 5, 7, dow=2, tod=10)], "4,5,5,7,-1,0", "4,5,5,7,51,0", past=ONE_MILE
    ),
    "nor has an expressway without": Case([travel(5, 1, 7, 5, 6, xway=1)], "4,5,5,7,-1,0", "4,5,5,7,60,0", past=FREE),
    "weekday 0 is the last of a week, as 7 is": Case(
        [travel(5, 1, 7, 5, 7, dow=0, tod=1440)], "4,5,5,7,360,0", "4,5,5,7,-1,0", past=DAYS_END
    ),
    "minute 0 is the last of the day before": Case(
        [travel(5, 1, 7, 5, 7, dow=1, tod=0)], "4,5,5,7,360,0", "4,5,5,7,-1,0", past=DAYS_END
    ),
    "from a segment to itself is no way": Case([travel(5, 1, 7, 5, 5)], "4,5,5,7,0,0", "4,5,5,7,-1,0", past=EMPTY),
    "in an empty history there are no times": Case([travel(5, 1, 7, 5, 6)], "4,5,5,7,-1,0", "4,5,5,7,0,0", past=EMPTY),
    "and no expenditures": Case([expenditure(5, 1, 7, 0, 3)], "3,5,5,7,0", "3,5,5,7,-1", past=EMPTY),
    "fields that do not apply are ignored": Case(
        [balance(90, 1, 7)._replace(spd=30, xway=0, lane=1, dir=0, seg=5, pos=5 * 5280)], "2,90,90,90,7,0", ""
    ),
}


def numbers(lines: Iterable[str]) -> list[tuple[float, ...]]:
    return sorted(tuple(round(float(field), 3) for field in line.split(",")) for line in lines)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_rule(case: Case, tmp_path: Path) -> None:
    given, answers = feed(write(tmp_path / "feed.arrow", case.rows)), tmp_path / "answers.csv"
    due = [",".join(map(str, line)) for line in Road(case.rows, case.past).answers()]
    write_reference(given, answers, case.past)
    assert numbers(answers.read_text().splitlines()) == numbers(due)
    assert case.right is None or numbers([case.right])[0] in numbers(due)

    others = [line for line in due if case.right is None or numbers([line]) != numbers([case.right])]
    assert len(others) == len(due) - (case.right is not None)
    for right in (case.right or "", *case.also):
        answers.write_text("\n".join([right, *others]))
        assert validate(given, answers, case.past).ok, right
    answers.write_text("\n".join([case.wrong, *others]))
    assert not validate(given, answers, case.past).ok


def test_there_are_enough_rules() -> None:
    assert len(CASES) >= 30
