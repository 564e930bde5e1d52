"""The hook that Spark calls with every batch."""

import socket
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import pytest

from australis.engine.spark.hook import Hook
from australis.errors import RunError


def gateway(connection: Any = None) -> Any:
    """As much of py4j's gateway as a hook asks."""
    client = SimpleNamespace() if connection is None else SimpleNamespace(get_thread_connection=lambda: connection)
    return SimpleNamespace(_gateway_client=client)


def test_batches_are_passed_on_until_it_is_closed() -> None:
    seen: list[tuple[Any, int]] = []
    hook = Hook(gateway(), lambda frame, number: seen.append((frame, number)))
    hook("frame", 0)  # type: ignore[arg-type]
    hook("frame", 1)  # type: ignore[arg-type]
    hook.close()
    hook.close()
    with pytest.raises(RunError, match="the run has ended"):
        hook("frame", 2)  # type: ignore[arg-type]
    assert seen == [("frame", 0), ("frame", 1)]


def test_closing_waits_for_the_batch_under_way() -> None:
    begun, go_on, done = Event(), Event(), []

    def work(_: Any, number: int) -> None:
        begun.set()
        go_on.wait()
        done.append(number)

    hook = Hook(gateway(), work)
    batch = Thread(target=hook, args=(None, 7))
    batch.start()
    begun.wait()
    closing = Thread(target=lambda: (hook.close(), done.append("closed")))
    closing.start()
    assert done == []
    go_on.set()
    batch.join()
    closing.join()
    assert done == [7, "closed"]


def test_the_connection_of_a_call_is_shut_down() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        hook = Hook(gateway(SimpleNamespace(socket=ours)), lambda *_: None)
        hook(None, 0)  # type: ignore[arg-type]
        hook.close()
        assert theirs.recv(1) == b""  # the end
