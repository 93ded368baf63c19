"""Learn stages: tables as arrays, clustering, and the expected number of spurious stages."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from cegdb import clustering
from cegdb.clustering import MAX_ORDERED, MAX_SITUATIONS, Coarsening, Hyperstage, Plan
from cegdb.clustering.null_bootstrap import expected_spurious_stages
from cegdb.errors import StagingError
from cegdb.options import DISTANCES, GREEDY_METHODS
from cegdb.stages.situations import describe_situation, find_situation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from cegdb.clustering import Configurations, LearntStages
    from cegdb.clustering.null_bootstrap import Budget
    from cegdb.options import LearnOptions
    from cegdb.sqlfiles import Steps
    from cegdb.store.progress import Progress

_THRESHOLD: Final = 0.1
_SIGNIFICANCE: Final = 0.05
_MAX_BASES: Final = 32
CLOSE: Final = 3.0
"""A runner-up whose score is less than this below the best one is close: odds of about 20."""


def plan_of(
    learning: LearnOptions,
    smoothing: float,
    n_rows: float,
    *,
    stage_mass: float | None = None,
    coarsening: Coarsening | None = None,
) -> Plan:
    """Return how stages of a tree of that many rows are learnt, with every default."""
    distances = DISTANCES.get(learning.method)
    return Plan(
        method=learning.method,
        score=learning.settled_score,
        structure_prior=learning.structure_prior,
        n_rows=n_rows,
        smoothing=float(smoothing),
        distance=learning.distance or (distances[0] if distances else ""),
        threshold=float(learning.threshold or _THRESHOLD),
        n_stages=None if learning.n_stages is None else int(learning.n_stages),
        seed=int(learning.seed),
        stage_mass=stage_mass,
        significance=(
            float(learning.significance or _SIGNIFICANCE)
            if learning.settled_criterion == "test"
            else None
        ),
        max_parents=None if learning.max_parents is None else int(learning.max_parents),
        coarsening=coarsening or Coarsening(),
    )


def learning_settings(learning: LearnOptions) -> dict[str, object]:
    """Return the settings of learning that matter for its method."""
    plan = plan_of(learning, 0.0, 1.0)
    settings: dict[str, object] = {
        "structure_prior": learning.structure_prior,
        "seed": plan.seed,
        "unobserved": learning.unobserved,
    }
    if learning.method in GREEDY_METHODS:
        settings["criterion"] = learning.settled_criterion
    if plan.significance is not None:
        settings["significance"] = plan.significance
    if plan.max_parents is not None:
        settings["max_parents"] = plan.max_parents
    if learning.method != "bj":
        settings["score"] = plan.score
    if learning.method in DISTANCES:
        settings["distance"] = plan.distance
    if learning.method == "bj":
        settings["threshold"] = plan.threshold
    if learning.method in ("hclust", "kmeans"):
        settings["n_stages"] = plan.n_stages
    return settings


def read_hyperstages(
    steps: Steps,
    *,
    starts_joined: bool,
    variable_ids: Sequence[int] | None,
    with_unreached: bool = False,
    scored_tree: int | None = None,
) -> list[Hyperstage]:
    """Return the hyperstages to learn as arrays, in the order of their smallest situations.

    With ``starts_joined`` each starts as one stage. ``variable_ids``, in the order of the tree,
    are given if the answers that lead to each situation are needed, ``scored_tree`` is the tree
    if scores of labels are; ``with_unreached`` also takes situations that no row reached.
    """
    steps.run("learnable", starts_joined=starts_joined, with_unreached=with_unreached)
    steps.run("learnable_answer")
    columns = steps.arrays("select * from temp.learnable_answer order by all")
    columns["n"], unit = integer_counts(columns["n"], columns["size"])
    answers = None if variable_ids is None else _read_answers(steps, variable_ids)
    hyperstage = columns["hyperstage_id"]
    scores = {} if scored_tree is None else _read_scores(steps, scored_tree)
    ends = np.flatnonzero(np.diff(hyperstage)) + 1
    return [
        replace(
            _hyperstage_of_rows({key: columns[key][rows] for key in columns}, unit, answers),
            scores=scores.get(int(hyperstage[rows[0]])),
        )
        for rows in np.split(np.arange(len(hyperstage)), ends)
        if len(rows)
    ]


def _read_scores(steps: Steps, tree_id: int) -> dict[int, NDArray[np.float64]]:
    """Return the scores of the labels of each hyperstage whose answers are ordered.

    Two labels are in any case; of more, at least two must have different scores.
    """
    steps.run("label_score", tree_id=tree_id)
    columns = steps.arrays("select * from temp.label_score order by hyperstage_id, label_id")
    score = np.ma.filled(columns["score"].astype(np.float64), np.nan)
    scores: dict[int, NDArray[np.float64]] = {}
    ids, first = np.unique(columns["hyperstage_id"], return_index=True)
    for hyperstage_id, own in zip(ids.tolist(), np.split(score, first[1:]), strict=True):
        if len(own) == 2:
            scores[hyperstage_id] = np.array([0.0, 1.0])
        elif np.nanmin(own, initial=np.inf) < np.nanmax(own, initial=-np.inf):
            scores[hyperstage_id] = own
    return scores


def integer_counts(
    n: NDArray[np.int64], size: NDArray[np.float64]
) -> tuple[NDArray[np.int64], float]:
    """Return counts as multiples of a unit: 1, or a power of 2 for effective counts.

    ``size`` is the effective count of ``n`` rows; masked where rows count.
    """
    if np.ma.getmaskarray(size).any() or not len(n):
        return n, 1.0
    return integer_sizes(size)


def integer_sizes(sizes: NDArray[np.float64]) -> tuple[NDArray[np.int64], float]:
    """Return sizes as integer multiples of a unit, a small power of 2: their sums are exact.

    Examples
    --------
    >>> import numpy as np
    >>> counts, unit = integer_sizes(np.array([0.5, 1.25]))
    >>> (counts * unit).tolist()
    [0.5, 1.25]
    """
    bits = 61 - math.ceil(math.log2(float(sizes.sum()) + 2))
    unit = 2.0 ** -min(bits, 40)
    return np.rint(sizes / unit).astype(np.int64), unit


def prior_bases(
    prior: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return priors as integer multiples of few vectors, so that sums of them are exact.

    ``prior`` has the shape (situations, labels). Returned are bases of shape (bases, labels)
    and multiplicities of shape (situations, bases): the distinct priors if these are few, else
    one vector for each label, of a small power of 2.

    Examples
    --------
    >>> import numpy as np
    >>> bases, multiplicities = prior_bases(np.array([[1.5, 1.5], [0.5, 0.5], [1.5, 1.5]]))
    >>> bases.tolist(), multiplicities.tolist()
    ([[0.5, 0.5], [1.5, 1.5]], [[0, 1], [1, 0], [0, 1]])
    """
    bases, kind = np.unique(prior, axis=0, return_inverse=True)
    if len(bases) <= _MAX_BASES:
        multiplicities = np.zeros((len(prior), len(bases)), dtype=np.int64)
        multiplicities[np.arange(len(prior)), kind.ravel()] = 1
        return bases, multiplicities
    unit = 2.0 ** (math.ceil(math.log2(float(prior.sum()))) - 60)
    return np.eye(prior.shape[1]) * unit, np.rint(prior / unit).astype(np.int64)


