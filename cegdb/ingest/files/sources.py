"""Turn a survey source of any kind into a relation of text cells, where NULL is a blank.

The same rules give the labels of all formats: numbers in their shortest form, whole ones
without ``.0``; booleans ``True`` and ``False``; text as written.
"""

from __future__ import annotations

import os
import re
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, cast

import duckdb

from cegdb.errors import SqlStepError, SurveyError
from cegdb.ingest.csv import csv_file
from cegdb.ingest.files import survey_files
from cegdb.ingest.files.cell_labels import abbreviated, label_of
from cegdb.ingest.files.relation import Relation, first_line, typed_relation
from cegdb.ingest.files.streams import Stream, is_stream
from cegdb.options import ReadOptions
from cegdb.sqlfiles import registered
from cegdb.store.progress import query_progress_in, quiet_cursor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from cegdb.sqlfiles import Steps

    class ArrowTable(Protocol):
        """Any Arrow table or record batch reader."""

        @property
        def schema(self) -> object:
            """Return the schema."""

    class Readable(Protocol):
        """Any file-like object, such as an open or an uploaded file."""

        def read(self, size: int, /) -> str | bytes:
            """Return up to so many bytes or characters."""


__all__ = [
    "Source",
    "keep_cells",
    "load_chunks",
    "open_source",
    "query_progress",
    "read_error",
]

Source: TypeAlias = (
    "str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Readable | pd.DataFrame | "
    "ArrowTable"
)

_FRAME: Final = "cegdb_source"
_CHUNK: Final = "cegdb_chunk"
_DATA_FILES: Final = (
    ".csv", ".tsv", ".txt", ".gz", ".zst", ".parquet", ".xlsx", ".xls", ".ods", ".sav",
    ".zsav", ".por", ".dta", ".sas7bdat", ".xpt",
)  # fmt: skip
SMALL_BYTES: Final = 4 << 20
_PATTERN: Final = re.compile(r"[*?[]")
_COMMENTS: Final = re.compile(r"(?:\s|\(|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*", re.DOTALL)
_SELECTING: Final = {"select", "with", "from", "values"}
_DESCRIBING: Final = {"describe", "desc", "show", "summarize"}


@contextmanager
def open_source(
    con: duckdb.DuckDBPyConnection,
    source: Source,
    options: ReadOptions | None = None,
    *,
    rewrite: bool = False,
    source_column: str | None = None,
) -> Iterator[Relation]:
    """Open a file, by path or open, several files, a DataFrame, an Arrow table or a SELECT.

    ``rewrite`` is for the second try after a `MisreadError`. ``source_column`` is that of a
    survey to which the source is added; it stays blank where the source is not a file.
    """
    options = options or ReadOptions()
    file_options = options
    if source_column is not None:
        file_options = replace(options, source_column=source_column)
    with ExitStack() as stack:
        stack.callback(_drop_source, con)
        if isinstance(source, str) and source == survey_files.STDIN:
            yield survey_files.from_stdin(con, stack, options, rewrite=rewrite)
        elif isinstance(source, str) and _is_select(source):
            _refuse_options(options, "a SELECT")
            yield _from_select(con, source)
        elif isinstance(source, (str, os.PathLike)):
            paths = [Path(os.fspath(source))]
            if _PATTERN.search(str(source)) and not os.path.exists(source):  # noqa: PTH110
                paths = survey_files.files_matching(str(source)) or paths
            yield survey_files.from_files(con, paths, stack, file_options, rewrite=rewrite)
        elif isinstance(source, (list, tuple)):
            paths = [_path(item) for item in source]
            yield survey_files.from_files(con, paths, stack, file_options, rewrite=rewrite)
        elif is_stream(source) and not hasattr(source, "schema"):
            stream = Stream.of(source)
            yield survey_files.from_stream(con, stream, stack, options, rewrite=rewrite)
        else:
            _refuse_options(options, type(source).__name__)
            yield _from_object(con, source)


