"""The user's objects: they hold a connection and ids, and call the rooms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cegdb.api.chain_event_graph import ChainEventGraph
from cegdb.api.conditioned_ceg import ConditionedCeg, ConditionedStagedTree, IntervenedCeg
from cegdb.api.database import Collection, Database
from cegdb.api.event_tree import EventTree
from cegdb.api.exploration import Exploration
from cegdb.api.order_search import OrderSearch
from cegdb.api.posterior import Posterior
from cegdb.api.reports import cite
from cegdb.api.results import (
    Adjustment,
    Assigned,
    Classification,
    Completed,
    Effect,
    Probability,
)
from cegdb.api.staged_tree import StagedTree
from cegdb.api.survey import Survey
from cegdb.store import Store

if TYPE_CHECKING:
    import os

__all__ = [
    "Adjustment",
    "Assigned",
    "ChainEventGraph",
    "Classification",
    "Collection",
    "Completed",
    "ConditionedCeg",
    "ConditionedStagedTree",
    "Database",
    "Effect",
    "EventTree",
    "Exploration",
    "IntervenedCeg",
    "OrderSearch",
    "Posterior",
    "Probability",
    "StagedTree",
    "Survey",
    "cite",
    "open",
]


def open(  # noqa: A001
    path: str | os.PathLike[str] | None = None,
    *,
    read_only: bool = False,
    memory_limit: str | None = None,
    threads: int | None = None,
) -> Database:
    """Open a database file, or one in memory.

    Parameters
    ----------
    path
        A DuckDB file, made if it does not exist, migrated if a former cegdb made it; left
        out, a database in memory.
    read_only
        Several processes may read one file at once.
    memory_limit
        DuckDB's limit, such as ``"2GB"``; larger work spills to disk.
    threads
        How many DuckDB may use.

    Returns
    -------
    Database
        To be used in a ``with`` block, or closed.

    Raises
    ------
    StoreError
        The file cannot be opened: see the message.
    MigrationError
        Its schema is newer than this cegdb, or not ours.

    Examples
    --------
    >>> import cegdb
    >>> with cegdb.open() as db:
    ...     print(db)
    cegdb in memory: 0 surveys, 0 event trees, 0 stagings, 0 CEGs
    """
    return Database(
        Store.open(path, read_only=read_only, memory_limit=memory_limit, threads=threads)
    )
