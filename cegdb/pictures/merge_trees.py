"""Merges as trees: which there is room for, and where their merges are drawn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cegdb.clustering import Merge


@dataclass(eq=False)
class MergeNode:
    """A node of a tree of merges: a leaf, or the merge of two nodes.

    ``stage_id`` is the smallest of its starting stages, ``members`` those of a leaf. It is
    drawn at ``height``, the smallest gain of the merges up to it; a leaf begins at ``start``,
    the gain of the last merge folded into it if that was not made.
    """

    stage_id: int
    gain: float | None = None
    is_made: bool = True
    height: float = float("inf")
    parts: tuple[MergeNode, ...] = ()
    members: list[int] = field(default_factory=list)
    start: float = float("inf")

    def leaves(self) -> list[MergeNode]:
        """Return the leaves from the top to the bottom of the picture."""
        leaves, stack = [], [self]
        while stack:
            node = stack.pop()
            if node.parts:
                stack.extend(reversed(node.parts))
            else:
                leaves.append(node)
        return leaves


def final_stages(merges: Sequence[Merge]) -> dict[int, int]:
    """Return the stage that each merged one is in at the end."""
    final: dict[int, int] = {}
    for one in reversed(merges):
        kept = final.setdefault(one.kept_id, one.kept_id)
        final[one.absorbed_id] = kept
    return dict(sorted(final.items()))


def grow_trees(
    made: Sequence[Merge], further: Sequence[Merge], stage_ids: Sequence[int]
) -> list[MergeNode]:
    """Return the trees of merges made and further ones, by their smallest stage.

    ``stage_ids`` are the stages after ``made``.
    """
    alive: dict[int, MergeNode] = {}

    def take(stage_id: int) -> MergeNode:
        return alive.pop(stage_id, None) or MergeNode(stage_id, members=[stage_id])

    for step, one in enumerate((*made, *further)):
        kept, absorbed = take(one.kept_id), take(one.absorbed_id)
        alive[one.kept_id] = MergeNode(
            one.kept_id,
            one.log_bayes_factor,
            step < len(made),
            min(one.log_bayes_factor, kept.height, absorbed.height),
            (kept, absorbed),
        )
    merged = {
        stage_id for one in (*made, *further) for stage_id in (one.kept_id, one.absorbed_id)
    }
    alive.update({one: MergeNode(one, members=[one]) for one in stage_ids if one not in merged})
    return [alive[one] for one in sorted(alive)]


def choose_trees(roots: Sequence[MergeNode], most: int) -> list[MergeNode]:
    """Return the trees of most leaves whose stages there is room for, at least one."""
    ordered = sorted(roots, key=lambda root: (-len(root.leaves()), root.stage_id))
    chosen, room = ordered[:1], most - _n_stages(ordered[0]) if ordered else 0
    for root in ordered[1:]:
        if (needed := _n_stages(root)) <= room:
            chosen.append(root)
            room -= needed
    return sorted(chosen, key=lambda root: root.stage_id)


def _n_stages(root: MergeNode) -> int:
    """Return into how many stages the cut divides a tree."""
    n, stack = 0, [root]
    while stack:
        node = stack.pop()
        if node.is_made:
            n += 1
        else:
            stack.extend(node.parts)
    return n


def fold_merges(roots: Sequence[MergeNode], most: int) -> tuple[list[MergeNode], int]:
    """Fold the earliest merges of trees, which change, until they have ``most`` leaves.

    Also return how many leaves were folded into others; every tree keeps one.
    """
    n_leaves = sum(len(root.leaves()) for root in roots)
    frontier = list(roots)
    while len(frontier) < most:
        merges = [node for node in frontier if node.parts]
        if not merges:
            break
        node = min(merges, key=lambda one: (one.height, one.stage_id))
        frontier.remove(node)
        frontier.extend(node.parts)
    for node in frontier:
        if node.parts:
            node.start = float("inf") if node.is_made else node.height
            node.members = sorted(leaf.members[0] for leaf in node.leaves())
            node.parts, node.gain, node.height = (), None, float("inf")
    return list(roots), n_leaves - len(frontier)
