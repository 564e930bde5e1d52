"""Route: send each tuple to the first predicate it satisfies; the paper's Filter (Aurora 5.2.1.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.boxes.filter import check_predicate, chosen_by
from australis.errors import NetworkError, RunError
from australis.expressions import Bound, Expr
from australis.expressions.node import FunctionCall, Literal, Name
from australis.model.ascent import Ascent, Disorder
from australis.model.box import Box, Moment, Tables, Trains, bound, unchanged
from australis.model.facts import Facts
from australis.model.parameters import Expression, expression
from australis.model.train import Ints, Train, empty


@dataclass(frozen=True)
class Route(Box):
    """m predicates give m + 1 streams; the last, `rest`, carries what satisfied none. A null predicate is false.

    A predicate is asked of the tuples that satisfied none before it.

    >>> from australis.expressions import expr
    >>> from australis.testing import apply, train
    >>> speeds = Route((expr("mph > 60"), expr("mph < 20")))
    >>> fast, slow, rest = apply(speeds, train("mph int", mph=[55, 70, None, 10]))
    >>> fast["mph"].to_pylist(), slow["mph"].to_pylist(), rest["mph"].to_pylist()
    ([70], [10], [55, None])
    >>> speeds.label()
    ['1: mph > 60', '2: mph < 20']
    """

    predicates: tuple[Expr, ...]

    kind: ClassVar[str] = "route"
    stores: ClassVar[bool] = True
    immediate: ClassVar[bool] = True
    forks: ClassVar[bool] = True

    @classmethod
    def make(cls, *predicates: Expression) -> Route:
        """Send each tuple to the first predicate that it satisfies: a stream each, and the last for those of none."""
        return cls(tuple(map(expression, predicates)))

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        (stream,) = inputs
        if not self.predicates:
            raise NetworkError("a route takes at least one predicate")
        for predicate in self.predicates:
            check_predicate(predicate, stream)
        names = [str(i + 1) for i in range(len(self.predicates))]
        return dict.fromkeys((*names, "rest"), stream)

    def passes(self, port: str, *inputs: pa.Schema) -> Mapping[int, Mapping[str, str]]:
        return {0: unchanged(inputs[0])}

    def columns_needed(self, port: str, columns: AbstractSet[str], *inputs: pa.Schema) -> tuple[AbstractSet[str], ...]:
        return (columns | {name for predicate in self.predicates for name in predicate.columns},)

    def disorder(self, column: str, by: AbstractSet[str], inputs: Sequence[Ascent]) -> Disorder | None:
        return inputs[0].disorder(column, by)

    def facts(self, title: str, given: Sequence[Facts], streams: Sequence[pa.Schema]) -> Facts:
        return chosen_by(self.predicates, given[0])

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        (train,) = trains
        words = self._words(train.schema)
        if words is not None:
            return _parted(train, *words)
        out = []
        left: pa.BooleanArray | None = None
        for predicate in self._bound(train.schema):
            hit = _hit(predicate, train.view, left)
            out.append(train.where(hit if left is None else pc.and_(hit, left)))
            left = pc.invert(hit) if left is None else pc.and_not(left, hit)
        assert left is not None
        return (*out, train.where(left))

    @bound
    def _words(self, stream: pa.Schema) -> tuple[str, pa.Array[Any]] | None:
        """The column and the texts, if there are several predicates that compare one with constants, each another."""
        words: dict[str, str] = {}
        for predicate in self.predicates:
            match predicate.node:
                case FunctionCall("=", (Name(name), Literal(str(word)))) if word not in words:
                    words[word] = name
        columns = set(words.values())
        if len(self.predicates) < 2 or len(words) < len(self.predicates) or len(columns) > 1:
            return None
        (column,) = columns
        return (column, pa.array(list(words))) if stream.field(column).type == pa.string() else None

    @bound
    def _bound(self, stream: pa.Schema) -> list[Bound]:
        return [predicate.bind(stream) for predicate in self.predicates]


def _hit(predicate: Bound, tuples: pa.RecordBatch, left: pa.BooleanArray | None) -> pa.BooleanArray:
    """Whether each tuple satisfies a predicate; it may fail on those that satisfied one before."""
    try:
        return predicate.mask(tuples)
    except RunError:
        if left is None:
            raise
        none: Any = pa.repeat(False, tuples.num_rows)
        return cast(pa.BooleanArray, pc.replace_with_mask(none, left, predicate.mask(tuples.filter(left))))


def _parted(train: Train, column: str, words: pa.Array[Any]) -> Trains:
    """The tuples with each of the words, and the rest: sorted once, however many words there are."""
    places: Any = pc.index_in(train[column], words)
    codes: Ints = places.fill_null(len(words)).to_numpy(zero_copy_only=False)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(words) + 1))
    parted = train.take(order)
    none = empty(train.schema)
    starts = (0, *ends[:-1])
    return tuple(parted.slice(start, end) if start < end else none for start, end in zip(starts, ends, strict=True))
