"""Reader: reads the tokens of a query one after the other."""

from __future__ import annotations

from collections.abc import Collection

from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from australis.errors import ExpressionError
from australis.expressions.render import KEYWORDS
from australis.expressions.words import DIALECT, place, source
from australis.queries.piece import Piece, error_at

_OPENERS = (TokenType.L_PAREN, TokenType.L_BRACKET)
_CLOSERS = (TokenType.R_PAREN, TokenType.R_BRACKET)
_VALUES = (TokenType.NUMBER, TokenType.STRING, TokenType.R_PAREN, TokenType.IDENTIFIER)
_ENDINGS = ("END", "NULL", "TRUE", "FALSE")
_SIDES = ("INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL", "SEMI", "ANTI")
CLAUSES = frozenset(
    ["FROM", "WHERE", "GROUP BY", "HAVING", "UNION", "EXCEPT", "INTERSECT", "ORDER BY", "LIMIT", "OFFSET", "QUALIFY",
     "INSIDE", "KNN", "JOIN", "ON", "USING", ";"]
)  # fmt: skip
"""The words that begin a clause, and so end the one before."""


class TokenReader:
    """A position among the tokens. Its methods read what comes next, or raise an error that points at it."""

    def __init__(self, text: str) -> None:
        try:
            with Piece(text, 0, len(text)).point_into_query():
                read = source(text)
            self.tokens: list[Token] = DIALECT.tokenize(read)[1:]
        except TokenError:
            raise error_at(text, "the text does not read as SQL", 0) from None
        self.whole = read[-place(0) :]
        self.at = 0

    def word(self, ahead: int = 0) -> str:
        """The next token in upper case; "" if it is quoted, or at the end."""
        at = self.at + ahead
        if not 0 <= at < len(self.tokens):
            return ""
        token = self.tokens[at]
        if token.token_type in (TokenType.STRING, TokenType.IDENTIFIER):
            return ""
        return " ".join(token.text.upper().split())

    @property
    def at_end(self) -> bool:
        return self.at >= len(self.tokens)

    def accept(self, *words: str) -> bool:
        """Skip these words if they come next, and return whether they did."""
        if all(self.word(i) == word for i, word in enumerate(words)):
            self.at += len(words)
            return True
        return False

    def expect(self, word: str, why: str) -> None:
        if not self.accept(word):
            raise self.error(why)

    def error(self, why: str, at: int | None = None) -> ExpressionError:
        """An error that points at a token."""
        return error_at(self.whole, why, self.start(self.at if at is None else at))

    def start(self, at: int) -> int:
        """The position in the text at which a token begins."""
        if at < len(self.tokens):
            return place(self.tokens[at].start)
        return len(self.whole.rstrip())

    def piece(self, first: int, last: int | None = None) -> Piece:
        """The text from one token up to another, or up to the reader's position."""
        stop = self.at if last is None else last
        end = place(self.tokens[stop - 1].end) + 1 if stop > first else self.start(first)
        return Piece(self.whole, self.start(first), end)

    def name(self, what: str) -> str:
        """Read a name. Raises if another token comes next."""
        if not self.at_end and self.is_name(self.at):
            self.at += 1
            return str(self.tokens[self.at - 1].text)
        raise self.error(f"{what} is missing here")

    def is_name(self, at: int) -> bool:
        """Whether a token is a name: quoted, or a word that is not a keyword."""
        token = self.tokens[at]
        if token.token_type == TokenType.IDENTIFIER:
            return True
        word = token.text
        plain = token.token_type != TokenType.STRING and word.isidentifier()
        return plain and word.lower() not in KEYWORDS and word.upper() not in CLAUSES

    def expression(self, what: str, ends: Collection[str] = ()) -> Piece:
        """Read an expression, up to a comma, the next clause, or one of `ends`."""
        first = self.at
        depth = 0
        while not self.at_end:
            kind = self.tokens[self.at].token_type
            if depth == 0 and (kind in (*_CLOSERS, TokenType.COMMA) or self._ends(first, ends)):
                break
            depth += (kind in _OPENERS) - (kind in _CLOSERS)
            self.at += 1
        if self.at == first:
            raise self.error(f"{what} is missing here")
        return self.piece(first)

    def _ends(self, first: int, ends: Collection[str]) -> bool:
        word, before = self.word(), self.word(-1) if self.at > first else ""
        if before == ".":
            return False
        if word == "FROM":
            return before != "DISTINCT"
        if self.at_other_join():
            return True
        if word in ("INSIDE", "KNN"):
            return self.word(1) == "(" and self.at > first
        return word in CLAUSES or word in ends

    def at_other_join(self) -> bool:
        """Whether a join that is not a plain one comes next."""
        return self.word() in _SIDES and "JOIN" in (self.word(1), self.word(2))

    def alias(self, first: int) -> tuple[Piece, str | None]:
        """The expression that was just read, without the alias at its end, and the alias."""
        last = self.at - 1
        if last - first >= 2 and self.word(last - 1 - self.at) == "AS":
            if not self.is_name(last):
                raise self.error("a name is missing after AS", last)
            return self.piece(first, last - 1), str(self.tokens[last].text)
        of_interval = self.word(last - 2 - self.at) == "INTERVAL"
        if last > first and self.is_name(last) and self._operand(last - 1) and not of_interval:
            return self.piece(first, last), str(self.tokens[last].text)
        return self.piece(first), None

    def _operand(self, at: int) -> bool:
        kind = self.tokens[at].token_type
        return kind in _VALUES or self.word(at - self.at) in _ENDINGS or self.is_name(at)
