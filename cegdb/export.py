"""Tables to files: CSV, Parquet or JSON of one view, written whole or not at all."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Final

import duckdb

from cegdb.errors import GraphError, path_of
from cegdb.small_cells import shown

if TYPE_CHECKING:
    import os
    from pathlib import Path

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
    file = path_of(path)
    options = _FORMATS.get(file.suffix.lower())
    if options is None:
        raise GraphError(f"{file} ends in none of {', '.join(_FORMATS)}")
    if not file.parent.is_dir():
        raise GraphError(f"there is no folder {str(file.parent)!r} to write to")
    part = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    target = str(part).replace("'", "''")
    try:
        with store.reading() as con, shown(store, view, {column: name}, min_n) as relation:
            con.execute(
                f"copy (select * from {relation} where {column} = $name order by all) "  # noqa: S608
                f"to '{target}' ({options})",
                {"name": name},
            )
        part.replace(file)
    except (duckdb.Error, OSError) as error:
        reason = str(error).strip().splitlines()[0]
        raise GraphError(f"{file} cannot be written: {reason}") from None
    finally:
        part.unlink(missing_ok=True)
    return file
