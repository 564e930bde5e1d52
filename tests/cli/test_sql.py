"""The command `australis sql`."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from australis.cli import run as command
from australis.cli.main import app
from australis.connectors.sinks.single import Single
from australis.queries.samples import sample
from australis.queries.schemas import schema_from

JAMS = "SELECT window_start, count(*) AS cars FROM TUMBLE(TABLE reports, time, SIZE 60) GROUP BY window_start"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reports.csv").write_text("time,vid,mph\n1,7,70\n2,8,50\n61,7,80\n")
    (tmp_path / "cars.jsonl").write_text('{"vid": 7, "plate": "A1"}\n{"vid": 9, "plate": "C3"}\n')
    return tmp_path


def told(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["sql", *arguments])
    assert result.exit_code == code, result.output
    return result.stderr if code else result.stdout


def test_a_query_runs_over_files(place: Path) -> None:
    told(JAMS, "--source", "reports=reports.csv", "--sink", "out=jams.csv", "--local")
    assert (place / "jams.csv").read_text() == '"window_start","cars"\n0,2\n60,1\n'
    shown = told(JAMS, "--source", "reports=reports.csv", "--local").splitlines()
    assert "60 1" in [" ".join(line.split()) for line in shown]


def test_a_file_of_statements_with_a_stored_table(place: Path) -> None:
    (place / "plates.sql").write_text("INSERT INTO plates SELECT time, plate FROM reports JOIN cars USING (vid)")
    given = ["--source", "reports=reports.csv", "--static", "cars=cars.jsonl", "--sink", "plates=plates.jsonl"]
    told("plates.sql", *given, "--local")
    lines = (place / "plates.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [{"time": 1, "plate": "A1"}, {"time": 61, "plate": "A1"}]


def test_explain_tells_the_network(place: Path) -> None:
    shown = told(JAMS, "--source", "reports=reports.csv", "--explain")
    assert "reports: time bigint, vid bigint, mph bigint" in shown
    assert "aggregate_1: aggregate of reports\n    cars = count(*)\n    on time\n    size 60" in shown
    narrow = told(JAMS, "--source", "reports=push:8080", "--schema", "reports=time int, vid int", "--explain")
    assert "reports: time int, vid int" in narrow


def test_mistakes_are_told(place: Path) -> None:
    assert "line 1, column 8: there is no column `mhp`" in told(
        "SELECT mhp FROM reports", "--source", "reports=reports.csv", "--local", code=1
    )
    assert "tells no columns; give them" in told("SELECT 1 FROM r", "--source", "r=push:80", "--local", code=1)
    assert "--schema x: has no source" in told("SELECT 1 FROM x", "--schema", "x=a int", "--local", code=1)
    assert "--static cars: write it as" in told("SELECT 1 FROM x", "--static", "cars", code=1)
    assert "no.sql" in told("no.sql", code=1)
    assert "--trigger: is for runs on Spark" in told(
        JAMS, "--source", "reports=reports.csv", "--local", "--trigger", "3s", code=1
    )


def test_files_tell_their_columns(place: Path) -> None:
    table = pa.table({"time": pa.array([1], pa.int32()), "name": ["a"]})
    pa.parquet.write_table(table, place / "t.parquet")
    for name, writer in (("t.arrow", pa.ipc.new_file), ("t.arrows", pa.ipc.new_stream)):
        with pa.OSFile(str(place / name), "wb") as file, writer(file, table.schema) as out:
            out.write_table(table)
    for text in ("t.parquet", "t.arrow", "t.arrows", "t.par*", "replay:t.arrow?on=time"):
        assert schema_from("t", text).equals(table.schema)
    assert schema_from("c", "cars.jsonl").names == ["vid", "plate"]
    (place / "semi").mkdir()
    (place / "semi" / "a.csv").write_text("time;mph;empty\n1;2.5;\n")
    found = schema_from("s", "semi/?delimiter=%3B&follow=true")
    assert str(found) == "time: int64\nmph: double\nempty: string"


def test_a_query_runs_on_spark_as_other_networks_do(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(command, "main", lambda *given, **options: seen.append((given, options)) or 0)
    options = ["--sink", "out=jams.csv", "--checkpoint", "road", "--master", "local[1]", "--partitions", "3", "--quiet"]
    told(JAMS, "--source", "reports=replay:reports.csv?on=time", "--speed", "10", *options)
    (((net, sources, sinks, reporter), given),) = seen
    assert [node.box.kind for node in net.nodes] == ["aggregate", "map"]
    assert sources["reports"].speed == 10
    assert isinstance(sinks["out"], Single)
    assert (reporter.resumable, reporter.quiet, reporter.sinks) == (True, True, {"out": "jams.csv"})
    asked = {name: value for name, value in given.items() if value not in (None, False)}
    assert asked == {"checkpoint": Path("road"), "master": "local[1]", "partitions": 3, "shed": True, "optimize": True}


SHIPS = "time,vid,lon,lat,type\n0,7,3,4,tug\n0,8,8,1,ferry\n0,9,5,5,tug\n10,7,6,6,tug\n60,9,5,4,tug\n"
INSIDE = "SELECT vid, type FROM ships WHERE type = 'tug' INSIDE (0, 8, 8, 0)"
MOVING = ["--source", "ships=ships.csv", "--moving", "id=vid,x=lon,y=lat,time=time,timeout=30,earth=false"]


def test_a_spatial_query_runs_and_tells_its_choices(place: Path) -> None:
    (place / "ships.csv").write_text(SHIPS)
    told(INSIDE, *MOVING, "--sink", "out=tugs.csv", "--local")
    assert (place / "tugs.csv").read_text() == '"sign","vid","type"\n1,7,"tug"\n1,9,"tug"\n-1,7,"tug"\n'
    shown = told(INSIDE, *MOVING, "--explain")
    assert "ask_1: ask of ships, lead_1" in shown
    assert "the selection `type = 'tug'` first: " in shown
    assert "it passes 0.8 (measured), INSIDE 1 (measured)" in shown
    assert "INSIDE (0, 8, 8, 0) of ships" in shown
    assert "it passes 0.1 (assumed), INSIDE 0.1 (assumed)" in told(
        INSIDE, "--source", "ships=push:80", "--schema", "ships=vid int, lon int, lat int, type string", "--moving",
        "id=vid,x=lon,y=lat", "--explain",
    )  # fmt: skip
    given = ["--source", "ships=ships.csv", "--local"]
    assert "--moving colour=red: write columns" in told(INSIDE, *given, "--moving", "colour=red", code=1)
    assert "--moving earth=flat: it is true or false" in told(INSIDE, *given, "--moving", "earth=flat", code=1)


def test_samples_are_the_beginnings_of_files(place: Path) -> None:
    table = pa.table({"time": pa.array([1, 2], pa.int64()), "name": ["a", "b"]})
    pa.parquet.write_table(table, place / "t.parquet")
    for name, writer in (("t.arrow", pa.ipc.new_file), ("t.arrows", pa.ipc.new_stream)):
        with pa.OSFile(str(place / name), "wb") as file, writer(file, table.schema) as out:
            out.write_table(table)
    (place / "t.csv").write_text("time,name\n1,a\n2,b\n")
    (place / "t.jsonl").write_text('{"time": 1, "name": "a"}\n{"time": 2, "name": "b"}\n')
    narrow = pa.schema([("name", pa.string()), ("time", pa.int32())])
    for text in ("t.parquet", "t.arrow", "t.arrows", "t.csv", "replay:t.jsonl?on=time"):
        found = sample(text, narrow)
        assert found is not None
        assert found.schema.equals(narrow)
        assert found.to_pydict() == {"name": ["a", "b"], "time": [1, 2]}
    assert sample("push:80", narrow) is None
    assert sample("t.csv", pa.schema([("mass", pa.int32())])) is None
