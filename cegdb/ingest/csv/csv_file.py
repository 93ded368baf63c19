"""Read a CSV file: detect its encoding and layout, then let DuckDB read its rows.

Every cell is text, and a malformed row is an error that names its line. A file that
DuckDB would misread is written again first, with Python's ``csv``.
"""

from __future__ import annotations

import codecs
import re
import tempfile
from contextlib import ExitStack, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import duckdb

from cegdb.errors import SurveyError
from cegdb.ingest.csv import decoding
from cegdb.ingest.csv.decoding import Compression, compression_of
from cegdb.ingest.csv.dialect import CsvLayout, detect_layout
from cegdb.ingest.csv.records import (
    LONGEST,
    MOST_LISTED,
    SKIP_HINT,
    SkippedRow,
    SkippedRows,
    blank_lines,
    cells_of_any_length,
    check_header,
    ragged_rows,
    rewrite_rows,
)
from cegdb.ingest.files.cell_labels import abbreviated
from cegdb.store.progress import quiet_cursor

if TYPE_CHECKING:
    from collections.abc import Callable

    from cegdb.options import ReadOptions

__all__ = [
    "CsvFile",
    "MisreadError",
    "SkippedRow",
    "SkippedRows",
    "compression_of",
    "explain_error",
    "kept_copy",
    "open_csv",
    "path_literal",
    "retry_rewritten",
]

_T = TypeVar("_T")

#: Parts of DuckDB's messages about files that Python reads, or refuses with better reasons.
_MISREAD: Final = (
    "Expected Number of Columns",
    "unterminated quote",
    "state machine",
    "Parallel CSV Reader",
)
_DUCKDB_DELIMITERS: Final = ",;\t|^~:\x1f\x01"


class MisreadError(SurveyError):
    """DuckDB cannot read the file itself, but can when its rows are written again."""


class _Kept:
    """What lasts until both tries to read a source are over: the copy of a stream."""

    def __init__(self, stack: ExitStack) -> None:
        self.stack = stack
        self.copy: tuple[Path, bool] | None = None


_KEPT: Final[ContextVar[_Kept]] = ContextVar("_KEPT")


def retry_rewritten(read: Callable[..., _T]) -> _T:
    """Call ``read`` with ``rewrite`` false; if DuckDB misreads the file, with true."""
    with ExitStack() as stack:
        token = _KEPT.set(_Kept(stack))
        stack.callback(_KEPT.reset, token)
        try:
            return read(rewrite=False)
        except MisreadError:
            return read(rewrite=True)


def kept_copy(stack: ExitStack, copy_to: Callable[[Path], bool]) -> tuple[Path, bool]:
    """Return a file with what a stream held, and what ``copy_to`` says of it.

    A stream is read only once: the file lasts as long as ``stack``, or as `retry_rewritten`.
    """
    kept = _KEPT.get(_Kept(stack))
    if kept.copy is None:
        folder = kept.stack.enter_context(tempfile.TemporaryDirectory(prefix="cegdb-"))
        file = Path(folder) / "copy"
        kept.copy = file, copy_to(file)
    return kept.copy


class CsvFile(NamedTuple):
    """A CSV file: the names in its header, and DuckDB's table function that reads it.

    ``notes`` are sentences for the receipt, ``dialect`` is what was used, ``skipped`` is None
    if no row was left out, ``size`` is that of the text in bytes.
    """

    header: list[str]
    sql: str
    notes: list[str]
    dialect: dict[str, str]
    skipped: SkippedRows | None
    size: int
    file: Path
    text: Path
    is_rewritten: bool


def open_csv(
    file: Path,
    scratch: ExitStack,
    options: ReadOptions,
    compression: Compression,
    *,
    rewrite: bool = False,
) -> CsvFile:
    """Detect how a CSV file is written, and return what reads it.

    ``scratch`` owns the copy made where DuckDB cannot read the file itself; with ``rewrite``
    (after a `MisreadError`) one is made in any case.
    """
    decoded = decoding.decode_file(file, scratch, options.encoding, compression)
    with cells_of_any_length():
        start, layout = _detected(file, decoded, options)
        notes = [*_layout_notes(layout, options), *decoded.notes]
        skipped = None
        source, delimiter = decoded.file, layout.delimiter
        is_rewritten = rewrite or _needs_rewriting(decoded, start, layout, options)
        if is_rewritten:
            folder = scratch.enter_context(tempfile.TemporaryDirectory(prefix="cegdb-"))
            source, delimiter = Path(folder) / "rows.csv", ","
            skipped, blank = rewrite_rows(file, decoded.file, source, layout, options)
            if decoded.file != file:
                decoded.file.unlink()
        else:
            with decoding.file_errors(file):
                blank = blank_lines(decoded.file, layout, options)
    dialect = {
        "encoding": options.encoding or decoded.encoding,
        "delimiter": layout.delimiter,
        "quote": '"' if options.quote is None else options.quote,
        "escape": options.escape or "",
        "compression": compression,
        "line_ends": layout.line_end_names,
    }
    sql = _read_csv(source, delimiter, len(layout.header))
    notes += blank.notes
    size = source.stat().st_size
    return CsvFile(
        layout.header, sql, notes, dialect, skipped, size, file, decoded.file, is_rewritten
    )


