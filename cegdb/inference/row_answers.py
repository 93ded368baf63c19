"""Rows of a file or table in a CEG: the vertices they reach, and what completes them."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, get_args

import numpy as np

from cegdb.errors import QueryError, counted, items_of, listed
from cegdb.inference.row_passes import BLOCK_SIZES, run_passes
from cegdb.inference.row_tables import ModelOrigin, make_tables, origin_of
from cegdb.inference.unseen_histories import read_unseen_histories
from cegdb.ingest.csv.csv_file import retry_rewritten
from cegdb.ingest.files.sources import query_progress
from cegdb.ingest.new_rows import RowColumns, open_new_rows, read_rows
from cegdb.names import first_repeated, only_match
from cegdb.options import BlankCells, RowOptions, check_choice
from cegdb.sqlfiles import Steps
from cegdb.store import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import duckdb

    from cegdb.inference.queries import ConditionedModel
    from cegdb.inference.row_tables import ModelKey, Passes
    from cegdb.inference.unseen_histories import UnseenHistories
    from cegdb.ingest.files.sources import Source
    from cegdb.ingest.new_rows import RowsRead
    from cegdb.options import ReadOptions
    from cegdb.store import Store

_ROW_COLUMNS = (
    "n_answered", "log_likelihood", "last_situation", "last_position", "completion",
    "completion_probability", "unseen",
)  # fmt: skip
_PATH_COLUMNS = (
    "depth", "variable", "label", "situation", "stage", "position", "vertex_id", "stage_id",
    "position_id",
)  # fmt: skip
_LABEL_COLUMNS = ("variable", "label", "probability")


@dataclass(frozen=True)
class RowSource:
    """A source of rows, and how to read it.

    ``count`` and ``weight`` are columns with the respondents and the weight of a row. A blank
    cell means what it means in the tree (``blank="tree"``) or nothing (``"unknown"``).
    """

    source: Source
    keep: Sequence[str] = ()
    count: str | None = None
    weight: str | None = None
    blank: str = RowOptions.blank
    reading: ReadOptions | None = None
    block_sizes: tuple[int, int] = BLOCK_SIZES


@dataclass(frozen=True)
class RowTables:
    """The results as queries, valid while the rows are open.

    ``tables`` maps a name to its SELECT, without order; ``order`` to the columns to sort by.
    """

    con: duckdb.DuckDBPyConnection
    tables: dict[str, str]
    order: dict[str, str]
    summary: str


@dataclass(frozen=True)
class OpenRows:
    """The rows of a source, read and coded, ready for message passing.

    ``unseen`` says how to go on after histories that the tree lacks, if its stages do.
    """

    store: Store
    steps: Steps
    con: duckdb.DuckDBPyConnection
    origin: ModelOrigin
    rows_read: RowsRead
    passes: Passes
    n_combinations: int
    source: RowSource
    unseen: UnseenHistories | None

    def run(
        self, n: int, *, best: bool = False, labels: bool = False, vertices: bool = False
    ) -> None:
        """Answer the first n combinations: see `cegdb.inference.row_passes.run_passes`."""
        passes = self.passes
        if self.unseen is not None:
            extended = self.unseen.extended(self.steps, n)
            unknown, blank = self.rows_read.unknown, self.source.blank
            passes = make_tables(self.steps, extended, self.origin, unknown, blank=blank)
        with self.store.counting(n, "combination") as progress:
            run_passes(
                self.steps,
                passes,
                self.origin,
                n,
                progress,
                best=best,
                labels=labels,
                vertices=vertices,
                block_sizes=self.source.block_sizes,
            )


@contextmanager
def open_rows(
    store: Store, model: ConditionedModel, key: ModelKey, source: RowSource
) -> Iterator[OpenRows]:
    """Read the rows of a source like those of the CEG's survey; forget them at the end."""
    check_choice("blank", source.blank, get_args(BlankCells), QueryError)
    hint = "give a list of column names"
    keep = [str(name) for name in items_of(source.keep, "keep", QueryError, hint=hint)]
    clashes = [
        name
        for name in keep
        if name in ("row_number", *_ROW_COLUMNS, *_PATH_COLUMNS, *_LABEL_COLUMNS)
    ]
    if clashes:
        raise QueryError(
            f"keep names {clashes[0]!r}, which is also a column of the result",
            hint="rename the column in the source",
        )
    with store.reading() as con, Steps(con) as steps:
        try:
            with store.catalog() as catalog:
                origin = origin_of(catalog, steps, key)
                unseen = read_unseen_histories(store, catalog, steps, origin, model)
            columns = RowColumns(origin.order, keep, source.count, source.weight)
            rows_read = retry_rewritten(
                partial(_read, store, con, steps, origin, source, columns)
            )
            passes = make_tables(steps, model, origin, rows_read.unknown, blank=source.blank)
            ((n,),) = steps.rows("select count(*) from temp.row_combination")
            yield OpenRows(store, steps, con, origin, rows_read, passes, int(n), source, unseen)
        except BaseException:
            steps.drop_all()
            raise


def _read(
    store: Store,
    con: duckdb.DuckDBPyConnection,
    steps: Steps,
    origin: ModelOrigin,
    source: RowSource,
    columns: RowColumns,
    *,
    rewrite: bool,
) -> RowsRead:
    with (
        open_new_rows(con, source.source, columns, source.reading, rewrite=rewrite) as relation,
        query_progress(con, relation),
    ):
        store.progress = relation.progress
        return read_rows(steps, con, relation, origin.survey, columns)


