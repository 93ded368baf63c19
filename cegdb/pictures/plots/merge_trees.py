"""Merges as trees: which there is room for, and where their joins are drawn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cegdb.pictures.merge_data import Joined


@dataclass(eq=False)
class Node:
    """A stage on its way: an end of the tree, or the join of two.

    Attributes
    ----------
    stage_id
        The smallest of its starting stages.
    gain
        Of the join; None at an end.
    is_made
        Whether the staging has the join.
    height
        The gain at which it is drawn: the smallest of the joins up to it.
    parts
        The two joined.
    members
        The starting stages of an end.
    start
        The gain at which an end begins: that of the last join folded into it, if that was
        not made.
    """

    stage_id: int
    gain: float | None = None
    is_made: bool = True
    height: float = float("inf")
    parts: tuple[Node, ...] = ()
    members: list[int] = field(default_factory=list)
    start: float = float("inf")

    def ends(self) -> list[Node]:
        """Return the ends from the top to the bottom of the picture.

        Examples
        --------
        >>> Node(4).ends()[0].stage_id
        4
        """
        found, stack = [], [self]
        while stack:
            node = stack.pop()
            if node.parts:
                stack.extend(reversed(node.parts))
            else:
                found.append(node)
        return found


def grow(
    made: Sequence[Joined], more: Sequence[Joined], stage_ids: Sequence[int]
) -> list[Node]:
    """Return the trees that merges make, by their smallest stage.

    Parameters
    ----------
    made, more
        The merges that were made, and those that would follow.
    stage_ids
        The stages after ``made``.

    Examples
    --------
    >>> from cegdb.pictures.merge_data import Joined
    >>> (root,) = grow([Joined(1, 3, 2.0)], [Joined(1, 2, -4.0)], [1, 2])
    >>> root.height, [end.stage_id for end in root.ends()]
    (-4.0, [1, 3, 2])
    """
    alive: dict[int, Node] = {}

    def take(stage_id: int) -> Node:
        return alive.pop(stage_id, None) or Node(stage_id, members=[stage_id])

    for place, one in enumerate((*made, *more)):
        kept, absorbed = take(one.kept_id), take(one.absorbed_id)
        alive[one.kept_id] = Node(
            one.kept_id,
            one.gain,
            place < len(made),
            min(one.gain, kept.height, absorbed.height),
            (kept, absorbed),
        )
    joined = {stage_id for one in (*made, *more) for stage_id in (one.kept_id, one.absorbed_id)}
    alive.update({one: Node(one, members=[one]) for one in stage_ids if one not in joined})
    return [alive[one] for one in sorted(alive)]


def choose_trees(roots: Sequence[Node], most: int) -> list[Node]:
    """Return the trees of most ends whose stages there is room for, at least one.

    Examples
    --------
    >>> from cegdb.pictures.merge_data import Joined
    >>> more = [Joined(1, 2, -4.0), Joined(5, 6, -1.0)]
    >>> roots = grow([Joined(1, 3, 2.0)], more, [1, 2, 5, 6])
    >>> [root.stage_id for root in choose_trees(roots, 3)]
    [1]
    """
    ordered = sorted(roots, key=lambda root: (-len(root.ends()), root.stage_id))
    chosen, room = ordered[:1], most - _n_stages(ordered[0]) if ordered else 0
    for root in ordered[1:]:
        if (needed := _n_stages(root)) <= room:
            chosen.append(root)
            room -= needed
    return sorted(chosen, key=lambda root: root.stage_id)


def _n_stages(root: Node) -> int:
    """Return into how many stages the cut parts a tree."""
    found, stack = 0, [root]
    while stack:
        node = stack.pop()
        if node.is_made:
            found += 1
        else:
            stack.extend(node.parts)
    return found


def cut_back(roots: Sequence[Node], most: int) -> tuple[list[Node], int]:
    """Fold the earliest joins of trees until their ends are few.

    Parameters
    ----------
    roots
        Trees; they are changed.
    most
        The most ends; at least one a tree.

    Returns
    -------
    list[Node], int
        The trees, and how many ends were folded into others.

    Examples
    --------
    >>> from cegdb.pictures.merge_data import Joined
    >>> roots = grow([Joined(1, 3, 2.0)], [Joined(1, 2, -4.0)], [1, 2])
    >>> (root,), n = cut_back(roots, 2)
    >>> [end.members for end in root.ends()], n
    ([[1, 3], [2]], 1)
    """
    n_ends = sum(len(root.ends()) for root in roots)
    frontier = list(roots)
    opened: set[int] = set()
    while len(frontier) < most:
        joins = [node for node in frontier if node.parts]
        if not joins:
            break
        node = min(joins, key=lambda one: (one.height, one.stage_id))
        opened.add(id(node))
        frontier.remove(node)
        frontier.extend(node.parts)
    for node in frontier:
        if node.parts:
            node.start = float("inf") if node.is_made else node.height
            node.members = sorted(end.members[0] for end in node.ends())
            node.parts, node.gain, node.height = (), None, float("inf")
    return list(roots), n_ends - len(frontier)
