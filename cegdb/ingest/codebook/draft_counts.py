"""What SQL counts of a source's columns, for the draft of a codebook."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cegdb.errors import SqlStepError
from cegdb.ingest.codebook.draft_warnings import CODES, WORDS
from cegdb.ingest.coding.bins import number_of
from cegdb.ingest.coding.levels import MANY_LEVELS
from cegdb.ingest.coding.variables import NOT_APPLICABLE
from cegdb.ingest.files.sources import unreadable
from cegdb.sqlfiles import Steps

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import duckdb

    from cegdb.ingest.files import labelled
    from cegdb.ingest.files.relation import Relation

TABLES: Final = ("draft_count", "draft_cell")
COUNTED, _COPIED = TABLES
_AT_A_TIME: Final = 50
_FETCHED: Final = 1_000

_NUMBER: Final = "[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,3})?"
_DATE: Final = (
    "[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}([ T][0-9:.+Z]*)?"
    "|[0-9]{1,2}[-/.][0-9]{1,2}[-/.]([0-9]{4}|[0-9]{2})( [0-9:]*)?"
)


@dataclass(frozen=True)
class Counts:
    """What SQL counted of one column.

    ``of`` has the rows of each text (None: blank); of a column with very many, the most
    frequent and those that may mean something.
    """

    of: dict[str | None, int]
    is_whole: bool
    n_rows: int = 0
    n_blank: int = 0
    n_levels: int = 0
    n_numbers: int = 0
    n_integers: int = 0
    n_dates: int = 0
    ends: tuple[float | None, float | None] = (None, None)
    other_ends: tuple[float | None, float | None] = (None, None)
    mean: float | None = None


def counts_of(
    con: duckdb.DuckDBPyConnection, relation: Relation, cells: Mapping[str, str]
) -> Iterator[tuple[str, Counts]]:
    """Give what is counted of each cell, by name; `TABLES` are the caller's to drop."""
    names, source = list(cells), relation.from_clause
    steps = Steps(con)
    if relation.once:
        copied = ", ".join(f"{cell} as f{i}" for i, cell in enumerate(cells.values()))
        _create(con, relation, _COPIED, f"select {copied} from {source}")  # noqa: S608
        cells = {name: f"f{i}" for i, name in enumerate(names)}
        source = f"temp.{_COPIED}"
    for start in range(0, len(names), _AT_A_TIME):
        part = names[start : start + _AT_A_TIME]
        _create(con, relation, COUNTED, _counting([cells[name] for name in part], source))
        yield from zip(part, _counted(steps, relation, part), strict=True)


def _create(con: duckdb.DuckDBPyConnection, relation: Relation, table: str, query: str) -> None:
    try:
        Steps(con).create(table, query, relation.params_of(query))
    except SqlStepError as error:
        raise unreadable(con, relation, error) from None


def _counting(cells: list[str], source: str) -> str:
    """Return the SELECT of how often each text of each cell occurs, in one pass."""
    places = [f"k{i}" for i in range(len(cells))]
    taken = ", ".join(f"{cell} as {at}" for at, cell in zip(places, cells, strict=True))
    ordinal = " ".join(f"when grouping({at}) = 0 then {i}" for i, at in enumerate(places))
    label = " ".join(f"when grouping({at}) = 0 then {at}" for at in places)
    sets = ", ".join(f"({at})" for at in places)
    return (
        f"select case {ordinal} end as ordinal, case {label} end as label, count(*) as n "  # noqa: S608
        f"from (select {taken} from {source}) group by grouping sets ({sets})"
    )


def _counted(steps: Steps, relation: Relation, names: list[str]) -> list[Counts]:
    is_number = f"regexp_full_match(trim(label), '{_NUMBER}')"
    measured = {
        row[0]: row[1:]
        for row in steps.rows(
            "select ordinal, coalesce(sum(n), 0), "  # noqa: S608
            "coalesce(sum(n) filter (where label is null), 0), count(label), "
            "count(label) filter (where x is not null), "
            "count(label) filter (where regexp_full_match(label, '[+-]?[0-9]+')), "
            f"count(label) filter (where regexp_full_match(label, '{_DATE}')), "
            "min(x), max(x), min(x) filter (where not is_code), "
            "max(x) filter (where not is_code), "
            "sum(x * n) / sum(n) filter (where x is not null) "
            f"from (select *, case when {is_number} then try_cast(trim(label) as double) end "
            "as x, list_contains(cast($codes as varchar[]), label) as is_code "
            f"from temp.{COUNTED}) group by ordinal",
            {"codes": list(CODES)},
        )
    }
    few = [i for i, row in measured.items() if row[2] <= _FETCHED]
    texts: dict[int, dict[str | None, int]] = {}
    for ordinal, label, n in steps.rows(
        f"select ordinal, label, n from temp.{COUNTED} "  # noqa: S608
        "where list_contains(cast($few as integer[]), ordinal)",
        {"few": few},
    ):
        texts.setdefault(ordinal, {})[label] = n
    counts = []
    for i, name in enumerate(names):
        if i not in measured:  # no rows at all
            counts.append(Counts({}, is_whole=True))
            continue
        n_rows, n_blank, n_levels, n_numbers, n_integers, n_dates, *ends, mean = measured[i]
        known = relation.known.get(name)
        if i not in few and n_numbers < n_levels and _others_are_numbers(steps, i, known):
            n_numbers = n_levels
        counts.append(
            Counts(
                texts[i] if i in few else _telling(steps, i, known),
                i in few,
                int(n_rows),
                int(n_blank),
                n_levels,
                n_numbers,
                n_integers,
                n_dates,
                (ends[0], ends[1]),
                (ends[2], ends[3]),
                mean,
            )
        )
    return counts


def _telling(steps: Steps, ordinal: int, known: labelled.Entry | None) -> dict[str | None, int]:
    """Return the rows of the most frequent texts, and of those that may mean something."""
    exact = [*CODES, NOT_APPLICABLE]
    if known is not None:
        exact += [*known.values, *known.values.values(), *known.missing, *known.missing_texts]
    return dict(
        steps.rows(
            "select label, n from ("  # noqa: S608
            f"select label, n, row_number() over (order by n desc, label) as place "
            f"from temp.{COUNTED} where ordinal = $ordinal and label is not null) "
            "where place <= $most or list_contains(cast($exact as varchar[]), label) "
            "or list_contains(cast($words as varchar[]), lower(trim(label))) order by place",
            {
                "ordinal": ordinal,
                "most": MANY_LEVELS,
                "exact": exact,
                "words": list(WORDS),
            },
        )
    )


def _others_are_numbers(steps: Steps, ordinal: int, known: labelled.Entry | None) -> bool:
    """Return whether the texts that SQL takes for none are numbers all the same."""
    others = steps.rows(
        f"select label from temp.{COUNTED} where ordinal = $ordinal "  # noqa: S608
        f"and not regexp_full_match(trim(label), '{_NUMBER}') order by n desc limit $most",
        {"ordinal": ordinal, "most": _FETCHED},
    )
    return all(
        number_of(text) is not None
        or NOT_APPLICABLE in (text, known.values.get(text) if known else None)
        or (known is not None and known.is_missing(text))
        for (text,) in others
    )
