"""What it takes to begin, measured once."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from australis.bench import start

pytestmark = pytest.mark.slow


def test_what_has_no_spark_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start.main(repeat=1, spark=False, json=tmp_path / "start.json")
    report = json.loads((tmp_path / "start.json").read_text())
    assert list(report["took"]) == list(start.commands(tmp_path, spark=False))
    assert all(took["wall"] > 0 and took["processor"] > 0 for took in report["took"].values())
    assert {"numpy", "pyarrow", "australis", "numba"} <= {each["module"] for each in report["imports"]}
    assert len(report["local"]) == 4
    shown = capsys.readouterr().out
    assert "australis run --local" in shown
    assert "numba, with a first kernel" in shown


@pytest.mark.skipif(sys.platform != "linux", reason="others do not hand over processes that lost their parent")
def test_processes_that_outlive_their_parent_are_counted(tmp_path: Path) -> None:
    busy = "import time\nwhile time.process_time() < 0.5: pass"
    leave = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {busy!r}])"
    assert start.measure([sys.executable, "-c", leave], tmp_path).processor >= 0.5


def test_a_command_that_fails_is_told(tmp_path: Path) -> None:
    with pytest.raises(start.RunError, match="no such thing"):
        start.measure([sys.executable, "-c", "raise SystemExit('no such thing')"], tmp_path)


@pytest.mark.spark
def test_a_run_on_spark_goes_through_its_phases(tmp_path: Path) -> None:
    start._write_files(tmp_path)
    found = start.phases(start._ON_SPARK, tmp_path)
    assert len(found) == 5
    subprocess.run(start.commands(tmp_path)[start.SPARK], check=True)
