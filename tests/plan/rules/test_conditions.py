"""Each condition of the rules, and of what boxes tell them, taken out: a case of the rules' tables must notice."""

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType, FrameType, ModuleType
from typing import Any

import pytest

from australis.errors import AustralisError
from australis.expressions import Expr, expr
from australis.model.network import Arrow, Network
from australis.model.qos.costs import Costs
from australis.plan.rules import RULES, counted_filters, source_predicates
from tests.plan.rules import (
    agreement,
    test_combine,
    test_project,
    test_push,
    test_reorder,
    test_rows,
    test_share,
    test_source,
)
from tests.plan.rules.agreement import NONE, agree, even, outcome
from tests.plan.rules.conditions import Condition, conditions, without
from tests.plan.rules.test_optimize import watched

FACTS = ("pushes", "followed_by", "columns_needed", "disorder", "pure")
"""What rules ask of boxes."""
MODULES: dict[str, tuple[str, ...]] = {
    **{f"plan.rules.{name}": () for name in "combine project push reorder rows share source wiring".split()},
    **{f"boxes.{name}": FACTS for name in "filter map union bsort read write route".split()},
    **{f"boxes.{name}.{name}": FACTS for name in ("aggregate", "join", "resample")},
    "boxes.ordering": (),
    "model.box": (*FACTS, "passes"),
}
"""Where conditions are, and in which functions, if not in all of a module."""

ALIKE = {
    "it is about costs, of which no answer depends": (
        "combine.combine: not _saves_apart(network, costs, first, second)",
        "combine._saves_apart",
        "project.project: wiring.takes_maps(node)",
        "push.push_filter: not wiring.takes_maps(below)",
        "push.push_filter: not _dearer(network, costs, below, node) -> True",
        "push._dearer",
        "reorder.reorder: then < (1 - LEAST_GAIN) * now",
        "reorder._rank",
        "map.Map.followed_by: isinstance(part, Name) -> False",
        "map.Map.followed_by: value.copies is None and reads[name] > 1",
    ),
    "without it the rule would change nothing, and fire for ever": ("push.push_filter: not moved",),
    "without it the state of a box would change while it runs, though not what it gives": (
        "project.project: wiring.kept(node.name)",
    ),
    "without it the network would be refused: something would take what nothing gives": (
        "combine.combine: not wiring.main_only(second)",
        "read.Read.pushes: set(predicate.columns).isdisjoint(self._names) -> True",
    ),
    "no network that the rule makes is refused, so that it need not go on to the next": (
        "combine.combine: combined is not None -> True",
        "reorder.reorder: reordered is not None -> True",
    ),
    "boxes with one input are the only ones that say by what they can be followed": (
        "combine.combine: len(first.sources) == len(second.sources) == 1",
        "combine.combine: len(first.sources)",
        "combine.combine: 1",
    ),
    "the function meets the same tuples in the same trains; but if nobody reads what it gives, it is not called": (
        "combine.combine: first.box.pure",
    ),
    "a predicate with such a function may fail, which keeps it apart; a map meets the same tuples in the same trains": (
        "combine.combine: second.box.pure",
    ),
    "only ports that something takes, and main ones, need columns that others do not": (
        "project._needed: not lost(port)",
        "project._needed: arrow in used or place == 0",
    ),
    "one part is written as it is, whatever it is joined with": (
        "push._all: len(parts) > 1 -> True",
        "source._joined: len(every) > 1 -> True",
    ),
    "it is for types alone: what is asked was measured, and is a filter": (
        "reorder.reorder: now is not None",
        "reorder.reorder: then is not None",
        "rows.sure: node.box.selects is not None",
    ),
    "an input that no box takes is an output": ("source.source_filters: rows",),
    "the columns that an order goes by are there": (
        "wiring.ArrowAscent.disorder: column not in self.schema.names",
        "map.Map.disorder: column in columns -> True",
        "map.Map.disorder: key in columns",
    ),
    "nothing is known of a column that is not there": ("map.Map.disorder: before is None -> False",),
    "no box can read a column whose name there is twice": ("map.Map.followed_by: len(own) < len(self.columns)",),
    "types stay the same where constants stay where they are": ("map.Map.followed_by: same",),
    "`tup#` and the empty name are no columns, so that they add none": (
        "union.Union.columns_needed: self.on -> True",
        "ordering.columns_of: order.counts -> False",
    ),
    "a constant does the same to one side as to pairs": ("join.Join.pushes: predicate.columns",),
    "rules ask of late and refused tuples alone": ("box.Box.passes: lost(port) -> True",),
}
"""Conditions without which no answer would be another, by the reason. A function alone stands for all that it has."""


