"""The records of a CSV file, read strictly by Python and written again for DuckDB.

A malformed row is an error, or left out and reported. In a file of one column a blank
line is a row with a blank cell; in any other it is left out and reported.
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
from cegdb.ingest.csv.dialect import CsvLayout, csv_rows
from cegdb.ingest.files.cell_labels import abbreviated

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import TextIO

    from cegdb.options import ReadOptions

LONGEST: Final = 1 << 21  # DuckDB's limit for one line, and ours for the header
MOST_LISTED: Final = 1000
BAD_QUOTE: Final = "a quote is opened and not closed, or closed too early"
SKIP_HINT: Final = (
    "correct the file, or pass bad_rows='skip' (on the command line --bad-rows skip)"
)

_MOST_SHOWN: Final = 10
_BLOCK: Final = 1 << 20


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
    """The blank lines of a file; those between rows are reported."""

    lines: list[int] = field(default_factory=list)
    n_above_a_row: int = 0

    def add_row(self) -> None:
        """Note a row: the blank lines so far are above it."""
        self.n_above_a_row = len(self.lines)

    @property
    def notes(self) -> list[str]:
        """The sentence for the receipt, if there is a blank line between rows."""
        between = self.lines[: self.n_above_a_row]
        if not between:
            return []
        return [f"{counted(len(between), 'blank line')} left out: {_line_list(between)}"]


@contextmanager
def cells_of_any_length() -> Iterator[None]:
    """Let ``csv`` read cells as long as a line may be; its own limit is 131,072."""
    limit = csv.field_size_limit(LONGEST)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def check_header(file: Path, layout: CsvLayout, options: ReadOptions) -> None:
    """Refuse a broken quote in or above the header, which would swallow rows below it."""
    for record in layout.records[: layout.header_index + 1]:
        try:
            list(csv_rows(record.lines, layout.delimiter, options, strict=True))
        except csv.Error:
            raise SurveyError(f"{file}, line {record.line}: {BAD_QUOTE}") from None


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

    def push_back(self) -> None:
        """Give back all lines of the record but its first."""
        self._again += reversed(self.record[1:])
        self.n -= len(self.record) - 1
        del self.record[1:]


class _BadRows:
    """Rows that cannot be read: an error, or left out and counted."""

    def __init__(self, file: Path, width: int, *, skip: bool) -> None:
        self.file, self.width, self.skip = file, width, skip
        self.count = 0
        self.first: list[SkippedRow] = []
        self.broken_quote_line = self.multiline_row = 0

    def add(self, row: SkippedRow) -> None:
        """Count a row."""
        self.count += 1
        if len(self.first) < MOST_LISTED:
            self.first.append(row)
        if not self.skip and (row.n_fields is None or self.count == MOST_LISTED):
            raise self.error()

    def error(self) -> SurveyError:
        """Return the error to raise where rows are not left out."""
        lines = [(row.line, str(row.n_fields)) for row in self.first if row.n_fields]
        if lines:
            return ragged_rows(str(self.file), lines, self.width, SKIP_HINT)
        return SurveyError(
            f"{self.file}, line {self.first[0].line}: {BAD_QUOTE}", hint=SKIP_HINT
        )

    def refuse_ambiguity(self) -> None:
        """Refuse a file with a broken quote and also cells of several lines.

        Reading goes on at the line below the quote, which may be the inside of a cell.
        """
        if self.broken_quote_line and self.multiline_row:
            raise SurveyError(
                f"{self.file}, line {self.broken_quote_line}: {BAD_QUOTE}; the line cannot be "
                "skipped, because cells of this file span several lines "
                f"(line {self.multiline_row})",
                hint="correct that line",
            )


def rewrite_rows(
    file: Path, text: Path, copy: Path, layout: CsvLayout, options: ReadOptions
) -> tuple[SkippedRows | None, BlankLines]:
    """Write the records of ``text`` to ``copy`` in the one form that DuckDB cannot misread.

    ``file`` is the name for messages.
    """
    width, blank = len(layout.header), BlankLines()
    bad = _BadRows(file, width, skip=options.bad_rows == "skip")
    try:
        with (
            decoding.file_errors(file),
            text.open(encoding="utf-8-sig", newline="") as source,
            copy.open("w", encoding="utf-8", newline="") as target,
        ):
            out = csv.writer(target, quoting=csv.QUOTE_ALL, lineterminator="\n")
            out.writerow([f"f{i}" for i in range(width)])
            lines = _Lines(file, source)
            next(islice(lines, layout.n_header_lines, layout.n_header_lines), None)
            for line, row in _good_rows(lines, layout, options, bad, blank):
                size = out.writerow(row)
                if size > LONGEST // 4 and len(",".join(row).encode()) > LONGEST:
                    raise _too_long(file, line)
    except UnicodeDecodeError:
        raise decoding.not_utf8(text, file) from None
    if bad.count and not bad.skip:
        raise bad.error()
    skipped = SkippedRows(bad.count, bad.first[:_MOST_SHOWN]) if bad.count else None
    return skipped, blank


def _good_rows(
    lines: _Lines, layout: CsvLayout, options: ReadOptions, bad: _BadRows, blank: BlankLines
) -> Iterator[tuple[int, list[str]]]:
    """Give the rows of the header's width, each with its first line."""
    rows = csv_rows(lines, layout.delimiter, options, strict=True)
    while True:
        line = lines.n + 1
        lines.record.clear()
        try:
            row = next(rows, None)
        except csv.Error:
            # Skip only the first line of the broken record: the rest may be good rows.
            bad.add(SkippedRow(line, None, abbreviated(lines.record[0], most=60)))
            bad.broken_quote_line = bad.broken_quote_line or line
            bad.refuse_ambiguity()
            lines.push_back()
            continue
        if row is None:
            return
        if not row and bad.width > 1:
            blank.lines.append(line)
            continue
        blank.add_row()
        if lines.n > line:
            bad.multiline_row = bad.multiline_row or line
            bad.refuse_ambiguity()
        if len(row) == bad.width:
            yield line, row
        elif len(row) == bad.width + 1 and not row[-1]:  # DuckDB allows a delimiter at the end
            yield line, row[:-1]
        elif row:
            bad.add(SkippedRow(line, len(row), abbreviated(lines.record[0], most=60)))
        else:
            yield line, [""]


