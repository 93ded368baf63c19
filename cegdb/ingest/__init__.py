"""Ingest: survey rows to coded rows, every row and every label accounted for.

A cell is a value, structural (the question does not apply), missing (the answer is not
known) or blank (left for the event tree to decide). A survey is kept as its distinct
coded rows with how many respondents gave each.
"""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from cegdb.errors import SurveyError
from cegdb.findings import Finding, record
from cegdb.ingest.codebook.codebook import CodebookSource, load_codebook
from cegdb.ingest.codebook.gates import apply_gates, ordered_gates
from cegdb.ingest.coding.cell_codes import LIMITS, CodingLimits, read_lines
from cegdb.ingest.coding.counts_and_weights import (
    check_numbers,
    count_respondents,
    weight_exponent,
)
from cegdb.ingest.coding.design_effects import design_effects
from cegdb.ingest.coding.level_tables import create_level_codes, insert_levels, join_level_codes
from cegdb.ingest.coding.levels import find_levels
from cegdb.ingest.coding.missing_patterns import missing_patterns
from cegdb.ingest.csv.csv_file import retry_rewritten
from cegdb.ingest.files.sources import Source, load_chunks, open_source, query_progress
from cegdb.ingest.receipt import (
    fingerprint_of,
    receipt_of,
    survey_findings,
    surveys_of_same_files,
)
from cegdb.ingest.settings import check_settings
from cegdb.ingest.survey_version import (
    SurveyVersion,
    count_codes,
    earlier_lines,
    later_settings,
    merged_receipt,
    merged_settings,
    new_labels,
    supersede,
    survey_version,
)
from cegdb.options import IngestOptions
from cegdb.sqlfiles import Steps
from cegdb.store import quoted
from cegdb.store.catalog import claim_name, new_id, response_table, row, write
from cegdb.version import made_by

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb
    import sqlalchemy as sa

    from cegdb.ingest.codebook.gates import Gate
    from cegdb.ingest.coding.variables import Variable
    from cegdb.ingest.files.relation import Relation
    from cegdb.ingest.settings import Settings
    from cegdb.options import DecimalSign, ReadOptions
    from cegdb.store import Store

__all__ = ["CodebookSource", "Source", "append", "declare_levels", "ingest", "refresh"]

_MOST_JOINS: Final = 40
_NUMBERS: Final = ("n", "weight", "weight_sq")


@dataclass(frozen=True)
class _NewSurvey:
    """A survey to be made; one whose levels are declared by something needs no rows."""

    options: IngestOptions
    name: str | None
    replace: bool
    declared_by: str | None = None
    default_name: str | None = None


@dataclass(frozen=True)
class _LaterRows:
    """Rows that are added to those of a survey, or replace them."""

    survey_id: int
    decimal: DecimalSign | None
    is_append: bool


_Target: TypeAlias = _NewSurvey | _LaterRows


@dataclass(frozen=True)
class _Plan:
    """What is to be read from a source, and which survey it becomes.

    ``earlier`` is that survey as it is stored, None if it is new; ``appended_to`` is the same
    if its rows stay. A survey that something else declares (``declared_by``) needs no rows.
    """

    relation: Relation
    settings: Settings
    gates: list[Gate]
    survey_id: int
    name: str
    earlier: SurveyVersion | None = None
    appended_to: SurveyVersion | None = None
    declared_by: str | None = None


@dataclass(frozen=True)
class _Lines:
    """What was read: lines in all, those with a count of 0, and what is said of weights.

    ``are_distinct``: no two lines kept are alike.
    """

    n_read: int
    n_zero: int
    weights: dict[str, object] | None
    are_distinct: bool


@dataclass(frozen=True)
class _CodedLines:
    """A SELECT of the coded lines; what the gates did; design effects of the variables."""

    query: str
    gate_report: list[dict[str, object]]
    design_effects: dict[str, float]
    are_distinct: bool


def ingest(
    store: Store,
    source: Source,
    options: IngestOptions | None = None,
    reading: ReadOptions | None = None,
    *,
    name: str | None = None,
    replace: bool = False,
    limits: CodingLimits = LIMITS,
) -> int:
    """Read a survey, code its cells, store its distinct rows, and return its ``survey_id``.

    The source may be a file (CSV, Parquet, a workbook, SPSS, Stata, SAS), several CSV or
    Parquet files as a list or a pattern, a file-like object, ``"-"`` for standard input, a
    pandas or polars DataFrame, an Arrow table, or a SELECT run in the same database.
    """
    options = options or IngestOptions()
    # Loaded before the source, which may be standard input, is read.
    options = dataclasses.replace(options, codebook=load_codebook(options.codebook))
    target = _NewSurvey(options, name, replace)
    return retry_rewritten(partial(_ingest, store, source, reading, target, limits=limits))


