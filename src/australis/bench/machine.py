"""The machine that something is measured on."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pyarrow as pa

if TYPE_CHECKING:
    from australis.engine.spark.session import SparkSession


def machine(spark: SparkSession) -> dict[str, Any]:
    """The machine and the versions of a measurement."""
    assert spark._jvm is not None
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "Spark": spark.version,
        "Java": str(spark._jvm.java.lang.System.getProperty("java.version")),
        "Python": platform.python_version(),
        "Arrow": pa.__version__,
    }


def used() -> float:
    """The processor seconds that everything on the machine has used since it started."""
    times = psutil.cpu_times()._asdict()
    idle = ("idle", "iowait", "guest", "guest_nice")  # what guests use is among what users do
    return float(sum(seconds for name, seconds in times.items() if name not in idle))


def _processor() -> str:
    """The model as the system names it, where it does."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
