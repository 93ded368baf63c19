"""Objects made under low limits, so that small ones are handled as very large ones are."""

from __future__ import annotations

from typing import Any

from cegdb import ingest
from cegdb.api import ChainEventGraph, Database, EventTree, StagedTree, Survey
from cegdb.ceg import build_ceg
from cegdb.ingest.coding.cell_codes import CodingLimits
from cegdb.options import IngestOptions, TreeOptions
from cegdb.tree import event_tree


def limits_of_large_sources(most_texts: int = 255) -> CodingLimits:
    """Return the limits under which every source is a large one: its cells become codes."""
    return CodingLimits(small_bytes=-1, few_lines=-1, most_texts=most_texts)


def ingest_as_large(
    db: Database, source: Any, name: str | None = None, most_texts: int = 255, **options: Any
) -> Survey:
    """Read a source as if it were a large one."""
    limits = limits_of_large_sources(most_texts)
    options_of = IngestOptions(**options)
    return Survey(
        db._store, ingest.ingest(db._store, source, options_of, name=name, limits=limits)
    )


def append_as_large(survey: Survey, source: Any, most_texts: int = 255) -> None:
    """Append a source as if it were a large one."""
    limits = limits_of_large_sources(most_texts)
    ingest.append(survey._store, survey.id, source, limits=limits)


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
