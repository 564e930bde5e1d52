"""Texts and values become sources and sinks once, for any process."""

import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pytest

from australis.apps.linear_road.driver import Driver
from australis.apps.linear_road.feed import Feed
from australis.apps.linear_road.record import INPUT
from australis.apps.linear_road.road import road
from australis.arrow.schema import schema
from australis.connectors.binding import place_sources
from australis.connectors.source import parts
from australis.connectors.sources import uri
from australis.connectors.sources.samples import Samples


def test_sources_of_files_are_read_by_processes_with_another_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("at,vid\n1,7\n")
    np.arange(8, dtype=np.int16).tofile(tmp_path / "a.raw")
    report = pa.table({column.name: pa.array([0], column.type) for column in INPUT}, schema=INPUT)
    with pa.ipc.new_file(tmp_path / "road.arrow", INPUT) as file:
        file.write_table(report)
    rows, samples = schema("at int, vid int"), schema("audio segment<int16>")
    sources = {
        "files": uri.source("a.csv", rows),
        "replay": uri.source("replay:a.csv?on=at&speed=1000", rows),
        "samples": Samples(samples, ("a.raw",), rate=8),
        "driver": Driver(Feed((Path("road.arrow"),))),
    }
    placed = place_sources(sources, tmp_path / "checkpoint")
    monkeypatch.chdir(tmp_path / "elsewhere")
    road.cache_clear()
    for name, source in placed.items():
        read = pickle.loads(pickle.dumps(source))
        assert sum(part.tuples.num_rows for part in parts(read)) == 1, name