def declare_levels(
    store: Store,
    levels: Mapping[str, Sequence[object]],
    *,
    source: str,
    default: str,
    name: str | None = None,
    replace: bool = False,
) -> int:
    """Make a survey of variables and their labels, without rows; `append` can add these.

    ``source`` says what declares them, ``default`` is the name if ``name`` is left out.
    """
    columns = ", ".join(f"cast(null as varchar) as {quoted(column)}" for column in levels)
    options = IngestOptions(levels=levels)
    target = _NewSurvey(options, name, replace, declared_by=source, default_name=default)
    return _ingest(store, f"select {columns} where false", None, target, rewrite=False)


def append(
    store: Store,
    survey_id: int,
    source: Source,
    *,
    decimal: DecimalSign | None = None,
    reading: ReadOptions | None = None,
    limits: CodingLimits = LIMITS,
) -> None:
    """Add the rows of another source to a survey, matched by column name.

    The survey is then as if all its files had been read as one: its codebook, gates, count
    and weight hold for the new rows, and the cut points of its quantiles stay. A column that
    the source lacks is blank in its rows. One that is new becomes a variable, blank in the
    earlier rows, unless columns were chosen at ingest.
    """
    target = _LaterRows(survey_id, decimal, is_append=True)
    _change_rows(store, source, reading, target, limits)


def refresh(
    store: Store,
    survey_id: int,
    source: Source,
    *,
    decimal: DecimalSign | None = None,
    reading: ReadOptions | None = None,
    limits: CodingLimits = LIMITS,
) -> None:
    """Replace the rows of a survey by those of a new snapshot.

    The source must have the columns that were chosen at ingest, and those that a tree uses;
    others may come and go.
    """
    target = _LaterRows(survey_id, decimal, is_append=False)
    _change_rows(store, source, reading, target, limits)


def _change_rows(
    store: Store,
    source: Source,
    reading: ReadOptions | None,
    target: _LaterRows,
    limits: CodingLimits,
) -> None:
    with store.catalog() as catalog:
        settings = row(catalog, "survey", target.survey_id)["settings"]
    source_column = settings.get("source_column")
    retry_rewritten(
        partial(
            _ingest, store, source, reading, target, source_column=source_column, limits=limits
        )
    )


# -----------------------------------------------------------------------------
# One ingest, in one transaction
# -----------------------------------------------------------------------------


def _ingest(
    store: Store,
    source: Source,
    reading: ReadOptions | None,
    target: _Target,
    *,
    rewrite: bool,
    source_column: str | None = None,
    limits: CodingLimits = LIMITS,
) -> int:
    """Read a source, code its rows, store them; return the ``survey_id``."""
    started = time.perf_counter()
    with (
        store.reading() as con,
        open_source(
            con, source, reading, rewrite=rewrite, source_column=source_column
        ) as relation,
        query_progress(con, relation),
        store.writing() as (_, catalog),
        Steps(con) as steps,
    ):
        store.progress = relation.progress
        plan = _plan(con, catalog, relation, target)
        plan, lines = _read(steps, con, plan, limits)
        variables = _find_levels(steps, plan, lines)
        coded = _code(steps, plan, lines, variables)
        n, n_distinct = _store_rows(steps, plan, coded, variables)
        if plan.earlier is not None:
            supersede(catalog, plan.earlier)
        insert_levels(catalog, plan.survey_id, variables)
        patterns = missing_patterns(steps, response_table(plan.survey_id), variables)
        fingerprint = fingerprint_of(plan.relation.files)
        fingerprints = _fingerprints(plan, fingerprint)
        found = survey_findings(
            plan.relation,
            plan.settings,
            variables,
            coded.gate_report,
            surveys_of_same_files(catalog, fingerprint, plan.name),
        )
        receipt = receipt_of(
            plan.relation,
            plan.settings,
            variables,
            n_lines=lines.n_read,
            n_zero=lines.n_zero,
            n=n,
            weights=lines.weights,
            gates=coded.gate_report,
            effects=coded.design_effects,
            patterns=patterns,
            findings=found,
        )
        survey = _catalog_row(plan, receipt, fingerprints)
        survey |= {"n": n, "n_distinct": n_distinct, **made_by(time.perf_counter() - started)}
        write(catalog, "survey", survey, is_update=plan.earlier is not None)
        kept = () if plan.appended_to is None else ("read_twice", "gate")
        record(catalog, "survey", plan.survey_id, found, kept=kept)
    return plan.survey_id


