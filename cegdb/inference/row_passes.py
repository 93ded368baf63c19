"""Passes of rows through a CEG, all at once: down and up its heights, in SQL.

Distinct combinations of answers are asked, some at a time, each only of the positions that
agree with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cegdb.inference.row_tables import LAST

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cegdb.inference.row_tables import Lineage, Passes
    from cegdb.sqlfiles import Steps
    from cegdb.store.progress import Progress

_FIRST_BLOCK: Final = 1_000
_LARGEST_BLOCK: Final = 50_000
_WAYS: Final = 5_000_000
"""How many edges the combinations asked at a time may take together, about."""
_EMPTY: Final[Mapping[str, str]] = {
    "row_way": "cast(0 as integer) as height, cast(0 as bigint) as combination_id, "
    "cast(0 as integer) as edge, cast(0 as integer) as source, cast(0 as integer) as target, "
    "cast(0 as integer) as target_height, cast(0 as double) as log_probability",
    "row_onward": "cast(0 as integer) as height, cast(0 as bigint) as combination_id, "
    "cast(0 as integer) as node, cast(0 as integer) as edge, cast(0 as double) as best, "
    "cast(0 as double) as total",
    "row_flow": "cast(0 as bigint) as combination_id, cast(0 as integer) as edge, "
    "cast(0 as integer) as target, cast(0 as integer) as target_height, "
    "cast(0 as double) as probability",
    "row_score": "cast(0 as bigint) as combination_id, cast(0 as integer) as n_answered, "
    "cast(0 as integer) as n_open, cast(0 as double) as log_likelihood, "
    "cast(0 as double) as log_best",
    "row_completion": "cast(0 as bigint) as combination_id, cast('' as varchar) as completion",
    "row_label": "cast(0 as bigint) as combination_id, cast(0 as integer) as rank, "
    "cast(0 as integer) as place, cast(0 as double) as probability",
    "row_place": "cast(0 as integer) as depth, cast(0 as bigint) as combination_id, "
    "cast(0 as bigint) as vertex_id, cast(0 as bigint) as child_id",
}


def run_passes(
    steps: Steps,
    passes: Passes,
    model: Lineage,
    n_combinations: int,
    progress: Progress,
    *,
    best: bool = False,
    labels: bool = False,
    places: bool = False,
) -> None:
    """Answer all combinations, some at a time.

    Makes ``row_score``; with ``best`` ``row_completion``, with ``labels`` ``row_label`` (of
    the variables in ``asked_rank``), with ``places`` ``row_place``.
    """
    for table in ("row_score", "row_completion", "row_label", "row_place"):
        _clear(steps, table)
    first, size = 0, _FIRST_BLOCK
    while first < n_combinations:
        last = first + size - 1
        steps.run("coded_cell", first=first, last=last)
        if passes.has_jumps:
            steps.run("given_cell")
        else:
            steps.view(
                "given_cell",
                f"select *, {LAST} as next_rank, {LAST} as next_open "  # noqa: S608
                "from temp.coded_cell",
            )
        n_ways = _go(steps, passes)
        steps.run("row_score")
        if best:
            _complete(steps, passes)
        if labels:
            _flow(steps, passes)
        if places:
            _place(steps, passes, model, first, last)
        steps.drop(["given_cell"])
        progress.read(min(size, n_combinations - first))
        first += size
        size = max(1, min(_LARGEST_BLOCK, 8 * size, _WAYS * size // max(n_ways, 1)))


def _place(steps: Steps, passes: Passes, model: Lineage, first: int, last: int) -> None:
    """Walk down the tree with each combination, as far as its answers lead."""
    steps.execute(
        "insert into temp.row_place select -1, combination_id, -1, 0 "
        "from temp.given_combination where combination_id between $first and $last",
        {"first": first, "last": last},
    )
    for depth in range(passes.n_variables + 1):
        found = steps.run(
            "row_place",
            tree_id=model.tree_id,
            depth=depth,
            first=first,
            is_prefix=model.missing_policy != "category",
        )
        if not found:
            break
    steps.execute("delete from temp.row_place where depth = -1")


def _clear(steps: Steps, table: str) -> None:
    steps.create(table, f"select {_EMPTY[table]} where false")


def _go(steps: Steps, passes: Passes) -> int:
    """Go down from the root with each combination, and up; return how many edges it took."""
    root_height = passes.heights[0][0]
    steps.run("row_start", root_rank=passes.root_rank, root_height=root_height)
    _clear(steps, "row_way")
    _clear(steps, "row_onward")
    steps.execute("insert into temp.row_way from temp.row_start")
    n_ways = sum(steps.run("row_way", height=height) for height, _ in passes.heights)
    for height, lowest in reversed(passes.heights):
        steps.run("row_onward", height=height, lowest=lowest)
    return n_ways


def _complete(steps: Steps, passes: Passes) -> None:
    """Walk down the most probable path of each combination that leaves something open."""
    steps.create(
        "row_best",
        f"select {passes.heights[0][0]} as height, combination_id, 0 as node, "  # noqa: S608
        "cast(null as varchar) as completion from temp.row_score as s "
        "where s.n_open > 0 and s.log_best is not null and exists "
        "(from temp.row_start as t where t.combination_id = s.combination_id)",
    )
    for height, _ in passes.heights:
        steps.run("row_best", height=height)
    steps.execute(
        "insert into temp.row_completion select combination_id, completion from temp.row_best "
        "where height = 0"
    )


def _flow(steps: Steps, passes: Passes) -> None:
    """Go down once more, with the probability of each edge given all answers."""
    _clear(steps, "row_flow")
    steps.execute(
        "insert into temp.row_flow select s.combination_id, s.edge, s.target, s.target_height, "
        "1.0 from temp.row_start as s inner join temp.row_onward as o "
        "on s.combination_id = o.combination_id and o.node = 0"
    )
    for height, lowest in passes.heights:
        steps.run("row_flow", height=height, lowest=lowest)
    steps.run("row_label")
