"""The picture of the measurements of signals."""

from pathlib import Path

from australis.bench.signal_picture import draw

TABLE = {"applications": {"passchain": {"xstream": 7.0, "spark": 80.0}, "pipeline": {"spark": 9.0, "borealis": None}}}
MORE = {
    "memory": {"batches": {"columns": ["KB", "lazy", "copies"], "rows": [(16, 9.0, 3.0), (64, 8.0, 1.0)]}},
    "forms": {"pipeline": {"rows": [("segments", 50.0), ("samples", 0.1)]}},
}


def test_what_was_measured_is_drawn_and_the_rest_left_out(tmp_path: Path) -> None:
    sizes = []
    for name, report in (("few.png", TABLE), ("all.png", TABLE | MORE)):
        draw(report, tmp_path / "new" / name)
        assert (tmp_path / "new" / name).read_bytes().startswith(b"\x89PNG")
        sizes.append((tmp_path / "new" / name).stat().st_size)
    assert sizes[0] < sizes[1]
