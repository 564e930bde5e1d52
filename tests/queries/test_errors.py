"""Mistakes in SQL: each is told where it is made, with a line, a column and a caret."""

import re

import pytest

import australis as au
from australis.errors import AustralisError, NetworkError
from australis.queries import sql, sql_network

STREAMS = {
    "reports": "time int, vid int, mph int, seg int, name string",
    "tolls": "time int, vid int, toll double",
    "cars": au.static("cars", "vid int, plate string"),
    "ships": "id int, x double, y double, time int, type string",
    "boats": "id int, x double, y double, name string",
    "ports": au.static("ports", "id int, x double, y double"),
    "named": "id string, x double, y double",
}

# The caret is put where « stands.
MISTAKES = [
    ("SELECT «mhp FROM reports", "there is no column `mhp`; did you mean `mph`"),
    ("SELECT time FROM reports\nWHERE mph > 3 AND «sge = 2", "there is no column `sge`; did you mean `seg`"),
    ("SELECT r.time FROM reports r WHERE r.«mhp > 3", "there is no column `r.mhp`; did you mean `r.mph`"),
    ("SELECT time FROM «report", "there is no stream `report`; did you mean `reports`"),
    ("SELECT time, FROM reports", "a column is missing here"),
    ("SELECT time «reports", None),
    ("SELECT time FROM reports «reports mph", None),
    ("SELECT «time + name FROM reports", "+"),
    ("SELECT time FROM reports WHERE «mph", "predicate"),
    ("SELECT time FROM reports WHERE mph > «'a", "is not closed"),
    ("SELECT mph + «) FROM reports", None),
    ("«UPDATE reports SET mph = 3", "SELECT is missing"),
    ("«CREATE TABLE x AS SELECT 1", None),
    ("SELECT «DISTINCT mph FROM reports", "group by one"),
    ("SELECT mph FROM reports «ORDER BY mph", "no last order"),
    ("SELECT mph FROM reports «LIMIT 3", "no end"),
    ("SELECT mph FROM reports UNION «SELECT vid FROM reports", "write UNION ALL"),
    ("SELECT mph FROM reports «EXCEPT SELECT vid FROM reports", "taken away"),
    ("«SELECT mph FROM reports UNION ALL SELECT name FROM reports", "cast one of them"),
    ("«SELECT mph FROM reports UNION ALL SELECT mph, vid FROM reports", "as many columns"),
    ("SELECT mph, «mph FROM reports", "two columns are named `mph`"),
    ("SELECT «vid FROM reports a JOIN cars b ON a.vid = b.vid", "`vid` may be a.vid or b.vid; say which"),
    ("SELECT «x.* FROM reports", "there is no table `x` in FROM; there are reports"),
    ("SELECT mph FROM reports a JOIN tolls b ON «a.vid = b.vid", "needs a band of times"),
    ("SELECT mph FROM reports a JOIN tolls b «WHERE a.vid = b.vid", "ON is missing"),
    ("SELECT mph FROM reports a, «tolls b", "needs a band of times"),
    ("SELECT mph FROM reports a «LEFT JOIN cars b ON a.vid = b.vid", "only inner joins"),
    ("SELECT «count(*) FROM reports", "has no end, so its aggregates are taken over windows"),
    ("SELECT seg, count(*) FROM reports GROUP BY «seg", "has no end"),
    ("SELECT count(*) FROM TUMBLE(TABLE reports, time, 60) GROUP BY «seg", "add window_start to GROUP BY"),
    ("SELECT mph FROM «TUMBLE(TABLE reports, time, 60)", "add GROUP BY window_start"),
    ("SELECT «mph FROM reports GROUP BY window(time, 60)", "`mph` is neither grouped by nor in an aggregate"),
    ("SELECT «* FROM reports GROUP BY window(time, 60)", "name them"),
    ("SELECT sum(«mhp) FROM reports GROUP BY window(time, 60)", "there is no column `mhp`"),
    ("SELECT «sum(name) FROM reports GROUP BY window(time, 60)", "name"),
    ("SELECT count(*) FROM reports GROUP BY «window(name, 60)", "cannot order on `name`"),
    ("SELECT count(*) FROM reports GROUP BY «window(time)", "write window(time, '60 seconds')"),
    ("SELECT count(*) FROM reports GROUP BY «window(time, mph)", "length is a constant"),
    ("SELECT count(*) FROM reports GROUP BY «window(time, '60 sheep')", "is not a duration"),
    ("SELECT count(*) FROM reports GROUP BY «window(time, 0)", "more than 0"),
    ("SELECT count(*) FROM «HOP(TABLE reports, time, 60) GROUP BY window_start", "which slides by the first"),
    ("SELECT count(*) FROM «SESSION(TABLE reports, time, 60) GROUP BY 1", "there are TUMBLE and HOP"),
    ("SELECT count(*) FROM TUMBLE(TABLE reports «) GROUP BY 1", "the column of times is missing"),
    ("SELECT count(*) AS n FROM reports GROUP BY window(time, 60) HAVING «name > 3", "neither grouped by"),
    ("SELECT mph FROM reports HAVING «mph > 3", "HAVING is about groups"),
    ("SELECT mph FROM reports GROUP BY «7", "there is no column 7"),
    ("SELECT mph FROM reports GROUP BY «window_start", "there is no window here"),
    ("SELECT mph FROM reports «INSIDE (1, 2, 3)", "INSIDE takes four arguments, not 3"),
    ("SELECT mph FROM reports INSIDE (1, 2, 3, «'a')", "is no number"),
    ("SELECT mph FROM reports INSIDE ('M', 7, «-1, 3)", "less than nothing"),
    ("SELECT mph FROM reports kNN («0, 1, 2)", "1 or more"),
    ("SELECT mph FROM reports kNN (3, «mph, 2)", "is no constant"),
    ("SELECT mph FROM reports kNN «3", "in parentheses"),
    ("SELECT mph FROM reports «INSIDE (1, 2, 3, 4)", "FROM lacks a stream with the columns id, x, y"),
    ("SELECT id FROM ships INSIDE ('M', «'anna', 3, 4)", "names no object, which go by whole numbers"),
    ("SELECT id FROM ships WHERE type = 'tug'\nINSIDE (1, 2, 3, 4) kNN ('M', 3, «true)", "names no object"),
    ("SELECT id FROM ships WHERE «tpye = 'tug' INSIDE (1, 2, 3, 4)", "there is no column `tpye`; did you mean `type`"),
    ("SELECT id FROM ships WHERE «type + 1 > 3 INSIDE (1, 2, 3, 4)", "+"),
    ("SELECT id FROM ships WHERE «x INSIDE (1, 2, 3, 4)", "`x` is no predicate: it gives a double, not a boolean"),
    ("SELECT «hull FROM ships INSIDE (1, 2, 3, 4)", "there is no column `hull`"),
    ("SELECT «type AS sign FROM ships INSIDE (1, 2, 3, 4)", "give this column another name"),
    ("SELECT id FROM ports «INSIDE (1, 2, 3, 4)", "is stored, and so does not move"),
    ("SELECT id FROM named «INSIDE (1, 2, 3, 4)", "objects go by whole numbers"),
    (
        "SELECT s.id FROM ships s JOIN boats b ON s.id = b.id «kNN (1, 2, 3)",
        "in a subquery, as in FROM (SELECT",
    ),
    ("SELECT id FROM (SELECT * FROM ships INSIDE (1, 2, 3, 4)) s «kNN (1, 2, 3)", "s is an answer already"),
    (
        "SELECT s.id FROM ships s JOIN tolls t ON «s.id = t.vid INSIDE (1, 2, 3, 4)",
        "joined with stored tables or other answers",
    ),
    ("SELECT count(*) FROM ships INSIDE (1, 2, 3, 4) GROUP BY «window(time, 60)", "it has no windows"),
    ("SELECT count(*) FROM «TUMBLE(TABLE ships, time, 60) INSIDE (1, 2, 3, 4) GROUP BY window_start", "no windows"),
    (
        "WITH s AS (SELECT * FROM ships kNN (1, 2, 3)) SELECT count(*) FROM «TUMBLE(s, time, 60) GROUP BY window_start",
        "it has no windows",
    ),
    ("SELECT «first(type) FROM ships INSIDE (1, 2, 3, 4)", "cannot take values out again"),
    ("SELECT «type, count(*) FROM ships INSIDE (1, 2, 3, 4)", "neither grouped by"),
    ("«SELECT id FROM ships INSIDE (1, 2, 3, 4) UNION ALL SELECT vid FROM tolls", "are answers, which change"),
    ("SELECT «DISTINCT vid FROM reports", "doubles are told within windows"),
    ("WITH «RECURSIVE a AS (SELECT mph FROM reports) SELECT mph FROM a", "no cycles"),
    ("WITH a «(SELECT mph FROM reports) SELECT mph FROM a", "write WITH a AS"),
    ("SELECT mph FROM (SELECT mph FROM reports«", "not closed"),
    ("SELECT mph FROM reports WHERE vid IN («SELECT vid FROM cars)", "no subquery"),
    ("SELECT «nosuch(mph) AS x FROM reports", "there is no function `nosuch`"),
    ("SELECT toll FROM reports JOIN tolls USING («nope)", "there is no column `nope`"),
    (
        "SELECT a.time FROM tolls a JOIN tolls b ON a.time = b.time JOIN tolls c ON «c.time = b.time",
        "gives pairs as they meet, so `time_right` does not ascend; say how many tuples late",
    ),
    (
        "SELECT count(*) FROM (SELECT time FROM tolls UNION ALL SELECT time FROM reports) GROUP BY «window(time, 60)",
        "come as they come",
    ),
    (
        "WITH w AS (SELECT window_start AS t, seg FROM reports GROUP BY seg, window(time, 60))"
        " SELECT count(*) FROM «TUMBLE(TABLE w, t, 120) GROUP BY window_start",
        "windows end at different times in the groups of seg",
    ),
    ("SELECT count(*) FROM (SELECT 0 - time AS t FROM tolls) GROUP BY «window(t, 60)", "is computed"),
    ("SELECT count(*) FROM tolls t JOIN cars c ON t.vid = c.vid GROUP BY «window(c.vid, 60)", "of a stored table"),
    (
        "SELECT count(*) FROM (SELECT max(vid) AS v FROM tolls GROUP BY window(time, 9)) GROUP BY «window(v, 6)",
        "computed",
    ),
    ("«", "there is no query"),
]


@pytest.mark.parametrize(("marked", "why"), MISTAKES)
def test_mistakes_are_pointed_at(marked: str, why: str | None) -> None:
    text = marked.replace("«", "")
    with pytest.raises(AustralisError) as caught:
        sql_network(text, STREAMS)
    told = str(caught.value)
    assert why is None or why in told
    if "«" in marked and why is not None:
        before = marked[: marked.index("«")]
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        assert told.startswith(f"line {line}, column {column}: ")
    shown = re.search(r"line (\d+), column (\d+): ", told)
    assert shown
    *_, quoted, caret = told.split("\n")
    assert quoted.removeprefix("  ") == text.split("\n")[int(shown[1]) - 1]
    assert caret == " " * (int(shown[2]) + 1) + "^"


def test_outputs_have_one_query_each() -> None:
    with pytest.raises(AustralisError, match="the output out is there already"):
        sql_network("SELECT mph FROM reports; SELECT vid FROM reports", STREAMS)
    with pytest.raises(NetworkError, match="all statements are views"):
        sql_network("CREATE VIEW v AS SELECT mph FROM reports", STREAMS)
    with pytest.raises(AustralisError, match="the stream of one query"):
        sql("SELECT mph FROM reports; SELECT vid FROM reports", STREAMS)
