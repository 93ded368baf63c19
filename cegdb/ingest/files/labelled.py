"""SPSS, Stata and SAS files: codes, their labels, and which codes mean missing.

Cells are codes as text, never labels: which label a code has, and what it means, is told
by the file's metadata, so that nothing is lost where labels repeat or are absent.
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
from cegdb.ingest.files import _readstat
from cegdb.ingest.files.cell_labels import label_of, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["Entry", "Labelled", "chunks", "describe", "format_of"]

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
class Entry:
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
        """Return whether the file declares a cell's text missing.

        Examples
        --------
        >>> entry = Entry(None, {}, {}, [(8, 9)], frozenset(), "numeric")
        >>> [entry.is_missing(code) for code in ("1", "9", ".a")]
        [False, True, True]
        """
        if code in self.missing or code in self.missing_texts:
            return True
        if self.kind == "text":
            return False
        if code.startswith("."):
            return True
        return bool(_NUMBER.fullmatch(code)) and _within(float(code), self.ranges)


@dataclass(frozen=True)
class Labelled:
    """A file's columns in its order, how many rows it has (None: not said), its entries."""

    format: str
    columns: list[str]
    n_rows: int | None
    encoding: str | None
    entries: dict[str, Entry]


def format_of(file: Path) -> str | None:
    """Return which of these formats a file's first bytes are of, None for no such.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "survey.sav"
    ...     _ = file.write_bytes(b"$FL2 and so on")
    ...     format_of(file)
    'SPSS'
    """
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


def describe(file: Path, *, encoding: str | None = None) -> Labelled:
    """Return a file's columns with their labels and missing codes; no row is read.

    Parameters
    ----------
    file
        .sav, .zsav, .por, .dta, .sas7bdat or .xpt, told apart by their first bytes. The
        labels of a .sas7bdat are in another file, and so are not found.
    encoding
        Of its texts; left out, what the file says of itself.

    Raises
    ------
    SurveyError
        The file is none of these, is damaged, or has texts in another encoding; a column
        occurs twice; pyreadstat is not installed.

    Notes
    -----
    A file without rows is none of these: ``n_rows`` is 0. It is read in a process of its
    own, since damaged files can crash the reader. A .xpt does not say how many rows it
    has: one cut off between its records of 80 bytes cannot be told from a whole one.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> import pyreadstat
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "survey.sav"
    ...     pyreadstat.write_sav(
    ...         pd.DataFrame({"vote": [1.0, 9.0]}),
    ...         file,
    ...         variable_value_labels={"vote": {9: "Refused", 1: "Yes"}},
    ...         missing_ranges={"vote": [9]},
    ...     )
    ...     entry = describe(file).entries["vote"]
    >>> entry.values, entry.missing
    ({'1': 'Yes', '9': 'Refused'}, {'9': 'Refused'})
    """
    what = _checked(file)
    with _asked(file, what, encoding, None, 1) as answers:
        return _described(file, what, answers)[0]


def chunks(
    file: Path, columns: Sequence[str], rows: int = 100_000, *, encoding: str | None = None
) -> Iterator[pd.DataFrame]:
    """Give the chosen columns some rows at a time, each cell its code as text or None.

    Numbers are written shortest, extended missing values ``.a`` to ``.z`` and ``._``,
    dates and times by ISO 8601 (durations as hours:minutes:seconds). A number in a date
    column that has a label or is declared missing is a code, and stays a number. Blank
    are: the system-missing value and the empty text. SPSS and SAS pad texts with blanks,
    and cannot tell that padding from an answer's own: it is cut off. Stata's stay.

    Parameters
    ----------
    file, encoding
        As for `describe`.
    columns
        Names in the file, which are read in one go; a frame has them in this order.
    rows
        Most rows of a frame; memory grows with them, not with the file.

    Raises
    ------
    SurveyError
        As `describe`; also, the file ends before its last row: rows given before are not
        all of the survey.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> import pyreadstat
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "survey.sav"
    ...     pyreadstat.write_sav(pd.DataFrame({"q1": [1.0, None], "q2": ["a", ""]}), file)
    ...     [frame.to_numpy().tolist() for frame in chunks(file, ["q2", "q1"])]
    [[['a', '1'], [None, None]]]
    """
    import pandas as pd

    what = _checked(file)
    wanted = list(columns)
    if not wanted or len(set(wanted)) < len(wanted):
        raise SurveyError(f"{shown(str(file))}: columns are none or repeat: {listed(wanted)}")
    if rows < 1:
        raise SurveyError(f"rows is {rows}, not at least 1")
    n = 0
    with _asked(file, what, encoding, wanted, rows) as answers:
        described, writers = _described(file, what, answers)
        unknown = [name for name in wanted if name not in writers]
        if unknown:
            raise SurveyError(
                f"{shown(str(file))} has no column {listed(map(repr, unknown))}",
                hint=f"it has {listed(map(repr, described.columns))}",
            )
        for _, answer in answers:
            cells = {name: _texts(answer[name], writers[name]) for name in wanted}
            frame = pd.DataFrame(cells, dtype=object)
            n += len(frame)
            yield frame
    if described.n_rows is not None and n != described.n_rows:
        raise SurveyError(
            f"{shown(str(file))} says it has {counted(described.n_rows, 'row')}, "
            f"but {n:,} can be read",
            hint="the file is not complete: fetch or save it again",
        )


