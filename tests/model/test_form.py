"""Forms: what people write makes a box, and the box is written so again, as short as can be."""

import inspect

import pytest

import australis as au
from australis.boxes import Aggregate, BSort, Filter, Join, Map, Read, Route, Union, Write, catalog
from australis.boxes.moving import Lead
from australis.boxes.signals import Apply, Correlate, Lfilter, Stats, Transform
from australis.errors import ArgumentPlace, MadeColumn, NetworkError
from australis.model.box import Box
from australis.model.form import form

ROWS = au.table("rows", "k int, n bigint", key="k")
TABLES = {"rows": ROWS}

WRITTEN: list[tuple[type[Box], object, int]] = [
    (Filter, "x > 1", 1),
    (Filter, "x > 1 and y > 2", 1),
    (Route, ["x > 1", "x > 0"], 1),
    (Map, {"a": "x + 1"}, 1),
    (Map, {"columns": {"a": "x + 1", "columns": "y"}}, 1),
    (Union, {}, 3),
    (Union, "t", 2),
    (BSort, "t", 1),
    (BSort, {"on": "t", "slack": 2, "by": ["k", "l"]}, 1),
    (Aggregate, {"on": "t", "size": 2, "n": "count(*)"}, 1),
    (Aggregate, {"on": "t", "by": "k", "slack": 3, "size": 2, "advance": 1, "functions": {"size": "count(*)"}}, 1),
    (Join, {"where": "left.k = right.k", "on": ["t", {"on": "u", "slack": 1}], "size": 1}, 2),
    (Write, {"table": "rows", "n": "1"}, 1),
    (Write, {"table": "rows", "returning": {"n": "n"}, "n": "1"}, 1),
    (Read, "rows", 1),
    (Read, {"table": "rows", "columns": "n"}, 1),
    (Stats, {"column": "audio", "loud": "peak"}, 1),
    (Transform, ["hann", "fft"], 1),
    (Lfilter, [1.0, 0.5], 1),
    (Correlate, {"other": [1.0, 2.0], "into": "c"}, 1),
    (Apply, {"level": "coalesce(audio, audio)"}, 1),
    (Lead, {"focals": []}, 1),
]


@pytest.mark.parametrize(("kind", "written", "arity"), WRITTEN)
def test_what_is_written_is_written_again(kind: type[Box], written: object, arity: int) -> None:
    box = form(kind).read(written, TABLES, arity)
    assert form(kind).write(box) == written
    assert form(kind).read(form(kind).write(box), TABLES, arity) == box


def test_the_shortest_form_is_written() -> None:
    assert form(Filter).write(form(Filter).read(["x > 1", "y > 2"], {}, 1)) == "x > 1 and y > 2"
    assert form(Transform).write(Transform(("fft",))) == "fft"
    assert form(BSort).write(BSort(au.Order("t"))) == "t"
    assert form(Stats).write(Stats((("std", "std"),))) == {"std": "std"}
    assert form(Lead).write(Lead(focals=())) == {"focals": []}
    assert form(Lead).write(Lead()) == {}


@pytest.mark.parametrize("kind", catalog.kinds().values())
def test_every_box_says_what_it_does_and_writes_only_its_parameters(kind: type[Box]) -> None:
    assert form(kind).doc
    names = set(form(kind).signature.parameters)
    fields = getattr(kind, "__dataclass_fields__", {})
    assert names, kind
    if kind.make is None:
        assert names <= {*fields, "more"}


def test_arguments_are_told_with_their_places() -> None:
    for written, argument, message in (
        ({"slack": 1}, "on", "the key `on` is missing; the keys are on, slack, by"),
        ({"on": "t", "slak": 1}, "slak", "there is no key `slak`; .*did you mean `slack`"),
        ({"on": "t", "slack": "many"}, "slack", "`slack` is a whole number, not 'many'"),
        ({"on": "t", "x)": None}, "x)", "needs quotes"),
    ):
        with pytest.raises(NetworkError, match=message) as caught:
            form(BSort).read(written, {}, 1)
        place = caught.value.first(ArgumentPlace)
        assert place is not None
        assert place.name == argument
    with pytest.raises(NetworkError, match=r"`sise=60` is neither an argument nor .*did you mean `size`") as caught:
        form(Aggregate).read({"on": "t", "sise": 60}, {}, 1)
    assert caught.value.first(MadeColumn) == MadeColumn("sise")


def test_the_number_of_inputs_is_not_written() -> None:
    assert "arity" not in form(Union).signature.parameters
    assert form(Union).read("t", {}, 3) == Union(3, "t")
    assert "arity" in inspect.signature(Union.make).parameters
