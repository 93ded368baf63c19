"""Ingest: survey rows to coded rows, every row and every label accounted for.

A cell is a value, structural (the question does not apply), missing (the answer is not
known) or blank (left for the event tree to decide). A survey is kept as its distinct
coded rows with how many respondents gave each.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from cegdb.errors import SurveyError
from cegdb.ingest.clusters import design_effects
from cegdb.ingest.codebook import CodebookSource, load_codebook
from cegdb.ingest.counts import check_counts
from cegdb.ingest.csvfile import MisreadError
from cegdb.ingest.gates import apply_gates, ordered_gates
from cegdb.ingest.levels import Variable, count_rows, insert_levels, sort_levels
from cegdb.ingest.patterns import missing_patterns
from cegdb.ingest.places import read_lines
from cegdb.ingest.receipt import fingerprint_of, receipt_of, twins_of
from cegdb.ingest.settings import Labels, Request, Settings, settled
from cegdb.ingest.sources import Source, load_chunks, opened
from cegdb.ingest.weights import check_weights
from cegdb.sqlfiles import Steps
from cegdb.store.objects import claim_name, insert, new_id, response_table
from cegdb.version import made_by

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb

    from cegdb.ingest.csvfile import Reading
    from cegdb.ingest.relation import Relation
    from cegdb.store import Store

__all__ = ["CodebookSource", "Labels", "Source", "ingest"]

_JOINS: Final = 40
_KEPT: Final = ("n", "weight", "weight_sq")


def ingest(
    store: Store,
    source: Source,
    *,
    name: str | None = None,
    columns: Sequence[str] | None = None,
    count: str | None = None,
    weight: str | None = None,
    cluster: str | None = None,
    decimal: str = ".",
    structural: Labels = (),
    missing: Labels = (),
    levels: Mapping[str, Sequence[object]] | None = None,
    bins: Mapping[str, object] | None = None,
    codebook: CodebookSource | None = None,
    reading: Reading | None = None,
    replace: bool = False,
) -> int:
    """Read a survey, code its cells and store its distinct rows.

    Parameters
    ----------
    store
        Where to; the survey is made in one transaction.
    source
        A file: CSV (any delimiter; also .gz, .zst), Parquet, a workbook, SPSS, Stata, SAS;
        several CSV or Parquet files as a list or a pattern such as ``waves/*.csv``, matched
        by column name; ``"-"``, standard input; a pandas or polars DataFrame, an Arrow
        table, or a SELECT run in the same database.
    name
        Of the survey; left out, the file's name.
    columns
        Which columns become variables; left out, all but ``count``,
        ``weight`` and ``cluster``.
    count
        A column that says how many respondents each line stands for.
    weight
        A column that says how much each respondent counts (a survey weight, 0 or more),
        kept beside the counts, to 12 decimals.
    cluster
        A column of clusters that were sampled whole or in part: scores are divided by
        the design effect of each variable (see `cegdb.ingest.clusters.design_effects`).
    decimal
        The decimal sign of counts, weights and numbers to be cut: ``"."`` or ``","``.
    structural, missing
        Labels that mean "does not apply" or "not known": a list for all variables, or a
        mapping variable -> list.
    levels
        Variable -> all its labels in order; labels that nobody gave are kept as levels.
    bins
        Variable -> cut points, such as ``[18, 35, 65]`` or ``"18,35,65"``, or quantiles,
        such as ``"q4"``: its numbers become intervals.
    codebook
        What codes mean: see `cegdb.ingest.codebook.load_codebook`. What is given here
        directly is added to it, or goes before it.
    reading
        How a file is written, as far as it is told and not to be found out.
    replace
        Drop a survey of that name first, with everything built on it.

    Returns
    -------
    int
        ``survey_id``.

    Raises
    ------
    SurveyError
        The source or a setting is not usable: see the message.
    NameTakenError
        There is a survey of that name and ``replace`` is false.

    Examples
    --------
    >>> from cegdb.store import Store
    >>> with Store.open() as store:
    ...     ingest(store, "select 'yes' as a union all select 'no'", name="two")
    1
    """
    book = load_codebook(codebook)
    request = Request(
        columns, count, weight, cluster, decimal, structural, missing, levels, bins, book
    )
    try:
        return _ingest(store, source, name, request, reading, replace=replace, rewrite=False)
    except MisreadError:
        return _ingest(store, source, name, request, reading, replace=replace, rewrite=True)


def _ingest(
    store: Store,
    source: Source,
    name: str | None,
    request: Request,
    reading: Reading | None,
    *,
    replace: bool,
    rewrite: bool,
) -> int:
    started = time.perf_counter()
    with (
        store.reading() as con,
        opened(con, source, reading, rewrite=rewrite) as relation,
        store.writing() as (_, catalog),
    ):
        store.progress = relation.progress
        settings = settled(relation, request)
        gates = ordered_gates(con, settings.gates, list(settings.variables), relation.shown)
        name = claim_name(catalog, "survey", name, relation.name, replace=replace)
        with Steps(con) as steps:
            n_read = _read(steps, con, relation, settings)
            weights = check_weights(steps, relation, settings)
            dropped = check_counts(steps, relation, settings)
            variables = sort_levels(steps, relation, settings.variables)
            if not n_read:
                raise SurveyError(f"{relation.shown} has a header but no rows")
            survey_id = new_id(catalog, "survey")
            table = response_table(survey_id)
            lines = _coded_lines(steps, variables, is_clustered=settings.cluster is not None)
            lines, gated = apply_gates(steps, gates, variables, lines)
            effects: dict[str, float] = {}
            if settings.cluster is not None:
                steps.create("clustered_line", lines)
                lines = "select * from temp.clustered_line"
                effects = design_effects(steps, settings.cluster, variables)
            n_distinct = _store(steps, table, lines, len(variables))
            insert_levels(catalog, survey_id, variables)
            patterns = missing_patterns(steps, table, variables)
            n = int(str(steps.rows(f"select coalesce(sum(n), 0) from {table}")[0][0]))  # noqa: S608
            if not n:
                raise SurveyError(f"{relation.shown}: every {settings.count!r} is 0")
        fingerprint = fingerprint_of(relation.files)
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
        insert(
            catalog,
            "survey",
            {
                "survey_id": survey_id,
                "name": name,
                "source": relation.described,
                "n_read": receipt["rows_read"],
                "n": n,
                "n_distinct": n_distinct,
                "settings": {**settings.as_json(), "fingerprint": fingerprint},
                "summary": receipt,
                **made_by(time.perf_counter() - started),
            },
        )
    return survey_id


def _read(
    steps: Steps, con: duckdb.DuckDBPyConnection, relation: Relation, settings: Settings
) -> int:
    """Keep the source's distinct lines and how often each occurs; return how many."""
    others = (settings.count, settings.weight, settings.cluster)
    load_chunks(con, relation, [*settings.variables, *filter(None, others)])
    read_lines(steps, con, relation, settings)
    return int(str(steps.rows("select coalesce(sum(n_lines), 0) from temp.source_line")[0][0]))


def _store(steps: Steps, table: str, lines: str, n_variables: int) -> int:
    """Write the survey's distinct coded rows, sorted, and return how many there are."""
    coded = ", ".join(f"v{i}" for i in range(1, n_variables + 1))
    return steps.execute(
        f"create table {table} as "  # noqa: S608
        f"select {coded}, cast(sum(n) as bigint) as n, "
        "cast(sum(weight) as decimal(38, 12)) as weight, "
        "cast(sum(weight_sq) as decimal(38, 12)) as weight_sq "
        f"from ({lines}) group by {coded} order by {coded}"
    )


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
