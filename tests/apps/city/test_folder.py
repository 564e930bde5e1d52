"""The files of a simulated city."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from australis.apps.city.folder import NOTE
from australis.apps.city.queries import Mix
from australis.apps.city.roads import Roads
from australis.apps.city.simulate import OBJECTS, QUERIES, City, simulate
from australis.errors import RunError


def read(folder: Path, name: str, form: str) -> pa.Table:
    path = folder / f"{name}.{form}"
    schema = OBJECTS if name == "objects" else QUERIES
    if form == "arrow":
        return pa.ipc.open_file(path).read_all()
    if form == "parquet":
        return pa.parquet.read_table(path)
    nulls = pa.csv.ConvertOptions(column_types=schema, strings_can_be_null=True)
    return pa.csv.read_csv(path, convert_options=nulls)


def test_every_form_has_the_same_tuples(tmp_path: Path, ground: Roads) -> None:
    city = City(40, 30, mix=Mix(20, renewed=0.1))
    for form in ("arrow", "csv", "parquet"):
        note = simulate(tmp_path / form, city, ground, form)
        assert json.loads((tmp_path / form / NOTE).read_text()) == json.loads(json.dumps(note))
        assert note["reports"] == 1200
    for name in ("objects", "queries"):
        arrow, csv, parquet = (read(tmp_path / form, name, form) for form in ("arrow", "csv", "parquet"))
        assert arrow.equals(parquet)
        assert arrow.to_pylist() == csv.to_pylist()


def test_other_files_are_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("")
    with pytest.raises(RunError, match=r"holds mine\.txt and no city\.json"):
        simulate(tmp_path, City())
    with pytest.raises(RunError, match="is a file"):
        simulate(tmp_path / "mine.txt", City())
    with pytest.raises(RunError, match="format `xml`"):
        simulate(tmp_path / "new", City(), form="xml")
