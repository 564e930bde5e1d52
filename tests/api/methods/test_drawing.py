"""Methods of streams, made of the forms of boxes."""

from inspect import signature

import pytest

import australis as au
from australis.api.methods.drawing import method
from australis.boxes import Filter, Join, Route, Union
from australis.model.form import form

REPORTS = au.stream("reports", "time int, mph int")


def test_streams_come_before_the_parameters_and_the_name_after_them() -> None:
    assert list(signature(method(form(Join))).parameters)[:2] == ["self", "other"]
    assert list(signature(method(form(Union))).parameters) == ["self", "others", "on", "box"]
    assert list(signature(method(form(Filter))).parameters) == ["self", "predicates", "box"]


def test_a_method_draws_its_box_under_a_name_of_its_own() -> None:
    drawn = method(form(Filter))(REPORTS, "mph > 60", box="fast")
    (node,) = au.network(out=drawn).nodes
    assert (node.name, node.box.kind) == ("fast", "filter")
    assert method(form(Filter)).__name__ == "filter"


def test_a_box_that_forks_gives_a_stream_for_each_port() -> None:
    fast, slow, rest = method(form(Route))(REPORTS, "mph > 60", "mph < 10")
    assert len({fast.at, slow.at, rest.at}) == 3


def test_wrong_arguments_are_told() -> None:
    with pytest.raises(au.NetworkError, match="`others` is a stream, not"):
        method(form(Union))(REPORTS, "reports")
    with pytest.raises(au.NetworkError, match="`box` is a text, not 3"):
        method(form(Filter))(REPORTS, "mph > 60", box=3)
    with pytest.raises(TypeError, match=r"filter\(\): got an unexpected keyword argument 'colour'"):
        method(form(Filter))(REPORTS, "mph > 60", colour="red")
