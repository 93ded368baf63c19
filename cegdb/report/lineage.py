"""A CEG and all that it was made from, as catalog rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from cegdb.store.catalog import row, staging_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cegdb.store import Store


def json_column(row: Mapping[str, Any], column: str) -> dict[str, Any]:
    """Return a column of a catalog row that holds JSON; an empty one as no entries."""
    value = row.get(column)
    return value if isinstance(value, dict) else {}


class Lineage(NamedTuple):
    """A CEG, its staging (without evidence), its tree and its survey."""

    ceg: Mapping[str, Any]
    staging: Mapping[str, Any]
    tree: Mapping[str, Any]
    survey: Mapping[str, Any]

    @property
    def is_conditioned(self) -> bool:
        """Whether it is a CEG given evidence."""
        return self.ceg["staging_id"] is None


def lineage_of(store: Store, ceg_id: int) -> Lineage:
    """Return a CEG and what it was made from."""
    with store.catalog() as catalog:
        ceg = row(catalog, "ceg", ceg_id)
        staging = row(catalog, "staging", staging_of(ceg))
        tree = row(catalog, "tree", staging["tree_id"])
        return Lineage(ceg, staging, tree, row(catalog, "survey", tree["survey_id"]))
