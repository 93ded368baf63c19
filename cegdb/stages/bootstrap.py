"""Stability: learn the stages of a tree again on bootstrap replicates of its rows."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import sqlalchemy as sa

from cegdb import ahc
from cegdb.ahc.stagings import name_stages
from cegdb.errors import StagingError
from cegdb.sqlfiles import Steps
from cegdb.stages.grouping import find_florets, given_again
from cegdb.stages.learning import Learning, as_whole, is_whole, read_hyperstages
from cegdb.stages.naming import resolve
from cegdb.stages.priors import edge_priors, rule_of
from cegdb.stages.replicates import Replicate, Rows, read_rows
from cegdb.stages.weighting import Weighting, variable_ids
from cegdb.store import schema
from cegdb.store.objects import refuse_stale, row

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import duckdb
    from numpy.typing import NDArray

    from cegdb.store import Store

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int64]

__all__ = ["Kind", "Relearning", "read_relearning", "stability"]

Kind: TypeAlias = Literal["nonparametric", "parametric"]

MOST_PAIRS: Final = 2_000_000


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
    hyperstage: ahc.Hyperstage | None
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
    learning
        The settings of the staging.
    is_weighed
        Whether rows are worth another number than theirs.
    """

    rows: Rows
    florets: Sequence[Florets]
    learning: Learning
    is_weighed: bool

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
        plan = self.learning.plan(float(replicate.size[of_root].sum()))
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
                ids = one.ids[part]
                seen = replace(
                    one.hyperstage,
                    ids=ids,
                    counts=counts[one.edges[part]],
                    multiplicities=one.hyperstage.multiplicities[part],
                    start=name_stages(ids, one.hyperstage.start[part]),
                    answers=one.hyperstage.answers[part],
                    unit=unit,
                )
                stage[part] = ahc.learn(seen, plan).stage
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
    learning = Learning.recorded(staging["method"], said)
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
        is_weighed=weighting.uses_weights or bool(weighting.effects),
    )


def recorded_weighting(settings: Mapping[str, Any]) -> Weighting:
    """Return the weighting and design effects that settings of a staging record."""
    return Weighting(settings.get("weighting", "situation"), settings.get("deff") or {})


def _florets(steps: Steps, hyperstages: Sequence[ahc.Hyperstage]) -> list[Florets]:
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


def check_runs(runs: int, seed: int) -> None:
    """Refuse a number of runs, or a seed, that is not usable.

    Examples
    --------
    >>> check_runs(0, 1)
    Traceback (most recent call last):
    ...
    cegdb.errors.StagingError: runs is 0
    hint: give a whole number from 1 on, such as 100
    """
    if not is_whole(runs) or runs < 1:
        raise StagingError(
            f"runs is {runs!r}", hint="give a whole number from 1 on, such as 100"
        )
    if not is_whole(seed) or seed < 0:
        raise StagingError(f"seed is {seed!r}", hint="give a whole number from 0 on")


