"""The canonical SQL text of a tree, which parses back to the same tree."""

from __future__ import annotations

import datetime as dt
import re

from australis.arrow.durations import whole_units
from australis.expressions.node import FunctionCall, Literal, Name, Node, Value

# How tightly each operator binds; an operand that binds no tighter stands in parentheses.
_PREDICATE = 4
_BINDS = {
    "or": 1,
    "and": 2,
    "not": 3,
    **dict.fromkeys(("=", "!=", "<", "<=", ">", ">=", "like", "ilike", "rlike", "is distinct from"), _PREDICATE),
    **dict.fromkeys(("between", "in", "is null"), _PREDICATE),
    "||": 5,
    "+": 6,
    "-": 6,
    "*": 7,
    "/": 7,
    "//": 7,
    "%": 7,
    "neg": 8,
}
_ATOM = 9
_LEFT = ("+", "-", "*", "/", "//", "%")  # a - b - c is (a - b) - c

OPERATORS = frozenset([*_BINDS, "case", "cast", "try_cast"])

# Words that cannot stand for a column without quotes.
KEYWORDS = frozenset(
    "and or not is null true false in like ilike rlike regexp between case when then else end distinct from escape "
    "div select over as exists any all".split()
)
_PLAIN = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)


def render(node: Node) -> str:
    """SQL text with lower-case words, single spaces and no parentheses but the needed ones."""
    if isinstance(node, Name):
        return identifier(node.name)
    if isinstance(node, Literal):
        return literal(node.value)
    return _apply(node)


def identifier(name: str) -> str:
    """A column's name as it stands in an expression, quoted when it must be."""
    if _PLAIN.fullmatch(name) and not KEYWORDS.intersection(name.lower().split(".")):
        return name
    return '"' + name.replace('"', '""') + '"'


def literal(value: Value) -> str:
    """A constant as SQL text."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, dt.timedelta):
        count, unit = whole_units(value)
        return f"interval '{count}' {unit}"
    return "'" + value.replace("'", "''") + "'"


def _apply(node: FunctionCall) -> str:
    function, args = node.function, node.args
    if function == "case":
        arms = "".join(f" when {render(args[i])} then {render(args[i + 1])}" for i in range(0, len(args) - 1, 2))
        return f"case{arms}{f' else {render(args[-1])}' if len(args) % 2 else ''} end"
    if function in ("cast", "try_cast"):
        kind = args[1].value if isinstance(args[1], Literal) else None
        return f"{function}({render(args[0])} as {kind})"
    if function == "not":
        return _negation(args[0])
    if function == "neg":
        inner = _operand(args[0], _BINDS["neg"])
        return f"-({inner})" if inner.startswith("-") else f"-{inner}"
    if function in _BINDS:
        return _infix(function, args)
    if function == "count" and not args:
        return "count(*)"
    if function == "distinct":
        return f"distinct {_list(args)}"
    return f"{function}({_list(args)})"


def _infix(function: str, args: tuple[Node, ...], no: str = "") -> str:
    binds = _BINDS[function]
    first = _operand(args[0], binds - 1 if function in _LEFT else binds)
    if function == "is null":
        return f"{first} is {no}null"
    if function == "is distinct from":
        return f"{first} is {no}distinct from {_operand(args[1], binds)}"
    if function == "in":
        return f"{first} {no}in ({_list(args[1:])})"
    if function == "between":
        return f"{first} {no}between {_operand(args[1], binds)} and {_operand(args[2], binds)}"
    return " ".join([first, *(f"{no}{function} {_operand(arg, binds)}" for arg in args[1:])])


def _negation(arg: Node) -> str:
    if isinstance(arg, FunctionCall) and _takes_not(arg):
        return _infix(arg.function, arg.args, "not ")
    return f"not {_operand(arg, _BINDS['not'])}"


def _takes_not(node: Node) -> bool:
    """Whether a negation stands inside: `a not in (1, 2)`."""
    inside = ("in", "between", "like", "ilike", "is null", "is distinct from")
    return isinstance(node, FunctionCall) and node.function in inside


def _operand(node: Node, outside: int) -> str:
    text = render(node)
    return text if _tightness(node) > outside else f"({text})"


def _tightness(node: Node) -> int:
    if isinstance(node, FunctionCall):
        if node.function == "not" and _takes_not(node.args[0]):
            return _PREDICATE
        return _BINDS.get(node.function, _ATOM)
    # A negative number is a sign and a number to the parser.
    return _BINDS["neg"] if isinstance(node, Literal) and literal(node.value).startswith("-") else _ATOM


def _list(args: tuple[Node, ...]) -> str:
    return ", ".join(render(arg) for arg in args)
