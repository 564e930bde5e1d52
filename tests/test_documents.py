"""Every example in the documents and in examples/ works."""

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))

# Blocks marked `no-run`: document -> (how many, why they cannot run).
NOT_RUN: dict[str, tuple[int, str]] = {
    "docs/adding_a_box.md": (3, "they are files of the package; tests/test_adding_a_box.py writes them into a copy"),
    "README.md": (
        4,
        "it takes long; tests/cli/test_main.py, run/test_readme.py, linear_road and signals run such commands",
    ),
    "docs/linear_road_rating.md": (
        1,
        "a rating takes an hour; tests/apps/linear_road/test_rate.py makes a short trial",
    ),
    "docs/linear_road.md": (4, "three hours take minutes; tests/cli/test_linear_road.py runs shorter ones"),
    "docs/benchmarks.md": (7, "they take minutes; tests/bench runs them in short"),
    "docs/signals.md": (1, "it takes minutes; tests/bench/test_signals.py runs it in short"),
    "docs/quality_of_service.md": (
        2,
        "Spark is slow to start, and what does not fit ends with 1; cli/test_measure.py, bench/test_service.py run it",
    ),
    "docs/running.md": (
        4,
        "Spark is slow to start, and some of it has no end; tests/cli/test_main.py runs such commands",
    ),
}

# Shell commands that are run; those that are only for a reader's own machine; `make` is looked up in the Makefile.
RUN = ("australis", "cat", "head", "python")
READ = ("git clone ", "cd ", "pip install ")


@dataclass(frozen=True)
class Block:
    """A fenced block. Its info string: a language, then `no-run`, or the name of a file to write the block to."""

    language: str
    words: tuple[str, ...]
    text: str
    document: Path
    line: int

    @property
    def place(self) -> str:
        return f"{self.document.relative_to(ROOT)}:{self.line}"


def blocks(document: Path) -> Iterator[Block]:
    for token in MarkdownIt().parse(document.read_text()):
        if token.type == "fence" and token.map:
            language, *words = token.info.split() or [""]
            # The text starts on the line after the fence; lines count from 1.
            yield Block(language, tuple(words), token.content, document, token.map[0] + 2)


def short(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder like a fresh clone's, with this environment's commands first on the PATH."""
    if (ROOT / "examples").exists():
        shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"])
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("document", DOCUMENTS, ids=short)
def test_examples_in_documents_work(document: Path, place: Path) -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(document):
        if "no-run" not in block.words:
            run(block, namespace)


@pytest.mark.parametrize("document", DOCUMENTS, ids=short)
def test_blocks_that_do_not_run_are_listed_with_a_reason(document: Path) -> None:
    marked = [block.place for block in blocks(document) if "no-run" in block.words]
    allowed, _ = NOT_RUN.get(short(document), (0, ""))
    assert len(marked) == allowed, f"{marked} say `no-run`, and NOT_RUN allows {allowed}"


@pytest.mark.slow
@pytest.mark.parametrize("script", sorted(ROOT.glob("examples/**/*.py")), ids=short)
def test_example_scripts_run(script: Path, place: Path) -> None:
    shell(f"python {short(script)}", short(script))


@pytest.mark.parametrize("network", sorted(ROOT.glob("examples/**/*.yaml")), ids=short)
def test_example_networks_are_valid(network: Path, place: Path) -> None:
    shell(f"australis check {short(network)}", short(network))


def run(block: Block, namespace: dict[str, Any]) -> None:
    for name in block.words:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(block.text)
    match block.language:
        case "python" | "pycon" | "" if ">>>" in block.text:
            run_doctest(block, namespace)
        case "python":
            # The blank lines give tracebacks the document's own line numbers.
            exec(compile("\n" * (block.line - 1) + block.text, block.document, "exec"), namespace)
        case "sh" | "bash" | "console":
            for command in commands(block.text):
                run_command(command, block.place)
        case "yaml" if re.search("^boxes:", block.text, re.MULTILINE):
            load_network(block)


def run_doctest(block: Block, namespace: dict[str, Any]) -> None:
    test = doctest.DocTestParser().get_doctest(block.text, namespace, block.place, str(block.document), block.line - 1)
    told: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=told.append, clear_globs=False)
    namespace.update(test.globs)
    if told:
        pytest.fail("".join(told), pytrace=False)


def commands(text: str) -> Iterator[str]:
    """The commands of a block: its lines after `$ `, or where there are none all its lines."""
    lines = text.replace("\\\n", " ").splitlines()
    prompted = [line[2:] for line in lines if line.startswith("$ ")]
    for line in prompted or lines:
        if line.strip() and not line.startswith("#"):
            yield line.strip()


def run_command(command: str, place: str) -> None:
    name = command.split()[0]
    if name == "make":
        targets = {word for word in shlex.split(command, comments=True)[1:] if re.fullmatch("[a-z]+", word)}
        assert targets <= TARGETS, f"{place}: the Makefile has no {sorted(targets - TARGETS)}"
    elif name in RUN:
        shell(command, place)
    else:
        assert command.startswith(READ), f"{place}: `{command}` is neither run nor listed in READ"


def shell(command: str, place: str) -> None:
    told = subprocess.run(command, shell=True, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    if told.returncode:
        pytest.fail(f"{place}: `{command}` ended with {told.returncode}\n{told.stdout}{told.stderr}", pytrace=False)


def load_network(block: Block) -> None:
    from australis.netfile import netfile

    try:
        netfile.loads(block.text)
    except Exception as error:
        pytest.fail(f"{block.place}: {error}", pytrace=False)


def test_a_failing_block_names_its_document_and_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    document = tmp_path / "README.md"
    document.write_text(
        "# A\n\n```python\nx = 1\n```\n\n```python\n>>> x\n2\n```\n\n```sh\nrm x\n```\n\n```python\n1 / 0\n```\n"
    )
    good, different, forbidden, wrong = blocks(document)
    namespace: dict[str, Any] = {}
    run(good, namespace)
    with pytest.raises(pytest.fail.Exception, match=r'README\.md", line 8(.|\n)*Got:\n    1'):
        run(different, namespace)
    with pytest.raises(AssertionError, match=r"README\.md:13: `rm x`"):
        run(forbidden, namespace)
    with pytest.raises(ZeroDivisionError) as caught:
        run(wrong, namespace)
    assert caught.traceback[-1].lineno == 16
