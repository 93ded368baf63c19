"""Documents as HTML: elements, or one page that needs no other file."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Final

from cegdb.render.document import (
    Code,
    Figure,
    Heading,
    Items,
    Note,
    Paragraph,
    References,
    Table,
)
from cegdb.render.markup import html

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cegdb.render.document import Block, Column

HEAD: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>TITLE</title>
<style>
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; background: #fff;
  font: 1.05rem/1.5 Georgia, "Times New Roman", serif; overflow-wrap: anywhere; }
h1, h2, h3 { line-height: 1.2; font-family: Helvetica, Arial, sans-serif; }
h2 { margin-top: 2rem; }
h1, h2, h3, p, li, aside, pre, caption { max-width: 46rem; }
li { margin: .4rem 0; }
aside { border-left: .3rem solid #e69f00; padding: .2rem .8rem; margin: 1rem 0; }
table { display: block; overflow-x: auto; border-collapse: collapse; font-size: .85rem;
  margin: 1rem 0; }
caption { text-align: left; padding: .3rem 0; }
th { border-top: 2px solid; border-bottom: 1px solid; text-align: left; overflow-wrap: normal; }
td, th { padding: .2rem .6rem .2rem 0; vertical-align: top; min-width: 2.5rem;
  max-width: 32rem; }
td.number, th.number { text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
tr.first td { border-top: 1px solid #ccc; }
tbody { border-bottom: 2px solid; }
pre { background: #f4f4f4; padding: .6rem; white-space: pre-wrap; font-size: .85rem; }
figure { margin: 1rem 0; }
img { max-width: 100%; }
</style>
</head>
<body>
"""
FOOT: Final = "</body>\n</html>\n"
_KINDS: Final = {True: 'class="number"', False: 'dir="auto"'}


def lines(block: Block) -> Iterator[str]:
    """Yield a block, line by line or a few lines at once."""
    match block:
        case Heading(text, level):
            yield f"<h{level}>{html(text)}</h{level}>\n"
        case Paragraph(text):
            yield f"<p>{html(text)}</p>\n"
        case Note(text):
            yield f"<aside><strong>Note.</strong> {html(text)}</aside>\n"
        case Items(texts):
            yield from _list(map(html, texts))
        case References(works):
            yield from _list(html(text) + (_link(url) if url else "") for text, url in works)
        case Code(text, _):
            yield "<pre>" + "\n".join(map(html, text.split("\n"))) + "</pre>\n"
        case Figure(path, caption):
            picture = base64.b64encode(path.read_bytes()).decode()
            yield (
                f'<figure><img alt="{html(caption)}" '
                f'src="data:image/svg+xml;base64,{picture}">'
                f"<figcaption>{html(caption)}</figcaption></figure>\n"
            )
        case Table():
            yield from _table(block)


def _list(items: Iterable[str]) -> Iterator[str]:
    yield "<ul>\n"
    yield from (f"<li>{item}</li>\n" for item in items)
    yield "</ul>\n"


def _link(url: str) -> str:
    return f' <a href="{html(url)}">{html(url)}</a>'


def _table(table: Table) -> Iterator[str]:
    columns = [*table.shared, *table.columns]
    heads = _cells("th", columns, [column.name for column in columns])
    yield f"<table>\n<caption>{html(table.caption)}</caption>\n"
    yield f"<thead>\n<tr>{heads}</tr>\n</thead>\n<tbody>\n"
    for group in table.groups:
        shared = _cells("td", table.shared, group.shared, len(group.rows))
        kind = ' class="first"' if group.shared else ""
        for row in group.rows:
            yield f"<tr{kind}>{shared}{_cells('td', table.columns, row)}</tr>\n"
            shared = kind = ""
    yield "</tbody>\n</table>\n"


def _cells(tag: str, columns: Sequence[Column], texts: Sequence[str], n_rows: int = 1) -> str:
    span = f' rowspan="{n_rows}"' if n_rows > 1 else ""
    return "".join(
        f"<{tag} {_KINDS[column.is_number]}{span}>{html(text)}</{tag}>"
        for column, text in zip(columns, texts, strict=True)
    )