def _detected(
    file: Path, decoded: decoding.DecodedFile, options: ReadOptions
) -> tuple[str, CsvLayout]:
    """Return the start of a file as text, and its layout; a long header takes a longer one."""
    size = decoding.START_SIZE
    while True:
        start, has_more = decoding.read_start(decoded.file, size)
        text = decoding.decode_start(file, start, has_more=has_more)
        text = text.removesuffix("\r" if has_more else "")
        layout = detect_layout(file, text, options, has_more=has_more)
        if layout is not None or not has_more or size >= LONGEST:
            break
        size *= 4
    if layout is None or not any(cell.strip() for cell in layout.header):
        raise SurveyError(f"{file} has no header line")
    if decoding.CONTROL.search("".join(layout.header)):
        raise decoding.binary_error(file, start)
    check_header(file, layout, options)
    return text, layout


def _needs_rewriting(
    decoded: decoding.DecodedFile, start: str, layout: CsvLayout, options: ReadOptions
) -> bool:
    """Return whether DuckDB would misread the file, or has to leave out rows.

    DuckDB takes the first line end it meets, quoted or not, for that of all lines, and finds
    no rows where the others differ; takes blank lines for a header; looks for the end of the
    header below a byte order mark without regard to quotes; lets a quote after a space open
    a cell.
    """
    header = layout.records[layout.header_index].text
    first_end = re.search(r"\r\n|\n|\r", start)
    is_end_quoted = first_end is not None and start[: first_end.start()].count('"') % 2 == 1
    return bool(
        len(layout.line_ends | ({first_end[0]} if first_end else set())) > 1
        or layout.header_index
        or (is_end_quoted and decoded.start.startswith(codecs.BOM_UTF8))
        or start.startswith("\ufeff")
        or ' "' in header
        or '" ' in header
        or layout.delimiter not in _DUCKDB_DELIMITERS
        or options.quote not in (None, '"')
        or options.escape
        or options.bad_rows == "skip"
    )


def _layout_notes(layout: CsvLayout, options: ReadOptions) -> list[str]:
    notes = [
        f"line {record.line} above the header was skipped: "
        f"{abbreviated(layout.delimiter.join(record.fields))!r}"
        for record in layout.titles
    ]
    if layout.is_rare:
        notes.append(
            f"fields were split at {layout.delimiter!r}; if that is wrong, pass delimiter="
        )
    if options.quote is None and _is_single_quoted(layout.header):
        notes.append(
            "all names in the header are in single quotes; if cells are quoted with these, "
            'pass quote="\'"'
        )
    return notes


def _is_single_quoted(header: list[str]) -> bool:
    return all(len(name) > 1 and name[0] == name[-1] == "'" for name in header)


def _read_csv(file: Path, delimiter: str, width: int) -> str:
    columns = ", ".join(f"'f{i}': 'VARCHAR'" for i in range(width))
    return (
        f"read_csv({path_literal(file)}, auto_detect = false, header = true, "
        f"delim = '{delimiter}', quote = '\"', escape = '\"', strict_mode = true, "
        f"compression = 'none', columns = {{{columns}}})"
    )


def path_literal(file: Path) -> str:
    """Return a path as an SQL literal that DuckDB does not take for a pattern."""
    plain = "".join(f"[{char}]" if char in "[*?" else char for char in str(file))
    return "'" + plain.replace("'", "''") + "'"


# -----------------------------------------------------------------------------
# What DuckDB could not read
# -----------------------------------------------------------------------------


def explain_error(con: duckdb.DuckDBPyConnection, csv: CsvFile, message: str) -> SurveyError:
    """Put DuckDB's message in the file's terms; the transaction may be aborted."""
    line = None if csv.is_rewritten else re.search(r"Line: (\d+)", message)
    where = f"{csv.file}, line {line[1]}" if line else str(csv.file)
    if "Expected Number of Columns" in message and (lines := _ragged_lines(con, csv)):
        width, hint = len(csv.header), SKIP_HINT
        if _is_single_quoted(csv.header):
            hint = f'cells are in single quotes: pass quote="\'"; or {hint}'
        return ragged_rows(str(csv.file), lines, width, hint)
    if "Maximum line size" in message:
        return SurveyError(f"{where}: longer than {LONGEST:,} bytes")
    if any(text in message for text in _MISREAD) and not csv.is_rewritten:
        return MisreadError(where)
    if "unicode" in message.lower() or "utf-8" in message.lower():
        return decoding.not_utf8(csv.text, csv.file, where)
    return SurveyError(f"{where} cannot be read: {message.strip().splitlines()[0]}")


def _ragged_lines(con: duckdb.DuckDBPyConnection, csv: CsvFile) -> list[tuple[int, int]]:
    """List the malformed lines with their numbers of fields, by a second reading.

    The list is empty if one of them is malformed in another way.
    """
    rejecting = csv.sql.removesuffix(")") + (
        f", store_rejects = true, rejects_limit = {MOST_LISTED})"
    )
    with suppress(duckdb.Error), quiet_cursor(con) as cursor:
        cursor.execute(f"select count(columns(*)) from {rejecting}").fetchall()  # noqa: S608
        rows = cursor.execute(
            "select line, max(error_message) from reject_errors group by line order by line"
        ).fetchall()
        sizes = [re.search(r"Found: (\d+)", str(message)) for _, message in rows]
        lines = [
            (line, int(size[1]))
            for (line, _), size in zip(rows, sizes, strict=True)
            if size is not None
        ]
        return lines if len(lines) == len(rows) else []
    return []
