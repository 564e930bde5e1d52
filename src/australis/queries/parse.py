"""Parse the text of queries; expressions are left to the expression language, and spatial clauses cut out."""

from __future__ import annotations

from australis.queries.query import FromItem, Item, Joined, Named, Query, Select, Source, Statement, Windowed
from australis.queries.reader import TokenReader
from australis.queries.spatial import Inside, NearestClause, inside, nearest

_ENDLESS = "a stream has no end"
_REFUSED = {
    "ORDER BY": f"{_ENDLESS}, so it has no last order; sort it with a bsort box, or what reads the results",
    "LIMIT": f"{_ENDLESS}, and no first rows that are more than what comes first; take them from the results",
    "OFFSET": f"{_ENDLESS}; OFFSET is for tables",
    "QUALIFY": "there are no OVER windows; group by a window, as in GROUP BY window(time, '60 seconds')",
    "EXCEPT": f"{_ENDLESS}, so nothing can be taken away from it",
    "INTERSECT": f"{_ENDLESS}; join the streams instead",
}
_LENGTHS = ("SIZE", "SLIDE", "ADVANCE", "SLACK")
_TABLE_FUNCTIONS = ("TUMBLE", "HOP")
OUT = "out"
"""The output of a query that is given no name."""


def parse(text: str) -> tuple[Statement, ...]:
    """The statements of a text: queries, `INSERT INTO name` queries, and `CREATE VIEW name AS` queries."""
    reader = TokenReader(text)
    statements: list[Statement] = []
    while not reader.at_end:
        if reader.accept(";"):
            continue
        statements.append(_statement(reader))
        if reader.word() not in (";", ""):
            raise reader.error(_REFUSED.get(reader.word()) or f"`{reader.tokens[reader.at].text}` is not expected here")
    if not statements:
        raise reader.error("there is no query; write one such as SELECT time, mph FROM reports WHERE mph > 60")
    return tuple(statements)


def _statement(reader: TokenReader) -> Statement:
    first, name, output = reader.at, OUT, True
    if reader.accept("INSERT", "INTO"):
        name = reader.name("the output's name")
    elif reader.accept("CREATE"):
        if not (reader.accept("VIEW") or reader.accept("TEMPORARY", "VIEW")):
            raise reader.error("write CREATE VIEW name AS SELECT ...; tables are given to the query, not made by it")
        name, output = reader.name("the view's name"), False
        reader.expect("AS", "AS is missing here")
    query = _query(reader)
    return Statement(query, name, output, reader.piece(first))


def _query(reader: TokenReader) -> Query:
    first, views = reader.at, []
    if reader.accept("WITH"):
        if reader.accept("RECURSIVE"):
            raise reader.error("a network has no cycles, so there is no recursive query", reader.at - 1)
        while True:
            name = reader.name("the name of a query")
            reader.expect("AS", f"write WITH {name} AS (SELECT ...)")
            reader.expect("(", f"write WITH {name} AS (SELECT ...)")
            views.append((name, _query(reader)))
            reader.expect(")", "the parenthesis is not closed here")
            if not reader.accept(","):
                break
    selects = [_operand(reader)]
    while reader.accept("UNION"):
        if not reader.accept("ALL"):
            raise reader.error(f"{_ENDLESS}, so doubles cannot be told from what is to come; write UNION ALL")
        selects.append(_operand(reader))
    if reader.word() in _REFUSED:
        raise reader.error(_REFUSED[reader.word()])
    return Query(tuple(views), tuple(selects), reader.piece(first))


def _operand(reader: TokenReader) -> Select | Query:
    if reader.accept("("):
        query = _query(reader)
        reader.expect(")", "the parenthesis is not closed here")
        return query
    return _select(reader)


