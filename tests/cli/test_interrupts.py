"""Ctrl-C while Spark starts: no trace, no process that is left, the status of a program that was interrupted."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest
from psutil import process_iter

from tests.engine.spark.test_prefork import until

pytestmark = pytest.mark.spark

COMMAND = """
import sys
from australis.cli.main import app
sys.argv = ["australis", "run", "net.yaml", "--source", "n=rate:10?a=n"]
app()
"""
SCRIPT = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # which is not there where the tests run in the background
import australis as au
au.network(out=au.stream("n", "a int").map(a="a")).run(n="rate:10?a=n")
"""
NETWORK = """
australis: 2
inputs: {n: a int}
boxes: {m: {map: {a: a}, from: n}}
outputs: {out: m}
"""
MOMENTS = ("org.apache.spark.launcher", "org.apache.spark.deploy.SparkSubmit")


def marked(mark: str, name: str = "") -> list[str]:
    """The command lines of all processes with a mark in their environment and a name in theirs."""
    processes = process_iter(["environ", "cmdline"], ad_value={})
    lines = [" ".join(each.info["cmdline"]) for each in processes if mark in each.info["environ"].values()]
    return [line for line in lines if name in line]


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("code", [COMMAND, SCRIPT], ids=["command", "script"])
def test_nothing_is_left(code: str, moment: str, tmp_path: Path) -> None:
    (tmp_path / "net.yaml").write_text(NETWORK)
    mark = f"MARK-{uuid4().hex}"
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, env={**os.environ, "AUSTRALIS_MARK": mark}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    # The launcher lives so shortly that it may be missed; what it launches does not.
    until(lambda: any(marked(mark, name) for name in (moment, MOMENTS[-1])) or process.poll() is not None)
    os.killpg(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=120)
    if code == COMMAND:
        assert process.returncode == 130
        assert told == "stopped before the run began\n"
    else:
        assert process.returncode == -signal.SIGINT
        assert told.rstrip().endswith("KeyboardInterrupt")
        assert "\tat " not in told  # a line of a trace of Java
        assert "WARN" not in told
    until(lambda: not marked(mark))
