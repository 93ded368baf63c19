"""SPSS, Stata and SAS files: codes, their labels, and which codes mean missing.

Cells are codes as text, never labels, so that nothing is lost where labels repeat or are
absent; the label and meaning of a code are metadata.
"""

from __future__ import annotations

import datetime
import importlib.util
import math
import pickle
import re
import subprocess
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from cegdb.errors import SurveyError, agreeing, counted, listed
from cegdb.ingest.files import readstat_process
from cegdb.ingest.files.cell_labels import abbreviated, check_chunk_request, label_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["ColumnMetadata", "LabelledFile", "chunks", "describe", "format_of"]

Kind: TypeAlias = Literal["numeric", "text", "date", "datetime", "time", "period"]

_READERS: Final = {
    "SPSS": "sav",
    "SPSS portable": "por",
    "Stata": "dta",
    "SAS": "sas7bdat",
    "SAS transport": "xport",
}
_SAS_MAGIC: Final = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
_NUMBER: Final = re.compile(r"[+-]?\d+(\.\d+)?(e[+-]?\d+)?", re.ASCII)
_UNBOUNDED: Final = 1.79e308
_SPSS_UNITS: Final[dict[str, Kind]] = {
    **dict.fromkeys(
        ("DATE", "ADATE", "EDATE", "JDATE", "SDATE", "MOYR", "QYR", "WKYR"), "date"
    ),
    **dict.fromkeys(("DATETIME", "YMDHMS"), "datetime"),
    **dict.fromkeys(("TIME", "DTIME", "MTIME"), "time"),
}
_SAS_DATES: Final = re.compile(
    r"(DATE|WEEKDAT[EX]|(MMDDYY|DDMMYY|YYMMDD)[BCDNPS]?|MMYY[A-Z]?|YYMM[A-Z]?|MONYY"
    r"|(E8601|B8601|IS8601)DA)"
)
_SAS_DATETIMES: Final = re.compile(
    r"DATETIME|DATEAMPM|MDYAMPM|DTDATE|(E8601|B8601|IS8601)D[TN]"
)
_SAS_TIMES: Final = re.compile(r"TIME|TIMEAMPM|TOD|HHMM|(E8601|B8601|IS8601)TM")
_STATA_PERIODS: Final = {"w": 52, "m": 12, "q": 4, "h": 2}


@dataclass(frozen=True)
class ColumnMetadata:
    """What a file says about one column.

    ``values`` maps each code that has a label to it, in the order of the codes: numbers by
    size, extended missing codes (``.a``) after them, texts by bytes. ``missing`` is the
    part of ``values`` that the file declares missing. Missing codes without a label are in
    ``ranges`` (lowest and highest, both included, maybe infinite) or ``missing_texts``.
    """

    label: str | None
    values: dict[str, str]
    missing: dict[str, str]
    ranges: list[tuple[float, float]]
    missing_texts: frozenset[str]
    kind: Kind

    def is_missing(self, code: str) -> bool:
        """Return whether the file declares a cell's text missing."""
        if code in self.missing or code in self.missing_texts:
            return True
        if self.kind == "text":
            return False
        if code.startswith("."):
            return True
        return bool(_NUMBER.fullmatch(code)) and _within(float(code), self.ranges)


@dataclass(frozen=True)
class LabelledFile:
    """A file's columns in its order, their metadata, and how many rows it has, if known."""

    format: str
    columns: list[str]
    n_rows: int | None
    encoding: str | None
    metadata: dict[str, ColumnMetadata]


def format_of(file: Path) -> str | None:
    """Return which of these formats a file's first bytes are of, None for no such."""
    with file.open("rb") as stream:
        start = stream.read(512)
    if start[:4] in (b"$FL2", b"$FL3"):
        return "SPSS"
    if start.startswith(b"<stata_dta>") or (
        len(start) > 3
        and 104 <= start[0] <= 115
        and start[1] in (1, 2)
        and start[2:4] == b"\1\0"
    ):
        return "Stata"
    if start.startswith(_SAS_MAGIC):
        return "SAS"
    if start.startswith(b"HEADER RECORD*******LIB"):
        return "SAS transport"
    if b"SPSSPORT" in start.replace(b"\r", b"").replace(b"\n", b""):
        return "SPSS portable"
    return None


def with_article(format_: str) -> str:
    """Return the name of a format after "a" or "an"."""
    return f"{'an' if format_.startswith('SPSS') else 'a'} {format_}"


