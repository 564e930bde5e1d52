"""Metrics of a run for Prometheus, as text at `/metrics` of a small web server."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from australis.connectors.push.connections import Connections, Handler
from australis.errors import RunError
from australis.model.box import LATE, REFUSED, lost

if TYPE_CHECKING:
    from australis.engine.spark.run import Run

LOOPBACK = "127.0.0.1"
TYPE = "text/plain; version=0.0.4; charset=utf-8"
_GRACE = 1.0  # seconds for answers under way when it is closed
_PAUSE = 1.0  # seconds for which a backlog is remembered: counting it may be slow

Samples = Iterable[tuple[Mapping[str, str], float]]


def serve(run: Run, port: int, host: str = LOOPBACK) -> Server:
    """Serve a run's metrics until they are closed; to this machine only, if no host is given."""
    server = Server(port, host)
    server.run = run
    return server


class Server:
    """A web server in threads of this process. Port 0 is any that is free: `address` tells which."""

    def __init__(self, port: int, host: str = LOOPBACK) -> None:
        self.run: Run | None = None
        self._lock, self._asked, self._backlog = Lock(), 0.0, dict[str, int]()
        try:
            self._server = _Listening(self, host, port)
        except (OSError, OverflowError) as error:
            told = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise RunError(
                f"metrics at {host}:{port}: {told}; choose another port, or 0 for any that is free"
            ) from error
        self.address: tuple[str, int] = self._server.server_address[:2]  # type: ignore[assignment]
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), name="metrics", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        host, port = self.address
        return f"http://{f'[{host}]' if ':' in host else host}:{port}/metrics"

    def close(self) -> None:
        self._server.finish(_GRACE, 0.0)
        self._thread.join()
        self._server.server_close()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def text(self) -> str | None:
        """What is served now; nothing before there is a run."""
        return None if self.run is None else text(self.run, self._waiting(self.run))

    def _waiting(self, run: Run) -> dict[str, int]:
        with self._lock:
            if time.monotonic() - self._asked >= _PAUSE:
                try:
                    self._backlog = run.backlog()
                except Exception:  # the run itself tells what is wrong with a source
                    self._backlog = {}
                self._asked = time.monotonic()
            return self._backlog


def text(run: Run, backlog: Mapping[str, int]) -> str:
    """All metrics in Prometheus's text format."""
    totals = run.totals
    boxes, ports = dict(totals.boxes), totals.ports
    inputs = {input.name: totals.taken[input.name] for input in run.network.inputs if not input.static}
    outputs = {output.name: totals.given[output.name] for output in run.network.outputs}
    last = {} if totals.last is None else {"": totals.last}
    return "".join((
        _metric("tuples_in_total", "counter", "Tuples taken from inputs.", _by("input", inputs)),
        _metric("tuples_out_total", "counter", "Tuples given to outputs.", _by("output", outputs)),
        _metric("dead_letters_total", "counter", "Tuples that could not be read, or were refused.",
                _by("", {"": run.letters})),
        _metric("batches_total", "counter", "Batches done.", _by("", {"": totals.batches})),
        _metric("batch_seconds", "gauge", "How long the last batch took.", _by("", last)),
        _metric("delay_seconds", "gauge", "The longest delay of the last tuples of an output.",
                _by("output", dict(totals.delay))),
        _metric("backlog_tuples", "gauge", "About how many tuples wait in a source.", _by("input", backlog)),
        _metric("box_seconds_total", "counter", "The time that a box has taken.",
                _by("box", {name: box.seconds for name, box in boxes.items()})),
        _metric("box_tuples_in_total", "counter", "Tuples given to a box.",
                _by("box", {name: box.taken for name, box in boxes.items()})),
        _metric("box_tuples_out_total", "counter", "Tuples that a box gave on a port.", _by_port(ports)),
        _metric("late_tuples_total", "counter", "Tuples that a box found late.", _by_port(ports, LATE)),
        _metric("refused_tuples_total", "counter", "Tuples that a box refused.", _by_port(ports, REFUSED)),
    ))  # fmt: skip


def _by(label: str, values: Mapping[str, float]) -> Samples:
    return [({label: name} if label else {}, value) for name, value in values.items()]


def _by_port(ports: Mapping[str, Mapping[str, int]], word: str = "") -> Samples:
    """By box and port; with a word, by those ports alone whose tuples have come to that."""
    return [
        ({"box": name, "port": port}, count)
        for name, counts in ports.items()
        for port, count in counts.items()
        if not word or lost(port) == word
    ]


def _metric(name: str, kind: str, help: str, samples: Samples) -> str:
    lines = [f"# HELP australis_{name} {help}", f"# TYPE australis_{name} {kind}"]
    for labels, value in samples:
        spelled = ",".join(f'{label}="{_escaped(of)}"' for label, of in labels.items())
        lines.append(f"australis_{name}{f'{{{spelled}}}' if spelled else ''} {value}")
    return "\n".join(lines) + "\n"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


class _Listening(Connections):
    def __init__(self, metrics: Server, host: str, port: int) -> None:
        self.metrics = metrics
        super().__init__(host, port, _MetricsHandler)


class _MetricsHandler(Handler):
    server: _Listening
    server_version, sys_version = "Australis", ""

    def do_GET(self) -> None:  # noqa: N802 (the library's name)
        if self.path.partition("?")[0] != "/metrics":
            self._answer(404, "there is only GET /metrics\n", "text/plain; charset=utf-8")
            return
        found = self.server.metrics.text()
        if found is None:
            self._answer(503, "the run has not begun\n", "text/plain; charset=utf-8")
        else:
            self._answer(200, found, TYPE)

    do_HEAD = do_GET  # noqa: N815 (the library's name)

    def log_message(self, format: str, *args: Any) -> None:
        """Readers come every few seconds."""

    def _answer(self, code: int, content: str, type: str) -> None:
        body = content.encode()
        self.send_response(code)
        self.send_header("Content-Type", type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
