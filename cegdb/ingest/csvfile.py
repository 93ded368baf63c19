"""Read a CSV file (also gzipped): its dialect found here, its rows read by DuckDB.

The delimiter is the one whose records agree. Nothing is guessed from the rows but that:
every cell is text, and a line of another shape is an error that names it.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import tempfile
import zlib
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, NamedTuple, cast

import duckdb

from cegdb.errors import SurveyError, listed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import ExitStack

_DELIMITERS: Final = (",", ";", "\t", "|")
_SNIFFED: Final = 1 << 16
_LONGEST: Final = 1 << 21  # DuckDB's limit for one line, and ours for the header
_RECORDS: Final = 100
_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1f]")
_ZIP: Final = b"PK\x03\x04"
_BOM: Final = b"\xef\xbb\xbf"
_UNREADABLE: Final = (OSError, EOFError, zlib.error)
_AS_UTF8: Final = "save the file as UTF-8 (it may be latin-1 or cp1252)"


class _Records(NamedTuple):
    """The first records of a file, split at one delimiter."""

    delimiter: str
    header: list[str]
    sizes: list[int]
    n_above: int
    ends: set[str]


class Reader(NamedTuple):
    """What reads a CSV file: the names in its header, and DuckDB's table function."""

    header: list[str]
    sql: str


def reader(file: Path, scratch: ExitStack, *, compressed: bool) -> Reader:
    """Find out how a CSV file is written, and return what reads it.

    Parameters
    ----------
    file
        The file.
    scratch
        Owns the copy made where DuckDB would misread the file itself.
    compressed
        Whether it is gzipped.

    Raises
    ------
    SurveyError
        It is not UTF-8 text, has no header, or its lines are above one.
    """
    size = _SNIFFED
    while True:
        start, more = _start(file, size, compressed=compressed)
        text = _decoded(file, start, more=more).removesuffix("\r" if more else "")
        found = _dialect(text, more=more)
        if found is not None or not more or size >= _LONGEST:
            break
        size *= 4
    if found is None or not any(cell.strip() for cell in found.header):
        raise SurveyError(f"{file} has no header line")
    if _CONTROL.search("".join(found.header)):
        raise _binary(file)
    _refuse_lines_above(file, found)
    # DuckDB takes the first line end it meets, quoted or not, for that of all lines, and
    # finds no rows where the others differ; it takes blank lines for a header.
    first = re.search(r"\r\n|\n|\r", text)
    ends = found.ends | ({first[0]} if first else set())
    if len(ends) > 1 or found.n_above or (start.startswith(_BOM) and _is_split(text, first)):
        folder = scratch.enter_context(tempfile.TemporaryDirectory(prefix="cegdb-"))
        copy = Path(folder) / "copy.csv"
        _rewrite(file, copy, found, compressed=compressed)
        return Reader(found.header, _read_csv(copy, ",", len(found.header), compressed=False))
    sql = _read_csv(file, found.delimiter, len(found.header), compressed=compressed)
    return Reader(found.header, sql)


def _is_split(text: str, first: re.Match[str] | None) -> bool:
    """Return whether the first line ends inside a quoted cell."""
    return first is not None and text[: first.start()].count('"') % 2 == 1


def _read_csv(file: Path, delimiter: str, width: int, *, compressed: bool) -> str:
    columns = ", ".join(f"'f{i}': 'VARCHAR'" for i in range(width))
    return (
        f"read_csv({path_literal(file)}, auto_detect = false, header = true, "
        f"delim = '{delimiter}', quote = '\"', escape = '\"', strict_mode = true, "
        f"compression = '{'gzip' if compressed else 'none'}', columns = {{{columns}}})"
    )


def path_literal(file: Path) -> str:
    """Return a path as an SQL literal that DuckDB does not take for a pattern."""
    plain = "".join(f"[{char}]" if char in "[*?" else char for char in str(file))
    return "'" + plain.replace("'", "''") + "'"


def _bytes_of(file: Path, *, compressed: bool) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(file, "rb")) if compressed else file.open("rb")


def _start(file: Path, size: int, *, compressed: bool) -> tuple[bytes, bool]:
    """Return the first bytes of the text, and whether there are more."""
    try:
        with _bytes_of(file, compressed=compressed) as stream:
            return stream.read(size), bool(stream.read(1))
    except _UNREADABLE as error:
        raise SurveyError(f"{file} cannot be read: {error}") from None


def _decoded(file: Path, start: bytes, *, more: bool) -> str:
    """Return the start of a file as text, refusing what is not UTF-8."""
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise SurveyError(f"{file} is UTF-16 text", hint="save it as UTF-8")
    if start.startswith(_ZIP):
        raise SurveyError(
            f"{file} is a zip archive, or an Excel file",
            hint="unpack it, or save the sheet as CSV",
        )
    try:
        return start.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        whole = more and error.start >= len(start) - 3 and error.end == len(start)
        if not whole:
            if b"\0" in start:
                raise _binary(file) from None
            line = start[: error.start].count(b"\n") + 1
            raise SurveyError(
                f"{file}, line {line}: byte 0x{start[error.start]:02x} is not UTF-8 text",
                hint=_AS_UTF8,
            ) from None
        return start[: error.start].decode("utf-8-sig")


def _binary(file: Path) -> SurveyError:
    return SurveyError(
        f"{file} is not a CSV file: it holds binary data",
        hint="CSV (also .gz) and Parquet can be read",
    )


