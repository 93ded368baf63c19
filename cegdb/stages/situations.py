"""Situations: their florets, the paths that lead to them, and how messages describe them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cegdb.errors import listed
from cegdb.names import WILDCARD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cegdb.sqlfiles import Steps


def find_florets(steps: Steps, tree_id: int) -> None:
    """Make ``situation_edge``, ``floret``, and the beginnings of what groups are found by.

    These are ``situation_path``, with the root alone, and ``given_group``, without rows.
    """
    steps.run("situation_edge", tree_id=tree_id)
    steps.run("floret")
    steps.empty("situation_path", "vertex_id bigint, depth integer, labels varchar[]")
    steps.run("situation_path", depth=0)
    steps.empty(
        "given_group",
        "role varchar, vertex_id bigint, name varchar, shown_name varchar, line varchar",
    )


def extend_paths(steps: Steps, depth: int | None = None) -> None:
    """Extend ``situation_path`` to the situations of some depth; left out, to all."""
    ((reached,),) = steps.rows("select coalesce(max(depth), 0) from temp.situation_path")
    while (depth is None or reached < depth) and steps.run("situation_path", depth=reached + 1):
        reached += 1


def describe_situation(steps: Steps, tree_id: int, vertex_id: int) -> str:
    """Return a situation in words: the labels that lead to it, and those of its floret."""
    rows = steps.fetch("path_label", tree_id=tree_id, vertex_id=vertex_id)
    path = [repr(label) for part, _, label in rows if part == "path"]
    floret = [str(label) for part, _, label in rows if part == "floret"]
    labels = f"with labels {listed(floret)}" if floret else "which is a leaf"
    return f"({', '.join(path) or 'the root'}) {labels}"


def explain_mismatch(
    steps: Steps, tree_id: int, path: Sequence[str], *, is_literal: bool = False
) -> str:
    """Say why a path fits no situation, following it as far as it goes.

    ``is_literal``: ``"*"`` is a label like any other.
    """
    written = ", ".join(map(repr, path))
    vertex_id = 0
    for depth, label in enumerate(path):
        rows = steps.fetch("child_label", tree_id=tree_id, vertex_id=vertex_id)
        children = {str(known): child_id for known, child_id in rows}
        before = f"({', '.join(map(repr, path[:depth]))})" if depth else "the root"
        if not children:
            return f"there is no situation ({written}): {before} is a leaf"
        if label == WILDCARD and not is_literal:
            return f"no situation of the tree fits ({written})"
        if label not in children:
            return (
                f"there is no situation ({written}): {'after' if depth else 'at'} "
                f"{before} the labels are {listed(map(repr, children))}"
            )
        vertex_id = children[label]
    return f"({written}) is a leaf, which has no stage"
