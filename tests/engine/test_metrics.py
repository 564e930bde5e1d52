"""Metrics, as Prometheus asks for them."""

import re
import socket
from contextlib import ExitStack
from http.client import HTTPConnection
from urllib.request import urlopen

import pytest

from australis import RunError
from australis.connectors.push import connections
from australis.engine import metrics
from tests.cli.standin import StandIn

_LINE = re.compile(r"([a-z_]+)(?:\{(.*)\})? (\S+)")
_LABEL = re.compile(r'[a-z]+="((?:[^"\\]|\\.)*)"')


@pytest.fixture
def run(tmp_path):
    run = StandIn(tmp_path)
    run.batch(taken=100, given=40, letters=3)
    run.batch(taken=200, given=0, worst=None, seconds=0.75)
    return run


def samples(text):
    """What a text says, by metric and labels; its lines are checked on the way."""
    found, types = {}, {}
    for line in text.splitlines():
        if line.startswith("# "):
            _, word, name, rest = line.split(" ", 3)
            types |= {name: rest} if word == "TYPE" else {}
            continue
        name, labels, value = _LINE.fullmatch(line).groups()
        label = ".".join(_LABEL.findall(labels)) if labels else None
        assert types[name] == ("counter" if name.endswith("_total") else "gauge")
        found[name.removeprefix("australis_"), label] = float(value)
    return found


def ask(server, method="GET", path="/metrics"):
    connection = HTTPConnection(*server.address, timeout=600)
    connection.request(method, path)
    answer = connection.getresponse()
    told = answer.status, answer.headers["Content-Type"], answer.read().decode()
    connection.close()
    return told


def test_what_is_served(run):
    with metrics.serve(run, 0) as server:
        assert server.address[0] == "127.0.0.1"
        status, type, text = ask(server)
        with urlopen(server.url) as answer:
            assert answer.read().decode() == text
    assert (status, type) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert samples(text) == {
        ("tuples_in_total", "reports"): 300,
        ("tuples_out_total", "fast"): 40,
        ("dead_letters_total", None): 3,
        ("batches_total", None): 2,
        ("batch_seconds", None): 0.75,
        ("delay_seconds", "fast"): 0.5,
        ("backlog_tuples", "reports"): 5,
        ("box_seconds_total", "speeding"): 0.5,
        ("box_tuples_in_total", "speeding"): 300,
        ("box_tuples_out_total", "speeding.out"): 40,
        ("box_tuples_out_total", "speeding.rest"): 260,
    }


def test_late_and_refused_tuples_have_counters_of_their_own(tmp_path):
    run = StandIn(tmp_path)
    run.batch(taken=100, given=40, more={"late_left": 3, "late_right": 0, "refused": 1, "latest": 9})
    found = samples(metrics.text(run, {}))
    assert {labels: n for (name, labels), n in found.items() if name == "late_tuples_total"} == {
        "speeding.late_left": 6, "speeding.late_right": 0
    }  # fmt: skip
    assert {labels: n for (name, labels), n in found.items() if name == "refused_tuples_total"} == {
        "speeding.refused": 2
    }


def test_a_run_without_batches(tmp_path):
    found = samples(metrics.text(StandIn(tmp_path), {}))
    assert found == {
        ("tuples_in_total", "reports"): 0, ("tuples_out_total", "fast"): 0, ("dead_letters_total", None): 0,
        ("batches_total", None): 0,
    }  # fmt: skip


def test_the_backlog_is_counted_once_a_second_at_most_and_may_fail(run, monkeypatch):
    with metrics.serve(run, 0) as server:
        for _ in range(3):
            assert ("backlog_tuples", "reports") in samples(ask(server)[2])
        assert run.asked == 1
        run.waiting = OSError("gone")
        monkeypatch.setattr(metrics, "_PAUSE", 0)
        assert ("backlog_tuples", "reports") not in samples(ask(server)[2])


def test_other_requests(run):
    server = metrics.Server(0)
    assert ask(server)[::2] == (503, "the run has not begun\n")
    server.run = run
    assert ask(server, path="/")[::2] == (404, "there is only GET /metrics\n")
    assert ask(server, "HEAD")[::2] == (200, "")
    assert ask(server, path="/metrics?x=1")[0] == 200
    assert ask(server, "POST")[0] == 501
    server.close()
    with pytest.raises(ConnectionRefusedError):
        ask(server)


def test_connections_that_ask_for_nothing_leave_others_answered(run, monkeypatch):
    monkeypatch.setattr(connections, "MOST", 2)
    with metrics.serve(run, 0) as server, ExitStack() as silent:
        for begun in (b"", b"GET /metr", b"GET /metrics HTTP/1.1\r\n", b"", b"G"):
            silent.enter_context(socket.create_connection(server.address)).sendall(begun)
        assert ask(server)[0] == 200
        assert len(server._server.threads) <= 2


def test_labels_are_escaped():
    assert metrics._metric("x", "gauge", "Help.", metrics._by("box", {'a"\\\n': 1})).splitlines()[-1] == (
        r'australis_x{box="a\"\\\n"} 1'
    )


def test_a_port_that_is_taken_or_impossible(run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(RunError, match=f"metrics at 127.0.0.1:{port}: Address already in use; choose another port"):
            metrics.serve(run, port)
    with pytest.raises(RunError, match=r"metrics at 127\.0\.0\.1:99999: .*0-65535"):
        metrics.serve(run, 99999)


def test_any_host_on_request(run):
    with metrics.serve(run, 0, "::1" if socket.has_dualstack_ipv6() else "0.0.0.0") as server:
        assert urlopen(server.url.replace("0.0.0.0", "127.0.0.1")).status == 200
