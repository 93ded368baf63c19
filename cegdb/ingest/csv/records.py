"""The records of a CSV file, read strictly by Python and written again for DuckDB.

A malformed row is an error, or left out and reported. In a file of one column a blank
line is a row with a blank cell; in any other it is left out and reported.
"""

from __future__ import annotations

import csv
import io
import os
import re
from bisect import bisect_left
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from cegdb.errors import SurveyError, counted, listed
from cegdb.ingest.csv import decoding
from cegdb.ingest.csv.dialect import CsvLayout, csv_rows
from cegdb.ingest.files.cell_labels import abbreviated
from cegdb.options import ReadOptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import TextIO

LONGEST: Final = 1 << 21  # DuckDB's limit for one line, and ours for the header
MOST_LISTED: Final = 1000
_SKIP: Final = "pass bad_rows='skip' (on the command line --bad-rows skip)"
SKIP_HINT: Final = f"correct the file, or {_SKIP}"

_QUOTE_HINT: Final = (
    "correct the line; if quotes are part of the text, pass quote='' (on the command line "
    '--quote "")'
)
_UNFINISHED: Final = "unexpected end of data"  # what csv says at the end of a file
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_MOST_SHOWN: Final = 10
_BLOCK: Final = 1 << 20


class QuoteFault(NamedTuple):
    """A quote that is not closed, or closed within a cell: its line, and what is wrong."""

    line: int
    text: str


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
        fault = quote_fault(record.text, record.line, layout.delimiter, options)
        if fault:
            raise SurveyError(f"{file}, line {fault.line}: {fault.text}", hint=_QUOTE_HINT)


def quote_fault(
    text: str, first_line: int, delimiter: str, options: ReadOptions
) -> QuoteFault | None:
    """Return what is wrong with the quotes of a record, None if nothing is.

    The cell with the fault is the last one of the longest start that can be read.
    """

    def error(length: int) -> str:
        lines = io.StringIO(text[:length], newline="")
        try:
            list(csv_rows(lines, delimiter, options, strict=True))
        except csv.Error as caught:
            return str(caught)
        return ""

    found = error(len(text))
    if not found:
        return None
    readable = text
    if found != _UNFINISHED:
        end = bisect_left(
            range(len(text)), 1, key=lambda n: int(error(n) not in ("", _UNFINISHED))
        )
        readable = text[: end - 1]
    lines = io.StringIO(readable, newline="")
    *_, (*_, cell) = csv_rows(lines, delimiter, options, strict=False)
    last_line = first_line + len(_LINE_END.findall(readable))
    line = last_line - len(_LINE_END.findall(cell))
    if found == _UNFINISHED:
        return QuoteFault(line, "the quote opened here is never closed")
    if "field limit" in found:
        return QuoteFault(
            line, f"the quote opened here is not closed within {LONGEST:,} characters"
        )
    if line == last_line:
        return QuoteFault(line, "the closing quote of a cell is followed by more text")
    return QuoteFault(
        line, f"the quote opened here is closed within a cell of line {last_line}"
    )


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
        self.quote_fault: QuoteFault | None = None
        self.multiline_row = 0

    def add(self, row: SkippedRow) -> None:
        """Count a row."""
        self.count += 1
        if len(self.first) < MOST_LISTED:
            self.first.append(row)
        if not self.skip and (row.n_fields is None or self.count == MOST_LISTED):
            raise self.error()

    def error(self) -> SurveyError:
        """Return the error to raise where rows are not left out."""
        lines = [(row.line, row.n_fields) for row in self.first if row.n_fields]
        fault = self.quote_fault
        if fault is None:
            return ragged_rows(str(self.file), lines, self.width, SKIP_HINT)
        message = f"{self.file}, line {fault.line}: {fault.text}"
        if lines:
            message += f"; above it, {_sizes(lines)} where the header has {self.width}"
        return SurveyError(message, hint=f"{_QUOTE_HINT}; or {_SKIP}")

    def add_broken_quote(self, fault: QuoteFault, row: SkippedRow) -> None:
        """Count a row with a broken quote."""
        self.quote_fault = self.quote_fault or fault
        if fault.line > row.line:
            self.add_multiline(row.line)
        self.refuse_ambiguity()
        self.add(row)

    def add_multiline(self, line: int) -> None:
        """Note a row of several lines."""
        self.multiline_row = self.multiline_row or line
        self.refuse_ambiguity()

    def refuse_ambiguity(self) -> None:
        """Refuse to skip rows of a file with a broken quote and also cells of several lines.

        Reading goes on at the line below the quote, which may be the inside of a cell.
        """
        if self.skip and self.quote_fault and self.multiline_row:
            raise SurveyError(
                f"{self.file}, line {self.quote_fault.line}: {self.quote_fault.text}; the line "
                "cannot be skipped, because cells of this file span several lines "
                f"(line {self.multiline_row})",
                hint=_QUOTE_HINT,
            )


def file_rows(text: str, title: str, delimiter: str, first_line: int = 1) -> list[list[str]]:
    """Return all rows of a small file, of which ``text`` starts at a line."""
    options = ReadOptions()
    with cells_of_any_length():
        fault = quote_fault(text, first_line, delimiter, options)
        if fault:
            raise SurveyError(
                f"{title}, line {fault.line}: {fault.text}",
                hint="correct the line; quotes inside a quoted cell are doubled",
            )
        lines = io.StringIO(text, newline="")
        return list(csv_rows(lines, delimiter, options, strict=True))


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
            text = "".join(lines.record)
            fault = quote_fault(text, line, layout.delimiter, options)
            bad.add_broken_quote(
                fault or QuoteFault(line, "a quote is not closed"),
                SkippedRow(line, None, abbreviated(lines.record[0], most=60)),
            )
            lines.push_back()
            continue
        if row is None:
            return
        if not row and bad.width > 1:
            blank.lines.append(line)
            continue
        blank.add_row()
        if lines.n > line:
            bad.add_multiline(line)
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


def _line_list(lines: Sequence[int], *, has_unseen: bool = False) -> str:
    return f"line{'s' * (len(lines) > 1)} {listed(lines, has_unseen=has_unseen)}"


def _too_long(file: Path, line: int) -> SurveyError:
    return SurveyError(f"{file}, line {line}: longer than {LONGEST:,} bytes")


def ragged_rows(file: str, lines: list[tuple[int, int]], width: int, hint: str) -> SurveyError:
    """Return the error that lists lines, each with its number of fields.

    After the first `MOST_LISTED` lines the file was not read.
    """
    has_unseen = len(lines) >= MOST_LISTED
    sizes = {size for _, size in lines}
    if len(sizes) == 1:
        numbers = _line_list([line for line, _ in lines], has_unseen=has_unseen)
        message = f", {numbers}: {counted(lines[0][1], 'field')} where the header has {width}"
    else:
        message = f": {_sizes(lines, has_unseen=has_unseen)}; the header has {width}"
    return SurveyError(f"{file}{message}", hint=hint)


def _sizes(lines: list[tuple[int, int]], *, has_unseen: bool = False) -> str:
    texts = (f"line {line} has {counted(size, 'field')}" for line, size in lines)
    return listed(texts, has_unseen=has_unseen)
