"""The phrases that messages share."""

import pytest

from australis import errors
from australis.errors import AustralisError, listing, near


@pytest.mark.parametrize("name", ["SchemaError", "ExpressionError", "NetworkError", "RunError"])
def test_every_error_has_the_one_root(name: str) -> None:
    assert issubclass(getattr(errors, name), AustralisError)


def test_near_proposes_one_name_whatever_its_case() -> None:
    assert near("mhp", ["time", "vid", "mph"]) == "; did you mean `mph`?"
    assert near("MPH", ["time", "vid", "mph"]) == "; did you mean `mph`?"
    assert near("vid", ["VID"]) == "; did you mean `VID`?"


def test_near_is_silent_when_nothing_is() -> None:
    assert near("altitude", ["time", "vid"]) == ""
    assert near("altitude", []) == ""


def test_listing_cuts_what_is_very_long() -> None:
    assert listing(["time", "vid", "mph"]) == "time, vid, mph"
    assert listing(str(i) for i in range(31)).endswith("29, 30")
    assert listing(str(i) for i in range(40)).endswith("28, 29 and 10 more")
    assert listing([]) == "none"
