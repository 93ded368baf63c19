"""What a report is made of, before it is Markdown, HTML or LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cegdb.report.words.citations import Reference


class Heading(NamedTuple):
    """A title; level 1 is that of the report."""

    text: str
    level: int = 2


class Paragraph(NamedTuple):
    """Sentences, literal."""

    text: str


class Note(NamedTuple):
    """A warning, set apart."""

    text: str


class Items(NamedTuple):
    """A list of sentences."""

    texts: Sequence[str]


class Table(NamedTuple):
    """A table; numbers are texts already, and those columns are set to the right."""

    caption: str
    names: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Sequence[str]


class Code(NamedTuple):
    """Lines to copy, such as SQL."""

    text: str
    language: str = ""


class Figure(NamedTuple):
    """A picture in a file beside the report, or, in HTML, within it."""

    path: Path
    caption: str


class References(NamedTuple):
    """What is cited."""

    references: Sequence[Reference]


Block: TypeAlias = Heading | Paragraph | Note | Items | Table | Code | Figure | References
