"""docs/reference.md lists everything public, in the words of its docstrings, and documents name nothing else."""

import inspect
import os
import re
from pathlib import Path
from typing import Any

import pytest

import australis as au
from australis.api.moving import MovingObjects
from australis.api.signal import Signals
from australis.engine.local_run import LocalResults
from australis.engine.spark.run import Run

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference.md"
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/**/*.md")])
HEAD = """# Reference

Everything public, in a sentence each; `help(au.stream)` says the rest. What is not listed may change without notice.
A test writes this page: `AUSTRALIS_GOLDEN=write pytest tests/test_reference.py`.
"""
CLASSES = {
    "stream": au.Stream,
    "stream.signal": Signals,
    "stream.moving": MovingObjects,
    "network": au.Network,
    "run": Run,
    "results": LocalResults,
}
"""What people have in hand, under the name that the documents give it."""


def sentence(value: Any) -> str:
    """The first sentence of a docstring."""
    doc = " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())
    assert doc, f"{value!r} is public, and has no docstring"
    first = re.match(r".*?[.:](?= [A-Z`]|$)", doc)
    return (first[0] if first else doc).rstrip(".:").replace("|", r"\|")


def members(kind: type) -> dict[str, Any]:
    """The public methods and properties of a class."""
    return {
        name: each
        for name, each in inspect.getmembers_static(kind)
        if not name.startswith("_") and (inspect.isfunction(each) or isinstance(each, property | classmethod))
    }


def table(title: str, rows: dict[str, Any]) -> str:
    lines = [
        f"| `{name}` | {sentence(value)} |" for name, value in sorted(rows.items(), key=lambda row: row[0].lower())
    ]
    return "\n".join(["", f"## {title}", "", "| | |", "| --- | --- |", *lines, ""])


def reference() -> str:
    names = {name: getattr(au, name) for name in au.__all__}
    parts = [table("`import australis as au`", {f"au.{name}": value for name, value in names.items()})]
    parts += [
        table(f"`{name}`", {f"{name}.{each}": value for each, value in members(kind).items()})
        for name, kind in CLASSES.items()
    ]
    return HEAD + "".join(parts)


def test_the_reference_lists_everything_public() -> None:
    text = reference()
    if os.environ.get("AUSTRALIS_GOLDEN") == "write":
        REFERENCE.write_text(text)
    assert REFERENCE.read_text() == text, "write it anew: AUSTRALIS_GOLDEN=write pytest tests/test_reference.py"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_documents_name_nothing_that_is_not_exported(document: Path) -> None:
    text = document.read_text()
    for name in set(re.findall(r"\bau\.([A-Za-z_]\w*)", text)):
        assert name in au.__all__, f"{document}: au.{name} is not exported"
    for space, kind in (("signal", Signals), ("moving", MovingObjects)):
        for name in set(re.findall(rf"\w\.{space}\.([a-z_]+)\(", text)) - {"lfilter", "resample_poly"}:
            assert name in members(kind), f"{document}: .{space}.{name} is no method"
