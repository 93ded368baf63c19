"""What a cell of a frame reads: its label, or that it is blank."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Iterable
from decimal import Decimal

from cegdb.errors import SurveyError


def label_of(value: object) -> str | None:
    """Return the label a cell of a frame stands for, None for a blank.

    Raises
    ------
    SurveyError
        The cell is no single answer: a list, bytes, an object without a text.

    Examples
    --------
    >>> [label_of(x) for x in (1, 1.0, "1", True, 0.5, None, float("nan"), "NA")]
    ['1', '1', '1', 'True', '0.5', None, None, 'NA']
    """
    if isinstance(value, str):
        return str.__str__(value) or None
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    kind = type(value)
    if isinstance(value, (Iterable, memoryview)) or (
        kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__
    ):
        raise SurveyError(f"a cell holds {kind.__name__} {shown(repr(value))}, not an answer")
    if isinstance(value, Decimal):
        return None if value.is_nan() else _without_zeros(format(value, "f"))
    if value != value:
        return None
    text = str(value)
    if isinstance(value, numbers.Real):
        if kind.__name__ in ("float16", "float32"):
            text = repr(float(text))  # the shortest digits, written as those of a double
        text = text.removesuffix(".0")
        return "0" if text == "-0" else text
    if isinstance(value, (datetime.datetime, datetime.time)) and value.tzinfo is None:
        return _without_zeros(text) if "." in text else text
    return text or None


def _without_zeros(text: str) -> str:
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def shown(text: str, most: int = 80) -> str:
    """Return a text on one line, not for ever, and fit to be printed."""
    line = " ".join(text.split()).encode("utf-8", "backslashreplace").decode()
    return line if len(line) <= most else f"{line[:most]}..."


def shown_source(described: str, *, is_file: bool, most: int = 80) -> str:
    """Return what a survey was read from, on one line: of a long path the last part.

    Examples
    --------
    >>> shown_source("surveys/2024/waves/wave1.csv and 2 more files", is_file=True, most=30)
    '.../wave1.csv and 2 more files'
    >>> shown_source("select * from answers", is_file=False, most=8)
    'select *...'
    """
    if not is_file:
        return shown(described, most)
    above, slash, name = described.rpartition("/")
    return shown(f".../{name}" if above + slash and len(described) > most else described, 400)
