"""Get the text of a file: unpacked, decoded, and checked to the last byte.

DuckDB reads a UTF-8 file in place; any other is copied as UTF-8. Compressed files are copied
too, since DuckDB 2.0 reads a truncated .zst as a shorter file, and a .gz whose checksum is
wrong as a good one. Unpacking first finds both, and was no slower (68 MB of CSV: 0.1 s to
unpack and 0.24 s to read the copy in parallel; 0.4 to 0.5 s to read the .gz).
"""

from __future__ import annotations

import codecs
import errno
import gzip
import importlib
import io
import re
import shutil
import sys
import tempfile
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, cast

from cegdb.errors import SurveyError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import ExitStack

Compression: TypeAlias = Literal["none", "gzip", "zstd"]

START_SIZE: Final = 1 << 16
ZIP: Final = b"PK\x03\x04"
CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1f]")

_CHUNK: Final = 1 << 20
_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18", re.DOTALL)
_UTF8: Final = ("utf-8", "utf-8-sig")
# That of UTF-32 first: it starts like that of UTF-16.
_BYTE_ORDER_MARKS: Final = {
    codecs.BOM_UTF8: ("utf-8-sig", "utf-8"),
    codecs.BOM_UTF32_LE: ("utf-32-le", "utf-32"),
    codecs.BOM_UTF32_BE: ("utf-32-be", "utf-32"),
    codecs.BOM_UTF16_LE: ("utf-16-le", "utf-16"),
    codecs.BOM_UTF16_BE: ("utf-16-be", "utf-16"),
}
_WIDE: Final = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
_END: Final = re.compile(r"\r\n|\n|\r")
_C1: Final = re.compile("[\x80-\x84\x86-\x9f]")


class DecodedFile(NamedTuple):
    """A UTF-8 file to read, the source or a copy of it, and how the source was written."""

    file: Path
    start: bytes
    encoding: str
    notes: list[str]


def compression_of(start: bytes) -> Compression:
    """Return how a file is compressed, from its first four bytes."""
    if start.startswith(_GZIP):
        return "gzip"
    return "zstd" if _ZSTD.match(start) else "none"


def decode_file(
    file: Path, scratch: ExitStack, encoding: str | None, compression: Compression
) -> DecodedFile:
    """Return a file as UTF-8 text, a copy if need be, which ``scratch`` owns."""
    start = read_start(file, START_SIZE, compression)[0]
    if start.startswith(ZIP):
        raise SurveyError(
            f"{file} is a zip archive, or an Excel file",
            hint="unpack it, or save the sheet as CSV",
        )
    if compression != "none" and compression_of(start[:4]) != "none":
        raise SurveyError(f"{file} is compressed twice", hint="unpack it once")
    used = _encoding(file, start, encoding)
    if used in _UTF8 and compression == "none":
        return DecodedFile(file, start, used, [])
    folder = scratch.enter_context(tempfile.TemporaryDirectory(prefix="cegdb-"))
    copy = Path(folder) / "text.csv"
    notes: list[str] = []
    with (
        file_errors(file),
        _bytes_of(file, compression) as source,
        copy.open("wb") as target,
    ):
        if used in _UTF8:
            shutil.copyfileobj(source, target, _CHUNK)
        else:
            notes = _copy_as_utf8(file, source, target, used)
    return DecodedFile(copy, read_start(copy, START_SIZE, "none")[0], used, notes)


def read_start(file: Path, size: int, compression: Compression = "none") -> tuple[bytes, bool]:
    """Return the first bytes of a text, and whether there are more."""
    with file_errors(file), _bytes_of(file, compression) as stream:
        return stream.read(size), bool(stream.read(1))


