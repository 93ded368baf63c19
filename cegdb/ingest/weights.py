"""Weights: the column that says how much each respondent stands for, beside the counts."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final

from cegdb.errors import SurveyError, listed
from cegdb.ingest.bins import plain
from cegdb.ingest.labels import shown

if TYPE_CHECKING:
    from cegdb.ingest.relation import Relation
    from cegdb.ingest.settings import Settings
    from cegdb.sqlfiles import Steps

_WRITTEN: Final = r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?"
WEIGHT: Final = (
    f"(case when regexp_full_match(weighed, '{_WRITTEN}') "
    "then try_cast(weighed as decimal(38, 12)) end)"
)
_MOST: Final = 10**18
_NAMES: Final = ("weight", "weight_sq")
_REFUSED: Final = f"coalesce({WEIGHT} not between 0 and {_MOST}, true)"


def check_weights(
    steps: Steps, relation: Relation, settings: Settings, *, is_part: bool = False
) -> dict[str, object] | None:
    """Refuse weights that are no numbers from 0 on; return what the receipt says of them.

    All may be 0 where the source is a part of a survey. Reads ``source_line``, where
    ``weighed`` is the weight as text.
    """
    if settings.weight is None:
        return None
    bad = steps.rows(
        f"select weighed, sum(n_lines) from temp.source_line where {_REFUSED} "  # noqa: S608
        "group by weighed order by weighed limit 6"
    )
    if bad:
        values = ["a blank" if text is None else shown(text) for text, _ in bad]
        comma = any("," in (text or "") for text, _ in bad)
        where = _bad_rows(steps, relation, settings)
        raise SurveyError(
            f"{settings.weight!r} holds {listed(values)}{where}: "
            "a weight is a number, 0 or more",
            hint="if the comma is that of decimals, ingest with decimal=','"
            if comma
            else "correct those rows, or leave them out of the file",
        )
    ((total, least, most, n_zero, n_long),) = steps.rows(
        f"select coalesce(sum({WEIGHT} * n_lines), 0), min({WEIGHT}), max({WEIGHT}), "  # noqa: S608
        f"coalesce(sum(n_lines) filter (where {WEIGHT} = 0), 0), "
        "coalesce(sum(n_lines) filter ("
        "where regexp_matches(weighed, '[.][0-9]{12}[0-9]*[1-9]') or weighed ilike '%e-%'), 0) "
        "from temp.source_line"
    )
    if most is not None and not most and not is_part:
        raise SurveyError(f"every {settings.weight!r} is 0")
    return {
        "column": settings.weight,
        "sum": plain(Decimal(total)),
        "smallest": plain(Decimal(least or 0)),
        "largest": plain(Decimal(most or 0)),
        "rows_of_weight_0": int(n_zero),
        "rows_kept_to_12_decimals": int(n_long),
    }


def weight_columns(settings: Settings) -> str:
    """Return the SQL of a line's weight and squared weight, given ``n`` respondents."""
    if settings.weight is None:
        return ", ".join(f"cast(null as decimal(38, 12)) as {name}" for name in _NAMES)
    square = f"cast(cast({WEIGHT} as double) * cast({WEIGHT} as double) as decimal(38, 12))"
    return (
        f"cast({WEIGHT} * n as decimal(38, 12)) as weight, "
        f"cast({square} * n as decimal(38, 12)) as weight_sq"
    )


def _bad_rows(steps: Steps, relation: Relation, settings: Settings) -> str:
    """Say in which rows of the source the bad weights are, where it can be read again."""
    if relation.once:
        return ""
    query = (
        "select i from (select row_number() over () as i, "  # noqa: S608
        f"{settings.weighed} as weighed from {relation.from_clause}) "
        f"where {_REFUSED} order by i limit 6"
    )
    lines = [row[0] for row in steps.rows(query, relation.params_of(query))]
    word = "row" if len(lines) == 1 else "rows"
    return f" ({word} {listed(lines)})" if lines else ""
