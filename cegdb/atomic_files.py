"""Files that are written completely or not at all."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from cegdb.errors import GraphError, joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


def check_folder(path: Path) -> None:
    """Refuse to write to a folder, or into a folder that does not exist.

    Examples
    --------
    >>> from pathlib import Path
    >>> check_folder(Path("falls.dot"))
    """
    if not path.parent.is_dir():
        raise GraphError(f"there is no folder {str(path.parent)!r} to write to")
    if path.is_dir():
        raise GraphError(f"{str(path)!r} is a folder, not a file")


def suffix_of(path: Path, allowed: Sequence[str], file_kind: str) -> str:
    """Return the suffix of a file to write in lower case, or refuse it.

    Examples
    --------
    >>> from pathlib import Path
    >>> suffix_of(Path("falls.xls"), (".csv", ".json"), "a table")
    Traceback (most recent call last):
    ...
    cegdb.errors.GraphError: unknown file type '.xls' (falls.xls)
    hint: a table is written as .csv or .json
    """
    suffix = path.suffix.lower()
    if suffix not in allowed:
        raise GraphError(
            unknown_file_type(path),
            hint=f"{file_kind} is written as {joined(allowed, 'or')}",
        )
    return suffix


def unknown_file_type(path: Path) -> str:
    """Return the message about a file whose suffix stands for none of the types in question.

    Examples
    --------
    >>> from pathlib import Path
    >>> unknown_file_type(Path("out/falls.xls")), unknown_file_type(Path("falls"))
    ("unknown file type '.xls' (falls.xls)", "the file name 'falls' has no suffix")
    """
    if not path.suffix:
        return f"the file name {path.name!r} has no suffix"
    return f"unknown file type {path.suffix!r} ({path.name})"


@contextmanager
def atomic_writer(path: Path) -> Iterator[IO[bytes]]:
    r"""Open a new file that replaces the one at ``path`` if the block succeeds.

    Raises
    ------
    GraphError
        The folder does not exist, or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_writer(Path(folder, "one.txt")) as file:
    ...         _ = file.write(b"one")
    ...     Path(folder, "one.txt").read_text()
    'one'
    """
    check_folder(path)
    try:
        with atomic_path(path) as beside, beside.open("xb") as file:
            yield file
    except OSError as error:
        raise GraphError(f"cannot write {str(path)!r}: {error.strerror}") from error


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    r"""Give the path of a temporary file, which replaces ``path`` if the block succeeds.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_path(Path(folder, "one.txt")) as beside:
    ...         _ = beside.write_text("one")
    ...     Path(folder, "one.txt").read_text()
    'one'
    """
    beside = path.with_name(f".cegdb-{secrets.token_hex(8)}.tmp")
    try:
        yield beside
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def atomic_write(path: Path, content: bytes) -> Path:
    """Write a file completely or not at all, and return its path.

    Raises
    ------
    GraphError
        The folder does not exist, or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     atomic_write(Path(folder, "one.txt"), b"one").read_bytes()
    b'one'
    """
    with atomic_writer(path) as file:
        file.write(content)
    return path
