"""Windows of a query: `FROM TUMBLE(TABLE reports, time, SIZE 60)`, `GROUP BY window(time, '60 seconds')`."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

import pyarrow as pa

from australis.arrow.durations import duration
from australis.arrow.schema import temporal, type_text
from australis.expressions.node import FunctionCall, Literal, Name, Node, apply
from australis.model.parameters import Length
from australis.queries.piece import Piece
from australis.queries.query import Windowed

START = ("window_start", "window.start")
END = ("window_end", "window.end")
FUNCTIONS = ("window", "tumble", "hop")
_FORMS = {
    "tumble": "TUMBLE(TABLE reports, time, INTERVAL '60' SECOND)",
    "hop": "HOP(TABLE reports, time, INTERVAL '10' SECOND, INTERVAL '60' SECOND), which slides by the first",
    "window": "window(time, '60 seconds'), or window(time, '60 seconds', '10 seconds'), which slides by the last",
}


@dataclass(frozen=True)
class WindowClause:
    """Windows of `size` on a column of times, which slide by `advance`."""

    on: str
    size: Length
    advance: Length
    slack: int | None
    piece: Piece

    def end(self, column: str, type_: pa.DataType) -> Node:
        """The end of a window as an expression over the column that has its beginning."""
        size = self.size
        value = dt.timedelta(microseconds=duration(size) // 1000) if isinstance(size, str) else size
        return apply("cast", apply("+", Name(column), Literal(value)), Literal(type_text(type_)))


def from_table(windowed: Windowed, types: pa.Schema) -> WindowClause:
    """The windows of TUMBLE or HOP in FROM."""
    node = windowed.on.expr.node
    if isinstance(node, FunctionCall) and node.function == "descriptor" and len(node.args) == 1:
        node = node.args[0]
    lengths = [(name, piece.expr.node, piece) for name, piece in windowed.lengths]
    slack = [node for name, node, _ in lengths if name == "SLACK"]
    by_name = {"SLIDE" if name == "ADVANCE" else name: node for name, node, _ in lengths if name and name != "SLACK"}
    rest = [node for name, node, _ in lengths if name is None]
    names = ["SIZE"] if windowed.kind == "TUMBLE" else ["SLIDE", "SIZE"]
    by_name |= dict(zip([name for name in names if name not in by_name], rest, strict=False))
    if set(by_name) != set(names) or len(by_name) + len(slack) != len(lengths):
        raise windowed.piece.error(f"write {_FORMS[windowed.kind.lower()]}")
    clause = _window(node, by_name["SIZE"], by_name.get("SLIDE"), types, windowed.piece)
    if not slack:
        return clause
    if not isinstance(slack[0], Literal) or type(slack[0].value) is not int or slack[0].value < 0:
        raise windowed.piece.error("SLACK is a count of tuples, 0 or more", "SLACK")
    return WindowClause(clause.on, clause.size, clause.advance, slack[0].value, clause.piece)


def from_group(call: FunctionCall, types: pa.Schema, piece: Piece) -> WindowClause:
    """The windows of `window`, `tumble` or `hop` in GROUP BY."""
    args = call.args
    if len(args) != 2 and (call.function == "tumble" or len(args) != 3):
        raise piece.error(f"write {_FORMS[call.function].replace('TABLE reports, ', '')}")
    if call.function == "hop":
        if len(args) != 3:
            raise piece.error(f"write {_FORMS['hop'].replace('TABLE reports, ', '')}")
        args = (args[0], args[2], args[1])
    return _window(args[0], args[1], args[2] if len(args) == 3 else None, types, piece)


def _window(on: Node, size: Node, advance: Node | None, types: pa.Schema, piece: Piece) -> WindowClause:
    if not isinstance(on, Name):
        raise piece.error("a window is taken on a column; compute it in a subquery first")
    name = on.name if on.name in types.names else on.name.rpartition(".")[2]
    if name not in types.names:
        raise piece.error(
            f"there is no column `{on.name}` to take windows on; there are {', '.join(types.names)}", name
        )
    times = temporal(types.field(name).type)
    long = _length(size, times, piece)
    return WindowClause(name, long, long if advance is None else _length(advance, times, piece), None, piece)


def _length(node: Node, times: bool, piece: Piece) -> Length:
    """A length of time or a number; on a column of numbers, time is in seconds."""
    value = node.value if isinstance(node, Literal) else None
    if isinstance(value, bool) or not isinstance(value, int | float | str | dt.timedelta):
        raise piece.error("a window's length is a constant, such as 60, INTERVAL '1' MINUTE or '60 seconds'")
    if times or isinstance(value, int | float):
        return value
    with piece.locate_errors():
        nanoseconds = (
            value // dt.timedelta(microseconds=1) * 1000 if isinstance(value, dt.timedelta) else duration(value)
        )
    return nanoseconds // 10**9 if nanoseconds % 10**9 == 0 else nanoseconds / 1e9
