"""Merges as trees: which there is room for, and where their joins are drawn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cegdb.query.plottedmerges import Joined


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
    """

    stage_id: int
    gain: float | None = None
    is_made: bool = True
    height: float = float("inf")
    parts: tuple[Node, ...] = ()
    members: list[int] = field(default_factory=list)

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
    >>> from cegdb.query.plottedmerges import Joined
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
    >>> from cegdb.query.plottedmerges import Joined
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
            node.members = sorted(end.members[0] for end in node.ends())
            node.parts, node.gain, node.height = (), None, float("inf")
    return list(roots), n_ends - len(frontier)
