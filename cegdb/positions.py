"""Positions: the backward recursion from the leaves, one height at a time, in SQL."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cegdb.sqlfiles import Steps

Stop: TypeAlias = Literal["early", "baseline"]


def merge_positions(
    steps: Steps, ceg_id: int, tree: Mapping[str, Any], staging_id: int, stop: Stop
) -> tuple[int, list[dict[str, object]]]:
    """Merge situations with isomorphic coloured subtrees into positions [1]_.

    Parameters
    ----------
    steps
        Runs the SQL, in the transaction of the CEG.
    ceg_id
        Whose ``position`` and ``position_member`` to write.
    tree
        The catalog row of the event tree.
    staging_id
        Its stages.
    stop
        ``"early"``: at the first height at which nothing merges, everything above is its
        own position; ``"baseline"``: go on to the root.

    Returns
    -------
    n_positions, sizes
        How many positions there are, the sink included, and the rows of ``merge_step``:
        the sizes of G_0 (the tree), G_1, ... after each step.

    Notes
    -----
    Situations are compared by height, the edges on their LONGEST path to a leaf: same
    position implies same height, and all children are merged before their parents. The
    paper's shortest path misses merges on trees whose leaves lie at different depths.
    Each edge is read once; signatures are exact lists, not hashes.

    References
    ----------
    .. [1] A. Shenvi and J. Q. Smith (2020), Constructing a Chain Event Graph from a
       Staged Tree, section 3, Theorems 1 and 2.
    """
    tree_id, top = tree["tree_id"], tree["height"]
    heights: list[tuple[int, int, int, float]] = []
    started = time.perf_counter()
    steps.run("staged_edge", tree_id=tree_id, staging_id=staging_id)
    n_leaves = steps.run("position_of", tree_id=tree_id)
    next_height = 1
    if top > 0:
        heights.append((0, n_leaves, 1, time.perf_counter() - started))
        merged = n_leaves > 1
        while next_height < top and (merged or stop == "baseline"):
            started = time.perf_counter()
            n_positions = steps.run("layer_block", height=next_height)
            n_situations = steps.run("layer_member")
            seconds = time.perf_counter() - started
            heights.append((next_height, n_situations, n_positions, seconds))
            merged = n_positions < n_situations
            next_height += 1
        steps.run("single_member", tree_id=tree_id, height=next_height)
    steps.run("ceg_member", ceg_id=ceg_id)
    n = steps.run("ceg_position", ceg_id=ceg_id, tree_id=tree_id, staging_id=staging_id)
    return n, _sizes(steps, ceg_id, tree["n_vertices"], heights)


def _sizes(
    steps: Steps, ceg_id: int, n_vertices: int, heights: list[tuple[int, int, int, float]]
) -> list[dict[str, object]]:
    """Return the rows of ``merge_step``: G_0, then one graph a height merged."""
    gone: dict[int, int] = dict(steps.fetch("merged_edge"))
    n_edges = n_vertices - 1
    rows: list[dict[str, object]] = []
    for step, (height, n_situations, n_positions, seconds) in enumerate(
        [(0, 0, 0, 0.0), *heights]
    ):
        n_vertices -= n_situations - n_positions
        n_edges -= gone.get(height, 0) if step else 0
        rows.append(
            {
                "ceg_id": ceg_id,
                "step": step,
                "height": height,
                "n_situations": n_situations,
                "n_positions": n_positions,
                "n_vertices": n_vertices,
                "n_edges": n_edges,
                "seconds": seconds,
            }
        )
    return rows
