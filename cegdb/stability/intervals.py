"""Intervals of the probabilities of a staging: given its stages, or learning them again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import sqlalchemy as sa

from cegdb.errors import StagingError
from cegdb.options import IntervalMethod, IntervalOptions
from cegdb.sqlfiles import Steps
from cegdb.stability.relearning import read_relearning
from cegdb.stages.build import find_left_out_answers
from cegdb.stages.priors import make_edge_priors
from cegdb.stages.recorded import prior_rule, recorded_weighting
from cegdb.stages.relabel import read_relabelled
from cegdb.stages.robust_intervals import intervals_of_stages
from cegdb.stages.scores import credible_intervals
from cegdb.store import schema
from cegdb.store.catalog import refuse_stale, row

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from numpy.typing import NDArray

    from cegdb.stability.relearning import FloretGroup, Relearning, RelearntStages
    from cegdb.stability.replicates import Replicate
    from cegdb.store import Store

    Floats = NDArray[np.float64]

__all__ = [
    "IntervalMethod",
    "goodman",
    "intervals",
    "make_estimates",
    "posterior_masses",
    "wilson",
]

MAX_ESTIMATES: Final = 50_000_000
_ROBUST: Final = "whether or not the situations of a stage are alike"


def intervals(
    store: Store,
    staging_id: int,
    options: IntervalOptions | None = None,
    *,
    max_estimates: int = MAX_ESTIMATES,
) -> pd.DataFrame:
    """Return intervals of the probabilities of a staging; see `cegdb.StagedTree.intervals`.

    ``"robust"`` intervals cover what two models say of the situations of a stage: that they
    are one sample, and that they vary as those of the hyperstage do (see
    `cegdb.stages.robust_intervals`). ``"credible"`` intervals are of the posterior, a Beta
    distribution for each label; ``"wilson"`` of the share of each label alone [1]_;
    ``"goodman"`` of the shares of all labels of a stage at once [2]_. Where weights or design
    effects count, the latter two use effective counts. ``"bootstrap"`` learns the stages again
    on rows drawn again: percentiles of the posterior mean of the stage that a situation is in
    then; situations that no replicate reached are left out.

    References
    ----------
    .. [1] E. B. Wilson (1927), Probable inference, the law of succession, and statistical
       inference. Journal of the American Statistical Association 22, 209-212.
    .. [2] L. A. Goodman (1965), On simultaneous confidence intervals for multinomial
       proportions. Technometrics 7, 247-254.
    """
    options = options or IntervalOptions()
    level = float(options.level)
    if options.method == "bootstrap":
        runs, seed = int(options.runs), int(options.seed)
        _store_bootstrap(store, staging_id, level, runs, seed, max_estimates)
        return _stored_bootstrap(store, staging_id)
    return _intervals_of_stages(store, staging_id, options.method, level)


def _intervals_of_stages(
    store: Store, staging_id: int, method: IntervalMethod, level: float
) -> pd.DataFrame:
    with store.reading() as con, Steps(con) as steps:
        name, _ = make_estimates(store, steps, staging_id)
        estimates = steps.arrays("select * from temp.stage_estimate order by row_index")
        if method == "robust":
            low, high = intervals_of_stages(steps, estimates, level)
        else:
            low, high = _limits(estimates, method, level)
        index = estimates["row_index"]
        steps.create_from("stage_interval", {"row_index": index, "low": low, "high": high})
        given = _ROBUST if method == "robust" else "given the staging"
        steps.run("report_interval", staging=name, method=method, level=level, given=given)
        return con.execute(
            "select * exclude (row_index) from temp.report_interval order by row_index"
        ).df()


def posterior_masses(store: Store, staging_id: int) -> dict[tuple[int, str], float]:
    """Return the posterior of a staging: the Dirichlet mass of each stage and label."""
    with store.reading() as con, Steps(con) as steps:
        _, survey_id = make_estimates(store, steps, staging_id)
        rows = steps.fetch("posterior_mass", survey_id=survey_id)
    return {(stage, label): mass for stage, label, mass in rows}


def make_estimates(store: Store, steps: Steps, staging_id: int) -> tuple[str, int]:
    """Make the table ``stage_estimate`` of a staging; return its name and its survey."""
    with store.catalog() as catalog:
        staging = row(catalog, "staging", staging_id)
        tree = row(catalog, "tree", staging["tree_id"])
        settings = staging["settings"]
        weighting = recorded_weighting(settings).for_tree(catalog, tree)
    if weighting.uses_weights and weighting.choice != "situation":
        refuse_stale("staging", staging)
    tree_id = tree["tree_id"]
    read_relabelled(steps, staging_id)
    steps.run("situation_edge", tree_id=tree_id)
    rule = prior_rule(settings)
    make_edge_priors(steps, tree_id, staging_id, rule, staging["alpha"])
    weighting.measure(steps, tree_id)
    steps.run("recorded_member", staging_id=staging_id)
    steps.view("situation_stage", "from temp.recorded_member")
    steps.run("recorded_predictive_prior", staging_id=staging_id)
    steps.view("predictive_prior", "from temp.recorded_predictive_prior")
    steps.run("stage_answer", is_by_stage=rule == "stage")
    steps.run("stage_estimate")
    find_left_out_answers(steps, tree_id, tree["settings"]["sampling_zeros"])
    return str(staging["name"]), int(tree["survey_id"])


def _limits(
    estimates: Mapping[str, NDArray[Any]], method: IntervalMethod, level: float
) -> tuple[Floats, Floats]:
    if method == "credible":
        return credible_intervals(estimates, level)
    size, n_labels = estimates["size"], estimates["n_labels"]
    _, stage = np.unique(estimates["stage_id"], return_inverse=True)
    total: Floats = np.bincount(stage, size)[stage].astype(np.float64)
    if method == "wilson":
        return wilson(size, total, level)
    return goodman(size, total, n_labels, level)


def wilson(size: Floats, total: Floats, level: float) -> tuple[Floats, Floats]:
    """Return the Wilson interval of each share ``size / total``, NaN where total is 0.

    Examples
    --------
    >>> low, high = wilson(np.array([3.0]), np.array([10.0]), 0.95)
    >>> low.round(4).item(), high.round(4).item()
    (0.1078, 0.6032)
    """
    from scipy.special import chdtri

    return _score_interval(size, total, np.full(len(size), chdtri(1, 1 - level)))


def goodman(
    size: Floats, total: Floats, n_labels: NDArray[np.int64], level: float
) -> tuple[Floats, Floats]:
    """Return Goodman's interval of each share: those of all labels of a stage hold at once."""
    from scipy.special import chdtri

    return _score_interval(size, total, chdtri(1, (1 - level) / n_labels))


