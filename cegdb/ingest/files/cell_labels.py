"""The label that a cell of a frame stands for, and texts shortened for messages."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING

from cegdb.errors import SurveyError, listed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def label_of(value: object) -> str | None:
    """Return the label that a cell of a frame stands for, None for a blank."""
    if isinstance(value, str):
        text = str.__str__(value)
        try:
            text.encode()
        except UnicodeEncodeError:
            raise SurveyError(f"{text!r} is not UTF-8 text") from None
        return text or None
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    kind = type(value)
    if isinstance(value, (Iterable, memoryview)) or (
        kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__
    ):
        raise SurveyError(
            f"a cell contains {kind.__name__} {abbreviated(repr(value))}, "
            "which is not an answer"
        )
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


def abbreviated(text: str, most: int = 80) -> str:
    """Return a text on one line, cut if it is long, and fit to be printed."""
    line = " ".join(text.split()).encode("utf-8", "backslashreplace").decode()
    return line if len(line) <= most else f"{line[:most]}..."


def abbreviated_source(described: str, *, is_file: bool, most: int = 80) -> str:
    """Return what a survey was read from, on one line; of a long path the last part."""
    if not is_file:
        return abbreviated(described, most)
    above, slash, name = described.rpartition("/")
    return abbreviated(
        f".../{name}" if above + slash and len(described) > most else described, 400
    )


def label_list(values: Iterable[object], where: str) -> list[str]:
    """Return values as labels, refusing a blank and a label that is repeated."""
    texts = [label_of(value) for value in values]
    labels = [text for text in texts if text is not None]
    if len(labels) < len(texts):
        raise SurveyError(
            f"{where} contains an empty label",
            hint="leave it out: what empty cells mean is decided with the event tree: "
            "event_tree(blank=...), --blank",
        )
    repeated = sorted({label for label in labels if labels.count(label) > 1})
    if repeated:
        raise SurveyError(f"{where} lists {listed(map(repr, repeated))} twice")
    return labels


def check_chunk_request(file: Path, columns: Sequence[str], rows: int) -> list[str]:
    """Return the columns to read some rows at a time, refusing none, duplicates and no rows."""
    wanted = list(columns)
    if not wanted or len(set(wanted)) < len(wanted):
        raise SurveyError(
            f"{abbreviated(str(file))}: columns lists none, or one twice: {listed(wanted)}"
        )
    if rows < 1:
        raise SurveyError(f"rows must be a whole number of 1 or more, not {rows}")
    return wanted
