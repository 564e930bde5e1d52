"""Pictures of quality of service: files that a page can show."""

import struct
from pathlib import Path

from australis.bench.service import network, trial
from australis.bench.service_picture import draw
from australis.bench.service_trial import LoadStep

KILOBYTE = 1024


def test_pictures_are_files_and_small(tmp_path: Path) -> None:
    trials = {"burst": trial(LoadStep(1, 5, 9)), "overload": trial(LoadStep(1, 4, 6, times=2.1))}
    files = draw(network(), trials, tmp_path / "plots")
    assert [path.name for path in files] == [
        "quality_of_service_graphs.png", "quality_of_service_overload.png", "quality_of_service_burst.png",
    ]  # fmt: skip
    for path in files:
        png = path.read_bytes()
        assert png.startswith(b"\x89PNG")
        width, height = struct.unpack(">II", png[16:24])
        assert 1000 < width < 1200
        assert 400 < height < 1000
        assert len(png) < 60 * KILOBYTE
