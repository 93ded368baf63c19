"""New rows for a model of a survey to answer, read as the survey's own rows were.

Each row keeps its number and some columns; its cells get the codes that the survey has for
them. Nothing is stored.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

from cegdb.errors import SqlStepError, SurveyError, listed
from cegdb.ingest.coding.cell_codes import LIMITS, count_query, index_of_text, max_grouping_sets
from cegdb.ingest.coding.counts_and_weights import parse_new_rows
from cegdb.ingest.coding.level_tables import create_level_codes, join_level_codes
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
from cegdb.ingest.survey_version import stored_options
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

_KEEP: Final = "cegdb_keep"


@dataclass(frozen=True)
class RowColumns:
    """Columns of a source to read: variables, in the order of their cells, and others."""

    variables: Sequence[str]
    keep: Sequence[str] = ()
    count: str | None = None
    weight: str | None = None


@dataclass(frozen=True)
class RowsRead:
    """What was read of a source into ``temp.given_row``.

    Attributes
    ----------
    n
        Number of rows.
    keep
        Names of the columns kept as they are: ``k1``, ``k2``, ... of the table.
    absent
        Variables for which the source has no column.
    unknown
        Texts that the survey does not know, by variable and code.
    """

    n: int
    keep: list[str]
    absent: list[str]
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
    names = [_column_name(name) for name in frame.columns]
    others = [name for name in (wanted.count, wanted.weight) if name is not None]
    to_read = {folded(name) for name in (*wanted.variables, *others)}
    indices = [i for i, name in enumerate(names) if folded(name) in to_read]
    if not indices:
        raise _no_variable_error(names, wanted.variables, "the DataFrame")
    keep = find_columns(names, wanted.keep, "the DataFrame", word="column")
    columns_to_keep = _columns_as_they_are(frame, names, keep)
    with open_source(con, frame.iloc[:, indices], reading, rewrite=rewrite) as relation:
        con.register(_KEEP, columns_to_keep)
        try:
            yield replace(
                relation,
                columns=[*relation.columns, *(f"{_KEEP}.{name}" for name in keep)],
                cells=[*relation.cells, *columns_to_keep.columns[1:]],
                typed_cells=[*relation.cells, *columns_to_keep.columns[1:]],
                from_clause=f"{relation.from_clause} positional join {_KEEP}",
            )
        finally:
            con.unregister(_KEEP)


def _columns_as_they_are(
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


def _column_name(name: object) -> str:
    try:
        return label_of(name) or ""
    except SurveyError:
        return ""


def _no_variable_error(
    names: Sequence[str], variables: Sequence[str], where: str
) -> SurveyError:
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
    0 where there is no column, larger ones for texts that the survey does not know.
    """
    column_of, columns = _match_variables(relation, survey, wanted)
    keep = _columns_to_keep(relation, wanted)
    numbers = {
        text: None
        if name is None
        else find_columns(relation.columns, [name], relation.title, word="column")[0]
        for text, name in (("count_text", wanted.count), ("weight_text", wanted.weight))
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
        stored_options(survey, columns, None), count=None, weight=None, cluster=None
    )
    settings = check_settings(renamed, options)
    load_chunks(con, relation, [*column_of.values(), *keep, *filter(None, numbers.values())])
    try:
        answers = [column_of[name] for name in columns]
        _read_texts(steps, relation, answers, keep, numbers, settings.decimal)
    except SqlStepError as error:
        raise read_error(con, relation, error) from None
    texts = _texts(steps, len(columns))
    codes = [
        codes_of_texts(settings.variables[name], survey.variables[name], texts.get(i, []))
        for i, name in enumerate(columns, 1)
    ]
    parse_new_rows(steps, wanted.count, wanted.weight)
    n = _code_rows(steps, columns, codes, survey, len(keep))
    if rules := survey.settings.get("gates"):
        close_gates(steps, con, rules, columns, survey, relation)
    _order_codes(steps, columns, wanted.variables)
    unknown = {
        name: {code: text for text, code in code_of.items() if code > n_levels}
        for name, (code_of, n_levels) in zip(columns, codes, strict=True)
    }
    return RowsRead(
        n,
        [name.removeprefix(f"{_KEEP}.") for name in keep],
        [name for name in wanted.variables if name not in column_of],
        {name: texts_of for name, texts_of in unknown.items() if texts_of},
    )


