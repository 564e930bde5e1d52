"""Driving another system: what is read when, what is announced, and which line goes where at which time."""

import math
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from australis.apps.linear_road.clock import Clock
from australis.apps.linear_road.drive import NOTICE, READY, drive, open_connections
from australis.apps.linear_road.feed import Feed, feed
from australis.apps.linear_road.read_ahead import ReadAhead
from australis.errors import RunError
from tests.oracles.linear_road import Row, balance, expenditure, report, travel, write

NOW = 1_700_000_000.0
SECONDS = 40


class Hands:
    """A clock on which time passes only when somebody waits for it."""

    def __init__(self) -> None:
        self.time = NOW

    def sleep(self, seconds: float) -> None:
        self.time += seconds

    @property
    def clock(self) -> Clock:
        return Clock(lambda: self.time, self.sleep)


@dataclass(frozen=True)
class Watched(Feed):
    """A feed that notes what is read of it."""

    events: list[tuple[str, float]] = field(default_factory=list)

    def merge(self, seconds: int = 10) -> Iterator[pa.RecordBatch]:
        for batch in super().merge(seconds):
            self.events.append(("read", batch["time"][-1].as_py()))
            yield batch


def rows() -> list[Row]:
    """Vehicles on two expressways that report all the time, and ask at times."""
    moving = [report(second, vid, 5 + vid, xway=vid % 2) for second in range(SECONDS) for vid in range(6)]
    asked = [balance(7, 1, 1), expenditure(8, 2, 2, 0, 3), travel(9, 3, 3, 5, 6, xway=1)]
    return sorted([*moving, *asked], key=lambda row: (row.time, row.type, row.vid))


@pytest.fixture
def given(tmp_path: Path) -> Feed:
    return feed(write(tmp_path / "road.dat", rows()))


def parsed(text: bytes) -> list[Row]:
    return [Row(*map(int, line.split(b","))) for line in text.splitlines()]


@pytest.mark.parametrize("speed", [1.0, 2.0])
def test_the_first_lines_are_read_before_the_clock_begins(given: Feed, speed: float) -> None:
    watched, hands = Watched(given.files), Hands()
    events = watched.events
    drive(
        watched,
        [lambda text: events.append(("sent", parsed(text)[0].time))],
        speed,
        announce=lambda began: events.append(("announced", began)),
        clock=hands.clock,
    )
    at = events.index(("announced", NOW + NOTICE))
    before, after = events[:at], events[at + 1 :]
    read = [second for what, second in before if what == "read"]
    assert [what for what, _ in before] == ["read"] * len(before)
    assert read[: READY * int(speed) + 1] == list(range(READY * int(speed) + 1))
    assert [second for what, second in after if what == "sent"] == list(range(SECONDS))


@pytest.mark.parametrize("since", [None, NOW + 17.5])
def test_every_line_goes_out_at_its_time(given: Feed, since: float | None) -> None:
    hands, heard = Hands(), list[float]()
    sent: list[tuple[float, int]] = []
    late: list[tuple[int, float]] = []
    lines = drive(
        given,
        [lambda text: sent.append((hands.time, parsed(text)[0].time))],
        4.0,
        lambda second, by: late.append((second, by)),
        since=since,
        announce=heard.append,
        clock=hands.clock,
    )
    began = NOW + NOTICE if since is None else since
    assert heard == [began]
    assert lines == len(rows())
    assert sent == [(pytest.approx(began + second / 4, abs=1e-6), second) for second in range(SECONDS)]
    assert late == [(second, pytest.approx(0, abs=1e-6)) for second in range(SECONDS)]


def test_a_time_0_that_has_passed_is_refused_before_anything_is_sent(given: Feed) -> None:
    sent: list[bytes] = []
    with pytest.raises(RunError, match=r"time 0 was 2\.5 s ago when all was ready to be sent; give a later one"):
        drive(given, [sent.append], since=NOW - 2.5, clock=Hands().clock)
    assert not sent


def test_at_full_speed_nothing_waits(given: Feed) -> None:
    hands, sent = Hands(), list[bytes]()
    drive(given, [sent.append], math.inf, clock=hands.clock)
    assert hands.time == NOW
    assert parsed(b"".join(sent)) == rows()


