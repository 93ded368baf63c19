"""Cells as small numbers: first the texts of each column are counted, then a cell is a code.

So a source is read twice, but its lines are grouped, kept and spilled as one byte a cell,
where texts take 16 and more. A column of very many texts stays text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cegdb.errors import SqlStepError
from cegdb.ingest.files.sources import SMALL_BYTES, is_small, read_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import duckdb

    from cegdb.ingest.coding.variables import Variable
    from cegdb.ingest.files.relation import Relation
    from cegdb.ingest.settings import Settings
    from cegdb.sqlfiles import Steps

FEW_COLUMNS: Final = 40
_MOST_SETS: Final = 100
# DuckDB's hash table of a grouping set, which is not spilled while its source is read.
_MB_OF_SET: Final = 3
_SOURCE_CHANGED: Final = "it changed while it was read"


@dataclass(frozen=True)
class CodingLimits:
    """Up to which sizes a source is read as texts, in one pass.

    ``small_bytes`` is that of its files, ``few_lines`` the number of its different lines.
    Columns of more than ``most_texts`` different texts stay texts in any source; the limit is
    what a byte can number.
    """

    small_bytes: int = SMALL_BYTES
    few_lines: int = 20_000
    most_texts: int = 255


LIMITS: Final = CodingLimits()


def few_columns_query(cells: Mapping[int, str], source: str, n: str) -> str:
    """Return what `count_query` does, for few columns of few rows: the faster way for these."""
    return " union all ".join(
        f"select {i} as ordinal, {cell} as cell, sum({n}) as n from {source} group by {cell}"  # noqa: S608
        for i, cell in cells.items()
    )


def count_query(
    cells: Mapping[int, str], source: str, n: str, *, most_sets: int = _MOST_SETS
) -> str:
    """Return a SELECT of ``ordinal``, ``cell``, ``n``: how often each column has each cell.

    ``cells`` has the SQL of each column, by ordinal, and ``n`` the SQL of how many a row
    counts. With more than ``most_sets`` columns each cell becomes a row: slower for many
    rows, but each grouping set costs milliseconds and memory, whatever its rows.
    """
    total = "count(*)" if n == "1" else "sum(n)"
    if len(cells) > most_sets:
        ordinals = ", ".join(map(str, cells))
        return (
            f"select ordinal, cell, {total} as n from ("  # noqa: S608
            f"select unnest([{ordinals}]) as ordinal, unnest([{', '.join(cells.values())}]) "
            f"as cell, {n} as n from {source}) group by ordinal, cell"
        )
    taken = ", ".join(f"{cell} as k{i}" for i, cell in cells.items())
    ordinal = " ".join(f"when grouping(k{i}) = 0 then {i}" for i in cells)
    cell = " ".join(f"when grouping(k{i}) = 0 then k{i}" for i in cells)
    return (
        f"select case {ordinal} end as ordinal, case {cell} end as cell, {total} as n "  # noqa: S608
        f"from (select {taken}, {n} as n from {source}) "
        f"group by grouping sets ({', '.join(f'(k{i})' for i in cells)})"
    )


def max_grouping_sets(steps: Steps) -> int:
    """Return how many grouping sets half of the memory holds."""
    ((limit, threads),) = steps.rows(
        "select current_setting('memory_limit'), current_setting('threads')"
    )
    number, unit = limit.split()
    megabytes = float(number) * 1024.0 ** ("KMGTP".find(unit[0]) - 1)
    return min(_MOST_SETS, int(megabytes / 2 / _MB_OF_SET / threads))


def read_lines(
    steps: Steps,
    con: duckdb.DuckDBPyConnection,
    relation: Relation,
    settings: Settings,
    limits: CodingLimits = LIMITS,
) -> bool:
    """Make ``source_line``: the source's lines and how often each occurs.

    Cells are ``c1`` ... : codes of the ``texts`` of their variable, which are set here, or
    text where these are None, as in small sources. ``n_lines`` says how many lines of the
    source are alike. Returns whether no two lines of ``source_line`` are.
    """
    variables = list(settings.variables.values())
    cells = {i: settings.cells[variable.name] for i, variable in enumerate(variables, 1)}
    others = {"count_text": settings.count_text, "weight_text": settings.weight_text}
    if settings.cluster is not None:
        others["cluster"] = settings.cells[settings.cluster]
    source, n = _cells(cells, others, relation.from_clause), "1"
    grouped = "count(*) as n_lines", "group by all"
    cells = {i: f"t{i}" for i in cells}
    few = len(cells) <= FEW_COLUMNS
    try:
        # Keep the lines: a SELECT may give other rows the next time, a stream none.
        if not relation.files or (few and is_small(relation, limits.small_bytes)):
            query = _lines(cells, others, source, *grouped)
            rows = steps.create("source_line", query, relation.params_of(query))
            if few and rows <= limits.few_lines:
                return True
            source, n, grouped = "temp.source_line", "n_lines", ("n_lines", "")
            cells = {i: f"c{i}" for i in cells}
        most_sets = max_grouping_sets(steps)
        if len(cells) > most_sets and relation.files:
            # Rows of cells are made faster from a table than while a file is read.
            query = _lines(cells, others, source, "1 as n_lines", "")
            steps.create("source_text", query, relation.params_of(query))
            source, n, grouped = "temp.source_text", "n_lines", ("n_lines", "")
            cells = {i: f"c{i}" for i in cells}
        counts = count_query(cells, source, n, most_sets=most_sets)
        _find_texts(steps, relation, variables, counts, limits.most_texts)
        texts = {i: variable.texts for i, variable in enumerate(variables, 1)}
        codes = {i: _code_of(i, cell, texts[i]) for i, cell in cells.items()}
        query = _lines(codes, others, source, *grouped)
        text_lists = {f"texts{i}": each for i, each in texts.items() if each is not None}
        steps.create("source_line", query, {**relation.params_of(query), **text_lists})
    except SqlStepError as error:
        raise read_error(con, relation, error) from None
    if steps.has("source_text"):
        steps.drop(["source_text"])
        return False
    return True


def _cells(cells: Mapping[int, str], others: Mapping[str, str], source: str) -> str:
    """Return a relation of the cells as text; grouping by as many expressions is slow."""
    taken = [f"{cell} as t{i}" for i, cell in cells.items()]
    taken += [f"{cell} as {name}" for name, cell in others.items()]
    return f"(select {', '.join(taken)} from {source})"  # noqa: S608


def _lines(
    cells: Mapping[int, str], others: Iterable[str], source: str, n: str, grouping: str
) -> str:
    columns = ", ".join(f"{cell} as c{i}" for i, cell in cells.items())
    return f"select {columns}, {', '.join(others)}, {n} from {source} {grouping}"  # noqa: S608


def index_of_text(i: int, cell: str) -> str:
    """Return the SQL of a cell's index, from 1, in the parameter ``texts<i>``."""
    return f"list_position(cast($texts{i} as varchar[]), {cell})"


def _code_of(i: int, cell: str, texts: Sequence[str] | None) -> str:
    if texts is None:
        return cell
    return (
        f"cast(coalesce({index_of_text(i, cell)}, "
        f"if({cell} is null, null, error('{_SOURCE_CHANGED}'))) as utinyint)"
    )


def _find_texts(
    steps: Steps,
    relation: Relation,
    variables: Sequence[Variable],
    counts: str,
    most_texts: int,
) -> None:
    """Set the texts of each variable, the most frequent first, if they are few enough."""
    query = (
        f"select ordinal, cell, n from ({counts}) "  # noqa: S608
        f"qualify count(cell) over (partition by ordinal) <= {most_texts} "
        "order by ordinal, n desc, cell"
    )
    rows = steps.rows(query, relation.params_of(query))
    if not relation.progress.rows and rows:
        relation.progress.read(int(sum(n for ordinal, _, n in rows if ordinal == rows[0][0])))
    for ordinal, text, _ in rows:
        variable = variables[ordinal - 1]
        variable.texts = variable.texts or []
        if text is not None:
            variable.texts.append(text)
