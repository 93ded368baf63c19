"""The merge log of a staging, where it explains how the stages came about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from cegdb.report.page import page_text
from cegdb.sqlfiles import Steps

if TYPE_CHECKING:
    from cegdb.report.lineage import Lineage
    from cegdb.report.page.page_reader import Content
    from cegdb.store import Store

_MOST: Final = 5_000


def merge_log(store: Store, lineage: Lineage, content: Content, min_n: int | None) -> Any:
    """Return the merges in the order made, or why the page cannot show them.

    ``steps`` are kept and absorbed vertex and log Bayes factor. ``start`` has the situations
    that were together before, each with the first of its group.
    """
    if lineage.is_conditioned:
        return page_text.NO_MERGES_GIVEN_EVIDENCE
    if min_n is not None:
        return page_text.MERGES_HIDDEN
    if content.hidden:
        return page_text.MERGES_OF_A_PART
    staging_id, name = lineage.staging["staging_id"], lineage.staging["name"]
    with store.reading() as con, Steps(con) as steps:
        ((n_merges,),) = steps.rows(
            "select count(*) from cegdb.ahc_merge where staging_id = $staging_id",
            {"staging_id": staging_id},
        )
        if not n_merges:
            return page_text.no_merges(str(lineage.staging["method"]))
        if n_merges > _MOST:
            return page_text.too_many_merges(int(n_merges))
        merges = steps.rows(
            "select kept_id, absorbed_id, log_bayes_factor, variable from cegdb.merges "
            "where staging = $staging order by step",
            {"staging": name},
        )
        members = steps.fetch("page_stage_member", staging_id=staging_id)
    together = ("single_edge", "unobserved")
    start = {v: stage if kind in together else v for v, stage, kind in members}
    group = dict(start)
    for kept, absorbed, *_ in merges:
        if group.get(kept) != kept or group.get(absorbed) != absorbed:
            return page_text.MERGES_INCOMPLETE
        group = {v: kept if g == absorbed else g for v, g in group.items()}
    if any(group[v] != stage for v, stage, _ in members):
        return page_text.MERGES_INCOMPLETE
    return {
        "steps": [[kept, absorbed, factor] for kept, absorbed, factor, _ in merges],
        "variable": [variable for *_, variable in merges],
        "start": [[v, g] for v, g in start.items() if v != g],
    }