@contextmanager
def file_errors(file: Path) -> Iterator[None]:
    """Turn errors while a file is read or copied into ours."""
    try:
        yield
    except gzip.BadGzipFile as error:
        raise _archive_error(file, error) from None
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise SurveyError(
                f"not enough space in {tempfile.gettempdir()} for a UTF-8 copy of {file}",
                hint="set TMPDIR to a folder on a disk with more space",
            ) from None
        raise SurveyError(f"{file} cannot be read: {error}") from None
    except (EOFError, zlib.error) as error:
        raise _archive_error(file, error) from None
    except Exception as error:
        if type(error).__name__ != "ZstdError":  # its class is there only with its module
            raise
        raise _archive_error(file, error) from None


def _archive_error(file: Path, error: Exception) -> SurveyError:
    return SurveyError(
        f"{file} cannot be read: {error}", hint="the archive is damaged or cut off"
    )


def _bytes_of(file: Path, compression: Compression) -> IO[bytes]:
    if compression == "gzip":
        return cast("IO[bytes]", gzip.open(file, "rb"))
    if compression == "zstd":
        name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
        try:
            zstd = importlib.import_module(name)
        except ImportError:
            raise SurveyError(
                f"{file} is compressed with Zstandard, and reading it needs {name}",
                hint='pip install "cegdb[survey]", or unpack the file',
            ) from None
        return cast("IO[bytes]", zstd.open(file, "rb"))
    return file.open("rb")


# -----------------------------------------------------------------------------
# Encodings
# -----------------------------------------------------------------------------


def _encoding(file: Path, start: bytes, option: str | None) -> str:
    """Return the encoding of a text: by the option, else by its mark, else UTF-8."""
    marked = next(
        (names for mark, names in _BYTE_ORDER_MARKS.items() if start.startswith(mark)), None
    )
    if option is None:
        return marked[0] if marked else "utf-8"
    name = codecs.lookup(option).name
    if marked and name in marked:
        return marked[0]
    if marked:
        raise SurveyError(
            f"{file}, line 1: the text starts with the byte order mark of {marked[1]}, "
            f"not of {option}",
            hint="leave encoding out",
        )
    if not name.startswith(("utf-16", "utf-32")):
        return name
    unmarked = _unmarked_encoding(start)
    if unmarked is None and b"\0" in start:
        return name if name in _WIDE else f"{name}-le"
    if unmarked is None or not unmarked.startswith(name):
        raise SurveyError(
            f"{file}, line 1: this is not {option} text"
            + (f" but {unmarked}" if unmarked else ""),
            hint="pass another encoding=, or leave it out",
        )
    return unmarked


