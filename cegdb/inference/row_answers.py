"""Rows of a file or table, answered by a CEG: where they are, what completes them."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from cegdb.errors import QueryError, counted, items_of, listed
from cegdb.inference.row_passes import run_passes
from cegdb.inference.row_tables import Lineage, lineage_of, load
from cegdb.ingest.csv.csv_file import retry_rewritten
from cegdb.ingest.files.sources import query_progress
from cegdb.ingest.new_rows import RowColumns, open_new_rows, read_rows
from cegdb.names import only_match
from cegdb.options import check_choice
from cegdb.sqlfiles import Steps
from cegdb.store import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import duckdb

    from cegdb.inference.queries import Conditioned
    from cegdb.inference.row_tables import Origin, Passes
    from cegdb.ingest.files.sources import Source
    from cegdb.ingest.new_rows import RowsRead
    from cegdb.options import ReadOptions
    from cegdb.store import Store

_ROWS = (
    "n_answered", "log_likelihood", "last_situation", "last_position", "completion",
    "completion_probability", "unseen",
)  # fmt: skip
_PLACES = (
    "depth", "variable", "label", "situation", "stage", "position", "vertex_id", "stage_id",
    "position_id",
)  # fmt: skip
_LABELS = ("variable", "label", "probability")


@dataclass(frozen=True)
class RowSource:
    """What is asked of the rows of a source.

    Parameters
    ----------
    source
        As for `cegdb.ingest.ingest`.
    keep
        Columns of it to keep.
    count, weight
        Columns that say how many respondents, and what weight, a row stands for.
    blank
        ``"tree"``: a blank cell means what it means in the tree; ``"unknown"``: nothing is
        known of it.
    reading
        How a file is written, as far as it is told.
    """

    source: Source
    keep: Sequence[str] = ()
    count: str | None = None
    weight: str | None = None
    blank: str = "tree"
    reading: ReadOptions | None = None


@dataclass(frozen=True)
class RowTables:
    """What was found, as queries that hold while the rows are open.

    Parameters
    ----------
    con
        Runs them.
    tables
        Name -> SELECT, its rows in no order.
    order
        Name -> columns that put them in order.
    summary
        How many rows there are, and what looks wrong.
    """

    con: duckdb.DuckDBPyConnection
    tables: dict[str, str]
    order: dict[str, str]
    summary: str


@dataclass(frozen=True)
class OpenRows:
    """The rows of a source, read and coded, ready for passes."""

    store: Store
    steps: Steps
    con: duckdb.DuckDBPyConnection
    model: Lineage
    found: RowsRead
    passes: Passes
    n_combinations: int

    def run(
        self, n: int, *, best: bool = False, labels: bool = False, places: bool = False
    ) -> None:
        """Answer the first n combinations: see `cegdb.inference.row_passes.run_passes`."""
        with self.store.counting(n, "combination") as progress:
            run_passes(
                self.steps,
                self.passes,
                self.model,
                n,
                progress,
                best=best,
                labels=labels,
                places=places,
            )


@contextmanager
def open_rows(
    store: Store, given: Conditioned, origin: Origin, asked: RowSource
) -> Iterator[OpenRows]:
    """Read the rows of a source as those of a CEG's survey; forget them at the end.

    Raises
    ------
    SurveyError
        The source cannot be read, or has no variable of the CEG's tree.
    QueryError
        A setting has no such choice, or a name is taken by a column of the result.
    """
    check_choice("blank", asked.blank, ("tree", "unknown"), QueryError)
    hint = "give a list of names of columns"
    keep = [str(name) for name in items_of(asked.keep, "keep", QueryError, hint=hint)]
    taken = [name for name in keep if name in ("row_number", *_ROWS, *_PLACES, *_LABELS)]
    if taken:
        raise QueryError(
            f"keep names {taken[0]!r}, as a column of the result is called",
            hint="rename the column in the source",
        )
    with store.catalog() as catalog:
        model = lineage_of(catalog, origin)
    wanted = RowColumns(model.order, keep, asked.count, asked.weight)
    with store.reading() as con, Steps(con) as steps:
        try:
            found = retry_rewritten(partial(_read, store, con, steps, model, asked, wanted))
            passes = load(steps, given, model, found.unknown, blank=asked.blank)
            ((n,),) = steps.rows("select count(*) from temp.given_combination")
            yield OpenRows(store, steps, con, model, found, passes, int(n))
        except BaseException:
            steps.drop_all()
            raise


def _read(
    store: Store,
    con: duckdb.DuckDBPyConnection,
    steps: Steps,
    model: Lineage,
    asked: RowSource,
    wanted: RowColumns,
    *,
    rewrite: bool,
) -> RowsRead:
    with (
        open_new_rows(con, asked.source, wanted, asked.reading, rewrite=rewrite) as relation,
        query_progress(con, relation),
    ):
        store.progress = relation.progress
        return read_rows(steps, con, relation, model.survey, wanted)


@contextmanager
def assigned(
    store: Store, given: Conditioned, origin: Origin, asked: RowSource
) -> Iterator[RowTables]:
    """Give each row of a source its situation, stage and position at each depth.

    Tables ``rows`` and ``places``: see `cegdb.ChainEventGraph.assign`. Distinct combinations
    of answers are asked once; each only of the vertices that agree with it, so the work is
    linear in these.
    """
    with open_rows(store, given, origin, asked) as rows:
        steps, model = rows.steps, rows.model
        if model.is_conditioned:
            raise QueryError(
                f"rows cannot be assigned by {given.ceg.shown}: it is given evidence, and the "
                "stages are those without it",
                hint="assign rows by the CEG it comes from; complete and score work here",
            )
        rows.run(rows.n_combinations, best=True, places=True)
        tree, staging = model.tree_id, model.staging_id
        steps.run("place_name", tree_id=tree, staging_id=staging, ceg_id=model.ceg_id)
        steps.run("combination_place", tree_id=tree, staging_id=staging)
        steps.run("combination_last")
        _answer(steps)
        # Without a CEG there are no positions.
        answers: Sequence[str] = _ROWS
        places: Sequence[str] = _PLACES
        if model.ceg_id is None:
            answers = [name for name in _ROWS if name != "last_position"]
            places = [name for name in _PLACES if not name.startswith("position")]
        yield RowTables(
            rows.con,
            {
                "rows": _per_row(rows.found, "combination_answer", answers),
                "places": _per_row(rows.found, "combination_place", places),
            },
            {"rows": "row_number", "places": "row_number, depth"},
            _summary(rows),
        )


@contextmanager
def completed(
    store: Store, given: Conditioned, origin: Origin, asked: RowSource, variables: object
) -> Iterator[RowTables]:
    """Give each row of a source the distribution of what it leaves open.

    Tables ``rows`` and ``labels``: see `cegdb.ChainEventGraph.complete`; ``variables`` names
    those asked, None means all.
    """
    with open_rows(store, given, origin, asked) as rows:
        steps, model = rows.steps, rows.model
        ask_ranks(steps, [model.order.index(name) for name in _named(model, variables)])
        rows.run(rows.n_combinations, best=True, labels=True)
        steps.create(
            "combination_last",
            "select combination_id, cast(null as varchar) as last_situation, "
            "cast(null as varchar) as last_position from temp.row_score where false",
        )
        _answer(steps)
        steps.run("combination_label")
        without = [name for name in _ROWS if not name.startswith("last_")]
        yield RowTables(
            rows.con,
            {
                "rows": _per_row(rows.found, "combination_answer", without),
                "labels": _per_row(rows.found, "combination_label", _LABELS),
            },
            {"rows": "row_number", "labels": "row_number, c.rank, c.place"},
            _summary(rows),
        )


def ask_ranks(steps: Steps, ranks: Sequence[int]) -> None:
    """Say which variables, by place in the order, `run_passes` gives the labels of."""
    steps.create_from("asked_rank", {"rank": np.array(ranks, np.int64)})


def _named(model: Lineage, variables: object) -> list[str]:
    if variables is None:
        return model.order
    if isinstance(variables, str):
        variables = [variables]
    hint = "give names of variables"
    names = [str(name) for name in items_of(variables, "variables", QueryError, hint=hint)]
    return [model.order[place_of(model, name)] for name in names]


def place_of(model: Lineage, name: object) -> int:
    """Return the place of a variable in the order of the tree, from 0.

    Raises
    ------
    QueryError
        It is none of the tree.
    """
    unknown = f"no variable {name!r} in the tree"
    return model.order.index(only_match(str(name), model.order, unknown, QueryError))


def _answer(steps: Steps) -> None:
    steps.run("combination_unseen")
    steps.run("combination_answer")


def _per_row(found: RowsRead, table: str, columns: Sequence[str]) -> str:
    """Return the SELECT of what each row has of its combination."""
    kept = [f"r.k{i} as {quoted(name)}" for i, name in enumerate(found.kept, 1)]
    taken = ", ".join(["r.row_number", *kept, *(f"c.{name}" for name in columns)])
    return (
        f"select {taken} from temp.given_row as r inner join temp.{table} as c "  # noqa: S608
        "on r.combination_id = c.combination_id"
    )


def _summary(rows: OpenRows) -> str:
    ((n_rows, n, _, n_impossible, _, _),) = rows.steps.fetch("answered_total")
    of = "" if n == n_rows else f" of {counted(int(n), 'respondent')}"
    found = counted(rows.n_combinations, "distinct combination")
    lines = [f"{counted(int(n_rows), 'row')}{of}, {found} of answers"]
    if rows.found.lacking:
        lines.append(f"not in the source: {listed(rows.found.lacking, most=10)}")
    unseen = rows.steps.fetch("unseen_total")
    if unseen:
        words = [f"{word} ({counted(int(times), 'row')})" for _, word, times in unseen]
        lines.append(f"unknown answers: {listed(words, most=10)}")
    if n_impossible:
        lines.append(
            f"{counted(int(n_impossible), 'row')} with probability 0: unknown answers, or "
            "answers that no path has together"
        )
    return "\n".join(lines)
