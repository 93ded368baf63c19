"""Reading tables and views as rows or frames, and running users' own SQL."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import duckdb

from cegdb.errors import CegdbError, QueryError, listed
from cegdb.names import close_names
from cegdb.small_cells import masked_view
from cegdb.small_cells import views as views_of_kind
from cegdb.sqlfiles import raise_interrupt
from cegdb.store.catalog import KINDS
from cegdb.store.schema import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from cegdb.store import Store


_NAMES: Final[Mapping[str, str]] = {
    "table": "select if(table_catalog = 'temp', '', table_schema || '.') || table_name, "
    "table_name from information_schema.tables "
    "where table_schema <> 'cegdb' or table_type = 'VIEW' order by 1",
    "macro": "select distinct schema_name || '.' || function_name, function_name "
    "from duckdb_functions() where not internal order by 1",
}
"""The tables, views and macros that a user may name: as written in SQL, and without schema."""
_READ_ONLY_HINT: Final = (
    "cegdb sql only reads; in Python, open the file without read_only=True to write"
)


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
    with _query_errors(con, query):
        if con.execute(query, params) is None:
            raise QueryError("no SQL statement given", hint="example: from cegdb.surveys")
    return QueryResult(con)


@contextmanager
def _query_errors(con: duckdb.DuckDBPyConnection, query: str = "") -> Iterator[None]:
    try:
        yield
    except CegdbError:
        raise
    except duckdb.CatalogException as error:
        raise QueryError(_first_line(error), hint=_name_hint(con, error)) from None
    except duckdb.TransactionException as error:
        raise QueryError(
            _first_line(error), hint="run rollback to end the transaction"
        ) from None
    except duckdb.ParserException as error:
        raise QueryError(str(error).strip(), hint=_statement_hint(query)) from None
    except (duckdb.Error, RuntimeError, TypeError, ValueError) as error:
        raise_interrupt(error)
        hint = _READ_ONLY_HINT if "attached in read-only mode" in str(error) else None
        # The prefix of what a macro of ours refuses.
        message = str(error).strip().removeprefix("Invalid Input Error: ")
        raise QueryError(message, hint=hint) from None


def _first_line(error: duckdb.Error) -> str:
    return str(error).strip().split("\n", 1)[0]


def _statement_hint(query: str) -> str | None:
    """Return a hint on a bare name that was given where SQL is expected, as in ``ceg.rows``."""
    name = query.strip().removeprefix(f"{SCHEMA}.")
    if not name.isidentifier():
        return None
    owners = [kind for kind in KINDS if name in views_of_kind(kind)]
    if not owners:
        return "a name alone is not SQL; write a statement, such as: from cegdb.surveys"
    return (
        f"a name alone is not SQL; for all rows of the view write: from {SCHEMA}.{name} (for "
        f"those of one object, in Python: {owners[0]}.rows({name!r}))"
    )


def _name_hint(con: duckdb.DuckDBPyConnection, error: duckdb.Error) -> str | None:
    """Return a hint on an unknown table or macro: close names, else where all are listed."""
    unknown = re.match(
        r"Catalog Error: (Table|.* Function) with name (.+) does not", str(error)
    )
    if unknown is None:
        return None
    kind, wanted = ("table", "views") if unknown[1] == "Table" else ("macro", "macros")
    try:
        rows = con.execute(_NAMES[kind]).fetchall()
    except duckdb.TransactionException:
        return "run rollback to end the transaction"
    near = close_names(unknown[2], {bare for _, bare in rows})
    if near:
        return f"did you mean {listed(name for name, bare in rows if bare in near)}?"
    own = [name for name, _ in rows if not name.startswith(f"{SCHEMA}.")]
    described = f"docs/reference/sql.md describes the {wanted} of cegdb"
    return f"your own {kind}s are {listed(own)}; {described}" if own else described
