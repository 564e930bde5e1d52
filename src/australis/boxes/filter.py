"""Filter: let the tuples through that satisfy a predicate (Aurora 5.2.1.1, with one predicate)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from australis.errors import ExpressionError
from australis.expressions import Bound, Expr
from australis.expressions.codegen.fused import Step
from australis.expressions.expression import of
from australis.expressions.failing import may_fail
from australis.expressions.node import apply
from australis.model.ascent import Ascent, Disorder
from australis.model.box import OUT, Box, Moment, Tables, Trains, bound, unchanged
from australis.model.facts import Facts
from australis.model.parameters import Expression, conjunction

REST = "rest"
"""The port of tuples that satisfied no predicate."""


@dataclass(frozen=True)
class Filter(Box):
    """What does not satisfy the predicate leaves by `rest`. A null predicate is false.

    >>> from australis.expressions import expr
    >>> from australis.testing import apply, train
    >>> fast, rest = apply(Filter(expr("mph > 60")), train("mph int", mph=[55, 70, None]))
    >>> fast["mph"].to_pylist(), rest["mph"].to_pylist()
    ([70], [55, None])
    """

    predicate: Expr

    kind: ClassVar[str] = "filter"
    stores: ClassVar[bool] = True
    immediate: ClassVar[bool] = True

    @classmethod
    def make(cls, *predicates: Expression) -> Filter:
        """Let the tuples through that satisfy a predicate, or all of several; the others are the stream's `rest`."""
        return cls(conjunction(predicates))

    def written(self) -> Mapping[str, object]:
        return {"predicates": str(self.predicate)}

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        (stream,) = inputs
        check_predicate(self.predicate, stream)
        return {OUT: stream, REST: stream}

    def label(self) -> list[str]:
        return [str(self.predicate)]

    @property
    def step_of_chain(self) -> Step | None:
        return self.predicate

    @property
    def selects(self) -> Expr | None:
        return self.predicate

    def followed_by(self, box: Box, stream: pa.Schema) -> Box | None:
        """A filter of both predicates, if the second cannot fail: `and` asks it where the first is null, too."""
        if not isinstance(box, Filter) or may_fail(box.predicate, stream):
            return None
        return Filter(of(apply("and", self.predicate.node, box.predicate.node)))

    def columns_needed(self, port: str, columns: AbstractSet[str], *inputs: pa.Schema) -> tuple[AbstractSet[str], ...]:
        return (columns | set(self.predicate.columns),)

    def passes(self, port: str, *inputs: pa.Schema) -> Mapping[int, Mapping[str, str]]:
        return {0: unchanged(inputs[0])}

    def disorder(self, column: str, by: AbstractSet[str], inputs: Sequence[Ascent]) -> Disorder | None:
        return inputs[0].disorder(column, by)

    def facts(self, title: str, given: Sequence[Facts], streams: Sequence[pa.Schema]) -> Facts:
        return chosen_by([self.predicate], given[0])

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        (train,) = trains
        hit = self._bound(train.schema).mask(train.view)
        return train.where(hit), train.where(pc.invert(hit))

    @bound
    def _bound(self, stream: pa.Schema) -> Bound:
        return self.predicate.bind(stream)


def check_predicate(predicate: Expr, stream: pa.Schema) -> None:
    """Refuse an expression that is neither true nor false."""
    type_ = predicate.bind(stream).type
    if type_ != pa.bool_():
        raise ExpressionError(f"`{predicate}` is no predicate: it gives a {type_}, not a boolean")


def chosen_by(predicates: Iterable[Expr], known: Facts) -> Facts:
    """What is known of signals that were chosen: a column of their key that was looked at is needed no longer."""
    looked = {name for predicate in predicates for name in predicate.columns}
    return replace(known, groups=tuple(each for each in known.groups if each.column not in looked))