def stability(
    store: Store,
    staging_id: int,
    kind: Kind = "nonparametric",
    *,
    runs: int = 100,
    seed: int = 1,
) -> None:
    """Tell how often each pair of situations is staged together when stages are relearnt.

    The views ``cegdb.stage_pairs``, ``cegdb.stage_stability`` and ``cegdb.stage_bootstraps``
    show it. Run again it replaces what there is of the same kind.

    Parameters
    ----------
    store
        Where the staging is; all is done in one transaction.
    staging_id
        The staging, learnt. Each replicate is learnt by its settings: method, score, priors,
        hyperstages, frozen and initial stages, structure prior, weighting.
    kind
        ``"nonparametric"``: the rows of the tree are drawn with replacement [1]_.
        ``"parametric"``: as many rows are simulated from the shares of the stages
        (maximum likelihood), so as if the staging were true.
    runs
        How many replicates.
    seed
        Of the random numbers: the same seed and rows give the same tables.

    Raises
    ------
    StagingError
        The stages were given by hand, there are more than 2,000,000 pairs, or a setting is
        not usable.
    StoreError
        The database is open read-only.

    Notes
    -----
    The tree stays as it is, with its priors and hyperstages. A situation without rows in a
    replicate is not learnt there: shares are of the runs in which rows reached both. Rows
    that end at one vertex of a weighted tree have their mean weight and mean squared weight;
    a simulated row is worth what those of its situation are on average; design effects are
    those of the staging. A run costs as much as the learning itself. Memory: two numbers of
    4 bytes a pair of a hyperstage, in both directions.

    References
    ----------
    .. [1] B. Efron and R. J. Tibshirani (1993), An introduction to the bootstrap. Pairs:
       S. Monti, P. Tamayo, J. Mesirov and T. Golub (2003), Consensus clustering. Machine
       Learning 52, 91-118.

    Examples
    --------
    >>> from cegdb.ingest import ingest
    >>> from cegdb.stages import learn_stages
    >>> from cegdb.store import Store
    >>> from cegdb.tree import event_tree
    >>> with Store.open() as store:
    ...     survey = ingest(store, "select i % 2 as x, i % 8 < 4 as y from range(80) t(i)")
    ...     stability(store, learn_stages(store, event_tree(store, survey)), runs=20)
    ...     with store.reading() as con:
    ...         con.execute("select situation, other, n_runs from cegdb.stage_pairs").fetchall()
    [('s1', 's2', 20)]
    """
    if kind not in get_args(Kind):
        raise StagingError(f"kind is {kind!r}", hint="choose nonparametric or parametric")
    check_runs(runs, seed)
    started = time.perf_counter()
    with store.writing() as (con, catalog), Steps(con) as steps:
        relearning = read_relearning(steps, con, catalog, staging_id)
        learnt = _learnt(steps, staging_id)
        kept = [
            np.flatnonzero(np.isin(one.ids, learnt))
            for one in relearning.florets
            if one.hyperstage is not None
        ]
        n_pairs = sum(len(rows) * (len(rows) - 1) // 2 for rows in kept)
        if n_pairs > MOST_PAIRS:
            raise StagingError(
                f"{n_pairs:,} pairs of situations may share a stage; at most {MOST_PAIRS:,} "
                "are counted",
                hint="freeze stages that are not in question (frozen=), build the tree of "
                "fewer variables, or learn within smaller hyperstages",
            )
        shape = [(len(rows), len(rows)) for rows in kept]
        together = [np.zeros(size, dtype=np.int32) for size in shape]
        reached = [np.zeros(size, dtype=np.int32) for size in shape]
        n_stages = np.zeros(runs, dtype=np.int64)
        for run, replicate in enumerate(relearning.replicates(kind, runs, seed)):
            restaged = relearning.learn(replicate)
            for place, rows in enumerate(kept):
                is_reached = restaged[place].is_reached[rows]
                stage = restaged[place].stage[rows]
                n_stages[run] += len(np.unique(stage[is_reached]))
                stage = np.where(is_reached, stage, -1 - np.arange(len(rows)))
                together[place] += stage[:, None] == stage
                reached[place] += is_reached[:, None] & is_reached
        ids = [one.ids[rows] for one, rows in zip(relearning.florets, kept, strict=False)]
        _write_pairs(steps, catalog, staging_id, kind, _pairs(ids, reached, together))
        catalog.execute(
            sa.insert(schema.stage_bootstrap).values(
                staging_id=staging_id,
                kind=kind,
                n_runs=runs,
                seed=seed,
                n_situations=sum(map(len, kept)),
                n_pairs=n_pairs,
                mean_stages=float(n_stages.mean()),
                min_stages=int(n_stages.min()),
                max_stages=int(n_stages.max()),
                seconds=time.perf_counter() - started,
            )
        )


def _learnt(steps: Steps, staging_id: int) -> Numbers:
    """Return the situations whose stages were learnt."""
    found: Numbers = steps.arrays(
        "select m.vertex_id from cegdb.stage_member as m inner join cegdb.stage as s "  # noqa: S608
        "on m.staging_id = s.staging_id and m.stage_id = s.stage_id "
        f"where m.staging_id = {int(staging_id)} and s.kind = 'learnt'"
    )["vertex_id"]
    return found


def _pairs(
    ids: Sequence[Numbers],
    reached: Sequence[NDArray[np.int32]],
    together: Sequence[NDArray[np.int32]],
) -> dict[str, NDArray[Any]]:
    """Return each pair once, the smaller situation first."""
    upper = [np.triu_indices(len(found), 1) for found in ids]
    parts: dict[str, list[NDArray[Any]]] = {
        "vertex_id": [found[i] for found, (i, _) in zip(ids, upper, strict=True)],
        "other_id": [found[j] for found, (_, j) in zip(ids, upper, strict=True)],
        "n_runs": [n[pair] for n, pair in zip(reached, upper, strict=True)],
        "n_together": [n[pair] for n, pair in zip(together, upper, strict=True)],
    }
    nothing = np.zeros(0, dtype=np.int64)
    return {name: np.concatenate([nothing, *arrays]) for name, arrays in parts.items()}


def _write_pairs(
    steps: Steps,
    catalog: sa.Connection,
    staging_id: int,
    kind: Kind,
    pairs: Mapping[str, NDArray[Any]],
) -> None:
    for table in (schema.situation_pair, schema.stage_bootstrap):
        is_it = sa.and_(table.c.staging_id == staging_id, table.c.kind == kind)
        catalog.execute(sa.delete(table).where(is_it))
    steps.create_from("counted_pair", pairs)
    steps.run("staging_pair", staging_id=staging_id, kind=kind)
