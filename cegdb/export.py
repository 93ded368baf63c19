"""Tables to files: CSV, Parquet or JSON of one view, written whole or not at all."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import duckdb

from cegdb.errors import GraphError, path_of
from cegdb.small_cells import shown
from cegdb.sqlfiles import registered
from cegdb.store import quoted

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from pathlib import Path

    import pandas as pd

    from cegdb.store import Store

_FORMATS: Final = {
    ".csv": "format csv, header true",
    ".parquet": "format parquet",
    ".json": "format json, array true",
}
TABLE_FILES: Final = tuple(_FORMATS)


def export_table(
    store: Store,
    view: str,
    column: str,
    name: str,
    path: str | os.PathLike[str],
    *,
    min_n: int | None = None,
) -> Path:
    """Write the rows of a view that belong to one object to a file.

    Parameters
    ----------
    store
        Where to read.
    view
        A view of the schema ``cegdb``, such as ``ceg_edges``.
    column, name
        The column that names the object, and its name.
    path
        Ends in ``.csv``, ``.parquet`` or ``.json``.
    min_n
        Hide counts below it, and what would reveal them: see `cegdb.small_cells.shown`.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    GraphError
        The suffix is none of these, or the file cannot be written.

    Examples
    --------
    >>> from cegdb.store import Store
    >>> with Store.open() as store:
    ...     export_table(store, "ceg_edges", "ceg", "falls", "falls.xls")
    Traceback (most recent call last):
    ...
    cegdb.errors.GraphError: falls.xls ends in none of .csv, .parquet, .json
    """
    with (
        _written_whole(path) as copies,
        store.reading() as con,
        shown(store, view, {column: name}, min_n) as relation,
    ):
        con.execute(
            f"copy (select * from {relation} where {column} = $name order by all) {copies}",  # noqa: S608
            {"name": name},
        )
    return path_of(path)


def write_frame(store: Store, frame: pd.DataFrame, path: str | os.PathLike[str]) -> Path:
    """Write the rows of a DataFrame to a file, in their order.

    Parameters
    ----------
    store
        A database to write with.
    frame
        The rows.
    path
        As in `export_table`.

    Raises
    ------
    GraphError
        As in `export_table`.

    Examples
    --------
    >>> import pandas as pd
    >>> from cegdb.store import Store
    >>> with Store.open() as store:
    ...     write_frame(store, pd.DataFrame({"x": [1]}), "falls.xls")
    Traceback (most recent call last):
    ...
    cegdb.errors.GraphError: falls.xls ends in none of .csv, .parquet, .json
    """
    plain = frame.set_axis([f"v{i}" for i in range(frame.shape[1])], axis=1)
    # A view would call columns that differ in case only by other names.
    names = ", ".join(
        f"{column} as {quoted(str(name))}"
        for column, name in zip(plain.columns, frame.columns, strict=True)
    )
    with (
        _written_whole(path) as copies,
        store.reading() as con,
        registered(con, "written_frame", plain),
    ):
        con.execute(f"copy (select {names} from written_frame) {copies}")  # noqa: S608
    return path_of(path)


@contextmanager
def _written_whole(path: str | os.PathLike[str]) -> Iterator[str]:
    """Give the end of a COPY to another file, which then takes the place of this one."""
    file = path_of(path)
    options = _FORMATS.get(file.suffix.lower())
    if options is None:
        raise GraphError(f"{file} ends in none of {', '.join(_FORMATS)}")
    if not file.parent.is_dir():
        raise GraphError(f"there is no folder {str(file.parent)!r} to write to")
    part = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    target = str(part).replace("'", "''")
    try:
        yield f"to '{target}' ({options})"
        part.replace(file)
    except (duckdb.Error, OSError) as error:
        reason = str(error).strip().splitlines()[0]
        raise GraphError(f"{file} cannot be written: {reason}") from None
    finally:
        part.unlink(missing_ok=True)