def _unmarked_encoding(start: bytes) -> str | None:
    """Return the encoding of UTF-16 or UTF-32 text without a byte order mark."""
    if b"\0" not in start:
        return None
    for name in _WIDE:
        try:
            text = codecs.getincrementaldecoder(name)().decode(start[: len(start) // 4 * 4])
        except UnicodeDecodeError:
            continue
        if re.search(r"[\n\r]", text) and not CONTROL.search(text):
            return name
    return None


def _copy_as_utf8(
    file: Path, source: IO[bytes], target: IO[bytes] | None, encoding: str
) -> list[str]:
    """Copy text as UTF-8, without its mark; return what looks wrong about the encoding."""
    decoder = codecs.getincrementaldecoder(encoding)()
    ends = io.IncrementalNewlineDecoder(None, translate=True)
    line, marked, notes = 1, True, list[str]()
    chunk = b"\n"
    while chunk:
        chunk = source.read(_CHUNK)
        text = ""
        try:
            text = decoder.decode(chunk, final=not chunk)
            if marked and text:
                text, marked = text.removeprefix("\ufeff"), False
                if text.startswith("\ufeff") and target is not None:
                    target.write(codecs.BOM_UTF8)  # so that this one is not taken for the mark
            if target is not None:
                target.write(text.encode())
        except UnicodeDecodeError as error:
            above = error.object[: error.start].decode(encoding, "replace")
            line += ends.decode(above, final=True).count("\n")
            raise _decoding_error(file, line, error, encoding) from None
        except UnicodeEncodeError as error:  # half a character, as UTF-7 may hold
            line += ends.decode(text[: error.start], final=True).count("\n")
            raise SurveyError(
                f"{file}, line {line}: not {encoding} text", hint="pass another encoding="
            ) from None
        control = _C1.search(text) if encoding.startswith("iso8859") and not notes else None
        if control:
            at_line = line + len(_END.findall(text, 0, control.start()))
            notes.append(
                f"line {at_line} contains a control character, 0x{ord(control[0]):02x}, which "
                "is common in cp1252 and not in latin-1: if letters look wrong, pass "
                "encoding='cp1252'"
            )
        line += ends.decode(text, final=not chunk).count("\n")
    return notes


def not_utf8(file: Path, named: Path, where: str | None = None) -> SurveyError:
    """Return the error that says where a text, of the file named, is not UTF-8."""
    try:
        with file_errors(file), file.open("rb") as source:
            _copy_as_utf8(named, source, None, "utf-8")
    except SurveyError as error:
        return error
    return SurveyError(f"{where or named}: not UTF-8 text")


def decode_start(file: Path, start: bytes, *, has_more: bool) -> str:
    """Return the start of a UTF-8 file as text, without its mark and a letter cut off."""
    try:
        return codecs.getincrementaldecoder("utf-8-sig")().decode(start, final=not has_more)
    except UnicodeDecodeError as error:
        if b"\0" in start:
            raise binary_error(file, start) from None
        above = start[: error.start].decode("utf-8", "replace")
        line = len(_END.findall(above)) + 1
        raise _decoding_error(file, line, error, "utf-8") from None


def binary_error(file: Path, start: bytes) -> SurveyError:
    """Return the error to raise for a file with bytes that no text has."""
    wide = _unmarked_encoding(start)
    if wide:
        return SurveyError(
            f"{file}, line 1: this looks like {wide} text without a byte order mark",
            hint=_encoding_hint(wide),
        )
    return SurveyError(
        f"{file} is not a CSV file: it contains binary data",
        hint="CSV (also .gz and .zst), Parquet, Excel, SPSS, Stata and SAS files can be read",
    )


def _decoding_error(
    file: Path, line: int, error: UnicodeDecodeError, encoding: str
) -> SurveyError:
    """Say which byte does not fit the encoding, and which encoding it may be in."""
    data = bytes(error.object)
    byte = f"{file}, line {line}: byte 0x{data[error.start]:02x}"
    if encoding not in _UTF8:
        return SurveyError(
            f"{byte} is not {encoding} text", hint="pass another encoding=, or leave it out"
        )
    likely, hint = _likely_encoding(data)
    return SurveyError(f"{byte} is not UTF-8 text{likely}", hint=hint)


def _likely_encoding(data: bytes) -> tuple[str, str]:
    """Return the likely encoding of bytes that are not UTF-8, and the hint."""
    text = data.decode("utf-8", "surrogateescape")
    bad = bytes(ord(char) - 0xDC00 for char in re.findall("[\udc80-\udcff]", text))
    if len(re.findall("[\x80-\ud7ff\ue000-\U0010ffff]", text)) > len(bad):
        return "; most of the text is", "correct that line, or save the whole file as UTF-8"
    name = "cp1252" if any(byte < 0xA0 for byte in bad) else "latin-1"
    n_letters = len(re.findall("[A-Za-z]", text))
    try:
        bad.decode(name)
    except UnicodeDecodeError:
        name = ""
    if not name or len(bad) > max(n_letters, 20):
        return "", "pass encoding= (on the command line --encoding), or save the file as UTF-8"
    return f"; it is probably {name}", _encoding_hint(name)


def _encoding_hint(name: str) -> str:
    return (
        f"pass encoding={name!r} (on the command line --encoding {name}), "
        "or save the file as UTF-8"
    )
