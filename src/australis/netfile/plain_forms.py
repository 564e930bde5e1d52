"""The forms of boxes whose parameters are plain: numbers, texts and lists of texts stand as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, get_type_hints

from pydantic import ConfigDict, create_model

from australis.boxes import parameters
from australis.errors import NetworkError
from australis.model.box import Box
from australis.netfile.form import Form, Tables

_APART = ("columns", "signals")


class Plain(Form):
    """The fields of a box by name. `columns` stand beside the others, and so do what they are made of.

    `by` may be one name. How many inputs there are is told by the arrows: a field `signals` is one less.
    """

    made = "columns"

    @classmethod
    def long(cls, written: object) -> object:
        if isinstance(written, Mapping):
            return {name: tuple(value) if isinstance(value, list) else value for name, value in written.items()}
        first = next(iter(cls.model_fields))
        return {first: tuple(written) if isinstance(written, list) else written}

    @classmethod
    def short(cls, box: Any) -> object:
        given = {}
        for field in fields(box):
            value = getattr(box, field.name)
            if field.name not in _APART and value != field.default:
                given[field.name] = list(value) if isinstance(value, tuple) else value
        return cls.with_columns(given, dict(getattr(box, "columns", ())))

    def box(self, tables: Tables, arity: int) -> Box:
        known = get_type_hints(self.of)
        given = {name: getattr(self, name) for name in type(self).model_fields if name not in _APART}
        if "by" in given:
            given["by"] = parameters.by(given["by"])
        if "columns" in known:
            given["columns"] = tuple(self.columns_made().items())
            for name, text in given["columns"]:
                if not isinstance(text, str):
                    raise NetworkError(f"`{name}: {text}` is neither an argument nor a statistic such as `std`")
        if "signals" in known:
            given["signals"] = arity - 1
        return self.of(**given)


def plain_form(of: type[Any]) -> type[Plain]:
    """The form of a box."""
    hints = get_type_hints(of)
    written: dict[str, Any] = {
        field.name: (str | tuple[str, ...] if field.name == "by" else hints[field.name], _default(field))
        for field in fields(of)
        if field.name not in _APART
    }
    if "columns" in hints:
        written["columns"] = (dict[str, str] | None, None)
    model = create_model(f"{of.__name__}Form", __base__=Plain, **written)
    model.of = of
    model.model_config = ConfigDict(extra="allow" if "columns" in hints else "forbid", strict=True)
    model.model_rebuild(force=True)
    return model


def _default(field: Field[Any]) -> Any:
    return ... if field.default is MISSING else field.default
