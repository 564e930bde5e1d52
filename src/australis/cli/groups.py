"""Commands as the command line has them: groups and commands that read paths and show their options alike."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from australis.disk.paths import place
from australis.errors import RunError


class _Alike:
    """What groups and commands have in common."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options as help shows them: one that is on or off takes nothing, and is shown with nothing."""
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for each in found:
            if getattr(each, "is_flag", False):
                each.metavar = ""
            elif each.param_type_name == "argument":
                each.display_type_rich = _nothing  # its name says what it takes
        return found

    def invoke(self, ctx: Any) -> Any:
        """Paths may be given as `file:///path`; other addresses are refused before anything is made of them."""
        for each in self.get_params(ctx):
            if each.name in ctx.params:
                ctx.params[each.name] = _located(each.opts[0], ctx.params[each.name])
        return super().invoke(ctx)  # type: ignore[misc]


class Command(_Alike, TyperCommand):
    """One that does something."""


class Later(Command):
    """A name and a line of help, until it is chosen: then its module is imported."""

    def chosen(self) -> Any:
        """The command itself."""
        assert self.callback is not None
        found = self.callback()
        found.name = self.name
        return found


class CommandGroup(_Alike, TyperGroup):
    """One that has others."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        name, found, rest = super().resolve_command(ctx, args)
        return name, found.chosen() if isinstance(found, Later) else found, rest


class Commands(typer.Typer):
    """Commands under one name."""

    def __init__(self, help: str, cls: type[CommandGroup] = CommandGroup, completion: bool = False) -> None:
        super().__init__(cls=cls, help=help, no_args_is_help=True, add_completion=completion)

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        return super().command(name, **{"cls": Command, **settings})

    def later(self, name: str, module: str, what: str, line: str) -> None:
        """A command, or commands, found in a module when they are chosen; `line` is the first of their help."""

        def found() -> Any:
            made = getattr(import_module(module), what)
            if isinstance(made, Commands):
                return get_command(made)
            alone = Commands(line)
            alone.command(name)(made)
            return get_command(alone)

        self.command(name, cls=Later, help=line)(found)


def _nothing(ctx: object) -> None:
    return None


def _located(option: str, value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_located(option, each) for each in value)
    if not isinstance(value, Path):
        return value
    try:
        return place(value)
    except RunError as error:
        raise RunError(f"{option} {error}") from error
