"""Dead letters."""

from australis.connectors import dead_letters as letters
from australis.connectors.dead_letters import Letter
from australis.testing import rows


def test_dead_letters_of_a_run(tmp_path):
    bad = [Letter("2 values for 3 columns", "a.csv", 40, b"1,\xff"), Letter("invalid UTF-8", "a.csv", 50, b"\xfe")]
    for _ in range(2):
        writer = letters.writer(tmp_path, run="r")
        writer.write(3, [letters.table("reports", bad, 3)])
        writer.write(4, [letters.table("reports", [], 4)])
        writer.write(5, [letters.table("reports", bad[:1], 5)])
        writer.close()
    assert rows(letters.dead_letters(tmp_path)) == [
        ("reports", "2 values for 3 columns", "a.csv", 40, b"1,\xff", 3),
        ("reports", "invalid UTF-8", "a.csv", 50, b"\xfe", 3),
        ("reports", "2 values for 3 columns", "a.csv", 40, b"1,\xff", 5),
    ]
    assert letters.dead_letters(tmp_path / "none").num_rows == 0
    assert str(bad[0]) == r"a.csv: at 40: 2 values for 3 columns, in 1,\xff"
