"""A package whose names are imported when they are first asked for, so that it costs nothing to have it at hand."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType


class Late(ModuleType):
    """A package that knows in which of its modules each of its names is."""

    def __getattr__(self, name: str) -> object:
        module = self.__dict__["_PLACES"].get(name)
        if module is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name, obj=self)
        found = getattr(import_module(module), name)
        self.__dict__[name] = found
        return found

    def __setattr__(self, name: str, value: object) -> None:
        """Python sets each module that is imported; where a name is a module's too, it stays the package's own."""
        if not (isinstance(value, ModuleType) and name in self.__dict__["_PLACES"]):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *self.__dict__["_PLACES"]})


def late(package: str, places: Mapping[str, tuple[str, ...]]) -> None:
    """Have a package import its names when they are asked for; they are given by the module that they are in."""
    module = sys.modules[package]
    module.__dict__["_PLACES"] = {name: f"{package}.{place}" for place, names in places.items() for name in names}
    module.__class__ = Late
