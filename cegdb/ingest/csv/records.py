"""Write the records of a CSV file again, as DuckDB reads them without doubt.

Python's ``csv`` reads them, strictly. A row that is none is an error, or left out and told.
Of a file of one column a blank line is a row, whose cell is blank; of any other it is none.
"""

from __future__ import annotations

import csv
import os
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from cegdb.errors import SurveyError, counted, listed
from cegdb.ingest.csv import decoding
from cegdb.ingest.csv.dialect import Found, split
from cegdb.ingest.files.cell_labels import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import TextIO

    from cegdb.options import ReadOptions

LONGEST: Final = 1 << 21  # DuckDB's limit for one line, and ours for the header
LISTED: Final = 1000
UNCLOSED: Final = "a quote is opened and not closed, or closed too early"
SKIPPING: Final = (
    "correct the file, or pass bad_rows='skip' (on the command line --bad-rows skip)"
)

_TOLD: Final = 10
_CHUNK: Final = 1 << 20


class SkippedRow(NamedTuple):
    """A row left out: its first line, how many fields (None: a broken quote), its start."""

    line: int
    n_fields: int | None
    text: str


@dataclass(frozen=True)
class SkippedRows:
    """How many rows were left out, and the first of them."""

    count: int
    first: list[SkippedRow]


@dataclass
class BlankLines:
    """The blank lines of a file, of which those between rows are told."""

    lines: list[int] = field(default_factory=list)
    n_above_a_row: int = 0

    def add_row(self) -> None:
        """Take note of a row: the blank lines so far are above it."""
        self.n_above_a_row = len(self.lines)

    @property
    def notes(self) -> list[str]:
        """The sentence for the receipt, if there is a blank line between rows."""
        told = self.lines[: self.n_above_a_row]
        if not told:
            return []
        return [f"{counted(len(told), 'blank line')} left out: {_places(told)}"]


@contextmanager
def cells_of_any_length() -> Iterator[None]:
    """Let ``csv`` read cells as long as a line may be; its own limit is 131,072."""
    before = csv.field_size_limit(LONGEST)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def check_header(file: Path, found: Found, reading: ReadOptions) -> None:
    """Refuse a broken quote in or above the header, which rows would be taken for a part of.

    Raises
    ------
    SurveyError
        There is one.
    """
    for record in found.records[: found.at + 1]:
        try:
            list(split(record.lines, found.delimiter, reading, strict=True))
        except csv.Error:
            raise SurveyError(f"{file}, line {record.line}: {UNCLOSED}") from None


class _Lines:
    """The lines of a file, which can be given back to the start of a record."""

    def __init__(self, file: Path, source: TextIO) -> None:
        self.file, self.source = file, source
        self.n = 0
        self.record: list[str] = []
        self._again: list[str] = []

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._again.pop() if self._again else self.source.readline(LONGEST)
        if not line:
            raise StopIteration
        self.n += 1
        if len(line) == LONGEST:
            raise _too_long(self.file, self.n)
        self.record.append(line)
        return line

    def keep_first(self) -> None:
        """Give back all lines of the record but its first."""
        self._again += reversed(self.record[1:])
        self.n -= len(self.record) - 1
        del self.record[1:]


class _BadRows:
    """The rows that cannot be read: an error, or left out and counted."""

    def __init__(self, file: Path, width: int, *, skip: bool) -> None:
        self.file, self.width, self.skip = file, width, skip
        self.count = 0
        self.first: list[SkippedRow] = []
        self.broken = self.several = 0

    def add(self, row: SkippedRow) -> None:
        """Count a row."""
        self.count += 1
        if len(self.first) < LISTED:
            self.first.append(row)
        if not self.skip and (row.n_fields is None or self.count == LISTED):
            raise self.error()

    def error(self) -> SurveyError:
        """Return the error to raise where rows are not left out."""
        lines = [(row.line, str(row.n_fields)) for row in self.first if row.n_fields]
        if lines:
            return ragged(str(self.file), lines, self.width, SKIPPING)
        return SurveyError(f"{self.file}, line {self.first[0].line}: {UNCLOSED}", hint=SKIPPING)

    def refuse_doubt(self) -> None:
        """Refuse to go on below a broken quote in a file that has cells of several lines.

        Reading goes on at the next line, which may then be the inside of a cell.
        """
        if self.broken and self.several:
            raise SurveyError(
                f"{self.file}, line {self.broken}: {UNCLOSED}; it cannot be skipped, since "
                f"cells of this file go over several lines (line {self.several})",
                hint="correct that line",
            )


