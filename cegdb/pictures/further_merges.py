"""What greedy clustering would merge beyond its end: nothing of it is kept."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from cegdb import clustering
from cegdb.clustering.methods import GREEDY, pooled
from cegdb.errors import CegdbError, StagingError
from cegdb.sqlfiles import Steps
from cegdb.stability.relearning import read_relearning
from cegdb.store.catalog import row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cegdb.clustering import Merge
    from cegdb.store import Store

MOST_STAGES: Final = 1_000


class Continued(NamedTuple):
    """The merges that would follow, and why there are not all of them.

    Attributes
    ----------
    merges
        In the order of one run over all hyperstages, until each is one stage.
    why_not
        Nothing, or what they could not be found for.
    """

    merges: Sequence[Merge]
    why_not: str


def continue_merging(store: Store, staging_id: int) -> Continued:
    """Merge the stages of a staging on, each time the pair that loses least.

    Parameters
    ----------
    store
        Where it is; nothing is written.
    staging_id
        A staging learnt by merging pairs.

    Raises
    ------
    StagingError
        It was not learnt by merging pairs.

    Notes
    -----
    It starts from the stages there are, with the score, prior and weighting they were
    learnt with. Hyperstages of more than 1,000 stages are left out: the merges of few of
    their stages would cost as much as the learning.

    Examples
    --------
    >>> from cegdb.ingest import ingest
    >>> from cegdb.stages import learn_stages
    >>> from cegdb.store import Store
    >>> from cegdb.tree import event_tree
    >>> with Store.open() as store:
    ...     survey = ingest(store, "select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
    ...     found = continue_merging(store, learn_stages(store, event_tree(store, survey)))
    >>> [(m.kept_id, m.absorbed_id, round(m.log_bayes_factor, 2)) for m in found.merges]
    [(1, 2, -0.56)]
    """
    with store.catalog() as catalog:
        staging = row(catalog, "staging", staging_id)
    if staging["method"] not in GREEDY:
        raise StagingError(
            f"the stages of {staging['name']!r} were not merged pair by pair: their method is "
            f"{staging['method']!r}",
            hint=f"learn stages by one of {', '.join(GREEDY)}, such as tree.learn_stages()",
        )
    try:
        with store.catalog() as catalog, store.reading() as con, Steps(con) as steps:
            relearning = read_relearning(steps, con, catalog, staging_id)
            learnt = steps.arrays(
                "select m.vertex_id from cegdb.stage_member as m inner join cegdb.stage as s "  # noqa: S608
                "on m.staging_id = s.staging_id and m.stage_id = s.stage_id "
                f"where m.staging_id = {int(staging_id)} and s.kind = 'learnt'"
            )["vertex_id"]
    except CegdbError as error:
        return Continued([], str(error).split("\n", 1)[0])
    of_root = relearning.rows.parent == 0
    plan = relearning.plan(float(relearning.rows.size[of_root].sum()))
    runs, n_large = [], 0
    for one in relearning.florets:
        kept = np.flatnonzero(np.isin(one.ids, learnt))
        if one.hyperstage is None or len(kept) < 2:
            continue
        part = one.hyperstage.part(kept)
        start = pooled(replace(part, start=one.stage[kept]))
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
    why_not = f"{n_large} hyperstages have more than {MOST_STAGES:,} stages" if n_large else ""
    return Continued(clustering.interleave(runs), why_not)
