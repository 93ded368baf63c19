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
from cegdb.ingest.codebook.codebook import CodebookSource, load_codebook
from cegdb.ingest.codebook.gates import apply_gates, ordered_gates
from cegdb.ingest.coding.cell_codes import read_lines
from cegdb.ingest.coding.counts_and_weights import (
    check_counts,
    check_weights,
    weight_exponent,
)
from cegdb.ingest.coding.design_effects import design_effects
from cegdb.ingest.coding.level_tables import create_level_codes, insert_levels
from cegdb.ingest.coding.levels import find_levels
from cegdb.ingest.coding.missing_patterns import missing_patterns
from cegdb.ingest.csv.csv_file import retry_rewritten
from cegdb.ingest.files.sources import Source, load_chunks, open_source, query_progress
from cegdb.ingest.receipt import fingerprint_of, receipt_of, surveys_of_same_files
from cegdb.ingest.settings import check_settings
from cegdb.ingest.survey_version import (
    SurveyVersion,
    count_codes,
    earlier_lines,
    later_settings,
    new_labels,
    receipt_with,
    settings_with,
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

    from cegdb.ingest.coding.variables import Variable
    from cegdb.ingest.files.relation import Relation
    from cegdb.ingest.settings import Settings
    from cegdb.options import DecimalSign, ReadOptions
    from cegdb.store import Store

__all__ = ["CodebookSource", "Source", "append", "declare", "ingest", "refresh"]

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
class _NewRows:
    """Rows that are added to those of a survey, or replace them."""

    survey_id: int
    decimal: DecimalSign | None
    is_append: bool


_Target: TypeAlias = _NewSurvey | _NewRows


def ingest(
    store: Store,
    source: Source,
    options: IngestOptions | None = None,
    reading: ReadOptions | None = None,
    *,
    name: str | None = None,
    replace: bool = False,
) -> int:
    """Read a survey, code its cells, store its distinct rows, and return its ``survey_id``.

    The source may be a file (CSV, Parquet, a workbook, SPSS, Stata, SAS), several CSV or
    Parquet files as a list or a pattern, ``"-"`` for standard input, a pandas or polars
    DataFrame, an Arrow table, or a SELECT run in the same database.
    """
    options = options or IngestOptions()
    # Loaded before the source, which may be standard input, is read.
    options = dataclasses.replace(options, codebook=load_codebook(options.codebook))
    target = _NewSurvey(options, name, replace)
    return retry_rewritten(partial(_ingest, store, source, reading, target))


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
) -> None:
    """Add the rows of another source to a survey, matched by column name.

    The survey is then as if all its files had been read as one: its codebook, gates, count
    and weight hold for the new rows, and the cut points of its quantiles stay. A column that
    the source lacks is blank in its rows. One that is new becomes a variable, blank in the
    earlier rows, unless columns were chosen at ingest.
    """
    _change_rows(store, source, reading, _NewRows(survey_id, decimal, is_append=True))


def refresh(
    store: Store,
    survey_id: int,
    source: Source,
    *,
    decimal: DecimalSign | None = None,
    reading: ReadOptions | None = None,
) -> None:
    """Replace the rows of a survey by those of a new snapshot.

    The source must have the columns that were chosen at ingest, and those that a tree uses;
    others may come and go.
    """
    _change_rows(store, source, reading, _NewRows(survey_id, decimal, is_append=False))


def _change_rows(
    store: Store, source: Source, reading: ReadOptions | None, target: _NewRows
) -> None:
    with store.catalog() as catalog:
        settings = row(catalog, "survey", target.survey_id)["settings"]
    retry_rewritten(
        partial(
            _ingest,
            store,
            source,
            reading,
            target,
            source_column=settings.get("source_column"),
        )
    )


