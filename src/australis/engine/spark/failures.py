"""The reason of a failure in one line, of all that Spark tells about it."""

from __future__ import annotations

import re
import sys


def reason(error: Exception) -> str:
    """The last error in Python, and what to do about it where that is known.

    >>> reason(ValueError("Py4JError: ...\\n  at org.apache\\nValueError: no such road\\n\\n=== Query ==="))
    'ValueError: no such road'
    >>> print(reason(ValueError("ModuleNotFoundError: No module named 'roads'")))
    ModuleNotFoundError: No module named 'roads': Spark's workers do not find it; install it where they run, or have
    the functions in the script itself
    """
    text = str(error).strip() or type(error).__name__
    ours = re.findall(r"australis\.errors\.\w+: (.+)", text)
    told = ours or re.findall(r"^(?:[\w.]+\.)?([A-Z]\w*(?:Error|Exception): .+)$", text, re.MULTILINE)
    line = text if "\n" not in text and not ours else str(told[-1]) if told else text.splitlines()[0]
    missing = re.search(r"No module named '(\w+)", line)
    return line + _remedy(missing[1]) if missing else line


def _remedy(module: str) -> str:
    if module == "australis":
        return (
            ": the Python that Spark starts does not have it; on this machine set PYSPARK_PYTHON to"
            f" {sys.executable} before Spark is started, on a cluster install it on every machine"
        )
    return ": Spark's workers do not find it; install it where they run, or have the functions in the script itself"
