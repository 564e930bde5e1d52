"""Tokens of SQL text, in which every function is a plain call, and every other word a column or an operator."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from australis.errors import ExpressionError, ExpressionPlace
from australis.expressions.render import KEYWORDS

# DuckDB's SQL has standard strings, and `//` for the integer division.
DIALECT = Dialect.get_or_raise("duckdb")
# sqlglot rewrites calls of functions it knows; none that it knows has this in its name.
CALL = "@"
# Text begins on a second line, after a parenthesis: at the start of a statement `show` and others are commands.
_BEFORE = "(\n"

_QUOTED = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|--[^\n]*|/\*.*?\*/|(?P<open>['"`]|/\*)""", re.DOTALL
)
_WORD = re.compile(r"[^\W\d]\w*")
# SQL's own forms of these calls, such as `extract(hour from at)`, and the word that stands where a comma would.
_SEPARATORS = {"cast": "as", "try_cast": "as", "extract": "from", "position": "in"}
_TYPED = ("date", "time", "timestamp", "timestamptz")
_OPENERS = (TokenType.L_PAREN, TokenType.L_BRACKET)
_CLOSERS = (TokenType.R_PAREN, TokenType.R_BRACKET)


def broken(text: str, why: str, at: int | None = None) -> ExpressionError:
    """The error for a text that does not parse, with a caret under the place."""
    return ExpressionError(why, ExpressionPlace(text, at=at))


def tokenize(text: str) -> list[Token]:
    """The tokens of a text for the parser; their places are those in `source(text)`."""
    whole = source(text)
    try:
        tokens = DIALECT.tokenize(whole)[1:]
    except TokenError:
        raise broken(text, "the text does not read as SQL") from None
    if not tokens:
        raise ExpressionError("an expression is empty; write one such as `mph < 40`")
    _refuse(tokens, text)
    return list(_plain(tokens, whole))


def source(text: str) -> str:
    """The text as the tokenizer sees it, with double quotes for backticks."""

    def requoted(match: re.Match[str]) -> str:
        if match["open"]:
            raise broken(text, f"the {match['open']} is not closed", match.start())
        if match[0][0] != "`":
            return match[0]
        return '"' + match[0][1:-1].replace("``", "`").replace('"', '""') + '"'

    return _BEFORE + _QUOTED.sub(requoted, text)


def place(start: int) -> int:
    """The offset in the text of an offset in its source."""
    return start - len(_BEFORE)


def _refuse(tokens: list[Token], text: str) -> None:
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        at = place(token.start)
        if token.token_type == TokenType.SEMICOLON:
            raise broken(text, "an expression is one expression, not several statements; remove the `;`", at)
        if token.token_type == TokenType.SELECT:
            raise broken(text, "an expression has no SELECT and no subquery; write only what to compute", at)
        if token.token_type == TokenType.OVER and after is not None and after.token_type in _OPENERS:
            raise broken(text, "an expression has no window function (OVER); use an aggregate box instead", at)


def _plain(tokens: list[Token], whole: str) -> Iterator[Token]:
    at, depth = 0, 0
    waiting: list[tuple[str, int]] = []  # the open calls in SQL's own form, and how deep they are
    while at < len(tokens):
        token = tokens[at]
        after = tokens[at + 1] if at + 1 < len(tokens) else None
        word = token.text.lower() if _is_word(token, whole) else ""
        if token.token_type in _OPENERS:
            depth += 1
        elif token.token_type in _CLOSERS:
            depth -= 1
            if waiting and waiting[-1][1] > depth:
                waiting.pop()

        if token.token_type == TokenType.DCOLON and after is not None:
            yield from tokens[at : at + 2]  # the word is a type
            at += 2
        elif waiting and waiting[-1][1] == depth and word == _SEPARATORS[waiting[-1][0]]:
            yield _like(token, TokenType.COMMA, ",")
            at += 1
            if waiting[-1][0].endswith("cast"):
                end = _closing(tokens, at)
                if end > at:
                    kind = whole[tokens[at].start : tokens[end - 1].end + 1]
                    yield _like(tokens[at], TokenType.STRING, kind)
                at = end
        elif after is not None and after.token_type == TokenType.L_PAREN and word and word not in KEYWORDS:
            if word in _SEPARATORS:
                waiting.append((word, depth + 1))
            yield _like(token, TokenType.VAR, CALL + word)
            at += 1
            if word == "extract" and at + 1 < len(tokens) and _is_word(tokens[at + 1], whole):
                yield tokens[at]
                depth += 1
                yield _like(tokens[at + 1], TokenType.STRING, tokens[at + 1].text)
                at += 2
        elif after is not None and after.token_type == TokenType.STRING and word in _TYPED:
            yield from _call(token, "cast", after.text, word)
            at += 2
        elif after is not None and after.token_type in (TokenType.STRING, TokenType.NUMBER) and word == "interval":
            unit = tokens[at + 2] if at + 2 < len(tokens) else None
            with_unit = unit is not None and _is_word(unit, whole) and unit.text.lower() not in KEYWORDS
            yield from _call(token, "interval", f"{after.text} {unit.text}" if unit and with_unit else after.text)
            at += 3 if with_unit else 2
        else:
            yield _like(token, TokenType.VAR, token.text) if word and word not in KEYWORDS else token
            at += 1


def _is_word(token: Token, whole: str) -> bool:
    unquoted = token.token_type not in (TokenType.IDENTIFIER, TokenType.STRING) and whole[token.start] not in "'\""
    return unquoted and bool(_WORD.fullmatch(token.text))


def _closing(tokens: list[Token], at: int) -> int:
    """Where the parenthesis closes that is open at a token."""
    depth = 0
    for end in range(at, len(tokens)):
        if tokens[end].token_type in _OPENERS:
            depth += 1
        elif tokens[end].token_type in _CLOSERS:
            depth -= 1
            if depth < 0:
                return end
    return len(tokens)


def _call(token: Token, function: str, *args: str) -> Iterator[Token]:
    yield _like(token, TokenType.VAR, CALL + function)
    yield _like(token, TokenType.L_PAREN, "(")
    for i, arg in enumerate(args):
        if i:
            yield _like(token, TokenType.COMMA, ",")
        yield _like(token, TokenType.STRING, arg)
    yield _like(token, TokenType.R_PAREN, ")")


def _like(token: Token, kind: TokenType, text: str) -> Token:
    return Token(kind, text, token.line, token.col, token.start, token.end)
