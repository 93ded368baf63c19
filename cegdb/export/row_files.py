"""Rows to CSV, Parquet or JSON by DuckDB, written whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import duckdb

from cegdb.atomic_files import atomic_path, check_folder, suffix_of
from cegdb.errors import GraphError, path_of
from cegdb.sqlfiles import raise_interrupt, raise_out_of_memory, registered
from cegdb.store import quoted

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd

    from cegdb.store import Store

_FORMATS: Final = {
    ".csv": "format csv, header true",
    ".parquet": "format parquet",
    ".json": "format json, array true",
}
TABLE_FILES: Final = tuple(_FORMATS)


def write_frame(store: Store, frame: pd.DataFrame, path: str | os.PathLike[str]) -> Path:
    """Write the rows of a DataFrame to a CSV, Parquet or JSON file, in their order.

    Examples
    --------
    >>> import pandas as pd
    >>> from cegdb.store import Store
    >>> with Store.open() as store:
    ...     write_frame(store, pd.DataFrame({"x": [1]}), "falls.xls")
    Traceback (most recent call last):
    ...
    cegdb.errors.GraphError: unknown file type '.xls' (falls.xls)
    hint: a table is written as .csv, .parquet or .json
    """
    plain = frame.set_axis([f"v{i}" for i in range(frame.shape[1])], axis=1)
    # A view would call columns that differ in case only by other names.
    names = ", ".join(
        f"{column} as {quoted(str(name))}"
        for column, name in zip(plain.columns, frame.columns, strict=True)
    )
    with store.reading() as con, registered(con, "written_frame", plain):
        return export_query(con, f"select {names} from written_frame", path, {})  # noqa: S608


def table_file(path: str | os.PathLike[str]) -> Path:
    """Return the path of a table file, refusing one that cannot be written."""
    file = path_of(path)
    suffix_of(file, TABLE_FILES, "a table")
    check_folder(file)
    return file


def export_query(
    con: duckdb.DuckDBPyConnection,
    query: str,
    path: str | os.PathLike[str],
    params: Mapping[str, object] | None = None,
) -> Path:
    r"""Write the rows of a query to a CSV, Parquet or JSON file, whole or not at all.

    Examples
    --------
    >>> import duckdb, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_query(duckdb.connect(), "select 1 as x", f"{folder}/one.csv").read_text()
    'x\n1\n'
    """
    file = table_file(path)
    try:
        with atomic_path(file) as part:
            target = str(part).replace("'", "''")
            options = _FORMATS[file.suffix.lower()]
            con.execute(f"copy ({query}) to '{target}' ({options})", params)
    except (duckdb.Error, OSError) as error:
        raise_interrupt(error)
        raise_out_of_memory(error)
        reason = str(error).strip().splitlines()[0]
        raise GraphError(f"{file} cannot be written: {reason}") from None
    return file
