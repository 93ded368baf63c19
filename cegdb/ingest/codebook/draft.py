"""A first draft of a codebook: what a source holds, to be edited and given to ingest.

What is certain is written so that ingest uses it: the levels of each variable, and what the
file itself says of its codes. What is only likely is a remark, which changes nothing.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from cegdb.errors import SurveyError, counted, listed
from cegdb.ingest.codebook.codebook import CodebookEntry
from cegdb.ingest.codebook.column_counts import ColumnCounts, count_columns
from cegdb.ingest.codebook.draft_text import DraftColumn, Level, as_csv, as_yaml, quoted
from cegdb.ingest.codebook.draft_warnings import add_warnings
from cegdb.ingest.coding.levels import (
    MANY_LEVELS,
    decide_meanings,
    many_numbers,
    order_levels,
)
from cegdb.ingest.coding.variables import NOT_APPLICABLE, Variable
from cegdb.ingest.csv.csv_file import retry_rewritten
from cegdb.ingest.files.cell_labels import abbreviated, label_of
from cegdb.ingest.files.sources import load_chunks, open_source
from cegdb.ingest.settings import check_settings
from cegdb.options import IngestOptions, check_choice
from cegdb.sqlfiles import Steps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cegdb.ingest.coding.variables import Kind
    from cegdb.ingest.files.labelled import ColumnMetadata
    from cegdb.ingest.files.relation import Relation
    from cegdb.ingest.files.sources import Source
    from cegdb.options import ReadOptions
    from cegdb.store import Store

__all__ = ["Form", "draft_codebook"]

Form: TypeAlias = Literal["yaml", "csv"]

_MOST_SHOWN: Final = 10


def draft_codebook(
    store: Store,
    source: Source,
    *,
    columns: Sequence[str] | None = None,
    reading: ReadOptions | None = None,
    form: Form = "yaml",
) -> str:
    """Return a codebook that describes a source, to be edited; nothing is stored.

    As it is, ``ingest`` makes the same survey with it as without, but for the columns that it
    leaves out, each with a reason: those without a name of their own, numbers with more than
    50 values, ids, and those that ingest refuses. If nothing else is left, numbers are cut
    into quarters.
    """
    check_choice("form", form, get_args(Form), SurveyError)
    return retry_rewritten(partial(_draft, store, source, columns, reading, form))


def _draft(
    store: Store,
    source: Source,
    columns: Sequence[str] | None,
    reading: ReadOptions | None,
    form: Form,
    *,
    rewrite: bool,
) -> str:
    with (
        store.reading() as con,
        open_source(con, source, reading, rewrite=rewrite) as relation,
        Steps(con) as steps,
    ):
        store.progress = relation.progress
        names = Counter(relation.columns)
        usable = [name for name, times in names.items() if name and times == 1]
        chosen = columns if columns is not None else usable or None
        settings = check_settings(relation, IngestOptions(chosen))
        load_chunks(con, relation, list(settings.variables))
        cells = {name: settings.cells[name] for name in settings.variables}
        n_rows, drafted = 0, []
        for name, counts in count_columns(steps, con, relation, cells):
            metadata, order = relation.metadata.get(name), relation.level_order.get(name)
            drafted.append(_draft_column(name, counts, metadata, order))
            n_rows = counts.n_rows
        _keep_one_kind(drafted, relation)
        if columns is None:
            drafted = _all_columns(names, {column.name: column for column in drafted})
        n_columns = len(drafted if columns is not None else relation.columns)
        head = _head(relation, n_rows, n_columns, form)
    return as_yaml(head, drafted) if form == "yaml" else as_csv(head, drafted)


def _all_columns(
    names: Mapping[str, int], drafted: dict[str, DraftColumn]
) -> list[DraftColumn]:
    """Return the columns of a file in its order, also those without a name of their own."""
    columns = []
    for name, times in names.items():
        why = "it has no name" if not name else f"{times} columns have this name"
        left_out = f"{why}; name it and draft again"
        columns.append(drafted.get(name) or DraftColumn(name, left_out=left_out))
    return columns


def _keep_one_kind(columns: list[DraftColumn], relation: Relation) -> None:
    """If every column would be left out, keep numbers in quarters, else ids, after all."""
    if any(column.left_out is None for column in columns):
        return
    numbers = [column for column in columns if column.is_number]
    numbers = [column for column in numbers if not column.is_id] or numbers
    ids = [column for column in columns if column.is_id]
    for column in numbers or ids:
        column.left_out = None
    for column in numbers:
        column.bins = "q4"
        column.remarks.append(
            "cut into quarters, because no other column is left; choose the cut points"
        )
    if not numbers and not ids:
        raise SurveyError(
            f"no column of {relation.title} can be a variable: "
            f"{listed(f'{column.name!r}: {column.left_out}' for column in columns)}"
        )


def _head(relation: Relation, n_rows: int, n_columns: int, form: Form) -> list[str]:
    n_bad = sum(skipped.count for skipped in relation.skipped_rows)
    remarks = (
        "Text after # is a remark and changes nothing."
        if form == "yaml"
        else "Rows of the kind note and the columns n and note are remarks and change nothing."
    )
    return [
        f"Draft of a codebook, to be edited, of {abbreviated(relation.description, most=400)}",
        f"{counted(n_rows, 'row')}, {counted(n_columns, 'column')}. {remarks}",
        *([f"{counted(n_bad, 'malformed row')} left out"] if n_bad else []),
        *(abbreviated(note, most=400) for note in relation.notes),
    ]


# -----------------------------------------------------------------------------
# One column
# -----------------------------------------------------------------------------


def _draft_column(
    name: str,
    counts: ColumnCounts,
    metadata: ColumnMetadata | None,
    order: list[str] | None,
) -> DraftColumn:
    column = DraftColumn(name, label_of(metadata.label) if metadata else None)
    variable = _ingest_column(name, counts, CodebookEntry(), metadata, order)
    declared = CodebookEntry()
    if isinstance(variable, SurveyError):
        # Perhaps because of cegdb's own label for such cells, which is refused as an answer.
        declared = CodebookEntry(structural=[NOT_APPLICABLE])
        retried = _ingest_column(name, counts, declared, metadata, order)
        if isinstance(retried, SurveyError):
            column.left_out = f"ingest would refuse it: {str(variable).splitlines()[0]}"
            return column
        variable = retried
    levels: dict[Kind, list[Level]] = {
        kind: [
            Level(text, label, counts.rows_of.get(text, 0))
            for label in labels
            for text in variable.texts_of(kind, label)
        ]
        for kind, labels in _labels_by_kind(variable)
    }
    n_structural = variable.counts_by_kind()["structural"]
    column.structural = [Level(text, text, n_structural) for text in declared.structural]
    n_values = (
        counts.n_texts
        - len(levels["missing"])
        - sum(
            kind == "structural" and text in counts.rows_of
            for text, (kind, _) in variable.meanings.items()
        )
    )
    is_labelled = (
        metadata is not None
        and len(levels["value"]) == n_values
        and all(level.code in metadata.values for level in levels["value"])
    )
    is_many = n_values > MANY_LEVELS and not is_labelled
    _list_levels(column, counts, variable, declared, levels, order, is_many=is_many)
    if metadata is not None:
        unseen = [code for code in metadata.values if code not in counts.rows_of]
        if unseen:
            labels = listed(
                f"{quoted(code)}: {quoted(metadata.values[code])}" for code in unseen
            )
            column.remarks.append(f"labels of codes that do not occur: {labels}")
    add_warnings(column, variable, counts, metadata, n_values, is_many=is_many)
    if order is None and not column.values and _are_many_numbers(variable, counts):
        column.is_number = True
        lowest, highest = (label_of(end) or "?" for end in counts.range)
        column.left_out = f"{n_values:,} different numbers, {lowest} to {highest}"
    if is_many and column.is_id and column.left_out is None:
        column.left_out = f"looks like an id: {n_values:,} values"
    if column.left_out is not None:
        del column.unlisted[_MOST_SHOWN:]
    column.remarks += [finding.text for finding in variable.findings]
    if counts.n_blank:
        column.remarks.append(f"blank: {counted(counts.n_blank, 'row')}")
    return column


def _labels_by_kind(variable: Variable) -> tuple[tuple[Kind, list[str]], ...]:
    return ("value", variable.values), ("missing", variable.missing)


def _ingest_column(
    name: str,
    counts: ColumnCounts,
    entry: CodebookEntry,
    metadata: ColumnMetadata | None,
    order: list[str] | None,
) -> Variable | SurveyError:
    """Return what ingest would make of a column, given an entry."""
    variable = Variable(name, entry, metadata, counts=dict(counts.rows_of))
    try:
        decide_meanings(variable)
        order_levels(variable, order)
    except SurveyError as error:
        return error
    return variable


def _list_levels(
    column: DraftColumn,
    counts: ColumnCounts,
    variable: Variable,
    declared: CodebookEntry,
    levels: dict[Kind, list[Level]],
    order: list[str] | None,
    *,
    is_many: bool,
) -> None:
    """List the levels if ingest makes the same of the list as without it, else in remarks."""
    values = [] if is_many else levels["value"]
    missing = levels["missing"]
    few_missing = missing if len(missing) <= MANY_LEVELS else []
    choices: list[tuple[list[Level], list[Level]]] = [
        (values, few_missing), (values, []), ([], []),
    ]  # fmt: skip
    for listed_values, listed_missing in choices:
        entry = CodebookEntry(
            values={level.code: level.label for level in listed_values},
            structural=declared.structural,
            missing={level.code: level.label for level in listed_missing},
        )
        made = _ingest_column(column.name, counts, entry, variable.metadata, order)
        if isinstance(made, Variable) and (made.values, made.missing, made.meanings) == (
            variable.values,
            variable.missing,
            variable.meanings,
        ):
            column.values, column.missing = listed_values, listed_missing
            break
    if not column.values:
        column.unlisted = sorted(levels["value"], key=lambda level: (-level.n, level.code))
        n_unlisted = len(column.unlisted) if counts.has_all_texts else counts.n_texts
        column.unlisted = column.unlisted[:MANY_LEVELS]
        if n_unlisted > len(column.unlisted):
            column.unlisted_title = f"{n_unlisted:,} levels, the most frequent:"
        else:
            column.unlisted_title = "levels:" if column.unlisted else "no answers"
    if not column.missing and missing:
        codes = listed(f"{quoted(level.code)}: {counted(level.n, 'row')}" for level in missing)
        column.remarks.append(f"the file declares missing: {codes}")


def _are_many_numbers(variable: Variable, counts: ColumnCounts) -> bool:
    if counts.has_all_texts:
        return bool(many_numbers(variable))
    return counts.n_numbers == counts.n_texts
