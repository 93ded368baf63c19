"""All that a page knows, as plain values, for its script to draw, show and calculate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from cegdb.errors import GraphError, QueryError, StaleError
from cegdb.evidence import All, from_json
from cegdb.findings import findings_of
from cegdb.inference.answer_intervals import AnswerIntervals
from cegdb.inference.automata import occurs_always
from cegdb.inference.compiled_model import compile_ceg
from cegdb.inference.counted_tree import counted_tree
from cegdb.inference.queries import condition, marginal
from cegdb.ingest.coding.variables import NOT_APPLICABLE
from cegdb.report.lineage import lineage_of
from cegdb.report.page import page_text
from cegdb.report.page.graph_drawing import ceg_drawing, tree_drawing
from cegdb.report.page.merge_log import merge_log
from cegdb.report.page.page_reader import read_content
from cegdb.report.page.page_text import json_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from cegdb.inference.compiled_model import CompiledModel
    from cegdb.report.lineage import Lineage
    from cegdb.report.page.page_reader import Content, Limits
    from cegdb.store import Store


_LEVEL: Final = 0.95
_MOST_VERTICES: Final = 200_000
"""The limits of answers are left out where reading so large a tree would take long."""


def page_model(store: Store, ceg_id: int, min_n: int | None, limits: Limits) -> dict[str, Any]:
    """Return what a page shows of a CEG, as JSON has it; the same for the same tables."""
    lineage = lineage_of(store, ceg_id)
    content = read_content(store, lineage, min_n, limits)
    with store.catalog() as catalog:
        found = findings_of(catalog, "ceg", lineage.ceg["name"])
    compiled, why_not = _compiled(store, lineage, content, limits)
    edge_of: dict[tuple[int, int], int] = {}
    node_of: dict[int, int] = {}
    if compiled is not None:
        source = compiled.position_id[compiled.graph.source].tolist()
        pairs = zip(source, compiled.label_id.tolist(), strict=True)
        edge_of = {pair: at for at, pair in enumerate(pairs)}
        node_of = {int(one): at for at, one in enumerate(compiled.position_id)}
    notices: list[str] = []
    stage_at = {one["stage_id"]: at for at, one in enumerate(content.stages)}
    return {
        "name": lineage.ceg["name"],
        "head": page_text.headline(lineage, content, min_n),
        "given": str(from_json(lineage.ceg["evidence"])) if lineage.is_conditioned else None,
        "weighted": bool(lineage.survey["settings"].get("weight")),
        "minN": min_n,
        "about": page_text.about(lineage, found, min_n),
        "stages": _stages(content),
        "ceg": _ceg(content, stage_at, edge_of, node_of, notices),
        "tree": _tree(content, min_n, stage_at, edge_of, node_of, notices),
        "inference": (
            why_not if compiled is None else _inference(store, lineage, compiled, min_n)
        ),
        "merges": merge_log(store, lineage, content, min_n),
        "tables": page_text.tables(store, lineage, content, min_n, limits.rows),
        "notices": page_text.warnings(found, min_n) + notices,
    }


def _compiled(
    store: Store, lineage: Lineage, content: Content, limits: Limits
) -> tuple[CompiledModel | None, str]:
    """Return the CEG for evidence in the page, or why there is none."""
    if not content.is_whole:
        return None, page_text.evidence_off(content.n_edges, None)
    if content.n_edges > limits.evidence:
        return None, page_text.evidence_off(content.n_edges, limits.evidence)
    compiled = compile_ceg(store, lineage.ceg["ceg_id"])
    try:
        compiled.refuse_mixed()
    except QueryError as error:
        return None, page_text.evidence_refused(error.args[0])
    return compiled, ""


def _inference(
    store: Store, lineage: Lineage, compiled: CompiledModel, min_n: int | None
) -> dict[str, Any]:
    graph = compiled.graph
    n: int | None = None
    limits_of: dict[tuple[str, str], list[float]] = {}
    # Limits rest on counts of the tree, which are hidden where small ones are.
    if not min_n and lineage.tree["n_vertices"] <= _MOST_VERTICES:
        n, limits_of = _limits(store, lineage, compiled)
    variables = []
    for number, one in enumerate(compiled.variables):
        is_always = occurs_always(compiled, number)
        labels = list(one.labels)
        if not is_always and NOT_APPLICABLE not in labels:
            labels.append(NOT_APPLICABLE)
        variables.append(
            {
                "name": one.name,
                "labels": labels,
                "limits": [limits_of.get((one.name, label)) for label in labels],
                "occurs_always": is_always,
            }
        )
    return {
        "variables": variables,
        "n": n,
        "absent": NOT_APPLICABLE,
        "nodes": graph.n_nodes,
        "source": graph.source.tolist(),
        "target": graph.target.tolist(),
        "variable": compiled.edge_variable.tolist(),
        "label": compiled.label.tolist(),
        "probability": compiled.probability.tolist(),
    }


def _limits(
    store: Store, lineage: Lineage, compiled: CompiledModel
) -> tuple[int | None, dict[tuple[str, str], list[float]]]:
    """Return the respondents of the CEG, and the limits of each answer's probability.

    There are none if its survey has changed and intervals need its rows.
    """
    model = condition(compiled, All(()))
    try:
        tree = counted_tree(store, compiled, ceg_id=lineage.ceg["ceg_id"])
    except StaleError:
        return None, {}
    intervals = AnswerIntervals(tree, model, _LEVEL)
    n: int | None = None
    limits_of: dict[tuple[str, str], list[float]] = {}
    for one in compiled.variables:
        labels, probability = marginal(model, one.name)
        limits = intervals.of_answers([one.name], [labels], probability, 0)
        n = int(limits.n[0])
        ends = zip(labels, limits.low.tolist(), limits.high.tolist(), strict=True)
        limits_of |= {(one.name, label): [low, high] for label, low, high in ends}
    return n, limits_of


def _stages(content: Content) -> list[dict[str, Any]]:
    edges: dict[int, list[dict[str, Any]]] = {}
    for one in content.stage_edges:
        numbers = {
            key: json_value(one[key]) for key in ("n", "share", "probability", "low", "high")
        }
        edges.setdefault(one["stage_id"], []).append({"label": one["label"], **numbers})
    return [
        {
            "name": one["stage"],
            "variable": one["variable"],
            "colour": one["colour"],
            "shared": one["colour"].lower() != "#ffffff",
            "n": one["n"],
            "situations": one["n_situations"],
            "positions": one["n_positions"],
            "average": page_text.average(content, one),
            "edges": edges.get(one["stage_id"], []),
        }
        for one in content.stages
    ]


def _drawing(
    draw: Callable[[Content], dict[str, Any]], content: Content, graph: str, notices: list[str]
) -> dict[str, Any] | None:
    try:
        return draw(content)
    except GraphError as error:
        notices.append(page_text.graph_not_drawn(graph, error.args[0]))
        return None


def _ceg(
    content: Content,
    stage_at: dict[int, int],
    edge_of: dict[tuple[int, int], int],
    node_of: dict[int, int],
    notices: list[str],
) -> dict[str, Any]:
    drawn = [
        one
        for one in content.positions
        if one["stage_id"] is None or one["position_id"] in content.drawn
    ]
    members: dict[int, list[int]] = {}
    for position_id, vertex_id in content.members:
        members.setdefault(position_id, []).append(vertex_id)
    drawing = _drawing(ceg_drawing, content, "CEG", notices)
    if drawing is not None and len(content.drawn) < content.n_positions:
        notices.append(page_text.ceg_in_part(len(content.drawn), content.n_positions))
    return {
        "positions": [
            {
                "name": one["position"],
                "variable": one["variable"],
                "stage": stage_at.get(one["stage_id"]),
                "n": one["n"],
                "situations": one["n_situations"],
                "members": members.get(one["position_id"], []),
                "node": node_of.get(one["position_id"]),
            }
            for one in drawn
        ],
        "edges": [
            {
                "label": one["label"],
                **{
                    key: json_value(one[key])
                    for key in ("n", "share", "probability", "low", "high")
                },
                "edge": edge_of.get((one["source_id"], one["label_id"])),
            }
            for one in content.edges
        ],
        "total": content.n_positions,
        "drawing": drawing,
    }


def _tree(
    content: Content,
    min_n: int | None,
    stage_at: dict[int, int],
    edge_of: dict[tuple[int, int], int],
    node_of: dict[int, int],
    notices: list[str],
) -> dict[str, Any]:
    ends = {0} | {one["child_id"] for one in content.tree_edges}
    vertices = {one["vertex_id"]: one for one in content.vertices}
    position_at = {one["position_id"]: one["position"] for one in content.positions}
    n_edges: dict[int, int] = {}
    index_of: dict[tuple[int, int], int] = {}
    for one in content.stage_edges:
        index = n_edges.get(one["stage_id"], 0)
        index_of[one["stage_id"], one["label_id"]] = index
        n_edges[one["stage_id"]] = index + 1
    drawing = _drawing(tree_drawing, content, "staged tree", notices)
    if drawing is not None and content.hidden:
        n_drawn = len({one["parent_id"] for one in content.tree_edges})
        by_people = min_n is None
        notices.append(
            page_text.tree_in_part(n_drawn, content.n_situations, by_people=by_people)
        )
    edges = []
    for one in content.tree_edges:
        parent = vertices[one["parent_id"]]
        edges.append(
            {
                "label": one["label"],
                "n": one["n"],
                "of": index_of[parent["stage_id"], one["label_id"]],
                "edge": edge_of.get((parent["position_id"], one["label_id"])),
            }
        )
    return {
        "vertices": [
            {
                "id": one["vertex_id"],
                "name": one["vertex"],
                "variable": one["variable"],
                "n": one["n"],
                "parent": one["parent_id"],
                "label": one["label"],
                "stage": stage_at.get(one["stage_id"]),
                "position": position_at.get(one["position_id"]),
                "node": node_of.get(one["position_id"]),
                "drawn": one["vertex_id"] in ends,
            }
            for one in content.vertices
        ],
        "edges": edges,
        "total": content.n_situations,
        "drawing": drawing,
    }
