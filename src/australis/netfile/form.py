"""The form of a box in a network file: a model of what people write under its kind, and the way there and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from australis.model.box import Box
from australis.model.table import Keyed

Tables = Mapping[str, Keyed]
Expression = bool | int | float | str


class Form(BaseModel):
    """What stands under the name of a box's kind. Keys of no argument name columns, where a box makes columns."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
    of: ClassVar[type[Box]]
    made: ClassVar[str] = ""
    """The key under which columns go whose names are those of arguments."""

    @classmethod
    def long(cls, written: object) -> object:
        """The full form of a short one."""
        return written

    @classmethod
    def short(cls, box: Any) -> object:
        """The box as it is written, in its shortest form."""
        raise NotImplementedError

    def box(self, tables: Tables, arity: int) -> Box:
        """The box, for so many inputs."""
        raise NotImplementedError

    def columns_made(self) -> dict[str, Any]:
        """The columns that stand beside the arguments, and those under the explicit key."""
        return {**(self.model_extra or {}), **(getattr(self, self.made) or {})}

    @classmethod
    def with_columns(cls, arguments: dict[str, object], columns: dict[str, object]) -> dict[str, object]:
        """Arguments and columns in one mapping, or apart where a name is both."""
        given = {name: value for name, value in arguments.items() if value is not None}
        if any(name in cls.model_fields for name in columns):
            return {**given, cls.made: columns}
        return {**given, **columns}


def texts(named: tuple[tuple[str, object], ...]) -> dict[str, object]:
    """Named expressions as they are written."""
    return {name: str(value) for name, value in named}
