"""Golden files of generated code: they show in a diff what a change does to the code.

With `AUSTRALIS_GOLDEN=write` in the environment, the tests write them anew.
"""

import os
from pathlib import Path

from australis.kernels.generated import GeneratedCode

WRITE = os.environ.get("AUSTRALIS_GOLDEN") == "write"


def check(code: GeneratedCode, path: Path) -> None:
    """Compare generated code with its golden file, or write that file."""
    if WRITE:
        path.write_text(code.text, encoding="utf-8")
    golden = path.read_text(encoding="utf-8") if path.exists() else ""
    assert code.text == golden, f"{path.name} has other code: write it with AUSTRALIS_GOLDEN=write, and read the diff"


def check_names(folder: Path, names: set[str]) -> None:
    """Every golden file belongs to a test."""
    assert {path.name for path in folder.glob("*.py")} == names
