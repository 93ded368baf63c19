"""Turn a survey source into a relation of text cells: one column an answer, NULL = blank.

Every format ends as the same thing, so that one set of rules decides labels: numbers
shortest, integral floats without ``.0``, booleans ``True`` / ``False``, text as written.
"""

from __future__ import annotations

import difflib
import os
import re
import stat
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, cast

import duckdb

from cegdb.errors import SurveyError, listed
from cegdb.ingest import csvfile
from cegdb.ingest.labels import label_of, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pandas as pd

    from cegdb.errors import SqlStepError
    from cegdb.ingest.codebook import Known
    from cegdb.sqlfiles import Value

    class ArrowTable(Protocol):
        """Any Arrow table or record batch reader."""

        @property
        def schema(self) -> object:
            """Return the schema."""


__all__ = ["Relation", "Source", "find_columns", "label_of", "opened", "unreadable"]

Source: TypeAlias = "str | os.PathLike[str] | pd.DataFrame | ArrowTable"

_FRAME: Final = "cegdb_source"
_NESTED: Final = ("STRUCT", "MAP", "UNION", "BLOB", "VARIANT", "GEOMETRY")
_DATA_FILES: Final = (".csv", ".tsv", ".txt", ".gz", ".zst", ".parquet")
_COMMENTS: Final = re.compile(r"(?:\s|\(|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*", re.DOTALL)
_SELECTING: Final = {"select", "with", "from", "values"}
_DESCRIBING: Final = {"describe", "desc", "show", "summarize"}


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
    known: dict[str, Known] = field(default_factory=dict)
    once: bool = False
    csv: csvfile.Reader | None = None

    @property
    def shown(self) -> str:
        """What to call it in a message."""
        return shown(self.described)

    def params_of(self, query: str) -> dict[str, Value]:
        """Return the parameters that a query on it uses."""
        return {key: value for key, value in self.params.items() if f"${key} " in query}


@contextmanager
def opened(
    con: duckdb.DuckDBPyConnection,
    source: Source,
    reading: csvfile.Reading | None = None,
    *,
    rewrite: bool = False,
) -> Iterator[Relation]:
    """Give the relation of a file, DataFrame, Arrow table or SELECT.

    ``reading`` is what is told about how a CSV file is written; ``rewrite`` is asked for
    after a `csvfile.MisreadError`.

    Raises
    ------
    SurveyError
        The file is missing, not readable as CSV or Parquet, or has no usable header; the
        SELECT fails; a column holds nested values.
    """
    with ExitStack() as stack:
        stack.callback(_forget, con)
        if isinstance(source, str) and _is_select(source):
            yield _from_select(con, source)
        elif isinstance(source, (str, os.PathLike)):
            file, told = Path(os.fspath(source)), reading or csvfile.Reading()
            yield _from_file(con, file, stack, told, rewrite=rewrite)
        else:
            yield _from_object(con, source)


def unreadable(
    con: duckdb.DuckDBPyConnection, relation: Relation, error: SqlStepError
) -> SurveyError:
    """Return the error to raise when the step that reads a source fails."""
    text = str(error.__cause__ or error)
    if relation.csv is not None:
        return csvfile.explain(con, relation.csv, text)
    return SurveyError(f"{relation.shown} cannot be read: {text.strip().splitlines()[0]}")


def _forget(con: duckdb.DuckDBPyConnection) -> None:
    """Drop the view of a source; in an aborted transaction the rollback does it."""
    with suppress(duckdb.TransactionException):
        con.unregister(_FRAME)
        con.execute(f"drop view if exists temp.{_FRAME}")


def _from_object(con: duckdb.DuckDBPyConnection, source: object) -> Relation:
    module = type(source).__module__.split(".", 1)[0]
    try:
        if module == "pandas" and hasattr(source, "columns"):
            return _from_frame(con, cast("pd.DataFrame", source))
        if module == "pyarrow" and hasattr(source, "schema"):
            return _from_arrow(con, source)
    except duckdb.Error as error:
        raise SurveyError(f"{type(source).__name__} cannot be read: {_first(error)}") from None
    raise SurveyError(
        f"a survey cannot be read from {type(source).__name__}",
        hint="give a file, a pandas DataFrame, an Arrow table or a SELECT",
    )


# -----------------------------------------------------------------------------
# SELECT
# -----------------------------------------------------------------------------


