"""Rows for plots of merges: what was merged, and what the leaves of a dendrogram are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from cegdb.clustering.greedy import Merge
from cegdb.pictures.further_merges import continue_merging
from cegdb.pictures.merge_trees import choose_trees, final_stages, fold_merges, grow_trees
from cegdb.pictures.plot_data import (
    Situation,
    Stage,
    create_plotted_edges,
    create_plotted_vertices,
    situations_with_paths,
)
from cegdb.sqlfiles import Steps
from cegdb.store.catalog import row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cegdb.pictures.merge_trees import MergeNode
    from cegdb.store import Store

MergeCriterion: TypeAlias = Literal["score", "size", "test"]


class Merges(NamedTuple):
    """The merges of a staging, those that would follow, and the learnt stages they led to.

    ``hyperstage`` is that of each stage, ``variable`` that of each hyperstage, None if it has
    several; ``criterion`` decided how many merges were made. ``n_hidden`` merges are left out
    since small counts could be calculated from them.
    """

    made: list[Merge]
    further: list[Merge]
    why_incomplete: str
    stages: list[Stage]
    hyperstage: dict[int, int]
    variable: dict[int, str | None]
    n_hidden: int
    score: str
    criterion: MergeCriterion


class Leaf(NamedTuple):
    """A leaf of a dendrogram: its first situation, how many there are, and their people."""

    first: Situation
    n_situations: int
    n: int | None


class Dendrogram(NamedTuple):
    """The trees of merges there is room for, their leaves, and what is left out."""

    merges: Merges
    roots: list[MergeNode]
    leaves: dict[int, Leaf]
    n_folded: int
    n_trees_omitted: int
    n_single: int


def read_merges(
    store: Store, staging_id: int, variable: str | None, min_n: int | None
) -> Merges:
    """Return the merges of the hyperstages of a variable (None: of all)."""
    with store.catalog() as catalog:
        staging = row(catalog, "staging", staging_id)
    name, settings = str(staging["name"]), staging["settings"]
    with store.reading() as con, Steps(con) as steps:
        create_plotted_vertices(store, steps, name, None, min_n)
        hidden: set[int] = set()
        if min_n is not None:
            create_plotted_edges(store, steps, name, min_n)
            hidden = {int(one) for (one,) in steps.fetch("hidden_hyperstage", staging=name)}
        rows = steps.fetch("merged_stage", staging=name, variable=variable)
        merged = [
            Merge(int(kept), int(absorbed), float(gain))
            for kept, absorbed, gain in steps.rows(
                "select kept_id, absorbed_id, log_bayes_factor from cegdb.merges "
                "where staging = $staging order by step",
                {"staging": name},
            )
        ]
    hyperstage = {int(one[0]): int(one[6]) for one in rows if one[6] not in hidden}
    stages = [Stage._make((*one[:6], None)) for one in rows if one[6] not in hidden]
    final, all_stages = final_stages(merged), {int(one[0]) for one in rows}
    merged = [one for one in merged if final[one.kept_id] in all_stages]
    made = [one for one in merged if final[one.kept_id] in hyperstage]
    following, why_incomplete = continue_merging(store, staging_id)
    last = final_stages(following)
    shown = {last.get(stage_id, stage_id) for stage_id in hyperstage}
    return Merges(
        made,
        [one for one in following if last[one.kept_id] in shown],
        why_incomplete,
        stages,
        hyperstage,
        {int(one[6]): one[7] for one in rows},
        len(merged) - len(made),
        str(settings.get("score")),
        _criterion(settings),
    )


def _criterion(settings: Mapping[str, Any]) -> MergeCriterion:
    """Return what decided how many merges were made."""
    if "significance" in settings:
        return "test"
    return "score" if settings.get("structure_prior", "flat") == "flat" else "size"


def read_dendrogram(
    store: Store, staging_id: int, merges: Merges, min_n: int | None, most: int
) -> Dendrogram:
    """Return the trees of merges with at most so many leaves, the first merges folded."""
    roots = grow_trees(merges.made, merges.further, list(merges.hyperstage))
    trees = [root for root in roots if root.parts]
    chosen, n_folded = fold_merges(choose_trees(trees, most), most)
    members = {leaf.stage_id: leaf.members for root in chosen for leaf in root.leaves()}
    pairs = [(leaf, one) for leaf, ones in members.items() for one in ones]
    with store.catalog() as catalog:
        staging = row(catalog, "staging", staging_id)
    with store.reading() as con, Steps(con) as steps:
        create_plotted_vertices(store, steps, str(staging["name"]), None, min_n)
        steps.create_from(
            "leaf_member",
            {
                "leaf_id": np.array([leaf for leaf, _ in pairs], dtype=np.int64),
                "vertex_id": np.array([one for _, one in pairs], dtype=np.int64),
            },
        )
        steps.run("dendrogram_leaf")
        steps.view("plotted_situation", "from temp.dendrogram_leaf")
        situations = situations_with_paths(steps, int(staging["tree_id"]))
        rows = steps.rows("select vertex_id, n_situations from temp.dendrogram_leaf")
    sizes = {int(vertex_id): int(n) for vertex_id, n in rows}
    leaves = {one.vertex_id: Leaf(one, sizes[one.vertex_id], one.n) for one in situations}
    return Dendrogram(
        merges, chosen, leaves, n_folded, len(trees) - len(chosen), len(roots) - len(trees)
    )
