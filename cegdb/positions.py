"""Positions: the backward recursion from the leaves, one height at a time, in SQL."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cegdb.options import Stop
    from cegdb.sqlfiles import Steps
    from cegdb.store.progress import Progress

MAX_BITS: Final = 126
"""The largest number of bits of a floret that is written as one integer."""


class Layer(NamedTuple):
    """The result of merging the vertices of one height."""

    height: int
    n_situations: int
    n_positions: int
    seconds: float


def merge_positions(
    steps: Steps,
    ceg_id: int,
    tree: Mapping[str, Any],
    staging_id: int,
    stop: Stop,
    progress: Progress,
    max_bits: int = MAX_BITS,
) -> tuple[int, list[Layer], bool]:
    """Merge situations with isomorphic coloured subtrees into positions [1]_.

    With stop ``"early"`` the recursion ends at the first height at which nothing merges, and
    every situation above is its own position; ``"baseline"`` continues to the root. The temp
    tables ``block``, ``label_digit`` and ``position_of`` are kept for the edges of the CEG.

    Returned are the number of positions including the sink; the result of each step (G_0, the
    leaves, then the situations of height 1, 2, ...); and whether every floret has all labels
    of its stage.

    Notes
    -----
    Situations are compared by height, the edges on their LONGEST path to a leaf: same
    position implies same height, and all children are merged before their parents. The
    paper's shortest path misses merges on trees whose leaves lie at different depths.
    Each edge is read once; florets are compared as exact integers or lists, not as hashes.
    If every floret has all labels of its stage, height 1 needs no edges: its positions are
    its stages.

    References
    ----------
    .. [1] A. Shenvi and J. Q. Smith (2020), Constructing a Chain Event Graph from a
       Staged Tree, section 3, Theorems 1 and 2.
    """
    tree_id, top = tree["tree_id"], tree["height"]
    started = time.perf_counter()
    steps.run("staged_situation", tree_id=tree_id, staging_id=staging_id)
    steps.run("label_digit", staging_id=staging_id)
    sizes = {height: size for height, *size in steps.fetch("layer_size")}
    is_full = sum(n_labels for *_, n_labels in sizes.values()) == tree["n_vertices"] - 1
    lowest = 2 if is_full else 1
    steps.run("staged_edge", tree_id=tree_id, staging_id=staging_id, height=lowest)
    steps.empty("position_of", "vertex_id bigint, position_id bigint, position_index bigint")
    layers = [Layer(0, 0, 0, time.perf_counter() - started)]
    started = time.perf_counter()
    steps.run("block", tree_id=tree_id)
    n_before, height = 1, 1
    if top > 0:
        n_leaves = tree["n_leaves"]
        layers.append(Layer(0, n_leaves, 1, time.perf_counter() - started))
        merged = n_leaves > 1
        while height < top and (merged or stop == "baseline"):
            started = time.perf_counter()
            n_situations, n_digits, _ = sizes[height]
            if height < lowest:
                n_positions = steps.run("stage_block")
                steps.run("stage_situation")
            else:
                n_bits = n_before.bit_length()
                if n_bits * n_digits <= max_bits:
                    n_positions = steps.run("layer_block", height=height, n_bits=n_bits)
                else:
                    n_positions = steps.run("wide_block", height=height, n_digits=n_digits)
                steps.run("layer_member", height=height)
            seconds = time.perf_counter() - started
            layers.append(Layer(height, n_situations, n_positions, seconds))
            merged = n_positions < n_situations
            n_before += n_positions
            height += 1
            progress.read()
        n_before += steps.run("single_block", height=height)
        steps.run("layer_member", height=height)
    steps.drop(["staged_edge", "staged_situation"])
    steps.run("ceg_member", ceg_id=ceg_id, tree_id=tree_id)
    steps.run("ceg_position", ceg_id=ceg_id)
    return n_before, layers, is_full
