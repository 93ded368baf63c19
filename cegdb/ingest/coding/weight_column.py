"""Weights: the column that says how much each respondent stands for, beside the counts."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from cegdb.errors import SurveyError, listed
from cegdb.ingest.coding.bins import plain
from cegdb.ingest.files.cell_labels import shown

if TYPE_CHECKING:
    from cegdb.ingest.files.relation import Relation
    from cegdb.ingest.settings import Settings
    from cegdb.sqlfiles import Steps

_WRITTEN: Final = r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?"
_MOST: Final = 10**18
_AS_THEY_ARE: Final = (0.001, 1e6)
"""The smallest and the largest weight above 0 that are not scaled."""
_KEPT: Final = (1e-4, 1e9)
"""The same of those that were: of squares, too, sums have 12 decimals and 26 digits before."""
_NAMES: Final = ("weight", "weight_sq")


_POWER: Final = "coalesce(try_cast(regexp_extract(weighed, '[eE](.+)$', 1) as integer), 0)"


def _number(kind: str, text: str = "weighed") -> str:
    return (
        f"(case when regexp_full_match(weighed, '{_WRITTEN}') "
        f"then try_cast({text} as {kind}) end)"
    )


_EXACT: Final = _number("decimal(38, 12)")
WEIGHT: Final = _number("double")
REFUSED: Final = f"coalesce({WEIGHT} not between 0 and {_MOST} or {_EXACT} is null, true)"


def weight_exponent(steps: Steps, settings: Settings, former: int | None) -> int:
    """Return by which power of ten weights are multiplied, 0 if they are of common size.

    Weights that sum to 1 are tiny in a large survey: to 12 decimals little would be left of
    them, and less of their squares. Only their ratios matter. ``former`` is that of the
    survey to which rows are added.
    """
    if settings.weight is None:
        return 0
    ((smallest, largest),) = steps.rows(
        f"select min({WEIGHT}), max({WEIGHT}) from temp.source_line "  # noqa: S608
        f"where {WEIGHT} > 0 and not {REFUSED}"
    )
    if not largest:
        return former or 0
    least, most = _AS_THEY_ARE
    if former is not None:
        tens = former
    elif least <= smallest and largest <= most:
        return 0
    else:
        tens = 7 - math.floor(math.log10(largest))
    low, high = (math.log10(bound) - tens for bound in _KEPT)
    if math.log10(smallest) < low or math.log10(largest) > high:
        beside = "" if former is None else ", beside those the survey has"
        raise SurveyError(
            f"{settings.weight!r} is between {smallest:g} and {largest:g}{beside}: such "
            "weights cannot be kept together",
            hint="bring them to one scale (only their ratios matter), or set the tiniest to 0",
        )
    return tens


def _weight(settings: Settings) -> str:
    """Return the SQL of the weight that is kept."""
    tens = settings.weight_exponent
    if not tens:
        return _EXACT
    text = f"regexp_extract(weighed, '^[^eE]+') || 'e' || ({_POWER} + {tens})"
    return _number("decimal(38, 12)", text)


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
        f"select weighed, sum(n_lines) from temp.source_line where {REFUSED} "  # noqa: S608
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
    kept, tens = _weight(settings), settings.weight_exponent
    decimals = f"length(regexp_extract(weighed, '[.]([0-9]*[1-9])', 1)) - ({_POWER} + {tens})"
    ((total, least, most, n_zero, n_long),) = steps.rows(
        f"select coalesce(sum({kept} * n_lines), 0), min({kept}), max({kept}), "  # noqa: S608
        f"coalesce(sum(n_lines) filter (where {kept} = 0), 0), "
        f"coalesce(sum(n_lines) filter (where {decimals} > 12), 0) from temp.source_line"
    )
    if most is not None and not most and not is_part:
        raise SurveyError(f"every {settings.weight!r} is 0")
    return {
        "column": settings.weight,
        "sum": plain(Decimal(total).scaleb(-tens)),
        "smallest": plain(Decimal(least or 0).scaleb(-tens)),
        "largest": plain(Decimal(most or 0).scaleb(-tens)),
        "rows_of_weight_0": int(n_zero),
        "rows_kept_to_12_decimals": int(n_long),
        **({"kept_times": f"1e{tens}"} if tens else {}),
    }


def weight_columns(settings: Settings) -> str:
    """Return the SQL of a line's weight and squared weight, given ``n`` respondents."""
    if settings.weight is None:
        return ", ".join(f"cast(null as decimal(38, 12)) as {name}" for name in _NAMES)
    kept = _weight(settings)
    square = f"cast(cast({kept} as double) * cast({kept} as double) as decimal(38, 12))"
    return (
        f"cast({kept} * n as decimal(38, 12)) as weight, "
        f"cast({square} * n as decimal(38, 12)) as weight_sq"
    )


def _bad_rows(steps: Steps, relation: Relation, settings: Settings) -> str:
    """Say in which rows of the source the bad weights are, where it can be read again."""
    if relation.once:
        return ""
    query = (
        "select i from (select row_number() over () as i, "  # noqa: S608
        f"{settings.weighed} as weighed from {relation.from_clause}) "
        f"where {REFUSED} order by i limit 6"
    )
    lines = [row[0] for row in steps.rows(query, relation.params_of(query))]
    word = "row" if len(lines) == 1 else "rows"
    return f" ({word} {listed(lines)})" if lines else ""