def _select(reader: TokenReader) -> Select:
    first = reader.at
    reader.expect("SELECT", "SELECT is missing here")
    distinct = reader.piece(reader.at - 1) if reader.accept("DISTINCT") else None
    items = [_item(reader)]
    while reader.accept(","):
        items.append(_item(reader))
    reader.expect("FROM", "FROM is missing here, with the stream that the columns are of")
    whole, joins = _part(reader), []
    while (joined := _join(reader)) is not None:
        joins.append(joined)
    where = reader.expression("a condition") if reader.accept("WHERE") else None
    spatial = []
    while reader.word() in ("INSIDE", "KNN"):
        at = reader.at
        clause = _spatial(reader)
        spatial.append((clause, reader.piece(at)))
    groups = []
    if reader.accept("GROUP BY"):
        groups.append(reader.expression("what to group by"))
        while reader.accept(","):
            groups.append(reader.expression("what to group by"))
    having = reader.expression("a condition") if reader.accept("HAVING") else None
    return Select(
        tuple(items), whole, tuple(joins), where, tuple(spatial), tuple(groups), having, reader.piece(first),
        distinct,
    )  # fmt: skip


def _item(reader: TokenReader) -> Item:
    first = reader.at
    if reader.accept("*"):
        return Item(reader.piece(first), star=True)
    if reader.word(1) == "." and reader.word(2) == "*":
        of = reader.name("a table's name")
        reader.at += 2
        return Item(reader.piece(first), star=True, of=of)
    reader.expression("a column")
    piece, name = reader.alias(first)
    return Item(piece, name)


def _part(reader: TokenReader) -> FromItem:
    first = reader.at
    source = _source(reader)
    alias = None
    if reader.accept("AS") or (not reader.at_end and reader.is_name(reader.at) and not reader.at_other_join()):
        alias = reader.name("a name")
    return FromItem(source, alias, reader.piece(first))


def _source(reader: TokenReader) -> Source:
    first = reader.at
    if reader.accept("("):
        query = _query(reader)
        reader.expect(")", "the parenthesis is not closed here")
        return query
    if reader.accept("TABLE") and reader.word() in ("(", ""):
        return _source(reader)  # TABLE (TUMBLE(...)), or TABLE (SELECT ...)
    if reader.word(1) == "(":
        return _table_function(reader)
    name = reader.name("a stream's name")
    return Named(name, reader.piece(first))


def _table_function(reader: TokenReader) -> Windowed:
    first, kind = reader.at, reader.word()
    if kind not in _TABLE_FUNCTIONS:
        raise reader.error(f"there is no table function {kind}; there are {' and '.join(_TABLE_FUNCTIONS)}")
    reader.at += 2
    reader.accept("DATA", "=>")
    source = _source(reader)
    reader.expect(",", "the column of times is missing here")
    reader.accept("TIMECOL", "=>")
    on, lengths = reader.expression("the column of times"), []
    while reader.accept(","):
        name = None
        if reader.word() in _LENGTHS:
            name = reader.word()
            reader.at += 1
            reader.accept("=>")
        lengths.append((name, reader.expression("a length")))
    reader.expect(")", "the parenthesis is not closed here")
    return Windowed(kind, source, on, tuple(lengths), reader.piece(first))


def _join(reader: TokenReader) -> Joined | None:
    first = reader.at
    if reader.accept(",") or reader.accept("CROSS", "JOIN"):
        part = _part(reader)
        return Joined(part, part.piece)
    reader.accept("INNER")
    if not reader.accept("JOIN"):
        if reader.at_other_join():
            raise reader.error("only inner joins are planned: that a tuple has no partner is known when it is too late")
        return None
    part = _part(reader)
    if reader.accept("USING"):
        reader.expect("(", "write USING (column, ...)")
        using = [reader.name("a column")]
        while reader.accept(","):
            using.append(reader.name("a column"))
        reader.expect(")", "the parenthesis is not closed here")
        return Joined(part, reader.piece(first), using=tuple(using))
    reader.expect("ON", "ON is missing here, with the condition of the join")
    on = reader.expression("a condition")
    return Joined(part, on, on)


def _spatial(reader: TokenReader) -> Inside | NearestClause:
    first, kind = reader.at, reader.word()
    reader.at += 1
    reader.expect("(", "the arguments are missing here, in parentheses")
    args = [reader.expression("an argument")]
    while reader.accept(","):
        args.append(reader.expression("an argument"))
    reader.expect(")", "the parenthesis is not closed here")
    whole = reader.piece(first)
    return inside(args, whole) if kind == "INSIDE" else nearest(args, whole)
