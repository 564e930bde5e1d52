"""Origins: by which a checkpoint knows a source again."""

from pathlib import Path

import pytest

from australis.arrow.schema import schema
from australis.connectors.origin import check_origins, kept_in, origins
from australis.connectors.sources.files import Files
from australis.connectors.sources.iterated import Iterated
from australis.errors import RunError

SCHEMA = schema("a int")


def test_a_source_says_what_it_is_or_is_known_by_its_class(tmp_path: Path) -> None:
    found = origins({"f": Files(f"{tmp_path}/a.csv", SCHEMA), "i": Iterated("i", SCHEMA, iter([]))}, tmp_path)
    assert found["i"] == "australis.connectors.sources.iterated.Iterated"
    assert "a.csv" in found["f"]
    assert (
        found["f"]
        != origins(
            {
                "f": Files(f"{tmp_path}/b.csv", SCHEMA),
            },
            tmp_path,
        )["f"]
    )


def test_another_source_is_refused_and_a_new_input_is_not(tmp_path: Path) -> None:
    check_origins({"a": "one"}, {"a": "one", "b": "new"}, tmp_path)
    check_origins({"a": "one", "gone": "two"}, {"a": "one"}, tmp_path)
    with pytest.raises(RunError, match="input a was read from one, and is now given two; give it the source"):
        check_origins({"a": "one"}, {"a": "two"}, tmp_path)


def test_what_lies_in_the_checkpoint_is_there_wherever_that_is(tmp_path: Path) -> None:
    assert kept_in(str(tmp_path / "spool"), tmp_path) == ""
    assert kept_in("/elsewhere", tmp_path) == " kept in /elsewhere"
