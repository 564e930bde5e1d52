"""Metrics of a run for Prometheus, at `/metrics` of a small web server.

prometheus_client writes the text. The server is the one that programs post to: the client's own takes any number of
connections, and waits for each without end. Whoever reaches the port may read. A server for this machine alone
answers only to its address, so that web pages cannot read it by a name of theirs that leads here.
"""

from __future__ import annotations

import errno
import socket
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from itertools import accumulate
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from australis.connectors.address import LOOPBACK
from australis.connectors.push.connections import Connections, Handler
from australis.engine.delays import EDGES
from australis.errors import RunError
from australis.model.box import LATE, REFUSED, lost
from australis.qos.control import EXACT, NOTHING_SHED, SHED

if TYPE_CHECKING:
    from australis.engine.spark.run import Run

_GRACE = 1.0  # seconds for answers under way when it is closed
_PAUSE = 1.0  # seconds for which a backlog is remembered: counting it may be slow
_PLAIN = "text/plain; charset=utf-8"
_COSTS = {"source": "reading an input", "exchange": "an arrow between stages", "sink": "writing an output"}
_QUANTILES = (("p50", "0.5"), ("p95", "0.95"), ("p99", "0.99"))
_STATES = ((NOTHING_SHED, "nothing shed"), (SHED, "shed"), (EXACT, "exact"))
_NO_ADDRESS = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)

Samples = Iterable[tuple[tuple[str, ...], float]]
"""The values of a metric's labels, and a number."""


def serve(run: Run, port: int, host: str = LOOPBACK) -> Server:
    """Serve a run's metrics until the server is closed; to this machine only, if no host is given."""
    server = Server(port, host)
    server.run = run
    return server


class Server:
    """A web server in threads of this process. Port 0 is any that is free: `address` tells which."""

    def __init__(self, port: int, host: str = LOOPBACK) -> None:
        self.run: Run | None = None
        self._lock, self._counted, self._backlog = Lock(), 0.0, dict[str, int]()
        try:
            self._server = _Listener(self, host, port)
        except (OSError, OverflowError) as error:
            raise RunError(f"metrics at {_spelled(host, port)}: {_reason(error)}") from error
        self.address: tuple[str, int] = self._server.server_address[:2]  # type: ignore[assignment]
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), name="metrics", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://{_spelled(*self.address)}/metrics"

    def close(self) -> None:
        self._server.finish(_GRACE, 0.0)
        self._thread.join()
        self._server.server_close()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def text(self) -> str | None:
        """The metrics now; none before there is a run."""
        return None if self.run is None else text(self.run, self._count_backlog(self.run))

    def _count_backlog(self, run: Run) -> dict[str, int]:
        """The tuples that wait in each source, counted once a second at most."""
        with self._lock:
            if time.monotonic() - self._counted >= _PAUSE:
                try:
                    self._backlog = run.backlog()
                except Exception:  # the run itself tells what is wrong with a source
                    self._backlog = {}
                self._counted = time.monotonic()
            return self._backlog


def text(run: Run, backlog: Mapping[str, int]) -> str:
    """All metrics in Prometheus's text format."""
    return generate_latest(RunCollector(run, backlog)).decode()


