"""Bind a tree to a schema: check its types, fold its constants, and make it ready to run over batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa

from australis.arrow.compute import Array, Datum, as_array, null, nulls, pc, scalar
from australis.arrow.schema import Type, data_type
from australis.errors import ExpressionError, ExpressionPlace, RunError, listing, near, single_quotes, unknown
from australis.expressions.aggregates import AGGREGATES
from australis.expressions.convert import cast, castable, converted, try_cast
from australis.expressions.functions import BUILTINS, REFUSED
from australis.expressions.lazy import careful, choice
from australis.expressions.node import FunctionCall, Literal, Name, Node
from australis.expressions.operand import MisfitError, Operand, common, constant, kind
from australis.expressions.operators import OPERATORS
from australis.expressions.render import identifier, render
from australis.expressions.signature import BOOLEAN, Builtin, comparison, need
from australis.expressions.user import Function, function_named

# Up to so many comparisons are faster than one look-up in a hash table.
_FEW = 12


@dataclass(frozen=True)
class BindingScope:
    """What a tree is bound to: the columns, the user functions, and the text of the whole for messages."""

    schema: pa.Schema
    functions: Mapping[str, Function]
    whole: str


def operand(node: Node, scope: BindingScope) -> Operand:
    """The typed form of a tree. Raises an ExpressionError that says what does not fit."""
    if isinstance(node, Name):
        return _column(node.name, scope)
    try:
        if isinstance(node, Literal):
            return constant(scalar(node.value), render(node))
        return _folded(_applied(node, scope), node)
    except MisfitError as misfit:
        raise _error(scope, f"{misfit}", node) from None
    except ExpressionError as error:
        if error.first(ExpressionPlace) is None:
            error.put(_place(scope, node))
        raise
    except RunError as error:  # of a constant part
        raise _error(scope, error.reason, node) from error
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise _error(scope, str(error), node) from error


def plain(arg: Operand) -> Operand:
    """An operand without dictionary encoding, which few kernels take."""
    if not isinstance(arg.type, pa.DictionaryType):
        return arg
    run, type = arg.run, arg.type.value_type
    return Operand(type, lambda batch: pc.cast(run(batch), type), arg.text)


def _error(scope: BindingScope, why: str, part: Node | None = None) -> ExpressionError:
    return ExpressionError(why, _place(scope, part))


def _place(scope: BindingScope, part: Node | None) -> ExpressionPlace:
    inside = scope.whole if part is None else render(part)
    return ExpressionPlace(scope.whole, None if inside == scope.whole else inside)


def _column(name: str, scope: BindingScope) -> Operand:
    count = scope.schema.names.count(name)
    if count == 1:
        return Operand(scope.schema.field(name).type, lambda batch: batch.column(name), identifier(name))
    if count:
        raise _error(scope, f"there are {count} columns `{name}`; rename one of them")
    if name.lower() in REFUSED:
        raise _error(scope, f"there is no `{name}`: {REFUSED[name.lower()]}")
    hint, columns = near(name, scope.schema.names), listing(scope.schema.names)
    text = "" if hint else single_quotes(name)  # in double quotes a text is a name
    missing = unknown(name, scope.schema.names)
    raise ExpressionError(
        f"there is no column `{name}`{hint or '.'} The columns are {columns}{text}", _place(scope, None), missing
    )


def _folded(result: Operand, node: FunctionCall) -> Operand:
    """An operand without columns is computed now, once."""
    if result.constant or any(isinstance(part, Name) for part in _parts(node)):
        return result
    one = pa.RecordBatch.from_arrays([pa.nulls(1)], names=["#"])
    return constant(as_array(result.run(one), 1)[0], result.text)


def _parts(node: Node) -> list[Node]:
    return [node, *(part for arg in node.args for part in _parts(arg))] if isinstance(node, FunctionCall) else [node]


def _applied(node: FunctionCall, scope: BindingScope) -> Operand:
    name, text = node.function, render(node)
    if name in AGGREGATES and name not in scope.functions:
        raise MisfitError(f"`{name}` aggregates many rows; it belongs in an aggregate box")
    if name == "distinct":
        raise MisfitError("DISTINCT stands only in an aggregate box, as in `count(distinct vid)`")
    if name in ("cast", "try_cast"):
        return _cast(node, scope, text)
    args = tuple(plain(operand(arg, scope)) for arg in node.args)
    if name == "case":
        return _case(args, text)
    if name == "in":
        return _in(args, text)
    builtin = OPERATORS.get(name) or BUILTINS.get(name)
    if builtin is not None:
        return _built_in(builtin, args, text)
    if name in REFUSED:
        raise MisfitError(f"there is no function `{name}`: {REFUSED[name]}")
    return _user(scope.functions.get(name) or function_named(name), args, text, scope.whole)


def _built_in(builtin: Builtin, args: Sequence[Operand], text: str) -> Operand:
    if len(args) < builtin.least or (builtin.most is not None and len(args) > builtin.most):
        raise MisfitError(f"`{builtin.usage}` does not take {len(args)} argument{'s' * (len(args) != 1)}")
    signature = builtin.rule(tuple(args))
    operands = [converted(arg, type) for arg, type in zip(args, signature.takes, strict=True)]
    gives, kernel, options = signature.gives, builtin.kernel, {}
    if pa.types.is_null(gives):  # nothing but nulls, which few kernels take
        return constant(null(gives), text)
    for place in builtin.options:
        if place < len(operands):
            value = operands[place].value
            if value is None:
                raise MisfitError(f"`{operands[place].text}` must be a constant")
            if not value.is_valid:
                return constant(null(gives), text)
            options[place] = value.as_py()
    runs = [None if place in options else arg.run for place, arg in enumerate(operands)]

    def run(batch: pa.RecordBatch) -> Datum:
        values = [options[place] if part is None else part(batch) for place, part in enumerate(runs)]
        result = kernel(*values)
        return result if result.type == gives else pc.cast(result, gives)

    # A bad pattern, or types that the kernel lacks, show on one row of nulls too.
    try:
        kernel(*(options.get(place, nulls(1, arg.type)) for place, arg in enumerate(operands)))
    except pa.ArrowNotImplementedError:
        kinds = ", ".join(f"`{arg.text}`, which is {kind(arg.type)}" for arg in args)
        raise MisfitError(f"`{builtin.usage}` does not take {kinds}") from None
    if builtin.lazy is not None:
        return Operand(gives, careful(run, builtin.lazy([arg.run for arg in operands], gives)), text)
    return Operand(gives, run, text)


def _cast(node: FunctionCall, scope: BindingScope, text: str) -> Operand:
    arg, kind = plain(operand(node.args[0], scope)), node.args[1]
    assert isinstance(kind, Literal)
    assert isinstance(kind.value, str)
    type, run = data_type(kind.value), arg.run
    castable(arg.type, type)
    if pa.types.is_duration(type) and not arg.constant and not pa.types.is_duration(arg.type):
        raise MisfitError("only a literal text is read as an interval; multiply, as in `x * interval '1' second`")
    convert: Callable[[Datum, Type], Datum] = cast if node.function == "cast" else try_cast
    return Operand(type, lambda batch: convert(run(batch), type), text)


def _case(args: Sequence[Operand], text: str) -> Operand:
    if len(args) < 2:
        raise MisfitError("a case needs a condition and a value, as in `case when mph > 60 then 1 else 0 end`")
    conditions, values = list(args[:-1:2]), list(args[1::2])
    for condition in conditions:
        need(condition, pa.types.is_boolean, "a boolean")
    last = args[-1] if len(args) % 2 else constant(null(pa.null()), "null")
    type = common([*values, last])
    tests = [converted(condition, BOOLEAN).run for condition in conditions]
    results = [converted(value, type).run for value in [*values, last]]
    names = [str(place) for place in range(len(tests))]

    def eager(batch: pa.RecordBatch) -> Datum:
        chosen = pc.make_struct(*(test(batch) for test in tests), field_names=names)
        return pc.case_when(chosen, *(result(batch) for result in results))

    return Operand(type, careful(eager, choice(tests, results, type)), text)


def _in(args: Sequence[Operand], text: str) -> Operand:
    signature = comparison(ordered=False)(tuple(args))
    value, *options = (converted(arg, type) for arg, type in zip(args, signature.takes, strict=True))
    constants = [option.value for option in options if option.value is not None]
    if len(options) <= _FEW or len(constants) < len(options):

        def any_equal(batch: pa.RecordBatch) -> Datum:
            values = value.run(batch)
            return reduce(pc.or_kleene, (pc.equal(values, option.run(batch)) for option in options))

        return Operand(BOOLEAN, any_equal, text)
    listed = [scalar.as_py() for scalar in constants if scalar.is_valid]
    missing = pa.scalar(None if len(listed) < len(constants) else False, BOOLEAN)
    if pa.types.is_floating(value.type):
        # The look-up is by bits: it would find NaN, which equals nothing, and not 0.0 for -0.0.
        zeros = [0.0, -0.0] if 0.0 in listed else []
        listed = [number for number in listed if number == number and number] + zeros
    known = pa.array(listed, value.type)

    def run(batch: pa.RecordBatch) -> Datum:
        values = value.run(batch)
        is_in = pc.is_in(values, value_set=known)
        if isinstance(values, pa.Array) and values.null_count == 0 and missing.is_valid:
            return is_in
        return pc.if_else(pc.is_valid(values), pc.or_kleene(is_in, missing), null(BOOLEAN))

    return Operand(BOOLEAN, run, text)


def _user(function: Function, args: Sequence[Operand], text: str, whole: str) -> Operand:
    if not args:
        raise MisfitError(f"the function `{function.name}` needs an argument: it gives a value for each row of it")
    runs = [arg.run for arg in args]

    def run(batch: pa.RecordBatch) -> Array:
        return function([as_array(part(batch), batch.num_rows) for part in runs], whole)

    return Operand(function.returns, run, text)
