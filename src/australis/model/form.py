"""Forms: how people write a box, as the arguments of a call or under its kind in a network file.

A form is the signature of the box's `make`. A box without one is made of its fields, each written as its type allows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cache
from inspect import BoundArguments, Parameter, Signature, signature
from typing import Any, get_args, get_origin, get_type_hints

from australis.arguments import Misfit, fit, hinted, shown, words
from australis.arrow.durations import Span
from australis.errors import ArgumentPlace, AustralisError, MadeColumn, NetworkError, listing, near, unknown
from australis.expressions import Aggregation, Expr
from australis.model import parameters
from australis.model.box import Box
from australis.model.labels import as_written
from australis.model.order import Order
from australis.model.parameters import By, Expression, Function, Length, On
from australis.model.table import Keyed

_VARIADIC = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
_COUNTED = "arity"
"""The parameter of `make` that nobody writes: how many inputs the box has."""


@dataclass(frozen=True)
class Reader:
    """How a field is written: the annotation, as text and as a type, and what makes the field's value of it."""

    text: str
    type: Any
    read: Callable[[Any], Any]


def _floats(written: Sequence[float]) -> tuple[float, ...]:
    return tuple(map(float, written))


def _optional_float(written: float | None) -> float | None:
    return None if written is None else float(written)


_READERS: Mapping[Any, Reader] = {
    float: Reader("float", float, float),
    float | None: Reader("float | None", float | None, _optional_float),
    tuple[float, ...]: Reader("Sequence[float]", Sequence[float], _floats),
    tuple[str, ...]: Reader("By", By, parameters.by),
    Expr: Reader("Expression", Expression, parameters.expression),
    Expr | None: Reader("Expression | None", Expression | None, parameters.optional_expression),
    Order: Reader("On", On, parameters.order),
    Span: Reader("Length", Length, parameters.span),
    Span | None: Reader("Length | None", Length | None, parameters.optional_span),
}
_NAMED_READERS: Mapping[Any, Reader] = {
    tuple[tuple[str, Expr], ...]: Reader("Expression", Expression, parameters.columns),
    tuple[tuple[str, Aggregation], ...]: Reader("Function", Function, parameters.functions),
}
"""Those of fields that name columns: each column is an argument."""