def _dialect(text: str, *, more: bool) -> _Records | None:
    """Return the records at the delimiter that splits them best; None without a header."""
    best: tuple[tuple[bool, int, bool], _Records] | None = None
    for delimiter in _DELIMITERS:
        found = _records(text, delimiter, more=more)
        if found is None:
            continue
        width = len(found.header)
        agree = all(size == width for size in found.sizes)
        rank = (agree and width > 1, width, agree)
        if best is None or rank > best[0]:
            best = (rank, found)
    if best is None:
        return None
    if len(best[1].header) == 1:
        split = (_records(text, delimiter, more=more) for delimiter in _DELIMITERS)
        for found in split:
            if found and len(set(found.sizes)) == 1 and found.sizes[0] > 1:
                return found
    return best[1]


def _records(text: str, delimiter: str, *, more: bool) -> _Records | None:
    end = ""

    def lines() -> Iterator[str]:
        nonlocal end
        for line in io.StringIO(text, newline=""):
            end = line[len(line.rstrip("\r\n")) :]
            yield line

    header: list[str] = []
    sizes: list[int] = []
    ends: set[str] = set()
    n_above, end_before = 0, ""
    try:
        for record in csv.reader(lines(), delimiter=delimiter):
            ends.add(end_before)
            end_before = end
            if header:
                if record:
                    sizes.append(len(record))
                if len(sizes) > _RECORDS:
                    break
            elif record:
                header = record
            else:
                n_above += 1
    except csv.Error:
        return None
    if not more:
        ends.add(end_before)
    elif sizes:  # the last record may go on
        sizes.pop()
    else:
        return None
    return _Records(delimiter, header, sizes, n_above, ends - {""}) if header else None


def _refuse_lines_above(file: Path, found: _Records) -> None:
    """Refuse a first line of one field above lines that all have the same several ones."""
    if len(found.header) == 1 and found.sizes and min(found.sizes) > 1:
        raise SurveyError(
            f"{file}: the first line has 1 field, the lines after it have {found.sizes[0]}",
            hint="remove the lines above the header; or, if it has one column, quote the cells",
        )


def _rewrite(file: Path, copy: Path, found: _Records, *, compressed: bool) -> None:
    """Write the records of a file as DuckDB reads them without doubt."""
    width = len(found.header)
    try:
        with (
            _bytes_of(file, compressed=compressed) as stream,
            io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as source,
            copy.open("w", encoding="utf-8", newline="") as target,
        ):
            rows = csv.reader(source, delimiter=found.delimiter, strict=True)
            out = csv.writer(target, quoting=csv.QUOTE_ALL, lineterminator="\n")
            out.writerow([f"f{i}" for i in range(width)])
            next(islice(rows, found.n_above, None))
            for row in rows:
                if row and len(row) != width:
                    raise SurveyError(
                        f"{file}, line {rows.line_num}: {len(row)} fields where the header "
                        f"has {width}",
                        hint="correct that line of the file",
                    )
                if row or width == 1:
                    out.writerow(row or [""])
    except csv.Error as error:
        raise SurveyError(f"{file}, line {rows.line_num}: {error}") from None
    except UnicodeDecodeError:
        raise SurveyError(
            f"{file}, after line {rows.line_num}: not UTF-8 text", hint=_AS_UTF8
        ) from None
    except _UNREADABLE as error:
        raise SurveyError(f"{file} cannot be read: {error}") from None


def explain(con: duckdb.DuckDBPyConnection, described: str, sql: str, text: str) -> SurveyError:
    """Say in the file's words what DuckDB could not read.

    Parameters
    ----------
    con
        A connection to the same database; its transaction may be aborted.
    described, sql
        The file, and the table function that reads it.
    text
        DuckDB's message.
    """
    line = re.search(r"Line: (\d+)", text)
    where = f"{described}, line {line[1]}" if line else described
    if "Expected Number of Columns" in text:
        return _ragged(con, described, sql, where)
    if "unterminated quote" in text:
        return SurveyError(f"{where}: a quote is opened and not closed, or closed too early")
    if "Maximum line size" in text:
        return SurveyError(f"{where}: longer than {_LONGEST:,} bytes")
    if "state machine" in text:
        return SurveyError(
            f"{where}: its lines end in different ways, or a quote is not closed",
            hint="save the file with one kind of line end",
        )
    if "unicode" in text.lower() or "utf-8" in text.lower():
        return SurveyError(f"{where}: not UTF-8 text", hint=_AS_UTF8)
    return SurveyError(f"{where} cannot be read: {text.strip().splitlines()[0]}")


def _ragged(
    con: duckdb.DuckDBPyConnection, described: str, sql: str, where: str
) -> SurveyError:
    """List the lines of another shape, reading the file once more on its own connection."""
    width = len(re.findall("'VARCHAR'", sql))
    rejecting = sql.removesuffix(")") + ", store_rejects = true, rejects_limit = 1000)"
    lines: list[tuple[int, str]] = []
    with suppress(duckdb.Error), closing(con.cursor()) as other:
        other.execute(f"select count(columns(*)) from {rejecting}").fetchall()  # noqa: S608
        rows = other.execute(
            "select line, max(error_message) from reject_errors group by line order by line"
        ).fetchall()
        lines = [(line, _n_fields(str(message))) for line, message in rows]
    if not lines:
        return SurveyError(f"{where}: not as many fields as the header has ({width})")
    if len(lines) == 1:
        where, found = f"{described}, line {lines[0][0]}", lines[0][1]
    else:
        where = f"{described}, lines {listed(line for line, _ in lines)}"
        found = listed(dict.fromkeys(found for _, found in lines))
    return SurveyError(
        f"{where}: {found} fields where the header has {width}", hint="correct the file"
    )


def _n_fields(message: str) -> str:
    fields = re.search(r"Found: (\d+)", message)
    return fields[1] if fields else "unclear"
