"""The tables of a history, as they are written."""

from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from pyarrow import csv

from australis.apps.linear_road import history_writer
from australis.apps.linear_road.road_history import TABLES
from australis.apps.linear_road.weeks import DAYS, MINUTES
from tests.apps.linear_road.test_history import table


def test_flat_files_have_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    every = history_writer._segments
    monkeypatch.setattr(history_writer, "_segments", lambda *given: islice(every(*given), 2))
    for name in TABLES:
        (tmp_path / name).mkdir()
    history_writer.write(tmp_path, 1, 7, np.array([4, 90], np.int32), flat=True)
    for name in ("tolls", "segments"):
        names, types = TABLES[name].names, {column.name: column.type for column in TABLES[name]}
        read = csv.ReadOptions(column_names=names)
        flat = csv.read_csv(
            tmp_path / name / "xway-007.csv", read, convert_options=csv.ConvertOptions(column_types=types)
        )
        assert flat.num_rows == (2 * DAYS if name == "tolls" else 2 * MINUTES * 200)
        assert flat.equals(table(tmp_path, name, 7))
    assert (tmp_path / "tolls" / "xway-007.csv").read_text().startswith("4,1,7,")
