"""The stage table as papers print it: a table for each variable, a group for each stage."""

from __future__ import annotations

from itertools import chain, groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from cegdb.inference.mean_scores import (
    MeanScore,
    ScoredStages,
    in_order_of_means,
    mean_scores,
    scale_text,
    scored_stages,
)
from cegdb.render.document import Column, Group, Table
from cegdb.render.writers import HIDDEN, check_form, format_count, lines
from cegdb.small_cells import masked_view
from cegdb.sqlfiles import Steps
from cegdb.store.catalog import find

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import duckdb

    from cegdb.render.writers import Form
    from cegdb.store import Store

MEAN_SCORE: Final = "mean score"
_SHARED: Final = (Column("Stage"), Column("Situations"), Column("People", is_number=True))


class _Row(NamedTuple):
    """A row of the step ``stage_table_row``; None where a number is hidden or undefined."""

    variable: str | None
    stage_id: int
    stage: str
    name: str | None
    situations: str
    n_stage: int | None
    label: str
    n: int | None
    weight: float | None
    share: float | None
    probability: float | None
    low: float | None
    high: float | None
    has_weights: bool


def stage_table_text(
    store: Store, name: str, form: Form = "markdown", *, min_n: int | None = None
) -> str:
    """Return the stage table of a staging as Markdown, LaTeX or HTML.

    Examples
    --------
    >>> import cegdb
    >>> staging = cegdb.open().demo("chds").staging
    >>> print(stage_table_text(staging._store, staging.name)[:33])
    Stages of Social in staging chds.
    """
    check_form(form)
    with store.catalog() as catalog:
        scored = scored_stages(store, find(catalog, "staging", name))
    with (
        store.reading() as con,
        masked_view(store, "stage_table", {"staging": name}, min_n) as relation,
    ):
        tables = stage_tables(con, relation, name, min_n, scored)
        return "".join(lines(tables, form))


def stage_tables(
    con: duckdb.DuckDBPyConnection,
    relation: str,
    name: str,
    min_n: int | None,
    scored: ScoredStages,
) -> Iterator[Table]:
    """Yield the stage table of each variable; their rows must be read in turn.

    Stages of ordered answers stand in the order of their mean score, which has a row.

    Examples
    --------
    >>> from cegdb.store import Store
    >>> with Store.open() as store, store.reading() as con:
    ...     list(stage_tables(con, "cegdb.stage_table", "none", None, ScoredStages()))
    []
    """
    table_rows = Steps(con).stream("stage_table_row", stages=relation, staging=name)
    rows = (_Row(*row) for row in table_rows)
    for number, (variable, of_variable) in enumerate(groupby(rows, lambda row: row.variable)):
        first = next(of_variable)
        of_stages = chain([first], of_variable)
        scores = scored.scores.get(variable or "", {})
        names = ["n", "Weighted n", "Share", "Mean", "95 % interval"]
        if not first.has_weights:
            names.remove("Weighted n")
        yield Table(
            _caption(name, variable, min_n, scores, is_first=not number),
            [Column("Answer"), *(Column(one, is_number=True) for one in names)],
            _ordered_groups(of_stages, scored) if scores else _groups(of_stages),
            _SHARED,
        )


def _groups(rows: Iterable[_Row]) -> Iterator[Group]:
    for _, of_stage in groupby(rows, key=lambda row: row.stage_id):
        yield _group(list(of_stage))


def _group(edges: Sequence[_Row], more: Sequence[list[str]] = ()) -> Group:
    stage = edges[0]
    title = stage.stage + (f" ({stage.name})" if stage.name else "")
    shared = [title, stage.situations, format_count(stage.n_stage)]
    return Group([*map(_line, edges), *more], shared)


def _ordered_groups(rows: Iterable[_Row], scored: ScoredStages) -> Iterator[Group]:
    """Yield the stages of ordered answers with their mean score, in its order."""
    edges = list(rows)
    known = mean_scores(
        ((one.stage_id, one.variable, one.label, one.probability) for one in edges),
        scored.scores,
    )
    stages = [list(group) for _, group in groupby(edges, key=lambda row: row.stage_id)]
    ordered = in_order_of_means(
        stages, lambda one: one[0].variable, lambda one: known.get(one[0].stage_id)
    )
    for stage in ordered:
        stage_id, scores = stage[0].stage_id, scored.scores[str(stage[0].variable)]
        if stage_id not in known:
            yield _group(stage)
            continue
        mean = scored.means.get(stage_id, MeanScore(known[stage_id]))
        counts = [one.n for one in stage if scores[one.label] is not None]
        n = None if None in counts else sum(one for one in counts if one is not None)
        has_limits = mean.low is not None and mean.high is not None
        yield _group(
            stage,
            [
                [
                    MEAN_SCORE,
                    format_count(n),
                    *([""] if stage[0].has_weights else []),
                    "",
                    f"{mean.mean:.3f}",
                    f"{mean.low:.3f}–{mean.high:.3f}" if has_limits else "",  # noqa: RUF001
                ]
            ],
        )


def _line(row: _Row) -> list[str]:
    line = [row.label, format_count(row.n)]
    if row.has_weights:
        line.append(HIDDEN if row.weight is None else f"{row.weight:,.1f}")
    if row.probability is None:
        return [*line, HIDDEN, HIDDEN, HIDDEN]
    return [*line, _share(row.share), _share(row.probability), _interval(row.low, row.high)]


def _share(value: float | None) -> str:
    """Return three decimals; 0 and 1 only for what is 0 or 1 itself."""
    if value is None:
        return ""
    text = f"{value:.3f}"
    if 0 < value < 0.0005:
        return "<0.001"
    if 0.9995 <= value < 1 - 1e-12:
        return ">0.999"
    return text


def _interval(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    return f"{_share(low)}–{_share(high)}"  # noqa: RUF001


def _caption(
    name: str,
    variable: str | None,
    min_n: int | None,
    scores: Mapping[str, float | None],
    *,
    is_first: bool,
) -> str:
    """Return what a table shows; the first one explains its columns."""
    title = f"Stages of {variable or 'several variables'} in staging {name}."
    if variable is None:
        title += " People are counted once for each variable."
    if scores:
        title += f" Their order is that of the mean score, on a scale {scale_text(scores)}."
    if not is_first:
        return title
    hidden = (
        ""
        if min_n is None
        else f" {HIDDEN}: hidden, so that no count below {min_n} is shown or can be calculated."
    )
    return (
        f"{title} People: number who reached the situations of the stage. n: number who gave "
        "the answer. Share: proportion of those who answered. Mean: posterior mean with a "
        f"95 % interval, which does not require the situations of a stage to be alike.{hidden}"
    )