@dataclass(frozen=True)
class RunCollector(Collector):
    """The metrics of a run, from what it has counted itself."""

    run: Run
    backlog: Mapping[str, int]

    def collect(self) -> Iterator[Metric]:
        totals, network = self.run.totals, self.run.network
        boxes, ports = dict(totals.boxes), totals.ports
        inputs = {input.name: totals.taken[input.name] for input in network.inputs if not input.static}
        outputs = {output.name: totals.given[output.name] for output in network.outputs}
        last = [] if totals.last is None else [((), totals.last)]
        yield _counter("tuples_in_total", "Tuples taken from inputs.", ["input"], _by_name(inputs))
        yield _counter("skipped_tuples_total", "Tuples of those that were left unread, since they matter to nobody.",
                       ["input"], _by_name(dict(totals.skipped)))  # fmt: skip
        yield _counter("tuples_out_total", "Tuples given to outputs.", ["output"], _by_name(outputs))
        yield _counter("dead_letters_total", "Tuples that could not be read, or were refused.", [],
                       [((), totals.letters)])  # fmt: skip
        yield _counter("batches_total", "Batches done.", [], [((), totals.batches)])
        yield _gauge("batch_seconds", "How long the last batch took.", [], last)
        yield _gauge("delay_seconds", "The longest delay of the last tuples of an output.", ["output"],
                     _by_name(dict(totals.delay)))  # fmt: skip
        yield _gauge("age_seconds", "The greatest age of the last tuples of an output.", ["output"],
                     _by_name(dict(totals.oldest)))  # fmt: skip
        yield _histogram("output_delay_seconds", "Delays of the tuples of an output.", "output", dict(totals.delays),
                         totals.delayed)  # fmt: skip
        yield _gauge("backlog_tuples", "About how many tuples wait in a source.", ["input"], _by_name(self.backlog))
        yield _counter("box_seconds_total", "The time that a box has taken.", ["box"],
                       _by_name({name: box.seconds for name, box in boxes.items()}))  # fmt: skip
        for kind, label in (("source", "input"), ("exchange", "arrow"), ("sink", "output")):
            costs = dict(totals.costs.get(kind, {}))
            yield _counter(f"{kind}_seconds_total", f"The time that {_COSTS[kind]} has taken.", [label],
                           _by_name({name: seconds for name, (seconds, _) in costs.items()}))  # fmt: skip
            yield _counter(f"{kind}_tuples_total", f"Tuples of {_COSTS[kind]}.", [label],
                           _by_name({name: tuples for name, (_, tuples) in costs.items()}))  # fmt: skip
        yield _counter("fixed_seconds_total", "The time of batches that nothing else has taken.", [],
                       [] if totals.last is None else [((), totals.fixed)])  # fmt: skip
        yield from self._service()
        yield _counter("box_tuples_in_total", "Tuples given to a box.", ["box"],
                       _by_name({name: box.taken for name, box in boxes.items()}))  # fmt: skip
        yield _counter("box_tuples_out_total", "Tuples that a box gave on a port.", ["box", "port"], _by_port(ports))
        yield _counter("late_tuples_total", "Tuples that a box found late.", ["box", "port"], _by_port(ports, LATE))
        yield _counter("refused_tuples_total", "Tuples that a box refused.", ["box", "port"],
                       _by_port(ports, REFUSED))  # fmt: skip

    def _service(self) -> Iterator[Metric]:
        service, shed = self.run.service, dict(self.run.totals.shed)
        outputs = dict(service.outputs)
        yield _gauge("utility", "What an output is worth of late, from 0 to 1.", ["output"],
                     _by_name({name: each.utility for name, each in outputs.items()}))  # fmt: skip
        yield _gauge("loss", "The part of an output that was shed of late.", ["output"],
                     _by_name({name: each.loss for name, each in outputs.items()}))  # fmt: skip
        marks = [((name, part), getattr(each, field)) for name, each in outputs.items() for field, part in _QUANTILES]
        yield _gauge("recent_delay_seconds", "The delay that a part of an output's tuples of late do not exceed.",
                     ["output", "quantile"], [(at, delay) for at, delay in marks if delay is not None])  # fmt: skip
        yield _gauge("input_rate", "Tuples a second that come from a source.", ["input"], _by_name(service.rates))
        yield _gauge("branch_backlog_tuples", "Tuples that a branch which waits has not taken yet.", ["branch"],
                     _by_name({name: wait.tuples for name, wait in service.behind.items()}))  # fmt: skip
        yield _gauge("branch_behind_seconds", "For how long the first tuple has waited for a branch.", ["branch"],
                     _by_name({name: wait.seconds for name, wait in service.behind.items()}))  # fmt: skip
        yield _counter("shed_tuples_total", "Tuples left out before an input, a box or an output.", ["place"],
                       _by_name(shed))  # fmt: skip
        if service.used is not None:
            yield _gauge("headroom_used", "The part of the headroom that all tuples would take.", [],
                         [((), service.used)])  # fmt: skip
            states = [((name,), float(service.state == state)) for state, name in _STATES]
            yield _gauge("state", "Whether tuples are shed, or exact outputs alone are too much.", ["state"], states)


