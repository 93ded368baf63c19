"""Ingest: survey rows to coded rows, every row and every label accounted for.

A cell is a value, structural (the question does not apply), missing (the answer is not
known) or blank (left for the event tree to decide). A survey is kept as its distinct
coded rows with how many respondents gave each.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from cegdb.errors import SqlStepError, SurveyError, listed
from cegdb.ingest.levels import (
    Variable,
    count_rows,
    insert_levels,
    sort_levels,
    suspects,
)
from cegdb.ingest.sources import Relation, Source, find_columns, label_of, opened
from cegdb.sqlfiles import Steps
from cegdb.store.objects import claim_name, insert, new_id, response_table
from cegdb.version import made_by

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb

    from cegdb.store import Store

__all__ = ["Labels", "Source", "ingest"]

Labels: TypeAlias = "Sequence[object] | Mapping[str, Sequence[object]]"

_COUNT_NAMES: Final = {
    "freq",
    "frequency",
    "count",
    "counts",
    "n",
    "weight",
    "weights",
    "wt",
}


def ingest(
    store: Store,
    source: Source,
    *,
    name: str | None = None,
    columns: Sequence[str] | None = None,
    count: str | None = None,
    structural: Labels = (),
    missing: Labels = (),
    levels: Mapping[str, Sequence[object]] | None = None,
    replace: bool = False,
) -> int:
    """Read a survey, code its cells and store its distinct rows.

    Parameters
    ----------
    store
        Where to; the survey is made in one transaction.
    source
        A CSV file (also gzipped), a Parquet file, a pandas DataFrame, an Arrow table, or
        a SELECT run in the same database.
    name
        Of the survey; left out, the file's name.
    columns
        Which columns become variables; left out, all but ``count``.
    count
        A column that says how many respondents each line stands for.
    structural, missing
        Labels that mean "does not apply" or "not known": a list for all variables, or a
        mapping variable -> list.
    levels
        Variable -> all its labels in order; labels that nobody gave are kept as levels.
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
    started = time.perf_counter()
    with store.writing() as (con, catalog), opened(con, source) as relation:
        settings = _settings(relation, columns, count, structural, missing, levels)
        name = claim_name(catalog, "survey", name, relation.name, replace=replace)
        with Steps(con) as steps:
            n_read = _read(steps, relation, settings)
            dropped = _check_counts(steps, con, relation, settings)
            variables = sort_levels(steps, relation, settings.variables)
            if not n_read:
                raise SurveyError(f"{relation.described} has a header but no rows")
            survey_id = new_id(catalog, "survey")
            coded = insert_levels(catalog, survey_id, variables)
            table = response_table(survey_id)
            n_distinct = _code(steps, table, coded)
            n = int(str(steps.rows(f"select coalesce(sum(n), 0) from {table}")[0][0]))  # noqa: S608
            if not n:
                raise SurveyError(f"{relation.described}: every {settings.count!r} is 0")
        receipt = {
            "rows_read": n_read,
            "rows_kept": n_read - dropped,
            "rows_dropped": {f"{settings.count} is 0": dropped} if dropped else {},
            "respondents": n,
            "columns_found_as": settings.found_as,
            "cells": {variable.name: variable.cells() for variable in variables},
            "declared_labels": {
                variable.name: variable.declared_counts()
                for variable in variables
                if variable.declared_counts()
            },
            "hints": [*_hints(relation, settings), *suspects(variables, settings)],
        }
        insert(
            catalog,
            "survey",
            {
                "survey_id": survey_id,
                "name": name,
                "source": relation.described,
                "n_read": n_read,
                "n": n,
                "n_distinct": n_distinct,
                "settings": settings.as_json(),
                "summary": receipt,
                **made_by(time.perf_counter() - started),
            },
        )
    return survey_id


@dataclass(frozen=True)
class Settings:
    """Checked settings: every name found, every label as text."""

    variables: dict[str, Variable]
    cells: dict[str, str]
    count: str | None
    structural: dict[str, list[str]]
    missing: dict[str, list[str]]
    levels: dict[str, list[str]]
    found_as: dict[str, str]

    def as_json(self) -> dict[str, object]:
        """Return what makes the same survey again."""
        return {
            "columns": list(self.variables),
            "count": self.count,
            "structural": self.structural,
            "missing": self.missing,
            "levels": self.levels,
        }