# -----------------------------------------------------------------------------
# The reading process
# -----------------------------------------------------------------------------


def _checked(file: Path) -> str:
    """Return the file's format, or raise what there is to say before reading it."""
    called = shown(str(file), most=400)
    try:
        what = format_of(file)
        size = file.stat().st_size
    except (OSError, ValueError) as error:
        raise SurveyError(f"{called} cannot be opened: {shown(str(error))}") from None
    if not size:
        raise SurveyError(f"{called} is empty")
    if what is None:
        raise SurveyError(
            f"{called} does not begin like an SPSS, Stata or SAS file",
            hint="if it is a text file, name it .csv",
        )
    if what == "SAS transport" and size % 80:
        raise SurveyError(
            f"{called} ends amid a record: its {counted(size, 'byte')} "
            f"{agreeing(size, 'are')} no multiple of 80",
            hint="the file is not complete: fetch or save it again",
        )
    if importlib.util.find_spec("pyreadstat") is None:
        raise SurveyError(
            f"{called} is a file of {what}: reading it needs pyreadstat, not installed here",
            hint='pip install "cegdb[survey]"',
        )
    return what


@contextmanager
def _asked(
    file: Path, what: str, encoding: str | None, columns: list[str] | None, rows: int
) -> Iterator[Iterator[tuple[str, Any]]]:
    """Give the answers of a reading process, which ends with the block."""
    request = _readstat.Request(
        _READERS[what], str(file.resolve()), encoding, columns, rows, list(sys.path)
    )
    with subprocess.Popen(  # noqa: S603 (this Python, our own source)
        _readstat.command(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            yield _received(process, request, file, what)
        finally:
            process.kill()


def _received(
    process: subprocess.Popen[bytes], request: _readstat.Request, file: Path, what: str
) -> Iterator[tuple[str, Any]]:
    called = shown(str(file), most=400)
    if process.stdin is None or process.stdout is None:
        raise SurveyError(f"{called}: the process that reads it has no pipes")
    with suppress(BrokenPipeError), process.stdin as stream:
        pickle.dump(tuple(request), stream)
    while True:
        try:
            answer, content = pickle.load(process.stdout)  # noqa: S301 (our own process)
        except (EOFError, pickle.UnpicklingError):
            raise SurveyError(
                f"{called} is damaged: the reader of {what} files broke down on it"
                f" (exit status {process.wait()})",
                hint="fetch it again, or open it where it came from and save it again",
            ) from None
        if answer == "end":
            return
        if answer == "error":
            raise _explained(called, what, request.encoding, *content)
        yield answer, content


def _explained(
    called: str, what: str, encoding: str | None, kind: str, text: str
) -> SurveyError:
    """Return the error to raise for what pyreadstat said."""
    if kind == "UnicodeDecodeError" or "requested encoding" in text:
        as_given = "the encoding it names" if encoding is None else f"encoding {encoding!r}"
        return SurveyError(
            f"{called} holds text that is not in {as_given}, or is damaged",
            hint="give its encoding, such as encoding='cp1252' or 'utf-8'",
        )
    if "character set" in text or "charset" in text:
        return SurveyError(
            f"{called}: encoding {encoding or 'of the file'} is not known here",
            hint="give one such as encoding='cp1252' or 'utf-8'",
        )
    if kind == "AttributeError":
        return SurveyError(
            f"{called}: this version of pyreadstat cannot read {what} files whole",
            hint='pip install --upgrade "cegdb[survey]"',
        )
    said = text[:1].lower() + text[1:] if kind == "ReadstatError" else f"{kind} {text}"
    return SurveyError(
        f"{called} cannot be read as {what}: {shown(said.strip())}",
        hint="it is damaged or not complete: fetch or save it again",
    )


# -----------------------------------------------------------------------------
# Metadata
# -----------------------------------------------------------------------------


def _described(
    file: Path, what: str, answers: Iterator[tuple[str, Any]]
) -> tuple[Labelled, dict[str, Callable[[Any], str | None]]]:
    """Return the description of a file and, for each column, what writes a cell."""
    _, meta = next(answers)
    if meta["twice"]:
        raise SurveyError(
            f"{shown(str(file))} has several columns called {listed(map(repr, meta['twice']))}",
            hint="it is damaged, or rename them where it came from",
        )
    names = [str(name) for name in meta["column_names"]]
    if not names:
        raise SurveyError(f"{shown(str(file))} has no columns")
    entries, writers = {}, {}
    for name in names:
        entry, codes = _entry(name, what, meta)
        entries[name] = entry
        writers[name] = _writer(entry, what, str(meta["original_variable_types"][name]), codes)
    file_says = (meta["number_rows"], meta["file_encoding"])
    return Labelled(what, names, *file_says, entries), writers


def _entry(name: str, what: str, meta: Mapping[str, Any]) -> tuple[Entry, frozenset[float]]:
    """Return a column's entry, and the numbers that have a label."""
    is_text = meta["readstat_variable_types"][name] == "string"
    kind: Kind = "text" if is_text else _kind(what, meta["original_variable_types"][name])
    labels = meta["variable_value_labels"].get(name, {})
    pad = " " if what != "Stata" else ""
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
            ranges.append((_bound(low), _bound(high)))
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
    return Entry(
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


def _bound(value: float) -> float:
    """Return an end of a range; SPSS writes LOWEST and HIGHEST as the largest numbers."""
    return float(value) if abs(value) < _UNBOUNDED else math.copysign(math.inf, value)


def _in_order(codes: Mapping[str, str]) -> list[str]:
    plain = [code for code in codes if not code.startswith(".")]
    extended = sorted(code for code in codes if code.startswith("."))
    if all(map(_NUMBER.fullmatch, plain)):
        return [*sorted(plain, key=lambda code: (float(code), code)), *extended]
    return sorted(codes, key=lambda code: code.encode("utf-8", "surrogatepass"))


def _kind(what: str, written: str | None) -> Kind:
    """Return what a column's display format says that its numbers are."""
    if what == "Stata":
        found = re.match(r"%-?\d*t?([dcwmqh])", written or "")
        if not found or (found[1] != "d" and "t" not in found[0]):
            return "numeric"
        of_letter: dict[str, Kind] = {"d": "date", "c": "datetime"}
        return of_letter.get(found[1], "period")
    name = re.sub(r"\d*\.?\d*$", "", (written or "").upper())
    if what.startswith("SPSS"):
        return _SPSS_UNITS.get(name, "numeric")
    of_pattern: tuple[tuple[re.Pattern[str], Kind], ...] = (
        (_SAS_DATETIMES, "datetime"),
        (_SAS_DATES, "date"),
        (_SAS_TIMES, "time"),
    )
    return next((kind for known, kind in of_pattern if known.fullmatch(name)), "numeric")


# -----------------------------------------------------------------------------
# Cells
# -----------------------------------------------------------------------------


def _texts(
    column: tuple[NDArray[Any], list[Any] | None], write: Callable[[Any], str | None]
) -> NDArray[np.object_]:
    """Return cells as text, each distinct one written once."""
    import numpy as np
    import pandas as pd

    cells, distinct = column
    if distinct is None:
        cells, found = pd.factorize(cells)
        distinct = list(found)
    texts: NDArray[np.object_] = np.empty(len(distinct) + 1, dtype=object)
    texts[:-1] = [write(value) for value in distinct]
    placed: NDArray[np.object_] = texts[cells]
    return placed


def _writer(
    entry: Entry, what: str, written: str, codes: frozenset[float]
) -> Callable[[Any], str | None]:
    """Return what writes a column's cells."""
    if entry.kind == "text":
        return label_of

    def write(value: Any) -> str | None:
        return f".{value.lower()}" if isinstance(value, str) else label_of(value)

    if entry.kind == "numeric":
        return write

    def write_date(value: Any) -> str | None:
        if value is None or isinstance(value, str) or not math.isfinite(value):
            return write(value)
        number = float(value)
        if number in codes or _within(number, entry.ranges):
            return write(value)
        with suppress(OverflowError, ValueError):
            return _moment(number, entry.kind, what, written)
        return write(value)

    return write_date


def _moment(number: float, kind: Kind, what: str, written: str) -> str:
    """Return a date, time or period by ISO 8601 (quarters 2024q1, weeks and halves alike).

    SPSS counts seconds from the first day of the Gregorian calendar, Stata and SAS from
    1960: days, or milliseconds in Stata and seconds in SAS.
    """
    if kind == "period":
        unit = re.sub(r"[^wmqh]", "", written.partition("t")[2])[:1]
        year, part = divmod(int(number), _STATA_PERIODS[unit])
        if number != int(number) or not 0 <= year + 1960 <= 9999:
            raise ValueError(written)
        year += 1960
        return f"{year:04}-{part + 1:02}" if unit == "m" else f"{year}{unit}{part + 1}"
    if kind == "time":
        return _hours(number)
    if what.startswith("SPSS"):
        moment = datetime.datetime(1582, 10, 14) + datetime.timedelta(seconds=number)
    else:
        seconds = number * 86_400 if kind == "date" else number
        if what == "Stata" and kind == "datetime":
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