def describe(
    file: Path, *, encoding: str | None = None, reader: Sequence[str] | None = None
) -> LabelledFile:
    """Return a file's columns with their labels and missing codes; no row is read.

    ``reader`` is the command that starts the reading process, if not ours.
    """
    format_ = _checked_format(file)
    with _reader_process(file, format_, encoding, None, 1, reader) as answers:
        return _description(file, format_, answers)[0]


def chunks(
    file: Path, columns: Sequence[str], rows: int = 100_000, *, encoding: str | None = None
) -> Iterator[pd.DataFrame]:
    """Give the chosen columns some rows at a time, each cell its code as text or None.

    Numbers are written shortest, extended missing values ``.a`` to ``.z`` and ``._``,
    dates and times by ISO 8601 (durations as hours:minutes:seconds). A number in a date
    column that has a label or is declared missing is a code, and stays a number. Blank
    are: the system-missing value and the empty text. SPSS and SAS pad texts with blanks,
    and cannot tell that padding from an answer's own: it is cut off. Stata's stay.
    """
    import pandas as pd

    format_ = _checked_format(file)
    wanted = check_chunk_request(file, columns, rows)
    n = 0
    with _reader_process(file, format_, encoding, wanted, rows) as answers:
        description, writers = _description(file, format_, answers)
        unknown = [name for name in wanted if name not in writers]
        if unknown:
            raise SurveyError(
                f"{abbreviated(str(file))} has no column {listed(map(repr, unknown))}",
                hint=f"it has {listed(map(repr, description.columns))}",
            )
        for _, answer in answers:
            cells = {name: _texts_of(answer[name], writers[name]) for name in wanted}
            frame = pd.DataFrame(cells, dtype=object)
            n += len(frame)
            yield frame
    if description.n_rows is not None and n != description.n_rows:
        raise SurveyError(
            f"{abbreviated(str(file))} says it has {counted(description.n_rows, 'row')}, "
            f"but {n:,} can be read",
            hint="the file is not complete: fetch or save it again",
        )


# -----------------------------------------------------------------------------
# The reading process
# -----------------------------------------------------------------------------


def _checked_format(file: Path) -> str:
    """Return the file's format, or raise what can be said before reading it."""
    title = abbreviated(str(file), most=400)
    try:
        format_ = format_of(file)
        size = file.stat().st_size
    except (OSError, ValueError) as error:
        raise SurveyError(f"{title} cannot be opened: {abbreviated(str(error))}") from None
    if not size:
        raise SurveyError(f"{title} is empty")
    if format_ is None:
        raise SurveyError(
            f"{title} does not begin like an SPSS, Stata or SAS file",
            hint="if it is a text file, name it .csv",
        )
    if format_ == "SAS transport" and size % 80:
        raise SurveyError(
            f"{title} ends in the middle of a record: its {counted(size, 'byte')} "
            f"{agreeing(size, 'are')} not a multiple of 80",
            hint="the file is not complete: fetch or save it again",
        )
    if importlib.util.find_spec("pyreadstat") is None:
        raise SurveyError(
            f"{title} is {with_article(format_)} file, and reading it needs pyreadstat",
            hint='pip install "cegdb[survey]"',
        )
    return format_


