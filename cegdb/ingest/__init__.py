"""Ingest: survey rows to coded rows, every row and every label accounted for.

A cell is a value, structural (the question does not apply), missing (the answer is not
known) or blank (left for the event tree to decide). A survey is kept as its distinct
coded rows with how many respondents gave each.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from cegdb.errors import SurveyError
from cegdb.ingest.codebook.codebook import Codebook, CodebookSource, load_codebook
from cegdb.ingest.codebook.gates import apply_gates, ordered_gates
from cegdb.ingest.coding.cell_codes import read_lines, watched
from cegdb.ingest.coding.count_column import check_counts
from cegdb.ingest.coding.design_effects import design_effects
from cegdb.ingest.coding.level_rows import count_rows, insert_levels
from cegdb.ingest.coding.levels import sort_levels
from cegdb.ingest.coding.missing_patterns import missing_patterns
from cegdb.ingest.coding.weight_column import check_weights, weight_exponent
from cegdb.ingest.csv.csv_file import MisreadError
from cegdb.ingest.files.sources import Source, load_chunks, opened
from cegdb.ingest.receipt import fingerprint_of, receipt_of, twins_of
from cegdb.ingest.settings import Settings, settled
from cegdb.ingest.waves import (
    count_codes,
    former_lines,
    new_labels,
    receipt_with,
    settings_with,
    settled_again,
    supersede,
    survey_before,
)
from cegdb.options import IngestOptions
from cegdb.sqlfiles import Steps
from cegdb.store import quoted
from cegdb.store.catalog import claim_name, new_id, response_table, row, write
from cegdb.version import made_by

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb

    from cegdb.ingest.coding.variables import Variable
    from cegdb.ingest.files.relation import Relation
    from cegdb.options import DecimalSign, ReadOptions
    from cegdb.store import Store

__all__ = ["CodebookSource", "Source", "append", "declare", "ingest", "refresh"]

_JOINS: Final = 40
_KEPT: Final = ("n", "weight", "weight_sq")


def ingest(
    store: Store,
    source: Source,
    options: IngestOptions | None = None,
    reading: ReadOptions | None = None,
    *,
    name: str | None = None,
    replace: bool = False,
) -> int:
    """Read a survey, code its cells, store its distinct rows and return ``survey_id``.

    Examples
    --------
    >>> from cegdb.store import Store
    >>> with Store.open() as store:
    ...     ingest(store, "select 'yes' as a union all select 'no'", name="two")
    1
    """
    options = options or IngestOptions()
    new = _New(name, options, load_codebook(options.codebook), replace=replace)
    make = partial(_ingest, store, source, reading, new)
    try:
        return make(rewrite=False)
    except MisreadError:
        return make(rewrite=True)


def declare(
    store: Store,
    levels: Mapping[str, Sequence[object]],
    *,
    source: str,
    default: str,
    name: str | None = None,
    replace: bool = False,
) -> int:
    """Make a survey of variables and their labels, without rows; `append` can add these.

    Parameters
    ----------
    store
        Where to.
    levels
        Variable -> all its labels in order.
    source
        What declares them: where the survey tells that it is from.
    default
        The name if ``name`` is left out.
    name, replace
        As for `ingest`.

    Returns
    -------
    int
        ``survey_id``.

    Examples
    --------
    >>> from cegdb.store import Store
    >>> with Store.open() as store:
    ...     declare(store, {"x": ["no", "yes"]}, source="a questionnaire", default="one")
    1
    """
    columns = ", ".join(f"cast(null as varchar) as {quoted(column)}" for column in levels)
    asked = _New(
        name,
        IngestOptions(levels=levels),
        Codebook(),
        replace=replace,
        declared_by=source,
        default=default,
    )
    return _ingest(store, f"select {columns} where false", None, asked, rewrite=False)


def append(
    store: Store,
    survey_id: int,
    source: Source,
    *,
    decimal: DecimalSign | None = None,
    reading: ReadOptions | None = None,
) -> None:
    """Add the rows of another source to a survey, matched by column name.

    Parameters
    ----------
    store
        Where the survey is; all is done in one transaction.
    survey_id
        The survey; its name, codebook, gates, count and weight hold for the rows added, and
        the cut points of its quantiles stay.
    source
        As for `ingest`. A column that it lacks is blank in its rows. One that is new becomes
        a variable, blank in the former rows, unless columns were chosen at ingest.
    decimal
        The decimal sign of this source, ``"."`` or ``","``; left out, as it was at ingest.
    reading
        How a file is written, as far as it is told and not to be found out.

    Raises
    ------
    SurveyError
        The source has none of the survey's columns, or cannot be used: see the message.

    Notes
    -----
    The survey is then as if all its files had been read as one. Trees made of the former
    rows are stale: they show these until they are rebuilt.

    Examples
    --------
    >>> from cegdb.store import Store
    >>> with Store.open() as store:
    ...     survey_id = ingest(store, "select 'yes' as a, 1 as b", name="two")
    ...     append(store, survey_id, "select 'no' as a")
    ...     with store.reading() as con:
    ...         con.execute("select n, n_distinct from cegdb.surveys").fetchall()
    [(2, 2)]
    """
    _later(store, source, reading, _Later(survey_id, decimal, is_append=True))


def refresh(
    store: Store,
    survey_id: int,
    source: Source,
    *,
    decimal: DecimalSign | None = None,
    reading: ReadOptions | None = None,
) -> None:
    """Replace the rows of a survey by those of a new snapshot.

    Parameters
    ----------
    store, survey_id, decimal, reading
        As for `append`.
    source
        As for `ingest`. It must have the columns that were chosen at ingest, and those that
        a tree uses; others may come and go.

    Raises
    ------
    SurveyError
        The source lacks a column that is needed, or cannot be used: see the message.

    Notes
    -----
    Trees made of the former rows are stale: they show these until they are rebuilt.

    Examples
    --------
    >>> from cegdb.store import Store
    >>> with Store.open() as store:
    ...     survey_id = ingest(store, "select 'yes' as a, 1 as b", name="two")
    ...     refresh(store, survey_id, "select unnest(['yes', 'no', 'no']) as a")
    ...     with store.reading() as con:
    ...         con.execute("select n, n_distinct from cegdb.surveys").fetchall()
    [(3, 2)]
    """
    _later(store, source, reading, _Later(survey_id, decimal, is_append=False))


def _later(store: Store, source: Source, reading: ReadOptions | None, asked: _Later) -> None:
    with store.catalog() as catalog:
        said = row(catalog, "survey", asked.survey_id)["settings"]
    change = partial(
        _ingest, store, source, reading, asked, source_column=said.get("source_column")
    )
    try:
        change(rewrite=False)
    except MisreadError:
        change(rewrite=True)


@dataclass(frozen=True)
class _New:
    """A survey to be made; one whose levels are declared by something needs no rows."""

    name: str | None
    options: IngestOptions
    book: Codebook
    replace: bool
    declared_by: str | None = None
    default: str | None = None


@dataclass(frozen=True)
class _Later:
    """A survey whose rows are added to or replaced."""

    survey_id: int
    decimal: DecimalSign | None
    is_append: bool


def _ingest(
    store: Store,
    source: Source,
    reading: ReadOptions | None,
    asked: _New | _Later,
    *,
    rewrite: bool,
    source_column: str | None = None,
) -> int:
    started = time.perf_counter()
    with (
        store.reading() as con,
        opened(con, source, reading, rewrite=rewrite, source_column=source_column) as given,
        watched(con, given),
        store.writing() as (_, catalog),
    ):
        store.progress = given.progress
        before = former = None
        relation = given
        declared_by = asked.declared_by if isinstance(asked, _New) else None
        if isinstance(asked, _New):
            settings = settled(relation, asked.options, asked.book)
        else:
            before = survey_before(catalog, asked.survey_id)
            former = before if asked.is_append else None
            relation, settings = settled_again(
                given, before, asked.decimal, is_append=asked.is_append
            )
        gates = ordered_gates(con, settings.gates, list(settings.variables), relation.shown)
        name = (
            claim_name(
                catalog,
                "survey",
                asked.name,
                asked.default or relation.name,
                replace=asked.replace,
            )
            if isinstance(asked, _New)
            else str(row(catalog, "survey", asked.survey_id)["name"])
        )
        with Steps(con) as steps:
            n_read, is_apart = _read(steps, con, relation, settings)
            tens = None if former is None else int(former.settings.get("weight_exponent", 0))
            tens = weight_exponent(steps, settings, tens)
            settings = replace(settings, weight_exponent=tens)
            weights = check_weights(steps, relation, settings, is_part=former is not None)
            dropped = check_counts(steps, relation, settings)
            variables = sort_levels(steps, relation, settings.variables)
            if before is not None:
                settings.hints.extend(new_labels(before, variables))
            if not n_read and former is None and declared_by is None:
                raise SurveyError(f"{relation.shown} has a header but no rows")
            survey_id = new_id(catalog, "survey") if before is None else before.survey_id
            table = response_table(survey_id)
            lines = _coded_lines(steps, variables, is_clustered=settings.cluster is not None)
            lines, gated = apply_gates(steps, gates, variables, lines)
            effects: dict[str, float] = {}
            if settings.cluster is not None:
                steps.create("clustered_line", lines)
                lines = "select * from temp.clustered_line"
                effects = design_effects(steps, settings.cluster, variables)
            if former is not None:
                lines = f"{lines} union all by name {former_lines(former, variables)}"
            is_apart = (
                is_apart
                and former is None
                and not (settings.count or settings.weight or settings.cluster or gates)
                and all(variable.tells_texts_apart() for variable in variables)
            )
            n_distinct = _store(steps, table, lines, len(variables), is_apart=is_apart)
            if former is not None:
                count_codes(steps, table, variables)
            if before is not None:
                supersede(catalog, before)
            insert_levels(catalog, survey_id, variables)
            patterns = missing_patterns(steps, table, variables)
            n = int(str(steps.rows(f"select coalesce(sum(n), 0) from {table}")[0][0]))  # noqa: S608
            if not n and declared_by is None:
                raise SurveyError(f"{relation.shown}: every {settings.count!r} is 0")
        fingerprint = fingerprint_of(relation.files)
        fingerprints = [fingerprint] if fingerprint else []
        if former is not None:
            read = former.settings.get("fingerprints", [])
            digests = {digest for one in read for digest in one.split()}
            if fingerprint and not digests.isdisjoint(fingerprint.split()):
                settings.hints.append(
                    f"{relation.shown} is in this survey already, byte for byte, or a file of "
                    "it is: its rows count twice now; refresh replaces rows"
                )
            fingerprints = [*read, *fingerprints]
        receipt = receipt_of(
            relation,
            settings,
            variables,
            n_lines=n_read,
            n_zero=dropped,
            n=n,
            weights=weights,
            gates=gated,
            effects=effects,
            patterns=patterns,
            twins=twins_of(catalog, fingerprint, name),
        )
        described, made_with = declared_by or relation.described, settings.as_json()
        if before is not None:
            made_with = settings_with(before, made_with)
        if former is not None:
            receipt = receipt_with(former, receipt, described)
            described = f"{former.row['source']} + {described}"
        values = {
            "source": described,
            "n_read": receipt["rows_read"],
            "n": n,
            "n_distinct": n_distinct,
            "settings": {**made_with, "fingerprints": fingerprints},
            "summary": receipt,
            **made_by(time.perf_counter() - started),
        }
        row_of = {"survey_id": survey_id, "name": name, **values}
        write(catalog, "survey", row_of, again=before is not None)
    return survey_id


def _read(
    steps: Steps, con: duckdb.DuckDBPyConnection, relation: Relation, settings: Settings
) -> tuple[int, bool]:
    """Keep the source's lines; return how many there are, and whether none is kept twice."""
    others = (settings.count, settings.weight, settings.cluster)
    load_chunks(con, relation, [*settings.variables, *filter(None, others)])
    is_apart = read_lines(steps, con, relation, settings)
    ((n,),) = steps.rows("select coalesce(sum(n_lines), 0) from temp.source_line")
    if not relation.progress.rows:
        relation.progress.read(int(n))
    return int(n), is_apart