def _plan(
    con: duckdb.DuckDBPyConnection, catalog: sa.Connection, relation: Relation, target: _Target
) -> _Plan:
    """Check the settings of an ingest against its source, before any row is read."""
    earlier, appended_to, declared_by = None, None, None
    if isinstance(target, _NewSurvey):
        settings = check_settings(relation, target.options)
        declared_by = target.declared_by
        default = target.default_name or relation.name
        name = claim_name(catalog, "survey", target.name, default, replace=target.replace)
    else:
        earlier = survey_version(catalog, target.survey_id)
        appended_to = earlier if target.is_append else None
        relation, settings = later_settings(
            relation, earlier, target.decimal, is_append=target.is_append
        )
        name = str(earlier.row["name"])
    return _Plan(
        relation,
        settings,
        ordered_gates(con, settings.gates, list(settings.variables), relation.title),
        new_id(catalog, "survey") if earlier is None else earlier.survey_id,
        name,
        earlier,
        appended_to,
        declared_by,
    )


def _read(
    steps: Steps, con: duckdb.DuckDBPyConnection, plan: _Plan, limits: CodingLimits
) -> tuple[_Plan, _Lines]:
    """Make ``response_line``, the source's lines; return the plan with the weights' scale."""
    relation, settings, appended_to = plan.relation, plan.settings, plan.appended_to
    others = (settings.count, settings.weight, settings.cluster)
    load_chunks(con, relation, [*settings.variables, *filter(None, others)])
    are_distinct = read_lines(steps, con, relation, settings, limits)
    ((n_read,),) = steps.rows("select coalesce(sum(n_lines), 0) from temp.source_line")
    if not relation.progress.rows:
        relation.progress.read(int(n_read))
    n_zero = check_numbers(steps, relation, settings)
    exponent = weight_exponent(
        steps,
        settings,
        None if appended_to is None else int(appended_to.settings.get("weight_exponent", 0)),
    )
    settings = dataclasses.replace(settings, weight_exponent=exponent)
    weights = count_respondents(steps, settings, is_part=appended_to is not None)
    lines = _Lines(int(n_read), n_zero, weights, are_distinct)
    return dataclasses.replace(plan, settings=settings), lines


def _find_levels(steps: Steps, plan: _Plan, lines: _Lines) -> list[Variable]:
    """Return the variables with their levels, those that earlier rows have included."""
    variables = find_levels(steps, plan.relation, plan.settings.variables)
    if plan.earlier is not None:
        plan.settings.findings.extend(new_labels(plan.earlier, variables))
    if not lines.n_read and plan.appended_to is None and plan.declared_by is None:
        raise SurveyError(f"{plan.relation.title} has a header but no rows")
    return variables


def _code(steps: Steps, plan: _Plan, lines: _Lines, variables: list[Variable]) -> _CodedLines:
    """Code the lines and close gates; with clusters also estimate design effects."""
    settings = plan.settings
    query = _coded_lines(steps, variables, is_clustered=settings.cluster is not None)
    query, gate_report = apply_gates(steps, plan.gates, variables, query)
    effects: dict[str, float] = {}
    if settings.cluster is not None:
        steps.create("clustered_line", query)
        query = "select * from temp.clustered_line"
        effects = design_effects(steps, settings.cluster, variables)
    are_distinct = (
        lines.are_distinct
        and plan.appended_to is None
        and not (settings.count or settings.weight or settings.cluster or plan.gates)
        and all(variable.has_code_for_each_text() for variable in variables)
    )
    if plan.appended_to is not None:
        query = f"{query} union all by name {earlier_lines(plan.appended_to, variables)}"
    return _CodedLines(query, gate_report, effects, are_distinct)


def _store_rows(
    steps: Steps, plan: _Plan, coded: _CodedLines, variables: list[Variable]
) -> tuple[int, int]:
    """Write the survey's distinct coded rows, sorted; return respondents, and such rows.

    Distinct lines are not grouped: that takes as long as reading them.
    """
    table = response_table(plan.survey_id)
    codes = ", ".join(f"v{i}" for i in range(1, len(variables) + 1))
    if coded.are_distinct:
        rows = f"select {codes}, n, weight, weight_sq from ({coded.query})"  # noqa: S608
    else:
        rows = (
            f"select {codes}, cast(sum(n) as bigint) as n, "  # noqa: S608
            "cast(sum(weight) as decimal(38, 12)) as weight, "
            "cast(sum(weight_sq) as decimal(38, 12)) as weight_sq "
            f"from ({coded.query}) group by {codes}"
        )
    n_distinct = steps.execute(f"create or replace table {table} as {rows} order by {codes}")
    ((n,),) = steps.rows(f"select coalesce(sum(n), 0) from {table}")  # noqa: S608
    if not n and plan.declared_by is None:
        raise SurveyError(
            f"{plan.relation.title} stands for no respondents: {plan.settings.count!r} is 0 in "
            "every row"
        )
    if plan.appended_to is not None:
        count_codes(steps, table, variables)
    return int(n), n_distinct


