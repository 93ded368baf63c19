"""A conditioned CEG: a CEG given evidence, saved as a CEG of its own."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from cegdb.errors import CegError
from cegdb.evidence import from_json
from cegdb.inference.compiled_model import compile_ceg
from cegdb.inference.propagation import Semiring
from cegdb.inference.queries import condition
from cegdb.sqlfiles import Steps
from cegdb.stages.build import PALETTE
from cegdb.store.catalog import (
    ceg_and_parents,
    claim_name,
    delete_rows,
    new_id,
    refuse_stale,
    row,
    staging_of,
    write,
)
from cegdb.version import made_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    import duckdb
    import sqlalchemy as sa

    from cegdb.evidence import Evidence
    from cegdb.inference.propagation import Floats, Graph, Ints
    from cegdb.inference.queries import ConditionedModel
    from cegdb.store import Store

_LONGEST_PATH: Final = Semiring(np.maximum, np.add, 0, 0)
_TOLERANCE: Final = 1e-12


class MergedNodes(NamedTuple):
    """The position, stage and height of each node of a product.

    Positions and stages are named by their smallest vertex, -1 at the sink. ``stage_edge`` has
    the edges that give a stage its probabilities: those of its smallest position.
    """

    position: Ints
    stage: Ints
    height: Ints
    stage_edge: Ints


def save_conditioned(
    store: Store,
    parent_id: int,
    evidence: Evidence,
    *,
    name: str | None = None,
    replace: bool = False,
) -> int:
    """Save a CEG given evidence as a CEG, in one transaction, and return its id.

    The CEG may be conditioned itself.
    """
    with store.writing() as (con, catalog):
        parent = row(catalog, "ceg", parent_id)
        refuse_stale("ceg", parent)
        if name is not None and replace:
            _refuse_ancestor(catalog, parent_id, str(name))
        name = claim_name(catalog, "ceg", name, f"{parent['name']}-given", replace=replace)
        return _build(store, con, catalog, parent, evidence, name, former_id=None)


def rebuild_conditioned(store: Store, ceg_id: int, evidence: Evidence | None = None) -> None:
    """Rebuild a conditioned CEG after its parent was rebuilt; id and name stay."""
    with store.writing() as (con, catalog):
        ceg = row(catalog, "ceg", ceg_id)
        parent = row(catalog, "ceg", ceg["parent_ceg_id"])
        current = from_json(ceg["evidence"]) if evidence is None else evidence
        delete_rows(catalog, "ceg", ceg_id)
        _build(store, con, catalog, parent, current, ceg["name"], former_id=ceg_id)


def _refuse_ancestor(catalog: sa.Connection, parent_id: int, name: str) -> None:
    """Refuse to replace the CEG that is conditioned, or one that it comes from."""
    if any(ceg["name"] == name for ceg in ceg_and_parents(catalog, parent_id)):
        raise CegError(
            f"CEG {name!r} cannot be replaced by a CEG made from it",
            hint="choose another name",
        )


def _build(
    store: Store,
    con: duckdb.DuckDBPyConnection,
    catalog: sa.Connection,
    parent: Mapping[str, Any],
    evidence: Evidence,
    name: str,
    *,
    former_id: int | None,
) -> int:
    started = time.perf_counter()
    model = condition(compile_ceg(store, parent["ceg_id"]), evidence)
    staging = row(catalog, "staging", staging_of(parent))
    with Steps(con) as steps:
        first, variable = _reach_vertices(steps, model, staging)
        label = model.ceg.label_id[model.product.edge]
        merged = merge_nodes(model.graph, label, model.probability, first, variable)
        steps.create_from(
            "node_position",
            {
                "node": np.arange(model.graph.n_nodes),
                "position_id": merged.position,
                "stage_id": merged.stage,
                "height": merged.height,
            },
        )
        steps.create_from(
            "conditioned_answer",
            {
                "stage_id": merged.stage[model.graph.source[merged.stage_edge]],
                "label_id": label[merged.stage_edge],
                "probability": model.probability[merged.stage_edge],
            },
        )
        ceg_id = new_id(catalog, "ceg") if former_id is None else former_id
        steps.run("conditioned_stage", ceg_id=ceg_id, palette=PALETTE)
        n_vertices = steps.run("conditioned_position", ceg_id=ceg_id)
        steps.run("conditioned_member", ceg_id=ceg_id)
        n_edges = steps.run("conditioned_edge", ceg_id=ceg_id)
    write(
        catalog,
        "ceg",
        {
            "ceg_id": ceg_id,
            "name": name,
            "parent_ceg_id": parent["ceg_id"],
            "evidence": model.evidence.to_json(),
            "probability": model.probability_of_evidence,
            "relative_likelihood": model.relative_likelihood,
            "root_staging_id": staging["staging_id"],
            "n_vertices": n_vertices,
            "n_edges": n_edges,
            "settings": {},
            "summary": {
                "evidence": str(model.evidence),
                "height": int(merged.height[0]),
            },
            **made_by(time.perf_counter() - started),
        },
        is_update=former_id is not None,
    )
    return ceg_id


def _reach_vertices(
    steps: Steps, model: ConditionedModel, staging: Mapping[str, Any]
) -> tuple[Ints, Ints]:
    """Follow the tree along the product; return each node's smallest vertex and variable."""
    tree_id = staging["tree_id"]
    steps.create_from(
        "product_edge",
        {
            "source": model.graph.source,
            "label_id": model.ceg.label_id[model.product.edge],
            "target": model.graph.target,
        },
    )
    steps.run("conditioned_vertex")
    depths = steps.fetch("tree_depth", tree_id=tree_id)
    for depth, low, high in depths:
        n_reached = steps.run(
            "next_conditioned_vertex",
            tree_id=tree_id,
            staging_id=staging["staging_id"],
            depth=depth,
            low=low,
            high=high,
        )
        if n_reached == 0:
            break
    steps.run("conditioned_node", tree_id=tree_id)
    nodes = steps.arrays(
        "select first_id, variable_id from temp.conditioned_node order by node"
    )
    return nodes["first_id"], nodes["variable_id"]


