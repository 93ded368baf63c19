"""Detect the layout of a CSV file: what separates its fields, and which record is its header.

The delimiter is the one at which all records have as many fields. Cells are not interpreted.
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
_MOST_RECORDS: Final = 100
_MOST_TITLES: Final = 5
# So many lines with one comma each are hardly all sentences.
_TABLE_LINES: Final = 10
_LINE_ENDS: Final = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}
# The line that tells Excel the delimiter.
_SEP: Final = re.compile(r'"?sep=([^\r\n"])"?(?=\r|\n)', re.IGNORECASE)


class Record(NamedTuple):
    """The fields of a record, the number of its first line, and its text."""

    fields: list[str]
    line: int
    text: str

    @property
    def lines(self) -> list[str]:
        """Its lines, several where a quoted cell has a line end."""
        return list(io.StringIO(self.text, newline=""))

    @property
    def line_end(self) -> str:
        """How its last line ends."""
        return self.text[len(self.text.rstrip("\r\n")) :]


class CsvLayout(NamedTuple):
    """The delimiter of a file, its first records, and which of them is the header."""

    delimiter: str
    records: list[Record]
    header_index: int
    is_rare: bool = False

    @property
    def header(self) -> list[str]:
        """The column names."""
        return self.records[self.header_index].fields

    @property
    def n_header_lines(self) -> int:
        """Number of lines to the end of the header."""
        record = self.records[self.header_index]
        return record.line + len(record.lines) - 1

    @property
    def titles(self) -> list[Record]:
        """The records above the header that are not blank."""
        return [record for record in self.records[: self.header_index] if record.fields]

    @property
    def rows(self) -> list[list[str]]:
        """The fields of the first records below the header that are not blank."""
        below = self.records[self.header_index + 1 :]
        return [record.fields for record in below if record.fields]

    @property
    def line_ends(self) -> set[str]:
        """The different line ends of the records."""
        return {record.line_end for record in self.records} - {""}

    @property
    def line_end_names(self) -> str:
        """The same by name, for the receipt."""
        return " and ".join(name for end, name in _LINE_ENDS.items() if end in self.line_ends)

    @property
    def is_rectangular(self) -> bool:
        """Whether all records have as many fields as the header."""
        return all(len(row) == len(self.header) for row in self.rows)

    @property
    def is_table(self) -> bool:
        """Whether it is rectangular with several columns."""
        return len(self.header) > 1 and self.is_rectangular

    @property
    def is_prose(self) -> bool:
        """Whether a space follows each delimiter, as it follows a comma in a sentence."""
        return all(cell.startswith(" ") for row in self.rows for cell in row[1:])


def csv_rows(
    lines: Iterable[str], delimiter: str, options: ReadOptions, *, strict: bool
) -> Any:
    """Return Python's CSV reader of some lines.

    Doubled quotes are read also where an escape is given: no file that ``csv`` writes
    without them reads differently.
    """
    return csv.reader(
        lines,
        delimiter=delimiter,
        quotechar=(options.quote or '"') if options.quote != "" else None,
        quoting=csv.QUOTE_NONE if options.quote == "" else csv.QUOTE_MINIMAL,
        escapechar=options.escape,
        strict=strict,
    )


def detect_layout(
    file: Path, start: str, options: ReadOptions, *, has_more: bool
) -> CsvLayout | None:
    """Return the layout of a file from its start, None if that has no header."""
    sep = _SEP.match(start) if options.delimiter is None else None
    declared = sep[1] if sep else options.delimiter
    other_uses = {'"' if options.quote is None else options.quote, options.escape}

    def layouts(delimiters: Iterable[str]) -> list[CsvLayout]:
        candidates = (
            _layout(start, delimiter, options, has_more=has_more, n_skipped=bool(sep))
            for delimiter in delimiters
            if delimiter not in other_uses
        )
        return [layout for layout in candidates if layout]

    candidates = layouts([declared] if declared else _COMMON)
    if not candidates:
        return None
    best = max(candidates, key=lambda x: (x.is_table, len(x.header), x.is_rectangular))
    if best.is_table:
        return best
    titled = [below for layout in candidates if (below := _below_titles(layout))]
    if titled:
        widest = max(titled, key=lambda layout: len(layout.header))
        if (declared and widest.rows) or _are_titles(widest):
            return widest
        if not declared:
            raise SurveyError(
                f"{file}: the first line has 1 field, the lines after it have "
                f"{len(widest.header)}",
                hint="remove the lines above the header; or, if the file has one column, pass "
                "as delimiter= a character that does not occur in it",
            )
    if not declared and len(best.header) == 1:
        for rare in layouts(_RARE):
            if rare.is_table and rare.rows and not rare.is_prose:
                return rare._replace(is_rare=True)
    return best


def _layout(
    start: str, delimiter: str, options: ReadOptions, *, has_more: bool, n_skipped: int
) -> CsvLayout | None:
    """Return the first records, with the first one that is not blank as the header."""
    records = _records(start, delimiter, options, has_more=has_more)
    filled = (i for i, record in enumerate(records) if record.fields)
    header_index = next(islice(filled, n_skipped, None), None)
    return None if header_index is None else CsvLayout(delimiter, records, header_index)


def _below_titles(layout: CsvLayout) -> CsvLayout | None:
    """Return the layout with its header below lines of one field, if all others agree."""
    filled = [i for i, record in enumerate(layout.records) if record.fields]
    sizes = [len(layout.records[i].fields) for i in filled]
    n_titles = len(list(takewhile(lambda size: size == 1, sizes)))
    if not 0 < n_titles <= _MOST_TITLES or len(set(sizes[n_titles:])) != 1:
        return None
    titled = layout._replace(header_index=filled[n_titles])
    return titled if n_titles == 1 or _are_titles(titled) else None


def _are_titles(layout: CsvLayout) -> bool:
    """Return whether lines are titles above a table, or a column of sentences with commas."""
    n_lines = len(layout.rows) + 1
    has_words = any(" " in record.fields[0].strip() for record in layout.titles)
    return (
        n_lines >= 3 * len(layout.titles)
        and (has_words or n_lines >= _TABLE_LINES)
        and not layout.is_prose
    )


def _records(
    start: str, delimiter: str, options: ReadOptions, *, has_more: bool
) -> list[Record]:
    lines_read: list[str] = []

    def lines() -> Iterator[str]:
        for line in io.StringIO(start, newline=""):
            lines_read.append(line)
            yield line

    records: list[Record] = []
    n_filled, line = 0, 1
    try:
        for fields in csv_rows(lines(), delimiter, options, strict=False):
            records.append(Record(fields, line, "".join(lines_read)))
            line += len(lines_read)
            lines_read.clear()
            n_filled += bool(fields)
            if n_filled > _MOST_RECORDS + _MOST_TITLES:
                return records
    except csv.Error:  # a cell longer than any line may be
        return records
    if has_more and records:  # the last record may go on
        records.pop()
    return records
