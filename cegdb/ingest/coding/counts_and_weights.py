"""The columns that say how many respondents a line stands for, and what weight each has.

Both are read as text: ``count_text`` and ``weight_text`` of ``source_line``. A count is never
rounded. A weight is kept beside the counts as a decimal with 12 places, exactly.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from cegdb.errors import SurveyError, listed
from cegdb.ingest.coding.bins import plain
from cegdb.ingest.files.cell_labels import abbreviated

if TYPE_CHECKING:
    from cegdb.ingest.files.relation import Relation
    from cegdb.ingest.settings import Settings
    from cegdb.sqlfiles import Steps

_MOST_RESPONDENTS: Final = (1 << 63) - 1
# A count as it may be written: 12, 12.0, and 1e+05 as R writes it.
COUNT: Final = (
    "(case when regexp_full_match(count_text, '[+-]?[0-9]+([.]0*)?') "
    "then try_cast(split_part(count_text, '.', 1) as hugeint) "
    "when regexp_full_match(count_text, '[+-]?[0-9]+([.][0-9]*)?[eE][+-]?[0-9]+') "
    "and abs(try_cast(count_text as double)) <= 9007199254740992 "
    "and floor(try_cast(count_text as double)) = try_cast(count_text as double) "
    "then cast(try_cast(count_text as double) as hugeint) end)"
)
COUNT_REFUSED: Final = f"coalesce({COUNT} not between 0 and {_MOST_RESPONDENTS}, true)"

_NUMBER: Final = r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?"
_EXPONENT: Final = (
    "coalesce(try_cast(regexp_extract(weight_text, '[eE](.+)$', 1) as integer), 0)"
)
_LARGEST_WEIGHT: Final = 10**18
_UNSCALED: Final = (0.001, 1e6)
"""The smallest and the largest weight above 0 that are not scaled."""
_REPRESENTABLE: Final = (1e-4, 1e9)
"""The same of those that were: sums, of squares too, have 12 decimals and 26 digits before."""
_COLUMNS: Final = ("weight", "weight_sq")


def _weight_as(type_: str, text: str = "weight_text") -> str:
    return (
        f"(case when regexp_full_match(weight_text, '{_NUMBER}') "
        f"then try_cast({text} as {type_}) end)"
    )


_EXACT: Final = _weight_as("decimal(38, 12)")
WEIGHT: Final = _weight_as("double")
WEIGHT_REFUSED: Final = (
    f"coalesce({WEIGHT} not between 0 and {_LARGEST_WEIGHT} or {_EXACT} is null, true)"
)


# -----------------------------------------------------------------------------
# Counts
# -----------------------------------------------------------------------------


def check_counts(steps: Steps, relation: Relation, settings: Settings) -> int:
    """Make ``response_line`` of the lines with a count; return how many lines count 0."""
    count = "1" if settings.count is None else COUNT
    bad = steps.rows(
        f"select count_text, sum(n_lines) from temp.source_line "  # noqa: S608
        f"where {COUNT_REFUSED if settings.count else 'false'} "
        "group by count_text order by count_text limit 6"
    )
    if bad:
        where = _bad_rows(steps, relation, settings.count_text, "count_text", COUNT_REFUSED)
        raise SurveyError(
            f"{settings.count!r} contains {_cells([text for text, _ in bad])}{where}: "
            "a count is a whole number, 0 or more and below 2^63",
            hint="numbers with decimals are weights, not counts: give weight instead",
        )
    ((total, n_zero),) = steps.rows(
        f"select coalesce(sum({count} * n_lines), 0), "  # noqa: S608
        f"coalesce(sum(n_lines) filter (where {count} = 0), 0) from temp.source_line"
    )
    if int(str(total)) > _MOST_RESPONDENTS:
        raise SurveyError(f"{settings.count!r} adds up to {total:,}, more than 2^63 - 1")
    lines = (
        f"select * exclude (weight_text), {_weight_columns(settings)} from ("  # noqa: S608
        f"select * exclude (count_text, n_lines), cast({count} * n_lines as bigint) as n "
        f"from temp.source_line where {count} > 0)"
    )
    if settings.count is None and settings.weight is None:
        steps.view("response_line", lines)
    else:
        steps.create("response_line", lines)
        steps.drop(["source_line"])
    return int(str(n_zero))


def _cells(texts: list[str | None]) -> str:
    return listed("a blank" if text is None else abbreviated(text) for text in texts)


def _bad_rows(steps: Steps, relation: Relation, cell: str, column: str, refused: str) -> str:
    """Say in which rows of the source refused cells are, where it can be read again."""
    if relation.is_stream:
        return ""
    query = (
        f"select i from (select row_number() over () as i, {cell} as {column} "  # noqa: S608
        f"from {relation.from_clause}) where {refused} order by i limit 6"
    )
    rows = [row[0] for row in steps.rows(query, relation.params_of(query))]
    return f" (row{'s' * (len(rows) != 1)} {listed(rows)})" if rows else ""


# -----------------------------------------------------------------------------
# Weights
# -----------------------------------------------------------------------------


def weight_exponent(steps: Steps, settings: Settings, previous: int | None) -> int:
    """Return by which power of ten weights are multiplied, 0 if they are of common size.

    Weights that sum to 1 are tiny in a large survey: 12 decimals would keep little of them,
    and less of their squares. Only their ratios matter. ``previous`` is the exponent of the
    survey to which rows are added.
    """
    if settings.weight is None:
        return 0
    ((smallest, largest),) = steps.rows(
        f"select min({WEIGHT}), max({WEIGHT}) from temp.source_line "  # noqa: S608
        f"where {WEIGHT} > 0 and not {WEIGHT_REFUSED}"
    )
    if not largest:
        return previous or 0
    lowest, highest = _UNSCALED
    if previous is not None:
        exponent = previous
    elif lowest <= smallest and largest <= highest:
        return 0
    else:
        exponent = 7 - math.floor(math.log10(largest))
    lowest, highest = (math.log10(bound) - exponent for bound in _REPRESENTABLE)
    if math.log10(smallest) < lowest or math.log10(largest) > highest:
        beside = "" if previous is None else ", together with those the survey has"
        raise SurveyError(
            f"{settings.weight!r} is between {smallest:g} and {largest:g}{beside}: such "
            "weights cannot be kept together",
            hint="bring them to one scale (only their ratios matter), or set the tiniest to 0",
        )
    return exponent


def _kept_weight(settings: Settings) -> str:
    """Return the SQL of the weight that is kept, scaled by the exponent."""
    exponent = settings.weight_exponent
    if not exponent:
        return _EXACT
    mantissa = "regexp_extract(weight_text, '^[^eE]+')"
    return _weight_as("decimal(38, 12)", f"{mantissa} || 'e' || ({_EXPONENT} + {exponent})")


def check_weights(
    steps: Steps, relation: Relation, settings: Settings, *, is_part: bool = False
) -> dict[str, object] | None:
    """Refuse weights that are not numbers, 0 or more; return what the receipt says of them.

    All may be 0 where the source is a part of a survey.
    """
    if settings.weight is None:
        return None
    bad = steps.rows(
        f"select weight_text, sum(n_lines) from temp.source_line where {WEIGHT_REFUSED} "  # noqa: S608
        "group by weight_text order by weight_text limit 6"
    )
    if bad:
        texts = [text for text, _ in bad]
        where = _bad_rows(steps, relation, settings.weight_text, "weight_text", WEIGHT_REFUSED)
        raise SurveyError(
            f"{settings.weight!r} contains {_cells(texts)}{where}: "
            "a weight is a number, 0 or more",
            hint="if the comma is a decimal sign, ingest with decimal=','"
            if any("," in (text or "") for text in texts)
            else "correct those rows, or leave them out of the file",
        )
    weight, exponent = _kept_weight(settings), settings.weight_exponent
    n_decimals = (
        "length(regexp_extract(weight_text, '[.]([0-9]*[1-9])', 1)) "
        f"- ({_EXPONENT} + {exponent})"
    )
    ((total, smallest, largest, n_zero, n_long),) = steps.rows(
        f"select coalesce(sum({weight} * n_lines), 0), min({weight}), max({weight}), "  # noqa: S608
        f"coalesce(sum(n_lines) filter (where {weight} = 0), 0), "
        f"coalesce(sum(n_lines) filter (where {n_decimals} > 12), 0) from temp.source_line"
    )
    if largest is not None and not largest and not is_part:
        raise SurveyError(f"every {settings.weight!r} is 0")
    return {
        "column": settings.weight,
        "sum": plain(Decimal(total).scaleb(-exponent)),
        "smallest": plain(Decimal(smallest or 0).scaleb(-exponent)),
        "largest": plain(Decimal(largest or 0).scaleb(-exponent)),
        "rows_of_weight_0": int(n_zero),
        "rows_kept_to_12_decimals": int(n_long),
        **({"kept_times": f"1e{exponent}"} if exponent else {}),
    }


def _weight_columns(settings: Settings) -> str:
    """Return the SQL of a line's weight and squared weight, given ``n`` respondents."""
    if settings.weight is None:
        return ", ".join(f"cast(null as decimal(38, 12)) as {name}" for name in _COLUMNS)
    weight = _kept_weight(settings)
    square = f"cast(cast({weight} as double) * cast({weight} as double) as decimal(38, 12))"
    return (
        f"cast({weight} * n as decimal(38, 12)) as weight, "
        f"cast({square} * n as decimal(38, 12)) as weight_sq"
    )


# -----------------------------------------------------------------------------
# Rows that a model answers
# -----------------------------------------------------------------------------


def refuse_bad_numbers(steps: Steps, count: str | None, weight: str | None) -> None:
    """Refuse counts and weights of ``source_text``, which has a number for each row."""
    for name, column, refused, rule in (
        (count, "count_text", f"coalesce({COUNT} < 0, true)", "count is a whole number"),
        (weight, "weight_text", WEIGHT_REFUSED, "weight is a number"),
    ):
        if name is None:
            continue
        bad = steps.rows(
            f"select row_number, {column} from temp.source_text "  # noqa: S608
            f"where {refused} order by row_number limit 6"
        )
        if bad:
            cells = [f"{_cells([text])} in row {i}" for i, text in bad]
            raise SurveyError(f"{name!r} contains {listed(cells)}: a {rule}, 0 or more")