def _ingest(
    store: Store,
    source: Source,
    reading: ReadOptions | None,
    target: _Target,
    *,
    rewrite: bool,
    source_column: str | None = None,
) -> int:
    """Read a source in one transaction; return the ``survey_id``."""
    started = time.perf_counter()
    with (
        store.reading() as con,
        open_source(
            con, source, reading, rewrite=rewrite, source_column=source_column
        ) as given,
        query_progress(con, given),
        store.writing() as (_, catalog),
    ):
        store.progress = given.progress
        version, appended_to = None, None
        relation, declared_by = given, None
        if isinstance(target, _NewSurvey):
            settings = check_settings(relation, target.options)
            declared_by = target.declared_by
        else:
            version = survey_version(catalog, target.survey_id)
            appended_to = version if target.is_append else None
            relation, settings = later_settings(
                given, version, target.decimal, is_append=target.is_append
            )
        gates = ordered_gates(con, settings.gates, list(settings.variables), relation.title)
        name = _name(catalog, target, relation)
        with Steps(con) as steps:
            n_read, are_distinct = _read(steps, con, relation, settings)
            earlier_exponent = (
                None if appended_to is None
                else int(appended_to.settings.get("weight_exponent", 0))
            )  # fmt: skip
            exponent = weight_exponent(steps, settings, earlier_exponent)
            settings = dataclasses.replace(settings, weight_exponent=exponent)
            weights = check_weights(steps, relation, settings, is_part=appended_to is not None)
            n_zero = check_counts(steps, relation, settings)
            variables = find_levels(steps, relation, settings.variables)
            if version is not None:
                settings.hints.extend(new_labels(version, variables))
            if not n_read and appended_to is None and declared_by is None:
                raise SurveyError(f"{relation.title} has a header but no rows")
            survey_id = new_id(catalog, "survey") if version is None else version.survey_id
            table = response_table(survey_id)
            lines = _coded_lines(steps, variables, is_clustered=settings.cluster is not None)
            lines, gate_report = apply_gates(steps, gates, variables, lines)
            effects: dict[str, float] = {}
            if settings.cluster is not None:
                steps.create("clustered_line", lines)
                lines = "select * from temp.clustered_line"
                effects = design_effects(steps, settings.cluster, variables)
            if appended_to is not None:
                lines = f"{lines} union all by name {earlier_lines(appended_to, variables)}"
            are_distinct = (
                are_distinct
                and appended_to is None
                and not (settings.count or settings.weight or settings.cluster or gates)
                and all(variable.has_code_for_each_text() for variable in variables)
            )
            n_distinct = _store_rows(
                steps, table, lines, len(variables), are_distinct=are_distinct
            )
            if appended_to is not None:
                count_codes(steps, table, variables)
            if version is not None:
                supersede(catalog, version)
            insert_levels(catalog, survey_id, variables)
            patterns = missing_patterns(steps, table, variables)
            n = int(str(steps.rows(f"select coalesce(sum(n), 0) from {table}")[0][0]))  # noqa: S608
            if not n and declared_by is None:
                raise SurveyError(f"{relation.title}: every {settings.count!r} is 0")
        fingerprint = fingerprint_of(relation.files)
        fingerprints = _fingerprints(fingerprint, appended_to, relation, settings)
        receipt = receipt_of(
            relation,
            settings,
            variables,
            n_lines=n_read,
            n_zero=n_zero,
            n=n,
            weights=weights,
            gates=gate_report,
            effects=effects,
            patterns=patterns,
            same_files=surveys_of_same_files(catalog, fingerprint, name),
        )
        described, stored = declared_by or relation.description, settings.as_json()
        if version is not None:
            stored = settings_with(version, stored)
        if appended_to is not None:
            receipt = receipt_with(appended_to, receipt, described)
            described = f"{appended_to.row['source']} + {described}"
        survey = {
            "survey_id": survey_id,
            "name": name,
            "source": described,
            "n_read": receipt["rows_read"],
            "n": n,
            "n_distinct": n_distinct,
            "settings": {**stored, "fingerprints": fingerprints},
            "summary": receipt,
            **made_by(time.perf_counter() - started),
        }
        write(catalog, "survey", survey, again=version is not None)
    return survey_id


def _name(catalog: sa.Connection, target: _Target, relation: Relation) -> str:
    if isinstance(target, _NewRows):
        return str(row(catalog, "survey", target.survey_id)["name"])
    default = target.default_name or relation.name
    return claim_name(catalog, "survey", target.name, default, replace=target.replace)