def _store(steps: Steps, table: str, lines: str, n_variables: int, *, is_apart: bool) -> int:
    """Write the survey's distinct coded rows, sorted, and return how many there are.

    Lines of which no two are alike are not grouped: that takes as long as to read them.
    """
    coded = ", ".join(f"v{i}" for i in range(1, n_variables + 1))
    if is_apart:
        rows = f"select {coded}, n, weight, weight_sq from ({lines})"  # noqa: S608
    else:
        rows = (
            f"select {coded}, cast(sum(n) as bigint) as n, "  # noqa: S608
            "cast(sum(weight) as decimal(38, 12)) as weight, "
            "cast(sum(weight_sq) as decimal(38, 12)) as weight_sq "
            f"from ({lines}) group by {coded}"
        )
    return steps.execute(f"create or replace table {table} as {rows} order by {coded}")


def _coded_lines(steps: Steps, variables: list[Variable], *, is_clustered: bool) -> str:
    """Return a SELECT of the survey's lines, coded, with ``n``, weights and clusters.

    Places are looked up in a list, texts by one join a variable; since the time to plan
    joins grows with the cube of their number, many are made some variables at a time.
    """
    n_joins = sum(variable.texts is None for variable in variables)
    if n_joins:
        count_rows(steps, variables)
    kept = [*_KEPT, "cluster"] if is_clustered else _KEPT
    numbered = list(enumerate(variables, 1))
    if n_joins <= _JOINS:
        return _joined(kept, numbered, "temp.response_line")
    steps.create(
        "numbered_line", "select row_number() over () as line_id, * from temp.response_line"
    )
    joins = []
    for start in range(0, len(numbered), _JOINS):
        part = f"coded_part_{start // _JOINS}"
        chunk = numbered[start : start + _JOINS]
        steps.create(part, _joined(["line_id"], chunk, "temp.numbered_line"))
        joins.append(f"inner join temp.{part} using (line_id)")
    coded = ", ".join(f"v{i}" for i, _ in numbered)
    return f"select {coded}, {', '.join(kept)} from temp.numbered_line {' '.join(joins)}"  # noqa: S608


def _joined(kept: Sequence[str], numbered: list[tuple[int, Variable]], lines: str) -> str:
    columns, joins = [], []
    for i, variable in numbered:
        if variable.texts is not None:
            code_of = variable.codes()
            codes = [code_of.get(text, variable.blank_code) for text in variable.texts]
            columns.append(
                f"cast(coalesce({codes}[r.c{i}], {variable.blank_code}) "
                f"as {variable.code_type}) as v{i}"
            )
            continue
        columns.append(
            f"cast(coalesce(l{i}.code, {variable.blank_code}) as {variable.code_type}) as v{i}"
        )
        joins.append(
            f"left join temp.level_code as l{i} on l{i}.ordinal = {i} and l{i}.cell = r.c{i}"
        )
    columns += [f"r.{name}" for name in kept]
    return f"select {', '.join(columns)} from {lines} as r {' '.join(joins)}"  # noqa: S608
