"""Read a CSV file: its encoding and dialect found or given, its rows read by DuckDB.

Every cell is text, and a line of another shape is an error that names it. What DuckDB
would misread or does not know is written again, by Python's ``csv``, as it cannot.
"""

from __future__ import annotations

import codecs
import re
import tempfile
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import duckdb

from cegdb.errors import SurveyError
from cegdb.ingest.csv import decoding
from cegdb.ingest.csv.decoding import Compression, compression_of
from cegdb.ingest.csv.dialect import Found, sniff
from cegdb.ingest.csv.records import (
    LISTED,
    LONGEST,
    SKIPPING,
    UNCLOSED,
    SkippedRow,
    SkippedRows,
    blank_lines,
    cells_of_any_length,
    check_header,
    ragged,
    rewrite_rows,
)
from cegdb.ingest.files.cell_labels import shown

if TYPE_CHECKING:
    from contextlib import ExitStack

    from cegdb.options import ReadOptions

__all__ = [
    "MisreadError",
    "Reader",
    "SkippedRow",
    "SkippedRows",
    "compression_of",
    "explain",
    "path_literal",
    "reader",
]

_DIRECT: Final = ",;\t|^~:\x1f\x01"


class MisreadError(SurveyError):
    """DuckDB cannot read the file itself, but can when its rows are written again."""