def _path(item: object) -> Path:
    if not isinstance(item, (str, os.PathLike)):
        raise SurveyError(
            f"a list of files contains {abbreviated(repr(item))}, which is not a path",
            hint="ingest one and append the others"
            if is_stream(item)
            else "give the paths of CSV or Parquet files",
        )
    return Path(os.fspath(item))


def _refuse_options(options: ReadOptions, what: str) -> None:
    if options.source_column is not None:
        raise SurveyError(f"source_column needs files, and {what} is not a file")
    if options != ReadOptions():
        raise SurveyError(f"options for reading files do not apply: {what} is not a file")


def load_chunks(
    con: duckdb.DuckDBPyConnection, relation: Relation, names: Sequence[str]
) -> None:
    """Put the named columns of a file that DuckDB cannot read into its temp table."""
    if relation.chunks is None:
        return
    names = [name for name in dict.fromkeys(names) if name != relation.source_column]
    cells = [f"f{relation.columns.index(name)}" for name in names]
    columns = ", ".join(f"{cell} varchar" for cell in cells)
    con.execute(f"create or replace temp table {survey_files.LOADED} ({columns})")
    for frame in relation.chunks(names):
        chunk = frame.astype("string").set_axis(cells, axis=1)
        with registered(con, _CHUNK, chunk):
            con.execute(f"insert into temp.{survey_files.LOADED} from {_CHUNK}")
        relation.progress.read(len(frame))


def keep_cells(
    steps: Steps,
    con: duckdb.DuckDBPyConnection,
    relation: Relation,
    table: str,
    columns: Mapping[str, str],
) -> int:
    """Keep columns of a source as a temp table of texts; return its number of rows.

    ``columns`` has the names in the table and those in the source.
    """
    load_chunks(con, relation, list(columns.values()))
    cells = dict(zip(relation.columns, relation.cells, strict=True))
    kept = ", ".join(f"{cells[column]} as {name}" for name, column in columns.items())
    query = f"select {kept} from {relation.from_clause}"  # noqa: S608
    try:
        return steps.create(table, query, dict(relation.params))
    except SqlStepError as error:
        raise read_error(con, relation, error) from None


def read_error(
    con: duckdb.DuckDBPyConnection, relation: Relation, error: SqlStepError
) -> SurveyError:
    """Return the error to raise when the step that reads a source fails."""
    message = str(error.__cause__ or error)
    if relation.csv is not None:
        return csv_file.explain_error(con, relation.csv, message)
    # Of several files, find the one that cannot be read.
    for part in relation.parts:
        with quiet_cursor(con) as cursor:
            try:
                cells = ", ".join(f"count({cell})" for cell in part.cells)
                query = f"select {cells} from {part.from_clause}"  # noqa: S608
                cursor.execute(query, part.params_of(query))
            except duckdb.Error as part_error:
                if part.csv is not None:
                    return csv_file.explain_error(con, part.csv, str(part_error))
                return SurveyError(f"{part.title} cannot be read: {first_line(part_error)}")
    return SurveyError(f"{relation.title} cannot be read: {message.strip().splitlines()[0]}")


@contextmanager
def query_progress(con: duckdb.DuckDBPyConnection, relation: Relation) -> Iterator[None]:
    """Let the progress show how far DuckDB's queries are; little text is not worth it."""
    if is_small(relation):
        yield
        return
    with query_progress_in(con, relation.progress):
        yield


def is_small(relation: Relation, most_bytes: int = SMALL_BYTES) -> bool:
    """Return whether a source is little CSV text; others may be compressed, so unknown."""
    files = relation.csv_files
    sizes = [csv.size for csv in files if csv is not None]
    return len(sizes) == len(files) and sum(sizes) <= most_bytes


def _drop_source(con: duckdb.DuckDBPyConnection) -> None:
    """Drop the view and table of a source; in an aborted transaction the rollback does it."""
    with suppress(duckdb.TransactionException):
        con.unregister(_FRAME)
        con.execute(f"drop view if exists temp.{_FRAME}")
        con.execute(f"drop table if exists temp.{survey_files.LOADED}")


