"""The reference, docs/expressions.md, says what the code does."""

import doctest
import re
from pathlib import Path

import pytest

from australis.expressions import AGGREGATES, FUNCTIONS, user
from australis.expressions.functions import reference

DOCUMENT = Path(__file__).parents[2] / "docs" / "expressions.md"


def test_every_function_is_documented() -> None:
    words = set(re.findall(r"`(\w+)", DOCUMENT.read_text()))
    assert [name for function in FUNCTIONS for name in function.names if name not in words] == []
    assert [name for name in AGGREGATES if name not in words] == []


def test_the_table_of_functions_is_the_one_in_the_code() -> None:
    assert reference() in DOCUMENT.read_text(), "paste what australis.expressions.functions.reference() returns"


def test_the_examples_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user, "_REGISTERED", {})
    text = DOCUMENT.read_text().replace("```", "")  # or a fence would be read as the output of the line before it
    test = doctest.DocTestParser().get_doctest(text, {}, DOCUMENT.name, str(DOCUMENT), 0)
    failed, tried = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
    assert tried > 10
    assert failed == 0
