"""DataFrames: cells to labels, one column at a time, with pandas and numpy."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from cegdb.errors import SurveyError
from cegdb.ingest.files.cell_labels import label_of, shown

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray


class Coded(NamedTuple):
    """A frame's cells as places (from 1; 0 is blank) in the labels of their column."""

    columns: list[str]
    places: pd.DataFrame
    labels: list[list[str]]
    level_order: dict[str, list[str]]


def coded(frame: pd.DataFrame) -> Coded:
    """Code a frame's cells in pandas, since DuckDB would guess types from a sample.

    Raises
    ------
    SurveyError
        It has no columns, a column's name is no text or number, a cell is no answer.
    """
    import numpy as np
    import pandas as pd

    columns = [_column_name(name, i) for i, name in enumerate(frame.columns, 1)]
    if not columns:
        raise SurveyError("the DataFrame has no columns")
    codes: dict[str, NDArray[np.int32]] = {}
    known_of: list[list[str]] = []
    order: dict[str, list[str]] = {}
    for i, name in enumerate(columns):
        series = frame.iloc[:, i]
        try:
            raw, uniques = _factorized(series)
            texts = [label_of(value) for value in uniques]
        except SurveyError as error:
            raise SurveyError(f"column {name!r}: {error}") from None
        known = list(dict.fromkeys(text for text in texts if text is not None))
        place = {text: at + 1 for at, text in enumerate(known)}
        places = np.array([0, *(place.get(text or "", 0) for text in texts)], dtype=np.int32)
        codes[f"f{i}"] = places[np.asarray(raw, dtype=np.int64) + 1]
        known_of.append(known)
        if isinstance(series.dtype, pd.CategoricalDtype):
            order[name] = known
    return Coded(columns, pd.DataFrame(codes, index=range(len(frame))), known_of, order)


def _column_name(name: object, place: int) -> str:
    try:
        text = label_of(name) or ""
        text.encode()
    except (SurveyError, UnicodeEncodeError):
        raise SurveyError(
            f"column {place} of the DataFrame is called {shown(repr(name))}",
            hint="give columns plain names (those of a MultiIndex can be joined)",
        ) from None
    return text


def _factorized(series: pd.Series[Any]) -> tuple[NDArray[Any], list[object]]:
    """Return the place of each cell among the distinct ones (-1: blank), and these."""
    import numpy as np
    import pandas as pd

    if isinstance(series.dtype, pd.CategoricalDtype):
        return series.cat.codes.to_numpy(), _scalars(series.cat.categories)
    if series.dtype != object:
        with suppress(TypeError, ValueError, NotImplementedError):  # lists, in Arrow's types
            raw, uniques = pd.factorize(series)
            is_narrow = series.dtype == np.float16  # which pandas widens
            return raw, _scalars(uniques.to_numpy(np.float16) if is_narrow else uniques)
    labels = np.empty(len(series), dtype=object)
    labels[:] = [label_of(value) for value in series]
    places, distinct = pd.factorize(labels)
    return places, list(distinct)


def _scalars(values: Any) -> list[object]:
    """Return values one by one; those of narrow floats keep their type, and so their text."""
    import numpy as np

    return list(np.asarray(values) if getattr(values.dtype, "kind", "") == "f" else values)
