"""DataFrames: cells to labels, one column at a time, with pandas and numpy."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from cegdb.errors import SurveyError
from cegdb.ingest.files.cell_labels import abbreviated, label_of

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray


class CodedFrame(NamedTuple):
    """A frame's cells as codes (from 1; 0 is blank) of the labels of their column."""

    columns: list[str]
    codes: pd.DataFrame
    labels: list[list[str]]
    level_order: dict[str, list[str]]


def code_frame(frame: pd.DataFrame) -> CodedFrame:
    """Code a frame's cells in pandas, since DuckDB would guess types from a sample."""
    import numpy as np
    import pandas as pd

    columns = [_column_name(name, i) for i, name in enumerate(frame.columns, 1)]
    if not columns:
        raise SurveyError("the DataFrame has no columns")
    codes: dict[str, NDArray[np.int32]] = {}
    labels_of: list[list[str]] = []
    order: dict[str, list[str]] = {}
    for i, name in enumerate(columns):
        series = frame.iloc[:, i]
        try:
            raw, distinct = _factorized(series)
            texts = [label_of(value) for value in distinct]
        except SurveyError as error:
            raise SurveyError(f"column {name!r}: {error}") from None
        labels = list(dict.fromkeys(text for text in texts if text is not None))
        # Several values may have one text, such as 1 and 1.0.
        code_of = {label: code for code, label in enumerate(labels, 1)}
        new_codes = [0, *(code_of.get(text or "", 0) for text in texts)]
        codes[f"f{i}"] = np.array(new_codes, dtype=np.int32)[
            np.asarray(raw, dtype=np.int64) + 1
        ]
        labels_of.append(labels)
        if isinstance(series.dtype, pd.CategoricalDtype):
            order[name] = labels
    return CodedFrame(columns, pd.DataFrame(codes, index=range(len(frame))), labels_of, order)


def _column_name(name: object, number: int) -> str:
    try:
        text = label_of(name) or ""
        text.encode()
    except (SurveyError, UnicodeEncodeError):
        raise SurveyError(
            f"the name of column {number} of the DataFrame must be plain text, not "
            f"{abbreviated(repr(name))}",
            hint="rename the column; join the names of a MultiIndex",
        ) from None
    return text


def _factorized(series: pd.Series[Any]) -> tuple[NDArray[Any], list[object]]:
    """Return the index of each cell in the distinct ones (-1: blank), and these."""
    import numpy as np
    import pandas as pd

    if isinstance(series.dtype, pd.CategoricalDtype):
        return series.cat.codes.to_numpy(), _scalars(series.cat.categories)
    if series.dtype != object:
        with suppress(TypeError, ValueError, NotImplementedError):  # lists, in Arrow's types
            indices, distinct = pd.factorize(series)
            is_narrow = series.dtype == np.float16  # which pandas widens
            return indices, _scalars(distinct.to_numpy(np.float16) if is_narrow else distinct)
    labels = np.empty(len(series), dtype=object)
    labels[:] = [label_of(value) for value in series]
    indices, labels_in_order = pd.factorize(labels)
    return indices, list(labels_in_order)


def _scalars(values: Any) -> list[object]:
    """Return values one by one; those of narrow floats keep their type, and so their text."""
    import numpy as np

    return list(np.asarray(values) if getattr(values.dtype, "kind", "") == "f" else values)