def _is_select(text: str) -> bool:
    """Return whether a text is a SELECT; if not, it is the path of a file."""
    if os.path.exists(text):  # noqa: PTH110 (Path.exists raises on a very long text)
        return False
    above = _COMMENTS.match(text)
    word = re.match(r"\w*", text[above.end() if above else 0 :])
    verb = word[0].casefold() if word else ""
    try:
        text.encode()
        statements = duckdb.extract_statements(text)
    except UnicodeEncodeError:
        return False
    except duckdb.Error:
        return verb in _SELECTING and not text.strip().lower().endswith(_DATA_FILES)
    if not statements:
        return False
    if (
        len(statements) == 1
        and statements[0].type == duckdb.StatementType.SELECT
        and verb not in _DESCRIBING
    ):
        return True
    raise SurveyError(
        f"a survey is read from one SELECT, not from {shown(text)!r}",
        hint="or, if that is a file: there is none of that name",
    )


def _from_select(con: duckdb.DuckDBPyConnection, query: str) -> Relation:
    # A view takes the statement whole, with its semicolon and last comment.
    try:
        info = con.execute(f"describe {query}").fetchall()
        con.execute(f"create or replace temp view {_FRAME} as {query}")
        return _typed(con, query, "survey", f"temp.{_FRAME}", [str(row[0]) for row in info])
    except duckdb.Error as error:
        raise SurveyError(f"the SELECT cannot be run: {_first(error)}") from None


# -----------------------------------------------------------------------------
# Files
# -----------------------------------------------------------------------------


def _from_file(
    con: duckdb.DuckDBPyConnection,
    file: Path,
    stack: ExitStack,
    reading: csvfile.Reading,
    *,
    rewrite: bool,
) -> Relation:
    called = shown(str(file), most=400)
    try:
        mode = file.stat().st_mode
        str(file).encode()
        if stat.S_ISDIR(mode):
            raise SurveyError(f"{called} is a folder, not a survey file")
        if not stat.S_ISREG(mode):
            raise SurveyError(
                f"{called} is a pipe or a device, which cannot be read twice",
                hint="write it to a file first",
            )
        with file.open("rb") as stream:
            start = stream.read(4)
    except PermissionError:
        raise SurveyError(f"{called} cannot be read: permission denied") from None
    except UnicodeEncodeError:
        raise SurveyError(f"the name {called} is not UTF-8", hint="rename the file") from None
    except (OSError, ValueError) as error:
        if isinstance(error, SurveyError):
            raise
        raise SurveyError(f"there is no file {called}") from None
    name = file.name.removesuffix(".gz").removesuffix(".zst")
    name = (name.rsplit(".", 1)[0] if "." in name[1:] else name).strip() or "survey"
    if not start:
        raise SurveyError(f"{called} is empty")
    if start == b"PAR1":
        return _from_parquet(con, file, name)
    compression = csvfile.compression_of(start)
    reader = csvfile.reader(file, stack, reading, compression, rewrite=rewrite)
    cells = [f"nullif(f{i}, '')" for i in range(len(reader.header))]
    return Relation(str(file), name, reader.header, cells, reader.sql, csv=reader)


def _from_parquet(con: duckdb.DuckDBPyConnection, file: Path, name: str) -> Relation:
    path = csvfile.path_literal(file)
    try:
        tree = con.execute(
            f"select name, coalesce(num_children, 0) from parquet_schema({path})"  # noqa: S608
        ).fetchall()
        # Folders called year=2024 are part of the path, not of the file.
        relation = f"read_parquet({path}, hive_partitioning = false)"
        return _typed(con, str(file), name, relation, _top_level(tree))
    except duckdb.Error as error:
        raise SurveyError(f"{file} is not readable Parquet: {_first(error)}") from None


def _top_level(tree: list[tuple[Any, ...]]) -> list[str]:
    """Return the names of the columns, of a Parquet schema written depth first."""
    names, below = [], 0
    for name, n_children in tree[1:]:
        if not below:
            names.append(str(name))
        below += n_children - (below > 0)
    return names


# -----------------------------------------------------------------------------
# Typed columns
# -----------------------------------------------------------------------------


