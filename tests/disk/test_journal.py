"""A journal: entries that are whole or not at all."""

from pathlib import Path

import pytest

from australis.disk.journal import Journal
from australis.errors import RunError

ENTRIES = [{"sum": 0}, {}, {"text": "größer\n\0", "most": 2**64, "least": -(2**63)}, {"a": [None, {"b": []}]}]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A journal of all entries."""
    journal = Journal(tmp_path / "journal")
    journal.rewrite(ENTRIES[0])
    for entry in ENTRIES[1:]:
        journal.append(entry)
    journal.close()
    assert journal.size == journal.path.stat().st_size
    return journal.path


def test_entries_are_read_as_they_were_written(path: Path) -> None:
    assert Journal(path).entries() == ENTRIES
    assert Journal(path.with_name("none")).entries() == []


def test_a_journal_cut_anywhere_has_the_entries_that_are_whole(path: Path) -> None:
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        journal, ends = Journal(path), whole[:length].count(b"\n")
        assert journal.entries() == ENTRIES[:ends]
        assert journal.torn == (length > 0 and whole[length - 1] != ord("\n"))


def test_a_line_that_changed_before_the_last_is_told(path: Path) -> None:
    first, _, rest = path.read_bytes().partition(b"\n")
    path.write_bytes(first.replace(b"0}", b"1}") + b"\n" + rest)
    with pytest.raises(RunError, match=r"journal: line 1 does not read; ask for another"):
        Journal(path, "ask for another").entries()


def test_one_entry_replaces_all_and_others_follow_it(path: Path) -> None:
    journal = Journal(path)
    journal.rewrite({"sum": 3})
    journal.append({"more": 1})
    journal.close()
    assert Journal(path).entries() == [{"sum": 3}, {"more": 1}]
    assert path.stat().st_mode & 0o777 == 0o600