def _settings(
    relation: Relation,
    columns: Sequence[str] | None,
    count: str | None,
    structural: Labels,
    missing: Labels,
    levels: Mapping[str, Sequence[object]] | None,
) -> Settings:
    """Check every setting against the source's columns before any work."""
    where = relation.described
    if isinstance(columns, str):
        raise SurveyError(f"columns is one text, {columns!r}", hint="give a list of names")
    names = relation.columns
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SurveyError(
            f"{where} has several columns called {listed(map(repr, twice))}",
            hint="rename them in the file",
        )
    count_column = None if count is None else find_columns(names, [count], where)[0]
    if columns is None:
        chosen = [name for name in names if name != count_column]
    else:
        chosen = find_columns(names, columns, where)
    found_as = {
        asked: found
        for asked, found in zip(columns or (), chosen, strict=False)
        if asked != found
    }
    if len(set(chosen)) < len(chosen):
        raise SurveyError(f"columns names {listed(sorted(set(chosen)))} more than once")
    if count_column in chosen:
        raise SurveyError(f"{count_column!r} cannot be the count and a variable")
    if not chosen:
        raise SurveyError(f"{where} has no column left to be a variable")
    if "" in chosen:
        at = chosen.index("") + 1
        raise SurveyError(
            f"column {at} of {where} has no name", hint="name it, or choose columns"
        )
    of_structural = _labels(structural, chosen, "structural")
    of_missing = _labels(missing, chosen, "missing")
    of_levels = _labels(levels or {}, chosen, "levels")
    variables = {
        name: Variable(name, of_structural[name], of_missing[name], of_levels.get(name) or None)
        for name in chosen
    }
    cells = dict(zip(names, relation.cells, strict=True))
    return Settings(
        variables,
        cells,
        count_column,
        {name: found for name, found in of_structural.items() if found},
        {name: found for name, found in of_missing.items() if found},
        {name: found for name, found in of_levels.items() if found},
        found_as,
    )


def _labels(given: Labels, chosen: list[str], setting: str) -> dict[str, list[str]]:
    """Return variable -> labels as text, for a list (all variables) or a mapping."""
    if isinstance(given, str):
        raise SurveyError(f"{setting} is one text, {given!r}", hint="give a list of labels")
    none: Sequence[object] = ()
    per_variable = dict.fromkeys(chosen, none)
    if hasattr(given, "keys"):
        for name, labels in dict(given).items():
            if isinstance(labels, str):
                raise SurveyError(f"{setting}[{name!r}] is one text, {labels!r}")
            found = find_columns(chosen, [name], f"the variables ({setting})")[0]
            per_variable[found] = labels
    else:
        per_variable = dict.fromkeys(chosen, tuple(given))
    result: dict[str, list[str]] = {}
    for name, labels in per_variable.items():
        texts = [label_of(label) for label in labels]
        if None in texts:
            raise SurveyError(
                f"{setting} of {name!r} lists a blank, which is no label",
                hint="how blanks count is decided by blank= of the event tree",
            )
        plain = [text for text in texts if text is not None]
        if len(set(plain)) < len(plain):
            raise SurveyError(f"{setting} of {name!r} lists a label twice: {listed(plain)}")
        result[name] = plain
    return result


def _read(steps: Steps, relation: Relation, settings: Settings) -> int:
    """Keep the source's distinct lines and how often each occurs; return how many."""
    cells = [f"{settings.cells[name]} as c{i}" for i, name in enumerate(settings.variables, 1)]
    if settings.count is not None:
        cells.append(f"trim({settings.cells[settings.count]}) as written")
    else:
        cells.append("null as written")
    query = (
        f"select {', '.join(cells)}, count(*) as n_lines from {relation.from_clause} "  # noqa: S608
        "group by all"
    )
    used = {key: value for key, value in relation.params.items() if f"${key} " in query}
    try:
        steps.create("source_line", query, dict(used))
    except SqlStepError as error:
        raise _read_error(relation, error) from None
    return int(str(steps.rows("select coalesce(sum(n_lines), 0) from temp.source_line")[0][0]))