def merge_nodes(
    graph: Graph, label: Ints, probability: Floats, first: Ints, variable: Ints
) -> MergedNodes:
    """Merge nodes with the same stage and targets; equal variable and answers are a stage.

    ``first`` and ``variable`` are the smallest vertex and the variable of each node. The result
    is the smallest graph with the same coloured paths, in time linear in the graph.
    """
    n, sink = graph.n_nodes, graph.n_nodes - 1
    order = np.lexsort((label, graph.source))
    start = np.searchsorted(graph.source, np.arange(n + 1)).tolist()
    labels, codes = label[order].tolist(), _value_codes(probability)[order].tolist()
    targets, variables = graph.target[order].tolist(), variable.tolist()
    stages: dict[tuple[object, ...], int] = {}
    blocks: dict[tuple[int, tuple[int, ...]], int] = {}
    stage, block = np.full(n, -1, np.int64), np.full(n, sink, np.int64)
    block_of = block.tolist()
    for node in range(sink - 1, -1, -1):
        part = slice(start[node], start[node + 1])
        colour = (variables[node], tuple(labels[part]), tuple(codes[part]))
        stage[node] = stages.setdefault(colour, len(stages))
        key = (int(stage[node]), tuple(block_of[target] for target in targets[part]))
        block_of[node] = blocks.setdefault(key, node)
    block = np.array(block_of, np.int64)
    position = _smallest_of_groups(block, first)[block]
    stage_id = np.full(n, -1, np.int64)
    stage_id[:sink] = _smallest_of_groups(stage[:sink], first[:sink])[stage[:sink]]
    is_smallest = (stage_id == first)[graph.source]
    ones = np.ones(len(label), np.int64)
    return MergedNodes(
        position, stage_id, graph.backward(ones, _LONGEST_PATH), np.flatnonzero(is_smallest)
    )


def _value_codes(values: Floats) -> Ints:
    """Return a code for each value; values that agree to 12 digits share it."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    code = np.empty(len(values), np.int64)
    code[order] = np.cumsum(np.diff(ordered, prepend=-1.0) > _TOLERANCE * ordered)
    return code


def _smallest_of_groups(group: Ints, value: Ints) -> Ints:
    """Return the smallest value of each group."""
    smallest = np.full(int(group.max(initial=0)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(smallest, group, value)
    return smallest
