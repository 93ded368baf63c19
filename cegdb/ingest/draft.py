"""A first draft of a codebook: what a source holds, to be edited and given to ingest.

What is sure is written so that ingest takes it (the levels of each variable, what the file
itself says of its codes); what is only likely stands in remarks and changes nothing.
"""

from __future__ import annotations

import csv
import io
import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, get_args

import duckdb

from cegdb.errors import SqlStepError, SurveyError, listed
from cegdb.ingest.bins import number_of
from cegdb.ingest.codebook import Entry
from cegdb.ingest.counts import looks_like
from cegdb.ingest.csvfile import MisreadError
from cegdb.ingest.labels import label_of, shown
from cegdb.ingest.levels import (
    MANY_LEVELS,
    NOT_APPLICABLE,
    SUSPECT,
    Variable,
    alike,
    decide_cells,
    many_numbers,
    order_levels,
)
from cegdb.ingest.settings import Request, settled
from cegdb.ingest.sources import load_chunks, opened, unreadable
from cegdb.sqlfiles import Steps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cegdb.ingest import labelled
    from cegdb.ingest.csvfile import Reading
    from cegdb.ingest.levels import Kind
    from cegdb.ingest.relation import Relation
    from cegdb.ingest.settings import Settings
    from cegdb.ingest.sources import Source
    from cegdb.store import Store

__all__ = ["Form", "draft_codebook"]

Form: TypeAlias = Literal["yaml", "csv"]

_COUNTED: Final = "draft_count"
_COPIED: Final = "draft_cell"
_AT_A_TIME: Final = 50
_FETCHED: Final = 1_000
_FEW_ROWS: Final = 20
_SHOWN: Final = 10
_MOST_SUSPECTS: Final = 30
_NEARLY: Final = 0.95
_LONGEST_KEY: Final = 1_000  # YAML wants "? " before a key of 1,024 characters
_LONGEST_REMARK: Final = 200

# Of texts, spelled in lower case: what they may mean.
_WORDS: Final[dict[str, str]] = {
    **dict.fromkeys(SUSPECT, "missing or structural"),
    **dict.fromkeys(
        (
            "--", "?", "??", "unknown", "not known", "dk", "d/k", "don't know", "dont know",
            "do not know", "can't say", "refused", "refusal", "declined", "ref", "no answer",
            "no response", "not answered", "not stated", "prefer not to say",
            "prefer not to answer", "rather not say", "missing", "undetermined", "unsure",
            "nr", "n.r.", "#n/a", "n.a.", "nan", "dk/na", "don't know/refused",
        ),
        "missing",
    ),
    **dict.fromkeys(
        (
            "not applicable", "does not apply", "inapplicable", "inap", "iap", "not asked",
            "skip", "skipped", "legitimate skip", "valid skip",
        ),
        "structural",
    ),
}  # fmt: skip
_CODES: Final = (
    *(digit * times for digit in "789" for times in range(1, 8)),
    *("96", "97", "98", "996", "997", "998", "9996", "9997", "9998"),
    *("-1", "-2", "-3", "-4", "-5", "-6", "-7", "-8", "-9"),
    *("-66", "-77", "-88", "-99", "-96", "-97", "-98", "-777", "-888", "-999", "-9999"),
)
_NUMBER: Final = "[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,3})?"
_DATE: Final = (
    "[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}([ T][0-9:.+Z]*)?"
    "|[0-9]{1,2}[-/.][0-9]{1,2}[-/.]([0-9]{4}|[0-9]{2})( [0-9:]*)?"
)
_ID_NAME: Final = re.compile(
    r"(.*[ _.-])?(id|ident|identifier|uuid|key|serial|idno)|(case|resp|row|person|hh|p)id",
    re.IGNORECASE,
)
_WEIGHT_NAME: Final = re.compile(r"(.*[ _.-])?(weight|wt|wgt|pond|poids)s?\d*", re.IGNORECASE)


class _Level(NamedTuple):
    """A code of a variable, its label and its rows."""

    code: str
    label: str
    n: int


@dataclass(frozen=True)
class _Counts:
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


@dataclass
class _Column:
    """What the draft says of one column; ``left_out`` is why ingest is not to read it."""

    name: str
    label: str | None = None
    values: list[_Level] = field(default_factory=list)
    missing: list[_Level] = field(default_factory=list)
    structural: list[_Level] = field(default_factory=list)
    unlisted: list[_Level] = field(default_factory=list)
    unlisted_as: str = ""
    bins: str | None = None
    left_out: str | None = None
    is_number: bool = False
    is_id: bool = False
    remarks: list[str] = field(default_factory=list)


