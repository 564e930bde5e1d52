"""Written kernels that ripen: they are compiled beside the work, once there has been enough of it to pay."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

from australis.kernels.jit import place, written

WORTH = 1 << 22
"""How many tuples a process does without a kernel before it compiles one, which takes as long as some ten million."""


@dataclass
class _Plant:
    seen: int = 0
    compiled: Callable[..., Any] | None = None
    thread: Thread | None = None


_PLANTS: dict[str, _Plant] = {}


def ripe(source: str, name: str, rows: int, example: Callable[[], tuple[Any, ...]]) -> Callable[..., Any] | None:
    """The function of a written source, if it is compiled: by now, or in another process before.

    An `example` of its arguments tells their types. Until it is there, `rows` that are done without it count.
    """
    plant = _PLANTS.get(source)
    if plant is None:
        plant = _PLANTS[source] = _Plant()
        if _mark(source).exists():
            _grow(plant, source, name, example)
    if plant.compiled is None and plant.thread is None:
        plant.seen += rows
        if plant.seen > WORTH:
            plant.thread = Thread(target=_grow, args=(plant, source, name, example), daemon=True)
            plant.thread.start()
    return plant.compiled


def _grow(plant: _Plant, source: str, name: str, example: Callable[[], tuple[Any, ...]]) -> None:
    with suppress(OSError):  # on a full disk the work goes on without
        function = written(source, name)
        function(*example())
        plant.compiled = function
        _mark(source).touch()


def _mark(source: str) -> Path:
    """The file that tells that a source is compiled."""
    return place(source).with_suffix(".ripe")
