"""Groups and commands of the command line, which read paths and show their options in the same way."""

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


class _CommonCommand:
    """The common part of groups and commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options as help shows them. Flags have no metavar."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for each in params:
            if getattr(each, "is_flag", False):
                each.metavar = ""
            elif each.param_type_name == "argument":
                each.display_type_rich = _no_type  # its name is enough
        return params

    def invoke(self, ctx: Any) -> Any:
        """Run the command. Paths may be `file:///path`; other addresses are refused first."""
        for each in self.get_params(ctx):
            if each.name in ctx.params:
                ctx.params[each.name] = _locate(each.opts[0], ctx.params[each.name])
        return super().invoke(ctx)  # type: ignore[misc]


class Command(_CommonCommand, TyperCommand):
    """A command that does something."""


class Later(Command):
    """A command of which only the name and a line of help are known. Its module is imported when it is chosen."""

    def chosen(self) -> Any:
        """Import the command itself."""
        assert self.callback is not None
        command = self.callback()
        command.name = self.name
        return command


class CommandGroup(_CommonCommand, TyperGroup):
    """A group of commands."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.chosen() if isinstance(command, Later) else command, rest


class Commands(typer.Typer):
    """A group of commands under one name."""

    def __init__(self, help: str, cls: type[CommandGroup] = CommandGroup, completion: bool = False) -> None:
        super().__init__(cls=cls, help=help, no_args_is_help=True, add_completion=completion)

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        return super().command(name, **{"cls": Command, **settings})

    def later(self, name: str, module: str, what: str, line: str) -> None:
        """Add a command or a group that is imported when it is chosen. `line` is the first line of its help."""

        def load() -> Any:
            loaded = getattr(import_module(module), what)
            if isinstance(loaded, Commands):
                return get_command(loaded)
            alone = Commands(line)
            alone.command(name)(loaded)
            return get_command(alone)

        self.command(name, cls=Later, help=line)(load)


def _no_type(ctx: object) -> None:
    return None


def _locate(option: str, value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_locate(option, each) for each in value)
    if not isinstance(value, Path):
        return value
    try:
        return place(value)
    except RunError as error:
        raise RunError(f"{option} {error}") from error
