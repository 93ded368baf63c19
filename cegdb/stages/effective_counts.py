"""What respondents of weighted or clustered surveys are worth in scores: effective counts."""

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
    """How weights count, and the design effects that divide what they are worth."""

    choice: WeightChoice
    deff: Deff | None
    survey_id: int = 0
    is_weighted: bool = False
    effects: dict[str, float] = field(default_factory=dict)
    variable_ids: dict[str, int] = field(default_factory=dict)

    def settled(self, catalog: sa.Connection, tree: Mapping[str, Any]) -> Weighting:
        """Check it against the variables of a tree.

        Raises
        ------
        StagingError
            A design effect is not a number above 0.
        """
        query = sa.select(schema.survey.c.settings, schema.survey.c.summary).where(
            schema.survey.c.survey_id == tree["survey_id"]
        )
        settings, summary = catalog.execute(query).one()
        weighted = replace(
            self,
            survey_id=tree["survey_id"],
            is_weighted=settings.get("weight") is not None,
        )
        of_clusters = summary.get("design_effects") or {}
        if self.deff is None and not of_clusters:
            return weighted
        query = sa.select(schema.variable.c.name, schema.variable.c.variable_id).where(
            schema.variable.c.survey_id == tree["survey_id"]
        )
        ids = {
            str(name): int(number)
            for name, number in catalog.execute(query)
            if name in tree["settings"]["order"]
        }
        given: Mapping[str, object] = {
            name: effect for name, effect in of_clusters.items() if name in ids
        }
        if isinstance(self.deff, Mapping):
            given = self.deff
        elif self.deff is not None:
            given = dict.fromkeys(ids, self.deff)
        effects: dict[str, float] = {}
        for name, effect in given.items():
            (found,) = find_columns(list(ids), [name], "the tree (deff)")
            if not is_number(effect) or not effect > 0:
                raise StagingError(
                    f"deff of {found!r} is {effect!r}",
                    hint="a design effect is a number above 0, up to 1e100",
                )
            effects[found] = float(effect)
        return replace(weighted, effects=effects, variable_ids=ids)

    @classmethod
    def recorded(cls, settings: Mapping[str, Any]) -> Weighting:
        """Return the weighting that recorded settings say."""
        deff = settings.get("deff") if settings.get("deff_is_given") else None
        return cls(settings.get("weighting", "situation"), deff)

    @property
    def uses_weights(self) -> bool:
        """Whether weights, not rows, count."""
        return self.is_weighted and self.choice != "none"

    def measure(self, steps: Steps, tree_id: int) -> None:
        """Make ``edge_size``: what the respondents on each edge are worth, if not their n."""
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
        """Return the respondents per unit of weight, None to take them by situation."""
        if self.choice == "situation":
            return None
        ((n, weight, squares),) = steps.rows(
            "select sum(n), cast(sum(weight) as double), cast(sum(weight_sq) as double) "  # noqa: S608
            f"from {response_table(self.survey_id)}"
        )
        return float(n / weight if self.choice == "total" else weight / squares)

    def as_json(self) -> dict[str, object]:
        """Return what decides, for the settings of a staging; nothing where n decides."""
        told: dict[str, object] = {}
        if self.is_weighted:
            told["weighting"] = self.choice
        if self.effects:
            told["deff"] = self.effects
            told["deff_is_given"] = self.deff is not None
        return told


def variable_ids(catalog: sa.Connection, tree: Mapping[str, Any]) -> list[int]:
    """Return the ids of a tree's variables, in its order."""
    query = sa.select(schema.variable.c.name, schema.variable.c.variable_id).where(
        schema.variable.c.survey_id == tree["survey_id"]
    )
    ids = {name: int(number) for name, number in catalog.execute(query)}
    return [ids[name] for name in tree["settings"]["order"]]
