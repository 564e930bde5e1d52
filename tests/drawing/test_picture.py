"""Pictures of networks: everything is in them, nothing overlaps, and text is escaped."""

from xml.etree import ElementTree

import australis as au
from australis.drawing.picture import svg
from tests import traffic

SVG = "{http://www.w3.org/2000/svg}"
REPORTS = au.stream("reports", "time int, vid int, mph int")


def texts(picture):
    return [element.text for element in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def test_a_picture_shows_names_kinds_parameters_ports_and_groups():
    found = texts(traffic.network().svg())
    for text in ("reports", "static table", "stats", "aggregate", "mph = avg(mph)", "jams", "police", "letters"):
        assert text in found
    fast = REPORTS.filter("mph > 60")
    assert {"rest"} <= set(texts(au.network(fast=fast, slow=fast.rest).svg()))


def test_text_is_escaped():
    net = au.network(out=au.stream("given", {"<b>": "int"}).filter('"<b>" < 1 and "<b>" > -1', box="few"))
    assert '"<b>" < 1 and "<b>" > -1' in texts(net.svg())


def test_long_parameters_are_cut_and_shown_whole_under_the_pointer():
    long = " or ".join(f"mph = {i}" for i in range(30))
    picture = au.network(out=REPORTS.filter(long)).svg()
    assert all(len(text) < 50 for text in texts(picture))
    assert long in "".join(element.text or "" for element in ElementTree.fromstring(picture).iter(f"{SVG}title"))


def test_a_shared_table_is_a_dotted_arrow():
    table = au.table("accounts", "vid int, balance bigint", key="vid")
    charged = REPORTS.write(table, balance="1")
    picture = au.network(charged, out=REPORTS.read(table)).svg()
    assert "au-shared" in picture.partition("</style>")[2]
    assert "accounts" in texts(picture)


def test_a_large_network_is_drawn_quickly():
    stream = REPORTS
    for _ in range(150):
        fast = stream.filter("mph > 60")
        stream = fast.union(fast.rest)
    assert svg(au.network(out=stream)).count("<rect") == 302
