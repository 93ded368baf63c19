"""New rows for a model of a survey to answer, read as the survey's own rows were.

Each row keeps its number and some columns; its cells get the codes that the survey has for
them. Nothing is stored.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

from cegdb.errors import SqlStepError, SurveyError, listed
from cegdb.ingest.coding.cell_codes import count_query, sets_in_memory
from cegdb.ingest.coding.counts_and_weights import COUNT, WEIGHT, refuse_bad_numbers
from cegdb.ingest.coding.level_tables import create_level_codes
from cegdb.ingest.coding.new_row_codes import ABSENT, close_gates, codes_of_texts
from cegdb.ingest.files.cell_labels import label_of
from cegdb.ingest.files.relation import (
    find_columns,
    match_columns,
    number_text,
    refuse_duplicates,
)
from cegdb.ingest.files.sources import load_chunks, open_source, read_error
from cegdb.ingest.settings import check_settings
from cegdb.ingest.survey_version import options_again
from cegdb.names import folded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import duckdb
    import pandas as pd

    from cegdb.ingest.coding.variables import VariableVersion
    from cegdb.ingest.files.relation import Relation
    from cegdb.ingest.files.sources import Source
    from cegdb.ingest.survey_version import SurveyVersion
    from cegdb.options import ReadOptions
    from cegdb.sqlfiles import Steps

_KEPT: Final = "cegdb_kept"
_MOST_TEXTS: Final = 255


@dataclass(frozen=True)
class RowColumns:
    """Columns of a source to read: variables in the order of their cells, others to keep."""

    variables: Sequence[str]
    keep: Sequence[str] = ()
    count: str | None = None
    weight: str | None = None


@dataclass(frozen=True)
class RowsRead:
    """What a source has: number of rows, columns kept, variables it lacks, unknown texts.

    The columns kept are ``k1``, ``k2``, ... of ``temp.source_row``; ``unknown`` has the texts
    that the survey does not know, by variable and code.
    """

    n: int
    kept: list[str]
    lacking: list[str]
    unknown: dict[str, dict[int, str]]


@contextmanager
def open_new_rows(
    con: duckdb.DuckDBPyConnection,
    source: Source,
    wanted: RowColumns,
    reading: ReadOptions | None,
    *,
    rewrite: bool,
) -> Iterator[Relation]:
    """Give the relation of a source; of a DataFrame only the columns wanted are coded.

    The columns to keep stay as they are, so that numbers and times keep their type.
    """
    if type(source).__module__.split(".", 1)[0] != "pandas" or not hasattr(source, "columns"):
        with open_source(con, source, reading, rewrite=rewrite) as relation:
            yield relation
        return
    frame = cast("pd.DataFrame", source)
    names = [_name(name) for name in frame.columns]
    others = [name for name in (wanted.count, wanted.weight) if name is not None]
    to_read = {folded(name) for name in (*wanted.variables, *others)}
    indices = [i for i, name in enumerate(names) if folded(name) in to_read]
    if not indices:
        raise _none_found(names, wanted.variables, "the DataFrame")
    keep = find_columns(names, wanted.keep, "the DataFrame")
    kept = _kept_columns(frame, names, keep)
    with open_source(con, frame.iloc[:, indices], reading, rewrite=rewrite) as relation:
        con.register(_KEPT, kept)
        try:
            yield replace(
                relation,
                columns=[*relation.columns, *(f"{_KEPT}.{name}" for name in keep)],
                cells=[*relation.cells, *kept.columns[1:]],
                typed_cells=[*relation.cells, *kept.columns[1:]],
                from_clause=f"{relation.from_clause} positional join {_KEPT}",
            )
        finally:
            con.unregister(_KEPT)


def _kept_columns(
    frame: pd.DataFrame, names: Sequence[str], keep: Sequence[str]
) -> pd.DataFrame:
    """Return columns to keep as numbers and times where they are, else as texts."""
    import numpy as np
    import pandas as pd

    columns: dict[str, Any] = {"g": np.zeros(len(frame), np.int8)}
    for i, name in enumerate(keep):
        series = frame.iloc[:, names.index(name)]
        if getattr(series.dtype, "kind", "O") in "biufM":
            columns[f"g{i}"] = series.array
        else:
            texts = [label_of(value) for value in series]
            columns[f"g{i}"] = pd.array(texts, dtype="string")
    return pd.DataFrame(columns)


def _name(name: object) -> str:
    try:
        return label_of(name) or ""
    except SurveyError:
        return ""


def _none_found(names: Sequence[str], variables: Sequence[str], where: str) -> SurveyError:
    return SurveyError(
        f"{where} has none of these variables: it has {listed(map(repr, names))}",
        hint=f"the variables are {listed(map(repr, variables))}",
    )


def read_rows(
    steps: Steps,
    con: duckdb.DuckDBPyConnection,
    relation: Relation,
    survey: SurveyVersion,
    wanted: RowColumns,
) -> RowsRead:
    """Make ``source_row`` and ``row_combination`` of a source's rows.

    ``codes`` of a combination has one code a variable wanted: those of the survey's levels,
    0 where the column is lacking, larger ones for texts that the survey does not know.
    """
    column_of, columns = _matched(relation, survey, wanted)
    keep = _kept_of(relation, wanted)
    others = {
        text: find_columns(relation.columns, [name], relation.title)[0]
        for text, name in (("count_text", wanted.count), ("weight_text", wanted.weight))
        if name is not None
    }
    new_name = {file_name: name for name, file_name in column_of.items()}
    renamed = replace(
        relation,
        columns=[new_name.get(name, f"\0{i}") for i, name in enumerate(relation.columns)],
        metadata={
            new_name[key]: metadata
            for key, metadata in relation.metadata.items()
            if key in new_name
        },
        source_column=None,
    )
    options = replace(
        options_again(survey, columns, None), count=None, weight=None, cluster=None
    )
    settings = check_settings(renamed, options)
    load_chunks(con, relation, [*column_of.values(), *keep, *others.values()])
    try:
        answers = [column_of[name] for name in columns]
        _read_texts(steps, relation, answers, keep, others, settings.decimal)
    except SqlStepError as error:
        raise read_error(con, relation, error) from None
    texts = _texts(steps, len(columns))
    codes = [
        codes_of_texts(settings.variables[name], survey.variables[name], texts.get(i, []))
        for i, name in enumerate(columns, 1)
    ]
    refuse_bad_numbers(steps, wanted.count, wanted.weight)
    n = _code_rows(steps, columns, codes, survey, wanted, len(keep))
    if rules := survey.settings.get("gates"):
        close_gates(steps, con, rules, columns, survey, relation)
    _order_codes(steps, columns, wanted.variables)
    unknown = {
        name: {code: text for text, code in code_of.items() if code > n_levels}
        for name, (code_of, n_levels) in zip(columns, codes, strict=True)
    }
    return RowsRead(
        n,
        [name.removeprefix(f"{_KEPT}.") for name in keep],
        [name for name in wanted.variables if name not in column_of],
        {name: texts_of for name, texts_of in unknown.items() if texts_of},
    )


def _matched(
    relation: Relation, survey: SurveyVersion, wanted: RowColumns
) -> tuple[dict[str, str], list[str]]:
    """Return the column of each variable that the source has, and the variables to read.

    With gates all are read, since they decide whether one of those wanted applies.
    """
    names = [name for name in relation.columns if not name.startswith(f"{_KEPT}.")]
    others = (wanted.count, wanted.weight)
    source = replace(relation, columns=[name for name in names if name not in others])
    column_of = match_columns(survey.variables, source)
    if not set(column_of) & set(wanted.variables):
        raise _none_found(names, wanted.variables, relation.title)
    refuse_duplicates(column_of.values(), names, relation.title)
    gated = bool(survey.settings.get("gates"))
    columns = [
        n for n in survey.variables if n in column_of and (gated or n in wanted.variables)
    ]
    return column_of, columns


def _kept_of(relation: Relation, wanted: RowColumns) -> list[str]:
    of_frame = [name for name in relation.columns if name.startswith(f"{_KEPT}.")]
    keep = of_frame or find_columns(relation.columns, wanted.keep, relation.title)
    repeated = [
        name for name in keep if relation.columns.count(name) > 1 or keep.count(name) > 1
    ]
    if repeated:
        raise SurveyError(
            f"{relation.title} has, or keep lists, {repeated[0]!r} more than once"
        )
    return keep


def _read_texts(
    steps: Steps,
    relation: Relation,
    answers: Sequence[str],
    keep: Sequence[str],
    others: Mapping[str, str],
    decimal: str,
) -> None:
    """Make ``source_text``: the rows in their order, cells as texts."""
    cell = dict(zip(relation.columns, relation.cells, strict=True))
    as_is = dict(zip(relation.columns, relation.typed_cells or relation.cells, strict=True))
    taken = [f"{cell[name]} as t{i}" for i, name in enumerate(answers, 1)]
    taken += [f"{as_is[name]} as k{i}" for i, name in enumerate(keep, 1)]
    taken += [f"{number_text(cell[name], decimal)} as {text}" for text, name in others.items()]
    query = (
        "select row_number() over () as row_number, "  # noqa: S608
        f"{', '.join(taken)} from {relation.from_clause}"
    )
    steps.create("source_text", query, relation.params_of(query))


def _texts(steps: Steps, n_columns: int) -> dict[int, list[str]]:
    """Return the texts of each column, by its number from 1."""
    cells = {i: f"t{i}" for i in range(1, n_columns + 1)}
    query = count_query(cells, "temp.source_text", "1", most_sets=sets_in_memory(steps))
    texts: dict[int, list[str]] = {}
    for ordinal, text, _ in steps.rows(f"select * from ({query}) order by ordinal, cell"):  # noqa: S608
        if text is not None:
            texts.setdefault(ordinal, []).append(text)
    return texts


def _code_rows(
    steps: Steps,
    columns: Sequence[str],
    codes: Sequence[tuple[dict[str, int], int]],
    survey: SurveyVersion,
    wanted: RowColumns,
    n_kept: int,
) -> int:
    """Make ``coded_row`` and, of its distinct cells, ``row_combination``."""
    cells, joins = [], []
    params: dict[str, list[str]] = {}
    many: list[tuple[int, dict[str, int]]] = []
    for i, (name, (code_of_text, _)) in enumerate(zip(columns, codes, strict=True), 1):
        blank = _code_of_kind(survey.variables[name], "blank")
        if len(code_of_text) > _MOST_TEXTS:
            many.append((i, code_of_text))
            joins.append(
                f"left join temp.level_code as l{i} "
                f"on l{i}.ordinal = {i} and l{i}.cell = r.t{i}"
            )
            cells.append(f"coalesce(l{i}.code, {blank})")
        elif code_of_text:
            params[f"texts{i}"] = list(code_of_text)
            index = f"list_position(cast($texts{i} as varchar[]), r.t{i})"
            cells.append(f"coalesce({list(code_of_text.values())}[{index}], {blank})")
        else:
            cells.append(str(blank))
    if many:
        create_level_codes(steps, many)
    kept = [f"r.k{i}" for i in range(1, n_kept + 1)]
    n = f"cast({COUNT} as bigint)" if wanted.count else "cast(1 as bigint)"
    weight = WEIGHT if wanted.weight else "cast(null as double)"
    taken = ["r.row_number", *kept, f"{n} as n", f"{weight} as weight"]
    rows = steps.create(
        "coded_row",
        f"select {', '.join(taken)}, cast([{', '.join(cells)}] as integer[]) as cells "  # noqa: S608
        f"from temp.source_text as r {' '.join(joins)}",
        dict(params),
    )
    steps.drop(["source_text"])
    if many:
        steps.drop(["level_code"])
    steps.run("row_combination")
    steps.run("source_row")
    steps.drop(["coded_row"])
    return rows


def _code_of_kind(version: VariableVersion, kind: str) -> int:
    return next(i for i, (other, *_) in enumerate(version.levels, 1) if other == kind)


def _order_codes(steps: Steps, columns: Sequence[str], variables: Sequence[str]) -> None:
    """Put the codes in the order wanted, `ABSENT` for a variable that the source lacks."""
    codes = ", ".join(
        f"codes[{columns.index(name) + 1}]" if name in columns else str(ABSENT)
        for name in variables
    )
    steps.create(
        "ordered_combination",
        f"select combination_id, cast([{codes}] as integer[]) as codes "  # noqa: S608
        "from temp.row_combination",
    )
    steps.create(
        "row_combination", "select * from temp.ordered_combination order by combination_id"
    )
    steps.drop(["ordered_combination"])
