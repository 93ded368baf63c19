"""Learn the stages of a staging again, as they were learnt, on replicates of its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cegdb import clustering
from cegdb.errors import StagingError
from cegdb.stability.replicates import Replicate, TreeRows, read_rows
from cegdb.stages.effective_counts import variable_ids
from cegdb.stages.groups import GroupReader
from cegdb.stages.learning import (
    integer_counts,
    needs_answers,
    needs_scores,
    plan_of,
    read_hyperstages,
)
from cegdb.stages.priors import make_edge_priors, stage_mass
from cegdb.stages.recorded import (
    prior_rule,
    recorded_groups,
    recorded_learning,
    recorded_weighting,
)
from cegdb.stages.relabel import read_relabelled
from cegdb.stages.situations import find_florets
from cegdb.store.catalog import refuse_stale, row

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import duckdb
    import sqlalchemy as sa
    from numpy.typing import NDArray

    from cegdb.options import BootstrapKind, LearnOptions
    from cegdb.sqlfiles import Steps

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int64]

__all__ = [
    "FloretGroup",
    "Relearning",
    "RelearntStages",
    "read_relearning",
    "recorded_weighting",
]


class FloretGroup(NamedTuple):
    """Situations of one hyperstage, or of one frozen stage, with several edges each.

    Attributes
    ----------
    ids, stage
        Shape (situations,), ascending; and the stage of each in the staging.
    edges, prior
        Shape (situations, labels): the vertex that each edge leads to, and its prior.
    hyperstage
        What learning uses of them; None if they are frozen.
    is_named
        Shape (situations,): which were given a stage to start in.
    """

    ids: Numbers
    edges: Numbers
    prior: Floats
    stage: Numbers
    hyperstage: clustering.Hyperstage | None
    is_named: NDArray[np.bool_]


class RelearntStages(NamedTuple):
    """The stages of `FloretGroup` in a replicate, and which situations a row reached.

    A stage is -1 where learning did not use the situation.
    """

    stage: Numbers
    is_reached: NDArray[np.bool_]


@dataclass(frozen=True)
class Relearning:
    """How the stages of a staging are learnt, again and again.

    ``florets`` are those of each hyperstage, then of each frozen stage; ``learnt_ids`` the
    situations whose stages were learnt. With ``has_effective_counts`` weights or design
    effects decide what a row counts; otherwise it counts 1. ``stage_mass`` is the prior mass of
    a stage where it does not depend on its situations.
    """

    rows: TreeRows
    florets: Sequence[FloretGroup]
    learnt_ids: Numbers
    learning: LearnOptions
    stage_mass: float | None
    smoothing: float
    has_effective_counts: bool

    def plan(self, n_rows: float) -> clustering.Plan:
        """Return how stages of so many rows are learnt."""
        return plan_of(self.learning, self.smoothing, n_rows, stage_mass=self.stage_mass)

    def replicates(self, kind: BootstrapKind, runs: int, seed: int) -> Iterator[Replicate]:
        """Return replicates; those of a seed do not depend on how many there are."""
        make = self.rows.draw if kind == "nonparametric" else self.rows.simulate
        for run in range(runs):
            yield make(np.random.default_rng([seed, run]))

    def learn(self, replicate: Replicate) -> list[RelearntStages]:
        """Learn the stages of a replicate.

        Situations that no row reached are not learnt, except those given a stage to start in:
        their prior is part of the log marginal likelihood.
        """
        counts, unit = self._counts(replicate)
        of_root = self.rows.parent == 0
        plan = self.plan(float(replicate.size[of_root].sum()))
        has_prior = plan.score == "log_marginal_likelihood"
        relearnt = []
        for florets in self.florets:
            is_reached = replicate.size[florets.edges].sum(axis=1) > 0
            if florets.hyperstage is None:
                relearnt.append(RelearntStages(florets.stage, is_reached))
                continue
            rows = np.flatnonzero(is_reached | (florets.is_named & has_prior))
            stage = np.full(len(florets.ids), -1, dtype=np.int64)
            if len(rows):
                drawn = counts[florets.edges[rows]]
                hyperstage = florets.hyperstage.subset(rows, drawn, unit=unit)
                stage[rows] = clustering.learn(hyperstage, plan).stage
            relearnt.append(RelearntStages(stage, is_reached))
        return relearnt

    def _counts(self, replicate: Replicate) -> tuple[Numbers, float]:
        if not self.has_effective_counts:
            return replicate.n, 1.0
        counts = np.zeros_like(replicate.n)
        learnt = [
            florets.edges.ravel() for florets in self.florets if florets.hyperstage is not None
        ]
        edges = np.concatenate([np.zeros(0, dtype=np.int64), *learnt])
        counts[edges], unit = integer_counts(replicate.n[edges], replicate.size[edges])
        return counts, unit


def read_relearning(
    steps: Steps, con: duckdb.DuckDBPyConnection, catalog: sa.Connection, staging_id: int
) -> Relearning:
    """Return how the stages of a staging were learnt; refuse stages given by hand."""
    staging = row(catalog, "staging", staging_id)
    tree = row(catalog, "tree", staging["tree_id"])
    settings, name, tree_id = staging["settings"], staging["name"], tree["tree_id"]
    if staging["method"] == "given":
        raise StagingError(
            f"the stages of {name!r} were given by hand: there is nothing to learn again",
            hint="learn stages of the same tree (learn_stages) and compare them with these "
            "(compare, diff); stages kept by frozen= stay as they are",
        )
    refuse_stale("staging", staging)
    initial = recorded_groups(settings.get("initial"), None)
    if settings.get("initial") is not None and initial is None:
        raise StagingError(
            f"staging {name!r} started from stages of a large frame or file, which is not "
            "stored",
            hint="learn it from stages given by path, or from initial='full' or 'indep'",
        )
    read_relabelled(steps, staging_id)
    find_florets(steps, tree_id)
    given = None if isinstance(initial, str) else initial
    GroupReader(steps, con, tree_id, skipped=[]).read(given, "initial")
    steps.run("recorded_member", staging_id=staging_id)
    steps.create("situation_group", "select vertex_id, hyperstage_id from temp.recorded_member")
    steps.run("recorded_frozen")
    rule = prior_rule(settings)
    make_edge_priors(steps, tree_id, staging_id, rule, staging["alpha"])
    weighting = recorded_weighting(settings).for_tree(catalog, tree)
    weighting.measure(steps, tree_id)
    learning = recorded_learning(staging)
    ids = list(variable_ids(catalog, tree).values()) if needs_answers(learning) else None
    hyperstages = read_hyperstages(
        steps,
        starts_joined=initial == "indep",
        variable_ids=ids,
        with_unreached=True,
        scored_tree=tree_id if needs_scores(learning) else None,
    )
    steps.run("floret_edge", staging_id=staging_id)
    steps.run("vertex_end", tree_id=tree_id, staging_id=staging_id)
    ends = steps.arrays("select * from temp.vertex_end order by vertex_id")
    factor = weighting.factor(steps) if weighting.uses_weights else None
    learnt = steps.arrays(
        "select vertex_id from temp.recorded_member where kind = 'learnt' order by vertex_id"
    )
    return Relearning(
        rows=read_rows(ends, weighting, factor),
        florets=_florets(steps, hyperstages),
        learnt_ids=learnt["vertex_id"],
        learning=learning,
        stage_mass=stage_mass(rule, staging["alpha"]),
        smoothing=settings.get("smoothing", 0.0),
        has_effective_counts=weighting.uses_weights or bool(weighting.effects),
    )


def _florets(steps: Steps, hyperstages: Sequence[clustering.Hyperstage]) -> list[FloretGroup]:
    edges = steps.arrays("select * from temp.floret_edge order by row_index")
    initial = "select vertex_id from temp.given_group where role = 'initial'"
    named = steps.arrays(initial)["vertex_id"]
    starts = np.flatnonzero(np.diff(edges["group_index"])) + 1
    florets = []
    for index, rows in enumerate(np.split(np.arange(len(edges["group_index"])), starts)):
        if not len(rows):
            continue
        ids, first = np.unique(edges["vertex_id"][rows], return_index=True)
        shape = (len(ids), len(rows) // len(ids))
        florets.append(
            FloretGroup(
                ids=ids,
                edges=edges["child_id"][rows].reshape(shape),
                prior=edges["prior"][rows].reshape(shape),
                stage=edges["stage_id"][rows][first],
                hyperstage=hyperstages[index] if index < len(hyperstages) else None,
                is_named=np.isin(ids, named),
            )
        )
    return florets
