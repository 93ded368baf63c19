"""Event trees, staged trees and Chain Event Graphs as tables in a DuckDB file.

Examples
--------
>>> import cegdb
>>> with cegdb.open() as db:
...     survey = db.ingest("select i % 2 as x, i % 4 < 2 as y from range(8) t(i)")
...     ceg = survey.event_tree().learn_stages().to_ceg()
...     db.sql("select count(*) as n from cegdb.ceg_edges")["n"].item()
4
"""

from __future__ import annotations

TYPE_CHECKING = False  # the command line must be able to heed Ctrl-C at once

if TYPE_CHECKING:
    from cegdb.api import (
        ChainEventGraph,
        Database,
        EventTree,
        StagedTree,
        Survey,
        cite,
        open,  # noqa: A004
    )
    from cegdb.errors import CegdbError
    from cegdb.version import __version__

__all__ = [
    "CegdbError",
    "ChainEventGraph",
    "Database",
    "EventTree",
    "StagedTree",
    "Survey",
    "__version__",
    "cite",
    "open",
]


def __getattr__(name: str) -> object:
    """Load the rest on first use, so that ``import cegdb`` is quick."""
    if name == "CegdbError":
        from cegdb.errors import CegdbError

        return CegdbError
    if name == "__version__":
        from cegdb.version import __version__

        return __version__
    if name in __all__:
        from cegdb import api

        return getattr(api, name)
    raise AttributeError(f"module 'cegdb' has no attribute {name!r}")