def _match_variables(
    relation: Relation, survey: SurveyVersion, wanted: RowColumns
) -> tuple[dict[str, str], list[str]]:
    """Return the column of each variable that the source has, and the variables to read.

    With gates all are read, since they decide whether one of those wanted applies.
    """
    names = [name for name in relation.columns if not name.startswith(f"{_KEEP}.")]
    others = (wanted.count, wanted.weight)
    source = replace(relation, columns=[name for name in names if name not in others])
    column_of = match_columns(survey.variables, source)
    if not set(column_of) & set(wanted.variables):
        raise _no_variable_error(names, wanted.variables, relation.title)
    refuse_duplicates(column_of.values(), names, relation.title)
    gated = bool(survey.settings.get("gates"))
    columns = [
        n for n in survey.variables if n in column_of and (gated or n in wanted.variables)
    ]
    return column_of, columns


def _columns_to_keep(relation: Relation, wanted: RowColumns) -> list[str]:
    of_frame = [name for name in relation.columns if name.startswith(f"{_KEEP}.")]
    keep = of_frame or find_columns(
        relation.columns, wanted.keep, relation.title, word="column"
    )
    repeated = [
        name for name in keep if relation.columns.count(name) > 1 or keep.count(name) > 1
    ]
    if repeated:
        what = f"{relation.title} has several columns called"
        if relation.columns.count(repeated[0]) == 1:
            what = "keep lists more than once"
        raise SurveyError(f"{what} {repeated[0]!r}")
    return keep


def _read_texts(
    steps: Steps,
    relation: Relation,
    answers: Sequence[str],
    keep: Sequence[str],
    numbers: Mapping[str, str | None],
    decimal: str,
) -> None:
    """Make ``source_text``: the rows in their order, cells, counts and weights as texts."""
    cell = dict(zip(relation.columns, relation.cells, strict=True))
    as_is = dict(zip(relation.columns, relation.typed_cells or relation.cells, strict=True))
    selected = [f"{cell[name]} as t{i}" for i, name in enumerate(answers, 1)]
    selected += [f"{as_is[name]} as k{i}" for i, name in enumerate(keep, 1)]
    for text, name in numbers.items():
        value = "cast(null as varchar)" if name is None else number_text(cell[name], decimal)
        selected.append(f"{value} as {text}")
    query = (
        "select row_number() over () as row_number, "  # noqa: S608
        f"{', '.join(selected)} from {relation.from_clause}"
    )
    steps.create("source_text", query, relation.params_of(query))


def _texts(steps: Steps, n_columns: int) -> dict[int, list[str]]:
    """Return the texts of each column, by its number from 1."""
    cells = {i: f"t{i}" for i in range(1, n_columns + 1)}
    query = count_query(cells, "temp.source_text", "1", most_sets=max_grouping_sets(steps))
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
    n_keep: int,
) -> int:
    """Make ``coded_row`` and, of its distinct cells, ``row_combination``."""
    cells, joins = [], []
    params: dict[str, list[str]] = {}
    many: list[tuple[int, dict[str, int]]] = []
    for i, (name, (code_of_text, _)) in enumerate(zip(columns, codes, strict=True), 1):
        blank = _code_of_kind(survey.variables[name], "blank")
        if len(code_of_text) > LIMITS.most_texts:
            many.append((i, code_of_text))
            joins.append(join_level_codes(i, f"r.t{i}"))
            cells.append(f"coalesce(l{i}.code, {blank})")
        elif code_of_text:
            params[f"texts{i}"] = list(code_of_text)
            index = index_of_text(i, f"r.t{i}")
            cells.append(f"coalesce({list(code_of_text.values())}[{index}], {blank})")
        else:
            cells.append(str(blank))
    if many:
        create_level_codes(steps, many)
    columns_to_keep = "".join(f", r.k{i}" for i in range(1, n_keep + 1))
    rows = steps.create(
        "coded_row",
        f"select r.row_number{columns_to_keep}, cast(r.n_respondents as bigint) as n, "  # noqa: S608
        f"r.weight_size as weight, cast([{', '.join(cells)}] as integer[]) as cells "
        f"from temp.parsed_row as r {' '.join(joins)}",
        dict(params),
    )
    steps.drop(["parsed_row", "source_text"])
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
