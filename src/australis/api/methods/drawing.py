"""Methods of streams, made of the forms of boxes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import Parameter, Signature, cleandoc
from typing import Any

from australis.arguments import shown
from australis.boxes import catalog
from australis.errors import ArgumentPlace, NetworkError, Subject, placed
from australis.model.box import Box
from australis.model.form import Form, form
from australis.model.parameters import no_order


def method(of: Form) -> Callable[..., Any]:
    """The method that draws a box: it takes the streams beside the first, the form's arguments, and `box`, its name."""
    whole = _signature(of)

    def draw(*args: Any, **named: Any) -> Any:
        self, box = args[0], named.get("box")
        with placed(Subject(of.kind.kind, box if isinstance(box, str) and box else None)):
            arguments = _bind(of, whole, args, named)
            others = list(_streams(of.kind, arguments, type(self._stream)))
            made = of.box(arguments, 1 + len(others))
            return (self._stream.fork if of.kind.forks else self._stream.draw)(made, *others, name=box)

    draw.__name__ = of.kind.kind
    draw.__doc__ = cleandoc(of.doc)
    draw.__signature__ = whole  # type: ignore[attr-defined]
    return draw


def _signature(of: Form) -> Signature:
    """The form's, with the streams before its parameters and the box's name after them."""
    parameters = list(of.signature.parameters.values())
    apart = any(each.kind == Parameter.POSITIONAL_ONLY for each in parameters)
    first = Parameter.POSITIONAL_ONLY if apart else Parameter.POSITIONAL_OR_KEYWORD
    streams = [
        Parameter(name.lstrip("*"), Parameter.VAR_POSITIONAL if name[0] == "*" else first, annotation="Stream")
        for name in of.kind.others
    ]
    name = Parameter("box", Parameter.KEYWORD_ONLY, default=None, annotation="str | None")
    rest = [each for each in parameters if each.kind == Parameter.VAR_KEYWORD]
    usual = [each for each in parameters if each.kind != Parameter.VAR_KEYWORD]
    return Signature([Parameter("self", first), *streams, *usual, name, *rest])


def _bind(of: Form, whole: Signature, args: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """The arguments by parameter, but for the first stream and the box's name."""
    try:
        arguments = dict(whole.bind(*args, **named).arguments)
    except TypeError as error:
        if of.lacks("on", whole, args, named):
            raise no_order(args[0]._stream.schema) from None
        raise TypeError(f"{of.kind.kind}(): {error}") from None
    del arguments["self"]
    box = arguments.pop("box", None)
    if not isinstance(box, str | None):
        raise NetworkError(f"`box` is a text, not {shown(box)}", ArgumentPlace("box", silent=True))
    return arguments


def _streams(kind: type[Box], arguments: dict[str, Any], stream: type) -> Iterator[Any]:
    """The streams beside the first, taken out of the arguments."""
    for name in kind.others:
        value = arguments.pop(name.lstrip("*"), ())
        for each in value if name[0] == "*" else [value]:
            if not isinstance(each, stream):
                message = f"`{name.lstrip('*')}` is a stream, not {shown(each)}"
                raise NetworkError(message, ArgumentPlace(name.lstrip("*"), silent=True))
            yield each


class Methods:
    """The base of classes with a method for each box of a family."""

    @property
    def _stream(self) -> Any:
        """The stream that the boxes take first."""
        raise NotImplementedError


def methods(family: str) -> type[Methods]:
    """A class with a method for each box of a family."""
    drawn = {kind.kind: method(form(kind)) for kind in catalog.boxes(family) if not kind.composed}
    return type("BoxMethods", (Methods,), {"__doc__": f"A method for each box of `{family}`.", **drawn})