def _catalog_row(
    plan: _Plan, receipt: dict[str, object], fingerprints: list[str]
) -> dict[str, object]:
    """Return what the catalog says of a survey, but for its sizes."""
    source = plan.declared_by or plan.relation.description
    settings = plan.settings.as_json()
    if plan.earlier is not None:
        settings = merged_settings(plan.earlier, settings)
    if plan.appended_to is not None:
        receipt = merged_receipt(plan.appended_to, receipt, source)
        source = f"{plan.appended_to.row['source']} + {source}"
    return {
        "survey_id": plan.survey_id,
        "name": plan.name,
        "source": source,
        "n_read": receipt["rows_read"],
        "settings": {**settings, "fingerprints": fingerprints},
        "summary": receipt,
    }


def _fingerprints(plan: _Plan, fingerprint: str | None) -> list[str]:
    """Return those of all files of the survey; note a file that it has already."""
    fingerprints = [fingerprint] if fingerprint else []
    if plan.appended_to is None:
        return fingerprints
    earlier = plan.appended_to.settings.get("fingerprints", [])
    digests = {digest for each in earlier for digest in each.split()}
    if fingerprint and not digests.isdisjoint(fingerprint.split()):
        title = plan.relation.title
        file = title if len(plan.relation.files) == 1 else f"a file of {title}"
        sentence = (
            f"{file} was read into this survey before (the same bytes): its rows now count "
            "twice"
        )
        plan.settings.findings.append(Finding("read_twice", sentence))
    return [*earlier, *fingerprints]


# -----------------------------------------------------------------------------
# Codes of the cells
# -----------------------------------------------------------------------------


def _coded_lines(steps: Steps, variables: list[Variable], *, is_clustered: bool) -> str:
    """Return a SELECT of the survey's lines, coded, with ``n``, weights and clusters.

    Small codes are looked up in a list, texts by one join a variable; since the time to plan
    joins grows with the cube of their number, many are made some variables at a time.
    """
    numbered = list(enumerate(variables, 1))
    joined = [(i, variable) for i, variable in numbered if variable.texts is None]
    if joined:
        create_level_codes(steps, ((i, variable.code_of_text()) for i, variable in joined))
    uncoded = [*_NUMBERS, "cluster"] if is_clustered else _NUMBERS
    if len(joined) <= _MOST_JOINS:
        return _join_codes(uncoded, numbered, "temp.response_line")
    steps.create(
        "numbered_line", "select row_number() over () as line_id, * from temp.response_line"
    )
    joins = []
    for start in range(0, len(numbered), _MOST_JOINS):
        part = f"coded_part_{start // _MOST_JOINS}"
        chunk = numbered[start : start + _MOST_JOINS]
        steps.create(part, _join_codes(["line_id"], chunk, "temp.numbered_line"))
        joins.append(f"inner join temp.{part} using (line_id)")
    codes = ", ".join(f"v{i}" for i, _ in numbered)
    return f"select {codes}, {', '.join(uncoded)} from temp.numbered_line {' '.join(joins)}"  # noqa: S608


def _join_codes(
    uncoded: Sequence[str], numbered: list[tuple[int, Variable]], lines: str
) -> str:
    """Return a SELECT of lines with the codes of some variables, and columns as they are."""
    columns, joins = [], []
    for i, variable in numbered:
        if variable.texts is not None:
            code_of_text = variable.code_of_text()
            codes = [code_of_text.get(text, variable.blank_code) for text in variable.texts]
            code = f"({codes})[r.c{i}]"
        else:
            code = f"l{i}.code"
            joins.append(join_level_codes(i, f"r.c{i}"))
        columns.append(
            f"cast(coalesce({code}, {variable.blank_code}) as {variable.code_type}) as v{i}"
        )
    columns += [f"r.{name}" for name in uncoded]
    return f"select {', '.join(columns)} from {lines} as r {' '.join(joins)}"  # noqa: S608
