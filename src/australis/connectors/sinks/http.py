"""Results posted to a web address as JSON lines."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from http.client import HTTPException
from math import inf
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pyarrow as pa

from australis.connectors.sinks.jsontext import json_lines
from australis.disk.durable import again
from australis.errors import RunError

_PASSING = {408, 425, 429, 500, 502, 503, 504}


@dataclass(frozen=True)
class Http:
    """At least once: one POST a batch, again after a failure that may pass, at most `attempts` times.

    The header `Australis-Batch` holds the batch's id (and `Australis-Run` the run's, if it has one), by which a server
    tells a batch that it has already. Batches without tuples are not posted.
    """

    url: str
    attempts: int = 5
    pause: float = 0.2
    timeout: float = 30.0

    def __post_init__(self) -> None:
        if self.attempts < 1 or not 0 <= self.pause < inf or not 0 < self.timeout < inf:
            raise RunError(f"{self.url}: give 1 attempt or more, a pause of 0 seconds or more, and a timeout above 0")

    def open(self, schema: pa.Schema, run: str = "", replace: bool = False) -> HttpWriter:
        return HttpWriter(self, run, not replace)


@dataclass(frozen=True)
class HttpWriter:
    sink: Http
    run: str
    kept: bool = True
    """Whether the run can go on after a failure."""

    def write(self, batch_id: int, tuples: Iterable[pa.RecordBatch]) -> None:
        data = b"".join(json_lines(train) for train in tuples)
        if not data:
            return
        headers = {"Content-Type": "application/x-ndjson", "Australis-Batch": str(batch_id)}
        if self.run:
            headers["Australis-Run"] = self.run
        request = Request(self.sink.url, data, headers, method="POST")
        for attempt in range(1, self.sink.attempts + 1):
            try:
                with urlopen(request, timeout=self.sink.timeout) as answer:
                    answer.read()
                return
            except (URLError, HTTPException, OSError) as error:
                refused = isinstance(error, HTTPError) and error.code not in _PASSING
                if isinstance(error, HTTPError):
                    error.close()
                if refused or attempt == self.sink.attempts:
                    times = "" if refused else f" {attempt} times"
                    raise RunError(
                        f"{self.sink.url}: batch {batch_id} was not taken{times} ({error}); see to the server, then"
                        f" {again(self.kept)}"
                    ) from error
                time.sleep(min(self.sink.pause * 2 ** (attempt - 1), 10.0))

    def close(self) -> None:
        """Every batch has a connection of its own."""
