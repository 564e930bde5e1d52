"""Generated code: functions whose Python text is built by a program, for numba to compile.

Comments say what the code computes; they are no part of its key, so that the same code with other comments is compiled
once. Nothing but comments may hold text from outside.
"""

from __future__ import annotations

import hashlib
import linecache
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any

from australis.kernels.jit import folder, kernel

WORTH = 1 << 22
"""How many tuples a process does without a kernel before it compiles one, which takes as long as some ten million."""
_WIDTH = 112


def block(head: str, *lines: str) -> list[str]:
    """A line that ends in a colon, and the lines below it, one step to the right.

    >>> block("while x:", *block("if y:", "break"))
    ['while x:', '    if y:', '        break']
    """
    return [head, *(f"    {line}" for line in lines)]


def comment(text: str) -> str:
    """A text as one line of comment, cut when it is long; what could end the line becomes a space.

    >>> comment("a >\\n3")
    '# a > 3'
    """
    line = "".join(character if character.isprintable() else " " for character in text[: _WIDTH + 1])
    return f"# {line}" if len(line) <= _WIDTH else f"# {line[: _WIDTH - 4]} ..."


def generate(name: str, parameters: Iterable[str], *lines: str) -> GeneratedCode:
    """A function of a name, its parameters and the lines of its body."""
    head = textwrap.wrap(f"def {name}({', '.join(parameters)}):", _WIDTH, subsequent_indent=" " * 8)
    return GeneratedCode(name, "\n".join([*block("\n".join(head), *lines), ""]))


@dataclass(frozen=True)
class GeneratedCode:
    """The text of one function, which begins in its first line."""

    name: str
    text: str

    @cached_property
    def key(self) -> str:
        """A hash of the text without its comments."""
        code = [line for line in self.text.splitlines() if not line.lstrip().startswith("#")]
        return hashlib.sha256("\n".join(code).encode()).hexdigest()[:16]

    @property
    def path(self) -> Path:
        """The file of the text, beside which lies what it is compiled to."""
        return Path(folder()) / f"australis_{self.key}.py"

    def function(self, **scope: Any) -> Callable[..., Any]:
        """The function in Python, which sees the names of a scope; tracebacks show its text."""
        return self._load(scope, f"<australis {self.name} {self.key}>")

    def kernel(self) -> Callable[..., Any]:
        """The function compiled, when it is first called or by another process before.

        The text becomes a file and a module, since numba keeps what it compiles by the place of a function.
        """
        path = self.path
        if not path.exists():
            with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".tmp", delete=False) as file:
                file.write(self.text.encode())
            Path(file.name).replace(path)
        module = sys.modules.setdefault(path.stem, ModuleType(path.stem))
        function: Callable[..., Any] | None = getattr(module, self.name, None)
        return kernel(function or self._load(module.__dict__, str(path)))

    def kernel_in_background(self, rows: int, example: Callable[[], tuple[Any, ...]]) -> Callable[..., Any] | None:
        """The function compiled, or None while it is not: call it again with the next rows.

        It is compiled in a thread, once there were enough `rows` for that to pay; an `example` of its arguments has
        their types. What another process compiled before is there at once.
        """
        compilation = _COMPILATIONS.get(self.key)
        if compilation is None:
            compilation = _COMPILATIONS[self.key] = Compilation(self)
            if compilation.mark.exists():
                compilation.run(example)
        if compilation.kernel is None and compilation.thread is None:
            compilation.rows += rows
            if compilation.rows > WORTH:
                compilation.thread = Thread(target=compilation.run, args=(example,), daemon=True)
                compilation.thread.start()
        return compilation.kernel

    def _load(self, scope: dict[str, Any], file: str) -> Callable[..., Any]:
        linecache.cache[file] = (len(self.text), None, self.text.splitlines(keepends=True), file)
        exec(compile(self.text, file, "exec"), scope)
        function: Callable[..., Any] = scope[self.name]
        return function


@dataclass
class Compilation:
    """How far a process is with compiling generated code in the background."""

    code: GeneratedCode
    rows: int = 0
    """The rows that were done without it."""
    kernel: Callable[..., Any] | None = None
    thread: Thread | None = None

    @property
    def mark(self) -> Path:
        """The file that says that the code is compiled."""
        return self.code.path.with_suffix(".compiled")

    def run(self, example: Callable[[], tuple[Any, ...]]) -> None:
        """Compile for the types of an example's arguments."""
        with suppress(OSError):  # on a full disk the work goes on without
            function = self.code.kernel()
            function(*example())
            self.kernel = function
            self.mark.touch()


_COMPILATIONS: dict[str, Compilation] = {}
