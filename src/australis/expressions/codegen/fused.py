"""Predicates and maps in a row, fused: one loop over rows that computes nothing for those that have fallen out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import pyarrow as pa

from australis.expressions.codegen.writer import LIMITS, CodeWriter, NotWrittenError, Written, both, read
from australis.expressions.expression import Expr, of
from australis.expressions.node import Name, Node, names

Step: TypeAlias = "Expr | tuple[tuple[str, Expr], ...]"
"""A predicate, or the named columns of a map."""


@dataclass(frozen=True)
class Fused:
    """The source of `loop(kept, counts, *reads, *made)`, for columns without nulls.

    It marks the rows that get through, counts those that get through each step, and fills the columns that are made,
    with which values are valid where some may not be. What it returns is -1, or the row of too big a number.
    """

    source: str
    reads: tuple[str, ...]
    """The columns of the input that it reads."""
    columns: tuple[str | tuple[pa.DataType, bool], ...]
    """What comes out: a column of the input by its name, or one that is made, by its type and whether it has nulls."""


def fused(schema: pa.Schema, steps: tuple[Step, ...]) -> Fused | None:
    """The loop for steps over rows of a schema, if it can be written."""
    writer = _FusedWriter(schema, columns={name: name for name in schema.names})
    try:
        for at, step in enumerate(steps):
            writer.pass_(at, step)
        return writer.fused(len(steps))
    except NotWrittenError:
        return None


@dataclass
class _FusedWriter(CodeWriter):
    columns: Mapping[str, str | Written] = field(default_factory=dict)
    """The columns after the steps so far: those of the input by name, others by their code."""
    reads: list[str] = field(default_factory=list)

    def leaf(self, node: Node) -> Written | None:
        if not names(node):
            return self._constant(node)
        if not isinstance(node, Name):
            return None
        found = self.columns[node.name]
        if not isinstance(found, str):
            return found
        if self.type(node) not in LIMITS:
            raise NotWrittenError
        if found not in self.reads:
            self.reads.append(found)
        return read(f"c{self.reads.index(found)}[i]", self.type(node)), "True"

    def _constant(self, node: Node) -> Written:
        value = of(node).bind(self.schema).operand.value
        if value is None:
            raise NotWrittenError
        if not value.is_valid:
            return "0", "False"
        if value.type not in LIMITS or not math.isfinite(value.as_py()):
            raise NotWrittenError
        return repr(value.as_py()), "True"

    def pass_(self, at: int, step: Step) -> None:
        """Lines for one step."""
        if isinstance(step, Expr):
            self.lines.append(f"if not ({both(*reversed(self.write(step.node)))}): continue")
        else:
            fields = [pa.field(name, made.bind(self.schema).type) for name, made in step]
            self.columns = {name: self._made(made) for name, made in step}
            self.schema = pa.schema(fields)
        self.lines.append(f"n{at} += 1")

    def _made(self, made: Expr) -> str | Written:
        if made.copies is not None:
            return self.columns[made.copies]
        type_ = made.bind(self.schema).type
        if type_ not in LIMITS:
            raise NotWrittenError
        value, valid = self.write(made.node)
        self.fits(value, valid, type_)
        return value, valid

    def fused(self, steps: int) -> Fused:
        columns: list[str | tuple[pa.DataType, bool]] = []
        arrays: list[str] = []
        for made, column in zip(self.columns.values(), self.schema, strict=True):
            if isinstance(made, str):
                columns.append(made)
                continue
            value, valid = made
            array, nullable = f"m{len(arrays)}", valid != "True"
            self.lines.append(f"{array}[k] = {value} if {valid} else 0" if nullable else f"{array}[k] = {value}")
            arrays.append(array)
            if nullable:
                self.lines.append(f"v{array}[k] = {valid}")
                arrays.append(f"v{array}")
            columns.append((column.type, nullable))
        counts = [f"n{at}" for at in range(steps)]
        lines = [
            f"def loop({', '.join(('kept', 'counts', *(f'c{i}' for i in range(len(self.reads))), *arrays))}):",
            f"    {' = '.join(('k', *counts))} = 0",
            "    for i in range(len(kept)):",
            *(" " * 8 + line for line in (*self.lines, "kept[i] = True", "k += 1")),
            *(f"    counts[{at}] = {count}" for at, count in enumerate(counts)),
            "    return -1",
        ]
        return Fused("\n".join(lines), tuple(self.reads), tuple(columns))
