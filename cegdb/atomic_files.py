"""Files written whole or not at all."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from cegdb.errors import GraphError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def check_folder(path: Path) -> None:
    """Refuse a file to write that is a folder, or in one that is not there.

    Examples
    --------
    >>> from pathlib import Path
    >>> check_folder(Path("falls.dot"))
    """
    if not path.parent.is_dir():
        raise GraphError(f"there is no folder {str(path.parent)!r} to write to")
    if path.is_dir():
        raise GraphError(f"{str(path)!r} is a folder, and no file to write")


@contextmanager
def written_whole(path: Path) -> Iterator[IO[bytes]]:
    r"""Give a file to write, which takes its place when the block ends well.

    Raises
    ------
    GraphError
        There is no such folder, or it cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_whole(Path(folder, "one.txt")) as file:
    ...         _ = file.write(b"one")
    ...     Path(folder, "one.txt").read_text()
    'one'
    """
    check_folder(path)
    try:
        with replacing(path) as beside, beside.open("xb") as file:
            yield file
    except OSError as error:
        raise GraphError(f"cannot write {str(path)!r}: {error.strerror}") from error


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    r"""Give a path beside a file; what is written there replaces it if the block ends well.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder, "one.txt")) as beside:
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


def write_whole(path: Path, content: bytes) -> Path:
    """Write a file whole or not at all, and return its path.

    Raises
    ------
    GraphError
        There is no such folder, or it cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder, "one.txt"), b"one").read_bytes()
    b'one'
    """
    with written_whole(path) as file:
        file.write(content)
    return path
