"""A first draft of a codebook: what a source holds, to be edited and given to ingest.

What is sure is written so that ingest takes it (the levels of each variable, what the file
itself says of its codes); what is only likely stands in remarks and changes nothing.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import duckdb

from cegdb.errors import SurveyError, counted, is_one_of, listed
from cegdb.ingest.codebook.codebook import Codebook, Entry
from cegdb.ingest.codebook.draft_counts import TABLES, Counts, counts_of
from cegdb.ingest.codebook.draft_text import Column, Level, as_csv, as_yaml, brief
from cegdb.ingest.codebook.draft_warnings import doubt
from cegdb.ingest.coding.levels import MANY_LEVELS, decide_cells, many_numbers, order_levels
from cegdb.ingest.coding.variables import NOT_APPLICABLE, Variable
from cegdb.ingest.csv.csv_file import MisreadError
from cegdb.ingest.files.cell_labels import label_of, shown
from cegdb.ingest.files.sources import load_chunks, opened
from cegdb.ingest.settings import settled
from cegdb.options import IngestOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cegdb.ingest.coding.variables import Kind
    from cegdb.ingest.files import labelled
    from cegdb.ingest.files.relation import Relation
    from cegdb.ingest.files.sources import Source
    from cegdb.options import ReadOptions
    from cegdb.store import Store

__all__ = ["Form", "draft_codebook"]

Form: TypeAlias = Literal["yaml", "csv"]

_SHOWN: Final = 10


def draft_codebook(
    store: Store,
    source: Source,
    *,
    columns: Sequence[str] | None = None,
    reading: ReadOptions | None = None,
    form: Form = "yaml",
) -> str:
    """Return a codebook that describes a source, to be edited.

    Parameters
    ----------
    store
        Where to work; nothing is kept there.
    source
        Whatever `cegdb.ingest.ingest` reads.
    columns
        Those to describe; left out, all.
    reading
        How a file is written, as far as it is told and not to be found out.
    form
        ``"yaml"``, or ``"csv"`` for a spreadsheet.

    Returns
    -------
    str
        A text for a file ending in .yaml or .csv. As it is, ``ingest`` makes the same
        survey with it as without, but for the columns it leaves out and says so: those
        without a name of their own, numbers with more than 50 values, ids, and those that
        ingest refuses. If nothing else is there, numbers are cut into quarters.

    Raises
    ------
    SurveyError
        The source cannot be read, or none of its columns can be a variable.

    Notes
    -----
    Each text is counted by DuckDB, in one pass over the source for 50 columns. Only texts
    that the draft may name come to Python: at most 1,000 a column, and those that the file
    labels. Of more than 50 levels (all labelled by the file, or not listed) the most
    frequent 50 are shown in remarks.

    Examples
    --------
    >>> from cegdb.store import Store
    >>> answers = "select unnest(['yes', 'yes', 'no', 'DK', 'Yes ']) as vote"
    >>> with Store.open() as store:
    ...     print(draft_codebook(store, answers), end="")
    # A draft of a codebook, to be edited, of: select unnest(['yes', 'yes', 'no', 'DK', 'Yes ']) as vote
    # 5 rows, 1 column. What stands after a # is a remark, which changes nothing.
    columns:
      - "vote"
    variables:
      "vote":
        # suspect: "DK" (1 row) may be no answer: missing: ["DK"]
        # suspect: "Yes " (1 row), "yes" (2 rows) differ in blanks or case: recode: {"Yes ": "yes"}
        values:
          "DK": "DK"  # 1 row
          "Yes ": "Yes "  # 1 row
          "no": "no"  # 1 row
          "yes": "yes"  # 2 rows
    """  # noqa: E501
    if not is_one_of(form, get_args(Form)):
        raise SurveyError(f"form is {form!r}", hint="it is 'yaml' or 'csv'")
    try:
        return _draft(store, source, columns, reading, form, rewrite=False)
    except MisreadError:
        return _draft(store, source, columns, reading, form, rewrite=True)


def _draft(
    store: Store,
    source: Source,
    asked: Sequence[str] | None,
    reading: ReadOptions | None,
    form: Form,
    *,
    rewrite: bool,
) -> str:
    with (
        store.reading() as con,
        opened(con, source, reading, rewrite=rewrite) as relation,
    ):
        store.progress = relation.progress
        names = Counter(relation.columns)
        usable = [name for name, times in names.items() if name and times == 1]
        options = IngestOptions(asked if asked is not None else usable or None)
        settings = settled(relation, options, Codebook())
        try:
            load_chunks(con, relation, list(settings.variables))
            cells = {name: settings.cells[name] for name in settings.variables}
            n_rows, found = 0, []
            for name, counts in counts_of(con, relation, cells):
                known, order = relation.known.get(name), relation.level_order.get(name)
                found.append(_drafted(name, counts, known, order))
                n_rows = counts.n_rows
        finally:
            with suppress(duckdb.TransactionException):
                for table in TABLES:
                    con.execute(f"drop table if exists temp.{table}")
        _keep_some(found, relation)
        if asked is None:
            found = _with_nameless(names, {column.name: column for column in found})
        n_columns = len(found if asked is not None else relation.columns)
        head = _head(relation, n_rows, n_columns, form)
    return as_yaml(head, found) if form == "yaml" else as_csv(head, found)


def _with_nameless(names: Mapping[str, int], found: dict[str, Column]) -> list[Column]:
    """Return the columns of a file in its order, those without a name of their own too."""
    columns = []
    for name, times in names.items():
        why = "it has no name" if not name else f"{times} columns are called so"
        columns.append(found.get(name) or Column(name, left_out=f"{why}; name it, draft again"))
    return columns


def _keep_some(columns: list[Column], relation: Relation) -> None:
    """If every column would be left out, take numbers in quarters, then ids, after all."""
    if any(column.left_out is None for column in columns):
        return
    numbers = [column for column in columns if column.is_number]
    numbers = [column for column in numbers if not column.is_id] or numbers
    ids = [column for column in columns if column.is_id]
    for column in numbers or ids:
        column.left_out = None
    for column in numbers:
        column.bins = "q4"
        column.remarks.append("cut into quarters, since no other column is left: say where")
    if not numbers and not ids:
        raise SurveyError(
            f"no column of {relation.shown} can be a variable: "
            f"{listed(f'{column.name!r}: {column.left_out}' for column in columns)}"
        )


def _head(relation: Relation, n_rows: int, n_columns: int, form: Form) -> list[str]:
    readers = [part.csv for part in (relation.parts or [relation]) if part.csv is not None]
    n_bad = sum(reader.skipped.count for reader in readers if reader.skipped is not None)
    remarks = (
        "What stands after a # is a remark"
        if form == "yaml"
        else "A row of the kind note is a remark, so is all in the columns n and note"
    )
    size = f"{counted(n_rows, 'row')}, {counted(n_columns, 'column')}"
    return [
        f"A draft of a codebook, to be edited, of: {shown(relation.described, most=400)}",
        f"{size}. {remarks}, which changes nothing.",
        *([f"{counted(n_bad, 'row')} of another shape left out"] if n_bad else []),
        *(shown(note, most=400) for note in relation.notes),
    ]


# -----------------------------------------------------------------------------
# From counts to what the draft says
# -----------------------------------------------------------------------------


def _drafted(
    name: str,
    counts: Counts,
    known: labelled.Entry | None,
    order: list[str] | None,
) -> Column:
    column = Column(name, label_of(known.label) if known else None)
    plain = _ingested(name, counts, Entry(), known, order)
    said = Entry()
    if isinstance(plain, SurveyError):
        # cegdb's own word for such cells; ingest refuses it as an answer.
        said = Entry(structural=[NOT_APPLICABLE])
        retried = _ingested(name, counts, said, known, order)
        if isinstance(retried, SurveyError):
            column.left_out = f"ingest refuses it: {str(plain).splitlines()[0]}"
            return column
        plain = retried
    levels: dict[Kind, list[Level]] = {
        kind: [
            Level(code, label, counts.of.get(code, 0))
            for label in labels
            for code in plain.codes_of(kind, label)
        ]
        for kind, labels in _labels(plain)
    }
    n_apart = plain.kinds()["structural"]
    column.structural = [Level(code, code, n_apart) for code in said.structural]
    n_values = (
        counts.n_levels
        - len(levels["missing"])
        - sum(
            kind == "structural" and text in counts.of
            for text, (kind, _) in plain.cells.items()
        )
    )
    is_labelled = (
        known is not None
        and len(levels["value"]) == n_values
        and all(level.code in known.values for level in levels["value"])
    )
    is_many = n_values > MANY_LEVELS and not is_labelled
    _list(column, counts, plain, said, levels, order, is_many=is_many)
    if known is not None:
        unseen = [code for code in known.values if code not in counts.of]
        if unseen:
            named = listed(f"{brief(code)}: {brief(known.values[code])}" for code in unseen)
            column.remarks.append(f"labels of codes that no row has: {named}")
    doubt(column, plain, counts, known, n_values, is_many=is_many)
    if order is None and not column.values and _are_many_numbers(plain, counts):
        column.is_number = True
        low, high = (label_of(end) or "?" for end in counts.ends)
        column.left_out = f"numbers with {n_values:,} values, {low} to {high}"
    if is_many and column.is_id and column.left_out is None:
        column.left_out = f"it looks like an id, with {n_values:,} values"
    if column.left_out is not None:
        del column.unlisted[_SHOWN:]
    column.remarks += plain.hints
    if counts.n_blank:
        column.remarks.append(f"blank: {counted(counts.n_blank, 'row')}")
    return column


def _labels(variable: Variable) -> tuple[tuple[Kind, list[str]], ...]:
    return ("value", variable.values), ("missing", variable.missing)


def _ingested(
    name: str,
    counts: Counts,
    entry: Entry,
    known: labelled.Entry | None,
    order: list[str] | None,
) -> Variable | SurveyError:
    """Return what ingest would make of a column, given an entry."""
    variable = Variable(name, entry, known, counts=dict(counts.of))
    try:
        decide_cells(variable)
        order_levels(variable, order)
    except SurveyError as error:
        return error
    return variable


def _list(
    column: Column,
    counts: Counts,
    plain: Variable,
    said: Entry,
    levels: dict[Kind, list[Level]],
    order: list[str] | None,
    *,
    is_many: bool,
) -> None:
    """List the levels as far as ingest then makes the same of them, else in remarks."""
    values = [] if is_many else levels["value"]
    missing = levels["missing"]
    few = missing if len(missing) <= MANY_LEVELS else []
    choices: list[tuple[list[Level], list[Level]]] = [(values, few), (values, []), ([], [])]
    for taken, apart in choices:
        entry = Entry(
            values={level.code: level.label for level in taken},
            structural=said.structural,
            missing={level.code: level.label for level in apart},
        )
        made = _ingested(column.name, counts, entry, plain.known, order)
        if isinstance(made, Variable) and (made.values, made.missing, made.cells) == (
            plain.values,
            plain.missing,
            plain.cells,
        ):
            column.values, column.missing = taken, apart
            break
    if not column.values:
        column.unlisted = sorted(levels["value"], key=lambda level: (-level.n, level.code))
        n_unlisted = len(column.unlisted) if counts.is_whole else counts.n_levels
        column.unlisted = column.unlisted[:MANY_LEVELS]
        if n_unlisted > len(column.unlisted):
            column.unlisted_as = f"{n_unlisted:,} levels, the most frequent:"
        else:
            column.unlisted_as = "levels:" if column.unlisted else "no answer at all"
    if not column.missing and missing:
        named = listed(f"{brief(level.code)}: {counted(level.n, 'row')}" for level in missing)
        column.remarks.append(f"the file declares missing: {named}")


def _are_many_numbers(plain: Variable, counts: Counts) -> bool:
    if counts.is_whole:
        return bool(many_numbers(plain))
    return counts.n_numbers == counts.n_levels
