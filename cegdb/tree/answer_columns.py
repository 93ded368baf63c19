"""The answers of a survey to a few variables, as columns with fixed names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from cegdb.errors import QueryError
from cegdb.store.catalog import response_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cegdb.sqlfiles import Steps

_LIMIT: Final = 1 << 62


class AnswerColumn(NamedTuple):
    """The column of a variable in a survey's responses, and how many answers it has."""

    ordinal: int
    n_values: int


def pair_answers(
    steps: Steps,
    survey_id: int,
    pair: tuple[AnswerColumn, AnswerColumn],
    strata: Sequence[AnswerColumn],
    context: Mapping[int, Sequence[int]],
) -> None:
    """Make the view ``paired_row``: codes of two variables' answers, and the row's stratum.

    The stratum is one integer, with a digit for the answer to each variable of ``strata``, and
    null where one is not answered. ``context`` has the codes, by ordinal, of the rows to keep.
    """
    stratum, n_strata = "cast(0 as bigint)", 1
    for variable in strata:
        stratum = f"({stratum} * {variable.n_values} + {_value_or_null(variable)} - 1)"
        n_strata *= max(variable.n_values, 1)
    if n_strata >= _LIMIT:
        raise QueryError("these variables have too many combinations", hint="name fewer")
    conditions = [
        f"v{ordinal} in ({', '.join(map(str, codes))})" for ordinal, codes in context.items()
    ]
    steps.view(
        "paired_row",
        f"select {_value_or_null(pair[0])} as first, {_value_or_null(pair[1])} as second, "  # noqa: S608
        f"{stratum} as stratum, n, weight, weight_sq from {response_table(survey_id)} "
        f"where {' and '.join(conditions) or 'true'}",
    )


def _value_or_null(variable: AnswerColumn) -> str:
    column = f"v{variable.ordinal}"
    return f"if({column} between 1 and {variable.n_values}, {column}, null)"
