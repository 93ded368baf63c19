"""The columns that say how many respondents a line stands for, and what weight each has.

Both are read as text: ``count_text`` and ``weight_text`` of ``source_line``. A count is never
rounded. A weight is kept beside the counts as a decimal with 12 places, exactly.
"""

from __future__ import annotations

import math
import re
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
_COUNT_RULE: Final = "a count is a whole number, 0 or more and below 2^63"
_WEIGHT_RULE: Final = "a weight is a number, 0 or more"
# A count may be written 12, 12.0, or 1e+05 as R writes it.
_COUNT: Final = (
    "(case when regexp_full_match(count_text, '[+-]?[0-9]+([.]0*)?') "
    "then try_cast(split_part(count_text, '.', 1) as hugeint) "
    "when regexp_full_match(count_text, '[+-]?[0-9]+([.][0-9]*)?[eE][+-]?[0-9]+') "
    "and abs(try_cast(count_text as double)) <= 9007199254740992 "
    "and floor(try_cast(count_text as double)) = try_cast(count_text as double) "
    "then cast(try_cast(count_text as double) as hugeint) end)"
)
_NUMBER: Final = r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?"
_EXPONENT: Final = (
    "coalesce(try_cast(regexp_extract(weight_text, '[eE](.+)$', 1) as integer), 0)"
)
_LARGEST_WEIGHT: Final = 10**18
_UNSCALED: Final = (0.001, 1e6)
"""The smallest and the largest weight above 0 that are not scaled."""
_REPRESENTABLE: Final = (1e-4, 1e9)
"""The same of scaled ones: sums, of squares too, have 12 decimals and 26 digits before them."""


def _weight_as(type_: str, text: str = "weight_text") -> str:
    return (
        f"(case when regexp_full_match(weight_text, '{_NUMBER}') "
        f"then try_cast({text} as {type_}) end)"
    )


def _parsed_columns(*, has_count: bool, has_weight: bool, exponent: int = 0) -> str:
    """Return the SQL of the numbers that ``count_text`` and ``weight_text`` write.

    ``weight`` is multiplied by 10 to the power of ``exponent``; ``n_decimals`` are those that
    it needs then.
    """
    count = _COUNT if has_count else "cast(1 as bigint)"
    size = exact = weight = "null"
    n_decimals = "0"
    if has_weight:
        size = _weight_as("double")
        exact = weight = _weight_as("decimal(38, 12)")
        n_decimals = (
            "length(regexp_extract(weight_text, '[.]([0-9]*[1-9])', 1)) "
            f"- ({_EXPONENT} + {exponent})"
        )
    if exponent:
        mantissa = "regexp_extract(weight_text, '^[^eE]+')"
        scaled = f"{mantissa} || 'e' || ({_EXPONENT} + {exponent})"
        weight = _weight_as("decimal(38, 12)", scaled)
    is_bad_count = f"coalesce({count} not between 0 and {_MOST_RESPONDENTS}, true)"
    is_bad_weight = f"coalesce({size} not between 0 and {_LARGEST_WEIGHT}, true)"
    columns = {
        "n_respondents": count,
        "is_bad_count": is_bad_count if has_count else "false",
        "weight_size": f"cast({size} as double)",
        "weight": f"cast({weight} as decimal(38, 12))",
        "n_decimals": n_decimals,
        "is_bad_weight": f"({is_bad_weight} or {exact} is null)" if has_weight else "false",
    }
    return ", ".join(f"{expression} as {name}" for name, expression in columns.items())


def _parse_lines(steps: Steps, settings: Settings, exponent: int = 0) -> None:
    columns = _parsed_columns(
        has_count=settings.count is not None,
        has_weight=settings.weight is not None,
        exponent=exponent,
    )
    steps.view("parsed_line", f"select *, {columns} from temp.source_line")  # noqa: S608


# -----------------------------------------------------------------------------
# Lines of a survey
# -----------------------------------------------------------------------------


def check_numbers(steps: Steps, relation: Relation, settings: Settings) -> int:
    """Refuse counts and weights that are none; return how many lines have a count of 0.

    Makes ``parsed_line``, the source's lines with their numbers.
    """
    _parse_lines(steps, settings)
    n_zero = 0
    if settings.count is not None:
        _refuse_bad(steps, relation, "count", settings.count, settings.count_text, _COUNT_RULE)
        ((total, n_zero),) = steps.fetch("count_total")
        if total > _MOST_RESPONDENTS:
            raise SurveyError(
                f"the counts in {settings.count!r} add up to {total:,}, more than 2^63 - 1"
            )
    if settings.weight is not None:
        text = settings.weight_text
        _refuse_bad(steps, relation, "weight", settings.weight, text, _WEIGHT_RULE)
    return int(n_zero)


def _refuse_bad(
    steps: Steps, relation: Relation, kind: str, column: str, cell: str, rule: str
) -> None:
    refused = steps.fetch("refused_number", kind=kind)
    if not refused:
        return
    texts: list[str | None] = [text for text, _ in refused]
    if kind == "count" and any(_has_decimals(text) for text in texts):
        hint = "numbers with decimals are weights, not counts: give weight instead"
    elif kind == "weight" and any("," in (text or "") for text in texts):
        hint = "if the comma is a decimal sign, ingest with decimal=','"
    elif not any(char.isdigit() for text in texts for char in text or "0"):
        hint = f"correct those rows, or name another column: is {column!r} the {kind}?"
    else:
        hint = "correct those rows, or leave them out of the file"
    cells = listed(map(_cell, texts), total=refused[0][1])
    where = _bad_rows(steps, relation, kind, cell)
    raise SurveyError(f"{column!r} contains {cells}{where}: {rule}", hint=hint)


