"""Run pyreadstat in a process of its own: some damaged files make ReadStat crash.

The source of this module is what that process runs, so it imports nothing of cegdb. A
request comes in by standard input, answers go out by standard output, all pickled.
"""

from __future__ import annotations

import inspect
import os
import pickle
import sys
import warnings
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

_META: Final = (
    "column_names",
    "column_names_to_labels",
    "file_encoding",
    "missing_ranges",
    "number_rows",
    "original_variable_types",
    "readstat_variable_types",
    "variable_value_labels",
)
_DOUBLED: Final = "_duplicated1"


class Request(NamedTuple):
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
    request = Request(*pickle.load(sys.stdin.buffer))  # noqa: S301 (the parent wrote it)
    sys.path[:] = request.search_path
    try:
        for answer in _answers(request):
            _send(answers, answer)
        _send(answers, ("end", None))
    except BrokenPipeError:
        os._exit(0)
    except Exception as error:  # noqa: BLE001 (the parent reports it)
        _send(answers, ("error", (type(error).__name__, str(error))))


def _send(stream: BinaryIO, answer: tuple[str, object]) -> None:
    pickle.dump(answer, stream, protocol=5)
    stream.flush()


def _answers(request: Request) -> Iterator[tuple[str, object]]:
    """Give the metadata, then the rows some at a time."""
    import pyreadstat

    settings: dict[str, Any] = {"output_format": "dict", "disable_datetime_conversion": True}
    if request.encoding is not None:
        settings["encoding"] = request.encoding
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _, found = _read(pyreadstat, request, metadataonly=True, **settings)
    meta = {name: getattr(found, name) for name in _META}
    names = meta["column_names"]
    meta["twice"] = [
        name.removesuffix(_DOUBLED)
        for name in names
        if name.endswith(_DOUBLED) and any(repr(name)[1:-1] in str(w.message) for w in caught)
    ]
    yield "meta", meta
    if request.columns is None or meta["twice"] or meta["number_rows"] == 0:
        return
    settings["usecols"] = request.columns
    kinds = meta["readstat_variable_types"]
    offset, n = 0, request.rows
    # A limit of 0 would mean all rows.
    while n == request.rows and offset != meta["number_rows"]:
        cells, _ = _read(
            pyreadstat, request, row_offset=offset, row_limit=request.rows, **settings
        )
        n = len(next(iter(cells.values()), ()))
        offset += n
        if n:
            yield "rows", {name: _packed(column, kinds[name]) for name, column in cells.items()}


def _read(pyreadstat: ModuleType, request: Request, **settings: Any) -> Any:
    if request.function in ("por", "xport"):
        # The public readers of these two formats offer neither user-missing values nor,
        # for .por, an encoding.
        entry = pyreadstat.pyreadstat.parser_entry_point
        return entry(request.path, request.function, user_missing=True, **settings)
    read = getattr(pyreadstat, f"read_{request.function}")
    return read(request.path, user_missing=True, **settings)


def _packed(column: list[Any], kind: str) -> tuple[Any, list[Any] | None]:
    """Return numbers as an array (NaN: blank), anything else as places among the distinct.

    Lists are asked of pyreadstat since in its arrays of integers a blank that follows an
    extended missing value is some number (1.3.7).
    """
    import numpy as np

    if kind != "string":
        try:
            return np.array(column, dtype="float32" if kind == "float" else "float64"), None
        except (TypeError, ValueError):
            if kind == "float":
                column = [np.float32(x) if isinstance(x, float) else x for x in column]
    places: dict[object, int] = {}
    found = [places.setdefault(value, len(places)) for value in column]
    return np.array(found, dtype="int32"), list(places)
