"""File-like objects: whatever gives bytes or text when its method ``read`` is called."""

from __future__ import annotations

import inspect
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cegdb.errors import SurveyError

_CHUNK: Final = 1 << 20
_BINARY: Final = "open it in binary mode ('rb'), and give encoding= if it is not UTF-8"


def is_stream(source: object) -> bool:
    """Return whether an object is file-like.

    Examples
    --------
    >>> import io
    >>> is_stream(io.BytesIO()), is_stream("survey.csv")
    (True, False)
    """
    return callable(getattr(source, "read", None))


@dataclass(frozen=True)
class Stream:
    """A file-like object, what messages call it, and the name of its file."""

    source: Any
    title: str
    file_name: str

    @classmethod
    def of(cls, source: object) -> Stream:
        """Return a file-like object under the name of its file, if it has one.

        Uploaded files have it as ``filename`` or ``name``, depending on the web framework; one
        with both has the name of a form's field as ``name``.

        Examples
        --------
        >>> import io
        >>> Stream.of(io.BytesIO()).title
        'BytesIO'
        """
        attributes = ("name",) if isinstance(source, io.IOBase) else ("filename", "name")
        for attribute in attributes:
            name = getattr(source, attribute, None)
            if isinstance(name, str) and Path(name).name:
                return cls(source, name, Path(name).name)
        return cls(source, type(source).__name__, "survey")

    def position(self) -> int | None:
        """Return where reading starts, None if one cannot come back to it."""
        try:
            return int(self.source.tell()) if self.source.seekable() else None
        except (AttributeError, OSError, ValueError):
            return None

    def copy_to(self, file: Path) -> bool:
        """Write what is left to read to a file, text as UTF-8; return whether it was text."""
        is_text, position = False, self.position()
        with file.open("wb") as copy:
            while chunk := self._chunk():
                is_text = isinstance(chunk, str)
                try:
                    copy.write(chunk.encode() if isinstance(chunk, str) else chunk)
                except UnicodeEncodeError:
                    raise SurveyError(
                        f"{self.title} contains characters that are not valid text",
                        hint=_BINARY,
                    ) from None
            if not copy.tell() and position:
                raise SurveyError(
                    f"{self.title} has nothing left to read",
                    hint="it was written or read before: call its seek(0) first",
                )
        return is_text

    def _chunk(self) -> str | bytes | bytearray | memoryview:
        """Return the next part of the source."""
        try:
            chunk = self.source.read(_CHUNK)
        except UnicodeDecodeError:
            raise SurveyError(
                f"{self.title} was opened as text, in an encoding that is not its own",
                hint=_BINARY,
            ) from None
        except (OSError, ValueError) as error:
            raise SurveyError(f"{self.title} cannot be read: {error}") from None
        if isinstance(chunk, (str, bytes, bytearray, memoryview)):
            return chunk
        if inspect.iscoroutine(chunk):
            chunk.close()
            raise SurveyError(
                f"{self.title} is read with await, which cegdb does not do",
                hint="give its attribute file, or io.BytesIO(await source.read())",
            )
        raise SurveyError(
            f"{self.title} gives {type(chunk).__name__} when it is read, not bytes or text",
            hint="give a file that is open in binary or text mode",
        )