def blank_lines(
    text: Path, layout: CsvLayout, options: ReadOptions, *, block_size: int = _BLOCK
) -> BlankLines:
    """Find the blank lines of a UTF-8 file, which DuckDB leaves out silently.

    Most files have none, which a search of their bytes shows (0.5 to 1 GB/s). Only in the
    others are records read (about 0.1 GB/s), since a quoted cell may hold a blank line.
    """
    blank = BlankLines()
    if len(layout.header) == 1 or not _has_blank_line(text, block_size):
        return blank
    with (
        text.open(encoding="utf-8-sig", errors="replace", newline="") as source,
        suppress(csv.Error),  # DuckDB says what is wrong
    ):
        rows = csv_rows(source, layout.delimiter, options, strict=False)
        for row in rows:
            if rows.line_num <= layout.n_header_lines:
                continue
            if row:
                blank.add_row()
            else:
                blank.lines.append(rows.line_num)
    return blank


def _has_blank_line(text: Path, block_size: int) -> bool:
    """Return whether one line end follows another before the end of a file."""
    with text.open("rb") as source:
        last = max(source.seek(0, os.SEEK_END) - block_size, 0)
        source.seek(last)
        left = last + len(source.read().rstrip(b"\r\n"))
        source.seek(0)
        end_of_last = b""
        while block := source.read(min(block_size, left)):
            left -= len(block)
            part = end_of_last + block
            if b"\n\n" in part or (b"\r" in part and (b"\n\r\n" in part or b"\r\r" in part)):
                return True
            end_of_last = part[-2:]
    return False


def _line_list(lines: Sequence[int]) -> str:
    return f"line{'s' * (len(lines) > 1)} {listed(lines)}"


def _too_long(file: Path, line: int) -> SurveyError:
    return SurveyError(f"{file}, line {line}: longer than {LONGEST:,} bytes")


def ragged_rows(file: str, lines: list[tuple[int, str]], width: int, hint: str) -> SurveyError:
    """Return the error that lists lines, each with its number of fields."""
    sizes = dict.fromkeys(size for _, size in lines)
    if len(sizes) == 1:
        numbers = _line_list([line for line, _ in lines])
        message = f", {numbers}: {_field_count(*sizes)} where the header has {width}"
    else:
        numbers = listed(f"line {line} has {_field_count(size)}" for line, size in lines)
        message = f": {numbers}; the header has {width}"
    if len(lines) >= MOST_LISTED:  # the rest was not read
        message = message.replace(" and ", " and at least ")
    return SurveyError(f"{file}{message}", hint=hint)


def _field_count(size: str) -> str:
    """Return how many fields a line has; an unclosed quote leaves it unclear."""
    return f"{'an unclear number of' if size == 'unclear' else size} field{'s' * (size != '1')}"
