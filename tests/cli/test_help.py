"""The help of every command: each option in words of its own, and all of it on a page 80 wide."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from australis.cli.groups import Later
from australis.cli.main import app

DOCS = Path(__file__).parents[2] / "docs"


def walked(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield words, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from walked(inner.chosen() if isinstance(inner, Later) else inner, (*words, name))


COMMANDS = dict(walked(get_command(app)))
PLAIN = re.compile(r"\x1b\[[0-9;]*m")


def shown(*words: str) -> str:
    result = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"})
    assert result.exit_code == 0, result.output
    return PLAIN.sub("", result.stdout)


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words) or "australis")
def test_help_says_what_each_option_is(words: tuple[str, ...]) -> None:
    command = COMMANDS[words]
    told = [param.help for param in command.params]
    for param in command.params:
        assert param.help, f"{param.name} has no help"
        assert re.fullmatch(r"[A-Z`-].*\.", param.help), f"{param.name}: {param.help}"
        assert len(param.help.split()) > 1, f"{param.name}: {param.help}"
        if param.name not in ("install_completion", "show_completion"):
            assert told.count(param.help) == 1, f"{param.name}: others are told the same: {param.help}"
        flag = getattr(param, "is_flag", False)
        assert flag or (param.metavar and "<" not in param.metavar), f"{param.name} does not say what it takes"
    assert command.help.splitlines()[0].endswith((".", ":")), command.help


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words) or "australis")
def test_help_fits_a_page(words: tuple[str, ...]) -> None:
    page = shown(*words)
    for line in page.splitlines():
        assert len(line) <= 80, line
    assert not re.search(r"<(bool|int|float|str|text|path)>", page), page
    # An example is not folded in the middle of a word or an option.
    for example in re.findall(r"^ *australis .*$", COMMANDS[words].help or "", re.MULTILINE):
        assert len(example.strip()) <= 78, example


@pytest.mark.parametrize("name", get_command(app).commands)
def test_the_line_of_a_command_is_the_first_of_its_help(name: str) -> None:
    """It is written beside the command's name, so that the list of commands needs none of them."""
    line = get_command(app).commands[name].help
    assert line == " ".join(COMMANDS[name,].help.split("\n\n")[0].split())
    assert COMMANDS[name,].name == name


def test_run_and_sql_have_the_same_options() -> None:
    run, sql = ({param.name: param for param in COMMANDS[word,].params} for word in ("run", "sql"))
    for name, param in run.items():
        if name != "file":
            assert sql[name].opts == param.opts
            assert sql[name].help == param.help
    assert sql.keys() - run.keys() == {"query", "static", "schema", "moving", "slack", "explain"}


@pytest.mark.parametrize(("command", "page"), [("run", "running.md"), ("sql", "sql.md")])
def test_every_option_is_in_the_docs(command: str, page: str) -> None:
    text = (DOCS / page).read_text() + (DOCS / "running.md").read_text()
    for param in COMMANDS[command,].params:
        for name in getattr(param, "opts", []):
            if name.startswith("--"):
                assert f"`{name}" in text, name


def test_the_shell_completes_commands_and_options() -> None:
    for shell in "bash", "zsh", "fish":
        asked = {"_AUSTRALIS_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": "australis si", "COMP_CWORD": "1",
                 "COMP_WORDS": "australis si", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}  # fmt: skip
        assert "signals" in CliRunner().invoke(app, [], env=asked, prog_name="australis").output, shell
