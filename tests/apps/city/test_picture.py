"""Pictures of a city: they show what the streams say, and the page needs nothing else."""

import struct
from pathlib import Path

import pytest
from typer.testing import CliRunner

from australis.apps.city.frames import frames
from australis.apps.city.layout import layout
from australis.apps.city.picture import show
from australis.apps.city.simulate import City, simulate
from australis.cli.main import app
from australis.errors import RunError


def test_the_command_draws(city: Path, answers: Path) -> None:
    result = CliRunner().invoke(app, ["moving", "show", str(city), "--answers", str(answers), "--at", "10"])
    assert result.exit_code == 0, result.output
    assert result.stdout.split() == [str(city / "show" / name) for name in ("index.html", "roads.png", "moment.png")]
    for name in ("roads.png", "moment.png"):
        png = (city / "show" / name).read_bytes()
        assert png.startswith(b"\x89PNG")
        width, height = struct.unpack(">II", png[16:24])
        assert min(width, height) > 800


def test_what_cannot_be_drawn_is_told(city: Path, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="is no simulated city"):
        frames(tmp_path)
    with pytest.raises(RunError, match="--at 99: the city was simulated for 60 seconds"):
        show(city, tmp_path / "show", at=99)
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be written"):
        show(city, tmp_path / "file")
    simulate(tmp_path / "empty", City(0, 3), layout(lines=9))
    with pytest.raises(RunError, match="there is no object to show"):
        frames(tmp_path / "empty")
