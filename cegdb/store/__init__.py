"""Open, lock, migrate and close a database file; one transaction an object.

One DuckDB connection is held per store. Users' own SQL runs on other connections of the
same file, one a thread, so that their temp tables never meet a step.
"""

from __future__ import annotations

import logging
import os
import re
import stat
import threading
import weakref
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import sqlalchemy as sa
from duckdb_sqlalchemy import ConnectionWrapper
from sqlalchemy.pool import StaticPool

from cegdb.errors import CegdbError, StoreError
from cegdb.sqlfiles import raise_interrupt, raise_out_of_memory
from cegdb.store import migrate, schema
from cegdb.store.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Store", "quoted", "schema"]

log = logging.getLogger("cegdb")

_DATA_FILES = {".csv", ".tsv", ".gz", ".parquet", ".json", ".xlsx"}
_open_stores: weakref.WeakSet[Store] = weakref.WeakSet()


def quoted(name: str) -> str:
    """Return a name as an SQL identifier, whatever it holds.

    Examples
    --------
    >>> quoted('5" disk')
    '"5"" disk"'
    """
    return '"' + name.replace('"', '""') + '"'


class Store:
    """One open database, in memory or in a file.

    Examples
    --------
    >>> with Store.open() as store, store.reading() as con:
    ...     con.execute("select count(*) from cegdb.survey").fetchone()
    (0,)
    """

    def __init__(
        self, con: duckdb.DuckDBPyConnection, path: Path | None, *, read_only: bool
    ) -> None:
        self.path = path
        self.read_only = read_only
        self.progress = Progress()
        self._con: duckdb.DuckDBPyConnection | None = con
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._own = threading.local()
        # Weak: the connection of a thread goes with the thread.
        self._cursors: weakref.WeakSet[duckdb.DuckDBPyConnection] = weakref.WeakSet()
        self._transaction: sa.Connection | None = None
        self._is_spoilt = False
        self._engine = sa.create_engine(
            "duckdb://", creator=lambda: ConnectionWrapper(con), poolclass=StaticPool
        )
        _open_stores.add(self)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        read_only: bool = False,
        memory_limit: str | None = None,
        threads: int | None = None,
    ) -> Store:
        """Open a file, or a database in memory; create or migrate its schema.

        Parameters
        ----------
        path
            A DuckDB file, made if it does not exist; None for memory.
        read_only
            Several processes may read one file at once; none may write it meanwhile.
        memory_limit
            DuckDB's limit, such as ``"2GB"``; it spills to disk beyond.
        threads
            How many DuckDB may use.

        Raises
        ------
        StoreError
            The file cannot be opened: missing folder, not a DuckDB file, made by a newer
            DuckDB, locked by another process, open in this process in another mode.
        MigrationError
            Its schema ``cegdb`` is newer than this cegdb, not ours, or older and the file
            is opened read-only.

        Examples
        --------
        >>> Store.open().close()
        """
        file = None if path is None or str(path) == ":memory:" else Path(path)
        fresh = file is not None and _check_path(file, read_only=read_only)
        if file is None and read_only:
            raise StoreError("a database in memory cannot be opened read-only")
        try:
            con = duckdb.connect(":memory:" if file is None else file, read_only=read_only)
        except duckdb.Error as error:
            raise _open_error(file, error, read_only=read_only) from None
        store = cls(con, file, read_only=read_only)
        try:
            with store.reading():
                _refuse_database_name(con, file)
                _configure(con)
                if memory_limit is not None:
                    _set(con, "memory_limit", memory_limit)
                if threads is not None:
                    _set(con, "threads", threads)
                migrate.bring_to_head(con, store._engine, file, read_only=read_only)
        except BaseException:
            store.close()
            if fresh and file is not None:
                file.unlink(missing_ok=True)
            raise
        return store

    def __enter__(self) -> Store:
        """Return self."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def close(self) -> None:
        """Close every connection and release the file; a second call does nothing.

        In a forked child it only lets go: the database is the parent's.
        """
        if os.getpid() != self._pid:
            self._con = None
            return
        with self._lock:
            con, self._con = self._con, None
            if con is None:
                return
            _open_stores.discard(self)
            for cursor in tuple(self._cursors):
                cursor.close()
            self._engine.dispose()
            con.close()

    def _checked(self) -> duckdb.DuckDBPyConnection:
        if os.getpid() != self._pid:
            raise StoreError(
                "this database was opened by the parent of this forked process",
                hint="open it again here, or start workers with 'spawn'",
            )
        if self._con is None:
            raise StoreError("this database is closed", hint="open it again")
        return self._con

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Give the held connection to one thread at a time.

        Raises
        ------
        StoreError
            The database is closed, or DuckDB fails in a way that nothing else explains:
            a damaged file, a full disk, a conflict with another connection.
        """
        self._checked()
        with self._lock:
            try:
                yield self._checked()
            except CegdbError:
                raise
            except (duckdb.Error, RuntimeError) as error:
                raise_interrupt(error)
                if isinstance(error, duckdb.Error):
                    raise self._failed(error) from error
                raise
            except sa.exc.IntegrityError as error:
                raise StoreError(f"a catalog row was refused: {error.orig}") from error
            except sa.exc.DBAPIError as error:
                raise self._failed(error.orig or error) from error

    def _failed(self, error: BaseException) -> StoreError:
        raise_out_of_memory(error)
        where = self.path or "the database in memory"
        return StoreError(f"{where}: {str(error).strip().splitlines()[0]}")

    @contextmanager
    def writing(self) -> Iterator[tuple[duckdb.DuckDBPyConnection, sa.Connection]]:
        """Give one transaction: committed at the end, rolled back after any error.

        Both connections returned are the same one: DuckDB's for the steps, SQLAlchemy's
        for the catalog. Inside another ``writing`` its transaction goes on; after an error
        in there it cannot be committed, even if the error was caught.
        """
        with self.reading() as con:
            if self.read_only:
                raise StoreError(
                    f"{self.path} is open read-only", hint="open it without read_only"
                )
            if self._transaction is not None:
                try:
                    yield con, self._transaction
                except BaseException:
                    self._is_spoilt = True
                    raise
                return
            self._is_spoilt = False
            try:
                with self._engine.begin() as self._transaction:
                    yield con, self._transaction
                    if self._is_spoilt:
                        raise StoreError(
                            "a step of this transaction failed, so nothing of it is kept",
                            hint="let the error end the transaction, and start another",
                        )
            finally:
                self._transaction = None

    @contextmanager
    def catalog(self) -> Iterator[sa.Connection]:
        """Give SQLAlchemy's connection for reading the catalog."""
        with self.reading():
            if self._transaction is not None:
                yield self._transaction
                return
            with self._engine.connect() as connection:
                yield connection

    def own_connection(self) -> duckdb.DuckDBPyConnection:
        """Return this thread's connection for users' own SQL."""
        con = self._checked()
        cursor: duckdb.DuckDBPyConnection | None = getattr(self._own, "cursor", None)
        if cursor is None:
            with self._lock:
                cursor = con.cursor()
                self._cursors.add(cursor)
            _configure(cursor)
            self._own.cursor = cursor
        return cursor


