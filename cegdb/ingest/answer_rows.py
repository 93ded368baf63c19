"""Rows to be answered by a model of a survey: read as the survey's own rows were.

Each row keeps its number and the columns asked for; its cells become the codes that the
survey has for them. A code says what the text meant at ingest: the survey's codes come
first, then its labels, then what was said of codes that no row had. Nothing is stored.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

from cegdb.errors import SqlStepError, SurveyError, listed
from cegdb.ingest.coding.answer_codes import ABSENT, close_gates, meanings
from cegdb.ingest.coding.cell_codes import counting, sets_in_memory
from cegdb.ingest.coding.count_column import WHOLE
from cegdb.ingest.coding.weight_column import REFUSED, WEIGHT
from cegdb.ingest.files.cell_labels import label_of, shown
from cegdb.ingest.files.relation import find_columns
from cegdb.ingest.files.sources import load_chunks, opened, unreadable
from cegdb.ingest.settings import settled
from cegdb.ingest.waves import fitting, options_again

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import duckdb
    import pandas as pd

    from cegdb.ingest.coding.variables import Former
    from cegdb.ingest.files.relation import Relation
    from cegdb.ingest.files.sources import Source
    from cegdb.ingest.waves import Before
    from cegdb.options import ReadOptions
    from cegdb.sqlfiles import Steps

_KEPT: Final = "cegdb_kept"
_MOST_TEXTS: Final = 255


@dataclass(frozen=True)
class Wanted:
    """What is wanted of a source, beside its answers.

    Parameters
    ----------
    variables
        Names of variables of the survey, in the order their cells are to be in.
    keep
        Columns to keep beside them.
    count, weight
        Columns that say how many respondents, and what weight, a row stands for.
    """

    variables: Sequence[str]
    keep: Sequence[str] = ()
    count: str | None = None
    weight: str | None = None


@dataclass(frozen=True)
class Answered:
    """What was found in a source.

    Parameters
    ----------
    n
        How many rows.
    kept
        Names of the columns kept, which are ``k1``, ``k2``, ... of ``temp.given_row``.
    lacking
        Variables of which it has no column.
    unknown
        Variable -> code -> text, of texts that the survey does not know.
    """

    n: int
    kept: list[str]
    lacking: list[str]
    unknown: dict[str, dict[int, str]]


@contextmanager
def source_of_rows(
    con: duckdb.DuckDBPyConnection,
    source: Source,
    wanted: Wanted,
    reading: ReadOptions | None,
    *,
    rewrite: bool,
) -> Iterator[Relation]:
    """Give the relation of a source; of a DataFrame only the columns wanted are coded."""
    if type(source).__module__.split(".", 1)[0] != "pandas" or not hasattr(source, "columns"):
        with opened(con, source, reading, rewrite=rewrite) as relation:
            yield relation
        return
    frame = cast("pd.DataFrame", source)
    names = [_name(name) for name in frame.columns]
    others = [name for name in (wanted.count, wanted.weight) if name is not None]
    read = {_folded(name) for name in (*wanted.variables, *others)}
    places = [i for i, name in enumerate(names) if _folded(name) in read]
    if not places:
        raise _none_found(names, wanted.variables, "the DataFrame")
    keep = find_columns(names, wanted.keep, "the DataFrame")
    kept = _kept_columns(frame, names, keep)
    with opened(con, frame.iloc[:, places], reading, rewrite=rewrite) as relation:
        con.register(_KEPT, kept)
        try:
            yield replace(
                relation,
                columns=[*relation.columns, *(f"{_KEPT}.{name}" for name in keep)],
                cells=[*relation.cells, *kept.columns[1:]],
                typed=[*relation.cells, *kept.columns[1:]],
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


def _folded(name: str) -> str:
    return name.strip().casefold()


def _none_found(names: Sequence[str], variables: Sequence[str], where: str) -> SurveyError:
    return SurveyError(
        f"{where} has none of the variables asked: it has {listed(map(repr, names))}",
        hint=f"the variables are {listed(map(repr, variables))}",
    )


def read_rows(
    steps: Steps,
    con: duckdb.DuckDBPyConnection,
    relation: Relation,
    before: Before,
    wanted: Wanted,
) -> Answered:
    """Make ``given_row`` and ``given_combination`` of a source's rows.

    Parameters
    ----------
    steps, con
        Run the SQL.
    relation
        The source, as `source_of_rows` gives it.
    before
        The survey whose codebook, levels and gates hold.
    wanted
        What to read.

    Returns
    -------
    Answered
        ``given_row`` has ``row_number``, ``k1`` ... of the columns kept, ``n``, ``weight``
        (NULL if none was asked for) and ``combination_id``; ``given_combination`` has
        ``combination_id`` and ``codes``, one a variable wanted: those of the survey's
        levels, 0 where the column is lacking, larger ones for texts that it does not know.

    Raises
    ------
    SurveyError
        No column is a variable, a column to keep is not there, a count or weight is none.
    """
    found, columns = _matched(relation, before, wanted)
    keep = _kept_of(relation, wanted)
    others = {
        what: find_columns(relation.columns, [name], relation.shown)[0]
        for what, name in (("written", wanted.count), ("weighed", wanted.weight))
        if name is not None
    }
    called = {file_name: name for name, file_name in found.items()}
    renamed = replace(
        relation,
        columns=[called.get(name, f"\0{i}") for i, name in enumerate(relation.columns)],
        known={called[key]: known for key, known in relation.known.items() if key in called},
        source_column=None,
    )
    options, book = options_again(before, columns, None)
    unweighted = replace(options, count=None, weight=None, cluster=None)
    settings = settled(renamed, unweighted, book)
    load_chunks(con, relation, [*found.values(), *keep, *others.values()])
    try:
        answers = [found[name] for name in columns]
        _read_texts(steps, relation, answers, keep, others, settings.decimal)
    except SqlStepError as error:
        raise unreadable(con, relation, error) from None
    texts = _texts(steps, len(columns))
    read = [
        meanings(settings.variables[name], before.variables[name], texts.get(i, []))
        for i, name in enumerate(columns, 1)
    ]
    _refuse_counts(steps, wanted)
    n = _code_rows(steps, columns, read, before, wanted, len(keep))
    if rules := before.settings.get("gates"):
        close_gates(steps, con, rules, columns, before, relation)
    _in_order(steps, columns, wanted.variables)
    unknown = {
        name: {code: text for text, code in codes.items() if code > n_levels}
        for name, (codes, n_levels) in zip(columns, read, strict=True)
    }
    return Answered(
        n,
        [name.removeprefix(f"{_KEPT}.") for name in keep],
        [name for name in wanted.variables if name not in found],
        {name: of for name, of in unknown.items() if of},
    )


def _matched(
    relation: Relation, before: Before, wanted: Wanted
) -> tuple[dict[str, str], list[str]]:
    """Return the column of each variable that the source has, and the variables to read.

    Beside those wanted, variables are read that decide whether one of these was asked.
    """
    names = [name for name in relation.columns if not name.startswith(f"{_KEPT}.")]
    others = (wanted.count, wanted.weight)
    source = replace(relation, columns=[name for name in names if name not in others])
    found = {name: name for name in before.variables if name in source.columns}
    for name in before.variables:
        fits = None if name in found else fitting(name, source, taken=found)
        if fits is not None:
            found[name] = fits
    if not set(found) & set(wanted.variables):
        raise _none_found(names, wanted.variables, relation.shown)
    twice = [name for name in found.values() if names.count(name) > 1]
    if twice:
        raise SurveyError(f"{relation.shown} has several columns called {twice[0]!r}")
    gated = bool(before.settings.get("gates"))
    columns = [n for n in before.variables if n in found and (gated or n in wanted.variables)]
    return found, columns


def _kept_of(relation: Relation, wanted: Wanted) -> list[str]:
    of_frame = [name for name in relation.columns if name.startswith(f"{_KEPT}.")]
    keep = of_frame or find_columns(relation.columns, wanted.keep, relation.shown)
    twice = [name for name in keep if relation.columns.count(name) > 1 or keep.count(name) > 1]
    if twice:
        raise SurveyError(f"{relation.shown} has, or keep names, {twice[0]!r} more than once")
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
    as_is = dict(zip(relation.columns, relation.typed or relation.cells, strict=True))
    taken = [f"{cell[name]} as t{i}" for i, name in enumerate(answers, 1)]
    taken += [f"{as_is[name]} as k{i}" for i, name in enumerate(keep, 1)]
    for what, name in others.items():
        text = f"trim({cell[name]})"
        if decimal != ".":
            text = f"replace({text}, '{decimal}', '.')"
        taken.append(f"nullif({text}, '') as {what}")
    query = (
        "select row_number() over () as row_number, "  # noqa: S608
        f"{', '.join(taken)} from {relation.from_clause}"
    )
    steps.create("source_text", query, relation.params_of(query))


def _texts(steps: Steps, n_columns: int) -> dict[int, list[str]]:
    """Return the texts of each column, by its place from 1."""
    cells = {i: f"t{i}" for i in range(1, n_columns + 1)}
    query = counting(cells, "temp.source_text", "1", most_sets=sets_in_memory(steps))
    found: dict[int, list[str]] = {}
    for place, text, _ in steps.rows(f"select * from ({query}) order by ordinal, cell"):  # noqa: S608
        if text is not None:
            found.setdefault(place, []).append(text)
    return found


def _refuse_counts(steps: Steps, wanted: Wanted) -> None:
    refused = f"coalesce({WHOLE} < 0, true)"
    for column, what, is_bad, name in (
        ("written", "a count is a whole number, 0 or more", refused, wanted.count),
        ("weighed", "a weight is a number, 0 or more", REFUSED, wanted.weight),
    ):
        if name is None:
            continue
        bad = steps.rows(
            f"select row_number, {column} from temp.source_text "  # noqa: S608
            f"where {is_bad} order by row_number limit 6"
        )
        if bad:
            cells = [
                f"{'a blank' if text is None else shown(text)} in row {i}" for i, text in bad
            ]
            raise SurveyError(f"{name!r} holds {listed(cells)}: {what}")


def _code_rows(
    steps: Steps,
    columns: Sequence[str],
    read: Sequence[tuple[dict[str, int], int]],
    before: Before,
    wanted: Wanted,
    n_kept: int,
) -> int:
    """Make ``coded_row`` and, of its distinct cells, ``given_combination``."""
    cells, joins = [], []
    params: dict[str, list[str]] = {}
    many: list[tuple[int, str, int]] = []
    for i, (name, (codes, _)) in enumerate(zip(columns, read, strict=True), 1):
        blank = _code_of_kind(before.variables[name], "blank")
        if len(codes) > _MOST_TEXTS:
            many += [(i, text, code) for text, code in codes.items()]
            joins.append(
                f"left join temp.text_code as l{i} on l{i}.place = {i} and l{i}.cell = r.t{i}"
            )
            cells.append(f"coalesce(l{i}.code, {blank})")
        elif codes:
            params[f"texts{i}"] = list(codes)
            place = f"list_position(cast($texts{i} as varchar[]), r.t{i})"
            cells.append(f"coalesce({list(codes.values())}[{place}], {blank})")
        else:
            cells.append(str(blank))
    if many:
        places, texts, numbers = (list(part) for part in zip(*many, strict=True))
        steps.create(
            "text_code",
            "select unnest(cast($places as integer[])) as place, "
            "unnest(cast($texts as varchar[])) as cell, "
            "unnest(cast($codes as integer[])) as code",
            {"places": places, "texts": texts, "codes": numbers},
        )
    kept = [f"r.k{i}" for i in range(1, n_kept + 1)]
    n = f"cast({WHOLE} as bigint)" if wanted.count else "cast(1 as bigint)"
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
        steps.drop(["text_code"])
    steps.run("given_combination")
    steps.run("given_row")
    steps.drop(["coded_row"])
    return rows


def _code_of_kind(former: Former, of_kind: str) -> int:
    return next(i for i, (kind, *_) in enumerate(former.levels, 1) if kind == of_kind)


def _in_order(steps: Steps, columns: Sequence[str], variables: Sequence[str]) -> None:
    """Put the codes in the order wanted, 0 for a variable that the source lacks."""
    codes = ", ".join(
        f"codes[{columns.index(name) + 1}]" if name in columns else str(ABSENT)
        for name in variables
    )
    steps.create(
        "ordered_combination",
        f"select combination_id, cast([{codes}] as integer[]) as codes "  # noqa: S608
        "from temp.given_combination",
    )
    steps.create(
        "given_combination", "select * from temp.ordered_combination order by combination_id"
    )
    steps.drop(["ordered_combination"])
