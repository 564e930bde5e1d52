"""What vehicles can send: every field in its range, in every form, wherever a file is cut."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import ipc

from australis.apps.linear_road.census import census
from australis.apps.linear_road.drive import drive
from australis.apps.linear_road.feed import feed
from australis.apps.linear_road.record import INPUT
from australis.apps.linear_road.road_layout import lay_out
from australis.errors import RunError
from tests.oracles.linear_road import Row, balance, expenditure, report, travel, write

GOOD = [report(time, vid, 5) for time in range(10) for vid in (1, 2)]

BAD: dict[str, Row] = {
    "lane is 7; give 0 to 4": report(9, 3, 5, lane=7),
    "lane is -1; give 0 to 4": report(9, 3, 5, lane=-1),
    "spd is 101; give 0 to 100": report(9, 3, 5, spd=101),
    "spd is -1; give 0 to 100": report(9, 3, 5, spd=-1),
    "dir is 2; give 0 to 1": report(9, 3, 5, way=2),
    "seg is 100; give 0 to 99": report(9, 3, 100),
    "pos is 528000; give 0 to 527999": report(9, 3, 99, feet=5280),
    "pos 26399 is in segment 4, and seg is 5": report(9, 3, 5, feet=-1),
    "xway is -1; give 0 to 32767": report(9, 3, 5, xway=-1),
    "vid is -1; give 0 to 2147483647": report(9, -1, 5),
    "time is 604800; give 0 to 604799": report(604800, 3, 5),
    "there is no type 5; there are 0, 2, 3 and 4": report(9, 3, 5)._replace(type=5),
    "qid is -1; give 0 to 2147483647": balance(9, 3, -1),
    "day is 71; give 0 to 70": expenditure(9, 3, 1, 0, 71),
    "sinit is 100; give 0 to 99": travel(9, 3, 1, 100, 6),
    "send is -1; give 0 to 99": travel(9, 3, 1, 5, -1),
    "dow is 8; give 0 to 7": travel(9, 3, 1, 5, 6, dow=8),
    "tod is 1441; give 0 to 1440": travel(9, 3, 1, 5, 6, tod=1441),
}


@pytest.mark.parametrize("said", BAD)
@pytest.mark.parametrize("ending", [".arrow", ".csv"])
def test_a_tuple_that_no_vehicle_sends_is_refused_with_its_place(said: str, ending: str, tmp_path: Path) -> None:
    given = feed(write(tmp_path / f"road{ending}", [*GOOD, BAD[said]]))
    word, line = "row" if ending == ".arrow" else "line", ",".join(map(str, BAD[said]))
    with pytest.raises(RunError) as refused:
        list(given.merge())
    assert str(refused.value) == f"{tmp_path}/road{ending}, {word} 21: `{line}`: {said}"


def test_the_first_of_several_is_named(tmp_path: Path) -> None:
    rows = [*GOOD, report(9, 3, 5, lane=7), report(9, 4, 5, spd=120), balance(9, 5, -1)]
    with pytest.raises(RunError, match=r"row 21: .*: lane is 7"):
        census(feed(write(tmp_path / "road.arrow", rows)))


@pytest.mark.parametrize(("field", "said"), [("300", "lane is 300; give 0 to 4"), ("", "lane is missing")])
def test_what_does_not_fit_a_column_is_told_with_its_line(field: str, said: str, tmp_path: Path) -> None:
    """A line of names is a line as well."""
    lines = [",".join(INPUT.names), *(f"0,{time},1,50,0,{{}},0,5,26400{',-1' * 6}" for time in range(3))]
    (tmp_path / "road.csv").write_text("\n".join(lines).format(1, field, 1))
    with pytest.raises(RunError, match=rf"road\.csv, line 3: `0,1,1,50,0,{field},0,5,26400.*`: {said}"):
        list(feed(tmp_path / "road.csv").merge())


def test_times_rise_from_batch_to_batch(tmp_path: Path) -> None:
    with ipc.new_file(tmp_path / "road.arrow", INPUT) as file:
        for row in (report(5, 1, 5), report(4, 1, 5)):
            columns = [pa.array([value], column.type) for value, column in zip(row, INPUT, strict=True)]
            file.write_batch(pa.record_batch(columns, schema=INPUT))
    with pytest.raises(RunError, match=r"road\.arrow, row 2: .*: times fall from 5 to 4; sort the file by its second"):
        census(feed(tmp_path / "road.arrow"))


def test_data_of_the_original_simulator_is_taken(tmp_path: Path) -> None:
    """It has a weekday 0, and fills the fields of a position on requests."""
    rows = [
        report(0, 1, 5),
        balance(1, 1, 1)._replace(spd=32, xway=0, lane=7, dir=0, seg=5, pos=99),
        expenditure(2, 1, 2, 0, 0)._replace(spd=127, lane=1, dir=0, seg=5, pos=26400),
        travel(3, 1, 3, 5, 6, dow=0, tod=0),
        travel(4, 1, 4, 5, 6, dow=7, tod=1440),
    ]
    assert census(feed(write(tmp_path / "road.dat", rows))) == {0: 1, 2: 1, 3: 1, 4: 2}


def test_every_tool_refuses_what_is_bad(tmp_path: Path) -> None:
    """What is driven is refused before the clock begins, and what is run before it is laid out."""
    given = feed(write(tmp_path / "road.dat", [*GOOD, report(9, 3, 5, lane=7)]))
    heard: list[float] = []
    with pytest.raises(RunError, match=r"line 21: .*lane is 7"):
        drive(given, [lambda _: None], announce=heard.append)
    assert not heard
    with pytest.raises(RunError, match=r"line 21: .*lane is 7"):
        lay_out(given, tmp_path / "roads")
    with pytest.raises(RunError, match=r"line 21: .*lane is 7"):
        feed(given.files[0], copies=2)
