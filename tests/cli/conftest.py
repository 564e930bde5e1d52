"""A folder to run commands in."""

import pytest

from tests.cli.commands import FILE


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.yaml").write_text(FILE)
    (tmp_path / "reports.csv").write_text("time,mph\n1,70\n2,50\n3,80\n")
    return tmp_path
