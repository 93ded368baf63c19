"""Every table and view of an object as a file."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final, NamedTuple

from cegdb.atomic_files import atomic_writer, check_folder, suffix_of
from cegdb.errors import QueryError, listed, path_of
from cegdb.export.row_files import TABLE_FILES, export_query, table_file
from cegdb.export.stage_tables import stage_tables
from cegdb.inference.mean_scores import ScoredStages, scored_stages
from cegdb.names import did_you_mean, find_name
from cegdb.render.document import Column, Group, Table
from cegdb.render.writers import TEXT_FILES, format_value, table_file_lines
from cegdb.small_cells import masked_view, view_order, views
from cegdb.store import quoted
from cegdb.store.catalog import KIND_WORDS, KINDS, find

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from pathlib import Path

    import duckdb

    from cegdb.options import Kind
    from cegdb.store import Store

_BATCH: Final = 5_000
_NUMBERS: Final = {"INTEGER", "BIGINT", "HUGEINT", "DOUBLE", "DECIMAL"}
_ORDERS: Final = {
    "stages": "stage_id",
    "stage_edges": "stage_id, label_id",
    "staged_florets": "vertex_id",
    "staged_situations": "vertex_id",
    "stage_pairs": "kind, vertex_id, other_id",
    "stage_stability": "kind, stage_id",
    "bootstrap_intervals": "vertex_id, label_id",
    "merges": "step",
    "parent_sets": "hyperstage_id, set_rank",
    "florets": "vertex_id",
    "presumed_zeros": "vertex_id, label",
    "merge_steps": "step",
    "situation_positions": "vertex_id",
    "most_probable_paths": "rank",
    "ceg_ancestors": "generation",
}
"""The rows of the other tables and views are sorted by all columns, the first one first."""


class _Source(NamedTuple):
    """Where the rows of an object are: a table or view, and the column that names it."""

    table: str
    relation: str
    column: str
    value: object
    order: str
    is_view: bool


def tables_of(store: Store, kind: Kind) -> list[str]:
    """Return the views and tables that have rows of a kind of object, views first.

    Examples
    --------
    >>> from cegdb.store import Store
    >>> with Store.open() as store:
    ...     tables_of(store, "ceg")[:3], tables_of(store, "ceg")[-2:]
    (['ceg_ancestors', 'ceg_edges', 'conditioned_cegs'], ['position', 'position_member'])
    """
    with store.reading() as con:
        names = con.execute(
            "select table_name from duckdb_columns() where schema_name = 'cegdb' "
            "and column_index = 1 and database_name = current_database() "
            "and column_name in ($name, $name || '_id') "
            "order by column_name = $name || '_id', table_name",
            {"name": kind},
        ).fetchall()
    return [row[0] for row in names]


def kind_of(store: Store, table: str) -> Kind:
    """Return whose rows a table or view has, refusing one that no object has.

    Examples
    --------
    >>> from cegdb.store import Store
    >>> with Store.open() as store:
    ...     kind_of(store, "stage_table")
    'staging'
    """
    tables_by_kind = {kind: tables_of(store, kind) for kind in KINDS}
    owner: dict[str, Kind] = {}
    for kind, tables in tables_by_kind.items():
        owner = {**dict.fromkeys(tables, kind), **owner}
    name = find_name(table, owner)
    if name is not None:
        return owner[name]
    raise QueryError(
        f"no object has a table or view {table!r}",
        hint=did_you_mean(table, owner) or "docs/reference/sql.md describes them",
    )


def export_table(
    store: Store,
    kind: Kind,
    name: str,
    table: str,
    path: str | os.PathLike[str],
    *,
    min_n: int | None = None,
) -> Path:
    """Write the rows of a table or view that belong to one object to a file, as they are read.

    ``table`` is one of `tables_of`, found like a column; of a survey also its ``response_ID``.
    In CSV, lists are JSON; ``.md``, ``.html`` and ``.tex``, which are for people, leave out the
    ids of a view.

    Examples
    --------
    >>> from cegdb.store import Store
    >>> with Store.open() as store:
    ...     export_table(store, "ceg", "falls", "ceg_edges", "falls.xls")
    Traceback (most recent call last):
    ...
    cegdb.errors.GraphError: unknown file type '.xls' (falls.xls)
    hint: a table is written as .csv, .parquet, .json, .md, .html or .tex
    """
    file = path_of(path)
    suffix = suffix_of(file, (*TABLE_FILES, *TEXT_FILES), "a table")
    check_folder(file)
    source = _source(store, kind, name, table)
    table = source.table
    if min_n is not None and table not in views(kind):
        raise QueryError(
            f"{table} cannot be exported with small cells hidden",
            hint=f"these views can be: {listed(views(kind))}",
        )
    scored = ScoredStages()
    if suffix in TEXT_FILES and table == "stage_table":
        with store.catalog() as catalog:
            scored = scored_stages(store, find(catalog, kind, name))
    with (
        store.reading() as con,
        masked_view(store, table, {kind: name}, min_n) as seen,
    ):
        relation = source.relation if min_n is None else seen
        if suffix in TEXT_FILES:
            tables = (
                stage_tables(con, relation, name, min_n, scored)
                if table == "stage_table"
                else iter([_text_table(con, relation, source, table, name)])
            )
            title = f"{table} of {name}"
            with atomic_writer(file) as stream:
                for line in table_file_lines(tables, TEXT_FILES[suffix], title):
                    stream.write(line.encode())
            return file
        columns = _columns(con, relation) if suffix == ".csv" else "*"
        query = (
            f"select {columns} from {relation} where {source.column} = $value "  # noqa: S608
            f"order by {source.order}"
        )
        return export_query(con, query, table_file(file), {"value": source.value})


def _source(store: Store, kind: Kind, name: str, table: str) -> _Source:
    with store.catalog() as catalog:
        object_id = find(catalog, kind, name)
    if kind == "survey" and table == f"response_{object_id}":
        return _Source(table, f"cegdb.{table}", "true", value=True, order="all", is_view=False)
    known = tables_of(store, kind)
    match = find_name(table, known)
    if match is None:
        raise QueryError(
            f"{KIND_WORDS[kind]} {name!r} has no table or view {table!r}",
            hint=did_you_mean(table, known) or f"it has {', '.join(known)}",
        )
    table = match
    order = view_order(table) if table in views(kind) else _ORDERS.get(table, "all")
    with store.reading() as con:
        first = con.execute(f"select * from cegdb.{table} limit 0").description  # noqa: S608
    column = first[0][0]
    is_view = column == kind
    value = name if is_view else object_id
    return _Source(table, f"cegdb.{table}", column, value, order, is_view)


def _column_types(con: duckdb.DuckDBPyConnection, relation: str) -> list[tuple[str, str]]:
    result = con.execute(f"select * from {relation} limit 0")  # noqa: S608
    return [(column[0], str(column[1])) for column in result.description]


def _columns(con: duckdb.DuckDBPyConnection, relation: str) -> str:
    """Return the columns of a CSV file: lists as JSON, which can be read back."""
    nested = [
        quoted(column) for column, kind in _column_types(con, relation) if kind.endswith("[]")
    ]
    as_json = ", ".join(f"cast(to_json({c}) as varchar) as {c}" for c in nested)
    return f"* replace ({as_json})" if nested else "*"


def _text_table(
    con: duckdb.DuckDBPyConnection, relation: str, source: _Source, table: str, name: str
) -> Table:
    described = [
        (column, kind)
        for column, kind in _column_types(con, relation)
        if not source.is_view or not (column == source.column or column.endswith("_id"))
    ]
    columns = [Column(column, kind.split("(")[0] in _NUMBERS) for column, kind in described]
    named = ", ".join(quoted(column) for column, _ in described)
    result = con.execute(
        f"select {named} from {relation} where {source.column} = $value "  # noqa: S608
        f"order by {source.order}",
        {"value": source.value},
    )
    return Table(f"{table} of {name}", columns, _row_groups(result))


def _row_groups(result: duckdb.DuckDBPyConnection) -> Iterator[Group]:
    while batch := result.fetchmany(_BATCH):
        yield Group([[_cell_text(value) for value in row] for row in batch])


def _cell_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(map(_cell_text, value))
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Decimal):
        return format_value(float(value))
    return format_value(value) if isinstance(value, (int, float)) else str(value)
