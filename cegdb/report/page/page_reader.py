"""What a page shows of a CEG, read from its tables, with small cells hidden on request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from cegdb.inference.mean_scores import (
    MeanScore,
    declared_scores,
    in_order_of_means,
    mean_scores,
    stage_means,
)
from cegdb.report.page.position_choice import most_visited
from cegdb.small_cells import masked_views
from cegdb.sqlfiles import Row, Steps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cegdb.inference.mean_scores import Scores
    from cegdb.report.lineage import Lineage
    from cegdb.store import Store

_POSITION: Final = "position_id, position, stage_id, variable, height, n, n_situations"
_EDGE: Final = "source_id, target_id, label_id, label, n, prior, share, probability, low, high"


class Limits(NamedTuple):
    """How much a page holds."""

    edges: int = 2_000  # drawn of a graph
    overview: int = 60  # edges drawn of a graph that has more than that
    situations: int = 20  # named of a position
    rows: int = 1_000  # of a table
    evidence: int = 20_000  # edges of a CEG that can be given evidence in the page


@dataclass(frozen=True)
class Content:
    """Rows of what a page shows: of the vertices drawn, and of those named beside them."""

    positions: list[dict[str, Any]]  # drawn ones and those their edges lead to, the sink last
    edges: list[dict[str, Any]]
    drawn: set[int]  # ids of positions
    n_positions: int
    n_situations: int
    n_edges: int
    n_stages: int
    stages: list[dict[str, Any]]
    stage_edges: list[dict[str, Any]]
    vertices: list[dict[str, Any]]
    tree_edges: list[dict[str, Any]]
    hidden: dict[int, int]  # situations below each collapsed vertex
    members: list[tuple[int, int]]  # position and situation, some of each position drawn
    is_whole: bool  # no probability is hidden
    first: dict[str, list[dict[str, Any]]]  # rows of ``positions`` and ``ceg_edges``
    scores: Scores  # of the labels of ordered variables
    means: dict[int, MeanScore]  # of stages of ordered answers that are not hidden


def read_content(store: Store, lineage: Lineage, min_n: int | None, limits: Limits) -> Content:
    """Return the rows of what a page shows of a CEG.

    With ``min_n`` only the counts of the CEG are read, as `cegdb.small_cells` shows them:
    beside them, those of the tree's situations would reveal by sums what is hidden. Stages and
    positions of ordered answers stand in the order of their mean.
    """
    ceg, staging, _, survey = lineage
    scores = declared_scores(store, "ceg", ceg["ceg_id"])
    of_stages = (
        {} if lineage.is_conditioned else stage_means(store, staging["staging_id"], scores)
    )
    views = ("positions", "ceg_edges")
    with (
        masked_views(store, views, {"ceg": ceg["name"]}, min_n) as (positions_view, edges_view),
        store.reading() as con,
        Steps(con) as steps,
    ):
        steps.run("page_position", positions=positions_view, ceg=ceg["name"])
        steps.run("page_ceg_edge", edges=edges_view, ceg=ceg["name"])
        steps.run("page_level", survey_id=survey["survey_id"])
        position_ids = _positions_to_draw(steps, limits)
        steps.create_from("page_drawn", {"position_id": position_ids})
        _create_part_of_tree(steps, lineage, limits, by_people=min_n is None)
        positions = _records(_POSITION, steps.fetch("page_shown_position"))
        vertices = _records(
            "vertex_id, vertex, variable, n, parent_id, label, position_id, stage_id",
            steps.fetch("page_vertex", ceg_id=ceg["ceg_id"], staging=staging["name"]),
        )
        tree_edges = _records(
            "parent_id, child_id, label, label_id, n, is_leaf",
            steps.rows("from temp.page_edge order by child_id"),
        )
        if min_n is not None:
            for one in (*vertices, *tree_edges):
                one["n"] = None
        stages = _stages(steps, lineage)
        stage_edges = _records(
            "stage_id, label_id, label, n, share, probability, low, high",
            steps.fetch("page_stage_edge"),
        )
        known = mean_scores(_probabilities(stages, stage_edges, "stage_id"), scores)
        stages = in_order_of_means(
            stages, lambda one: one["variable"], lambda one: known.get(one["stage_id"])
        )
        edges = _records(_EDGE, steps.fetch("page_shown_edge"))
        at = mean_scores(_probabilities(positions, edges, "position_id", "source_id"), scores)
        positions = in_order_of_means(
            positions, lambda one: one["variable"], lambda one: at.get(one["position_id"])
        )
        shown_stages = {one["stage_id"] for one in (*positions, *vertices)}
        ((n_positions, n_situations, n_edges, n_hidden),) = steps.fetch("page_size")
        return Content(
            positions=positions,
            edges=edges,
            drawn=set(position_ids.tolist()),
            n_positions=n_positions,
            n_situations=n_situations,
            n_edges=n_edges,
            n_stages=len(stages),
            stages=[one for one in stages if one["stage_id"] in shown_stages],
            stage_edges=[one for one in stage_edges if one["stage_id"] in shown_stages],
            vertices=vertices,
            tree_edges=tree_edges,
            hidden=dict(steps.rows("from temp.page_hidden")),
            members=steps.rows("from temp.page_member order by all"),
            is_whole=n_hidden == 0,
            first=_first_rows(steps, limits.rows),
            scores=scores,
            means={one: of_stages.get(one, MeanScore(mean)) for one, mean in known.items()},
        )


def _probabilities(
    owners: list[dict[str, Any]], edges: list[dict[str, Any]], key: str, edge_key: str = ""
) -> Iterator[tuple[int, str | None, str, float | None]]:
    """Yield owner, variable, label and probability of edges of stages or positions."""
    variable_of = {one[key]: one["variable"] for one in owners}
    for edge in edges:
        owner = edge[edge_key or key]
        yield owner, variable_of.get(owner), edge["label"], edge["probability"]


def _create_part_of_tree(
    steps: Steps, lineage: Lineage, limits: Limits, *, by_people: bool
) -> None:
    """Choose the situations and edges of the tree that the page shows."""
    tree, staging_id = lineage.tree, lineage.staging["staging_id"]
    ids = {"ceg_id": lineage.ceg["ceg_id"], "tree_id": tree["tree_id"]}
    most = limits.edges if tree["n_vertices"] - 1 <= limits.edges else limits.overview
    steps.run("page_situation", most_edges=most, by_people=by_people, **ids)
    steps.run("page_member", most=limits.situations, by_people=by_people, **ids)
    steps.run("page_edge", staging_id=staging_id, **ids)
    steps.run("page_hidden", **ids)
    steps.run("page_ancestor", tree_id=tree["tree_id"])


def _stages(steps: Steps, lineage: Lineage) -> list[dict[str, Any]]:
    """Return the stages of the CEG, by the names they were given if they were."""
    stages = _records(
        "stage_id, stage, variable, colour, n, n_situations, n_positions",
        steps.fetch("page_stage"),
    )
    if lineage.is_conditioned:
        return stages
    given_names: dict[int, str] = dict(
        steps.rows(
            "select stage_id, name from cegdb.stages "
            "where staging = $staging and name is not null",
            {"staging": lineage.staging["name"]},
        )
    )
    return [{**one, "stage": given_names.get(one["stage_id"], one["stage"])} for one in stages]


def _first_rows(steps: Steps, most: int) -> dict[str, list[dict[str, Any]]]:
    """Return the first rows of the views of positions and edges."""
    positions = "page_position order by stage_id is null, position_id"
    edges = "page_ceg_edge order by source_id, label_id, target_id"
    return {
        "positions": _first(steps, f"stage, {_POSITION}", positions, most),
        "ceg_edges": _first(steps, f"source, target, variable, {_EDGE}", edges, most),
    }


def _positions_to_draw(steps: Steps, limits: Limits) -> Any:
    """Return the positions to draw, the sink not among them."""
    nodes = steps.arrays(
        "select position_id, coalesce(n, 0) as n from temp.page_position "
        "order by stage_id is null, position_id"
    )
    edges = steps.arrays(
        "select source_id, target_id from temp.page_ceg_edge order by source_id, target_id"
    )
    ids = nodes["position_id"]
    if len(edges["source_id"]) <= limits.edges:
        return ids[:-1]
    order = np.argsort(ids)
    source, target = (
        order[np.searchsorted(ids, edges[end], sorter=order)]
        for end in ("source_id", "target_id")
    )
    return ids[most_visited(source, target, np.asarray(nodes["n"]), limits.overview)]


def _first(steps: Steps, columns: str, rest: str, most: int) -> list[dict[str, Any]]:
    query = f"select {columns} from temp.{rest} limit {most}"  # noqa: S608
    return _records(columns, steps.rows(query))


def _records(columns: str, rows: list[Row]) -> list[dict[str, Any]]:
    return [dict(zip(columns.split(", "), one, strict=True)) for one in rows]