def draft_codebook(
    store: Store,
    source: Source,
    *,
    columns: Sequence[str] | None = None,
    reading: Reading | None = None,
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
    # 5 rows, 1 column. What stands after a # is a remark and changes nothing.
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
    if form not in get_args(Form):
        raise SurveyError(f"form is {form!r}", hint="it is 'yaml' or 'csv'")
    try:
        return _draft(store, source, columns, reading, form, rewrite=False)
    except MisreadError:
        return _draft(store, source, columns, reading, form, rewrite=True)


def _draft(
    store: Store,
    source: Source,
    asked: Sequence[str] | None,
    reading: Reading | None,
    form: Form,
    *,
    rewrite: bool,
) -> str:
    with (
        store.reading() as con,
        opened(con, source, reading, rewrite=rewrite) as relation,
    ):
        names = relation.columns
        usable = [name for name in names if name and names.count(name) == 1]
        settings = settled(relation, Request(asked if asked is not None else usable or None))
        try:
            load_chunks(con, relation, list(settings.variables))
            drafted = dict(_columns(con, relation, settings))
        finally:
            with suppress(duckdb.TransactionException):
                for table in (_COUNTED, _COPIED):
                    con.execute(f"drop table if exists temp.{table}")
        n_rows = max(counts.n_rows for _, counts in drafted.values())
        found = [column for column, _ in drafted.values()]
        _keep_some(found, relation)
        if asked is None:
            found = _with_nameless(names, {column.name: column for column in found})
        head = _head(relation, n_rows, len(found))
    return _as_yaml(head, found) if form == "yaml" else _as_csv(head, found)


def _with_nameless(names: Sequence[str], found: dict[str, _Column]) -> list[_Column]:
    """Return the columns of a file in its order, those without a name of their own too."""
    columns = []
    for name in dict.fromkeys(names):
        why = "it has no name" if not name else f"{names.count(name)} columns are called so"
        columns.append(
            found.get(name) or _Column(name, left_out=f"{why}; name it, draft again")
        )
    return columns


def _keep_some(columns: list[_Column], relation: Relation) -> None:
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


def _head(relation: Relation, n_rows: int, n_columns: int) -> list[str]:
    readers = [part.csv for part in (relation.parts or [relation]) if part.csv is not None]
    n_bad = sum(reader.skipped.count for reader in readers if reader.skipped is not None)
    columns = f"{n_columns:,} column{'' if n_columns == 1 else 's'}"
    return [
        f"A draft of a codebook, to be edited, of: {shown(relation.described, most=400)}",
        f"{_rows(n_rows)}, {columns}. What stands after a # is a remark and changes nothing.",
        *([f"{_rows(n_bad)} of another shape left out"] if n_bad else []),
        *(shown(note, most=400) for note in relation.notes),
    ]


# -----------------------------------------------------------------------------
# Counting
# -----------------------------------------------------------------------------


def _columns(
    con: duckdb.DuckDBPyConnection, relation: Relation, settings: Settings
) -> Iterator[tuple[str, tuple[_Column, _Counts]]]:
    names = list(settings.variables)
    cells, source = settings.cells, relation.from_clause
    steps = Steps(con)
    if relation.once:
        copied = ", ".join(f"{cells[name]} as f{i}" for i, name in enumerate(names))
        _create(con, relation, _COPIED, f"select {copied} from {source}")  # noqa: S608
        cells = {name: f"f{i}" for i, name in enumerate(names)}
        source = f"temp.{_COPIED}"
    for start in range(0, len(names), _AT_A_TIME):
        part = names[start : start + _AT_A_TIME]
        _create(con, relation, _COUNTED, _counting([cells[name] for name in part], source))
        for name, counts in zip(part, _counted(steps, relation, part), strict=True):
            known, order = relation.known.get(name), relation.level_order.get(name)
            yield name, (_drafted(name, counts, known, order), counts)


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


def _counted(steps: Steps, relation: Relation, names: list[str]) -> list[_Counts]:
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
            f"from temp.{_COUNTED}) group by ordinal",
            {"codes": list(_CODES)},
        )
    }
    few = [i for i, row in measured.items() if row[2] <= _FETCHED]
    texts: dict[int, dict[str | None, int]] = {}
    for ordinal, label, n in steps.rows(
        f"select ordinal, label, n from temp.{_COUNTED} "  # noqa: S608
        "where list_contains(cast($few as integer[]), ordinal)",
        {"few": few},
    ):
        texts.setdefault(ordinal, {})[label] = n
    counts = []
    for i, name in enumerate(names):
        if i not in measured:  # no rows at all
            counts.append(_Counts({}, is_whole=True))
            continue
        n_rows, n_blank, n_levels, n_numbers, n_integers, n_dates, *ends, mean = measured[i]
        known = relation.known.get(name)
        if i not in few and n_numbers < n_levels and _others_are_numbers(steps, i, known):
            n_numbers = n_levels
        counts.append(
            _Counts(
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
    exact = [*_CODES, NOT_APPLICABLE]
    if known is not None:
        exact += [*known.values, *known.values.values(), *known.missing, *known.missing_texts]
    return dict(
        steps.rows(
            "select label, n from ("  # noqa: S608
            f"select label, n, row_number() over (order by n desc, label) as place "
            f"from temp.{_COUNTED} where ordinal = $ordinal and label is not null) "
            "where place <= $most or list_contains(cast($exact as varchar[]), label) "
            "or list_contains(cast($words as varchar[]), lower(trim(label))) order by place",
            {
                "ordinal": ordinal,
                "most": MANY_LEVELS,
                "exact": exact,
                "words": list(_WORDS),
            },
        )
    )


def _others_are_numbers(steps: Steps, ordinal: int, known: labelled.Entry | None) -> bool:
    """Return whether the texts that SQL takes for none are numbers all the same."""
    others = steps.rows(
        f"select label from temp.{_COUNTED} where ordinal = $ordinal "  # noqa: S608
        f"and not regexp_full_match(trim(label), '{_NUMBER}') order by n desc limit $most",
        {"ordinal": ordinal, "most": _FETCHED},
    )
    return all(
        number_of(text) is not None
        or NOT_APPLICABLE in (text, known.values.get(text) if known else None)
        or (known is not None and known.is_missing(text))
        for (text,) in others
    )


# -----------------------------------------------------------------------------
# From counts to what the draft says
# -----------------------------------------------------------------------------


def _drafted(
    name: str,
    counts: _Counts,
    known: labelled.Entry | None,
    order: list[str] | None,
) -> _Column:
    column = _Column(name, label_of(known.label) if known else None)
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
    levels: dict[Kind, list[_Level]] = {
        kind: [
            _Level(code, label, counts.of.get(code, 0))
            for label in labels
            for code in plain.codes_of(kind, label)
        ]
        for kind, labels in _labels(plain)
    }
    n_apart = plain.kinds()["structural"]
    column.structural = [_Level(code, code, n_apart) for code in said.structural]
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
            named = listed(f"{_brief(code)}: {_brief(known.values[code])}" for code in unseen)
            column.remarks.append(f"labels of codes that no row has: {named}")
    _doubt(column, plain, counts, known, n_values, is_many=is_many)
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
        column.remarks.append(f"blank: {_rows(counts.n_blank)}")
    return column


def _labels(variable: Variable) -> tuple[tuple[Kind, list[str]], ...]:
    return ("value", variable.values), ("missing", variable.missing)


def _ingested(
    name: str,
    counts: _Counts,
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
    column: _Column,
    counts: _Counts,
    plain: Variable,
    said: Entry,
    levels: dict[Kind, list[_Level]],
    order: list[str] | None,
    *,
    is_many: bool,
) -> None:
    """List the levels as far as ingest then makes the same of them, else in remarks."""
    values = [] if is_many else levels["value"]
    missing = levels["missing"]
    few = missing if len(missing) <= MANY_LEVELS else []
    choices: list[tuple[list[_Level], list[_Level]]] = [(values, few), (values, []), ([], [])]
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
        named = listed(f"{_brief(level.code)}: {_rows(level.n)}" for level in missing)
        column.remarks.append(f"the file declares missing: {named}")


def _are_many_numbers(plain: Variable, counts: _Counts) -> bool:
    if counts.is_whole:
        return bool(many_numbers(plain))
    return counts.n_numbers == counts.n_levels


def _doubt(
    column: _Column,
    plain: Variable,
    counts: _Counts,
    known: labelled.Entry | None,
    n_values: int,
    *,
    is_many: bool,
) -> None:
    """Add what may be wrong with a column or its levels."""
    name, n_answers = column.name, counts.n_rows - counts.n_blank
    are_numbers = bool(counts.n_levels) and counts.n_numbers >= _NEARLY * counts.n_levels
    are_integers = are_numbers and counts.n_integers >= _NEARLY * counts.n_levels
    suspects: list[str] = []
    what = looks_like(name) or ("weight" if _WEIGHT_NAME.fullmatch(name.strip()) else None)
    if what is None and are_numbers and not are_integers and _is_like_weights(counts):
        what = "weight"
    if what is not None and are_numbers:
        suspects.append(
            f"looks like a {what}: if it is one, say {what}: {_brief(name)} and take it out of "
            "the variables"
        )
    elif (
        n_answers
        and n_values >= _NEARLY * n_answers
        and (are_integers or not are_numbers)
        and (n_answers >= _FEW_ROWS or (n_values > 1 and _ID_NAME.fullmatch(name.strip())))
    ):
        column.is_id = True
        suspects.append(f"looks like an id: {n_values:,} values in {_rows(n_answers)}")
    if counts.n_levels and (
        counts.n_dates >= _NEARLY * counts.n_levels
        or (known is not None and known.kind in ("date", "datetime", "time", "period"))
    ):
        suspects.append("looks like a date")
    if is_many:
        cut = ": bins: q4, or cut points such as 18,35,65" if are_numbers else ""
        suspects.append(f"has {n_values:,} levels{cut}")
    suspects += _odd_words(plain)
    suspects += _odd_codes(plain, counts)
    if counts.is_whole:
        suspects += _twins(plain)
    if len(suspects) > _MOST_SUSPECTS:
        n_more = len(suspects) - _MOST_SUSPECTS
        suspects[_MOST_SUSPECTS:] = [f"and {n_more:,} more of the kind"]
    column.remarks = [*(f"suspect: {suspect}" for suspect in suspects), *column.remarks]


def _is_like_weights(counts: _Counts) -> bool:
    low = counts.ends[0]
    return (
        low is not None
        and low > 0
        and counts.mean is not None
        and 0.9 < counts.mean < 1.1
        and counts.n_levels >= _FEW_ROWS
    )


def _odd_words(plain: Variable) -> list[str]:
    """Return doubts about answers whose label says that there is none."""
    found = []
    for text, (kind, label) in plain.cells.items():
        meaning = _WORDS.get(
            label.strip().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").casefold()
        )
        if kind == "value" and meaning is not None:
            told = "" if text == label else f" ({_brief(label)})"
            found.append(
                f"{_brief(text)}{told} ({_rows(plain.counts.get(text, 0))}) may be no answer: "
                + " or ".join(f"{each}: [{_brief(text)}]" for each in meaning.split(" or "))
            )
    return sorted(found)


def _odd_codes(plain: Variable, counts: _Counts) -> list[str]:
    """Return doubts about codes such as 9 and -1 that lie apart from the other numbers."""
    low, high = counts.other_ends
    found = []
    for code in sorted(_CODES, key=float):
        kind, label = plain.cells.get(code, ("missing", ""))
        if kind != "value" or label.strip().casefold() in _WORDS:
            continue
        number = float(code)
        if low is None or high is None:  # among words, or nothing but such codes
            is_apart = counts.n_numbers < counts.n_levels or counts.n_levels == 1
        else:
            is_apart = number > high + 1 or number < min(low, 0) - (low < 0)
            high = high if is_apart else max(high, number)
        if is_apart:
            found.append(
                f"{_brief(code)} ({_rows(plain.counts.get(code, 0))}) lies apart and may be no "
                f"answer: missing: [{_brief(code)}] or structural: [{_brief(code)}]"
            )
    return found


def _twins(plain: Variable) -> list[str]:
    """Return doubts about labels that differ in blanks around them or case only."""
    found = []
    for group in alike(plain.values):
        most = max(group, key=lambda label: plain.n_of("value", label))
        named = ", ".join(f"{_brief(x)} ({_rows(plain.n_of('value', x))})" for x in group)
        others = ", ".join(f"{_brief(x)}: {_brief(most)}" for x in group if x != most)
        found.append(f"{named} differ in blanks or case: recode: {{{others}}}")
    return found


def _rows(n: int) -> str:
    return f"{n:,} row{'' if n == 1 else 's'}"


# -----------------------------------------------------------------------------
# Writing
# -----------------------------------------------------------------------------


def _quoted(text: str) -> str:
    r"""Return a text in double quotes as YAML reads it, on one line and printable.

    Examples
    --------
    >>> print(_quoted('no: "é"\n\U0001f600'))
    "no: \"é\"\n😀"
    """
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    if char.isprintable():
        return char
    short = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char)
    if short is not None:
        return short
    code = ord(char)
    if code < 1 << 8:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"


def _brief(text: str) -> str:
    """Return a text in quotes for a remark, cut if it is very long."""
    if len(text) > _LONGEST_REMARK:
        return _quoted(text[:_LONGEST_REMARK]) + "..."
    return _quoted(text)


def _key(indent: str, text: str) -> str:
    quoted = _quoted(text)
    if len(quoted) > _LONGEST_KEY:
        return f"{indent}? {quoted}\n{indent}:"
    return f"{indent}{quoted}:"


def _as_yaml(head: list[str], columns: list[_Column]) -> str:
    lines = [*(f"# {line}" for line in head), "columns:"]
    for column in columns:
        if column.left_out is None:
            lines.append(f"  - {_quoted(column.name)}")
        else:
            lines.append(f"  # - {_brief(column.name)}  # left out: {_line(column.left_out)}")
    lines.append("variables:")
    for column in columns:
        entry = list(_yaml_entry(column))
        if column.left_out is None:
            lines += entry
        elif column.name and len(entry) > 1:
            lines += [f"  # {line[2:]}" for line in "\n".join(entry).split("\n")]
    return "\n".join(lines) + "\n"


def _yaml_entry(column: _Column) -> Iterator[str]:
    yield _key("  ", column.name)
    if column.left_out is not None and column.is_number:
        yield '    bins: "q4"  # or cut points, such as "18,35,65"'
    for remark in column.remarks:
        yield f"    # {_line(remark)}"
    if column.label is not None:
        yield f"    label: {_quoted(column.label)}"
    if column.bins is not None:
        yield f"    bins: {_quoted(column.bins)}"
    for title, levels in (("values", column.values), ("missing", column.missing)):
        if levels:
            yield f"    {title}:"
        for level in levels:
            key = _key("      ", level.code)
            yield f"{key} {_quoted(level.label)}  # {_rows(level.n)}"
    if column.structural:
        yield "    structural:"
    for level in column.structural:
        yield f"      - {_quoted(level.code)}  # {_rows(level.n)}"
    if column.unlisted_as:
        yield f"    # {column.unlisted_as}"
    for level in column.unlisted:
        yield f"    #   {_brief(level.code)}: {_brief(level.label)}  # {_rows(level.n)}"


def _as_csv(head: list[str], columns: list[_Column]) -> str:
    text = io.StringIO(newline="")
    # Everything in quotes, so that no reader takes 01 for 1 or a line separator for an end.
    out = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    out.writerow(["variable", "kind", "code", "label", "n", "note"])
    out.writerows(["", "note", "", "", "", line] for line in head)
    for column in columns:
        name = column.name
        if column.left_out is None:
            out.writerow([name, "column", "", "", "", ""])
        else:
            out.writerow([name, "note", "", "", "", f"left out: {_line(column.left_out)}"])
        out.writerows([name, "note", "", "", "", _line(remark)] for remark in column.remarks)
        out.writerows(_csv_entry(column))
    return text.getvalue()


def _csv_entry(column: _Column) -> Iterator[list[Any]]:
    name = column.name
    if column.left_out is None:
        if column.label is not None:
            yield [name, "variable", "", column.label, "", ""]
        if column.bins is not None:
            yield [name, "bins", "", column.bins, "", ""]
        for kind, levels in _kinds(column):
            yield from ([name, kind, x.code, x.label, x.n, ""] for x in levels)
    elif column.is_number:
        yield [name, "note", "", "q4", "", "to keep it: write column, and a row of kind bins"]
    if column.unlisted_as:
        yield [name, "note", "", "", "", column.unlisted_as]
    yield from ([name, "note", x.code, x.label, x.n, ""] for x in column.unlisted)


def _kinds(column: _Column) -> Iterable[tuple[str, list[_Level]]]:
    return (
        ("value", column.values),
        ("missing", column.missing),
        ("structural", column.structural),
    )


def _line(text: str) -> str:
    """Return a remark on one line, fit to be printed."""
    return "".join(char if char.isprintable() else _escaped(char) for char in text)
