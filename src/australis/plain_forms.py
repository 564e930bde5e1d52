"""The forms of boxes whose parameters are plain: numbers, texts and lists of texts stand as they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, get_type_hints

from pydantic import ConfigDict, create_model

from australis.box import Box
from australis.errors import NetworkError


def plain_forms(form: type[Any], boxes: Iterable[type[Any]]) -> list[type[Any]]:
    """A form for each box: its fields by name. `columns` stand beside the others, and so do what they are made of.

    `by` may be one name. How many inputs there are is told by the arrows: a field `signals` is one less.
    """
    return [_form(form, box) for box in boxes]


def _form(form: type[Any], of: type[Any]) -> type[Any]:
    hints = get_type_hints(of)
    columns = "columns" in hints
    written = {
        field.name: (str | tuple[str, ...] if field.name == "by" else hints[field.name], _default(field))
        for field in fields(of)
        if field.name not in ("columns", "signals")
    }
    if columns:
        written["columns"] = (dict[str, str] | None, None)

    class Plain(form):  # type: ignore[misc]
        model_config = ConfigDict(extra="allow" if columns else "forbid")
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
                if field.name not in ("columns", "signals") and value != field.default:
                    given[field.name] = list(value) if isinstance(value, tuple) else value
            return cls.with_columns(given, dict(box.columns) if columns else {})

        def box(self, tables: Any, arity: int) -> Box:
            given = {name: getattr(self, name) for name in written}
            if "by" in given:
                given["by"] = (given["by"],) if isinstance(given["by"], str) else given["by"]
            if columns:
                given["columns"] = tuple(self.columns_made().items())
                for name, text in given["columns"]:
                    if not isinstance(text, str):
                        raise NetworkError(f"`{name}: {text}` is neither an argument nor a statistic such as `std`")
            if "signals" in hints:
                given["signals"] = arity - 1
            made: Box = of(**given)
            return made

    Plain.of = of
    model: type[Any] = create_model(f"{of.__name__}Form", __base__=Plain, **written)  # type: ignore[call-overload]
    return model


def _default(field: Field[Any]) -> Any:
    return ... if field.default is MISSING else field.default
