"""Processes: the memory and the time of this one, of Spark's and of its Python processes."""

from __future__ import annotations

from contextlib import suppress

from psutil import NoSuchProcess, Process


def memory() -> dict[str, int]:
    """Bytes that this process, Spark's, and its Python processes hold; what forks share counts once for all."""
    this = Process()
    held = {"driver": _held(this), "spark": 0, "workers": 0}
    for process in this.children(recursive=True):
        with suppress(NoSuchProcess):  # it has ended
            held["spark" if "java" in process.name() else "workers"] += _held(process)
    return held


def _held(process: Process) -> int:
    """The memory of a process with its part of what it shares, or without, where the system does not tell that."""
    info = process.memory_full_info()
    return int(info.pss if hasattr(info, "pss") else info.uss)


def seconds() -> float:
    """The processor time that all of them have used, those that have ended and were waited for too."""
    this = Process()
    used = 0.0
    for process in (this, *this.children(recursive=True)):
        with suppress(NoSuchProcess):
            times = process.cpu_times()
            used += times.user + times.system + times.children_user + times.children_system
    return used
