"""Turn a survey source into a relation of text cells: one column an answer, NULL = blank.

Every format ends as the same thing, so that one set of rules decides labels: numbers
shortest, integral floats without ``.0``, booleans ``True`` / ``False``, text as written.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

import duckdb

from cegdb.errors import SurveyError, listed
from cegdb.store import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    class ArrowTable(Protocol):
        """Any Arrow table or record batch reader."""

        @property
        def schema(self) -> object:
            """Return the schema."""


Source: TypeAlias = "str | os.PathLike[str] | pd.DataFrame | ArrowTable"

_FRAME = "cegdb_source"
_SNIFFED = 1 << 16
_DELIMITERS = (",", ";", "\t", "|")


@dataclass(frozen=True)
class Relation:
    """A readable source: its column names and the SQL that reads each as text."""

    described: str
    name: str
    columns: list[str]
    cells: list[str]
    from_clause: str
    params: dict[str, list[str]] = field(default_factory=dict)
    level_order: dict[str, list[str]] = field(default_factory=dict)
    once: bool = False


def label_of(value: object) -> str | None:
    """Return the label a cell of a frame stands for, None for a blank.

    Examples
    --------
    >>> [label_of(x) for x in (1, 1.0, "1", True, 0.5, None, float("nan"), "NA")]
    ['1', '1', '1', 'True', '0.5', None, None, 'NA']
    """
    if isinstance(value, str):
        return str(value) or None
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        return None
    if isinstance(value, Decimal):
        value = format(value.normalize(), "f")
    if isinstance(value, (bytes, list, dict, set, tuple)):
        raise SurveyError(f"a cell holds {type(value).__name__} {value!r}, not an answer")
    text = str(value)
    if text.endswith(".0"):
        text = text[:-2]
    return "0" if text == "-0" else text


@contextmanager
def opened(con: duckdb.DuckDBPyConnection, source: Source) -> Iterator[Relation]:
    """Give the relation of a file, DataFrame, Arrow table or SELECT.

    Raises
    ------
    SurveyError
        The file is missing, not readable as CSV or Parquet, or has no usable header; the
        SELECT fails; a column holds nested values.
    """
    if isinstance(source, (str, os.PathLike)):
        text = os.fspath(source)
        if isinstance(source, str) and _is_select(text):
            yield _from_select(con, text)
        else:
            yield _from_file(con, Path(text))
        return
    module = type(source).__module__.split(".", 1)[0]
    try:
        if module == "pandas" and hasattr(source, "columns"):
            yield _from_frame(con, cast("pd.DataFrame", source))
        elif module == "pyarrow" and hasattr(source, "schema"):
            con.register(_FRAME, source)
            kind = type(source).__name__
            yield _typed(con, "Arrow table", "survey", _FRAME, once=kind == "RecordBatchReader")
        else:
            raise SurveyError(
                f"a survey cannot be read from {type(source).__name__}",
                hint="give a file, a pandas DataFrame, an Arrow table or a SELECT",
            )
    finally:
        con.unregister(_FRAME)


def _is_select(text: str) -> bool:
    if os.path.exists(text):  # noqa: PTH110 (Path.exists raises on a very long text)
        return False
    try:
        statements = duckdb.extract_statements(text)
    except duckdb.Error:
        return text.lstrip().split(maxsplit=1)[:1] in (["select"], ["SELECT"], ["with"])
    return len(statements) == 1 and statements[0].type == duckdb.StatementType.SELECT


def _from_select(con: duckdb.DuckDBPyConnection, query: str) -> Relation:
    relation = f"({query.strip().rstrip(';')})"
    try:
        return _typed(con, query, "survey", relation)
    except duckdb.Error as error:
        raise SurveyError(f"the SELECT cannot be run: {error}") from None


def _from_file(con: duckdb.DuckDBPyConnection, file: Path) -> Relation:
    if file.is_dir():
        raise SurveyError(f"{file} is a folder, not a survey file")
    if not file.exists():
        raise SurveyError(f"there is no file {file}")
    name = file.name.removesuffix(".gz")
    name = name.rsplit(".", 1)[0] if "." in name[1:] else name
    with file.open("rb") as stream:
        start = stream.read(4)
    if start == b"PAR1":
        relation = f"read_parquet({_path_literal(file)})"
        try:
            return _typed(con, str(file), name, relation)
        except duckdb.Error as error:
            raise SurveyError(f"{file} is not readable Parquet: {_first(error)}") from None
    if not start:
        raise SurveyError(f"{file} is empty")
    return _from_csv(file, name, compressed=start[:2] == b"\x1f\x8b")


def _from_csv(file: Path, name: str, *, compressed: bool) -> Relation:
    text = _beginning(file, compressed=compressed)
    header, delimiter = _dialect(text)
    if not any(header):
        raise SurveyError(f"{file} has no header line")
    columns = ", ".join(f"'f{i}': 'VARCHAR'" for i in range(len(header)))
    reader = (
        f"read_csv({_path_literal(file)}, auto_detect = false, header = true, "
        f"delim = '{delimiter}', quote = '\"', escape = '\"', strict_mode = true, "
        f"compression = '{'gzip' if compressed else 'none'}', columns = {{{columns}}})"
    )
    cells = [f"nullif(f{i}, '')" for i in range(len(header))]
    return Relation(str(file), name, header, cells, reader)


def _beginning(file: Path, *, compressed: bool) -> str:
    """Return the start of a text file, refusing what is not UTF-8 text."""
    try:
        with gzip.open(file, "rb") if compressed else file.open("rb") as stream:
            start = stream.read(_SNIFFED)
            more = bool(stream.read(1))
    except (OSError, EOFError) as error:
        raise SurveyError(f"{file} cannot be read: {error}") from None
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise SurveyError(f"{file} is UTF-16 text", hint="save it as UTF-8")
    if b"\0" in start:
        raise SurveyError(
            f"{file} is not a CSV file: it holds binary data",
            hint="CSV (also .gz) and Parquet can be read",
        )
    try:
        text = start.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if not (more and error.start >= len(start) - 4):
            line = start[: error.start].count(b"\n") + 1
            raise SurveyError(
                f"{file}, line {line}: byte 0x{start[error.start]:02x} is not UTF-8 text",
                hint="save the file as UTF-8 (it may be latin-1 or cp1252)",
            ) from None
        text = start[: error.start].decode("utf-8-sig")
    if more and "\n" in text:
        text = text[: text.rindex("\n") + 1]
    if not text.strip():
        raise SurveyError(f"{file} has no header line")
    return text


def _dialect(text: str) -> tuple[list[str], str]:
    """Return the header and the delimiter: the one whose first records agree best."""
    best: tuple[tuple[bool, int], list[str], str] | None = None
    for delimiter in _DELIMITERS:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        try:
            records = [row for row, _ in zip(rows, range(100), strict=False) if row]
        except csv.Error:
            continue
        header = records[0]
        agree = all(len(record) == len(header) for record in records)
        rank = (agree and len(header) > 1, len(header))
        if best is None or rank > best[0]:
            best = (rank, header, delimiter)
    if best is None:
        raise SurveyError("no delimiter splits the header line")
    return best[1], best[2]


def _typed(
    con: duckdb.DuckDBPyConnection,
    described: str,
    name: str,
    relation: str,
    *,
    once: bool = False,
) -> Relation:
    """Return the relation of typed columns, each written as the text of its label."""
    info = con.execute(f"describe select * from {relation}").fetchall()  # noqa: S608
    columns = [str(row[0]) for row in info]
    nested = [
        column
        for column, row in zip(columns, info, strict=True)
        if str(row[1]).endswith("]") or str(row[1]).startswith(("STRUCT", "MAP", "BLOB"))
    ]
    if nested:
        raise SurveyError(f"columns hold nested or binary values: {listed(nested)}")
    cells = [
        _cell(f"x.{quoted(column)}", str(row[1]))
        for column, row in zip(columns, info, strict=True)
    ]
    order = {
        column: [value.replace("''", "'") for value in _enum_labels(str(row[1]))]
        for column, row in zip(columns, info, strict=True)
        if str(row[1]).startswith("ENUM(")
    }
    return Relation(
        described,
        name,
        columns,
        cells,
        f"{relation} as x",
        level_order=order,
        once=once,
    )


def _enum_labels(kind: str) -> list[str]:
    reader = csv.reader(
        [kind.removeprefix("ENUM(").removesuffix(")")],
        quotechar="'",
        skipinitialspace=True,
    )
    return next(iter(reader))


def _cell(column: str, kind: str) -> str:
    if kind == "BOOLEAN":
        return f"case when {column} then 'True' when not {column} then 'False' end"
    text = f"cast({column} as varchar)"
    if kind in ("FLOAT", "DOUBLE"):
        short = f"regexp_replace({text}, '\\.0$', '')"
        return f"nullif(if({short} = '-0', '0', {short}), 'nan')"
    if kind.startswith("DECIMAL") and not kind.endswith(",0)"):
        return f"regexp_replace({text}, '\\.?0+$', '')"
    return f"nullif({text}, '')"


def _from_frame(con: duckdb.DuckDBPyConnection, frame: pd.DataFrame) -> Relation:
    """Code a frame's cells in pandas, since DuckDB would guess types from a sample."""
    import numpy as np
    import pandas as pd

    columns = [label_of(name) or "" for name in frame.columns]
    codes: dict[str, np.ndarray[tuple[int], np.dtype[np.int64]]] = {}
    params: dict[str, list[str]] = {}
    order: dict[str, list[str]] = {}
    for i, name in enumerate(columns):
        series = frame.iloc[:, i]
        if isinstance(series.dtype, pd.CategoricalDtype):
            raw, uniques = series.cat.codes.to_numpy(), list(series.cat.categories)
        elif series.dtype == object:
            labels = [label_of(value) for value in series]
            raw, uniques = pd.factorize(np.array(labels, dtype=object))
        else:
            raw, uniques = pd.factorize(series)
        texts = [label_of(value) for value in uniques]
        known = list(dict.fromkeys(text for text in texts if text is not None))
        place = {text: at + 1 for at, text in enumerate(known)}
        places = np.array([0, *(place.get(text or "", 0) for text in texts)], dtype=np.int64)
        codes[f"f{i}"] = places[np.asarray(raw, dtype=np.int64) + 1]
        params[f"labels{i}"] = known
        if isinstance(series.dtype, pd.CategoricalDtype):
            order[name] = known
    con.register(_FRAME, pd.DataFrame(codes, index=range(len(frame))))
    cells = [f"cast($labels{i} as varchar[])[f{i}]" for i in range(len(columns))]
    return Relation("DataFrame", "survey", columns, cells, _FRAME, params, order)


