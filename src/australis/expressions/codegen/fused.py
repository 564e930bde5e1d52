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
from australis.kernels.generated import GeneratedCode, block, comment, generate

Step: TypeAlias = "Expr | tuple[tuple[str, Expr], ...]"
"""A predicate, or the named columns of a map."""


@dataclass(frozen=True)
class Fused:
    """The code of `loop(kept, counts, *columns, *made)`, for columns without nulls.

    It marks the rows that get through in `kept`, counts in `counts` those that get through each step, and fills the
    made columns, each with an array of which values are valid where some may be null. It returns -1, or the row of too
    big a number.
    """

    code: GeneratedCode
    reads: tuple[str, ...]
    """The columns of the input that it reads."""
    columns: tuple[str | tuple[pa.DataType, bool], ...]
    """What comes out: a column of the input by its name, or one that is made, by its type and whether it has nulls."""


def fused(schema: pa.Schema, steps: tuple[Step, ...]) -> Fused | None:
    """The loop for steps over rows of a schema, or None if it cannot be written."""
    writer = _FusedWriter(schema, columns={name: name for name in schema.names})
    try:
        for index, step in enumerate(steps):
            writer.add(index, step)
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
        column = self.columns[node.name]
        if not isinstance(column, str):
            return column
        if self.type(node) not in LIMITS:
            raise NotWrittenError
        if column not in self.reads:
            self.reads.append(column)
        return read(f"column{self.reads.index(column)}[row]", self.type(node)), "True"

    def _constant(self, node: Node) -> Written:
        value = of(node).bind(self.schema).operand.value
        if value is None:
            raise NotWrittenError
        if not value.is_valid:
            return "0", "False"
        if value.type not in LIMITS or not math.isfinite(value.as_py()):
            raise NotWrittenError
        return repr(value.as_py()), "True"

    def add(self, index: int, step: Step) -> None:
        """Write the lines of one step."""
        if isinstance(step, Expr):
            self.lines.append(comment(f"where {step}"))
            self.lines += block(f"if not ({both(*reversed(self.write(step.node)))}):", "continue")
        else:
            fields = [pa.field(name, value.bind(self.schema).type) for name, value in step]
            self.columns = {name: self._column(name, value) for name, value in step}
            self.schema = pa.schema(fields)
        self.lines.append(f"passed{index} += 1")

    def _column(self, name: str, value: Expr) -> str | Written:
        if value.copies is not None:
            return self.columns[value.copies]
        type_ = value.bind(self.schema).type
        if type_ not in LIMITS:
            raise NotWrittenError
        self.lines.append(comment(f"{name} = {value}"))
        written = self.write(value.node)
        self.fits(*written, type_)
        return written

    def fused(self, steps: int) -> Fused:
        """The whole loop, once all steps are added."""
        columns: list[str | tuple[pa.DataType, bool]] = []
        made: list[str] = []
        legend = [f"column{index} is {name}" for index, name in enumerate(self.reads)]
        for (name, column), type_ in zip(self.columns.items(), self.schema.types, strict=True):
            if isinstance(column, str):
                columns.append(column)
                continue
            value, valid = column
            array, nullable = f"made{len(columns)}", valid != "True"
            made.append(array)
            self.lines.append(f"{array}[filled] = {value}" + (f" if {valid} else 0" if nullable else ""))
            if nullable:
                made.append(f"{array}_valid")
                self.lines.append(f"{array}_valid[filled] = {valid}")
            legend.append(f"{array} is {name}")
            columns.append((type_, nullable))
        inputs = [f"column{index}" for index in range(len(self.reads))]
        passed = [f"passed{index}" for index in range(steps)]
        code = generate(
            "loop",
            ["kept", "counts", *inputs, *made],
            comment("Steps over rows without nulls; returns -1, or the row of a number that does not fit."),
            *(comment(line) for line in legend),
            f"{' = '.join(('filled', *passed))} = 0",
            *block("for row in range(len(kept)):", *self.lines, "kept[row] = True", "filled += 1"),
            *(f"counts[{index}] = {count}" for index, count in enumerate(passed)),
            "return -1",
        )
        return Fused(code, tuple(self.reads), tuple(columns))
