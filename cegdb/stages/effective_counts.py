"""Effective counts: respondents of a weighted or clustered survey, by what they are worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from cegdb.errors import StagingError, is_number
from cegdb.ingest.files.relation import find_columns
from cegdb.store import schema
from cegdb.store.catalog import response_table

if TYPE_CHECKING:
    from cegdb.options import Deff, WeightChoice
    from cegdb.sqlfiles import Steps


@dataclass(frozen=True)
class Weighting:
    """How weights count, and the design effects that divide effective counts.

    ``effects`` are the design effects by variable; `for_tree` finds them.
    """

    choice: WeightChoice
    deff: Deff | None
    survey_id: int = 0
    is_weighted: bool = False
    effects: dict[str, float] = field(default_factory=dict)
    variable_ids: dict[str, int] = field(default_factory=dict)

    def for_tree(self, catalog: sa.Connection, tree: Mapping[str, Any]) -> Weighting:
        """Return the weighting of a tree, with the design effects of its variables."""
        query = sa.select(schema.survey.c.settings, schema.survey.c.summary).where(
            schema.survey.c.survey_id == tree["survey_id"]
        )
        settings, summary = catalog.execute(query).one()
        weighting = replace(
            self,
            survey_id=tree["survey_id"],
            is_weighted=settings.get("weight") is not None,
        )
        cluster_effects = summary.get("design_effects") or {}
        if self.deff is None and not cluster_effects:
            return weighting
        ids = variable_ids(catalog, tree)
        by_name: Mapping[str, object]
        if isinstance(self.deff, Mapping):
            by_name = self.deff
        elif self.deff is not None:
            by_name = dict.fromkeys(ids, self.deff)
        else:
            by_name = {name: cluster_effects[name] for name in cluster_effects if name in ids}
        effects: dict[str, float] = {}
        for written, effect in by_name.items():
            (name,) = find_columns(list(ids), [written], "the tree (deff)")
            if not is_number(effect) or not effect > 0:
                of = f" of {name!r}" if isinstance(self.deff, Mapping) else ""
                raise StagingError(
                    f"deff{of} must be a number above 0, not {effect!r}",
                    hint="a design effect is a number above 0, up to 1e100",
                )
            effects[name] = float(effect)
        return replace(weighting, effects=effects, variable_ids=ids)

    @property
    def uses_weights(self) -> bool:
        """Whether weights, not rows, count."""
        return self.is_weighted and self.choice != "none"

    def measure(self, steps: Steps, tree_id: int) -> None:
        """Make ``edge_size``, the effective count of each edge; empty where rows count."""
        if not self.uses_weights and not self.effects:
            steps.empty("edge_size", "child_id bigint, size decimal(38, 12)")
            return
        steps.run(
            "edge_size",
            tree_id=tree_id,
            is_weighted=self.uses_weights,
            factor=self.factor(steps) if self.uses_weights else None,
            variable_ids=[self.variable_ids[name] for name in self.effects],
            effects=list(self.effects.values()),
        )

    def factor(self, steps: Steps) -> float | None:
        """Return the respondents per unit of weight; None if each situation has its own."""
        if self.choice == "situation":
            return None
        ((n, weight, weight_sq),) = steps.fetch(
            "survey_weight", source=response_table(self.survey_id)
        )
        return float(n / weight if self.choice == "total" else weight / weight_sq)

    def as_json(self) -> dict[str, object]:
        """Return the settings to record in a staging; none where rows count."""
        settings: dict[str, object] = {}
        if self.is_weighted:
            settings["weighting"] = self.choice
        if self.effects:
            settings["deff"] = self.effects
            settings["deff_is_given"] = self.deff is not None
        return settings


def variable_ids(catalog: sa.Connection, tree: Mapping[str, Any]) -> dict[str, int]:
    """Return the ids of a tree's variables by name, in its order."""
    query = sa.select(schema.variable.c.name, schema.variable.c.variable_id).where(
        schema.variable.c.survey_id == tree["survey_id"]
    )
    ids = {str(name): int(number) for name, number in catalog.execute(query)}
    return {name: ids[name] for name in tree["settings"]["order"]}
