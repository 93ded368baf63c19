"""Find out how the text of a CSV file is laid out: what splits it, and where its header is.

The delimiter is the one at which the records agree. Nothing is guessed from the cells.
"""

from __future__ import annotations

import csv
import io
import re
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from cegdb.errors import SurveyError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from cegdb.options import ReadOptions

_COMMON: Final = (",", ";", "\t", "|")
_RARE: Final = ("^", "~", "\x1f", "\x01", ":")
_RECORDS: Final = 100
_TITLES: Final = 5
_UNLIKELY: Final = 10
_ENDS: Final = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}
_SEP: Final = re.compile(r'"?sep=([^\r\n"])"?(?=\r|\n)', re.IGNORECASE)


class Record(NamedTuple):
    """The fields of a record, its first line, and its text."""

    fields: list[str]
    line: int
    text: str

    @property
    def lines(self) -> list[str]:
        """Its lines."""
        return list(io.StringIO(self.text, newline=""))

    @property
    def end(self) -> str:
        """How its last line ends."""
        return self.text[len(self.text.rstrip("\r\n")) :]


class Found(NamedTuple):
    """The layout of a file: its delimiter, its first records, and which is the header."""

    delimiter: str
    records: list[Record]
    at: int
    is_rare: bool = False

    @property
    def header(self) -> list[str]:
        """The names."""
        return self.records[self.at].fields

    @property
    def n_lines(self) -> int:
        """How many lines there are to the end of the header."""
        record = self.records[self.at]
        return record.line + len(record.lines) - 1

    @property
    def above(self) -> list[Record]:
        """The records above the header that are not blank."""
        return [record for record in self.records[: self.at] if record.fields]

    @property
    def rows(self) -> list[list[str]]:
        """The fields of the first records below the header that are not blank."""
        return [record.fields for record in self.records[self.at + 1 :] if record.fields]

    @property
    def ends(self) -> set[str]:
        """How the lines end."""
        return {record.end for record in self.records} - {""}

    @property
    def line_ends(self) -> str:
        """How the lines end, by name."""
        return " and ".join(name for end, name in _ENDS.items() if end in self.ends)

    @property
    def agrees(self) -> bool:
        """Whether all records have as many fields as the header."""
        return all(len(row) == len(self.header) for row in self.rows)

    @property
    def splits(self) -> bool:
        """Whether all records have as many fields as the header, and that is several."""
        return len(self.header) > 1 and self.agrees

    @property
    def is_prose(self) -> bool:
        """Whether a blank follows each delimiter, as it follows a comma in a sentence."""
        return all(cell.startswith(" ") for row in self.rows for cell in row[1:])


def split(lines: Iterable[str], delimiter: str, reading: ReadOptions, *, strict: bool) -> Any:
    """Return Python's reader of the lines.

    Doubled quotes are read also where an escape is given: no file that ``csv`` writes
    without them reads differently.
    """
    return csv.reader(
        lines,
        delimiter=delimiter,
        quotechar=(reading.quote or '"') if reading.quote != "" else None,
        quoting=csv.QUOTE_NONE if reading.quote == "" else csv.QUOTE_MINIMAL,
        escapechar=reading.escape,
        strict=strict,
    )


def sniff(file: Path, text: str, reading: ReadOptions, *, more: bool) -> Found | None:
    """Return the layout of the start of a file; None if it has no header.

    Parameters
    ----------
    file
        To name in a message.
    text
        The start.
    reading
        What was told about it.
    more
        Whether the file goes on.

    Raises
    ------
    SurveyError
        Its first lines are a title or else all of the file is one column: which is unclear.
    """
    sep = _SEP.match(text) if reading.delimiter is None else None
    told = sep[1] if sep else reading.delimiter
    taken = {'"' if reading.quote is None else reading.quote, reading.escape}

    def layouts(delimiters: Iterable[str]) -> list[Found]:
        every = (
            _layout(text, delimiter, reading, more=more, n_above=bool(sep))
            for delimiter in delimiters
            if delimiter not in taken
        )
        return [layout for layout in every if layout]

    found = layouts([told] if told else _COMMON)
    if not found:
        return None
    best = max(found, key=lambda layout: (layout.splits, len(layout.header), layout.agrees))
    if best.splits:
        return best
    titled = [below for layout in found if (below := _below_title(layout))]
    if titled:
        widest = max(titled, key=lambda layout: len(layout.header))
        if (told and widest.rows) or _is_sure(widest):
            return widest
        if not told:
            raise SurveyError(
                f"{file}: the first line has 1 field, the lines after it have "
                f"{len(widest.header)}",
                hint="remove the lines above the header, or pass delimiter= (if the file has "
                "one column: any that is not in it)",
            )
    if not told and len(best.header) == 1:
        for rare in layouts(_RARE):
            if rare.splits and rare.rows and not rare.is_prose:
                return rare._replace(is_rare=True)
    return best


def _layout(
    text: str, delimiter: str, reading: ReadOptions, *, more: bool, n_above: int
) -> Found | None:
    """Return the first records, with the first one that is not blank as header."""
    records = _records(text, delimiter, reading, more=more)
    filled = (at for at, record in enumerate(records) if record.fields)
    at = next(islice(filled, n_above, None), None)
    return None if at is None else Found(delimiter, records, at)


def _below_title(layout: Found) -> Found | None:
    """Return the layout with its header below lines of one field, if all others agree."""
    filled = [at for at, record in enumerate(layout.records) if record.fields]
    sizes = [len(layout.records[at].fields) for at in filled]
    n_titles = len(list(takewhile(lambda size: size == 1, sizes)))
    if not 0 < n_titles <= _TITLES or len(set(sizes[n_titles:])) != 1:
        return None
    titled = layout._replace(at=filled[n_titles])
    return titled if n_titles == 1 or _is_sure(titled) else None


def _is_sure(titled: Found) -> bool:
    """Return whether it is a title, and not a column of sentences with as many commas each."""
    n_lines = len(titled.rows) + 1
    worded = any(" " in record.fields[0].strip() for record in titled.above)
    return (
        n_lines >= 3 * len(titled.above)
        and (worded or n_lines >= _UNLIKELY)
        and not titled.is_prose
    )


def _records(text: str, delimiter: str, reading: ReadOptions, *, more: bool) -> list[Record]:
    read: list[str] = []

    def lines() -> Iterator[str]:
        for line in io.StringIO(text, newline=""):
            read.append(line)
            yield line

    records: list[Record] = []
    rows = split(lines(), delimiter, reading, strict=False)
    n_filled, line = 0, 1
    try:
        for fields in rows:
            records.append(Record(fields, line, "".join(read)))
            line += len(read)
            read.clear()
            n_filled += bool(fields)
            if n_filled > _RECORDS + _TITLES:
                return records
    except csv.Error:  # a cell longer than any line may be
        return records
    if more and records:  # the last record may go on
        records.pop()
    return records
