"""Reading tables and views as rows or frames, and running users' own SQL."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import duckdb

from cegdb.errors import CegdbError, QueryError, listed
from cegdb.names import close_names
from cegdb.small_cells import masked_view
from cegdb.sqlfiles import raise_interrupt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from cegdb.store import Store


def view_rows(
    store: Store,
    view: str,
    where: Mapping[str, object],
    order: str,
    *,
    min_n: int | None = None,
) -> list[dict[str, object]]:
    """Return rows of a view of schema ``cegdb`` as mappings; ``where`` fixes columns.

    With ``min_n`` small counts are hidden: see `cegdb.small_cells.masked_view`.

    Examples
    --------
    >>> from cegdb.store import Store
    >>> with Store.open() as store:
    ...     view_rows(store, "positions", {"ceg": "falls"}, "position_id")
    []
    """
    names, rows = view_table(store, view, where, order, min_n=min_n)
    return [dict(zip(names, row, strict=True)) for row in rows]


def view_table(
    store: Store,
    view: str,
    where: Mapping[str, object],
    order: str,
    *,
    min_n: int | None = None,
) -> tuple[list[str], list[tuple[object, ...]]]:
    """Return column names and rows of a view; arguments as for `view_rows`."""
    with store.reading() as con, masked_view(store, view, where, min_n) as relation:
        result = con.execute(_select(relation, where, order), dict(where))
        return [column[0] for column in result.description or []], result.fetchall()


def view_frame(
    store: Store, view: str, where: Mapping[str, object], order: str
) -> pd.DataFrame:
    """Return rows of a view as a DataFrame; arguments as for `view_rows`."""
    with store.reading() as con:
        return con.execute(_select(f"cegdb.{view}", where, order), dict(where)).df()


def _select(relation: str, where: Mapping[str, object], order: str) -> str:
    condition = " and ".join(f"{column} = ${column}" for column in where)
    return f"select * from {relation} where {condition} order by {order}"  # noqa: S608


class QueryResult:
    """The result of a user's query, fetched once; an error while fetching is a QueryError."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self._con = con

    @property
    def description(self) -> list[tuple[str, object]]:
        """One tuple per column: its name and type."""
        return [(column[0], column[1]) for column in self._con.description or []]

    def df(self) -> pd.DataFrame:
        """Return the rows as a DataFrame."""
        with _query_errors(self._con):
            return self._con.df()

    def fetchall(self) -> list[tuple[object, ...]]:
        """Return the rows as tuples."""
        with _query_errors(self._con):
            return self._con.fetchall()


def run_sql(
    store: Store, query: str, params: Mapping[str, object] | Sequence[object] | None
) -> QueryResult:
    """Run a user's SQL on the user's connection and return its result."""
    con = store.own_connection()
    if not isinstance(query, str):
        raise QueryError(f"SQL must be a string, not {type(query).__name__}")
    with _query_errors(con):
        if con.execute(query, params) is None:
            raise QueryError("no SQL statement given", hint="example: from cegdb.surveys")
    return QueryResult(con)


@contextmanager
def _query_errors(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    try:
        yield
    except CegdbError:
        raise
    except duckdb.CatalogException as error:
        raise QueryError(_first_line(error), hint=_table_hint(con, error)) from None
    except duckdb.TransactionException as error:
        raise QueryError(
            _first_line(error), hint="run rollback to end the transaction"
        ) from None
    except (duckdb.Error, RuntimeError, TypeError, ValueError) as error:
        raise_interrupt(error)
        # The prefix of what a macro of ours refuses.
        raise QueryError(str(error).strip().removeprefix("Invalid Input Error: ")) from None


def _first_line(error: duckdb.Error) -> str:
    return str(error).strip().split("\n", 1)[0]


def _table_hint(con: duckdb.DuckDBPyConnection, error: duckdb.Error) -> str | None:
    """Return a hint on an unknown table: close names, else those of all tables and views."""
    unknown = re.match(r"Catalog Error: Table with name (.+) does not exist", str(error))
    if unknown is None:
        return None
    try:
        rows = con.execute(
            "select if(table_catalog = 'temp', '', table_schema || '.') || table_name, "
            "table_name from information_schema.tables "
            "where table_schema <> 'cegdb' or table_type = 'VIEW' order by 1"
        ).fetchall()
    except duckdb.TransactionException:
        return "run rollback to end the transaction"
    near = close_names(unknown[1], {bare for _, bare in rows})
    if near:
        return f"did you mean {listed(name for name, bare in rows if bare in near)}?"
    return f"available: {listed((name for name, _ in rows), most=40)}"