def rewrite_rows(
    file: Path, text: Path, copy: Path, found: Found, reading: ReadOptions
) -> tuple[SkippedRows | None, BlankLines]:
    """Write the records of a file as DuckDB reads them without doubt.

    Parameters
    ----------
    file, text, copy
        The file to name, its text in UTF-8, and where to write.
    found, reading
        Its layout, and what was told about it.

    Raises
    ------
    SurveyError
        A row has another number of fields or a broken quote, and is not to be left out,
        or cannot be: with a broken quote only its first line is, and reading goes on at
        the next, which must not be the inside of a cell.
    """
    width, blank = len(found.header), BlankLines()
    bad = _BadRows(file, width, skip=reading.bad_rows == "skip")
    try:
        with (
            decoding.reading(file),
            text.open(encoding="utf-8-sig", newline="") as source,
            copy.open("w", encoding="utf-8", newline="") as target,
        ):
            out = csv.writer(target, quoting=csv.QUOTE_ALL, lineterminator="\n")
            out.writerow([f"f{i}" for i in range(width)])
            lines = _Lines(file, source)
            next(islice(lines, found.n_lines, found.n_lines), None)
            for line, row in _good_rows(lines, found, reading, bad, blank):
                size = out.writerow(row)
                if size > LONGEST // 4 and len(",".join(row).encode()) > LONGEST:
                    raise _too_long(file, line)
    except UnicodeDecodeError:
        raise decoding.checked(text, file) or SurveyError(f"{file}: not UTF-8 text") from None
    if bad.count and not bad.skip:
        raise bad.error()
    skipped = SkippedRows(bad.count, bad.first[:_TOLD]) if bad.count else None
    return skipped, blank


def _good_rows(
    lines: _Lines, found: Found, reading: ReadOptions, bad: _BadRows, blank: BlankLines
) -> Iterator[tuple[int, list[str]]]:
    """Give the rows of the header's width, each with its first line."""
    rows = split(lines, found.delimiter, reading, strict=True)
    while True:
        line = lines.n + 1
        lines.record.clear()
        try:
            row = next(rows, None)
        except csv.Error:
            bad.add(SkippedRow(line, None, shown(lines.record[0], most=60)))
            bad.broken = bad.broken or line
            bad.refuse_doubt()
            lines.keep_first()
            continue
        if row is None:
            return
        if not row and bad.width > 1:
            blank.lines.append(line)
            continue
        blank.add_row()
        if lines.n > line:
            bad.several = bad.several or line
            bad.refuse_doubt()
        if len(row) == bad.width:
            yield line, row
        elif len(row) == bad.width + 1 and not row[-1]:  # as DuckDB has it
            yield line, row[:-1]
        elif row:
            bad.add(SkippedRow(line, len(row), shown(lines.record[0], most=60)))
        else:
            yield line, [""]


def blank_lines(text: Path, found: Found, reading: ReadOptions) -> BlankLines:
    """Find the blank lines that DuckDB leaves out of a UTF-8 file without a word.

    Parameters
    ----------
    text
        The file that DuckDB reads itself.
    found, reading
        Its layout, and what was told about it.

    Notes
    -----
    Most files have none, which a search of their bytes shows (0.5 to 1 GB/s); what lies in
    a quoted cell and what between rows, the records of any other tell (about 0.1 GB/s).
    """
    blank = BlankLines()
    if len(found.header) == 1 or not _has_two_ends(text):
        return blank
    with (
        text.open(encoding="utf-8-sig", errors="replace", newline="") as source,
        suppress(csv.Error),  # DuckDB says what is wrong
    ):
        rows = split(source, found.delimiter, reading, strict=False)
        for row in rows:
            if rows.line_num <= found.n_lines:
                continue
            if row:
                blank.add_row()
            else:
                blank.lines.append(rows.line_num)
    return blank


def _has_two_ends(text: Path) -> bool:
    """Return whether one line end follows another, but at the end of a file."""
    with text.open("rb") as source:
        last = max(source.seek(0, os.SEEK_END) - _CHUNK, 0)
        source.seek(last)
        left = last + len(source.read().rstrip(b"\r\n"))
        source.seek(0)
        before = b""
        while chunk := source.read(min(_CHUNK, left)):
            left -= len(chunk)
            there = before + chunk
            if b"\n\n" in there or (
                b"\r" in there and (b"\n\r\n" in there or b"\r\r" in there)
            ):
                return True
            before = there[-2:]
    return False


def _places(lines: Sequence[int]) -> str:
    return f"line{'s' * (len(lines) > 1)} {listed(lines)}"


def _too_long(file: Path, line: int) -> SurveyError:
    return SurveyError(f"{file}, line {line}: longer than {LONGEST:,} bytes")


def ragged(file: str, lines: list[tuple[int, str]], width: int, hint: str) -> SurveyError:
    """Return the error that lists lines, each with its number of fields."""
    places = _places([line for line, _ in lines])
    found = listed(dict.fromkeys(found for _, found in lines))
    return SurveyError(
        f"{file}, {places}: {found} field{'s' * (found != '1')} where the header has {width}",
        hint=hint,
    )
