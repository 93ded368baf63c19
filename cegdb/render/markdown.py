"""Documents as Markdown: CommonMark, with the tables of GitHub and pandoc."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

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
from cegdb.render.markup import markdown, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cegdb.render.document import Block


def lines(block: Block) -> Iterator[str]:
    """Yield a block, line by line or a few lines at once."""
    match block:
        case Heading(text, level):
            yield f"{'#' * level} {markdown(text)}\n"
        case Paragraph(text):
            yield f"{markdown(text)}\n"
        case Note(text):
            yield f"> **Note.** {markdown(text)}\n"
        case Items(texts):
            yield from (f"- {markdown(text)}\n" for text in texts)
        case References(works):
            yield from (
                f"- {markdown(text)}{f' <{url}>' if url else ''}\n" for text, url in works
            )
        case Code(text, language):
            longest = max((len(run) for run in re.findall("`+", text)), default=0)
            fence = "`" * max(3, longest + 1)
            yield f"{fence}{language}\n"
            yield from (f"{visible(line)}\n" for line in text.split("\n"))
            yield f"{fence}\n"
        case Figure(path, caption):
            shown = markdown(caption)
            yield f"![{shown}](<{quote(path.name)}>)\n\n*{shown}*\n"
        case Table():
            yield from _table(block)


def _table(table: Table) -> Iterator[str]:
    columns = [*table.shared, *table.columns]
    yield f"{markdown(table.caption)}\n\n"
    yield _row(markdown(column.name) for column in columns)
    yield _row("---:" if column.is_number else "---" for column in columns)
    for group in table.groups:
        shared: Sequence[str] = group.shared
        for row in group.rows:
            yield _row(map(markdown, (*shared, *row)))
            shared = [""] * len(shared)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"
