"""What greedy clustering would merge beyond its end: nothing of it is kept."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from cegdb import clustering
from cegdb.errors import CegdbError, StagingError
from cegdb.options import GREEDY_METHODS
from cegdb.sqlfiles import Steps
from cegdb.stability.relearning import read_relearning
from cegdb.store.catalog import row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cegdb.clustering import Merge
    from cegdb.store import Store

MOST_STAGES: Final = 1_000


class FurtherMerges(NamedTuple):
    """The merges that would follow, until each hyperstage is one stage.

    ``why_incomplete`` says why they are not all known, if so.
    """

    merges: Sequence[Merge]
    why_incomplete: str


def continue_merging(store: Store, staging_id: int) -> FurtherMerges:
    """Merge the stages of a staging on, each time the pair that loses least.

    It starts from the stages there are, with the score, prior and weighting they were
    learnt with. Hyperstages of more than 1,000 stages are left out: the merges of few of
    their stages would cost as much as the learning.
    """
    with store.catalog() as catalog:
        staging = row(catalog, "staging", staging_id)
    if staging["method"] not in GREEDY_METHODS:
        raise StagingError(
            f"the stages of {staging['name']!r} were not merged pair by pair: their method is "
            f"{staging['method']!r}",
            hint=f"learn stages by {', '.join(GREEDY_METHODS)}, such as tree.learn_stages()",
        )
    try:
        with store.catalog() as catalog, store.reading() as con, Steps(con) as steps:
            relearning = read_relearning(steps, con, catalog, staging_id)
    except CegdbError as error:
        return FurtherMerges([], str(error).split("\n", 1)[0])
    of_root = relearning.rows.parent == 0
    plan = relearning.plan(float(relearning.rows.size[of_root].sum()))
    runs, n_large = [], 0
    for one in relearning.florets:
        kept = np.flatnonzero(np.isin(one.ids, relearning.learnt_ids))
        if one.hyperstage is None or len(kept) < 2:
            continue
        part = one.hyperstage.subset(kept)
        start = replace(part, start=one.stage[kept]).pooled()
        if len(start.ids) > MOST_STAGES:
            n_large += 1
            continue
        runs.append(
            clustering.agglomerate(
                start.counts,
                start.bases,
                start.multiplicities,
                start.ids,
                unit=start.unit,
                score=plan.scorer,
                least=-math.inf,
                last_wins=plan.method == "bhc",
            )
        )
    why_incomplete = (
        f"{n_large} hyperstages have more than {MOST_STAGES:,} stages" if n_large else ""
    )
    return FurtherMerges(clustering.interleave(runs), why_incomplete)
