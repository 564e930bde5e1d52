"""Sections of a network file."""

from dataclasses import dataclass

import pytest

from australis.netfile.sections import MisreadError, read


@dataclass
class Section:
    """A section with a key that is a word of Python."""

    from_: str
    count: int = 1
    names: tuple[str, ...] | None = None


def test_keys_are_fields() -> None:
    assert read(Section, {"from": "a"}) == Section("a")
    assert read(Section, {"count": -(2**40), "from": ""}) == Section("", -(2**40))


@pytest.mark.parametrize(
    ("written", "message", "path"),
    [
        (None, "a mapping with the keys from, count, names goes here, not None", ()),
        (["from"], "a mapping with the keys", ()),
        ({}, "the key `from` is missing; the keys are from, count, names", ("from",)),
        ({"from": "a", "cont": 1}, "there is no key `cont`.*did you mean `count`", ("cont",)),
        ({"from_": "a"}, "there is no key `from_`", ("from_",)),
        ({"from": "a", "count": "many"}, "`count` is .*, not 'many'", ("count",)),
        ({"from": "a", "count": 1.5}, "`count` is .*, not 1.5", ("count",)),
        ({"from": 3}, "`from` is .*, not 3", ("from",)),
    ],
)
def test_mistakes_are_told_with_their_path(written: object, message: str, path: tuple[str, ...]) -> None:
    with pytest.raises(MisreadError, match=message) as told:
        read(Section, written)
    assert told.value.path == path