def _read_error(relation: Relation, error: SqlStepError) -> SurveyError:
    """Say in the file's words what DuckDB could not read."""
    import re

    text = str(error.__cause__ or error)
    line = re.search(r"Line: (\d+)", text)
    where = f"{relation.described}, line {line[1]}" if line else relation.described
    if "Expected Number of Columns" in text:
        found = re.search(r"Columns: (\d+) Found: (\d+)", text)
        counts = (
            f"{found[2]} fields where the header has {found[1]}" if found else "a wrong shape"
        )
        return SurveyError(f"{where}: {counts}", hint="correct that line of the file")
    if "unterminated quote" in text:
        return SurveyError(f"{where}: a quote is opened and not closed")
    if "unicode" in text.lower():
        return SurveyError(
            f"{where}: not UTF-8 text",
            hint="save the file as UTF-8 (it may be latin-1 or cp1252)",
        )
    return SurveyError(f"{where} cannot be read: {text.strip().splitlines()[0]}")


def _check_counts(
    steps: Steps,
    con: duckdb.DuckDBPyConnection,
    relation: Relation,
    settings: Settings,
) -> int:
    """Refuse counts that are no whole numbers >= 0; return how many lines count 0."""
    whole = "try_cast(written as decimal(38, 6))"
    if settings.count is None:
        whole = "1"
    bad = steps.rows(
        f"select coalesce(written, 'a blank'), sum(n_lines) from temp.source_line "  # noqa: S608
        f"where coalesce({whole} < 0 or {whole} <> floor({whole}), true) "
        "group by written order by written limit 6"
    )
    if bad:
        cell = f"trim({settings.cells[str(settings.count)]})"
        at = ""
        if not relation.once:
            lines = con.execute(
                f"select i from (select row_number() over () as i, {cell} as written "  # noqa: S608
                f"from {relation.from_clause}) where coalesce({whole} < 0 or "
                f"{whole} <> floor({whole}), true) order by i limit 6",
                {k: v for k, v in relation.params.items() if f"${k} " in cell} or None,
            ).fetchall()
            at = f" (rows {listed(row[0] for row in lines)})"
        raise SurveyError(
            f"{settings.count!r} holds {listed(row[0] for row in bad)}{at}: "
            "a count is a whole number, 0 or more",
            hint="weights with decimals are not counts",
        )
    steps.create(
        "response_line",
        "select * exclude (written, n_lines), "  # noqa: S608
        f"cast({whole} * n_lines as bigint) as n from temp.source_line where {whole} > 0",
    )
    zero = steps.rows(
        f"select coalesce(sum(n_lines), 0) from temp.source_line where {whole} = 0"  # noqa: S608
    )
    return zero[0][0]


def _code(steps: Steps, table: str, variables: list[Variable]) -> int:
    """Write the survey's distinct coded rows, sorted, and return how many there are."""
    count_rows(steps, variables)
    columns, joins = [], []
    for i, variable in enumerate(variables, 1):
        columns.append(
            f"cast(coalesce(l{i}.code, {variable.blank_code}) as {variable.code_type}) as v{i}"
        )
        joins.append(
            f"left join temp.level_code as l{i} on l{i}.ordinal = {i} and l{i}.label = r.c{i}"
        )
    coded = ", ".join(f"v{i}" for i in range(1, len(variables) + 1))
    return steps.execute(
        f"create table {table} as "  # noqa: S608
        f"select {coded}, cast(sum(n) as bigint) as n, "
        "cast(null as decimal(38, 12)) as weight, "
        "cast(null as decimal(38, 12)) as weight_sq "
        f"from (select {', '.join(columns)}, r.n from temp.response_line as r "
        f"{' '.join(joins)}) group by {coded} order by {coded}"
    )


def _hints(relation: Relation, settings: Settings) -> list[str]:
    """Return what looks wrong about columns."""
    return [
        f"column {name!r} looks like a count: if each line stands for that many "
        f"respondents, ingest with count={name!r}"
        for name in settings.variables
        if name.strip().casefold() in _COUNT_NAMES and settings.count is None
    ] + [
        f"column {asked!r} was found as {found!r} in {relation.described}"
        for asked, found in settings.found_as.items()
    ]