@pytest.mark.parametrize("by", ["vid", "xway"])
def test_connections_keep_the_order_of_vehicles_and_of_expressways(given: Feed, by: str) -> None:
    sent: list[list[bytes]] = [[], [], []]
    lines = drive(given, [each.append for each in sent], math.inf, by=by, clock=Hands().clock)
    got = [parsed(b"".join(each)) for each in sent]
    assert lines == sum(map(len, got)) == len(rows())
    for connection, some in enumerate(got):
        number = [row.vid if by == "vid" or row.xway < 0 else row.xway for row in some]
        assert {each % 3 for each in number} <= {connection}
        assert some == [row for row in rows() if row in set(some)]  # in the order in which they were given


def test_a_reader_stays_within_its_room(given: Feed) -> None:
    """It reads on when lines are taken, and a second that is larger than the room goes through alone."""
    with ReadAhead(given, room=1) as ahead:
        ahead.ready(math.inf)
        seconds = [lines.second for lines in ahead.lines(0)]
    assert seconds == list(range(SECONDS))


def test_bad_lines_are_told_before_the_clock_begins(tmp_path: Path) -> None:
    (tmp_path / "bad.dat").write_text("0,1\n")
    heard: list[float] = []
    with pytest.raises(RunError, match="a line has 15 integers"):
        drive(feed(tmp_path / "bad.dat"), [lambda _: None], announce=heard.append, clock=Hands().clock)
    assert not heard


def test_one_connection_that_breaks_ends_all(given: Feed) -> None:
    def broken(_: bytes) -> None:
        raise ConnectionResetError("gone")

    with pytest.raises(ConnectionResetError, match="gone"):
        drive(given, [lambda _: None, broken], clock=Hands().clock)


def taken(server: socket.socket, received: list[bytes]) -> None:
    connection, _ = server.accept()
    with connection:
        received.append(b"".join(iter(lambda: connection.recv(1 << 16), b"")))


@pytest.mark.parametrize("connections", [1, 3])
def test_another_system_is_driven_over_sockets(given: Feed, connections: int) -> None:
    received: list[bytes] = []
    with socket.create_server(("localhost", 0)) as server:
        takers = [threading.Thread(target=taken, args=(server, received)) for _ in range(connections)]
        for taker in takers:
            taker.start()
        with open_connections(to=f"localhost:{server.getsockname()[1]}", connections=connections) as to:
            lines = drive(given, to, 100, clock=Hands().clock)
        for taker in takers:
            taker.join()
    assert lines == len(rows())
    assert sorted(row for text in received for row in parsed(text)) == sorted(rows())


def test_clients_are_waited_for(given: Feed, capfd: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("localhost", 0)) as server:
        port = server.getsockname()[1]
    received: list[bytes] = []

    def take() -> None:
        while True:
            try:
                connection = socket.create_connection(("localhost", port))
                break
            except ConnectionRefusedError:
                pass
        with connection:
            received.append(b"".join(iter(lambda: connection.recv(1 << 16), b"")))

    takers = [threading.Thread(target=take) for _ in range(2)]
    for taker in takers:
        taker.start()
    with open_connections(listen=f"localhost:{port}", connections=2) as to:
        drive(given, to, math.inf)
    for taker in takers:
        taker.join()
    assert sorted(row for text in received for row in parsed(text)) == sorted(rows())
    assert f"waiting for a client at 127.0.0.1:{port}, 2 of 2" in capfd.readouterr().err


def test_mistakes_are_told(given: Feed) -> None:
    with socket.create_server(("localhost", 0)) as server:
        port = server.getsockname()[1]
    mistakes: list[tuple[str, dict[str, Any]]] = [
        ("is the other side there", {"to": f"localhost:{port}"}),
        ("--to here: `here` is no port", {"to": "here"}),
        ("--to a:1 and --listen 2: give one of them", {"to": "a:1", "listen": "2"}),
        ("--connections 2: give --to or --listen", {"connections": 2}),
    ]
    for said, options in mistakes:
        with pytest.raises(RunError, match=said), open_connections(**options):
            pass
    with pytest.raises(RunError, match="the speed is 0; give one above zero"):
        drive(given, [], 0)
    with pytest.raises(RunError, match="lines cannot be divided by `vehicle`; give"):
        drive(given, [], by="vehicle")
