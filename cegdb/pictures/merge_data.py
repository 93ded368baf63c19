"""Rows for plots of merges: what was merged, and what the ends of a dendrogram are."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cegdb.pictures.plot_data import Situation, Stage, keep_edges, keep_vertices
from cegdb.sqlfiles import Steps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cegdb.store import Store


class Joined(NamedTuple):
    """Two stages that became one, or would: named by their first situations."""

    kept_id: int
    absorbed_id: int
    gain: float


class Merges(NamedTuple):
    """The merges of a staging and the stages they led to.

    Attributes
    ----------
    made
        In the order made; those of hidden hyperstages are left out.
    stages
        The learnt stages that are shown, without their people.
    hyperstage
        Of each of these stages.
    variable
        Of each hyperstage; None if its situations ask several.
    n_hidden
        Merges left out since small counts could be calculated from them.
    """

    made: list[Joined]
    stages: list[Stage]
    hyperstage: dict[int, int]
    variable: dict[int, str | None]
    n_hidden: int


class Tip(NamedTuple):
    """An end of a dendrogram: its first situation, how many there are, and their people."""

    first: Situation
    n_situations: int
    n: int | None


def read_merges(store: Store, staging: str, variable: str | None, min_n: int | None) -> Merges:
    """Return the merges of the hyperstages of a variable (None: of all)."""
    with store.reading() as con, Steps(con) as steps:
        keep_vertices(store, steps, staging, None, min_n)
        hidden: set[int] = set()
        if min_n is not None:
            keep_edges(store, steps, staging, min_n)
            found = steps.fetch("hidden_hyperstage", staging=staging)
            hidden = {int(hyperstage_id) for (hyperstage_id,) in found}
        rows = steps.fetch("merged_stage", staging=staging, variable=variable)
        stages = [
            Stage(stage_id, stage, name, kind, colour, n_situations, None)
            for stage_id, stage, name, kind, colour, n_situations, hyperstage_id, _ in rows
            if hyperstage_id not in hidden
        ]
        hyperstage = {int(one[0]): int(one[6]) for one in rows if one[6] not in hidden}
        names = {int(one[6]): one[7] for one in rows}
        merged = [
            Joined(int(kept), int(absorbed), float(gain))
            for kept, absorbed, gain in steps.rows(
                "select kept_id, absorbed_id, log_bayes_factor from cegdb.merges "
                "where staging = $staging order by step",
                {"staging": staging},
            )
        ]
    final = final_stages(merged)
    asked = {int(one[0]) for one in rows}
    merged = [one for one in merged if final[one.kept_id] in asked]
    made = [one for one in merged if final[one.kept_id] in hyperstage]
    return Merges(made, stages, hyperstage, names, len(merged) - len(made))


def final_stages(merges: Sequence[Joined]) -> dict[int, int]:
    """Return the stage that each merged one is in at the end.

    Examples
    --------
    >>> final_stages([Joined(2, 5, 1.0), Joined(1, 2, 0.5)])
    {1: 1, 2: 1, 5: 1}
    """
    final: dict[int, int] = {}
    for one in reversed(merges):
        kept = final.setdefault(one.kept_id, one.kept_id)
        final[one.absorbed_id] = kept
    return dict(sorted(final.items()))


def read_tips(
    store: Store,
    staging: str,
    tree_id: int,
    members: Mapping[int, Sequence[int]],
    min_n: int | None,
) -> dict[int, Tip]:
    """Return the ends of a dendrogram, each named by its smallest starting stage.

    People are None where they are hidden; where stages started from several situations, they
    are those of the first of them.
    """
    with store.reading() as con, Steps(con) as steps:
        keep_vertices(store, steps, staging, None, min_n)
        pairs = [(tip, one) for tip, ones in members.items() for one in ones]
        steps.create_from(
            "plotted_tip",
            {
                "tip_id": np.array([tip for tip, _ in pairs], dtype=np.int64),
                "vertex_id": np.array([one for _, one in pairs], dtype=np.int64),
            },
        )
        sums = steps.fetch("tip_size")
        steps.create(
            "plotted_situation",
            "select v.vertex_id, v.vertex as situation, v.stage_id, v.n "
            "from temp.plotted_vertex as v where v.vertex_id in "
            "(select tip_id from temp.plotted_tip)",
        )
        paths: dict[int, list[str]] = {}
        for vertex_id, _, label in steps.fetch("plotted_path", tree_id=tree_id):
            paths.setdefault(int(vertex_id), []).append(str(label))
        first = {
            int(vertex_id): Situation(
                int(vertex_id), situation, stage_id, n, tuple(paths.get(int(vertex_id), ()))
            )
            for vertex_id, situation, stage_id, n in steps.rows(
                "from temp.plotted_situation order by vertex_id"
            )
        }
    return {int(tip): Tip(first[int(tip)], int(count), n) for tip, count, n in sums}