@dataclass(frozen=True)
class Case:
    """A network, and what a rule makes of it: nothing, if it must not fire."""

    name: str
    rule: Callable[[Network, Costs, Sequence[Arrow]], Any]
    before: Network
    after: Any
    costs: Costs = NONE
    fixed: tuple[Arrow, ...] = ()

    def found(self) -> Any:
        """What the rule makes of it now."""
        return self.rule(self.before, self.costs, self.fixed)


def from_tables(module: ModuleType, rule: Callable[..., Any], costs: Callable[[Network], Costs]) -> Iterator[Case]:
    """The cases of a rule's test, with these costs unless they have their own."""
    for name, (before, after, *known) in module.FIRES.items():
        yield Case(name, rule, before, after, *known or [costs(before)])
    for name, stays in module.STAYS.items():
        before, *known = stays if isinstance(stays, tuple) else (stays,)
        yield Case(name, rule, before, None, *known or [costs(before)])
    for name, (before, *known, source, after) in module.FIXED.items():
        yield Case(name, rule, before, after, *known or [costs(before)], fixed=(Arrow(source, "out"),))


def nothing_known(network: Network) -> Costs:
    return NONE


def predicates(network: Network, costs: Costs, fixed: Sequence[Arrow]) -> Mapping[str, Expr]:
    return source_predicates(network)


def counted(network: Network, costs: Costs, fixed: Sequence[Arrow]) -> Mapping[str, list[list[str]]]:
    return {first: test_rows.names(groups) for first, groups in counted_filters(network).items()}


CASES = (
    *from_tables(test_combine, test_combine.combine, even),
    *from_tables(test_project, test_project.project, nothing_known),
    *from_tables(test_push, test_push.push_filter, nothing_known),
    *from_tables(test_reorder, test_reorder.reorder, nothing_known),
    *from_tables(test_share, test_share.share, nothing_known),
    *(
        Case(name, predicates, network, {source: expr(text) for source, text in hints.items()})
        for name, (network, hints) in test_source.HINTS.items()
    ),
    Case("rows", counted, test_rows.ROWS, test_rows.COUNTED),
)

ZEROS = {"x": [0.0, -0.0, 1.0], "vid": [1, 2]}
NULLS = {"vid": [None, 1, 9], "big": [2**62, 3]}
DATA: tuple[dict[str, Any], ...] = ({}, {}, ZEROS, ZEROS, NULLS, {"ordered": True}, {"vid": [1, 2]})
"""What is in the tuples, by the seed that they are drawn with."""


def another(case: Case, found: Any) -> bool:
    """Whether what a rule has made of a case gives another answer for some tuples, or fails."""
    if isinstance(found, Network):
        try:
            before, after = (watched(each, list(case.fixed)) for each in (case.before, found))
        except AustralisError:  # an arrow that is fixed is gone
            return True
        return any(differ(before, after, seed, case.rule is test_share.share) for seed in range(len(DATA)))
    return case.rule is predicates and any(missed(case.before, found, seed) for seed in range(len(DATA)))


def differ(before: Network, after: Network, seed: int, gone: bool) -> bool:
    inputs = agreement.given(before, seed, **DATA[seed])
    try:
        agree(before, after, inputs, (7, 3)[seed % 2], gone, ticks=5_000_000 if seed % 2 else None)
    except AssertionError:
        return True
    return False


