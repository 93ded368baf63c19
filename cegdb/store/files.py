"""Database files: valid paths, why a file cannot be opened, leftovers of killed processes."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

import duckdb

from cegdb.errors import StoreError
from cegdb.sqlfiles import damage_error
from cegdb.store import schema

_DATA_FILES: Final = {".csv", ".tsv", ".gz", ".parquet", ".json", ".xlsx"}
_SPILL_PREFIX: Final = "duckdb_temp_"
# The header: a checksum, DUCK, the version of the storage, flags, who made the file.
_VERSION_BYTES: Final = slice(52, 84)


def database_path(path: object) -> Path:
    """Return the path of a database, and refuse what is not a path.

    Examples
    --------
    >>> database_path(5)
    Traceback (most recent call last):
    ...
    cegdb.errors.StoreError: the path of a database must be a text or a Path, not 5
    hint: give the path of a .duckdb file, or no path for a database in memory
    """
    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
        raise StoreError(
            f"the path of a database must be a text or a Path, not {path!r}",
            hint="give the path of a .duckdb file, or no path for a database in memory",
        )
    return Path(path)


def check_path(file: Path, *, read_only: bool) -> bool:
    """Refuse a path that cannot be a database; return whether the file is new."""
    try:
        str(file).encode()
        mode = file.stat().st_mode
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise StoreError(f"{ascii(str(file))[1:-1]} cannot be opened: {reason}") from None
    else:
        if stat.S_ISDIR(mode):
            raise StoreError(f"{file} is a folder, not a database file")
        # DuckDB would open a CSV, Parquet or SQLite file as something else.
        if not stat.S_ISREG(mode) or not is_duckdb(file):
            raise StoreError(
                f"{file} is not a DuckDB database",
                hint="give the path of a .duckdb file; most commands take it first, before the "
                "file of a survey",
            )
        return False
    if read_only:
        raise StoreError(f"there is no file {file}")
    if file.suffix.lower() in _DATA_FILES:
        raise StoreError(
            f"a database cannot be named {file.name}: DuckDB would read it as data",
            hint="let its name end in .duckdb; most commands take it first, before the file of "
            "a survey",
        )
    if not file.absolute().parent.is_dir():
        raise StoreError(f"there is no folder {file.absolute().parent}", hint="make it first")
    return True


def refuse_database_name(con: duckdb.DuckDBPyConnection, file: Path | None) -> None:
    """Refuse a file name that gives the database the name of our schema."""
    ((name,),) = con.execute("select current_database()").fetchall()
    if name.casefold() == schema.SCHEMA:
        raise StoreError(
            f"{file} cannot be named cegdb: DuckDB names a database after its file, and "
            "could not distinguish it from the schema cegdb inside",
            hint="use another name, such as my_cegdb.duckdb",
        )


def is_duckdb(file: Path) -> bool:
    """Return whether a file starts like a DuckDB database."""
    try:
        with file.open("rb") as stream:
            return stream.read(12)[8:] == b"DUCK"
    except OSError as error:
        raise StoreError(f"{file} cannot be read: {error.strerror}") from None


def open_error(file: Path | None, error: duckdb.Error, *, read_only: bool) -> StoreError:
    """Translate DuckDB's error on opening a file."""
    text = str(error)
    if "lock on file" in text:
        holder = re.search(r"PID (\d+)", text)
        pid = f"process {holder[1]}" if holder else "another process"
        return StoreError(
            f"{file} is in use by {pid}",
            hint="close it there (a notebook, a database tool), or copy the file; "
            "several processes can read one file only if all open it read-only",
        )
    if "different configuration" in text or "Unique file handle conflict" in text:
        mode = "for writing" if read_only else "read-only or with other settings"
        return StoreError(
            f"{file} is already open {mode} in this process",
            hint="close the other handle, or open both in the same mode",
        )
    if "not a valid DuckDB database file" in text:
        return StoreError(
            f"{file} is not a DuckDB database", hint="give the path of a .duckdb file"
        )
    if "version number" in text:
        return _other_version(file)
    if "replaying WAL" in text:
        return StoreError(
            f"{file} cannot be opened: its log {file}.wal cannot be read: "
            f"{text.splitlines()[0].rpartition(': ')[2]}",
            hint="keep a copy of both, and open it with a newer version of the package duckdb; "
            "without the log, what was stored last is lost",
        )
    return damage_error(text, file) or StoreError(
        f"{file} cannot be opened: {text.splitlines()[0]}"
    )


def _other_version(file: Path | None) -> StoreError:
    """Return an error that names both versions; the file's own is in its header."""
    maker = _duckdb_version_of(file)
    tool = f"duckdb {maker}" if maker else "the duckdb that made it"
    return StoreError(
        f"{file} was made by {f'DuckDB {maker}' if maker else 'another DuckDB'}, and this "
        f"DuckDB {duckdb.__version__} cannot read it",
        hint=f"upgrade the package: pip install {f'duckdb=={maker}' if maker else '-U duckdb'}"
        f"; or, in {tool}, export database 'FOLDER', and here, in a new file, "
        "import database 'FOLDER'",
    )


def _duckdb_version_of(file: Path | None) -> str:
    """Return the version of DuckDB that wrote a file, from its header."""
    if file is None:
        return ""
    try:
        with file.open("rb") as stream:
            name = (
                stream.read(_VERSION_BYTES.stop)[_VERSION_BYTES].rstrip(b"\0").decode("ascii")
            )
    except (OSError, UnicodeDecodeError):
        return ""
    version = re.fullmatch(r"v(\d+(?:\.\d+)+)", name)
    return version[1] if version else ""


def clear_spill(con: duckdb.DuckDBPyConnection, file: Path) -> None:
    """Remove what a killed process spilled to disk beside a file that is open for writing.

    DuckDB removes it only when it spills itself, and leaves the folder. Nobody else uses it:
    the file is locked, so no other process does, and this is the only connection here.
    """
    folder = Path(f"{file}.tmp")
    if not folder.is_dir():
        return
    spilled = [item for item in folder.iterdir() if item.name.startswith(_SPILL_PREFIX)]
    ((setting,),) = con.execute("select current_setting('temp_directory')").fetchall()
    try:
        ((n_connections,),) = con.execute("from duckdb_connection_count()").fetchall()
    except duckdb.CatalogException:
        # DuckDB 1.4 cannot count them, and may be spilling there for another connection.
        return
    if n_connections != 1 or not Path(setting or "").is_dir() or not folder.samefile(setting):
        return
    for item in spilled:
        with suppress(OSError):
            item.unlink()
    with suppress(OSError):
        folder.rmdir()
