"""The page of tables and pictures."""

import base64

from australis.apps.linear_road.page import Sheet, page
from australis.apps.linear_road.pictures import Picture

PNG = b"\x89PNG"


def test_what_is_written_stays_text() -> None:
    odd = '<b>&"'
    text = page(odd, odd, [Sheet((odd,), [(odd, odd)], odd)], [Picture("one", odd, odd, PNG)])
    assert odd not in text
    assert text.count("&lt;b&gt;&amp;&quot;") == 9  # the title twice
    assert "base64," + base64.b64encode(PNG).decode() in text


def test_the_first_cell_of_a_row_names_it() -> None:
    text = page("t", "a", [Sheet(("x", "y"), [("one", "1"), ("two", "2")]), Sheet(("z",), [])], [])
    assert "<tr><th scope=row>two</th><td>2</td></tr>" in text
    assert text.count("<table>") == 2
    assert "<figure" not in text
