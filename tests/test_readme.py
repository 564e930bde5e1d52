"""The README's sources and sinks, each as it is written there, on a real Spark."""

import re
import shutil
import socket
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

import australis as au
from australis.connectors.sinks.memory import MemorySink

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
REPORTS = au.stream("reports", "time int, vid int, mph int, xway int, seg int")
PYTHON = ("spark.", "[", "lambda", "au.")


def texts(name: str) -> list[str]:
    """What the tables give to an input or output, where it is a text; the rest is Python, and has tests elsewhere."""
    rows = [line.split("|")[1] for line in README.splitlines() if line.startswith(f"| `{name}=")]
    found = [text.removeprefix(f"{name}=") for row in rows for text in re.findall("`([^`]+)`", row)]
    assert len(found) > 4
    return [text for text in found if not text.startswith(PYTHON)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "incoming").mkdir()
    shutil.copy(ROOT / "examples" / "reports.csv", tmp_path / "incoming")
    return tmp_path


def test_the_change_of_the_readme_is_made(spark: "SparkSession", monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is written, but for the session and the partitions, and with something to wait for."""
    first, changed = (
        re.search(rf"```python[^\n]*\n((?:(?!```).)*?{word}.*?)```", README, re.DOTALL)
        for word in (r"jams = \(reports", r"run\.change")
    )
    assert first is not None
    assert changed is not None
    started = au.Network.start
    monkeypatch.setattr(au.Network, "start", lambda *args, **more: started(*args, **more, spark=spark, partitions=2))
    namespace: dict[str, Any] = {}
    exec(first[1], namespace)
    exec(changed[1], namespace)
    run = namespace["run"]
    assert run.totals.taken == {"reports": 2160}
    assert {"jams", "speeds"} == {output.name for output in run.network.outputs}
    assert Path("live.csv").read_text().startswith('"time","xway","seg","cars","mph"')


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.mark.parametrize("text", texts("reports"))
def test_a_source_of_the_readme_gives_tuples(spark: "SparkSession", text: str) -> None:
    port = free_port()
    found = MemorySink()
    net = au.network(out=REPORTS.filter("seg >= 0"))
    with net.start(reports=text.replace("8080", str(port)), out=found, spark=spark, partitions=1) as run:
        if text.startswith("push:"):
            body = b'{"time": 1, "vid": 2, "mph": 3, "xway": 4, "seg": 5}\n'
            headers = {"Content-Type": "application/json"}
            request = urllib.request.Request(f"http://127.0.0.1:{port}/", body, headers)
            with urllib.request.urlopen(request) as answer:
                assert answer.status == 200
        limit = time.monotonic() + 600
        while not found.table().num_rows:
            run.wait(0.02)
            assert time.monotonic() < limit


@pytest.mark.parametrize("text", texts("jams"))
def test_a_sink_of_the_readme_takes_results(
    spark: "SparkSession", text: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    posted: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posted.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    net = au.network(jams=REPORTS.filter("mph < 10"))
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        place = text.replace("9000", str(server.server_address[1]))
        net.run(reports="examples/reports.csv", jams=place, spark=spark, partitions=1)
        server.shutdown()
    count = net.run_local(reports="examples/reports.csv")["jams"].num_rows
    assert count
    if text.startswith("http"):
        assert sum(body.count(b"\n") for body in posted) == count
    elif text == "console":
        assert f"{count} tuples" in capsys.readouterr().out
    else:
        assert any(folder.glob(text if "*" in text or not text.endswith("/") else f"{text}*"))