def _has_decimals(text: str | None) -> bool:
    return re.fullmatch(r"[+-]?\d*[.,]\d+", text or "") is not None


def _cell(text: str | None) -> str:
    if text is None:
        return "a blank"
    return abbreviated(text if any(map(str.isdigit, text)) else repr(text))


def _bad_rows(steps: Steps, relation: Relation, kind: str, cell: str) -> str:
    """Return which rows of the source have refused cells, if it can be read again."""
    if relation.is_stream:
        return ""
    columns = _parsed_columns(has_count=kind == "count", has_weight=kind == "weight")
    texts = {"count_text": "null", "weight_text": "null", f"{kind}_text": cell}
    cells = ", ".join(f"cast({text} as varchar) as {name}" for name, text in texts.items())
    query = (
        f"select *, {columns} from "  # noqa: S608
        f"(select row_number() over () as row_number, {cells} from {relation.from_clause})"
    )
    steps.create("parsed_row", query, relation.params_of(query))
    rows = steps.fetch("refused_row", kind=kind)
    if not rows:
        return ""
    total = rows[0][2]
    numbers = listed((number for number, *_ in rows), total=total)
    return f" (row{'s' * (total > 1)} {numbers})"


def weight_exponent(steps: Steps, settings: Settings, earlier: int | None) -> int:
    """Return by which power of ten weights are multiplied, 0 if they are of common size.

    Weights that sum to 1 are tiny in a large survey: 12 decimals would keep little of them,
    and less of their squares. Only their ratios matter. ``earlier`` is the exponent of the
    survey to which rows are added.
    """
    if settings.weight is None:
        return 0
    ((smallest, largest),) = steps.fetch("weight_range")
    if not largest:
        return earlier or 0
    lowest, highest = _UNSCALED
    if earlier is not None:
        exponent = earlier
    elif lowest <= smallest and largest <= highest:
        return 0
    else:
        exponent = 7 - math.floor(math.log10(largest))
    lowest, highest = (math.log10(bound) - exponent for bound in _REPRESENTABLE)
    if math.log10(smallest) < lowest or math.log10(largest) > highest:
        beside = "" if earlier is None else ", together with those the survey has"
        raise SurveyError(
            f"{settings.weight!r} is between {smallest:g} and {largest:g}{beside}: weights so "
            "different in size cannot be stored together",
            hint="bring them to one scale (only their ratios matter), or set the tiniest to 0",
        )
    return exponent


def count_respondents(
    steps: Steps, settings: Settings, *, is_part: bool = False
) -> dict[str, object] | None:
    """Make ``response_line``: the lines that count, with respondents and weights.

    Returns what the receipt says of the weights, which are those of respondents: one line
    may stand for many. All may be 0 where the source is a part of a survey.
    """
    if settings.weight_exponent:
        _parse_lines(steps, settings, settings.weight_exponent)
    weights = None if settings.weight is None else _weights(steps, settings, is_part=is_part)
    steps.run("response_line")
    if settings.count is not None or settings.weight is not None:
        # Numbers are parsed once, not by each query on the lines.
        steps.create("counted_line", "select * from temp.response_line")
        steps.view("response_line", "select * from temp.counted_line")
        steps.drop(["parsed_line", "source_line"])
    return weights


def _weights(steps: Steps, settings: Settings, *, is_part: bool) -> dict[str, object]:
    exponent = settings.weight_exponent
    ((total, smallest, largest, n_zero, n_long),) = steps.fetch("weight_total")
    if largest is not None and not largest and not is_part:
        raise SurveyError(f"the weight {settings.weight!r} is 0 in every row")
    return {
        "column": settings.weight,
        "sum": plain(Decimal(total).scaleb(-exponent)),
        "smallest": plain(Decimal(smallest or 0).scaleb(-exponent)),
        "largest": plain(Decimal(largest or 0).scaleb(-exponent)),
        "rows_of_weight_0": int(n_zero),
        "rows_kept_to_12_decimals": int(n_long),
        **({"kept_times": f"1e{exponent}"} if exponent else {}),
    }


# -----------------------------------------------------------------------------
# Rows that a model answers
# -----------------------------------------------------------------------------


def parse_new_rows(steps: Steps, count: str | None, weight: str | None) -> None:
    """Make ``parsed_row`` of ``source_text``, refusing counts and weights that are none."""
    columns = _parsed_columns(has_count=count is not None, has_weight=weight is not None)
    steps.view("parsed_row", f"select *, {columns} from temp.source_text")  # noqa: S608
    for kind, name, rule in (("count", count, _COUNT_RULE), ("weight", weight, _WEIGHT_RULE)):
        if name is None:
            continue
        rows = steps.fetch("refused_row", kind=kind)
        if rows:
            cells = listed(
                (f"{_cell(text)} in row {number}" for number, text, _ in rows),
                total=rows[0][2],
            )
            raise SurveyError(f"{name!r} contains {cells}: {rule}")
