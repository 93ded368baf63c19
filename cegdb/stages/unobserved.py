"""Situations that nobody reached: the probabilities that learning gives them.

By default they share a stage in their hyperstage with the predictive distribution of one more
situation: its mean is that of the situations somebody reached, and its mass as small as these
vary. Or they join stages that were learnt: that of the nearest situation, or one that is named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from cegdb.errors import StagingError, is_one_of
from cegdb.stages.learning import read_hyperstages
from cegdb.stages.robust_intervals import correlation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cegdb.clustering import Hyperstage
    from cegdb.sqlfiles import Steps
    from cegdb.stages.groups import GroupReader

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_CORRELATIONS: Final = np.append(np.geomspace(1e-5, 0.1, 40), np.linspace(0.11, 0.99, 89))
_EXTREMES: Final = (1e-5, 0.99)
_MOST_DISTINCT: Final = 5_000
_MOST_PAIRS: Final = 2_000_000_000
_PAIRS_AT_ONCE: Final = 2_000_000


def predictive_mass(sizes: Floats) -> Floats:
    """Return the Dirichlet distribution of one more situation, as its mass of each label.

    ``sizes`` are the counts of the situations of a hyperstage, shape (situations, labels). They
    are taken as draws from Dirichlet-multinomial distributions with a common mean and
    correlation, the latter uniform on 0 to 1 before the counts are seen. Without situations
    every share is as probable as any other.

    Examples
    --------
    >>> few = predictive_mass(np.array([[2.0, 8.0]]))
    >>> many = predictive_mass(np.array([[2.0, 8.0]] * 30))
    >>> (few / few.sum()).round(2).tolist(), (many / many.sum()).round(2).tolist()
    ([0.27, 0.73], [0.2, 0.8])
    >>> few.sum().round(1).item(), many.sum().round(0).item()
    (0.5, 91.0)
    """
    from scipy.special import gammaln, logsumexp

    n_labels = sizes.shape[1]
    seen, times = np.unique(sizes[sizes.sum(axis=1) > 0], axis=0, return_counts=True)
    if not len(seen):
        return np.ones(n_labels)
    rows = seen.sum(axis=1)
    grid = _CORRELATIONS
    if len(seen) > _MOST_DISTINCT:  # so many that their correlation is as good as known
        grid = np.array([np.clip(correlation(np.repeat(seen, times, axis=0)), *_EXTREMES)])
    means, logs = [], []
    for rho in grid.tolist():
        mass = 1 / rho - 1
        weight = times * (mass + 1) / (rows + mass)
        mean = (weight @ seen + 0.5) / (weight @ rows + 0.5 * n_labels)
        prior = mass * mean
        of_labels = (gammaln(seen + prior) - gammaln(prior)).sum(axis=1)
        logs.append(times @ (of_labels + gammaln(mass) - gammaln(rows + mass)))
        means.append(mean)
    log_weight = np.array(logs)
    if len(grid) > 1:
        log_weight += np.log(np.gradient(grid))
    posterior = np.exp(log_weight - logsumexp(log_weight))
    mean = posterior @ np.array(means)
    correlated = float(posterior @ grid)
    # The mean is as uncertain as a sample of so many situations, of so many rows.
    spread = correlated * (1 + 1 / times.sum()) + (1 - correlated) / float(times @ rows)
    spread = min(spread, _EXTREMES[1])
    return np.asarray((1 / spread - 1) * mean)


def make_predictive_priors(steps: Steps, *, is_predictive: bool) -> None:
    """Make ``predictive_prior``: the priors of the stages that nobody reached."""
    n_rows = steps.run("unobserved_size") if is_predictive else 0
    if not n_rows:
        steps.empty("predictive_prior", "stage_id bigint, label_id integer, prior double")
        return
    rows = steps.arrays("select * from temp.unobserved_size order by all")
    columns: dict[str, list[float]] = {"stage_id": [], "label_id": [], "prior": []}
    starts = np.flatnonzero(np.diff(rows["stage_id"])) + 1
    for part in np.split(np.arange(len(rows["size"])), starts):
        labels = np.unique(rows["label_id"][part])
        sizes = rows["size"][part].reshape(-1, len(labels))
        columns["stage_id"] += [rows["stage_id"][part[0]]] * len(labels)
        columns["label_id"] += labels.tolist()
        columns["prior"] += predictive_mass(sizes).tolist()
    steps.create_from(
        "predictive_prior",
        {
            "stage_id": np.array(columns["stage_id"], np.int64),
            "label_id": np.array(columns["label_id"], np.int64),
            "prior": np.array(columns["prior"]),
        },
        purpose="Of each stage that nobody reached the predictive distribution of one more "
        "situation, as prior: from gamma functions on a grid of correlations.",
    )


def join_unobserved(reader: GroupReader, rule: object, variable_ids: Sequence[int]) -> None:
    """Add to ``learnt_stage`` the situations that nobody reached, if they join a stage."""
    if is_one_of(rule, ("predictive", "own")):
        return
    steps = reader.steps
    stages = steps.arrays("select * from temp.learnt_stage order by vertex_id")
    stage_of = dict(zip(stages["vertex_id"].tolist(), stages["stage_id"].tolist(), strict=True))
    targets = None if is_one_of(rule, ("nearest",)) else _targets(reader, rule, stage_of)
    groups = steps.arrays("select * from temp.situation_group order by vertex_id")
    for hyperstage in read_hyperstages(
        steps, starts_joined=False, variable_ids=variable_ids, with_unreached=True
    ):
        is_new = np.array([vertex not in stage_of for vertex in hyperstage.ids.tolist()])
        is_new &= ~hyperstage.counts.any(axis=1)
        is_known = np.array([vertex in stage_of for vertex in hyperstage.ids.tolist()])
        if not is_new.any() or not is_known.any():
            continue
        new = hyperstage.ids[is_new].tolist()
        if targets is None:
            nearest = hyperstage.ids[is_known][_nearest(hyperstage, is_new, is_known)]
            stage_of |= {v: stage_of[w] for v, w in zip(new, nearest.tolist(), strict=True)}
        else:
            at = np.searchsorted(groups["vertex_id"], hyperstage.ids[0])
            target = targets.get(int(groups["hyperstage_id"][at]))
            if target is not None:
                stage_of |= dict.fromkeys(new, target)
    steps.create_from(
        "learnt_stage",
        {
            "vertex_id": np.array(list(stage_of), np.int64),
            "stage_id": np.array(list(stage_of.values()), np.int64),
        },
    )


def _targets(reader: GroupReader, rule: object, stage_of: dict[int, int]) -> dict[int, int]:
    """Return by hyperstage the learnt stage named by the path of one of its situations."""
    paths = [tuple(path) for path in rule]  # type: ignore[attr-defined]
    reader.read({path: str(number) for number, path in enumerate(paths)}, "unobserved")
    targets: dict[int, int] = {}
    for hyperstage_id, vertex_id, name in reader.steps.rows(
        "select h.hyperstage_id, g.vertex_id, g.name from temp.given_group as g "
        "inner join temp.situation_group as h using (vertex_id) "
        "where g.role = 'unobserved' order by vertex_id"
    ):
        path = paths[int(name)]
        if vertex_id not in stage_of:
            raise StagingError(
                f"unobserved names the situation {path!r}, but its stage is not learnt",
                hint="name a situation that somebody reached, with several answers",
            )
        if targets.setdefault(hyperstage_id, stage_of[vertex_id]) != stage_of[vertex_id]:
            raise StagingError(
                f"unobserved names situations of different stages of one hyperstage: {path!r} "
                "is one of them",
                hint="name one situation of each hyperstage",
            )
    return targets


def _nearest(
    hyperstage: Hyperstage, is_new: NDArray[np.bool_], is_known: NDArray[np.bool_]
) -> Ints:
    """Return, of the known situations, the nearest of each new one.

    It is the one that differs in the fewest answers; of several that with most rows, then the
    first.
    """
    answers, n = hyperstage.answers, hyperstage.counts.sum(axis=1)
    known, new = answers[is_known], answers[is_new]
    if len(known) * len(new) > _MOST_PAIRS:
        raise StagingError(
            f"unobserved='nearest' would compare {len(known) * len(new):.1e} pairs of "
            "situations",
            hint="leave unobserved out, or use fewer variables",
        )
    by_rows = np.lexsort((np.arange(len(known)), -n[is_known]))
    at_once = max(1, _PAIRS_AT_ONCE // len(known))
    found = [
        by_rows[
            (new[first : first + at_once, None, :] != known[by_rows][None, :, :])
            .sum(axis=2)
            .argmin(axis=1)
        ]
        for first in range(0, len(new), at_once)
    ]
    return np.concatenate(found)
