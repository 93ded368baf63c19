"""Open, lock, migrate and close a database file; one transaction per object.

A store holds one DuckDB connection. Users' own SQL runs on other connections to the same
file, one per thread, so that their temp tables never collide with those of a step.
"""

from __future__ import annotations

import logging
import os
import re
import threading
import weakref
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, ClassVar, Protocol

import duckdb
import sqlalchemy as sa
from duckdb_sqlalchemy import ConnectionWrapper
from sqlalchemy.pool import StaticPool

from cegdb.errors import CegdbError, StoreError
from cegdb.interrupts import held_interrupts, raise_lost_interrupt
from cegdb.sqlfiles import damage_error, quoted, raise_interrupt, raise_out_of_memory
from cegdb.store import migrate, schema
from cegdb.store.files import (
    check_path,
    clear_spill,
    database_path,
    open_error,
    refuse_database_name,
)
from cegdb.store.progress import Progress, set_progress_bar

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable
    from pathlib import Path

__all__ = ["Store", "quoted", "schema"]

log = logging.getLogger("cegdb")

_open_stores: weakref.WeakSet[Store] = weakref.WeakSet()


class _BorrowedConnection(ConnectionWrapper):
    """The store's connection, which SQLAlchemy would close after an interrupt."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        super().__init__(con)
        self._borrowed = con

    def close(self) -> None:
        """Give up the transaction, not the connection."""
        _roll_back(self._borrowed)


class Connect(Protocol):
    """How a store opens the connection to a file, or to memory (None)."""

    def __call__(self, file: Path | None, *, read_only: bool) -> duckdb.DuckDBPyConnection: ...


def _connect(file: Path | None, *, read_only: bool) -> duckdb.DuckDBPyConnection:
    try:
        return duckdb.connect(":memory:" if file is None else file, read_only=read_only)
    except duckdb.Error as error:
        raise open_error(file, error, read_only=read_only) from None


class Store:
    """One open database, in memory or in a file.

    Attributes
    ----------
    path
        The file; None in memory.
    progress
        How far the running work is.
    is_changed
        Whether a transaction was committed since it was opened.
    connect
        Opens the connection to a file, or to memory (None). Another function may give new
        databases the schema in a faster way.

    Examples
    --------
    >>> with Store.open() as store, store.reading() as con:
    ...     con.execute("select count(*) from cegdb.survey").fetchone()
    (0,)
    """

    connect: ClassVar[Connect] = staticmethod(_connect)

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
        self._catalog: sa.Connection | None = None
        self._has_failed = False
        self._is_counted = False
        self.is_changed = False
        self._engine = sa.create_engine(
            "duckdb://", creator=lambda: _BorrowedConnection(con), poolclass=StaticPool
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
        migrations: Traversable | None = None,
    ) -> Store:
        """Open a file, or a database in memory; create or migrate its schema.

        Parameters
        ----------
        path
            A DuckDB file, created if it does not exist; None for a database in memory.
        read_only
            Several processes may read one file at the same time, but none may write to it then.
        memory_limit
            DuckDB's limit, such as ``"2GB"``, beyond which it spills to disk.
        threads
            Number of threads that DuckDB may use.
        migrations
            Folder of the revisions of the schema; None for that of cegdb.

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
        file = None if path is None or str(path) == ":memory:" else database_path(path)
        is_new = file is not None and check_path(file, read_only=read_only)
        if file is None and read_only:
            raise StoreError("a database in memory cannot be opened read-only")
        store: Store | None = None
        try:
            with held_interrupts():
                con = cls.connect(file, read_only=read_only)
                store = cls(con, file, read_only=read_only)
            with store.reading() as con:
                refuse_database_name(con, file)
                _configure(con)
                if file is not None and not read_only:
                    clear_spill(con, file)
                if memory_limit is not None:
                    _set(con, "memory_limit", memory_limit)
                if threads is not None:
                    _set(con, "threads", threads)
                migrate.bring_to_head(
                    con, store._engine, file, read_only=read_only, folder=migrations
                )
        except BaseException:
            with held_interrupts():
                if store is not None:
                    store.close()
                    if is_new and file is not None:
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

        In a forked child it only drops the reference: the database belongs to the parent.
        """
        if os.getpid() != self._pid:
            self._con = None
            return
        with held_interrupts(), self._lock:
            con, self._con = self._con, None
            if con is None:
                return
            _open_stores.discard(self)
            for cursor in tuple(self._cursors):
                cursor.close()
            self._engine.dispose()
            con.close()

    def _open_connection(self) -> duckdb.DuckDBPyConnection:
        if os.getpid() != self._pid:
            raise StoreError(
                "this database was opened by the parent of this forked process",
                hint="open it again in this process, or start workers with 'spawn'",
            )
        if self._con is None:
            raise StoreError("this database is closed", hint="open it again")
        return self._con

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Give the store's connection to one thread at a time.

        Raises
        ------
        StoreError
            The database is closed, or DuckDB fails in a way that nothing else explains:
            a damaged file, a full disk, a conflict with another connection.
        """
        self._open_connection()
        with self._lock:
            try:
                yield self._open_connection()
            except CegdbError:
                raise
            except (duckdb.Error, RuntimeError) as error:
                raise_interrupt(error)
                if isinstance(error, duckdb.Error):
                    raise self._translated(error) from error
                raise
            except sa.exc.IntegrityError as error:
                raise StoreError(f"a catalog row was refused: {error.orig}") from error
            except sa.exc.DBAPIError as error:
                if isinstance(error.orig, Exception):
                    raise_interrupt(error.orig)
                raise self._translated(error.orig or error) from error

    def _translated(self, error: BaseException) -> StoreError:
        raise_out_of_memory(error)
        where = self.path or "the database in memory"
        text = str(error)
        if too_long := re.search(r"key size of (\d+) bytes exceeds .* of (\d+) bytes", text):
            size, most = (f"{int(number):,}" for number in too_long.groups())
            return StoreError(
                f"{where}: a name of {size} bytes is too long: DuckDB {duckdb.__version__} "
                f"keeps names of at most {most} bytes",
                hint="shorten it, or upgrade the package: pip install -U duckdb",
            )
        return damage_error(text, self.path) or StoreError(
            f"{where}: {text.strip().splitlines()[0]}"
        )

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
                    self._has_failed = True
                    raise
                return
            self._has_failed = False
            try:
                with self._connection() as self._transaction:
                    yield from self._transact(con, self._transaction)
            except BaseException:
                with held_interrupts():
                    _roll_back(con)
                raise
            finally:
                self._transaction = None

    @contextmanager
    def _connection(self) -> Iterator[sa.Connection]:
        """Give SQLAlchemy's connection.

        An interrupt waits until it is closed: SQLAlchemy would print it.
        """
        connection = self._engine.connect()
        try:
            yield connection
        finally:
            with held_interrupts():
                connection.close()

    def _transact(
        self, con: duckdb.DuckDBPyConnection, connection: sa.Connection
    ) -> Iterator[tuple[duckdb.DuckDBPyConnection, sa.Connection]]:
        """Begin, and commit or roll back; an interrupt comes before the commit or after."""
        transaction = connection.begin()
        try:
            yield con, connection
            self._refuse_failed_transaction()
            raise_lost_interrupt()
            with held_interrupts():
                transaction.commit()
                self.is_changed = True
        except BaseException:
            with held_interrupts():
                if transaction.is_active:
                    transaction.rollback()
            raise

    def _refuse_failed_transaction(self) -> None:
        if self._has_failed:
            raise StoreError(
                "a step of this transaction failed, so all of it is rolled back",
                hint="let the error end the transaction, and start another",
            )

    @contextmanager
    def catalog(self) -> Iterator[sa.Connection]:
        """Give SQLAlchemy's connection for reading the catalog; inside another, the same."""
        with self.reading():
            shared = self._transaction or self._catalog
            if shared is not None:
                yield shared
                return
            try:
                with self._connection() as self._catalog:
                    yield self._catalog
            finally:
                self._catalog = None

    @contextmanager
    def counting(self, total: int, unit: str) -> Iterator[Progress]:
        """Give a progress of that many units, which is complete at the end of the block.

        Inside another ``counting`` the progress is not shown, so that only the outer one is.

        Examples
        --------
        >>> with Store.open() as store, store.counting(4, "height") as progress:
        ...     progress.read()
        ...     str(store.progress)
        '1 of 4 heights, 25 %'
        """
        progress = Progress(total, unit=unit)
        is_inner, self._is_counted = self._is_counted, True
        if not is_inner:
            self.progress = progress
        try:
            yield progress
            progress.finish()
        finally:
            self._is_counted = is_inner

    def own_connection(self) -> duckdb.DuckDBPyConnection:
        """Return this thread's connection for users' own SQL."""
        con = self._open_connection()
        cursor: duckdb.DuckDBPyConnection | None = getattr(self._own, "cursor", None)
        if cursor is None:
            with self._lock:
                cursor = con.cursor()
                self._cursors.add(cursor)
            _configure(cursor)
            self._own.cursor = cursor
        return cursor


def _roll_back(con: duckdb.DuckDBPyConnection) -> None:
    # There may be no transaction any more, and no connection.
    with suppress(duckdb.Error):
        con.rollback()


def _configure(con: duckdb.DuckDBPyConnection) -> None:
    # Never read a caller's Python variable as a table. Set after opening: a start-up
    # configuration would lock out a notebook's own connection to the same file.
    con.execute("set python_enable_replacements = false")
    set_progress_bar(con, is_on=False)


def _set(con: duckdb.DuckDBPyConnection, setting: str, value: str | int) -> None:
    text = str(value).replace("'", "''")
    try:
        con.execute(f"set {setting} = '{text}'")
    except duckdb.Error as error:
        raise StoreError(f"{setting} cannot be {value!r}: {error}") from None


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