def _from_frame(con: duckdb.DuckDBPyConnection, frame: pd.DataFrame) -> Relation:
    from cegdb.ingest.frames import coded

    found = coded(frame)
    con.register(_FRAME, found.places)
    cells = [f"cast($labels{i} as varchar[])[f{i}]" for i in range(len(found.columns))]
    params = {f"labels{i}": labels for i, labels in enumerate(found.labels)}
    return Relation(
        "DataFrame", "survey", found.columns, cells, _FRAME, params, found.level_order
    )


def _from_arrow(con: duckdb.DuckDBPyConnection, source: object) -> Relation:
    schema = cast("Any", source).schema
    names = [str(name) for name in schema.names]
    if not names:
        raise SurveyError("the Arrow table has no columns")
    con.register(_FRAME, source)
    relation = _typed(con, "Arrow table", "survey", _FRAME, names)
    relation.level_order.update(_ordered(source, names))
    return replace(relation, once=hasattr(source, "read_next_batch"))


def _ordered(source: object, names: Sequence[str]) -> dict[str, list[str]]:
    """Return the order of the labels of dictionary columns that have one."""
    table = cast("Any", source)
    order = {}
    for i, name in enumerate(names):
        if not getattr(table.schema.field(i).type, "ordered", False):
            continue
        if not hasattr(table, "column"):
            continue
        column = table.column(i)
        parts = column.chunks if hasattr(column, "chunks") else [column]
        texts = [label_of(value) for part in parts for value in part.dictionary.to_pylist()]
        order[name] = list(dict.fromkeys(text for text in texts if text is not None))
    return order


def _typed(
    con: duckdb.DuckDBPyConnection,
    described: str,
    name: str,
    relation: str,
    names: list[str],
) -> Relation:
    """Return the relation of typed columns, each written as the text of its label.

    Columns are read by their place: of ``a`` and ``A`` DuckDB would rename one.
    """
    info = con.execute(f"describe select * from {relation}").fetchall()  # noqa: S608
    kinds = [str(row[1]) for row in info]
    if len(names) != len(kinds):
        names = [str(row[0]) for row in info]
    nested = [
        column
        for column, kind in zip(names, kinds, strict=True)
        if kind.endswith("]") or kind.startswith(_NESTED)
    ]
    if nested:
        raise SurveyError(f"columns hold nested or binary values: {listed(nested)}")
    cells = [_cell(f"f{i}", kind) for i, kind in enumerate(kinds)]
    order = {
        column: [label for label in _enum_labels(con, kind) if label]
        for column, kind in zip(names, kinds, strict=True)
        if kind.startswith("ENUM(")
    }
    places = ", ".join(f"f{i}" for i in range(len(kinds)))
    source = f"{relation} as x({places})"
    return Relation(described, name, names, cells, source, level_order=order)


def _enum_labels(con: duckdb.DuckDBPyConnection, kind: str) -> list[str]:
    ((labels,),) = con.execute(f"select enum_range(cast(null as {kind}))").fetchall()
    return list(labels)


def _cell(column: str, kind: str) -> str:
    if kind == "BOOLEAN":
        return f"case when {column} then 'True' when not {column} then 'False' end"
    text = f"cast({column} as varchar)"
    if kind in ("FLOAT", "DOUBLE"):
        short = f"regexp_replace({text}, '\\.0$', '')"
        # Not isnan: of Parquet columns DuckDB takes it for false, by their statistics.
        return f"if({text} in ('nan', '-nan'), null, if({short} = '-0', '0', {short}))"
    if kind.startswith("DECIMAL") and not kind.endswith(",0)"):
        return f"regexp_replace({text}, '\\.?0+$', '')"
    return f"nullif({text}, '')"


def _first(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


def find_columns(names: Sequence[str], wanted: Iterable[object], where: str) -> list[str]:
    """Return the names meant by ``wanted``: exactly, else trimmed, else case-folded.

    Raises
    ------
    SurveyError
        One is not found, or several fit it.

    Examples
    --------
    >>> find_columns(["Sex", " vote ", "3"], ["sex", "vote", 3], "the file")
    ['Sex', ' vote ', '3']
    """
    found = []
    for asked in wanted:
        name = _asked_name(asked)
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
                f"there is no variable {asked!r} in {where}",
                hint=f"did you mean {listed(map(repr, near))}?",
            )
        found += fits
    return found


def _asked_name(asked: object) -> str:
    try:
        return label_of(asked) or ""
    except SurveyError:
        raise SurveyError(f"{shown(repr(asked))} is no name of a variable") from None
