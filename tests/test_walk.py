"""The walk of a tuple in docs/decisions/0010-walk.md: its stops are there, and are few."""

import importlib
import re
from functools import reduce
from pathlib import Path

import pytest

WALK = (Path(__file__).parents[1] / "docs" / "decisions" / "0010-walk.md").read_text()
STOPS = re.findall(r"^\| (\d+) \| `([\w.]+)` \|", WALK, re.MULTILINE)
NAMES = sorted(set(re.findall(r"`((?:\w+\.)+\w+)`", WALK)))


def test_the_walk_is_short_and_in_order() -> None:
    assert [int(number) for number, _ in STOPS] == list(range(1, len(STOPS) + 1))
    assert 20 < len(STOPS) < 30


@pytest.mark.parametrize("name", NAMES)
def test_a_stop_of_the_walk_is_there(name: str) -> None:
    words = f"australis.{name}".split(".")
    classes = sum(word[0].isupper() for word in words)
    end = len(words) - (2 if classes and not words[-1][0].isupper() else 1)
    assert callable(reduce(getattr, words[end:], importlib.import_module(".".join(words[:end]))))
