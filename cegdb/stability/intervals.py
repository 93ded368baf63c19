"""Intervals of the probabilities of a staging: given the stages, or learning them again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import numpy as np
import sqlalchemy as sa

from cegdb.errors import StagingError, is_number, is_one_of
from cegdb.sqlfiles import Steps
from cegdb.stability.bootstrap import checked_runs
from cegdb.stability.relearning import read_relearning, recorded_weighting
from cegdb.stages.priors import edge_priors, rule_of
from cegdb.stages.relabel import labels_of
from cegdb.stages.scores import LEVEL, credible_intervals
from cegdb.store import schema
from cegdb.store.catalog import refuse_stale, row

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from numpy.typing import NDArray

    from cegdb.stability.relearning import Florets, Relearning, Restaged
    from cegdb.stability.replicates import Replicate
    from cegdb.store import Store

    Floats = NDArray[np.float64]

__all__ = ["IntervalMethod", "goodman", "intervals", "posterior_masses", "wilson"]

IntervalMethod: TypeAlias = Literal["credible", "wilson", "goodman", "bootstrap"]

MOST_ESTIMATES: Final = 50_000_000


def intervals(
    store: Store,
    staging_id: int,
    method: IntervalMethod = "credible",
    *,
    level: float = LEVEL,
    runs: int = 200,
    seed: int = 1,
) -> pd.DataFrame:
    """Return intervals of the probabilities of a staging.

    Parameters
    ----------
    store
        Where the staging is.
    staging_id
        The staging.
    method
        ``"credible"``: of the posterior, a Beta distribution for each label; ``"wilson"``:
        of the share of each label alone [1]_; ``"goodman"``: of the shares of all labels of
        a stage at once [2]_; these three take the stages as given. ``"bootstrap"``: from the
        rows drawn again, with the stages learnt again each time: percentiles of the
        posterior mean of the stage that a situation is in then; stored, and shown by the view
        ``cegdb.bootstrap_intervals`` until it is run again.
    level
        The probability that an interval has, or its confidence; between 0 and 1.
    runs, seed
        Of the bootstrap: how many replicates, and of which random numbers.

    Returns
    -------
    DataFrame
        One row a stage and label, or of the bootstrap a situation and label. Columns:
        ``staging``; ``stage``; ``situation`` and ``path`` (missing where a row is a stage);
        ``variable``; ``label``; ``n`` rows that gave the answer, ``weight``, ``share`` = n /
        total, in the stage, or of the bootstrap at the situation; ``probability``, the
        posterior mean of the stage; ``low`` and ``high`` (missing for single edges, and for
        shares of no rows); ``method``; ``level``; ``given``, on what it is conditional.

    Raises
    ------
    StagingError
        A setting is not usable, or the bootstrap cannot be made: see `stability`.
    StoreError
        The bootstrap is asked for and the database is open read-only.

    Notes
    -----
    Where weights or design effects count, Wilson and Goodman intervals are those of the
    effective counts that scores use. The bootstrap leaves out situations that no replicate
    reached. It keeps ``runs`` numbers of 8 bytes for each edge, at most 50,000,000.

    References
    ----------
    .. [1] E. B. Wilson (1927), Probable inference, the law of succession, and statistical
       inference. Journal of the American Statistical Association 22, 209-212.
    .. [2] L. A. Goodman (1965), On simultaneous confidence intervals for multinomial
       proportions. Technometrics 7, 247-254.

    Examples
    --------
    >>> from cegdb.ingest import ingest
    >>> from cegdb.stages import learn_stages
    >>> from cegdb.store import Store
    >>> from cegdb.tree import event_tree
    >>> with Store.open() as store:
    ...     survey = ingest(store, "select i % 4 < 1 as x from range(40) t(i)")
    ...     frame = intervals(store, learn_stages(store, event_tree(store, survey)), "wilson")
    >>> frame[["stage", "label", "low", "high"]].round(4).values.tolist()
    [['u0', 'False', 0.5981, 0.8581], ['u0', 'True', 0.1419, 0.4019]]
    """
    if not is_one_of(method, get_args(IntervalMethod)):
        raise StagingError(
            f"method is {method!r}", hint="choose credible, wilson, goodman or bootstrap"
        )
    if not is_number(level) or not 0 < level < 1:
        raise StagingError(f"level is {level!r}", hint="give a number between 0 and 1: 0.95")
    if method == "bootstrap":
        _bootstrap(store, staging_id, float(level), *checked_runs(runs, seed))
        return _stored(store, staging_id)
    return _given_staging(store, staging_id, method, float(level))


def _given_staging(
    store: Store, staging_id: int, method: IntervalMethod, level: float
) -> pd.DataFrame:
    with store.reading() as con, Steps(con) as steps:
        name, _ = _estimate(store, steps, staging_id)
        estimates = steps.arrays("select * from temp.stage_estimate order by place")
        low, high = _limits(estimates, method, level)
        place = estimates["place"]
        steps.create_from("stage_interval", {"place": place, "low": low, "high": high})
        steps.run("told_interval", staging=name, method=method, level=level)
        return con.execute(
            "select * exclude (place) from temp.told_interval order by place"
        ).df()


def posterior_masses(store: Store, staging_id: int) -> dict[tuple[int, str], float]:
    """Return the posterior of a staging: the Dirichlet mass of each stage and label.

    Raises
    ------
    StaleError
        Rows count by weights that the survey no longer has.

    Examples
    --------
    >>> from cegdb.ingest import ingest
    >>> from cegdb.stages import learn_stages
    >>> from cegdb.store import Store
    >>> from cegdb.tree import event_tree
    >>> with Store.open() as store:
    ...     survey = ingest(store, "select i % 4 < 1 as x from range(40) t(i)")
    ...     posterior_masses(store, learn_stages(store, event_tree(store, survey), alpha=2))
    {(0, 'False'): 31.0, (0, 'True'): 11.0}
    """
    with store.reading() as con, Steps(con) as steps:
        _, survey_id = _estimate(store, steps, staging_id)
        rows = steps.fetch("posterior_mass", survey_id=survey_id)
    return {(stage, label): mass for stage, label, mass in rows}


def _estimate(store: Store, steps: Steps, staging_id: int) -> tuple[str, int]:
    """Make the table ``stage_estimate`` of a staging; return its name and its survey."""
    with store.catalog() as catalog:
        staging = row(catalog, "staging", staging_id)
        tree = row(catalog, "tree", staging["tree_id"])
        said = staging["settings"]
        weighting = recorded_weighting(said).settled(catalog, tree)
    if weighting.uses_weights:
        refuse_stale("staging", staging)
    tree_id = tree["tree_id"]
    labels_of(steps, staging_id)
    steps.run("situation_edge", tree_id=tree_id)
    edge_priors(steps, tree_id, staging_id, rule_of(said), staging["alpha"])
    weighting.measure(steps, tree_id)
    steps.create(
        "situation_stage",
        "select vertex_id, stage_id from cegdb.stage_member where staging_id = $staging_id",
        {"staging_id": staging_id},
    )
    steps.run("stage_answer")
    steps.run("stage_estimate")
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
    """Return Goodman's interval of each share: all of a stage hold at once.

    Parameters
    ----------
    size, total
        The count of a label, and of all labels of its stage.
    n_labels
        Of the stage.
    level
        Confidence that all intervals of a stage hold (Bonferroni).

    Examples
    --------
    Of the counts 56, 72, 73, 59, 62, 87, 58 the first:

    >>> low, high = goodman(np.array([56.0]), np.array([467.0]), np.array([7]), 0.95)
    >>> low.round(3).item(), high.round(3).item()
    (0.085, 0.166)
    """
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


def _bootstrap(store: Store, staging_id: int, level: float, runs: int, seed: int) -> None:
    """Store percentile intervals of what situations have when stages are learnt again."""
    with (
        store.writing() as (con, catalog),
        store.counting(runs, "run") as progress,
        Steps(con) as steps,
    ):
        relearning = read_relearning(steps, con, catalog, staging_id)
        florets = relearning.florets
        edges = np.concatenate(
            [np.zeros(0, dtype=np.int64), *(one.edges.ravel() for one in florets)]
        )
        if runs * len(edges) > MOST_ESTIMATES:
            raise StagingError(
                f"{runs:,} runs of {len(edges):,} edges are {runs * len(edges):,} estimates; "
                f"at most {MOST_ESTIMATES:,} are kept",
                hint="use fewer runs, or build the tree of fewer variables",
            )
        found = np.full((runs, len(edges)), np.nan)
        for run, replicate in enumerate(relearning.replicates("nonparametric", runs, seed)):
            found[run] = _estimates(relearning, replicate)
            progress.read()
        low, high, n_runs = percentiles(found, level)
        table = schema.bootstrap_interval
        catalog.execute(sa.delete(table).where(table.c.staging_id == staging_id))
        columns = {"child_id": edges, "low": low, "high": high, "n_runs": n_runs}
        steps.create_from("replicated_edge", columns)
        steps.run("staging_interval", staging_id=staging_id, level=level, seed=seed)


def _estimates(relearning: Relearning, replicate: Replicate) -> Floats:
    """Return the posterior mean of each edge of a replicate, NaN if not reached."""
    restaged = relearning.learn(replicate)
    parts = [np.zeros(0)]
    for one, now in zip(relearning.florets, restaged, strict=True):
        parts.append(_posterior(one, now, replicate.size[one.edges]).ravel())
    return np.concatenate(parts)


def _posterior(florets: Florets, now: Restaged, size: Floats) -> Floats:
    part = now.stage >= 0
    found = np.full(size.shape, np.nan)
    _, member = np.unique(now.stage[part], return_inverse=True)
    mass = np.zeros((int(member.max(initial=-1)) + 1, size.shape[1]))
    np.add.at(mass, member, (size + florets.prior)[part])
    found[part] = (mass / mass.sum(axis=1, keepdims=True))[member]
    found[~now.is_reached] = np.nan
    return found


def percentiles(found: Floats, level: float) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return the percentile interval of each column, and how many numbers it has.

    Parameters
    ----------
    found
        Shape (runs, columns); NaN where a run has no number.
    level
        The share of numbers within; the rest is cut off in halves, between two numbers by
        linear interpolation.

    Examples
    --------
    >>> low, high, n = percentiles(np.array([[3.0], [np.nan], [1.0], [2.0]]), 0.5)
    >>> low.item(), high.item(), n.item()
    (1.5, 2.5, 3)
    """
    n = np.isfinite(found).sum(axis=0)
    ordered = np.sort(found, axis=0)  # NaN go last
    column = np.arange(found.shape[1])

    def at(share: float) -> Floats:
        place = np.maximum(n - 1, 0) * share
        below = np.floor(place).astype(np.int64)
        above = np.minimum(below + 1, np.maximum(n - 1, 0))
        one, other = ordered[below, column], ordered[above, column]
        between: Floats = one + (other - one) * (place - below)
        return between

    tail = (1 - level) / 2
    return at(tail), at(1 - tail), n


def _stored(store: Store, staging_id: int) -> pd.DataFrame:
    """Return the bootstrap intervals of a staging in the shape of the others."""
    with store.reading() as con:
        with store.catalog() as catalog:
            staging = row(catalog, "staging", staging_id)
        return con.execute(
            "select staging, stage, situation, path, variable, label, n, "
            "cast(weight as double) as weight, share, probability, low, high, "
            "'bootstrap' as method, level, 'relearns the stages' as given "
            "from cegdb.bootstrap_intervals where staging = $staging "
            "order by vertex_id, label_id",
            {"staging": staging["name"]},
        ).df()
