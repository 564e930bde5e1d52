"""Conditions in the source of functions, and the same functions without one of them."""

import __future__

import ast
import inspect
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from types import CodeType, FunctionType, ModuleType

Changes = Iterator[tuple[str, ast.AST]]
"""What is taken out, as it is written, and what is left."""

_NOT_RUN = {"annotation", "decorator_list", "returns"}


@dataclass(frozen=True)
class Condition:
    """A condition of a function, as it is written, and the function's code without it."""

    function: FunctionType
    text: str
    code: CodeType

    def __str__(self) -> str:
        module = self.function.__module__.rpartition(".")[2]
        return f"{module}.{self.function.__qualname__}: {self.text}"


@contextmanager
def without(condition: Condition) -> Iterator[None]:
    """Let a function go without a condition, whoever calls it."""
    code, condition.function.__code__ = condition.function.__code__, condition.code
    try:
        yield
    finally:
        condition.function.__code__ = code


def conditions(module: ModuleType) -> Iterator[Condition]:
    """The conditions of the functions and methods of a module, each taken out.

    An operand of `and`, `or`, `|` or `union` is left out, and so are a `|=`, an end of a chain of comparisons, an item
    of a key, and what is done about an error. A condition that stands alone becomes true, and then false.
    """
    for part in ast.parse(inspect.getsource(module)).body:
        if isinstance(part, ast.FunctionDef):
            yield from _of_function(part, vars(module)[part.name], None)
        if isinstance(part, ast.ClassDef):
            for each in part.body:
                if isinstance(each, ast.FunctionDef):
                    yield from _of_function(each, vars(vars(module)[part.name])[each.name], part)


def _of_function(node: ast.FunctionDef, value: object, owner: ast.ClassDef | None) -> Iterator[Condition]:
    function, seen = _plain(value), Counter[str]()
    for text, changed in _taken_out(node, node.returns is not None and ast.unparse(node.returns) == "bool"):
        seen[text] += 1
        number = f" ({seen[text]})" if seen[text] > 1 else ""
        if owner is not None:
            # What the function has of its class, it must still name, though what named it is taken out.
            free = [ast.Expr(ast.Name(name, ast.Load())) for name in function.__code__.co_freevars]
            whole, changed.body = copy(owner), [*changed.body, *free]
            whole.body = [changed]
            changed = whole
        module = ast.Module([changed], [])  # type: ignore[list-item]
        flags = __future__.annotations.compiler_flag
        code = compile(ast.fix_missing_locations(module), function.__code__.co_filename, "exec", flags, True)
        yield Condition(function, text + number, _code(code, function.__qualname__))


def _plain(value: object) -> FunctionType:
    """The function that is called for a method or a property."""
    if isinstance(value, property):
        value = value.fget
    if isinstance(value, cached_property):
        value = value.func
    function = inspect.unwrap(value.__func__ if isinstance(value, classmethod | staticmethod) else value)  # type: ignore[arg-type]
    assert isinstance(function, FunctionType), value
    return function


def _code(code: CodeType, name: str) -> CodeType:
    """The code of a function within other code."""
    inner = [const for const in code.co_consts if isinstance(const, CodeType)]
    (found,) = (each for each in inner if name == each.co_qualname or name.startswith(f"{each.co_qualname}."))
    return found if found.co_qualname == name else _code(found, name)


def _taken_out(node: ast.AST, boolean: bool) -> Changes:
    """Everything that can be taken out of a part of a function; `boolean` is whether the function says yes or no."""
    if isinstance(node, ast.arguments):
        return
    yield from _own(node, boolean)
    for field, value in ast.iter_fields(node):
        items = value if isinstance(value, list) else [value]
        for at, item in enumerate(items if field not in _NOT_RUN else []):
            for text, left in _taken_out(item, boolean) if isinstance(item, ast.AST) else ():
                changed = copy(node)
                setattr(changed, field, [*items[:at], left, *items[at + 1 :]] if isinstance(value, list) else left)
                yield text, changed


def _own(node: ast.AST, boolean: bool) -> Changes:
    """What can be taken out of a part itself."""
    match node:
        case ast.BoolOp(op, values):
            for rest, value in _but_one(values):
                yield ast.unparse(value), rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)
        case ast.BinOp(left, ast.BitOr(), right):
            yield ast.unparse(left), right
            yield ast.unparse(right), left
        case ast.AugAssign(op=ast.BitOr()):
            yield ast.unparse(node), ast.Pass()
        case ast.Compare(left, [_, _, *_], comparators):
            yield ast.unparse(left), ast.Compare(comparators[0], node.ops[1:], comparators[1:])
            yield ast.unparse(comparators[-1]), ast.Compare(left, node.ops[:-1], comparators[:-1])
        case ast.Call(ast.Attribute(value, "union"), args):
            nothing = ast.Call(ast.Name("frozenset", ast.Load()), [], [])
            yield ast.unparse(value), ast.Call(ast.Attribute(nothing, "union", ast.Load()), args, [])
            for rest, arg in _but_one(args):
                yield ast.unparse(arg), ast.Call(node.func, rest, [])
        case ast.Call(ast.Attribute(_, "setdefault"), [ast.Tuple(elts), *more]):
            for rest, item in _but_one(elts):
                yield ast.unparse(item), ast.Call(node.func, [ast.Tuple(rest, ast.Load()), *more], [])
        case ast.ExceptHandler(caught):
            yield f"except {ast.unparse(caught)}", ast.ExceptHandler(caught, node.name, [ast.Raise()])
        case ast.If(test) | ast.IfExp(test):
            for text, constant in _alone(test):
                changed = copy(node)
                changed.test = constant
                yield text, changed
        case ast.comprehension(ifs=[*ifs]):
            for at, test in enumerate(ifs):
                for text, constant in _alone(test):
                    changed = copy(node)
                    changed.ifs = [*ifs[:at], constant, *ifs[at + 1 :]]
                    yield text, changed
        case ast.Return(ast.expr() as value) if boolean and not isinstance(value, ast.Constant):
            for text, constant in _alone(value):
                yield text, ast.Return(constant)


def _alone(test: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """A condition that stands alone, as both constants. The operands of one that does not are taken out one by one."""
    inner = test.operand if isinstance(test, ast.UnaryOp) else test
    for constant in (True, False) if not isinstance(inner, ast.BoolOp) else ():
        yield f"{ast.unparse(test)} -> {constant}", ast.Constant(constant)


def _but_one(items: list[ast.expr]) -> Iterator[tuple[list[ast.expr], ast.expr]]:
    """Each of some items, behind all others."""
    for at, item in enumerate(items):
        yield [*items[:at], *items[at + 1 :]], item
