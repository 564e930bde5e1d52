"""SQL: queries over streams, planned as networks of boxes (SOLE 3.4 for the spatial clauses)."""

from typing import TYPE_CHECKING

from australis.late import late

if TYPE_CHECKING:
    from australis.sql.plan import network, sql
    from australis.sql.spatial import Inside, Moving, Nearest

__all__ = ["Inside", "Moving", "Nearest", "network", "sql"]

late(
    __name__,
    {
        "plan": ("network", "sql"),
        "spatial": ("Inside", "Moving", "Nearest"),
    },
)
