"""Tables found for rows: as DataFrames, tables of the database, or files."""

from __future__ import annotations

import html
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

from cegdb.api.notebook import Shown
from cegdb.errors import NameTakenError, QueryError, StoreError, path_of
from cegdb.store import quoted

if TYPE_CHECKING:
    import os
    from contextlib import AbstractContextManager
    from pathlib import Path

    import duckdb
    import pandas as pd

    from cegdb.inference.row_answers import RowTables
    from cegdb.inference.row_scores import Classified
    from cegdb.store import Store

_OURS: Final = ("cegdb", "information_schema", "pg_catalog")


class Found(Shown):
    """Tables found for the rows of a source: as DataFrames, or where they were written.

    Parameters
    ----------
    summary
        How many rows there were, and what looks wrong.
    frames
        Name -> DataFrame, of what was not written elsewhere.
    written
        Name -> table or file that has it.
    """

    def __init__(
        self, summary: str, frames: dict[str, pd.DataFrame], written: dict[str, str | Path]
    ) -> None:
        self.summary = summary
        self.written = written
        self._frames = frames

    def _frame(self, name: str) -> pd.DataFrame:
        if name in self._frames:
            return self._frames[name]
        raise QueryError(
            f"the {name} were written to {self.written[name]}, and are no DataFrame",
            hint="read them there, or leave out into= and file=",
        )

    @property
    def rows(self) -> pd.DataFrame:
        """One row a row of the source."""
        return self._frame("rows")

    def __repr__(self) -> str:
        """Return the summary."""
        return self.summary


class Assigned(Found):
    """Where the rows of a source are in a CEG: see `Answering.assign`."""

    @property
    def places(self) -> pd.DataFrame:
        """One row a row of the source and depth."""
        return self._frame("places")


class Completed(Found):
    """What completes the rows of a source: see `Answering.complete`."""

    @property
    def labels(self) -> pd.DataFrame:
        """One row a row of the source, variable it leaves open, and label."""
        return self._frame("labels")


class Classification(Shown):
    """How well a CEG predicts a variable: see `Answering.classify`.

    Parameters
    ----------
    metrics
        The numbers.
    confusion
        Weight of respondents: a row a label given, a column one predicted.
    """

    def __init__(self, metrics: Classified, confusion: pd.DataFrame) -> None:
        self.metrics = metrics
        self.confusion = confusion

    def __repr__(self) -> str:
        """Return the numbers."""
        return repr(self.metrics)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>{self.confusion.to_html()}"


def delivered(
    store: Store,
    opening: AbstractContextManager[RowTables],
    other: str,
    into: str | None,
    file: str | os.PathLike[str] | None,
    *,
    replace: bool,
) -> tuple[str, dict[str, pd.DataFrame], dict[str, str | Path]]:
    """Open the rows; return the summary, and what they say as frames, or where it is now."""
    from cegdb import export

    if into is not None and file is not None:
        raise QueryError("into and file are given", hint="give one of them")
    if replace and into is None and file is None:
        raise QueryError("replace is given, and nothing to write", hint="give into or file")
    with ExitStack() as stack:
        if into is not None:
            targets = _tables(store, into, other, replace=replace)
            found = stack.enter_context(opening)
            with store.writing() as (con, _):
                for name, target in targets.items():
                    con.execute(f"create or replace table {target} as {found.tables[name]}")
            return found.summary, {}, dict(targets)
        if file is not None:
            files = _files(file, other, replace=replace)
            found = stack.enter_context(opening)
            for name, path in files.items():
                export.export_query(found.con, found.tables[name], path)
            return found.summary, {}, dict(files)
        found = stack.enter_context(opening)
        frames = {
            name: found.con.execute(f"{query} order by {found.order[name]}").df()
            for name, query in found.tables.items()
        }
        return found.summary, frames, {}


def _files(file: str | os.PathLike[str], other: str, *, replace: bool) -> dict[str, Path]:
    from cegdb import export

    path = path_of(file)
    files = {"rows": path, other: path.with_stem(f"{path.stem}_{other}")}
    for one in files.values():
        export.table_file(one)
        if one.exists() and not replace:
            raise NameTakenError(
                f"there is a file {one} already",
                hint="give another name, or replace it (replace=True, --replace)",
            )
    return files


def _tables(store: Store, into: str, other: str, *, replace: bool) -> dict[str, str]:
    """Return the tables to write, as SQL names, if they may be written."""
    if store.read_only:
        raise StoreError(f"{store.path} is open read-only", hint="open it without read_only")
    schema, dot, table = str(into).rpartition(".")
    schema = schema if dot else "main"
    if not table or not schema:
        raise QueryError(f"into is {into!r}", hint='give "table" or "schema.table"')
    if schema.casefold() in (*_OURS, "temp"):
        raise QueryError(
            f"into is {into!r}: tables of yours are not written to {schema!r}",
            hint="name another schema, such as main",
        )
    names = {"rows": table, other: f"{table}_{other}"}
    with store.reading() as con:
        _check_tables(con, schema, list(names.values()), replace=replace)
    return {name: f"{quoted(schema)}.{quoted(one)}" for name, one in names.items()}


def _check_tables(
    con: duckdb.DuckDBPyConnection, schema: str, names: list[str], *, replace: bool
) -> None:
    schemas = con.execute(
        "select schema_name from duckdb_schemas() where database_name = current_database()"
    ).fetchall()
    if schema.casefold() not in {name.casefold() for (name,) in schemas}:
        raise QueryError(
            f"there is no schema {schema!r}",
            hint=f"make it in SQL first: create schema {quoted(schema)}",
        )
    found = con.execute(
        "select table_name, table_type from information_schema.tables "
        "where table_catalog = current_database() and lower(table_schema) = lower($schema)",
        {"schema": schema},
    ).fetchall()
    kinds = {name.casefold(): kind for name, kind in found}
    for name in names:
        kind = kinds.get(name.casefold())
        if kind is not None and (kind != "BASE TABLE" or not replace):
            what = "table" if kind == "BASE TABLE" else kind.lower()
            raise NameTakenError(
                f"there is a {what} {schema}.{name} already",
                hint="choose another name, or replace a table (replace=True, --replace)",
            )
