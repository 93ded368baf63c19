"""What greedy clustering would merge next, for plots only: nothing of it is stored."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from cegdb import clustering
from cegdb.errors import CegdbError, StagingError, agreeing, counted, joined
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
    """Go on merging the stages of a staging, each time the pair that loses least.

    The merges start from the stages of the staging, with the score, prior and weighting by
    which they were learnt. Hyperstages of more than 1,000 stages are left out: merging them
    would take as long as learning did.
    """
    with store.catalog() as catalog:
        staging = row(catalog, "staging", staging_id)
    if staging["method"] not in GREEDY_METHODS:
        raise StagingError(
            f"the stages of {staging['name']!r} were not merged pair by pair: their method is "
            f"{staging['method']!r}",
            hint=f"learn stages by {joined(GREEDY_METHODS, 'or')}, such as tree.learn_stages()",
        )
    try:
        with store.catalog() as catalog, store.reading() as con, Steps(con) as steps:
            relearning = read_relearning(steps, con, catalog, staging_id)
    except CegdbError as error:
        return FurtherMerges([], str(error).split("\n", 1)[0])
    of_root = relearning.rows.parent == 0
    plan = relearning.plan(float(relearning.rows.size[of_root].sum()))
    runs, n_large = [], 0
    for florets in relearning.florets:
        learnt = np.flatnonzero(np.isin(florets.ids, relearning.learnt_ids))
        if florets.hyperstage is None or len(learnt) < 2:
            continue
        part = florets.hyperstage.subset(learnt)
        start = replace(part, start=florets.stage[learnt]).pooled()
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
        f"{counted(n_large, 'hyperstage')} {agreeing(n_large, 'have')} more than "
        f"{MOST_STAGES:,} stages"
        if n_large
        else ""
    )
    return FurtherMerges(clustering.interleave(runs), why_incomplete)
