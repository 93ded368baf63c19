"""Compare stagings: side by side, situation by situation, stage by stage, and by tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from cegdb.compare.comparability import (
    LIKELIHOOD,
    MARGINAL,
    incomparable,
    refuse_different_settings,
    stagings_of_one_tree,
)
from cegdb.compare.stage_matching import match_stages
from cegdb.errors import StagingError, listed
from cegdb.sqlfiles import Steps
from cegdb.store.catalog import row

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from cegdb.store import Store

    Numbers = NDArray[np.int64]

__all__ = [
    "LikelihoodRatio",
    "bayes_factor",
    "cid",
    "compare",
    "diff",
    "hamming",
    "inclusion",
    "lr_test",
]

_NESTED: Final = (
    "test a staging against one made from it by joining stages; compare others by "
    "bic or bayes_factor"
)


class LikelihoodRatio(NamedTuple):
    """A likelihood-ratio test of a staging against one that it is nested in.

    Attributes
    ----------
    statistic
        Twice the difference of the log likelihoods.
    df
        Difference of the free parameters.
    p_value
        Probability of a statistic at least as large if the coarser staging holds: the upper
        tail of the chi-squared distribution with ``df`` degrees of freedom.
    nested
        Name of the coarser staging, the null hypothesis: each of its stages is one stage of the
        finer staging, or several of them joined.
    nested_in
        Name of the finer staging.
    """

    statistic: float
    df: int
    p_value: float
    nested: str
    nested_in: str


class _Pair(NamedTuple):
    """Two stagings of one tree, as catalog rows, and their overlapping stages."""

    a: Mapping[str, Any]
    b: Mapping[str, Any]
    stage: Numbers
    other: Numbers
    n_shared: Numbers


def compare(store: Store, staging_ids: Sequence[int] | None = None) -> pd.DataFrame:
    """Return stagings side by side; see `cegdb.Database.compare` for the columns.

    The first one is what the others are compared with; without ``staging_ids`` all are
    returned, the best of each comparable group first.
    """
    with store.reading() as con, Steps(con) as steps:
        if staging_ids is None:
            steps.create("chosen_staging", "select staging_id, 0 as rank from cegdb.staging")
        else:
            ids = np.array(list(dict.fromkeys(staging_ids)), dtype=np.int64)
            ranks = np.arange(1, len(ids) + 1)
            steps.create_from("chosen_staging", {"staging_id": ids, "rank": ranks})
        steps.run("compared_staging")
        return con.execute(
            "select * exclude (rank) from temp.compared_staging "
            "order by rank, comparable_group, log_marginal_likelihood desc, staging_id"
        ).df()


def diff(store: Store, a: int, b: int) -> pd.DataFrame:
    """Return the situations staged differently; see `cegdb.StagedTree.diff`."""
    with store.reading() as con, Steps(con) as steps:
        pair = _overlap(store, steps, a, b)
        is_match = match_stages(pair.stage, pair.other, pair.n_shared)
        matched = {"stage_id": pair.stage[is_match], "other_id": pair.other[is_match]}
        steps.create_from("stage_match", matched)
        with store.catalog() as catalog:
            tree = row(catalog, "tree", pair.a["tree_id"])
        steps.run(
            "differing_situation",
            tree_id=tree["tree_id"],
            tree=tree["name"],
            staging_id=a,
            staging=pair.a["name"],
            other_staging_id=b,
            other_staging=pair.b["name"],
        )
        return con.execute("from temp.differing_situation order by vertex_id").df()


def hamming(store: Store, a: int, b: int) -> int:
    """Return how many situations must change stage; see `cegdb.StagedTree.hamming`."""
    with store.reading() as con, Steps(con) as steps:
        pair = _overlap(store, steps, a, b)
    is_match = match_stages(pair.stage, pair.other, pair.n_shared)
    return int(pair.n_shared[~is_match].sum())


def inclusion(store: Store, a: int, b: int) -> pd.DataFrame:
    """Return which stage lies within which; see `cegdb.StagedTree.inclusion`."""
    with store.reading() as con, Steps(con) as steps:
        pair = _overlap(store, steps, a, b)
        steps.run("stage_relation", staging=pair.a["name"], other_staging=pair.b["name"])
        return con.execute("from temp.stage_relation order by stage_id_a, stage_id_b").df()


def cid(store: Store, a: int, b: int) -> float:
    """Return the interventional discrepancy of b from a; see `cegdb.StagedTree.cid`."""
    with store.reading() as con, Steps(con) as steps:
        _overlap(store, steps, a, b)
        pooled = steps.fetch("pooled_situation", other_staging_id=b)
    return float(sum(n_pooled / n_situations for _, n_situations, n_pooled in pooled))


def lr_test(store: Store, a: int, b: int) -> LikelihoodRatio:
    """Test the coarser of two nested stagings; see `cegdb.StagedTree.lr_test`."""
    from scipy.stats import chi2

    with store.reading() as con, Steps(con) as steps:
        pair = _overlap(store, steps, a, b)
        refuse_different_settings(pair.a, pair.b, LIKELIHOOD, "log likelihood")
        nested, finer = pair.a, pair.b
        if _is_nested(pair.stage):
            nested, finer = finer, nested
        elif not _is_nested(pair.other):
            raise StagingError(_not_nested(steps, pair), hint=_NESTED)
    df = finer["df"] - nested["df"]
    if df == 0:
        raise StagingError(
            f"stagings {nested['name']!r} and {finer['name']!r} have the same "
            f"{nested['df']} free parameters: there is nothing to test",
            hint=_NESTED,
        )
    statistic = max(2 * (finer["log_likelihood"] - nested["log_likelihood"]), 0.0)
    p_value = float(chi2.sf(statistic, df))
    return LikelihoodRatio(statistic, df, p_value, nested["name"], finer["name"])


def bayes_factor(store: Store, a: int, b: int) -> float:
    """Return the log Bayes factor of a against b; see `cegdb.StagedTree.bayes_factor`."""
    one, other = stagings_of_one_tree(store, a, b)
    refuse_different_settings(one, other, MARGINAL, "marginal likelihood")
    rows = compare(store, [a, b])
    if len(set(rows["comparable_group"])) > 1:
        raise incomparable(one, other, "marginal likelihood", "settings")
    return float(one["log_marginal_likelihood"] - other["log_marginal_likelihood"])


def _overlap(store: Store, steps: Steps, a: int, b: int) -> _Pair:
    """Make ``stage_pair`` of two stagings of one tree, and return it."""
    one, other = stagings_of_one_tree(store, a, b)
    steps.run("stage_pair", staging_id=a, other_staging_id=b)
    pairs = steps.arrays(
        "select stage_id, other_id, n_shared from temp.stage_pair order by stage_id, other_id"
    )
    return _Pair(one, other, pairs["stage_id"], pairs["other_id"], pairs["n_shared"])


def _is_nested(stage: Numbers) -> bool:
    """Return whether each stage of one staging lies within one stage of the other."""
    return len(np.unique(stage)) == len(stage)


def _not_nested(steps: Steps, pair: _Pair) -> str:
    """Say which stage of either staging the other splits."""
    one, other = pair.a["name"], pair.b["name"]
    steps.run("stage_relation", staging=one, other_staging=other)
    pairs = [
        ((stage_id, stage), (other_id, other_stage))
        for stage_id, stage, other_id, other_stage in steps.rows(
            "select stage_id_a, stage_a, stage_id_b, stage_b from temp.stage_relation"
        )
    ]
    whole, parts = _first_split(pairs)
    other_whole, other_parts = _first_split((b, a) for a, b in pairs)
    return (
        f"stagings {one!r} and {other!r} are not nested: {other!r} splits stage {whole} of "
        f"{one!r} into {listed(parts)}, and {one!r} splits stage {other_whole} of {other!r} "
        f"into {listed(other_parts)}"
    )


def _first_split(
    pairs: Iterable[tuple[tuple[int, str], tuple[int, str]]],
) -> tuple[str, list[str]]:
    """Return the first stage that overlaps several of the other staging, and these.

    Pairs are of stages with situations in common, each stage an id and a name.
    """
    overlaps: dict[str, list[str]] = {}
    for (_, stage), (_, other) in sorted(pairs):
        overlaps.setdefault(stage, []).append(other)
    return next((stage, others) for stage, others in overlaps.items() if len(others) > 1)
