"""Run pyreadstat in a process of its own: some damaged files make ReadStat crash.

The source of this module is what that process runs, so it imports nothing of cegdb. A
request comes in by standard input, answers go out by standard output, all pickled.
"""

from __future__ import annotations

import codecs
import inspect
import os
import pickle
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

_META: Final = (
    "column_names",
    "column_names_to_labels",
    "file_encoding",
    "missing_ranges",
    "number_rows",
    "original_variable_types",
    "readstat_variable_types",
    "variable_storage_width",
    "variable_value_labels",
)
_DOUBLED: Final = "_duplicated1"
_BYTES: Final = "ISO-8859-1"


class ReadRequest(NamedTuple):
    """What to read: ``columns`` None asks for the metadata alone."""

    function: str
    path: str
    encoding: str | None
    columns: list[str] | None
    rows: int
    search_path: list[str]


def command() -> list[str]:
    """Return the command that starts the process."""
    source = inspect.getsource(sys.modules[__name__])
    return [sys.executable, "-I", "-c", f"{source}\n\nserve()\n"]


def serve() -> None:
    """Answer the one request on standard input."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    request = ReadRequest(*pickle.load(sys.stdin.buffer))  # noqa: S301 (the parent wrote it)
    sys.path[:] = request.search_path
    try:
        for answer in _replies(request):
            _send(answers, answer)
        _send(answers, ("end", None))
    except BrokenPipeError:
        os._exit(0)
    except Exception as error:  # noqa: BLE001 (the parent reports it)
        _send(answers, ("error", (type(error).__name__, str(error))))


def _send(stream: BinaryIO, answer: tuple[str, object]) -> None:
    pickle.dump(answer, stream, protocol=5)
    stream.flush()


def _replies(request: ReadRequest) -> Iterator[tuple[str, object]]:
    """Give the metadata, then the rows some at a time."""
    import pyreadstat

    settings: dict[str, Any] = {"output_format": "dict", "disable_datetime_conversion": True}
    if request.encoding is not None:
        settings["encoding"] = request.encoding
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _, file_meta = _read(pyreadstat, request, metadataonly=True, **settings)
        encoding = _encoding(request, file_meta.file_encoding)
        decode: Callable[[str], str] = str
        if encoding is not None:
            settings["encoding"] = _BYTES
            decode = _decoder(encoding)
            _, file_meta = _read(pyreadstat, request, metadataonly=True, **settings)
    meta = {name: getattr(file_meta, name) for name in _META}
    duplicates = [
        name.removesuffix(_DOUBLED)
        for name in meta["column_names"]
        if name.endswith(_DOUBLED) and any(repr(name)[1:-1] in str(w.message) for w in caught)
    ]
    as_bytes = {decode(name): name for name in meta["column_names"]}
    meta = {**_decoded(meta, decode), "duplicates": duplicates, "file_encoding": encoding}
    yield "meta", meta
    if request.columns is None or duplicates or meta["number_rows"] == 0:
        return
    settings["usecols"] = [as_bytes[name] for name in request.columns if name in as_bytes]
    kinds = meta["readstat_variable_types"]
    # Stata's strL, which have no width, come as UTF-8 whatever the encoding.
    widths = meta["variable_storage_width"]
    offset, n = 0, request.rows
    # A limit of 0 would mean all rows.
    while n == request.rows and offset != meta["number_rows"]:
        cells, _ = _read(
            pyreadstat, request, row_offset=offset, row_limit=request.rows, **settings
        )
        n = len(next(iter(cells.values()), ()))
        offset += n
        if n:
            named = {decode(name): column for name, column in cells.items()}
            yield (
                "rows",
                {
                    name: _pack_column(column, kinds[name], decode if widths[name] else str)
                    for name, column in named.items()
                },
            )


def _encoding(request: ReadRequest, of_file: str | None) -> str | None:
    """Return the encoding to decode texts by; None leaves that to ReadStat.

    ReadStat drops the last letters of a text that break off in the encoding, as those of
    another encoding may, so texts are read as bytes and decoded here.
    """
    if request.function == "por":
        return None
    default = "utf-8"
    if request.function == "dta":
        # Stata's texts are UTF-8 since the format 118; 117 has a tag in front as well.
        with Path(request.path).open("rb") as stream:
            start = stream.read(64)
        unicode = b"<release>" in start and b"<release>117" not in start
        default = "utf-8" if unicode else "cp1252"
    name = request.encoding or of_file or default
    try:
        codecs.lookup(name)
    except LookupError:
        return None
    return name


def _decoder(encoding: str) -> Callable[[str], str]:
    def decode(text: str) -> str:
        return text if text.isascii() else text.encode(_BYTES).decode(encoding)

    return decode


def _decoded(tree: Any, decode: Callable[[str], str]) -> Any:
    """Return lists and dicts with each text in them decoded."""
    if isinstance(tree, str):
        return decode(tree)
    if isinstance(tree, dict):
        return {_decoded(key, decode): _decoded(value, decode) for key, value in tree.items()}
    return [_decoded(value, decode) for value in tree] if isinstance(tree, list) else tree


def _read(pyreadstat: ModuleType, request: ReadRequest, **settings: Any) -> Any:
    if request.function in ("por", "xport"):
        # The public readers of these two formats offer neither user-missing values nor,
        # for .por, an encoding.
        entry = pyreadstat.pyreadstat.parser_entry_point
        return entry(request.path, request.function, user_missing=True, **settings)
    read = getattr(pyreadstat, f"read_{request.function}")
    return read(request.path, user_missing=True, **settings)


def _pack_column(
    column: list[Any], kind: str, decode: Callable[[str], str]
) -> tuple[Any, list[Any] | None]:
    """Return numbers as an array (NaN: blank), anything else as indices in its distinct values.

    pyreadstat gives lists, since in its arrays of integers a blank that follows an extended
    missing value is some number (1.3.7).
    """
    import numpy as np

    if kind != "string":
        try:
            return np.array(column, dtype="float32" if kind == "float" else "float64"), None
        except (TypeError, ValueError):
            if kind == "float":
                column = [np.float32(x) if isinstance(x, float) else x for x in column]
    index: dict[object, int] = {}
    indices = [index.setdefault(value, len(index)) for value in column]
    return np.array(indices, dtype="int32"), _decoded(list(index), decode)
