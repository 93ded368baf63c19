"""Objects made under low limits, so that small ones take the ways of very large ones."""

from __future__ import annotations

from typing import Any

from cegdb.api import ChainEventGraph, EventTree, StagedTree, Survey
from cegdb.ceg import build_ceg
from cegdb.options import TreeOptions
from cegdb.tree import event_tree


def tree_in_chunks(
    survey: Survey,
    max_code: int,
    name: str | None = None,
    *,
    replace: bool = False,
    **options: Any,
) -> EventTree:
    """Build an event tree whose path codes stay below a number: several chunks of variables."""
    store = survey._store
    tree_id = event_tree(
        store, survey.id, TreeOptions(**options), name=name, replace=replace, max_code=max_code
    )
    return EventTree(store, tree_id)


def ceg_of_lists(
    staged: StagedTree, name: str | None = None, **options: Any
) -> ChainEventGraph:
    """Build a CEG whose florets are compared as lists: none fits in an integer."""
    store = staged._store
    return ChainEventGraph(store, build_ceg(store, staged.id, name=name, max_bits=1, **options))