def _fingerprints(
    fingerprint: str | None,
    appended_to: SurveyVersion | None,
    relation: Relation,
    settings: Settings,
) -> list[str]:
    """Return those of all files of the survey; hint at a file that it has already."""
    fingerprints = [fingerprint] if fingerprint else []
    if appended_to is None:
        return fingerprints
    earlier = appended_to.settings.get("fingerprints", [])
    digests = {digest for each in earlier for digest in each.split()}
    if fingerprint and not digests.isdisjoint(fingerprint.split()):
        settings.hints.append(
            f"{relation.title}, or one of its files, is in this survey already, byte for "
            "byte: its rows now count twice; refresh replaces rows"
        )
    return [*earlier, *fingerprints]


def _read(
    steps: Steps, con: duckdb.DuckDBPyConnection, relation: Relation, settings: Settings
) -> tuple[int, bool]:
    """Keep the source's lines; return how many there are, and whether none is kept twice."""
    others = (settings.count, settings.weight, settings.cluster)
    load_chunks(con, relation, [*settings.variables, *filter(None, others)])
    are_distinct = read_lines(steps, con, relation, settings)
    ((n,),) = steps.rows("select coalesce(sum(n_lines), 0) from temp.source_line")
    if not relation.progress.rows:
        relation.progress.read(int(n))
    return int(n), are_distinct


def _store_rows(
    steps: Steps, table: str, lines: str, n_variables: int, *, are_distinct: bool
) -> int:
    """Write the survey's distinct coded rows, sorted, and return how many there are.

    Distinct lines are not grouped: that takes as long as reading them.
    """
    codes = ", ".join(f"v{i}" for i in range(1, n_variables + 1))
    if are_distinct:
        rows = f"select {codes}, n, weight, weight_sq from ({lines})"  # noqa: S608
    else:
        rows = (
            f"select {codes}, cast(sum(n) as bigint) as n, "  # noqa: S608
            "cast(sum(weight) as decimal(38, 12)) as weight, "
            "cast(sum(weight_sq) as decimal(38, 12)) as weight_sq "
            f"from ({lines}) group by {codes}"
        )
    return steps.execute(f"create or replace table {table} as {rows} order by {codes}")


def _coded_lines(steps: Steps, variables: list[Variable], *, is_clustered: bool) -> str:
    """Return a SELECT of the survey's lines, coded, with ``n``, weights and clusters.

    Small codes are looked up in a list, texts by one join a variable; since the time to plan
    joins grows with the cube of their number, many are made some variables at a time.
    """
    numbered = list(enumerate(variables, 1))
    joined = [(i, variable) for i, variable in numbered if variable.texts is None]
    if joined:
        create_level_codes(steps, ((i, variable.code_of_text()) for i, variable in joined))
    kept = [*_NUMBERS, "cluster"] if is_clustered else _NUMBERS
    if len(joined) <= _MOST_JOINS:
        return _joined(kept, numbered, "temp.response_line")
    steps.create(
        "numbered_line", "select row_number() over () as line_id, * from temp.response_line"
    )
    joins = []
    for start in range(0, len(numbered), _MOST_JOINS):
        part = f"coded_part_{start // _MOST_JOINS}"
        chunk = numbered[start : start + _MOST_JOINS]
        steps.create(part, _joined(["line_id"], chunk, "temp.numbered_line"))
        joins.append(f"inner join temp.{part} using (line_id)")
    codes = ", ".join(f"v{i}" for i, _ in numbered)
    return f"select {codes}, {', '.join(kept)} from temp.numbered_line {' '.join(joins)}"  # noqa: S608


def _joined(kept: Sequence[str], numbered: list[tuple[int, Variable]], lines: str) -> str:
    columns, joins = [], []
    for i, variable in numbered:
        if variable.texts is not None:
            code_of_text = variable.code_of_text()
            codes = [code_of_text.get(text, variable.blank_code) for text in variable.texts]
            code = f"({codes})[r.c{i}]"
        else:
            code = f"l{i}.code"
            joins.append(
                f"left join temp.level_code as l{i} "
                f"on l{i}.ordinal = {i} and l{i}.cell = r.c{i}"
            )
        columns.append(
            f"cast(coalesce({code}, {variable.blank_code}) as {variable.code_type}) as v{i}"
        )
    columns += [f"r.{name}" for name in kept]
    return f"select {', '.join(columns)} from {lines} as r {' '.join(joins)}"  # noqa: S608
