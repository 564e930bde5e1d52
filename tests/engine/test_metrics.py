"""Metrics, as Prometheus asks for them."""

import re
import socket
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from australis import RunError
from australis.connectors.push import connections
from australis.engine import metrics
from australis.engine.service import BranchWait, OutputService, Service
from tests.cli.standin import StandIn

SERVICE = ("utility", "loss", "recent_delay_seconds", "input_rate", "headroom_used", "state", "shed_tuples_total",
           "branch_backlog_tuples", "branch_behind_seconds")  # fmt: skip
DOCUMENT = Path(__file__).parents[2] / "docs" / "running.md"


@pytest.fixture
def run(tmp_path):
    run = StandIn(tmp_path)
    run.batch(taken=100, given=40, letters=3)
    run.batch(taken=200, given=0, worst=None, seconds=0.75)
    return run


def samples(text):
    """What a text says, by metric and labels, as Prometheus's own client reads it."""
    values = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if family.type == "histogram":
                continue
            assert family.type == ("counter" if sample.name.endswith("_total") else "gauge")
            values[sample.name.removeprefix("australis_"), ".".join(sample.labels.values()) or None] = sample.value
    return values


def ask(server, method="GET", path="/metrics", **headers):
    connection = HTTPConnection(*server.address, timeout=600)
    connection.request(method, path, headers=headers)
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
        ("age_seconds", "fast"): 1.0,
        ("backlog_tuples", "reports"): 5,
        ("source_seconds_total", "reports"): 1.0,
        ("source_tuples_total", "reports"): 300,
        ("exchange_seconds_total", "speeding.out"): 0.25,
        ("exchange_tuples_total", "speeding.out"): 40,
        ("sink_seconds_total", "fast"): 1.0,
        ("sink_tuples_total", "fast"): 40,
        ("fixed_seconds_total", None): 0.5,
        ("box_seconds_total", "speeding"): 0.5,
        ("box_tuples_in_total", "speeding"): 300,
        ("box_tuples_out_total", "speeding.out"): 40,
        ("box_tuples_out_total", "speeding.rest"): 260,
    }


def test_delays_are_a_histogram_that_prometheus_reads(tmp_path):
    run = StandIn(tmp_path)
    for worst in (0.5, 0.5, 4.0, 4000.0):
        run.batch(taken=20, given=10, worst=worst)  # delays of half of it
    families = {family.name: family for family in text_string_to_metric_families(metrics.text(run, {}))}
    family = families["australis_output_delay_seconds"]
    assert family.type == "histogram"
    assert {sample.labels["output"] for sample in family.samples} == {"fast"}
    found = {sample.labels.get("le", sample.name): sample.value for sample in family.samples}
    assert found.pop("australis_output_delay_seconds_count") == found.pop("+Inf") == 40
    assert found.pop("australis_output_delay_seconds_sum") == 2 * 10 * 0.25 + 10 * 2.0 + 10 * 2000.0
    ends = [float(end) for end in found]
    assert (len(ends), ends[0], ends[-1]) == (49, 0.001, 1000)
    assert {end: count for end, count in found.items() if float(end) in (0.1, 1.0, 10.0, 1000.0)} == {
        "0.1": 0, "1": 20, "10": 30, "1000": 30
    }  # fmt: skip


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


def test_what_outputs_are_worth(run):
    run.service = Service(
        {"fast": OutputService(0.9, 0.25, 0.1, 0.2, None)},
        {"reports": 100.0},
        {"reports": 7},
        1.25,
        "shed",
        {"fast": BranchWait(7, 2.5)},
    )
    run.totals.shed["box speeding"] = 9
    found = samples(metrics.text(run, {}))
    assert {key: value for key, value in found.items() if key[0] in SERVICE} == {
        ("utility", "fast"): 0.9, ("loss", "fast"): 0.25, ("recent_delay_seconds", "fast.0.5"): 0.1,
        ("recent_delay_seconds", "fast.0.95"): 0.2, ("input_rate", "reports"): 100, ("headroom_used", None): 1.25,
        ("state", "nothing shed"): 0, ("state", "shed"): 1, ("state", "exact"): 0,
        ("shed_tuples_total", "box speeding"): 9, ("branch_backlog_tuples", "fast"): 7,
        ("branch_behind_seconds", "fast"): 2.5,
    }  # fmt: skip


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


def test_names_and_labels_are_those_of_the_document(tmp_path):
    run = StandIn(tmp_path)
    behind = {"archive": BranchWait(7, 0.5)}
    run.service = Service({"fast": OutputService(1.0, 0.0, 0.1, 0.1, 0.1)}, {"reports": 1.0}, {}, 0.5, behind=behind)
    run.totals.shed["box speeding"], run.totals.skipped["reports"] = 9, 5
    run.batch(taken=100, given=40, more={"late": 3, "refused": 1})
    rows = re.findall(r"^\| `(australis_\w+)` \| (.*?) ?\| ", DOCUMENT.read_text(), re.MULTILINE)
    documented = {(name, tuple(re.findall(r"`(\w+)`", labels))) for name, labels in rows}
    families = text_string_to_metric_families(metrics.text(run, {"reports": 5}))
    assert {(sample.name, tuple(sample.labels)) for family in families for sample in family.samples} == documented


def test_labels_are_escaped(tmp_path):
    lines = metrics.text(StandIn(tmp_path), {'a"\\\n': 1}).splitlines()
    assert r'australis_backlog_tuples{input="a\"\\\n"} 1.0' in lines


@pytest.mark.parametrize("name", ['a"\\\n', "straße", "{}", "#", "a b", ""])
def test_any_name_comes_back_as_it_was(tmp_path, name):
    text = metrics.text(StandIn(tmp_path), {name: 1})
    found = {family.name: family.samples for family in text_string_to_metric_families(text)}
    assert [(sample.labels, sample.value) for sample in found["australis_backlog_tuples"]] == [({"input": name}, 1)]


def test_a_page_that_names_this_machine_reads_nothing(run):
    with metrics.serve(run, 0) as server:
        for host in ("example.org", f"example.org:{server.address[1]}", "127.0.0.1.example.org", "[::1"):
            status, _, text = ask(server, Host=host)
            assert (status, text) == (403, "ask by this machine's address, such as 127.0.0.1, or by localhost\n")
        for host in ("localhost", f"localhost:{server.address[1]}", "127.0.0.1", "[::1]:9090"):
            assert ask(server, Host=host)[0] == 200
        server._server.private = False
        assert ask(server, Host="example.org")[0] == 200


def test_a_port_that_is_taken_or_impossible(run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(RunError, match=f"metrics at 127.0.0.1:{port}: Address already in use; choose another port"):
            metrics.serve(run, port)
    with pytest.raises(RunError, match=r"metrics at 127\.0\.0\.1:99999: .*0-65535"):
        metrics.serve(run, 99999)


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1", "fe80::1%none", "a..b"])
def test_a_host_that_is_not_this_machine(run, host):
    with pytest.raises(RunError, match=r"metrics at .*:0: .*; the host is an address of this machine: leave it out"):
        metrics.serve(run, 0, host)


def test_any_host_on_request(run):
    with metrics.serve(run, 0, "::1" if socket.has_dualstack_ipv6() else "0.0.0.0") as server:
        assert urlopen(server.url.replace("0.0.0.0", "127.0.0.1")).status == 200