def missed(network: Network, found: Mapping[str, Expr], seed: int) -> bool:
    """Whether anybody misses the tuples that a source leaves out."""
    inputs = agreement.given(network, seed, **DATA[seed])
    masks = {name: found[name].bind(batch.schema).mask(batch) for name, batch in inputs.items() if name in found}
    less = {name: inputs[name].filter(mask) for name, mask in masks.items()}
    whole: Any = outcome(network, inputs)
    part: Any = outcome(network, {**inputs, **less})
    return whole is not None and (part is None or any(sorted(whole[name]) != sorted(part[name]) for name in whole))


@pytest.fixture(scope="module")
def callers() -> Mapping[CodeType, list[Case]]:
    """The cases in which each function is called."""
    found: dict[CodeType, list[Case]] = {}
    for case in CASES:
        called: set[CodeType] = set()
        after = watching(case.found, called)
        assert after == case.after, case.name
        for code in called:
            found.setdefault(code, []).append(case)
    return found


def watching(function: Callable[[], Any], called: set[CodeType]) -> Any:
    """Call a function, and note the code of all that it calls."""

    def note(frame: FrameType, event: str, argument: object) -> None:
        called.add(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        return function()
    finally:
        sys.setprofile(before)


def of_module(name: str) -> Iterator[Condition]:
    for condition in conditions(importlib.import_module(f"australis.{name}")):
        if not MODULES[name] or condition.function.__name__ in MODULES[name]:
            yield condition


def noticed(condition: Condition, cases: Sequence[Case]) -> bool:
    """Whether a case notices that a condition is taken out.

    The rule fails, or does not do what it should, or does what it should not, and the answer is another.
    """
    for case in cases:
        with without(condition):
            try:
                found = case.found()
            except Exception:
                return True
        if found != case.after and (case.after or another(case, found)):
            return True
    return False


LISTED = frozenset(name for names in ALIKE.values() for name in names)


def names_of(*some: Condition) -> set[str]:
    """As what conditions may be listed: by themselves, or by their functions."""
    return {name for each in some for name in (str(each), str(each).partition(": ")[0])}


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_a_case_notices_that_a_condition_is_taken_out(module: str, callers: Mapping[CodeType, list[Case]]) -> None:
    found = list(of_module(module))
    loose = [each for each in found if not noticed(each, callers.get(each.function.__code__, []))]
    unsaid = [str(each) for each in loose if LISTED.isdisjoint(names_of(each))]
    assert not unsaid, "add a case to the tables of a rule, of which the answer is another, or say in ALIKE why none is"
    assert not LISTED & names_of(*found) - names_of(*loose), "a case notices this: take it out of ALIKE"


def test_what_is_listed_is_there() -> None:
    found = [condition for module in MODULES for condition in of_module(module)]
    assert names_of(*found) >= LISTED


def test_conditions_are_found() -> None:
    texts = [str(condition).removeprefix("rows.") for condition in of_module("plan.rules.rows")]
    assert [text for text in texts if text.startswith(("_movable", "filter_rows"))] == [
        "filter_rows: _movable(wiring, node) -> True",
        "filter_rows: _movable(wiring, node) -> False",
        "filter_rows: before in rows",
        "filter_rows: wiring.only_taker(before) is node",
        "filter_rows: follows -> True",
        "filter_rows: follows -> False",
        "_movable: node.box.selects is not None",
        "_movable: node.box.pure",
        "_movable: wiring.main_only(node)",
        "_movable: not wiring.kept(node.name)",
    ]


def test_each_rule_fires_often_in_random_networks() -> None:
    for rule in (*(rule.__module__ for rule in RULES), source_predicates.__module__):
        module = importlib.import_module(f"tests.plan.rules.test_{rule.rpartition('.')[2]}")
        assert "assert fired >= many()" in inspect.getsource(module.test_random_networks_agree), rule
