"""Sections of a network file: mappings whose keys are the fields of a dataclass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar, get_type_hints

from australis.arguments import Misfit, fit, shown, words
from australis.errors import ArgumentPlace, NetworkError, Place, listing, near, unknown
from australis.model.form import check_values

T = TypeVar("T")


class MisreadError(NetworkError):
    """Something in a file is not as it should be, at a path of keys below what was read."""

    def __init__(self, reason: str, path: tuple[object, ...] = (), *places: Place) -> None:
        super().__init__(reason, *(ArgumentPlace(str(key), silent=True) for key in path[:1]), *places)
        self.path = path


def read(section: type[T], written: object) -> T:
    """Make a section of what is written under its keys: the names of its fields, less an underscore at their end."""
    types = get_type_hints(section)
    every: tuple[Any, ...] = fields(section)  # type: ignore[arg-type]
    names = {each.name.removesuffix("_"): each for each in every}
    keys = list(names)
    if not isinstance(written, Mapping):
        raise MisreadError(f"a mapping with the keys {listing(keys)} goes here, not {written!r}")
    check_values(written, keys)
    for key in written:
        if key not in names:
            message = f"there is no key `{key}`; the keys are {listing(keys)}{near(str(key), keys)}"
            raise MisreadError(message, (key,), unknown(str(key), keys))
    for key, each in names.items():
        if key not in written and each.default is MISSING and each.default_factory is MISSING:
            raise MisreadError(f"the key `{key}` is missing; the keys are {listing(keys)}", (key,))
    return section(**{names[key].name: _fit(types[names[key].name], key, value) for key, value in written.items()})


def _fit(type_: Any, key: str, value: object) -> Any:
    try:
        return fit(type_, value)
    except Misfit as misfit:
        raise MisreadError(f"`{key}` is {misfit.wanted or words(type_)}, not {shown(value)}", (key,)) from None
