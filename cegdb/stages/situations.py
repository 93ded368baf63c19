"""Situations: their florets, the paths that lead to them, and how messages describe them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

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


class Situation(NamedTuple):
    """A vertex as messages name it: its path, its variable, and the labels of its floret."""

    path: tuple[str, ...]
    variable: str
    labels: tuple[str, ...]

    @property
    def question(self) -> str:
        """The variable and its labels here."""
        return f"{self.variable} ({listed(self.labels)})"


def shown_path(labels: Sequence[str]) -> str:
    """Return a path as a user would write it.

    Examples
    --------
    >>> shown_path(["High", "Low"]), shown_path(["High"]), shown_path([])
    ("('High', 'Low')", "('High',)", '(the root)')
    """
    return repr(tuple(map(str, labels))) if labels else "(the root)"


def find_situation(steps: Steps, tree_id: int, vertex_id: int) -> Situation:
    """Return the path, variable and labels of a vertex."""
    parts: dict[str, list[str]] = {"path": [], "variable": [], "floret": []}
    for part, _, label in steps.fetch("path_label", tree_id=tree_id, vertex_id=vertex_id):
        parts[part].append(str(label))
    return Situation(tuple(parts["path"]), "".join(parts["variable"]), tuple(parts["floret"]))


def describe_situation(steps: Steps, tree_id: int, vertex_id: int) -> str:
    """Return a situation in words: the labels that lead to it, and those of its floret."""
    situation = find_situation(steps, tree_id, vertex_id)
    labels = (
        f"with labels {listed(situation.labels)}" if situation.labels else "which is a leaf"
    )
    return f"{shown_path(situation.path)} {labels}"


def name_hint(steps: Steps, tree_id: int, path: Sequence[str]) -> str | None:
    """Return a hint if a path is the name of a situation, such as s1; else None."""
    if len(path) != 1:
        return None
    rows = steps.rows(
        "select vertex_id from cegdb.situations where situation = $situation "
        "and tree = (select name from cegdb.event_tree where tree_id = $tree_id)",
        {"tree_id": tree_id, "situation": path[0].strip()},
    )
    for (vertex_id,) in rows:
        situation = find_situation(steps, tree_id, vertex_id)
        written = repr(situation.path)
        return (
            f"{path[0]!r} is the name of a vertex; name a situation by its answers: {written}"
        )
    return None


def explain_mismatch(
    steps: Steps, tree_id: int, path: Sequence[str], *, is_literal: bool = False
) -> str:
    """Say why a path fits no situation, following it as far as it goes.

    ``is_literal``: ``"*"`` is a label like any other.
    """
    written = shown_path(path)
    vertex_id = 0
    for depth, label in enumerate(path):
        rows = steps.fetch("child_label", tree_id=tree_id, vertex_id=vertex_id)
        children = {str(known): child_id for known, child_id in rows}
        before = shown_path(path[:depth]) if depth else "the root"
        if not children:
            return f"there is no situation {written}: {before} is a leaf"
        if label == WILDCARD and not is_literal:
            return f"no situation of the tree fits {written}"
        if label not in children:
            return (
                f"there is no situation {written}: {'after' if depth else 'at'} "
                f"{before} the labels are {listed(map(repr, children))}"
            )
        vertex_id = children[label]
    return f"{written} is a leaf, which has no stage"
