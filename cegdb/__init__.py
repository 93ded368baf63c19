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

TYPE_CHECKING = False  # importing typing would delay the handling of Ctrl-C

if TYPE_CHECKING:
    from cegdb import evidence
    from cegdb.api import (
        Adjustment,
        Assigned,
        ChainEventGraph,
        Classification,
        Collection,
        Completed,
        ConditionedCeg,
        ConditionedStagedTree,
        Database,
        Effect,
        EventTree,
        Exploration,
        IntervenedCeg,
        OrderSearch,
        Posterior,
        Probability,
        StagedTree,
        Survey,
        cite,
        open,  # noqa: A004
    )
    from cegdb.errors import (
        CegdbError,
        CegError,
        GraphError,
        MigrationError,
        MissingExtraError,
        NameTakenError,
        NetworkError,
        QueryError,
        SqlStepError,
        StagingError,
        StaleError,
        StoreError,
        SurveyError,
        TreeError,
        UnknownNameError,
    )
    from cegdb.pictures import Picture
    from cegdb.version import __version__

__all__ = [
    "Adjustment",
    "Assigned",
    "CegError",
    "CegdbError",
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
    "GraphError",
    "IntervenedCeg",
    "MigrationError",
    "MissingExtraError",
    "NameTakenError",
    "NetworkError",
    "OrderSearch",
    "Picture",
    "Posterior",
    "Probability",
    "QueryError",
    "SqlStepError",
    "StagedTree",
    "StagingError",
    "StaleError",
    "StoreError",
    "Survey",
    "SurveyError",
    "TreeError",
    "UnknownNameError",
    "__version__",
    "cite",
    "evidence",
    "open",
]


def __getattr__(name: str) -> object:
    """Load the rest on first use, so that ``import cegdb`` is quick."""
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module 'cegdb' has no attribute {name!r}")
    if name == "evidence":
        return import_module("cegdb.evidence")
    modules = {"Picture": "cegdb.pictures", "__version__": "cegdb.version"}
    module = "cegdb.errors" if name.endswith("Error") else modules.get(name, "cegdb.api")
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