def _path_literal(file: Path) -> str:
    """Return a path as an SQL literal that DuckDB does not take for a pattern."""
    plain = "".join(f"[{char}]" if char in "[*?" else char for char in str(file))
    return "'" + plain.replace("'", "''") + "'"


def _first(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


def find_columns(names: Sequence[str], wanted: Sequence[str], where: str) -> list[str]:
    """Return the names meant by ``wanted``: exactly, else trimmed, else case-folded.

    Raises
    ------
    SurveyError
        One is not found, or several fit it.

    Examples
    --------
    >>> find_columns(["Sex", " vote "], ["sex", "vote"], "the file")
    ['Sex', ' vote ']
    """
    import difflib

    found = []
    for name in wanted:
        fits = [other for other in names if other == name]
        fits = fits or [other for other in names if other.strip() == name.strip()]
        fits = fits or [
            other for other in names if other.strip().casefold() == name.strip().casefold()
        ]
        if len(fits) > 1:
            raise SurveyError(f"{name!r} may be any of {listed(map(repr, fits))} in {where}")
        if not fits:
            near = difflib.get_close_matches(name, names, n=3) or names
            raise SurveyError(
                f"there is no variable {name!r} in {where}",
                hint=f"did you mean {listed(map(repr, near))}?",
            )
        found += fits
    return found
