"""What a run says it has shed."""

from pathlib import Path

import pytest

from australis.apps.linear_road.validation.shed import read_shed
from australis.errors import RunError


def test_kinds_are_named_as_in_verdicts(tmp_path: Path) -> None:
    (tmp_path / "shed.json").write_text('{"travel times": 3, "accident alerts": null}')
    assert read_shed(tmp_path / "shed.json") == {4: 3, 1: None}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no", "cannot be read"),
        ("[1]", "is no object; write it as"),
        ('{"travel time": 3}', "there are no `travel time`; there are toll notifications, .* did you mean"),
        ('{"travel times": -3}', "travel times: give a number of answers, or null for some, not -3"),
        ('{"travel times": true}', "not true"),
        ('{"travel times": 1.5}', "not 1.5"),
    ],
)
def test_what_cannot_be_meant_is_told(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "shed.json").write_text(text)
    with pytest.raises(RunError, match=said):
        read_shed(tmp_path / "shed.json")
    with pytest.raises(RunError, match=r"none\.json: cannot be read"):
        read_shed(tmp_path / "none.json")
