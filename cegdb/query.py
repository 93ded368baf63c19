"""Read tables and views: rows for programs, frames for analysts, their own SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb

from cegdb.errors import QueryError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from cegdb.store import Store


def view_rows(
    store: Store, view: str, where: Mapping[str, object], order: str
) -> list[dict[str, object]]:
    """Return rows of one of our views as mappings, for graphs and files.

    Parameters
    ----------
    store
        Where to read.
    view
        A view of the schema ``cegdb``.
    where
        Column -> the value it must have.
    order
        Columns to sort by.

    Examples
    --------
    >>> from cegdb.store import Store
    >>> with Store.open() as store:
    ...     view_rows(store, "positions", {"ceg": "falls"}, "position_id")
    []
    """
    with store.reading() as con:
        result = con.execute(_view(view, where, order), dict(where))
        names = [column[0] for column in result.description or []]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def view_frame(
    store: Store, view: str, where: Mapping[str, object], order: str
) -> pd.DataFrame:
    """Return rows of one of our views as a DataFrame; arguments as `view_rows`."""
    with store.reading() as con:
        return con.execute(_view(view, where, order), dict(where)).df()


def _view(view: str, where: Mapping[str, object], order: str) -> str:
    condition = " and ".join(f"{column} = ${column}" for column in where)
    return f"select * from cegdb.{view} where {condition} order by {order}"  # noqa: S608


def run_sql(
    store: Store, query: str, params: Mapping[str, object] | Sequence[object] | None
) -> duckdb.DuckDBPyConnection:
    """Run a user's own SQL on their own connection and return its result.

    Raises
    ------
    QueryError
        The SQL fails; the hint lists the tables there are where one is unknown.
    """
    con = store.own_connection()
    try:
        return con.execute(query, params)
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.CatalogException as error:
        raise QueryError(_first(error), hint=_known_tables(con)) from None
    except (duckdb.Error, RuntimeError) as error:
        raise QueryError(str(error).strip()) from None


def _first(error: duckdb.Error) -> str:
    return str(error).strip().split("\n", 1)[0]


def _known_tables(con: duckdb.DuckDBPyConnection) -> str:
    rows = con.execute(
        "select schema_name || '.' || view_name from duckdb_views() where not internal "
        "union all select if(temporary, '', schema_name || '.') || table_name "
        "from duckdb_tables() where schema_name <> 'cegdb' and not internal order by 1"
    ).fetchall()
    return "there are " + ", ".join(row[0] for row in rows)
