"""Feeds: local runs over sources that never end."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

import australis as au
from australis.api.network import Network
from australis.connectors.binding import bind_sinks, bind_sources
from australis.connectors.sinks.memory import MemorySink
from australis.engine.local_run import run_bound
from australis.engine.spark.frame_sink import FrameSink
from australis.testing import rows

NET = au.network(fast=au.stream("reports", "mph int").filter("mph > 60"))
LONG = 60.0  # seconds


def until_there(network: Network, count: int, **given: Any) -> list[Any]:
    """Run until an output has so many tuples."""
    found = MemorySink()
    end = time.monotonic() + LONG
    sources, sinks = bind_sources(network, given), bind_sinks(network, {"fast": found})

    def stop() -> bool:
        there = sum(part.num_rows for parts in found.batches.values() for part in parts)
        return there >= count or time.monotonic() > end

    results = run_bound(network, sources, sinks, (), stop=stop)
    assert results.given == {"fast": found.table().num_rows}
    return rows(found.table())


def test_a_growing_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("mph\n70\n50\n")
    later = threading.Timer(0.3, lambda: (tmp_path / "b.csv").write_text("mph\n80\nfast\n90\n"))
    later.start()
    assert until_there(NET, 3, reports=f"{tmp_path}/?follow=true") == [(70,), (80,), (90,)]
    later.join()


def test_what_programs_post_is_read(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

    def post() -> None:
        for mph in (70, 50, 80):
            body, headers = json.dumps({"mph": mph}).encode(), {"Content-Type": "application/x-ndjson"}
            request = urllib.request.Request(f"http://127.0.0.1:{port}/", body, headers)
            for _ in range(100):
                try:
                    urllib.request.urlopen(request).close()
                    break
                except urllib.error.URLError:  # the endpoint is not there yet
                    time.sleep(0.05)

    posting = threading.Thread(target=post)
    posting.start()
    assert until_there(NET, 2, reports=f"push:{port}") == [(70,), (80,)]
    posting.join()


def test_a_source_that_goes_by_the_clock_lets_windows_time_out() -> None:
    slow = au.stream("reports", "n bigint").aggregate(on="n", size=1000, c="count(*)", timeout="50 ms")
    found = until_there(au.network(fast=slow), 1, reports="rate:20")
    assert found[0][0] == 0
    assert 1 <= found[0][1] < 1000


def test_an_output_of_a_run_without_an_end_needs_a_sink(tmp_path: Path) -> None:
    with pytest.raises(au.RunError, match="output fast: give it a sink, since input reports never ends"):
        NET.run_local(reports="push:0")
    static = au.static("cars", "vid int")
    joined = au.stream("seen", "vid int, time int").join(static, "left.vid = right.vid", on="time")
    (tmp_path / "cars.csv").write_text("vid\n1\n")
    given = {"seen": {"vid": [1, 2], "time": [1, 2]}, "cars": f"{tmp_path}/?follow=true"}
    assert au.network(out=joined).run_local(given)["out"].num_rows == 1


def test_a_table_that_does_not_read_is_an_error(tmp_path: Path) -> None:
    joined = au.stream("seen", "vid int, time int").join(
        au.static("cars", "vid int"), "left.vid = right.vid", on="time"
    )
    (tmp_path / "cars.csv").write_text("vid\none\n")
    with pytest.raises(au.RunError, match=r"static input cars: .*cars\.csv: at 4: .*: mend the table"):
        au.network(out=joined).run_local(seen=[], cars=tmp_path / "cars.csv")


def test_frames_need_a_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("australis.engine.spark.frame_sink.active", lambda: None)
    with pytest.raises(au.RunError, match="no session is active; run the network on Spark, or make a session first"):
        NET.run_local(reports=[{"mph": 70}], fast=FrameSink(print))


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_goes_on_until_it_is_stopped(number: int, tmp_path: Path) -> None:
    au.dump(NET, tmp_path / "net.yaml")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("mph\n70\nfast\n")
    words = ["run", "net.yaml", "--local", "--source", "reports=in/?follow=true", "--sink", "fast=fast.csv"]
    process = subprocess.Popen(
        [sys.executable, "-m", "australis", *words], cwd=tmp_path, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    out, end = tmp_path / "fast.csv", time.monotonic() + LONG
    while not (out.exists() and "70" in out.read_text()) and process.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    os.kill(process.pid, number)
    shown, told = process.communicate(timeout=LONG)
    assert process.returncode == 128 + number
    assert shown == "fast: 1 tuple in fast.csv\n"
    assert "1 dead letter; the first: reports: in/a.csv: at 7: " in told
    assert told.endswith("stopped; the results up to here are final, and a run in this process cannot go on\n")
    assert out.read_text() == '"mph"\n70\n'
