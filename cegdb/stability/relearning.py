"""How the stages of a staging were learnt, to learn them again on replicates of its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from cegdb import clustering
from cegdb.errors import StagingError
from cegdb.stability.replicates import Replicate, Rows, read_rows
from cegdb.stages.effective_counts import Weighting, variable_ids
from cegdb.stages.hyperstages import find_florets, given_again
from cegdb.stages.learning import as_whole, plan_of, read_hyperstages, recorded_learning
from cegdb.stages.priors import edge_priors, rule_of
from cegdb.stages.relabel import labels_of
from cegdb.stages.situation_names import resolve
from cegdb.store.catalog import refuse_stale, row

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import duckdb
    import sqlalchemy as sa
    from numpy.typing import NDArray

    from cegdb.options import LearnOptions
    from cegdb.sqlfiles import Steps

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int64]

__all__ = ["Florets", "Kind", "Relearning", "Restaged", "read_relearning", "recorded_weighting"]

Kind: TypeAlias = Literal["nonparametric", "parametric"]


class Florets(NamedTuple):
    """Situations of one hyperstage, or of one frozen stage, with several edges each.

    Attributes
    ----------
    ids
        Shape (situations,), ascending.
    edges
        Shape (situations, labels), the vertex each edge leads to.
    prior
        The same shape.
    stage
        Shape (situations,), the stage of each in the staging.
    hyperstage
        What learning sees of them; None if they are frozen.
    is_named
        Shape (situations,), which were given a stage to start in.
    """

    ids: Numbers
    edges: Numbers
    prior: Floats
    stage: Numbers
    hyperstage: clustering.Hyperstage | None
    is_named: NDArray[np.bool_]


class Restaged(NamedTuple):
    """The stages of `Florets` in a replicate.

    Attributes
    ----------
    stage
        Shape (situations,); -1 where learning did not see the situation.
    is_reached
        Shape (situations,), whether a row reached it.
    """

    stage: Numbers
    is_reached: NDArray[np.bool_]


@dataclass(frozen=True)
class Relearning:
    """How the stages of a staging are learnt, again and again.

    Attributes
    ----------
    rows
        What replicates are made of.
    florets
        Of each hyperstage, then of each frozen stage.
    learning, smoothing
        The settings of the staging.
    is_weighed
        Whether rows are worth another number than theirs.
    """

    rows: Rows
    florets: Sequence[Florets]
    learning: LearnOptions
    smoothing: float
    is_weighed: bool

    def plan(self, n_rows: float) -> clustering.Plan:
        """Return how stages of so many rows are learnt."""
        return plan_of(self.learning, self.smoothing, n_rows)

    def replicates(self, kind: Kind, runs: int, seed: int) -> Iterator[Replicate]:
        """Return replicates; those of a seed are the same for any number of them."""
        make = self.rows.draw if kind == "nonparametric" else self.rows.simulate
        for run in range(runs):
            yield make(np.random.default_rng([seed, run]))

    def learn(self, replicate: Replicate) -> list[Restaged]:
        """Learn the stages of a replicate.

        Situations that no row reached are not learnt, but for those given a stage to start
        in, whose prior has a part in the log marginal likelihood.
        """
        counts, unit = self._counts(replicate)
        of_root = self.rows.parent == 0
        plan = plan_of(self.learning, self.smoothing, float(replicate.size[of_root].sum()))
        has_prior = plan.score == "log_marginal_likelihood"
        found = []
        for one in self.florets:
            is_reached = replicate.size[one.edges].sum(axis=1) > 0
            if one.hyperstage is None:
                found.append(Restaged(one.stage, is_reached))
                continue
            part = np.flatnonzero(is_reached | (one.is_named & has_prior))
            stage = np.full(len(one.ids), -1, dtype=np.int64)
            if len(part):
                drawn = counts[one.edges[part]]
                seen = one.hyperstage.part(part, drawn, unit=unit)
                stage[part] = clustering.learn(seen, plan).stage
            found.append(Restaged(stage, is_reached))
        return found

    def _counts(self, replicate: Replicate) -> tuple[Numbers, float]:
        if not self.is_weighed:
            return replicate.n, 1.0
        counts = np.zeros_like(replicate.n)
        learnt = [one.edges.ravel() for one in self.florets if one.hyperstage is not None]
        edges = np.concatenate([np.zeros(0, dtype=np.int64), *learnt])
        counts[edges], unit = as_whole(replicate.n[edges], replicate.size[edges])
        return counts, unit


def read_relearning(
    steps: Steps, con: duckdb.DuckDBPyConnection, catalog: sa.Connection, staging_id: int
) -> Relearning:
    """Return how the stages of a staging were learnt.

    Raises
    ------
    StagingError
        They were given, or started from stages that are not kept.
    StaleError
        The survey has other rows since.
    """
    staging = row(catalog, "staging", staging_id)
    tree = row(catalog, "tree", staging["tree_id"])
    said, name, tree_id = staging["settings"], staging["name"], tree["tree_id"]
    if staging["method"] == "given":
        raise StagingError(
            f"the stages of {name!r} were given by hand: there is nothing to learn again",
            hint="learn stages of the same tree (learn_stages) and compare them with these "
            "(compare, diff); stages kept by frozen= stay as they are",
        )
    refuse_stale("staging", staging)
    initial = given_again(said.get("initial"), None)
    if said.get("initial") is not None and initial is None:
        raise StagingError(
            f"staging {name!r} started from stages of a large frame or file, which is not kept",
            hint="learn it from stages given by path, or from initial='full' or 'indep'",
        )
    is_joined = initial == "indep"
    labels_of(steps, staging_id)
    find_florets(steps, tree_id)
    resolve(steps, con, tree_id, None if isinstance(initial, str) else initial, "initial", [])
    steps.create(
        "situation_group",
        "select m.vertex_id, s.hyperstage_id from cegdb.stage_member as m inner join "
        "cegdb.stage as s on m.staging_id = s.staging_id and m.stage_id = s.stage_id "
        "where m.staging_id = $staging_id",
        {"staging_id": staging_id},
    )
    steps.create(
        "given_frozen",
        "select m.vertex_id, cast(m.stage_id as varchar) as name from cegdb.stage_member as m "
        "inner join cegdb.stage as s on m.staging_id = s.staging_id "
        "and m.stage_id = s.stage_id where m.staging_id = $staging_id and s.kind = 'given'",
        {"staging_id": staging_id},
    )
    edge_priors(steps, tree_id, staging_id, rule_of(said), staging["alpha"])
    weighting = recorded_weighting(said).settled(catalog, tree)
    weighting.measure(steps, tree_id)
    learning = recorded_learning(staging["method"], said)
    answers = variable_ids(catalog, tree) if learning.method == "csbhc" else None
    hyperstages = read_hyperstages(
        steps, is_joined=is_joined, variables=answers, takes_all=True
    )
    steps.run("floret_edge", staging_id=staging_id)
    steps.run("vertex_end", tree_id=tree_id, staging_id=staging_id)
    ends = steps.arrays("select * from temp.vertex_end order by vertex_id")
    factor = weighting.factor(steps) if weighting.uses_weights else None
    return Relearning(
        rows=read_rows(ends, weighting, factor),
        florets=_florets(steps, hyperstages),
        learning=learning,
        smoothing=said.get("smoothing", 0.0),
        is_weighed=weighting.uses_weights or bool(weighting.effects),
    )


def recorded_weighting(settings: Mapping[str, Any]) -> Weighting:
    """Return the weighting and design effects that settings of a staging record."""
    return Weighting(settings.get("weighting", "situation"), settings.get("deff") or {})


def _florets(steps: Steps, hyperstages: Sequence[clustering.Hyperstage]) -> list[Florets]:
    found = steps.arrays(
        "select * from temp.floret_edge "
        "order by is_frozen, if(is_frozen, stage_id, hyperstage_id), vertex_id, label_id"
    )
    named = steps.arrays("select distinct vertex_id from temp.given_initial")["vertex_id"]
    group = np.where(found["is_frozen"], found["stage_id"], found["hyperstage_id"])
    changes = (np.diff(group) != 0) | (np.diff(found["is_frozen"].astype(np.int8)) != 0)
    starts = np.flatnonzero(changes) + 1
    florets = []
    for place, rows in enumerate(np.split(np.arange(len(group)), starts)):
        if not len(rows):
            continue
        ids, first = np.unique(found["vertex_id"][rows], return_index=True)
        shape = (len(ids), len(rows) // len(ids))
        florets.append(
            Florets(
                ids=ids,
                edges=found["child_id"][rows].reshape(shape),
                prior=found["prior"][rows].reshape(shape),
                stage=found["stage_id"][rows][first],
                hyperstage=hyperstages[place] if place < len(hyperstages) else None,
                is_named=np.isin(ids, named),
            )
        )
    return florets
