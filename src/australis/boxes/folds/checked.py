"""Functions of users compiled so that whole numbers do not wrap: what leaves 64 bits is an OverflowError."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numba.core import compiler_machinery, ir, ir_utils, types, untyped_passes
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.extending import overload

_NODES: Any = ir  # numba's compiler declares no types
_UTILS: Any = ir_utils
_MACHINERY: Any = compiler_machinery
_BUILDER: Any = DefaultPassBuilder
_TOO_BIG = 2.0**63


def plus(one: Any, other: Any) -> Any:
    """`one + other`."""


def minus(one: Any, other: Any) -> Any:
    """`one - other`."""


def times(one: Any, other: Any) -> Any:
    """`one * other`."""


def power(one: Any, other: Any) -> Any:
    """`one ** other`."""


def negative(one: Any) -> Any:
    """`-one`."""


def _whole(*operands: Any) -> bool:
    """Whether all are signed whole numbers. Unsigned ones may wrap, as hash functions want it."""
    return all(isinstance(type_, types.Integer) and getattr(type_, "signed", False) for type_ in operands)


@overload(plus, strict=False)
def _plus(one: Any, other: Any) -> Callable[..., Any]:
    def checked(one: Any, other: Any) -> Any:
        # Asked of the operands: a compiler may assume that a result has not overflowed.
        if (other > 0 and one > 9223372036854775807 - other) or (other < 0 and one < -9223372036854775808 - other):
            raise OverflowError
        return one + other

    return checked if _whole(one, other) else lambda one, other: one + other


@overload(minus, strict=False)
def _minus(one: Any, other: Any) -> Callable[..., Any]:
    def checked(one: Any, other: Any) -> Any:
        if (other < 0 and one > 9223372036854775807 + other) or (other > 0 and one < -9223372036854775808 + other):
            raise OverflowError
        return one - other

    return checked if _whole(one, other) else lambda one, other: one - other


@overload(times, strict=False)
def _times(one: Any, other: Any) -> Callable[..., Any]:
    def checked(one: Any, other: Any) -> Any:
        product = np.int64(np.uint64(one) * np.uint64(other))
        near = float(one) * float(other)
        if abs(near) >= 2.0**62 and (abs(near) > 1.5 * 2.0**63 or (near > 0) != (product > 0)):
            raise OverflowError
        return product

    return checked if _whole(one, other) else lambda one, other: one * other


@overload(power, strict=False)
def _power(one: Any, other: Any) -> Callable[..., Any]:
    def checked(one: Any, other: Any) -> Any:
        if abs(float(one) ** float(other)) >= _TOO_BIG:
            raise OverflowError
        return one**other

    return checked if _whole(one, other) else lambda one, other: one**other


@overload(negative, strict=False)
def _negative(one: Any) -> Callable[..., Any]:
    def checked(one: Any) -> Any:
        if one == -9223372036854775808:
            raise OverflowError
        return -one

    return checked if _whole(one) else lambda one: -one


_CHECKED: dict[Any, Callable[..., Any]] = {
    operator.add: plus, operator.iadd: plus, operator.sub: minus, operator.isub: minus, operator.mul: times,
    operator.imul: times, operator.pow: power, operator.ipow: power, operator.neg: negative,
}  # fmt: skip


@_MACHINERY.register_pass(mutates_CFG=False, analysis_only=False)
class _Checks(compiler_machinery.FunctionPass):
    """Operators become calls of the functions above, before their types are known."""

    _name = "australis_checked_arithmetic"

    def __init__(self) -> None:
        _MACHINERY.FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        for block in state.func_ir.blocks.values():
            block.body = [part for statement in block.body for part in _checked(statement, block.scope)]
        state.func_ir._definitions = _UTILS.build_definitions(state.func_ir.blocks)
        return True


def _checked(statement: Any, scope: Any) -> list[Any]:
    value = statement.value if isinstance(statement, _NODES.Assign) else None
    if not isinstance(value, _NODES.Expr) or value.op not in ("binop", "inplace_binop", "unary"):
        return [statement]
    function = _CHECKED.get(value.fn if value.op != "inplace_binop" else value.immutable_fn)
    if function is None:
        return [statement]
    operands = [value.value] if value.op == "unary" else [value.lhs, value.rhs]
    called = _NODES.Var(scope, _UTILS.mk_unique_var("checked"), statement.loc)
    scope.localvars.define(called.name, called)
    call = _NODES.Expr.call(called, operands, (), statement.loc)
    return [
        _NODES.Assign(_NODES.Global(function.__name__, function, statement.loc), called, statement.loc),
        _NODES.Assign(call, statement.target, statement.loc),
    ]


class _Compiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        pipeline = _BUILDER.define_nopython_pipeline(self.state)
        pipeline.add_pass_after(_Checks, untyped_passes.IRProcessing)
        pipeline.finalize()
        return [pipeline]


def checked(function: Callable[..., Any]) -> Any:
    """A function compiled so that `+`, `-`, `*` and `**` of whole numbers raise an OverflowError rather than wrap."""
    return njit(pipeline_class=_Compiler)(function)
