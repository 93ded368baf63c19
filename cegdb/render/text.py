"""Documents as plain text for a terminal, without marks or escapes."""

from __future__ import annotations

import textwrap
import unicodedata
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
from cegdb.render.markup import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cegdb.render.document import Block


_WIDTHLESS: Final = ("Mn", "Me", "Cf")


def lines(block: Block, width: int | None = None) -> Iterator[str]:
    """Yield a block; lines are at most ``width`` wide, where words and numbers allow it."""
    match block:
        case Heading(text, level):
            title = visible(text)
            rule = "" if level > 2 else ("=" if level == 1 else "-") * _width(title) + "\n"
            yield f"{title}\n{rule}"
        case Paragraph(text):
            yield _filled(text, width)
        case Note(text):
            yield _filled(f"Note: {text}", width)
        case Items(texts):
            yield from (_filled(text, width, "- ") for text in texts)
        case References(works):
            yield from (_filled(f"{text} {url}".strip(), width, "- ") for text, url in works)
        case Code(text, _):
            yield from (f"  {visible(line)}\n" for line in text.split("\n"))
        case Figure(path, caption):
            yield _filled(f"Figure ({path.name}): {caption}", width)
        case Table():
            yield _filled(block.caption, width) + "\n"
            yield from _table(block, width)


def _filled(text: str, width: int | None, mark: str = "") -> str:
    shown = visible(text)
    if width is None:
        return f"{mark}{shown}\n"
    wrapped = textwrap.fill(
        shown,
        width,
        initial_indent=mark,
        subsequent_indent=" " * len(mark),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return f"{wrapped}\n"


def _table(table: Table, width: int | None) -> Iterator[str]:
    """Yield aligned columns; below what a group shares, if anything, its rows.

    Where columns are too wide, each row becomes a list of its cells.
    """
    names = [visible(column.name) for column in table.columns]
    groups = [
        (group.shared, [list(map(visible, row)) for row in group.rows])
        for group in table.groups
    ]
    every = (row for _, rows in groups for row in rows)
    widths = [max(map(_width, cells)) for cells in zip(names, *every, strict=True)]
    indent = "  " if table.shared else ""
    is_wide = width is not None and sum(widths) + 2 * len(widths) > width

    def aligned(cells: Sequence[str]) -> str:
        padded = [
            " " * (room - _width(cell)) + cell
            if column.is_number
            else cell + " " * (room - _width(cell))
            for column, cell, room in zip(table.columns, cells, widths, strict=True)
        ]
        return f"{indent}{'  '.join(padded).rstrip()}\n"

    def stacked(cells: Sequence[str]) -> str:
        return "".join(
            _filled(f"{name}: {cell}", width, f"{indent}{'  ' if number else '- '}")
            for number, (name, cell) in enumerate(zip(names, cells, strict=True))
        )

    if not is_wide:
        yield aligned(names)
        yield aligned(["-" * room for room in widths])
    for shared, rows in groups:
        if shared:
            cells = zip(table.shared, shared, strict=True)
            yield _filled("; ".join(f"{column.name}: {cell}" for column, cell in cells), width)
        yield from map(stacked if is_wide else aligned, rows)


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(
        0
        if unicodedata.category(c) in _WIDTHLESS
        else 2
        if unicodedata.east_asian_width(c) in "WF"
        else 1
        for c in text
    )
