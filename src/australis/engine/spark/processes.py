"""Processes: the memory and the time of this one, of Spark's and of its Python processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def memory() -> dict[str, int]:
    """Bytes that this process, Spark's, and its Python processes hold; what forks share counts once for all."""
    found = {"driver": _held(os.getpid()), "spark": 0, "workers": 0}
    for pid in _descendants(os.getpid()):
        try:
            java = "java" in Path(f"/proc/{pid}/comm").read_text()
            found["spark" if java else "workers"] += _held(pid)
        except OSError:  # it has ended
            continue
    return found


def _held(pid: int) -> int:
    """The memory of a process, with its part of what it shares."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def _descendants(root: int) -> Iterator[int]:
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry.name))
    ahead = [root]
    while ahead:
        more = children.get(ahead.pop(), [])
        ahead += more
        yield from more


def seconds() -> float:
    """The processor time that all of them have used, those that have ended and were waited for too."""
    ticks = 0
    for pid in (os.getpid(), *_descendants(os.getpid())):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")
