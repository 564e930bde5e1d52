"""Australis: a data stream management system. Streams flow through networks of boxes; `import australis as au`."""

from typing import TYPE_CHECKING

from australis.late import late

if TYPE_CHECKING:
    from australis.build import network
    from australis.errors import AustralisError, ExpressionError, NetworkError, RunError, SchemaError
    from australis.expr import Expr, col, expr, function, lit
    from australis.folds import window_function
    from australis.netfile import dump, dumps, load, loads
    from australis.network import Network
    from australis.order import Order
    from australis.parameters import order
    from australis.run.local import Local
    from australis.stream import Stream, group, static, stream, table
    from australis.table import Keyed

__all__ = [
    "AustralisError",
    "Expr",
    "ExpressionError",
    "Keyed",
    "Local",
    "Network",
    "NetworkError",
    "Order",
    "RunError",
    "SchemaError",
    "Stream",
    "col",
    "dump",
    "dumps",
    "expr",
    "function",
    "group",
    "lit",
    "load",
    "loads",
    "network",
    "order",
    "static",
    "stream",
    "table",
    "window_function",
]

late(
    __name__,
    {
        "build": ("network",),
        "errors": ("AustralisError", "ExpressionError", "NetworkError", "RunError", "SchemaError"),
        "expr": ("Expr", "col", "expr", "function", "lit"),
        "folds": ("window_function",),
        "netfile": ("dump", "dumps", "load", "loads"),
        "network": ("Network",),
        "order": ("Order",),
        "parameters": ("order",),
        "run.local": ("Local",),
        "stream": ("Stream", "group", "static", "stream", "table"),
        "table": ("Keyed",),
    },
)
