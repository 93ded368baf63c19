"""A copy of a database file, to work in and throw away."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cegdb.errors import StoreError
from cegdb.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def writable_copy(store: Store) -> Iterator[Store]:
    """Open a temporary copy of the file of a store that is read-only.

    The file cannot change meanwhile: as long as it is open read-only nobody may write it.

    Examples
    --------
    >>> import tempfile
    >>> from cegdb.ingest import ingest
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store.open(f"{folder}/one.duckdb") as store:
    ...         _ = ingest(store, "select 1 as x", name="one")
    ...     with Store.open(f"{folder}/one.duckdb", read_only=True) as store:
    ...         with writable_copy(store) as copy:
    ...             ingest(copy, "select 2 as x", name="two")
    2
    """
    if store.path is None:
        raise StoreError("a database in memory has no file to copy")
    with store.reading() as con:
        settings = con.execute(
            "select current_setting('memory_limit'), current_setting('threads')"
        ).fetchone()
    memory_limit, threads = settings or (None, None)
    with tempfile.TemporaryDirectory(prefix="cegdb-") as folder:
        path = Path(folder, store.path.name)
        try:
            # Changes that were not yet written into the file itself are in a second one.
            for suffix in ("", ".wal"):
                source = store.path.with_name(store.path.name + suffix)
                if source.exists():
                    shutil.copyfile(source, path.with_name(path.name + suffix))
        except OSError as error:
            raise StoreError(
                f"no room for a copy of {store.path} in {folder}: {error.strerror}",
                hint="open the database without read_only, or set TMPDIR to another folder",
            ) from error
        with Store.open(path, memory_limit=memory_limit, threads=threads) as copy:
            yield copy