def _from_object(con: duckdb.DuckDBPyConnection, source: object) -> Relation:
    module = type(source).__module__.split(".", 1)[0]
    try:
        if module == "pandas" and hasattr(source, "columns"):
            return _from_frame(con, cast("pd.DataFrame", source))
        if module == "polars" and type(source).__name__ in ("DataFrame", "LazyFrame"):
            return _from_polars(con, source)
        if module == "pyarrow" and hasattr(source, "schema"):
            return _from_arrow(con, source)
    except duckdb.Error as error:
        raise SurveyError(
            f"{type(source).__name__} cannot be read: {first_line(error)}"
        ) from None
    raise SurveyError(
        f"a survey cannot be read from {type(source).__name__}",
        hint="give a file, open or by its path, a list of files, a pandas or polars DataFrame, "
        "an Arrow table or a SELECT",
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
        f"a survey is read from one SELECT, not from {abbreviated(text)!r}",
        hint="if it is meant to be a file, no file has that name",
    )


def _from_select(con: duckdb.DuckDBPyConnection, query: str) -> Relation:
    # A view takes the statement whole, with its semicolon and last comment.
    try:
        info = con.execute(f"describe {query}").fetchall()
        con.execute(f"create or replace temp view {_FRAME} as {query}")
        return typed_relation(
            con, query, "survey", f"temp.{_FRAME}", [str(row[0]) for row in info]
        )
    except duckdb.Error as error:
        raise SurveyError(f"the SELECT cannot be run: {first_line(error)}") from None


# -----------------------------------------------------------------------------
# Typed columns
# -----------------------------------------------------------------------------


def _from_frame(con: duckdb.DuckDBPyConnection, frame: pd.DataFrame) -> Relation:
    from cegdb.ingest.files.pandas_frames import code_frame

    coded = code_frame(frame)
    con.register(_FRAME, coded.codes)
    cells = [f"cast($labels{i} as varchar[])[f{i}]" for i in range(len(coded.columns))]
    params = {f"labels{i}": labels for i, labels in enumerate(coded.labels)}
    return Relation(
        "DataFrame", "survey", coded.columns, cells, _FRAME, params, coded.level_order
    )


def _from_arrow(con: duckdb.DuckDBPyConnection, source: object) -> Relation:
    schema = cast("Any", source).schema
    names = [str(name) for name in schema.names]
    if not names:
        raise SurveyError("the Arrow table has no columns")
    is_stream = hasattr(source, "read_next_batch")
    con.register(_FRAME, source if len({*names}) == len(names) else _numbered(source))
    relation = typed_relation(con, "Arrow table", "survey", _FRAME, names)
    relation.level_order.update(_dictionary_order(source, names))
    return replace(relation, is_stream=is_stream)


def _numbered(source: object) -> object:
    """Rename the columns of Arrow data to f0, f1, ...: DuckDB 1 refuses names that repeat."""
    import pyarrow as pa

    data = cast("Any", source)
    names = [f"f{i}" for i in range(len(data.schema.names))]
    if isinstance(data, pa.Table):
        return data.rename_columns(names)
    if isinstance(data, pa.RecordBatch):
        return pa.RecordBatch.from_arrays(data.columns, names)
    if not isinstance(data, pa.RecordBatchReader):
        return source  # a data set on disk, which has no columns in memory to rename
    fields = zip(data.schema, names, strict=True)
    schema = pa.schema([field.with_name(name) for field, name in fields])
    batches = (pa.RecordBatch.from_arrays(batch.columns, schema=schema) for batch in data)
    return pa.RecordBatchReader.from_batches(schema, batches)


def _from_polars(con: duckdb.DuckDBPyConnection, source: object) -> Relation:
    frame = cast("Any", source)
    frame = frame.collect() if hasattr(frame, "collect") else frame
    try:
        table = frame.to_arrow()
    except ImportError:
        raise SurveyError(
            "a polars DataFrame is read through Arrow, and pyarrow is not installed",
            hint="pip install pyarrow",
        ) from None
    return replace(_from_arrow(con, table), description="polars DataFrame")


def _dictionary_order(source: object, names: Sequence[str]) -> dict[str, list[str]]:
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