@contextmanager
def assign_rows(
    store: Store, model: ConditionedModel, key: ModelKey, source: RowSource
) -> Iterator[RowTables]:
    """Find the situation, stage and position of each row of a source at each depth.

    Tables ``rows`` and ``paths``: see `cegdb.ChainEventGraph.assign`.
    """
    with open_rows(store, model, key, source) as rows:
        origin = rows.origin
        if origin.is_conditioned:
            raise QueryError(
                f"rows cannot be assigned to {model.ceg.title}: it is conditioned on evidence, "
                "but stages are defined without it",
                hint="assign rows to the CEG it comes from; complete and score work here",
            )
        rows.run(rows.n_combinations, best=True, vertices=True)
        _make_answers(rows)
        # Without a CEG there are no positions.
        answers: Sequence[str] = _ROW_COLUMNS
        path: Sequence[str] = _PATH_COLUMNS
        if origin.ceg_id is None:
            answers = [name for name in _ROW_COLUMNS if name != "last_position"]
            path = [name for name in _PATH_COLUMNS if not name.startswith("position")]
        yield RowTables(
            rows.con,
            {
                "rows": _rows_query(rows.rows_read, "combination_answer", answers),
                "paths": _rows_query(rows.rows_read, "combination_vertex", path),
            },
            {"rows": "row_number", "paths": "row_number, depth"},
            _summary(rows),
        )


@contextmanager
def complete_rows(
    store: Store, model: ConditionedModel, key: ModelKey, source: RowSource, variables: object
) -> Iterator[RowTables]:
    """Find the distribution of the variables that each row of a source leaves open.

    Tables ``rows`` and ``labels``: see `cegdb.ChainEventGraph.complete`.
    """
    with open_rows(store, model, key, source) as rows:
        steps, origin = rows.steps, rows.origin
        ranks = [*range(len(origin.order))]
        if variables is not None:
            ranks = ranks_of(origin, variables)
        request_labels(steps, ranks)
        rows.run(rows.n_combinations, best=True, labels=True)
        _make_answers(rows)
        steps.run("combination_label")
        without = [name for name in _ROW_COLUMNS if not name.startswith("last_")]
        yield RowTables(
            rows.con,
            {
                "rows": _rows_query(rows.rows_read, "combination_answer", without),
                "labels": _rows_query(rows.rows_read, "combination_label", _LABEL_COLUMNS),
            },
            {"rows": "row_number", "labels": "row_number, c.rank, c.label_index"},
            _summary(rows),
        )


def request_labels(steps: Steps, ranks: Sequence[int]) -> None:
    """Set the variables, by rank, whose labels `run_passes` computes."""
    steps.create_from("requested_rank", {"rank": np.array(ranks, np.int64)})


def ranks_of(origin: ModelOrigin, variables: object, setting: str = "variables") -> list[int]:
    """Return the ranks of variables, given as one name or a list."""
    if isinstance(variables, str):
        variables = [variables]
    names = items_of(variables, setting, QueryError, hint="give the names of variables")
    ranks = [rank_of(origin, name) for name in names]
    repeated = first_repeated(ranks)
    if repeated is not None:
        raise QueryError(
            f"variable {origin.order[repeated]!r} is named twice in {setting}",
            hint="name each variable once",
        )
    return ranks


def rank_of(origin: ModelOrigin, name: object) -> int:
    """Return the rank of a variable in the order of the tree, from 0."""
    unknown = f"the tree has no variable {name!r}"
    return origin.order.index(only_match(str(name), origin.order, unknown, QueryError))


def _make_answers(rows: OpenRows) -> None:
    """Make ``combination_answer``; the last vertices are null where none were asked for."""
    steps, origin = rows.steps, rows.origin
    tree, staging = origin.tree_id, origin.staging_id
    steps.run("row_vertex_name", tree_id=tree, staging_id=staging, ceg_id=origin.ceg_id)
    steps.run("combination_vertex", tree_id=tree, staging_id=staging)
    steps.run("combination_last")
    steps.run("combination_unseen")
    steps.run("combination_answer")


def _rows_query(rows_read: RowsRead, table: str, columns: Sequence[str]) -> str:
    """Return the SELECT that gives each row the results of its combination."""
    # Generated, since the columns to keep have the source's names; and a query, not a step, so
    # that a result of many rows is streamed to its file or table.
    of_source = [f"r.k{i} as {quoted(name)}" for i, name in enumerate(rows_read.keep, 1)]
    selected = ", ".join(["r.row_number", *of_source, *(f"c.{name}" for name in columns)])
    return (
        f"select {selected} from temp.source_row as r inner join temp.{table} as c "  # noqa: S608
        "on r.combination_id = c.combination_id"
    )


def _summary(rows: OpenRows) -> str:
    ((n_rows, n, _, n_impossible, _, _),) = rows.steps.fetch("row_total")
    of = "" if n == n_rows else f" of {counted(int(n), 'respondent')}"
    combinations = counted(rows.n_combinations, "distinct combination")
    lines = [f"{counted(int(n_rows), 'row')}{of}, {combinations} of answers"]
    if rows.rows_read.absent:
        lines.append(f"not in the source: {listed(rows.rows_read.absent, most=10)}")
    unseen = rows.steps.fetch("unseen_answer_total")
    if unseen:
        answers = [f"{text} ({counted(int(times), 'row')})" for _, text, times in unseen]
        lines.append(f"unknown answers: {listed(answers, most=10)}")
    if n_impossible:
        lines.append(
            f"{counted(int(n_impossible), 'row')} with probability 0: unknown answers, or "
            "an impossible combination of answers"
        )
    return "\n".join(lines)
