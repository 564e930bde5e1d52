"""Which tuples an order specification lets pass (Aurora 5.2.2)."""

import math
from collections.abc import Callable
from typing import Any

from tests.oracles.tuples import Tuple

TUP = "tup#"


class Order:
    """Remembers all it has seen: a tuple is late when more than `slack` before it in its group are larger."""

    def __init__(self, on: str, slack: int = 0, by: tuple[str, ...] = ()) -> None:
        self.on, self.slack, self.by = on, slack, by
        self.seen: dict[tuple[Any, ...], list[Any]] = {}

    def group(self, each: Tuple) -> tuple[Any, ...]:
        return tuple(each.row[name] for name in self.by)

    def arrive(self, each: Tuple) -> Any | None:
        """The value of a tuple in order, or nothing for a late one."""
        seen = self.seen.setdefault(self.group(each), [])
        value = len(seen) + 1 if self.on == TUP else each.row[self.on]
        if missing(value):
            return None
        late = sum(before > value for before in seen) > self.slack
        seen.append(value)
        return None if late else value

    def bound(self, group: tuple[Any, ...]) -> Any | None:
        """What no tuple in order will fall below any more, if that is known."""
        seen = self.seen[group]
        if self.on == TUP:
            return len(seen) + 1
        return sorted(seen, reverse=True)[self.slack] if len(seen) > self.slack else None


def missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and not math.isfinite(value))


Predicate = Callable[[dict[str, Any]], bool]
