"""Page: tables and pictures in one HTML file that needs no other."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from australis.apps.linear_road.pictures import Picture

_STYLE = """\
:root { color-scheme: light dark; --paper: #fafafa; --card: #fff; --ink: #222; --faint: #666; --line: #ddd; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #171717; --card: #222; --ink: #e6e6e6; --faint: #a0a0a0; --line: #3a3a3a; }
}
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 70rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0; }
h1 + p, figcaption, caption { color: var(--faint); }
h1 + p { margin: 0 0 1.5rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin-bottom: 2rem; }
caption { caption-side: bottom; text-align: left; padding-top: .5rem; font-size: .875rem; }
th, td { padding: .3rem 1.5rem .3rem 0; border-bottom: 1px solid var(--line); text-align: right; font-weight: 400; }
th:first-child { text-align: left; }
thead th { color: var(--faint); font-size: .875rem; }
figure { margin: 0 0 1.75rem; background: var(--card); border: 1px solid var(--line); border-radius: .5rem;
  overflow: hidden; }
img { display: block; width: 100%; height: auto; background: #fff; }
figcaption { padding: .6rem 1rem; font-size: .9rem; border-top: 1px solid var(--line); }
"""


@dataclass(frozen=True)
class Sheet:
    """A table with a note below it; the first column names the rows."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


def page(title: str, about: str, sheets: Sequence[Sheet], pictures: list[Picture]) -> str:
    """The page as text."""
    tables = "\n".join(map(_table, sheets))
    figures = "\n".join(map(_figure, pictures))
    return f"""\
<!doctype html>
<html lang=en>
<meta charset=utf-8>
<meta name=viewport content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
{_STYLE}</style>
<h1>{escape(title)}</h1>
<p>{escape(about)}</p>
{tables}
{figures}
</html>
"""


def _table(sheet: Sheet) -> str:
    head = "".join(f"<th scope=col>{escape(cell)}</th>" for cell in sheet.head)
    rows = "\n".join(map(_row, sheet.rows))
    return f"""\
<table>
<caption>{escape(sheet.note)}</caption>
<thead><tr>{head}</tr></thead>
<tbody>
{rows}
</tbody>
</table>"""


def _row(cells: Sequence[str]) -> str:
    first, *others = map(escape, cells)
    return f"<tr><th scope=row>{first}</th>" + "".join(f"<td>{cell}</td>" for cell in others) + "</tr>"


def _figure(picture: Picture) -> str:
    inlined = b64encode(picture.png).decode("ascii")
    image = f'<img alt="{escape(picture.title)}" src="data:image/png;base64,{inlined}">'
    caption = f"<figcaption>{escape(picture.caption)}</figcaption>"
    return f'<figure id="{escape(picture.name)}">\n{image}\n{caption}\n</figure>'
