"""Groups and commands of the command line."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from australis.cli.groups import Commands
from australis.errors import RunError

RUN = CliRunner()


@pytest.fixture
def app() -> Commands:
    """Two commands, so that each has its name."""
    commands = Commands("Some commands.")

    @commands.command()
    def look(
        file: Path,
        other: Annotated[list[Path] | None, typer.Option(help="More files.")] = None,
        loud: Annotated[bool, typer.Option("--loud", help="Say more.")] = False,
    ) -> None:
        """Look at files."""
        print(file, *(other or ()), loud)

    commands.later("lazy", "cli_lazy_module", "lazy", "Do it later.")
    return commands


def test_paths_may_be_file_addresses_and_no_others(app: Commands) -> None:
    assert RUN.invoke(app, ["look", "file:///a.csv", "--other", "b.csv"]).stdout == "/a.csv b.csv False\n"
    failed = RUN.invoke(app, ["look", "a.csv", "--other", "s3://bucket/b.csv"])
    assert isinstance(failed.exception, RunError)
    assert str(failed.exception).startswith("--other s3://bucket/b.csv")


def test_a_command_is_imported_when_it_is_chosen(app: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Do it later." in RUN.invoke(app, ["--help"]).stdout
    module = ModuleType("cli_lazy_module")
    module.lazy = lambda: print("done")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cli_lazy_module", module)
    assert RUN.invoke(app, ["lazy"]).stdout == "done\n"
    monkeypatch.delitem(sys.modules, "cli_lazy_module")
    assert isinstance(RUN.invoke(app, ["lazy"]).exception, ModuleNotFoundError)


def test_a_flag_has_no_value_in_its_help(app: Commands) -> None:
    (line,) = [line for line in RUN.invoke(app, ["look", "--help"]).stdout.splitlines() if "--loud" in line]
    assert line.replace("--loud", "").strip("│ ").strip() == "Say more."
