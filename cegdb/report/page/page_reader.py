"""What a page shows of a CEG, read from its tables, with small cells hidden on request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from cegdb.report.page.position_choice import most_visited
from cegdb.small_cells import masked_view
from cegdb.sqlfiles import Row, Steps

if TYPE_CHECKING:
    from cegdb.report.lineage import Lineage
    from cegdb.store import Store

_POSITION: Final = "position_id, position, stage_id, variable, height, n, n_situations"
_EDGE: Final = "source_id, target_id, label_id, label, n, prior, share, probability, low, high"


class Limits(NamedTuple):
    """How much a page holds.

    Parameters
    ----------
    edges
        The most that are drawn of a graph.
    overview
        The most that are drawn of a graph that has more than ``edges``.
    situations
        The most that are named of a position.
    rows
        The most of a table.
    evidence
        The most edges of a CEG that evidence is added to in the page.
    """

    edges: int = 2_000
    overview: int = 60
    situations: int = 20
    rows: int = 1_000
    evidence: int = 20_000


@dataclass(frozen=True)
class Content:
    """Rows of what a page shows.

    Parameters
    ----------
    positions, edges
        Rows of `cegdb.positions` and `cegdb.ceg_edges`: the edges of the positions drawn, and
        where they lead, the sink last.
    drawn
        Ids of the positions drawn.
    n_positions, n_situations, n_edges
        How many there are, the sink and the leaves not counted.
    n_stages
        How many the CEG has.
    stages, stage_edges
        Those of the positions drawn and the vertices named, with their probabilities.
    vertices
        Situations and leaves that are named.
    tree_edges
        Edges of the situations drawn: rows of the step ``page_edge``.
    hidden
        Situations in the subtree of each collapsed vertex.
    members
        Position and situation, of some situations of each position drawn.
    is_whole
        Whether no probability is hidden.
    first
        The first rows of the views ``positions`` and ``ceg_edges``, whole, by view.
    """

    positions: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    drawn: set[int]
    n_positions: int
    n_situations: int
    n_edges: int
    n_stages: int
    stages: list[dict[str, Any]]
    stage_edges: list[dict[str, Any]]
    vertices: list[dict[str, Any]]
    tree_edges: list[dict[str, Any]]
    hidden: dict[int, int]
    members: list[tuple[int, int]]
    is_whole: bool
    first: dict[str, list[dict[str, Any]]]


def read_content(store: Store, lineage: Lineage, min_n: int | None, limits: Limits) -> Content:
    """Return the rows of what a page shows of a CEG.

    Notes
    -----
    With ``min_n`` only the counts of the CEG are read, as `cegdb.small_cells` shows them:
    beside them, those of the tree's situations would reveal by sums what is hidden.
    """
    ceg, staging, tree, survey = lineage
    name = ceg["name"]
    ids = {"ceg_id": ceg["ceg_id"], "tree_id": tree["tree_id"]}
    counts = {"by_people": min_n is None}
    with (
        masked_view(store, "positions", {"ceg": name}, min_n) as positions_relation,
        store.reading() as con,
        Steps(con) as steps,
    ):
        edges_relation = "cegdb.ceg_edges"
        if min_n is not None:  # of the same hidden cells
            steps.run("masked_ceg_edges", object_name=name)
            edges_relation = "temp.masked_ceg_edges"
        steps.run("page_position", positions=positions_relation, ceg=name)
        steps.run("page_ceg_edge", edges=edges_relation, ceg=name)
        steps.run("page_level", survey_id=survey["survey_id"])
        position_ids = _positions_to_draw(steps, limits)
        steps.create_from("page_drawn", {"position_id": position_ids})
        positions = _records(_POSITION, steps.fetch("page_shown_position"))
        edges = _records(_EDGE, steps.fetch("page_shown_edge"))
        ((n_positions, n_situations, n_edges, n_hidden),) = steps.fetch("page_size")
        first = {
            "positions": _first(
                steps,
                f"stage, {_POSITION}",
                "page_position order by stage_id is null, position_id",
                limits.rows,
            ),
            "ceg_edges": _first(
                steps,
                f"source, target, variable, {_EDGE}",
                "page_ceg_edge order by source_id, label_id, target_id",
                limits.rows,
            ),
        }
        most = limits.edges if tree["n_vertices"] - 1 <= limits.edges else limits.overview
        steps.run("page_situation", most_edges=most, **ids, **counts)
        steps.run("page_member", most=limits.situations, **ids, **counts)
        steps.run("page_edge", staging_id=staging["staging_id"], **ids)
        steps.run("page_hidden", **ids)
        steps.run("page_ancestor", tree_id=tree["tree_id"])
        stages = _records(
            "stage_id, stage, variable, colour, n, n_situations, n_positions",
            steps.fetch("page_stage"),
        )
        if not lineage.is_conditioned:
            given_names: dict[int, str] = dict(
                steps.rows(
                    "select stage_id, name from cegdb.stages "
                    "where staging = $staging and name is not null",
                    {"staging": staging["name"]},
                )
            )
            for one in stages:
                one["stage"] = given_names.get(one["stage_id"], one["stage"])
        stage_edges = _records(
            "stage_id, label_id, label, n, share, probability, low, high",
            steps.fetch("page_stage_edge"),
        )
        vertices = _records(
            "vertex_id, vertex, variable, n, parent_id, label, position_id, stage_id",
            steps.fetch("page_vertex", ceg_id=ids["ceg_id"], staging=staging["name"]),
        )
        tree_edges = _records(
            "parent_id, child_id, label, label_id, n, is_leaf",
            steps.rows("from temp.page_edge order by child_id"),
        )
        hidden: dict[int, int] = dict(steps.rows("from temp.page_hidden"))
        members = steps.rows("from temp.page_member order by all")
    if min_n is not None:
        for one in (*vertices, *tree_edges):
            one["n"] = None
    shown_stages = {one["stage_id"] for one in (*positions, *vertices)}
    return Content(
        positions,
        edges,
        set(position_ids.tolist()),
        n_positions,
        n_situations,
        n_edges,
        len(stages),
        [one for one in stages if one["stage_id"] in shown_stages],
        [one for one in stage_edges if one["stage_id"] in shown_stages],
        vertices,
        tree_edges,
        hidden,
        members,
        is_whole=n_hidden == 0,
        first=first,
    )


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