@dataclass(frozen=True)
class Form:
    """The parameters of a box as people write them."""

    kind: type[Box]
    signature: Signature
    types: Mapping[str, Any]
    make: Callable[..., Box]
    counted: bool = False
    """Whether `make` is told how many inputs there are."""

    @property
    def keys(self) -> list[str]:
        """The names of the parameters, but for those that stand for any name; last the one that takes columns."""
        parameters = self.signature.parameters.items()
        names = [name for name, each in parameters if each.kind != Parameter.VAR_KEYWORD]
        return sorted(names, key=lambda name: name == self._explicit)

    @property
    def doc(self) -> str:
        """What the box does, in the words of its `make`, or of its class."""
        return (self.kind.make or self.kind).__doc__ or ""

    def lacks(self, name: str, whole: Signature, args: Sequence[object], named: Mapping[str, object]) -> bool:
        """Whether a parameter without a default is all that a call of a signature lacks."""
        if name not in self.signature.parameters or not _required(self.signature.parameters[name]):
            return False
        try:
            arguments = whole.bind_partial(*args, **named).arguments
        except TypeError:
            return False
        return name not in arguments

    def box(self, arguments: Mapping[str, object], arity: int) -> Box:
        """Make the box of a call's arguments, by parameter."""
        ordered = {name: arguments[name] for name in self.signature.parameters if name in arguments}
        return self._make(BoundArguments(self.signature, ordered), arity)

    def read(self, written: object, tables: Mapping[str, Keyed], arity: int) -> Box:
        """Make the box of what stands under its kind in a network file."""
        arguments = self._arguments(written)
        for name in self.keys:
            if _required(self.signature.parameters[name]) and name not in arguments:
                message = f"the key `{name}` is missing; the keys are {listing(self.keys)}"
                raise NetworkError(message, ArgumentPlace(name, silent=True))
            if name in arguments and self.types[name] is Keyed:
                arguments[name] = _table(arguments[name], tables)
        return self.box(arguments, arity)

    def write(self, box: Box) -> object:
        """Write a box as it stands in a network file, as short as can be: `read` makes an equal one of it."""
        arguments = {name: value for name, value in box.written().items() if self._counts(name, value)}
        columns: Any = arguments.pop(self._explicit, {}) if self._explicit else {}
        first = next(iter(self.signature.parameters), "")
        if not columns and list(arguments) == [first] and not isinstance(arguments[first], Mapping):
            return arguments[first]
        if any(name in self.keys for name in columns):
            return {**arguments, self._explicit: columns}
        return {**arguments, **columns}

    @property
    def _explicit(self) -> str:
        """The parameter that takes columns as a mapping, for those whose names are those of parameters."""
        if self._variadic(Parameter.VAR_KEYWORD) is None:
            return ""
        return next(filter(self._is_mapping, self.signature.parameters))

    def _is_mapping(self, name: str) -> bool:
        return any(get_origin(each) is Mapping for each in (self.types[name], *get_args(self.types[name])))

    def _variadic(self, kind: Any) -> str | None:
        return next((name for name, each in self.signature.parameters.items() if each.kind == kind), None)

    def _counts(self, name: str, value: object) -> bool:
        """Whether an argument must be written: it has no default, or differs from it."""
        parameter = self.signature.parameters[name]
        if _required(parameter):
            return True
        default = () if parameter.kind in _VARIADIC else parameter.default
        return value != as_written(default) and not (default is None and not value and self._is_mapping(name))

    def _arguments(self, written: object) -> dict[str, Any]:
        """What is written, by parameter."""
        positional, columns = (self._variadic(kind) for kind in _VARIADIC)
        if not isinstance(written, Mapping):
            if positional is None:
                return {next(iter(self.signature.parameters)): written}
            values = written if isinstance(written, list) else [written]
            return dict(self.signature.bind_partial(*values).arguments)
        check_values(written, self.keys)
        arguments: dict[str, Any] = {}
        for key, value in written.items():
            if key in self.keys and not self._is_column(key, value):
                single = key == positional and not isinstance(value, list)
                arguments[key] = [value] if single else value
            elif columns is not None:
                arguments.setdefault(columns, {})[str(key)] = value
            else:
                raise NetworkError(
                    f"there is no key `{key}`; the keys are {listing(self.keys)}{near(str(key), self.keys)}",
                    ArgumentPlace(str(key), silent=True),
                    unknown(str(key), self.keys),
                )
        return arguments

    def _is_column(self, key: str, value: object) -> bool:
        """Whether what stands under the key that takes columns is one column, which is called so."""
        apart = key == self._explicit and self.signature.parameters[key].kind == Parameter.POSITIONAL_ONLY
        return apart and not isinstance(value, Mapping | None)

    def _make(self, bound: BoundArguments, arity: int) -> Box:
        others = [name for name in self.keys if name not in bound.arguments]
        for name, value in bound.arguments.items():
            bound.arguments[name] = self._fit(name, value)
        bound.apply_defaults()
        try:
            return self.make(*bound.args, **bound.kwargs, **({_COUNTED: arity} if self.counted else {}))
        except AustralisError as error:
            hinted(error, others)
            raise

    def _fit(self, name: str, value: Any) -> Any:
        match self.signature.parameters[name].kind:
            case Parameter.VAR_POSITIONAL:
                return tuple(self._fit_value(name, each) for each in value)
            case Parameter.VAR_KEYWORD:
                return {column: self._fit_column(name, column, each) for column, each in value.items()}
            case _:
                return self._fit_value(name, value)

    def _fit_value(self, name: str, value: object) -> Any:
        try:
            return fit(self.types[name], value)
        except Misfit as misfit:
            wanted = misfit.wanted or words(self.types[name])
            message = f"`{name}` is {wanted}, not {shown(value)}"
            raise NetworkError(message, ArgumentPlace(name, silent=True)) from None

    def _fit_column(self, name: str, column: str, value: object) -> Any:
        """What stands among the columns that a box makes: an argument whose name is misspelt ends up there."""
        try:
            return fit(self.types[name], value)
        except Misfit:
            raise NetworkError(
                f"`{column}={shown(value)}` is neither an argument nor {words(self.types[name])}; the arguments are"
                f" {listing(self.keys)}{near(column, self.keys)}",
                MadeColumn(column),
                unknown(column, self.keys),
            ) from None


