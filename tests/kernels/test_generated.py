"""Generated code: its key, its traceback, its kernel on disk and in the background."""

import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from australis.kernels import generated, jit
from australis.kernels.generated import GeneratedCode, block, comment, generate


def double(*comments: str) -> GeneratedCode:
    lines = block("for i in range(len(values)):", "values[i] *= 2")
    return generate("loop", ["values"], *map(comment, comments), *lines, "return -1")


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A cache of its own, as a process finds it that is the first of all."""
    for module in (generated, jit):
        monkeypatch.setattr(module, "folder", lambda: str(tmp_path))
    monkeypatch.setattr(generated, "_COMPILATIONS", {})
    sys.modules.pop(double().path.stem, None)
    yield
    for compilation in generated._COMPILATIONS.values():
        if compilation.thread is not None:
            compilation.thread.join()


def test_the_text_reads_as_python() -> None:
    assert double("x * 2").text == (
        "def loop(values):\n    # x * 2\n    for i in range(len(values)):\n        values[i] *= 2\n    return -1\n"
    )


def test_many_parameters_take_several_lines() -> None:
    code = generate("total", [f"number{i}" for i in range(40)], "return number0 + number39")
    assert max(map(len, code.text.splitlines())) <= 120
    assert code.function()(*range(40)) == 39


def test_comments_are_no_part_of_the_key() -> None:
    assert double("x").key == double("y", "z").key
    assert double().key != generate("loop", ["values"], "return -1").key


@pytest.mark.parametrize("end", ["\n", "\r", "\x00", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\ud800"])
def test_a_comment_is_one_line_whatever_it_says(end: str) -> None:
    code = double(f"a{end}    return 7", "long " * 100)
    assert code.function()(np.array([1])) == -1
    assert len(code.text.splitlines()) == 6
    assert max(map(len, code.text.splitlines())) <= 120


def test_a_traceback_shows_the_text() -> None:
    function = generate("fail", ["x"], comment("x over nothing"), "return x / zero").function(zero=0)
    with pytest.raises(ZeroDivisionError) as error:
        function(1)
    assert "return x / zero" in "".join(traceback.format_exception(error.value))


def test_a_kernel_is_found_on_disk_by_code_with_other_comments() -> None:
    values = np.array([1, 2])
    assert double("x").kernel()(values) == -1
    sys.modules.pop(double().path.stem)
    again = double("some", "more", "lines").kernel()
    assert again(values) == -1
    assert sum(again.compiled().stats.cache_hits.values()) == 1  # type: ignore[attr-defined]
    assert values.tolist() == [4, 8]


def test_in_the_background_a_kernel_is_compiled_once_there_were_enough_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generated, "WORTH", 10)

    def kernel(rows: int) -> object:
        return double().kernel_in_background(rows, lambda: (np.zeros(0, np.int64),))

    assert kernel(6) is None
    assert generated._COMPILATIONS[double().key].thread is None
    kernel(6)
    thread = generated._COMPILATIONS[double().key].thread
    assert thread is not None
    thread.join()
    assert kernel(0) is not None
    generated._COMPILATIONS.clear()  # as another process does
    assert kernel(0) is not None


def test_in_the_background_a_full_disk_is_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(generated, "WORTH", -1)
    monkeypatch.setattr(generated, "folder", lambda: str(tmp_path / "missing"))
    for _ in range(2):
        assert double().kernel_in_background(1, lambda: (np.zeros(0, np.int64),)) is None
        thread = generated._COMPILATIONS[double().key].thread
        assert thread is not None
        thread.join()
