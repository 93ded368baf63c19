"""Message passing for many rows at once, in SQL: down and up the heights of a CEG.

Distinct combinations of answers are handled in blocks; each visits only the positions that
agree with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cegdb.inference.row_tables import RANK_AFTER_ALL

if TYPE_CHECKING:
    from cegdb.inference.row_tables import ModelOrigin, Passes
    from cegdb.sqlfiles import Steps
    from cegdb.store.progress import Progress

BLOCK_SIZES: Final = (1_000, 50_000)
"""How many combinations the first block has, and how many a later one may have."""
_PATH_EDGES: Final = 5_000_000
"""About how many path edges the combinations of one block may have together."""


def run_passes(
    steps: Steps,
    passes: Passes,
    origin: ModelOrigin,
    n_combinations: int,
    progress: Progress,
    *,
    best: bool = False,
    labels: bool = False,
    vertices: bool = False,
    block_sizes: tuple[int, int] = BLOCK_SIZES,
) -> None:
    """Answer all combinations, in blocks.

    Makes ``row_score``; with ``best`` ``row_completion``, with ``labels`` ``row_label`` (of the
    variables in ``requested_rank``), with ``vertices`` ``row_vertex``.
    """
    for table in ("row_score", "row_completion", "row_label", "row_vertex"):
        steps.run(table)
    if vertices:
        _find_shown_edges(steps, origin)
    first, (size, largest) = 0, block_sizes
    while first < n_combinations:
        last = first + size - 1
        steps.run("coded_cell", first=first, last=last)
        if passes.has_jumps:
            steps.run("row_cell")
        else:
            # Without jumps no variable can be skipped, and the window over all cells is saved.
            steps.view(
                "row_cell",
                f"select *, {RANK_AFTER_ALL} as next_rank, {RANK_AFTER_ALL} as next_open "  # noqa: S608
                "from temp.coded_cell",
            )
        n_path_edges = _pass_messages(steps, passes)
        steps.run("block_score")
        if best:
            _complete(steps, passes)
        if labels:
            _label(steps, passes)
        if vertices:
            _walk_tree(steps, passes, origin, first, last)
        steps.drop(["row_cell"])
        progress.read(min(size, n_combinations - first))
        first += size
        # The next block may be 8 times as large, as long as its tables stay small.
        size = max(1, min(largest, 8 * size, _PATH_EDGES * size // max(n_path_edges, 1)))


def _pass_messages(steps: Steps, passes: Passes) -> int:
    """Go down from the root and up again with each combination; return the path edges."""
    root_height = passes.heights[0][0]
    steps.run("row_root_edge", root_rank=passes.root_rank, root_height=root_height)
    steps.run("row_path_edge")
    n_path_edges = sum(
        steps.run("next_path_edge", height=height) for height, _ in passes.heights
    )
    steps.run("backward_message")
    for height, lowest in reversed(passes.heights):
        steps.run("next_backward_message", height=height, lowest=lowest)
    return n_path_edges


def _complete(steps: Steps, passes: Passes) -> None:
    """Walk down the most probable path of each combination that leaves variables open."""
    steps.run("row_best", root_height=passes.heights[0][0])
    for height, _ in passes.heights:
        steps.run("next_best_edge", height=height)
    steps.run("block_completion")


def _label(steps: Steps, passes: Passes) -> None:
    """Go down once more, with the probability of each edge given all answers."""
    steps.run("row_edge_posterior")
    for height, lowest in passes.heights:
        steps.run("next_edge_posterior", height=height, lowest=lowest)
    steps.run("block_label")


def _find_shown_edges(steps: Steps, origin: ModelOrigin) -> None:
    """Make ``shown_edge``, the edges of the tree by a label that only the staging gives."""
    ids = {"survey_id": origin.survey.survey_id, "staging_id": origin.staging_id}
    ((is_shared,),) = steps.fetch("shared_label", **ids)
    if is_shared:
        steps.run("shown_edge", tree_id=origin.tree_id, **ids)
    else:
        steps.empty("shown_edge", "parent_id bigint, child_id bigint, level_id bigint")


def _walk_tree(
    steps: Steps, passes: Passes, origin: ModelOrigin, first: int, last: int
) -> None:
    """Walk down the tree with each combination, as far as its answers lead."""
    steps.run("row_root", first=first, last=last)
    for depth in range(passes.n_variables + 1):
        n_vertices = steps.run(
            "next_row_vertex",
            tree_id=origin.tree_id,
            depth=depth,
            first=first,
            is_prefix=origin.missing_policy != "category",
        )
        if not n_vertices:
            break
    steps.execute("delete from temp.row_vertex where depth = -1")