@contextmanager
def _reader_process(
    file: Path,
    format_: str,
    encoding: str | None,
    columns: list[str] | None,
    rows: int,
    reader: Sequence[str] | None = None,
) -> Iterator[Iterator[tuple[str, Any]]]:
    """Give the answers of a reading process, which ends with the block."""
    request = readstat_process.ReadRequest(
        _READERS[format_], str(file.resolve()), encoding, columns, rows, list(sys.path)
    )
    with subprocess.Popen(  # noqa: S603 (this Python, our own source)
        reader or readstat_process.command(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            yield _replies(process, request, file, format_)
        finally:
            process.kill()


def _replies(
    process: subprocess.Popen[bytes],
    request: readstat_process.ReadRequest,
    file: Path,
    format_: str,
) -> Iterator[tuple[str, Any]]:
    title = abbreviated(str(file), most=400)
    if process.stdin is None or process.stdout is None:
        raise SurveyError(f"{title}: the process that reads it has no pipes")
    with suppress(BrokenPipeError), process.stdin as stream:
        pickle.dump(tuple(request), stream)
    while True:
        try:
            answer, content = pickle.load(process.stdout)  # noqa: S301 (our own process)
        except (EOFError, pickle.UnpicklingError):
            raise SurveyError(
                f"{title} is damaged: the reader of {format_} files crashed on it"
                f" (exit status {process.wait()})",
                hint="fetch it again, or open it where it came from and save it again",
            ) from None
        if answer == "end":
            return
        if answer == "error":
            raise _read_error(title, format_, request.encoding, *content)
        yield answer, content


def _read_error(
    title: str, format_: str, encoding: str | None, kind: str, text: str
) -> SurveyError:
    """Return the error to raise for what pyreadstat reports."""
    if kind == "UnicodeDecodeError" or "requested encoding" in text:
        as_given = "the encoding it names" if encoding is None else f"encoding {encoding!r}"
        return SurveyError(
            f"{title} contains text that is not in {as_given}, or is damaged",
            hint="give its encoding, such as encoding='cp1252' or 'utf-8'",
        )
    if "character set" in text or "charset" in text:
        name = "the encoding it names" if encoding is None else f"encoding {encoding}"
        return SurveyError(
            f"{title}: {name} is not known here",
            hint="give one such as encoding='cp1252' or 'utf-8'",
        )
    if kind == "AttributeError":
        return SurveyError(
            f"{title}: this version of pyreadstat cannot read {format_} files completely",
            hint='pip install --upgrade "cegdb[survey]"',
        )
    reason = text[:1].lower() + text[1:] if kind == "ReadstatError" else f"{kind} {text}"
    return SurveyError(
        f"{title} cannot be read as {format_}: {abbreviated(reason.strip())}",
        hint="it is damaged or not complete: fetch or save it again",
    )


# -----------------------------------------------------------------------------
# Metadata
# -----------------------------------------------------------------------------


def _description(
    file: Path, format_: str, answers: Iterator[tuple[str, Any]]
) -> tuple[LabelledFile, dict[str, Callable[[Any], str | None]]]:
    """Return the description of a file and, for each column, what writes its cells as text."""
    _, meta = next(answers)
    if meta["duplicates"]:
        raise SurveyError(
            f"{abbreviated(str(file))} has several columns called "
            f"{listed(map(repr, meta['duplicates']))}",
            hint="rename them in the program that wrote the file, unless the file is damaged",
        )
    names = [str(name) for name in meta["column_names"]]
    if not names:
        raise SurveyError(f"{abbreviated(str(file))} has no columns")
    metadata, writers = {}, {}
    for name in names:
        column, codes = _column_metadata(name, format_, meta)
        metadata[name] = column
        written_as = str(meta["original_variable_types"][name])
        writers[name] = _writer(column, format_, written_as, codes)
    n_rows, encoding = meta["number_rows"], meta["file_encoding"]
    return LabelledFile(format_, names, n_rows, encoding, metadata), writers


def _column_metadata(
    name: str, format_: str, meta: Mapping[str, Any]
) -> tuple[ColumnMetadata, frozenset[float]]:
    """Return a column's metadata, and the numbers that have a label."""
    is_text = meta["readstat_variable_types"][name] == "string"
    kind: Kind = "text" if is_text else _kind(format_, meta["original_variable_types"][name])
    labels = meta["variable_value_labels"].get(name, {})
    pad = " " if format_ != "Stata" else ""
    by_code: dict[str, str] = {}
    numbers = set()
    for code, label in labels.items():
        if not label:
            continue
        if isinstance(code, str):
            by_code[code.rstrip(pad) if is_text else f".{code.lower()}"] = label
        else:
            by_code[label_of(code) or "."] = label
            numbers.add(float(code))
    values = {code: by_code[code] for code in _in_order(by_code)}
    ranges: list[tuple[float, float]] = []
    missing_texts = set()
    for declared in meta["missing_ranges"].get(name, ()):
        low, high = declared["lo"], declared["hi"]
        if isinstance(low, str):
            missing_texts |= {low.rstrip(pad), str(high).rstrip(pad)}
        else:
            ranges.append((_bound(low, -math.inf), _bound(high, math.inf)))
    missing = {
        code: label
        for code, label in values.items()
        if (code in missing_texts if is_text else _number_is_missing(code, ranges))
    }
    unlabelled = [
        (low, high)
        for low, high in ranges
        if low < high or (label_of(low) or "") not in missing
    ]
    return ColumnMetadata(
        meta["column_names_to_labels"][name] or None,
        values,
        missing,
        unlabelled,
        frozenset(missing_texts - set(missing)),
        kind,
    ), frozenset(numbers)


def _number_is_missing(code: str, ranges: Sequence[tuple[float, float]]) -> bool:
    return code.startswith(".") or _within(float(code), ranges)


def _within(number: float, ranges: Sequence[tuple[float, float]]) -> bool:
    return any(low <= number <= high for low, high in ranges)


def _bound(value: float, unbounded: float) -> float:
    """Return an end of a range; SPSS writes LOWEST and HIGHEST as the largest numbers.

    pyreadstat before 1.3.7 returns these as NaN.
    """
    if math.isnan(value):
        return unbounded
    return float(value) if abs(value) < _UNBOUNDED else math.copysign(math.inf, value)


def _in_order(codes: Mapping[str, str]) -> list[str]:
    plain = [code for code in codes if not code.startswith(".")]
    extended = sorted(code for code in codes if code.startswith("."))
    if all(map(_NUMBER.fullmatch, plain)):
        return [*sorted(plain, key=lambda code: (float(code), code)), *extended]
    return sorted(codes, key=lambda code: code.encode("utf-8", "surrogatepass"))


def _kind(format_: str, display_format: str | None) -> Kind:
    """Return what the display format of a column says that its numbers are."""
    if format_ == "Stata":
        match = re.match(r"%-?\d*t?([dcwmqh])", display_format or "")
        if not match or (match[1] != "d" and "t" not in match[0]):
            return "numeric"
        kind_of_letter: dict[str, Kind] = {"d": "date", "c": "datetime"}
        return kind_of_letter.get(match[1], "period")
    name = re.sub(r"\d*\.?\d*$", "", (display_format or "").upper())
    if format_.startswith("SPSS"):
        return _SPSS_UNITS.get(name, "numeric")
    kind_of_pattern: tuple[tuple[re.Pattern[str], Kind], ...] = (
        (_SAS_DATETIMES, "datetime"),
        (_SAS_DATES, "date"),
        (_SAS_TIMES, "time"),
    )
    return next(
        (kind for pattern, kind in kind_of_pattern if pattern.fullmatch(name)), "numeric"
    )


# -----------------------------------------------------------------------------
# Cells
# -----------------------------------------------------------------------------


def _texts_of(
    column: tuple[NDArray[Any], list[Any] | None], write: Callable[[Any], str | None]
) -> NDArray[np.object_]:
    """Return cells as text, each distinct one written once."""
    import numpy as np
    import pandas as pd

    cells, distinct = column
    if distinct is None:
        cells, values = pd.factorize(cells)
        distinct = list(values)
    texts: NDArray[np.object_] = np.empty(len(distinct) + 1, dtype=object)
    texts[:-1] = [write(value) for value in distinct]
    column_of_texts: NDArray[np.object_] = texts[cells]
    return column_of_texts


def _writer(
    column: ColumnMetadata, format_: str, display_format: str, codes: frozenset[float]
) -> Callable[[Any], str | None]:
    """Return the function that writes a column's cells as text."""
    if column.kind == "text":
        return label_of

    def write(value: Any) -> str | None:
        return f".{value.lower()}" if isinstance(value, str) else label_of(value)

    if column.kind == "numeric":
        return write

    def write_date(value: Any) -> str | None:
        if value is None or isinstance(value, str) or not math.isfinite(value):
            return write(value)
        number = float(value)
        if number in codes or _within(number, column.ranges):
            return write(value)
        with suppress(OverflowError, ValueError):
            return _moment(number, column.kind, format_, display_format)
        return write(value)

    return write_date


def _moment(number: float, kind: Kind, format_: str, display_format: str) -> str:
    """Return a date, time or period by ISO 8601 (quarters 2024q1, weeks and halves alike).

    SPSS counts seconds from the first day of the Gregorian calendar, Stata and SAS from
    1960: days, or milliseconds in Stata and seconds in SAS.
    """
    if kind == "period":
        unit = re.sub(r"[^wmqh]", "", display_format.partition("t")[2])[:1]
        year, part = divmod(int(number), _STATA_PERIODS[unit])
        if number != int(number) or not 0 <= year + 1960 <= 9999:
            raise ValueError(display_format)
        year += 1960
        return f"{year:04}-{part + 1:02}" if unit == "m" else f"{year}{unit}{part + 1}"
    if kind == "time":
        return _hours(number)
    if format_.startswith("SPSS"):
        moment = datetime.datetime(1582, 10, 14) + datetime.timedelta(seconds=number)
    else:
        seconds = number * 86_400 if kind == "date" else number
        if format_ == "Stata" and kind == "datetime":
            seconds = number / 1000
        moment = datetime.datetime(1960, 1, 1) + datetime.timedelta(seconds=seconds)
    if kind == "date" and moment.time() == datetime.time():
        return moment.date().isoformat()
    return label_of(moment) or ""


def _hours(seconds: float) -> str:
    """Return a duration; hours go on after 24."""
    sign = "-" if seconds < 0 else ""
    millis = round(abs(seconds) * 1000)
    whole, rest = divmod(millis, 1000)
    minutes, second = divmod(whole, 60)
    text = f"{sign}{minutes // 60:02}:{minutes % 60:02}:{second:02}"
    return f"{text}.{rest:03}".rstrip("0") if rest else text