def _configure(con: duckdb.DuckDBPyConnection) -> None:
    # Never read a caller's Python variable as a table. Set after opening: a start-up
    # configuration would lock out a notebook's own connection to the same file.
    con.execute("set python_enable_replacements = false")


def _set(con: duckdb.DuckDBPyConnection, setting: str, value: str | int) -> None:
    text = str(value).replace("'", "''")
    try:
        con.execute(f"set {setting} = '{text}'")
    except duckdb.Error as error:
        raise StoreError(f"{setting} cannot be {value!r}: {error}") from None


def _check_path(file: Path, *, read_only: bool) -> bool:
    """Refuse a path that cannot be a database; return whether it is to be made."""
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
        if not stat.S_ISREG(mode) or not _is_duckdb(file):
            raise StoreError(
                f"{file} is not a DuckDB database", hint="give the path of a .duckdb file"
            )
        return False
    if read_only:
        raise StoreError(f"there is no file {file}")
    if file.suffix.lower() in _DATA_FILES:
        raise StoreError(
            f"a database cannot be called {file.name}: DuckDB would read it as data",
            hint="call it .duckdb",
        )
    if not file.absolute().parent.is_dir():
        raise StoreError(f"there is no folder {file.absolute().parent}", hint="make it first")
    return True


def _refuse_database_name(con: duckdb.DuckDBPyConnection, file: Path | None) -> None:
    ((name,),) = con.execute("select current_database()").fetchall()
    if name.casefold() == schema.SCHEMA:
        raise StoreError(
            f"{file} cannot be called cegdb: DuckDB names a database after its file, and "
            "could not tell it from the schema cegdb in it",
            hint="use another name, such as my_cegdb.duckdb",
        )


def _is_duckdb(file: Path) -> bool:
    try:
        with file.open("rb") as stream:
            return stream.read(12)[8:] == b"DUCK"
    except OSError as error:
        raise StoreError(f"{file} cannot be read: {error.strerror}") from None


def _open_error(file: Path | None, error: duckdb.Error, *, read_only: bool) -> StoreError:
    """Translate what DuckDB says when it cannot open a file."""
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
        return StoreError(
            f"{file} was written by another DuckDB version than this {duckdb.__version__}:"
            f" {text.splitlines()[0]}",
            hint="upgrade the package duckdb, or export the file with the version that "
            "made it (export database) and import it here",
        )
    return StoreError(f"{file} cannot be opened: {text.splitlines()[0]}")


def _leave_to_parent() -> None:
    """Keep a forked child from freeing DuckDB's objects: without its threads that crashes."""
    import ctypes

    inherited = [duckdb.default_connection()]
    for store in tuple(_open_stores):
        inherited += [con for con in (store._con, *store._cursors) if con is not None]
    for con in inherited:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(con))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)