def _counter(name: str, help: str, labels: list[str], samples: Samples) -> Metric:
    family = CounterMetricFamily(f"australis_{name}", help, labels=labels)
    for values, count in samples:
        family.add_metric(values, count)
    return family


def _gauge(name: str, help: str, labels: list[str], samples: Samples) -> Metric:
    family = GaugeMetricFamily(f"australis_{name}", help, labels=labels)
    for values, value in samples:
        family.add_metric(values, value)
    return family


def _histogram(
    name: str, help: str, label: str, counts: Mapping[str, Sequence[int]], sums: Mapping[str, float]
) -> Metric:
    """Histograms of delays, of which Prometheus wants each bucket with all those below it."""
    family = HistogramMetricFamily(f"australis_{name}", help, labels=[label])
    ends = [*(f"{edge:.4g}" for edge in EDGES), "+Inf"]
    for value, buckets in counts.items():
        family.add_metric([value], list(zip(ends, accumulate(buckets), strict=True)), sums[value])
    return family


def _by_name(values: Mapping[str, float]) -> Samples:
    return [((name,), value) for name, value in values.items()]


def _by_port(ports: Mapping[str, Mapping[str, int]], word: str = "") -> Samples:
    """By box and port; with a word, by those ports alone whose tuples have come to that."""
    return [
        ((name, port), count)
        for name, counts in ports.items()
        for port, count in counts.items()
        if not word or lost(port) == word
    ]


def _spelled(host: str, port: int) -> str:
    return f"{f'[{host}]' if ':' in host else host}:{port}"


def _reason(error: OSError | OverflowError) -> str:
    """Why a server cannot listen, and what to do."""
    reason = getattr(error, "strerror", None) or error
    if isinstance(error, socket.gaierror) or getattr(error, "errno", None) in _NO_ADDRESS:
        return f"{reason}; the host is an address of this machine: leave it out for {LOOPBACK}"
    return f"{reason}; choose another port, or 0 for any that is free"


class _Listener(Connections):
    def __init__(self, metrics: Server, host: str, port: int) -> None:
        self.metrics = metrics
        super().__init__(host, port, _MetricsHandler)
        self.private = ip_address(str(self.server_address[0])).is_loopback
        """Whether it is for this machine alone."""


class _MetricsHandler(Handler):
    server: _Listener
    server_version, sys_version = "Australis", ""

    def do_GET(self) -> None:  # noqa: N802 (the library's name)
        if self.server.private and not _local(self.headers.get("Host", "")):
            self._answer(403, "ask by this machine's address, such as 127.0.0.1, or by localhost\n", _PLAIN)
        elif self.path.partition("?")[0] != "/metrics":
            self._answer(404, "there is only GET /metrics\n", _PLAIN)
        elif (metrics := self.server.metrics.text()) is None:
            self._answer(503, "the run has not begun\n", _PLAIN)
        else:
            self._answer(200, metrics, CONTENT_TYPE_PLAIN_0_0_4)

    do_HEAD = do_GET  # noqa: N815 (the library's name)

    def log_message(self, format: str, *args: Any) -> None:
        """Readers come every few seconds."""

    def _answer(self, code: int, content: str, type: str) -> None:
        body = content.encode()
        self.send_response(code)
        self.send_header("Content-Type", type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _local(host: str) -> bool:
    """Whether a request's `Host` is an address or `localhost`; other names may be anybody's.

    >>> [_local(host) for host in ("127.0.0.1:9090", "[::1]:9090", "localhost", "", "example.org:9090", "[")]
    [True, True, True, True, False, False]
    """
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name in ("", "localhost") or bool(ip_address(name))
    except ValueError:
        return False
