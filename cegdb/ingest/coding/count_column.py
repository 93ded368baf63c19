"""Counts: the column that says how many respondents each line stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cegdb.errors import SurveyError, listed
from cegdb.ingest.coding.weight_column import weight_columns
from cegdb.ingest.files.cell_labels import shown

if TYPE_CHECKING:
    from cegdb.ingest.files.relation import Relation
    from cegdb.ingest.settings import Settings
    from cegdb.sqlfiles import Steps

_MOST: Final = (1 << 63) - 1
# A count as it may be written: 12, 12.0, and 1e+05 as R writes it; never rounded.
WHOLE: Final = (
    "(case when regexp_full_match(written, '[+-]?[0-9]+([.]0*)?') "
    "then try_cast(split_part(written, '.', 1) as hugeint) "
    "when regexp_full_match(written, '[+-]?[0-9]+([.][0-9]*)?[eE][+-]?[0-9]+') "
    "and abs(try_cast(written as double)) <= 9007199254740992 "
    "and floor(try_cast(written as double)) = try_cast(written as double) "
    "then cast(try_cast(written as double) as hugeint) end)"
)

_NAMES: Final = {
    **dict.fromkeys(("freq", "frequency", "count", "counts", "n"), "count"),
    **dict.fromkeys(("weight", "weights", "wt", "wgt", "pweight", "poids"), "weight"),
}


def looks_like(name: str) -> str | None:
    """Return ``count`` or ``weight`` for a column whose name says so.

    Examples
    --------
    >>> looks_like(" Freq "), looks_like("wt"), looks_like("Sex")
    ('count', 'weight', None)
    """
    return _NAMES.get(name.strip().casefold())


def check_counts(steps: Steps, relation: Relation, settings: Settings) -> int:
    """Refuse counts that are no whole numbers >= 0; return how many lines count 0."""
    whole = "1" if settings.count is None else WHOLE
    bad = steps.rows(
        f"select written, sum(n_lines) from temp.source_line "  # noqa: S608
        f"where {_refused(whole)} group by written order by written limit 6"
    )
    if bad:
        values = ["a blank" if written is None else shown(written) for written, _ in bad]
        raise SurveyError(
            f"{settings.count!r} holds {listed(values)}{_bad_rows(steps, relation, settings)}: "
            "a count is a whole number, 0 or more and below 2^63",
            hint="weights with decimals are not counts: give weight instead",
        )
    ((total, n_zero),) = steps.rows(
        f"select coalesce(sum({whole} * n_lines), 0), "  # noqa: S608
        f"coalesce(sum(n_lines) filter (where {whole} = 0), 0) from temp.source_line"
    )
    if int(str(total)) > _MOST:
        raise SurveyError(f"{settings.count!r} adds up to {total:,}, more than 2^63 - 1")
    lines = (
        f"select * exclude (weighed), {weight_columns(settings)} from ("  # noqa: S608
        f"select * exclude (written, n_lines), cast({whole} * n_lines as bigint) as n "
        f"from temp.source_line where {whole} > 0)"
    )
    if settings.count is None and settings.weight is None:
        steps.view("response_line", lines)
    else:
        steps.create("response_line", lines)
        steps.drop(["source_line"])
    return int(str(n_zero))


def _refused(whole: str) -> str:
    return f"coalesce({whole} not between 0 and {_MOST}, true)"


def _bad_rows(steps: Steps, relation: Relation, settings: Settings) -> str:
    """Say in which rows of the source the bad counts are, where it can be read again."""
    if relation.once:
        return ""
    query = (
        "select i from (select row_number() over () as i, "  # noqa: S608
        f"{settings.written} as written from {relation.from_clause}) "
        f"where {_refused(WHOLE)} order by i limit 6"
    )
    lines = [row[0] for row in steps.rows(query, relation.params_of(query))]
    word = "row" if len(lines) == 1 else "rows"
    return f" ({word} {listed(lines)})" if lines else ""
