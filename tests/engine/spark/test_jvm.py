"""Processes of Spark that are killed while a network runs: all is closed, and the same process goes on from there."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engine.spark import killed_spark
from tests.engine.spark.test_prefork import until


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A folder for temporary files, of a name that is short enough for sockets."""
    folder = Path(tempfile.mkdtemp(prefix="t-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def seen(temporary: Path, tmp_path: Path) -> list[dict[str, Any]]:
    script = Path(killed_spark.__file__)
    environment = os.environ | {"PYTHONPATH": str(script.parents[3]), "TMPDIR": str(temporary)}
    done = subprocess.run([sys.executable, str(script), str(tmp_path)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.spark
def test_a_run_whose_planner_or_spark_is_killed_says_so_closes_all_and_goes_on_in_the_same_process(
    seen: list[dict[str, Any]], temporary: Path, tmp_path: Path
) -> None:
    planner, spark, last = seen
    go_on = f"start the network again: it goes on from {tmp_path / 'checkpoint'}"
    assert planner["told"] == f"the process that plans batches was killed, or ended; {go_on}"
    assert spark["told"] == f"Spark's process was killed (SIGKILL), as systems do that run out of memory; {go_on}"
    for each in planner, spark:
        assert each["again"]
        assert not each["active"]
        assert each["answer"] == "ConnectionRefusedError"
        assert not {"push", "spool_0", "watching"} & set(each["threads"])
    assert last["found"] == list(range(last["posted"]))
    until(lambda: not list(temporary.iterdir()))
