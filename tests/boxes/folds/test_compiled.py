"""The loops that are generated for window functions, beside golden files."""

from pathlib import Path

import pytest

from australis.boxes.folds.compiled import loops
from tests.golden_code import check, check_names

FOLDER = Path(__file__).parent / "golden"
STATES = {"number": (1, False, 1), "tuple_of_one": (1, True, 1), "tuple_of_three": (3, True, 2)}


@pytest.mark.parametrize("state", STATES)
def test_the_loops_of_a_window_function(state: str) -> None:
    for code in loops("weighted", *STATES[state]):
        check(code, FOLDER / f"{code.name}_{state}.py")


def test_every_golden_file_has_a_test() -> None:
    check_names(FOLDER, {f"{name}_{state}.py" for name in ("add", "finish") for state in STATES})
