"""What people wrote in a file, read into a model; mistakes are told with the keys there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from australis.errors import ArgumentPlace, NetworkError, listing, near, unknown

M = TypeVar("M", bound=BaseModel)
_RANKS = {"extra_forbidden": 0, "missing": 1}


class MisreadError(NetworkError):
    """Something in a file is not as it should be, at a path of keys below what was read."""

    def __init__(self, reason: str, path: tuple[object, ...] = ()) -> None:
        super().__init__(reason, *(ArgumentPlace(str(key), silent=True) for key in path[:1]))
        self.path = path


def read(model: type[M], written: object) -> M:
    """A model of what is written; the first mistake is told with the keys there are."""
    keys = [field.alias or name for name, field in model.model_fields.items()]
    if not isinstance(written, Mapping):
        raise MisreadError(f"a mapping with the keys {listing(keys)} goes here, not {written!r}")
    for path in ((), *((key,) for key, value in written.items() if isinstance(value, Mapping))):
        for key, value in (written[path[0]] if path else written).items():
            if value is None and (path or key not in keys):
                raise MisreadError(f"`{key}` has no value; between {{ and }} a text with a comma needs quotes", (key,))
    try:
        return model.model_validate(written)
    except ValidationError as error:
        first = min(error.errors(), key=lambda found: _RANKS.get(found["type"], 2))
        key = first["loc"][0]
        if first["type"] == "extra_forbidden":
            message = f"there is no key `{key}`; the keys are {listing(keys)}{near(str(key), keys)}"
            raise MisreadError(message, (key,)).put(unknown(str(key), keys)) from error
        if first["type"] == "missing":
            message = f"the key `{key}` is missing; the keys are {listing(keys)}"
        else:
            message = f"`{key}: {first['input']}`: {first['msg'].lower()}"
        raise MisreadError(message, (key,)) from error
