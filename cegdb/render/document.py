"""What a document is made of, before it is Markdown, HTML, LaTeX or plain text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path


class Heading(NamedTuple):
    """A title; level 1 is that of the document."""

    text: str
    level: int = 2


class Paragraph(NamedTuple):
    """Sentences."""

    text: str


class Note(NamedTuple):
    """A warning, set apart."""

    text: str


class Items(NamedTuple):
    """A list of sentences."""

    texts: Sequence[str]


class Code(NamedTuple):
    """Lines to copy, such as SQL."""

    text: str
    language: str = ""


class Figure(NamedTuple):
    """A picture in a file beside the document, or, in HTML, within it."""

    path: Path
    caption: str


class References(NamedTuple):
    """Works cited: the text of each, and its address or nothing."""

    works: Sequence[tuple[str, str]]


class Column(NamedTuple):
    """A column of a table: its heading, and whether it holds numbers."""

    name: str
    is_number: bool = False


class Group(NamedTuple):
    """Rows that belong together, and the cells they share."""

    rows: Sequence[Sequence[str]]
    shared: Sequence[str] = ()


@dataclass(frozen=True)
class Table:
    """A table of texts; groups may be produced while it is written.

    A group shows the cells of the ``shared`` columns once, before those of its rows.
    """

    caption: str
    columns: Sequence[Column]
    groups: Iterable[Group]
    shared: Sequence[Column] = ()

    @classmethod
    def of_rows(
        cls,
        caption: str,
        names: Sequence[str],
        rows: Sequence[Sequence[str]],
        numbers: Collection[str] = (),
    ) -> Table:
        """Return a table of rows that share nothing; ``numbers`` names its number columns."""
        return cls(caption, [Column(name, name in numbers) for name in names], [Group(rows)])


Block: TypeAlias = Heading | Paragraph | Note | Items | Table | Code | Figure | References
