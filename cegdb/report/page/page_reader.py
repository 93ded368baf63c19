"""What a page shows of a CEG, read from its tables: small cells hidden if asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cegdb.report.page.position_choice import most_visited
from cegdb.small_cells import shown
from cegdb.sqlfiles import Row, Steps
from cegdb.store.catalog import row, staging_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cegdb.store import Store

_POSITION = "position_id, position, stage_id, variable, height, n, n_situations"
_EDGE = "source_id, target_id, label_id, label, n, prior, share, probability, low, high"


@dataclass(frozen=True)
class Chain:
    """A CEG in the catalog with all that it was made from.

    Parameters
    ----------
    ceg, staging, tree, survey
        Their rows; ``staging`` is that of the CEG without evidence.
    """

    ceg: Mapping[str, Any]
    staging: Mapping[str, Any]
    tree: Mapping[str, Any]
    survey: Mapping[str, Any]

    @property
    def is_given(self) -> bool:
        """Whether it is a CEG given evidence."""
        return self.ceg["staging_id"] is None


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


def chain_of(store: Store, ceg_id: int) -> Chain:
    """Return the catalog rows of a CEG and of what it was made from."""
    with store.catalog() as catalog:
        ceg = row(catalog, "ceg", ceg_id)
        staging = row(catalog, "staging", staging_of(ceg))
        tree = row(catalog, "tree", staging["tree_id"])
        return Chain(ceg, staging, tree, row(catalog, "survey", tree["survey_id"]))


def read(store: Store, chain: Chain, min_n: int | None, limits: Limits) -> Content:
    """Return the rows of what a page shows of a CEG.

    Notes
    -----
    With ``min_n`` only the counts of the CEG are told, as `cegdb.small_cells` shows them:
    those of the tree's situations, beside them, would tell what is hidden by sums.
    """
    name, ceg_id, tree_id = chain.ceg["name"], chain.ceg["ceg_id"], chain.tree["tree_id"]
    counts = {"by_people": min_n is None}
    where = {"ceg": name}
    with (
        shown(store, "positions", where, min_n) as shown_positions,
        store.reading() as con,
        Steps(con) as steps,
    ):
        shown_edges = "cegdb.ceg_edges"
        if min_n is not None:  # of the same hidden cells
            steps.run("shown_ceg_edges", object_name=name)
            shown_edges = "temp.shown_ceg_edges"
        for table, relation in (
            ("page_position", shown_positions),
            ("page_ceg_edge", shown_edges),
        ):
            steps.create(table, f"select * from {relation} where ceg = $ceg", where)  # noqa: S608
        steps.run("page_level", survey_id=chain.survey["survey_id"])
        steps.create_from("page_shown", {"position_id": _drawn(steps, limits)})
        positions = _named(
            steps,
            _POSITION,
            "temp.page_position where stage_id is null "
            "or position_id in (from temp.page_shown) or position_id in ("
            "select target_id from temp.page_ceg_edge "
            "where source_id in (from temp.page_shown)) "
            "order by stage_id is null, position_id",
        )
        drawn = {one for (one,) in steps.rows("from temp.page_shown")}
        edges = _named(
            steps,
            _EDGE,
            "temp.page_ceg_edge left join temp.page_level using (variable, label_id) "
            "where source_id in (from temp.page_shown) "
            "order by source_id, place nulls last, label_id",
        )
        ((n_positions, n_situations),) = steps.rows(
            "select count(*), cast(coalesce(sum(n_situations), 0) as bigint) "
            "from temp.page_position where stage_id is not null"
        )
        ((n_edges, n_hidden),) = steps.rows(
            "select count(*), count(*) - count(probability) from temp.page_ceg_edge"
        )
        first = {
            "positions": _named(
                steps,
                f"stage, {_POSITION}",
                "temp.page_position order by stage_id is null, position_id "
                f"limit {limits.rows}",
            ),
            "ceg_edges": _named(
                steps,
                f"source, target, variable, {_EDGE}",
                "temp.page_ceg_edge order by source_id, label_id, target_id "
                f"limit {limits.rows}",
            ),
        }
        ids = {"ceg_id": ceg_id, "tree_id": tree_id}
        n_tree_edges = chain.tree["n_vertices"] - 1
        most = limits.edges if n_tree_edges <= limits.edges else limits.overview
        steps.run("page_situation", most_edges=most, **ids, **counts)
        steps.run("page_member", most=limits.situations, **ids, **counts)
        steps.run("page_edge", staging_id=chain.staging["staging_id"], **ids)
        steps.run("page_hidden", **ids)
        steps.run("page_ancestor", tree_id=tree_id)
        stages = _records(
            "stage_id, stage, variable, colour, n, n_situations, n_positions",
            steps.fetch("page_stage"),
        )
        if not chain.is_given:
            names: dict[int, str] = dict(
                steps.rows(
                    "select stage_id, name from cegdb.stages "
                    "where staging = $staging and name is not null",
                    {"staging": chain.staging["name"]},
                )
            )
            for one in stages:
                one["stage"] = names.get(one["stage_id"], one["stage"])
        stage_edges = _records(
            "stage_id, label_id, label, n, share, probability, low, high",
            steps.fetch("page_stage_edge"),
        )
        vertices = _records(
            "vertex_id, vertex, variable, n, parent_id, label, position_id, stage_id",
            steps.fetch("page_vertex", ceg_id=ceg_id, staging=chain.staging["name"]),
        )
        tree_edges = _named(
            steps,
            "parent_id, child_id, label, label_id, n, is_leaf",
            "temp.page_edge order by child_id",
        )
        hidden: dict[int, int] = dict(
            steps.rows("select vertex_id, n_hidden from temp.page_hidden")
        )
        members = steps.rows("select position_id, vertex_id from temp.page_member order by all")
    if min_n is not None:
        for one in (*vertices, *tree_edges):
            one["n"] = None
    told = {one["stage_id"] for one in (*positions, *vertices)}
    return Content(
        positions,
        edges,
        drawn,
        n_positions,
        n_situations,
        n_edges,
        len(stages),
        [one for one in stages if one["stage_id"] in told],
        [one for one in stage_edges if one["stage_id"] in told],
        vertices,
        tree_edges,
        hidden,
        members,
        is_whole=n_hidden == 0,
        first=first,
    )


def _drawn(steps: Steps, limits: Limits) -> Any:
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


def _named(steps: Steps, columns: str, rest: str) -> list[dict[str, Any]]:
    return _records(columns, steps.rows(f"select {columns} from {rest}"))  # noqa: S608


def _records(columns: str, rows: list[Row]) -> list[dict[str, Any]]:
    return [dict(zip(columns.split(", "), one, strict=True)) for one in rows]