class Reader(NamedTuple):
    """What reads a CSV file: the names in its header, and DuckDB's table function.

    ``notes`` are sentences for the receipt; ``dialect`` is what was used, by name;
    ``skipped`` is None if no row was left out; ``size`` is that of the text in bytes. The
    rest is for `explain`.
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


def reader(
    file: Path,
    scratch: ExitStack,
    reading: ReadOptions,
    compression: Compression,
    *,
    rewrite: bool = False,
) -> Reader:
    r"""Find out how a CSV file is written, and return what reads it.

    A plain UTF-8 file is searched for blank lines here; any other is copied.

    Parameters
    ----------
    file
        The file.
    scratch
        Owns the copy made where DuckDB cannot read the file itself.
    reading
        What is told about it.
    compression
        What `compression_of` found.
    rewrite
        Write the rows again in any case: after a `MisreadError`.

    Raises
    ------
    SurveyError
        It is not text in the encoding, has no header, is damaged, or has a bad row where
        it is copied.

    Examples
    --------
    >>> from contextlib import ExitStack
    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile(suffix=".csv") as file, ExitStack() as scratch:
    ...     _ = file.write(b"sex;vote\nF;Yes\n")
    ...     file.flush()
    ...     found = reader(Path(file.name), scratch, ReadOptions(), "none")
    >>> found.header, found.dialect["delimiter"]
    (['sex', 'vote'], ';')
    """
    plain = decoding.as_text(file, scratch, reading.encoding, compression)
    with cells_of_any_length():
        text, found = _sniffed(file, plain, reading)
        notes = [*_notes(found, reading), *plain.notes]
        skipped = None
        read, delimiter = plain.file, found.delimiter
        is_rewritten = rewrite or _needs_rewriting(plain, text, found, reading)
        if is_rewritten:
            folder = scratch.enter_context(tempfile.TemporaryDirectory(prefix="cegdb-"))
            read, delimiter = Path(folder) / "rows.csv", ","
            skipped, blank = rewrite_rows(file, plain.file, read, found, reading)
            if plain.file != file:
                plain.file.unlink()
        else:
            with decoding.reading(file):
                blank = blank_lines(plain.file, found, reading)
    dialect = {
        "encoding": reading.encoding or plain.encoding,
        "delimiter": found.delimiter,
        "quote": '"' if reading.quote is None else reading.quote,
        "escape": reading.escape or "",
        "compression": compression,
        "line_ends": found.line_ends,
    }
    sql = _read_csv(read, delimiter, len(found.header))
    notes += blank.notes
    size = read.stat().st_size
    return Reader(
        found.header, sql, notes, dialect, skipped, size, file, plain.file, is_rewritten
    )


def _sniffed(file: Path, plain: decoding.Text, reading: ReadOptions) -> tuple[str, Found]:
    """Return the start of a file as text, and its layout."""
    size = decoding.SNIFFED
    while True:
        start, more = decoding.start_of(plain.file, size)
        text = decoding.decoded(file, start, more=more).removesuffix("\r" if more else "")
        found = sniff(file, text, reading, more=more)
        if found is not None or not more or size >= LONGEST:
            break
        size *= 4
    if found is None or not any(cell.strip() for cell in found.header):
        raise SurveyError(f"{file} has no header line")
    if decoding.CONTROL.search("".join(found.header)):
        raise decoding.binary(file, start)
    check_header(file, found, reading)
    return text, found


def _needs_rewriting(
    plain: decoding.Text, text: str, found: Found, reading: ReadOptions
) -> bool:
    """Return whether DuckDB would misread the file, or has to leave out rows.

    It takes the first line end it meets, quoted or not, for that of all lines, and finds
    no rows where the others differ; it takes blank lines for a header; below a byte order
    mark it looks for the end of the header without regard to quotes; a quote after a blank
    opens a cell.
    """
    header = found.records[found.at].text
    first = re.search(r"\r\n|\n|\r", text)
    is_split = first is not None and text[: first.start()].count('"') % 2 == 1
    return bool(
        len(found.ends | ({first[0]} if first else set())) > 1
        or found.at
        or (is_split and plain.start.startswith(codecs.BOM_UTF8))
        or text.startswith("\ufeff")
        or ' "' in header
        or '" ' in header
        or found.delimiter not in _DIRECT
        or reading.quote not in (None, '"')
        or reading.escape
        or reading.bad_rows == "skip"
    )


def _notes(found: Found, reading: ReadOptions) -> list[str]:
    notes = [
        f"line {record.line} above the header was skipped: "
        f"{shown(found.delimiter.join(record.fields))!r}"
        for record in found.above
    ]
    if found.is_rare:
        notes.append(
            f"the fields were split at {found.delimiter!r}: if that is wrong, pass delimiter="
        )
    if reading.quote is None and _wrapped(found.header):
        notes.append("all names in the header are in single quotes: if they quote cells, "
                     'pass quote="\'"')  # fmt: skip
    return notes


def _wrapped(header: list[str]) -> bool:
    return all(len(c) > 1 and c[0] == c[-1] == "'" for c in header)


def _read_csv(file: Path, delimiter: str, width: int) -> str:
    columns = ", ".join(f"'f{i}': 'VARCHAR'" for i in range(width))
    return (
        f"read_csv({path_literal(file)}, auto_detect = false, header = true, "
        f"delim = '{delimiter}', quote = '\"', escape = '\"', strict_mode = true, "
        f"compression = 'none', columns = {{{columns}}})"
    )


def path_literal(file: Path) -> str:
    """Return a path as an SQL literal that DuckDB does not take for a pattern.

    Examples
    --------
    >>> path_literal(Path("it's [1].csv"))
    "'it''s [[]1].csv'"
    """
    plain = "".join(f"[{char}]" if char in "[*?" else char for char in str(file))
    return "'" + plain.replace("'", "''") + "'"


# -----------------------------------------------------------------------------
# What DuckDB could not read
# -----------------------------------------------------------------------------


def explain(con: duckdb.DuckDBPyConnection, reader: Reader, text: str) -> SurveyError:
    """Say in the file's words what DuckDB could not read.

    Parameters
    ----------
    con
        A connection to the same database; its transaction may be aborted.
    reader
        What reads the file.
    text
        DuckDB's message.
    """
    line = None if reader.is_rewritten else re.search(r"Line: (\d+)", text)
    where = f"{reader.file}, line {line[1]}" if line else str(reader.file)
    if "Expected Number of Columns" in text:
        width, hint = len(reader.header), SKIPPING
        if _wrapped(reader.header):
            hint = f'cells are in single quotes: pass quote="\'"; or {hint}'
        lines = _rejected(con, reader)
        return ragged(
            str(reader.file), lines or [(int(line[1]) if line else 0, "other")], width, hint
        )
    if "unterminated quote" in text:
        return SurveyError(f"{where}: {UNCLOSED}", hint=SKIPPING)
    if "Maximum line size" in text:
        return SurveyError(f"{where}: longer than {LONGEST:,} bytes")
    if "state machine" in text or "Parallel CSV Reader" in text:
        kind = SurveyError if reader.is_rewritten else MisreadError
        return kind(
            f"{where}: its lines end in different ways, or a quote is not closed",
            hint="save the file with one kind of line end",
        )
    if "unicode" in text.lower() or "utf-8" in text.lower():
        error = decoding.checked(reader.text, reader.file)
        return error or SurveyError(f"{where}: not UTF-8 text")
    return SurveyError(f"{where} cannot be read: {text.strip().splitlines()[0]}")


def _rejected(con: duckdb.DuckDBPyConnection, reader: Reader) -> list[tuple[int, str]]:
    """List the lines of another shape, reading the file once more on its own connection."""
    rejecting = reader.sql.removesuffix(")") + (
        f", store_rejects = true, rejects_limit = {LISTED})"
    )
    with suppress(duckdb.Error), closing(con.cursor()) as other:
        other.execute(f"select count(columns(*)) from {rejecting}").fetchall()  # noqa: S608
        rows = other.execute(
            "select line, max(error_message) from reject_errors group by line order by line"
        ).fetchall()
        fields = [re.search(r"Found: (\d+)", str(message)) for _, message in rows]
        return [
            (line, found[1] if found else "unclear")
            for (line, _), found in zip(rows, fields, strict=True)
        ]
    return []
