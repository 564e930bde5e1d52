"""The methods that draw the boxes of `australis.boxes`; see tests/api/test_methods.py."""

from collections.abc import Mapping, Sequence

from australis.api.stream import Stream
from australis.expressions import Expr, Term
from australis.model.parameters import By, Expression, Function, Length, On
from australis.model.table import Keyed

class SqualMethods:
    @property
    def _stream(self) -> Stream: ...
    def aggregate(
        self,
        functions: Mapping[str, Function] | None = None,
        /,
        *,
        on: On,
        size: Length | None = None,
        advance: Length | Expr | Term | None = None,
        by: By = (),
        slack: int = 0,
        timeout: Length | None = None,
        partial: bool = False,
        shed: str = "windows",
        box: str | None = None,
        **more: Function,
    ) -> Stream:
        """Apply window functions to windows of `size` on the column `on`, which slide by `advance` (by their size)."""

    def bsort(
        self,
        on: On,
        slack: int = 0,
        by: By = (),
        *,
        box: str | None = None,
    ) -> Stream:
        """Sort on a column as far as a buffer of `slack` + 1 tuples can."""

    def filter(
        self,
        *predicates: Expression,
        box: str | None = None,
    ) -> Stream:
        """Let the tuples through that satisfy a predicate, or all of several; the others are the stream's `rest`."""

    def join(
        self,
        other: Stream,
        where: Expression | None = None,
        *,
        on: On | Sequence[On | None] | None = None,
        size: Length | None = None,
        box: str | None = None,
    ) -> Stream:
        """Pair tuples whose values of `on` differ by at most `size` and that satisfy a predicate."""

    def map(
        self,
        columns: Mapping[str, Expression] | None = None,
        /,
        *,
        box: str | None = None,
        **more: Expression,
    ) -> Stream:
        """Each attribute is an expression over the tuple; what no expression names is left behind."""

    def read(
        self,
        table: Keyed,
        *columns: str,
        box: str | None = None,
    ) -> Stream:
        """Give each tuple with columns (all, if none is named) of the row of its key, null where there is none."""

    def resample(
        self,
        other: Stream,
        functions: Mapping[str, Function] | None = None,
        /,
        *,
        on: On | Sequence[On | None],
        size: Length,
        box: str | None = None,
        **more: Function,
    ) -> Stream:
        """For each tuple, apply window functions to the tuples of `other` that are at most `size` away from it."""

    def route(
        self,
        *predicates: Expression,
        box: str | None = None,
    ) -> tuple[Stream, ...]:
        """Send each tuple to the first predicate that it satisfies: a stream each, and the last for those of none."""

    def union(
        self,
        *others: Stream,
        on: str = "",
        box: str | None = None,
    ) -> Stream:
        """Merge with other streams of the same schema, in the order of arrival, or by a column on which they ascend."""

    def write(
        self,
        table: Keyed,
        columns: Mapping[str, Expression] | None = None,
        /,
        *,
        returning: Mapping[str, Expression] | None = None,
        box: str | None = None,
        **more: Expression,
    ) -> Stream:
        """Write the row of each tuple's key, and give the tuple with its new values; `old.x` reads the row before."""
