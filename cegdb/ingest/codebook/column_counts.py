"""What the columns of a source hold, counted by SQL for the draft of a codebook."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cegdb.errors import SqlStepError
from cegdb.ingest.coding.bins import number_of
from cegdb.ingest.coding.cell_codes import count_query
from cegdb.ingest.coding.levels import MANY_LEVELS
from cegdb.ingest.coding.variables import NOT_APPLICABLE
from cegdb.ingest.files.sources import read_error
from cegdb.ingest.label_checks import MEANING_OF_LABEL, MISSING_CODES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import duckdb

    from cegdb.ingest.files.labelled import ColumnMetadata
    from cegdb.ingest.files.relation import Relation
    from cegdb.sqlfiles import Steps

_COLUMNS_A_PASS: Final = 50
_MOST_TEXTS: Final = 1_000

_NUMBER: Final = "[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,3})?"
_DATE: Final = (
    "[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}([ T][0-9:.+Z]*)?"
    "|[0-9]{1,2}[-/.][0-9]{1,2}[-/.]([0-9]{4}|[0-9]{2})( [0-9:]*)?"
)


@dataclass(frozen=True)
class ColumnCounts:
    """What SQL counted of one column.

    ``rows_of`` has the rows of each text (None: blank) if ``has_all_texts``; else those of
    the most frequent texts and of others that may mean something.
    """

    rows_of: dict[str | None, int]
    has_all_texts: bool
    n_rows: int = 0
    n_blank: int = 0
    n_texts: int = 0
    n_numbers: int = 0
    n_integers: int = 0
    n_dates: int = 0
    range: tuple[float | None, float | None] = (None, None)
    range_without_codes: tuple[float | None, float | None] = (None, None)
    mean: float | None = None


def count_columns(
    steps: Steps,
    con: duckdb.DuckDBPyConnection,
    relation: Relation,
    cells: Mapping[str, str],
) -> Iterator[tuple[str, ColumnCounts]]:
    """Give what is counted of each column, by name; ``cells`` has the SQL of each."""
    names, source = list(cells), relation.from_clause

    def create(table: str, query: str) -> None:
        try:
            steps.create(table, query, relation.params_of(query))
        except SqlStepError as error:
            raise read_error(con, relation, error) from None

    if relation.is_stream:  # which is there for one pass only
        copied = ", ".join(f"{cell} as f{i}" for i, cell in enumerate(cells.values()))
        create("copied_source", f"select {copied} from {source}")  # noqa: S608
        cells = {name: f"f{i}" for i, name in enumerate(names)}
        source = "temp.copied_source"
    for start in range(0, len(names), _COLUMNS_A_PASS):
        part = names[start : start + _COLUMNS_A_PASS]
        by_ordinal = {i: cells[name] for i, name in enumerate(part)}
        create("column_text", count_query(by_ordinal, source, "1"))
        yield from zip(part, _counts(steps, relation, part), strict=True)


def _counts(steps: Steps, relation: Relation, names: Sequence[str]) -> list[ColumnCounts]:
    measures = {
        row[0]: row[1:]
        for row in steps.fetch(
            "column_profile", number=_NUMBER, date=_DATE, codes=list(MISSING_CODES)
        )
    }
    few = [i for i, measure in measures.items() if measure[2] <= _MOST_TEXTS]
    texts: dict[int, dict[str | None, int]] = {}
    for ordinal, text, n in steps.fetch("listed_text", ordinals=few):
        texts.setdefault(ordinal, {})[text] = n
    counts = []
    for i, name in enumerate(names):
        if i not in measures:  # no rows at all
            counts.append(ColumnCounts({}, has_all_texts=True))
            continue
        n_rows, n_blank, n_texts, n_numbers, n_integers, n_dates, *ends, mean = measures[i]
        metadata = relation.metadata.get(name)
        if i not in few and n_numbers < n_texts and _others_are_numbers(steps, i, metadata):
            n_numbers = n_texts
        counts.append(
            ColumnCounts(
                texts[i] if i in few else _frequent_texts(steps, i, metadata),
                i in few,
                int(n_rows),
                int(n_blank),
                n_texts,
                n_numbers,
                n_integers,
                n_dates,
                (ends[0], ends[1]),
                (ends[2], ends[3]),
                mean,
            )
        )
    return counts


def _frequent_texts(
    steps: Steps, ordinal: int, metadata: ColumnMetadata | None
) -> dict[str | None, int]:
    """Return the rows of the most frequent texts, and of those that may mean something."""
    texts = [*MISSING_CODES, NOT_APPLICABLE]
    if metadata is not None:
        texts += [*metadata.values, *metadata.values.values()]
        texts += [*metadata.missing, *metadata.missing_texts]
    rows = steps.fetch(
        "frequent_text",
        ordinal=ordinal,
        most=MANY_LEVELS,
        texts=texts,
        words=list(MEANING_OF_LABEL),
    )
    return dict(rows)


def _others_are_numbers(steps: Steps, ordinal: int, metadata: ColumnMetadata | None) -> bool:
    """Return whether the texts that SQL does not take for numbers are numbers or no answers."""
    others = steps.fetch("non_numeric_text", ordinal=ordinal, number=_NUMBER, most=_MOST_TEXTS)
    return all(
        number_of(text) is not None
        or NOT_APPLICABLE in (text, metadata.values.get(text) if metadata else None)
        or (metadata is not None and metadata.is_missing(text))
        for (text,) in others
    )
