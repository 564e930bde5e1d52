"""The modules that a process imports, and how long each takes, by `python -X importtime`."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from australis.errors import RunError

_LINE = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \|\s+(\S+)")


@dataclass(frozen=True)
class Imported:
    """A module, and the seconds that it took, without and with the modules that it imports."""

    module: str
    own: float
    whole: float


@dataclass(frozen=True)
class Package:
    """The modules of a package, added up."""

    package: str
    modules: int
    seconds: float
    slowest: str


def measure_imports(words: list[str], folder: Path) -> list[Imported]:
    """The modules that a Python command imports, in the order in which they were complete."""
    if words[0] != sys.executable:
        raise AssertionError("the command must run this Python")
    command = [words[0], "-X", "importtime", *words[1:]]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if result.returncode:
        raise RunError(f"`{' '.join(words)[:80]}` failed: {result.stderr.strip()[-400:]}")
    return parse(result.stderr)


def parse(text: str) -> list[Imported]:
    """
    >>> parse("import time: self [us] | cumulative | imported package\\nimport time:      250 |       1000 |   a.b\\n")
    [Imported(module='a.b', own=0.00025, whole=0.001)]
    """
    return [Imported(name, int(own) / 1e6, int(whole) / 1e6) for own, whole, name in _LINE.findall(text)]


def by_package(loaded: list[Imported]) -> list[Package]:
    """The packages, the slowest first.

    >>> by_package([Imported("a", 1.0, 2.0), Imported("a.b", 2.0, 2.0), Imported("c", 2.0, 2.0)])[0]
    Package(package='a', modules=2, seconds=3.0, slowest='a.b')
    """
    groups: dict[str, list[Imported]] = {}
    for each in loaded:
        groups.setdefault(each.module.partition(".")[0], []).append(each)
    packages = [
        Package(name, len(some), sum(each.own for each in some), max(some, key=lambda each: each.own).module)
        for name, some in groups.items()
    ]
    return sorted(packages, key=lambda package: -package.seconds)