def _score_interval(size: Floats, total: Floats, critical: Floats) -> tuple[Floats, Floats]:
    """Return the shares p with total (size / total - p)^2 <= critical p (1 - p)."""
    unknown = np.full(len(size), np.nan)
    low, high = unknown, unknown.copy()
    seen = total > 0
    n, x, c = total[seen], size[seen], critical[seen]
    half = np.sqrt(c * (c + 4 * x * np.maximum(n - x, 0.0) / n))
    low[seen] = np.maximum((c + 2 * x - half) / (2 * (n + c)), 0.0)
    high[seen] = np.minimum((c + 2 * x + half) / (2 * (n + c)), 1.0)
    return low, high


def _store_bootstrap(
    store: Store, staging_id: int, level: float, runs: int, seed: int, max_estimates: int
) -> None:
    """Store percentile intervals for each situation when stages are learnt again."""
    with (
        store.writing() as (con, catalog),
        store.counting(runs, "run") as progress,
        Steps(con) as steps,
    ):
        relearning = read_relearning(steps, con, catalog, staging_id)
        florets = relearning.florets
        edges = np.concatenate(
            [np.zeros(0, dtype=np.int64), *(group.edges.ravel() for group in florets)]
        )
        if runs * len(edges) > max_estimates:
            raise StagingError(
                f"{runs:,} runs of {len(edges):,} edges are {runs * len(edges):,} estimates; "
                f"the limit is {max_estimates:,}",
                hint="use fewer runs, or build the tree from fewer variables",
            )
        estimates = np.full((runs, len(edges)), np.nan)
        for run, replicate in enumerate(relearning.replicates("nonparametric", runs, seed)):
            estimates[run] = _posterior_means(relearning, replicate)
            progress.read()
        low, high, n_runs = percentiles(estimates, level)
        table = schema.bootstrap_interval
        catalog.execute(sa.delete(table).where(table.c.staging_id == staging_id))
        columns = {"child_id": edges, "low": low, "high": high, "n_runs": n_runs}
        steps.create_from("replicated_edge", columns)
        steps.run("staging_interval", staging_id=staging_id, level=level, seed=seed)


def _posterior_means(relearning: Relearning, replicate: Replicate) -> Floats:
    """Return the posterior mean of each edge in a replicate, NaN if not reached."""
    relearnt = relearning.learn(replicate)
    parts = [np.zeros(0)]
    for florets, stages in zip(relearning.florets, relearnt, strict=True):
        size = replicate.size[florets.edges]
        means = _floret_means(florets, stages, size, relearning.stage_mass)
        parts.append(means.ravel())
    return np.concatenate(parts)


def _floret_means(
    florets: FloretGroup, relearnt: RelearntStages, size: Floats, stage_mass: float | None
) -> Floats:
    """Return the posterior mean of each situation's stage, NaN where no row reached it."""
    has_stage = relearnt.stage >= 0
    mean = np.full(size.shape, np.nan)
    _, member = np.unique(relearnt.stage[has_stage], return_inverse=True)
    mass = np.zeros((int(member.max(initial=-1)) + 1, size.shape[1]))
    if stage_mass is not None:
        mass += stage_mass / size.shape[1]
    prior = florets.prior if stage_mass is None else 0.0
    np.add.at(mass, member, (size + prior)[has_stage])
    mean[has_stage] = (mass / mass.sum(axis=1, keepdims=True))[member]
    mean[~relearnt.is_reached] = np.nan
    return mean


def percentiles(values: Floats, level: float) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return the percentile interval of each column, ignoring NaN, and its number of values.

    Between two values by linear interpolation; half of ``1 - level`` is cut off at each end.
    (`numpy.nanquantile` does the same, but column by column: slow for a large tree.)
    """
    n = np.isfinite(values).sum(axis=0)
    ordered = np.sort(values, axis=0)  # NaN go last
    column = np.arange(values.shape[1])

    def at(share: float) -> Floats:
        rank = np.maximum(n - 1, 0) * share
        below = np.floor(rank).astype(np.int64)
        above = np.minimum(below + 1, np.maximum(n - 1, 0))
        one, other = ordered[below, column], ordered[above, column]
        between: Floats = one + (other - one) * (rank - below)
        return between

    tail = (1 - level) / 2
    return at(tail), at(1 - tail), n


def _stored_bootstrap(store: Store, staging_id: int) -> pd.DataFrame:
    """Return the bootstrap intervals of a staging in the form of the others."""
    with store.catalog() as catalog:
        staging = row(catalog, "staging", staging_id)
    with store.reading() as con, Steps(con) as steps:
        steps.run("stored_interval", staging=staging["name"])
        return con.execute(
            "select * exclude (vertex_id, label_id) from temp.stored_interval "
            "order by vertex_id, label_id"
        ).df()
