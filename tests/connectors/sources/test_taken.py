"""Which files were taken."""

from pathlib import Path

from australis.connectors.sources.taken import cut, joined, mark, marks, name_of


def test_a_mark_tells_names_and_sizes_apart() -> None:
    assert len({mark(name, size) for name in ("a", "b", "größer") for size in (0, 1, 2**40)}) == 9
    assert name_of(mark("a", 1)) != name_of(mark("b", 1))
    assert mark("\udcff.csv", 1) == mark("\udcff.csv", 1)


def test_marks_are_joined_and_cut() -> None:
    some = {mark(f"{number}.csv", number) for number in range(9)}
    assert cut(joined(some)) == some
    assert joined(sorted(some)) == joined(sorted(some, reverse=True))
    assert cut("") == set()


def test_files_that_are_gone_have_no_mark(tmp_path: Path) -> None:
    there = tmp_path / "a.csv"
    there.write_bytes(b"123")
    assert marks([str(there), str(tmp_path / "b.csv")]) == {mark(str(there), 3): str(there)}