@cache
def form(kind: type[Box]) -> Form:
    """The form of a box."""
    if kind.make is None:
        return _form_of_fields(kind)
    whole = signature(kind.make)
    shown_parameters = [each for each in whole.parameters.values() if each.name != _COUNTED]
    types = get_type_hints(kind.make)
    return Form(kind, whole.replace(parameters=shown_parameters), types, kind.make, _COUNTED in whole.parameters)


def _form_of_fields(kind: type[Any]) -> Form:
    """The form of a box whose parameters are its fields: columns by their names, all others by the fields'."""
    hints = get_type_hints(kind)
    readers = {each.name: _READERS.get(hints[each.name]) for each in fields(kind)}
    named = next((each.name for each in fields(kind) if hints[each.name] in _NAMED_READERS), None)
    usual = Parameter.POSITIONAL_OR_KEYWORD if named is None else Parameter.KEYWORD_ONLY
    types: dict[str, Any] = {}
    written: list[Parameter] = []
    for each in fields(kind):
        if each.name != named:
            reader = readers[each.name]
            default = Parameter.empty if each.default is MISSING else each.default
            types[each.name] = hints[each.name] if reader is None else reader.type
            text = str(each.type) if reader is None else reader.text
            written.append(Parameter(each.name, usual, default=default, annotation=text))
    if named is not None:
        reader = _NAMED_READERS[hints[named]]
        of: Any = reader.type
        types |= {named: Mapping[str, of] | None, "more": of}
        mapping = Parameter(
            named, Parameter.POSITIONAL_ONLY, default=None, annotation=f"Mapping[str, {reader.text}] | None"
        )
        written = [mapping, *written, Parameter("more", Parameter.VAR_KEYWORD, annotation=reader.text)]

    def make(*args: Any, **arguments: Any) -> Box:
        bound = whole.bind(*args, **arguments).arguments
        values = {name: reader.read(bound[name]) for name, reader in readers.items() if reader and name in bound}
        if named is not None:
            columns = {**(bound.pop(named, None) or {}), **bound.pop("more", {})}
            values[named] = _NAMED_READERS[hints[named]].read(columns)
        made: Box = kind(**{**bound, **values})
        return made

    whole = Signature(written)
    return Form(kind, whole, types, make)


def _required(parameter: Parameter) -> bool:
    return parameter.default is Parameter.empty and parameter.kind not in _VARIADIC


def check_values(written: Mapping[Any, Any], keys: Sequence[str]) -> None:
    """Refuse keys without a value: between braces the commas of a text end it, and what follows are such keys."""
    inner = [each for each in written.values() if isinstance(each, Mapping)]
    for mapping, known in ((written, keys), *((each, ()) for each in inner)):
        for key, value in mapping.items():
            if value is None and key not in known:
                raise NetworkError(
                    f"`{key}` has no value; between {{ and }} a text with a comma needs quotes",
                    ArgumentPlace(str(key), silent=True),
                )


def _table(name: object, tables: Mapping[str, Keyed]) -> Keyed:
    if not isinstance(name, str):
        raise NetworkError(f"`table` is the name of a table, not {shown(name)}", ArgumentPlace("table", silent=True))
    if name not in tables:
        raise NetworkError(
            f"there is no table {name}; there are {listing(tables)}{near(name, tables)}",
            ArgumentPlace("table", silent=True),
            unknown(name, tables),
        )
    return tables[name]
