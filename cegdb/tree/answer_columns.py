"""The answers of a survey to a few variables, as columns with fixed names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from cegdb.errors import QueryError
from cegdb.store.catalog import response_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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


@dataclass(frozen=True)
class AppliedColumn:
    """A variable in a survey's responses, and what its cells without an answer mean.

    Codes up to ``n_values`` are answers, ``blank_code`` is a blank, and the one after it says
    "not applicable". A blank does not apply in all rows, in none, or where another variable
    (its ordinal) has one of some codes. With ``missing_counts`` a missing answer is an answer
    of its own.
    """

    ordinal: int
    n_values: int
    blank_code: int
    closed: bool | tuple[int, tuple[int, ...]] = False
    missing_counts: bool = False

    @property
    def radix(self) -> int:
        """Number of the codes that `sql` may give."""
        return self.n_values + 2

    @property
    def sql(self) -> str:
        """The code of an answer; 0 where the question does not apply, null if not known."""
        column = f"v{self.ordinal}"
        inapplicable = f"{column} = {self.blank_code + 1}"
        if self.closed is True:
            inapplicable = f"{column} >= {self.blank_code}"
        elif self.closed is not False:
            gate, codes = self.closed
            within = f"v{gate} in ({', '.join(map(str, codes))})"
            inapplicable += f" or ({column} = {self.blank_code} and {within})"
        missing = self.n_values + 1 if self.missing_counts else "null"
        return (
            f"case when {column} <= {self.n_values} then {column} "
            f"when {inapplicable} then 0 else {missing} end"
        )


def screen_answers(
    steps: Steps,
    survey_id: int,
    columns: Sequence[AppliedColumn],
    chosen: Sequence[AppliedColumn],
    outcome: AppliedColumn,
) -> None:
    """Make the view ``screened_row``: the answers to many variables, and to an outcome.

    The configuration is one integer, with a digit for each of the variables ``chosen``. Rows
    are left out if one of these has no answer, or if the outcome has none or does not apply.
    """
    configuration = "cast(0 as bigint)"
    for column in chosen:
        configuration = f"({configuration} * {column.radix} + {column.sql})"
    answers = "".join(f"{column.sql} as v{column.ordinal}, " for column in columns)
    steps.view(
        "screened_row",
        f"select {answers}{configuration} as configuration, {outcome.sql} as outcome, n, "  # noqa: S608
        f"weight, weight_sq from {response_table(survey_id)} "
        f"where {configuration} is not null and {outcome.sql} > 0",
    )


def mark_unanswered(
    steps: Steps, survey_id: int, ordinals: Sequence[int], marked: Sequence[AppliedColumn]
) -> None:
    """Make the view ``unanswered_row``: codes of variables, and which of some have no answer.

    ``every_bits`` has two bits for each of these: the cell is blank or does not apply; it has
    no answer. ``some_bits`` too: the cell is blank; it does not apply.
    """
    codes = ", ".join(f"v{ordinal}" for ordinal in ordinals)
    every = _bits(
        f"v{one.ordinal} {condition}"
        for one in marked
        for condition in (f">= {one.blank_code}", f"> {one.n_values}")
    )
    some = _bits(
        f"v{one.ordinal} {condition} {one.blank_code}" for one in marked for condition in "=>"
    )
    steps.view(
        "unanswered_row",
        f"select {codes}, {every} as every_bits, {some} as some_bits "  # noqa: S608
        f"from {response_table(survey_id)}",
    )


def _bits(conditions: Iterable[str]) -> str:
    """Return the SQL of one bit for each condition."""
    digits = ", ".join(f"if({condition}, '1', '0')" for condition in conditions)
    return f"cast(concat({digits}) as bit)"


def _value_or_null(variable: AnswerColumn) -> str:
    column = f"v{variable.ordinal}"
    return f"if({column} between 1 and {variable.n_values}, {column}, null)"