def _read_answers(
    steps: Steps, variable_ids: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the situations to learn, and the answers to each variable that lead there."""
    ids = steps.arrays("select vertex_id from temp.learnable order by 1")["vertex_id"]
    steps.run("situation_answer")
    answers = steps.arrays(
        "select vertex_id, variable_id, if(is_absent, -1, label_id) as label_id "
        "from temp.situation_answer order by all"
    )
    index = {variable_id: column for column, variable_id in enumerate(variable_ids)}
    column = np.array([index[variable] for variable in answers["variable_id"].tolist()], int)
    table = np.full((len(ids), len(variable_ids)), -1, dtype=np.int64)
    table[np.searchsorted(ids, answers["vertex_id"]), column] = answers["label_id"]
    return ids, table


def _hyperstage_of_rows(
    rows: Mapping[str, NDArray[Any]],
    unit: float,
    answers: tuple[NDArray[np.int64], NDArray[np.int64]] | None,
) -> Hyperstage:
    ids, first = np.unique(rows["vertex_id"], return_index=True)
    shape = (len(ids), len(rows["vertex_id"]) // len(ids))
    bases, multiplicities = prior_bases(rows["prior"].reshape(shape))
    of_situations = np.zeros((len(ids), 0), dtype=np.int64)
    if answers is not None:
        of_situations = answers[1][np.searchsorted(answers[0], ids)]
    return Hyperstage(
        ids=ids,
        counts=rows["n"].reshape(shape),
        bases=bases,
        multiplicities=multiplicities,
        start=rows["stage_id"][first],
        answers=of_situations,
        unit=unit,
    )


def needs_scores(learning: LearnOptions) -> bool:
    """Return whether learning uses the scores of ordered answers."""
    return learning.method == "ordinal"


def needs_answers(learning: LearnOptions) -> bool:
    """Return whether learning uses the answers that lead to each situation."""
    return learning.method == "csbhc" or learning.max_parents is not None


def _choose_parents(
    steps: Steps,
    tree_id: int,
    hyperstages: Sequence[Hyperstage],
    variable_ids: Sequence[int],
    plan: Plan,
    progress: Progress,
) -> list[Configurations]:
    """Pool configurations by the best set of each hyperstage; make ``learnt_parent_set``."""
    if plan.max_parents is None:
        raise AssertionError(plan)
    for hyperstage in hyperstages:
        _refuse_many_sets(steps, tree_id, hyperstage, plan.max_parents)
    pooled = []
    for hyperstage in hyperstages:
        pooled.append(clustering.pool_configurations(hyperstage, plan.scorer, plan.max_parents))
        progress.read()
    rows = [
        (int(one.hyperstage.ids[0]), rank, parents)
        for one in pooled
        for rank, parents in enumerate(one.sets, 1)
    ]
    steps.create_from(
        "learnt_parent_set",
        {
            "vertex_id": np.array([vertex_id for vertex_id, _, _ in rows], np.int64),
            "set_rank": np.array([rank for _, rank, _ in rows], np.int64),
            "variable_ids": np.array(
                [
                    ",".join(str(variable_ids[column]) for column in parents.columns)
                    for _, _, parents in rows
                ],
                object,
            ),
            "n_configurations": np.array(
                [parents.n_configurations for _, _, parents in rows], np.int64
            ),
            "score": np.array([parents.score for _, _, parents in rows], float),
        },
    )
    return pooled


def join_configurations(
    steps: Steps, variable_ids: Sequence[int], parents: Mapping[int, Sequence[int]]
) -> None:
    """Add to ``learnt_stage`` the situations without a stage whose configuration has one.

    ``parents`` are the ids of the parents by hyperstage. Of several stages of a configuration
    they join the one that most rows of the configuration are in.
    """
    stages = steps.arrays("select * from temp.learnt_stage order by vertex_id")
    groups = steps.arrays("select * from temp.situation_group order by vertex_id")
    column = {variable_id: index for index, variable_id in enumerate(variable_ids)}
    stage_of = dict(zip(stages["vertex_id"].tolist(), stages["stage_id"].tolist(), strict=True))
    for hyperstage in read_hyperstages(
        steps, starts_joined=False, variable_ids=variable_ids, with_unreached=True
    ):
        index = np.searchsorted(groups["vertex_id"], hyperstage.ids[0])
        of_group = int(groups["hyperstage_id"][index])
        if of_group not in parents:
            continue
        columns = [column[variable_id] for variable_id in parents[of_group]]
        code, _ = clustering.codes_of(hyperstage.answers, columns)
        ids, n = hyperstage.ids.tolist(), hyperstage.counts.sum(axis=1).tolist()
        n_of: dict[int, dict[int, int]] = {}
        for vertex_id, configuration, size in zip(ids, code.tolist(), n, strict=True):
            if vertex_id in stage_of:
                of_code = n_of.setdefault(configuration, {})
                stage = stage_of[vertex_id]
                of_code[stage] = of_code.get(stage, 0) + size
        for vertex_id, configuration in zip(ids, code.tolist(), strict=True):
            if configuration in n_of:
                of_code = n_of[configuration]
                best = min(of_code, key=lambda stage: (-of_code[stage], stage))
                stage_of.setdefault(vertex_id, best)
    steps.create_from(
        "learnt_stage",
        {
            "vertex_id": np.array(list(stage_of), np.int64),
            "stage_id": np.array(list(stage_of.values()), np.int64),
        },
    )


def _refuse_many_sets(
    steps: Steps, tree_id: int, hyperstage: Hyperstage, max_parents: int
) -> None:
    n_earlier = len(clustering.candidate_columns(hyperstage.answers))
    n_sets = clustering.n_sets(n_earlier, max_parents)
    if n_sets <= clustering.MAX_SETS:
        return
    fit = max(
        most
        for most in range(max_parents)
        if clustering.n_sets(n_earlier, most) <= clustering.MAX_SETS
    )
    variable = find_situation(steps, tree_id, int(hyperstage.ids[0])).variable
    raise StagingError(
        f"max_parents={max_parents} has {n_sets:,} sets of the {n_earlier} variables before "
        f"{variable!r} to compare; at most {clustering.MAX_SETS:,} are",
        hint=f"use max_parents={fit}, or a tree with fewer variables",
    )


def _parent_summary(pooled: Sequence[Configurations], max_parents: int) -> dict[str, object]:
    """Return how many hyperstages have how many parents, and in how many it is a close call."""
    sizes = [len(one.sets[0].columns) for one in pooled]
    n_close = sum(
        one.sets[0].score - one.sets[1].score < CLOSE for one in pooled if len(one.sets) > 1
    )
    return {
        "most": max_parents,
        "hyperstages": {str(size): sizes.count(size) for size in sorted(set(sizes))},
        "close": n_close,
    }


def _refuse_misfit(
    steps: Steps, tree_id: int, hyperstages: Sequence[Hyperstage], plan: Plan
) -> None:
    """Refuse a method where a hyperstage has more stagings than it can look at.

    Also "ordinal" where no answers are ordered.
    """
    if plan.method == "ordinal":
        _refuse_unordered(steps, tree_id, hyperstages)
    if plan.method != "exact":
        return
    for hyperstage in hyperstages:
        n_situations = clustering.programme_size(hyperstage, plan)
        if n_situations > MAX_SITUATIONS:
            of = "situations" if plan.max_parents is None else "configurations of parents"
            fewer = (
                "give hyperstages= or frozen= stages that leave fewer"
                if plan.max_parents is None
                else "a smaller max_parents"
            )
            raise StagingError(
                f"method 'exact' looks at all stagings of up to {MAX_SITUATIONS} {of}; "
                f"{n_situations:,}, such as "
                f"{describe_situation(steps, tree_id, int(hyperstage.ids[0]))}, may share "
                "stages here",
                hint=f"use method='ahc' or method='hc', {fewer}, or, where situations have two "
                "labels, score='bic' or 'aic', without smoothing, which have no limit",
            )


def _refuse_unordered(steps: Steps, tree_id: int, hyperstages: Sequence[Hyperstage]) -> None:
    ordered = [one for one in hyperstages if one.scores is not None]
    if hyperstages and not ordered:
        raise StagingError(
            "method 'ordinal' needs a question with ordered answers, or with two, and the tree "
            "has none",
            hint="declare in a codebook which are ordered (ordered: true), or use method='ahc'",
        )
    for one in ordered:
        if len(one.ids) > MAX_ORDERED:
            raise StagingError(
                f"method 'ordinal' puts up to {MAX_ORDERED:,} situations in an order; "
                f"{len(one.ids):,}, such as "
                f"{describe_situation(steps, tree_id, int(one.ids[0]))}, may share stages here",
                hint="use method='ahc' or 'auto', or max_parents",
            )


def cluster(
    steps: Steps,
    tree_id: int,
    hyperstages: Sequence[Hyperstage],
    variable_ids: Sequence[int],
    plan: Plan,
    budget: Budget,
    progress: Progress,
) -> tuple[int, dict[str, object]]:
    """Learn each hyperstage; make ``learnt_stage``, ``learnt_merge`` and ``learnt_parent_set``.

    Returned are the number of merges, which are in the order of one run over all hyperstages,
    and what the summary says of learning.
    """
    start, pooled = hyperstages, None
    if plan.max_parents is not None:
        pooled = _choose_parents(steps, tree_id, hyperstages, variable_ids, plan, progress)
        start = [one.hyperstage for one in pooled]
    _refuse_misfit(steps, tree_id, start, plan)
    of_start = replace(plan, max_parents=None)
    learnt = []
    for hyperstage in start:
        learnt.append(clustering.learn(hyperstage, of_start))
        progress.read()
    merges = clustering.interleave([one.merges for one in learnt])
    steps.create_from(
        "learnt_merge",
        {
            "step": np.arange(1, len(merges) + 1),
            "kept_id": np.array([merge.kept_id for merge in merges], dtype=np.int64),
            "absorbed_id": np.array([merge.absorbed_id for merge in merges], dtype=np.int64),
            "log_bayes_factor": np.array([merge.log_bayes_factor for merge in merges], float),
        },
    )
    nothing = [np.zeros(0, dtype=np.int64)]
    ids = np.concatenate([h.ids for h in hyperstages] or nothing)
    of_situations = (
        learnt
        if pooled is None
        else [clustering.expand(one, of.member) for one, of in zip(learnt, pooled, strict=True)]
    )
    stage = np.concatenate([one.stage for one in of_situations] or nothing)
    steps.create_from(
        "learnt_stage", {"vertex_id": ids[stage >= 0], "stage_id": stage[stage >= 0]}
    )
    summary = _summary(start, learnt, of_start, budget)
    if pooled is not None and plan.max_parents is not None:
        summary["parents"] = _parent_summary(pooled, plan.max_parents)
    return len(merges), summary


def _summary(
    hyperstages: Sequence[Hyperstage],
    learnt: Sequence[LearntStages],
    plan: Plan,
    budget: Budget,
) -> dict[str, object]:
    """Return the expected number of spurious stages, and how good the result is."""
    null = expected_spurious_stages(hyperstages, plan, seed=plan.seed, budget=budget)
    summary: dict[str, object] = {
        "spurious_stages": float(null.expected.sum()),
        "spurious_stages_error": null.error,
        "null_runs": null.n_runs,
        "null_situations": int(null.n_sampled.sum()),
        "situations_learnt": sum(len(set(h.start.tolist())) for h in hyperstages),
    }
    if plan.method == "exact" and plan.score == "log_marginal_likelihood":
        summary["log_probability"] = sum(
            clustering.log_probability(hyperstage, one.stage, plan)
            for hyperstage, one in zip(hyperstages, learnt, strict=True)
        )
    if plan.method == "ordinal":
        summary["ordered"] = sum(h.scores is not None for h in hyperstages)
    if plan.method == "auto":
        rough = [one.sample for one in learnt if one.sample is not None]
        summary["approximated"] = len(rough)
        summary["situations_exact"] = plan.coarsening.max_exact
        if rough:
            summary["sample_loss"] = sum(loss for loss, _ in rough)
            summary["sample_score"] = sum(score for _, score in rough)
    return summary
