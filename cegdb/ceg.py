"""The Chain Event Graph: its edges, and the staged tree recovered from it (Theorem 3)."""

from __future__ import annotations

import time
from numbers import Real
from typing import TYPE_CHECKING, Any, Final, get_args

from cegdb.errors import CegError
from cegdb.options import CegOptions, Stop, check_choice
from cegdb.positions import MAX_BITS, Layer, merge_positions
from cegdb.sqlfiles import Row, Steps
from cegdb.stages.priors import has_priors, make_edge_priors
from cegdb.stages.recorded import prior_rule, recorded_weighting
from cegdb.stages.relabel import read_relabelled
from cegdb.stages.robust_intervals import intervals_of_positions
from cegdb.stages.scores import LEVEL
from cegdb.store import schema
from cegdb.store.catalog import (
    claim_name,
    delete_rows,
    insert_rows,
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

    from cegdb.store import Store

__all__ = ["MAX_VERTICES", "build_ceg", "rebuild_ceg", "recover"]

MAX_VERTICES: Final = 5_000_000
"""The largest number of vertices of a staged tree that is recovered from a CEG."""


def build_ceg(
    store: Store,
    staging_id: int,
    *,
    name: str | None = None,
    stop: Stop = CegOptions.stop,
    replace: bool = False,
    max_bits: int = MAX_BITS,
) -> int:
    """Construct the CEG of a staged tree [1]_; return ``ceg_id``.

    ``stop`` is ``"early"`` (Theorem 2) or ``"baseline"``; both give the same CEG.

    References
    ----------
    .. [1] A. Shenvi and J. Q. Smith (2020), Constructing a Chain Event Graph from a
       Staged Tree, section 3.

    Examples
    --------
    >>> from cegdb.ingest import ingest
    >>> from cegdb.stages import set_stages
    >>> from cegdb.store import Store
    >>> from cegdb.tree import event_tree
    >>> with Store.open() as store:
    ...     survey = ingest(store, "select 'a' as x, 'u' as y union all select 'b', 'u'")
    ...     build_ceg(store, set_stages(store, event_tree(store, survey), {}))
    1
    """
    check_choice("stop", stop, get_args(Stop), CegError)
    with store.writing() as (con, catalog):
        staging = row(catalog, "staging", staging_id)
        refuse_stale("staging", staging)
        name = claim_name(catalog, "ceg", name, str(staging["name"]), replace=replace)
        return _build(store, con, catalog, staging, name, stop, max_bits)


def rebuild_ceg(store: Store, ceg_id: int, max_bits: int = MAX_BITS) -> None:
    """Make a CEG again from its rebuilt staging; its id and name stay the same."""
    with store.writing() as (con, catalog):
        ceg = row(catalog, "ceg", ceg_id)
        staging = row(catalog, "staging", ceg["staging_id"])
        delete_rows(catalog, "ceg", ceg_id)
        stop = ceg["settings"]["stop"]
        _build(store, con, catalog, staging, ceg["name"], stop, max_bits, former_id=ceg_id)


def _build(
    store: Store,
    con: duckdb.DuckDBPyConnection,
    catalog: sa.Connection,
    staging: Mapping[str, Any],
    name: str,
    stop: Stop,
    max_bits: int,
    *,
    former_id: int | None = None,
) -> int:
    started = time.perf_counter()
    staging_id, tree_id = staging["staging_id"], staging["tree_id"]
    tree = row(catalog, "tree", tree_id)
    with store.counting(tree["height"], "height") as progress, Steps(con) as steps:
        ceg_id = new_id(catalog, "ceg") if former_id is None else former_id
        n_vertices, layers, is_full = merge_positions(
            steps, ceg_id, tree, staging_id, stop, progress, max_bits
        )
        steps.run("position_floret", tree_id=tree_id, staging_id=staging_id, is_full=is_full)
        steps.run("position_edge", tree_id=tree_id, staging_id=staging_id)
        merges = _merge_steps(
            ceg_id, tree["n_vertices"], layers, dict(steps.fetch("merged_edge_count"))
        )
        _make_priors(steps, tree, staging)
        _make_intervals(steps, catalog, tree, staging)
        _make_raw_labels(steps, tree, staging_id)
        n_edges = steps.run("graph_edge", ceg_id=ceg_id, staging_id=staging_id)
    insert_rows(catalog, schema.merge_step, merges)
    write(
        catalog,
        "ceg",
        {
            "ceg_id": ceg_id,
            "name": name,
            "staging_id": staging_id,
            "n_vertices": n_vertices,
            "n_edges": n_edges,
            "settings": {"stop": stop},
            "summary": {
                "steps": len(merges) - 1,
                "height": tree["height"],
                "stopped_early": len(merges) - 1 < tree["height"],
            },
            **made_by(time.perf_counter() - started),
        },
        is_update=former_id is not None,
    )
    return ceg_id


def _make_raw_labels(steps: Steps, tree: Mapping[str, Any], staging_id: int) -> None:
    """Make ``raw_label``, which is empty if each label is the tree's own."""
    tree_id, survey_id = tree["tree_id"], tree["survey_id"]
    ((is_shared,),) = steps.fetch("shared_label", survey_id=survey_id, staging_id=staging_id)
    if is_shared:
        steps.run("raw_label", tree_id=tree_id, staging_id=staging_id)
    else:
        steps.empty("raw_label", "position_id bigint, label_id integer, labels varchar[]")


def _make_priors(steps: Steps, tree: Mapping[str, Any], staging: Mapping[str, Any]) -> None:
    """Make ``position_share`` or, if that does not determine the priors, ``position_prior``.

    Both are empty where the prior of a position is its part of the prior of its stage.
    """
    staging_id, alpha = staging["staging_id"], staging["alpha"]
    rule = prior_rule(staging["settings"])
    steps.empty("position_share", "position_id bigint, share double")
    is_by_mass = rule == "mass" and not has_priors(steps, staging_id)
    if is_by_mass or rule == "stage":
        steps.empty("position_prior", "position_id bigint, label_id integer, prior double")
    if rule == "stage":
        return
    if is_by_mass:
        for height in range(tree["height"], 0, -1):
            steps.run("position_share", height=height, alpha=alpha)
        return
    make_edge_priors(steps, tree["tree_id"], staging_id, rule, alpha)
    steps.run("position_prior", tree_id=tree["tree_id"], staging_id=staging_id)


def _make_intervals(
    steps: Steps, catalog: sa.Connection, tree: Mapping[str, Any], staging: Mapping[str, Any]
) -> None:
    """Make ``position_interval``: the positions of stages that are divided among several."""
    tree_id, staging_id = tree["tree_id"], staging["staging_id"]
    weighting = recorded_weighting(staging["settings"]).for_tree(catalog, tree)
    if weighting.uses_weights or weighting.effects:
        read_relabelled(steps, staging_id)
        steps.run("situation_edge", tree_id=tree_id)
    weighting.measure(steps, tree_id)
    steps.run("position_size", tree_id=tree_id, staging_id=staging_id)
    steps.create_from(
        "position_interval",
        intervals_of_positions(steps, LEVEL),
        purpose="95 % intervals of the shares in positions that are part of a stage: from "
        "quantiles of Beta distributions, which DuckDB lacks.",
    )


def _merge_steps(
    ceg_id: int, n_vertices: int, layers: list[Layer], merged_edges: Mapping[int, int]
) -> list[dict[str, object]]:
    """Return the rows of ``merge_step``: G_0, then one graph for each height merged."""
    n_edges = n_vertices - 1
    rows: list[dict[str, object]] = []
    for step, layer in enumerate(layers):
        n_vertices -= layer.n_situations - layer.n_positions
        n_edges -= merged_edges.get(layer.height, 0) if step else 0
        rows.append(
            {
                "ceg_id": ceg_id,
                "step": step,
                **layer._asdict(),
                "n_vertices": n_vertices,
                "n_edges": n_edges,
            }
        )
    return rows


def recover(store: Store, ceg_id: int, *, limit: int = MAX_VERTICES) -> list[Row]:
    """Unroll a CEG into the staged tree it was made from (Theorem 3) [1]_.

    Returned is one row per vertex, breadth first: ``vertex_id``, ``parent_id`` (None for the
    root), ``depth``, ``label``, ``position_id``, ``stage_id`` (None for a leaf). A tree of more
    than ``limit`` vertices is refused before it is unrolled.

    Notes
    -----
    The CEG does not contain the counts of single situations, and neither does the tree
    recovered from it. Labels are those of the staging; for those of the tree, see
    ``raw_labels`` in the edges of the CEG.

    References
    ----------
    .. [1] A. Shenvi and J. Q. Smith (2020), Theorem 3.
    """
    if isinstance(limit, bool) or not isinstance(limit, Real):
        raise CegError(f"limit must be a number of vertices, not {limit!r}")
    with store.reading() as con, store.catalog() as catalog, Steps(con) as steps:
        ceg = row(catalog, "ceg", ceg_id)
        staging = row(catalog, "staging", staging_of(ceg))
        tree = row(catalog, "tree", staging["tree_id"])
        top = tree["height"]
        steps.empty("position_copy", "position_id bigint, height integer, n_copies double")
        for height in range(top, -1, -1):
            steps.run("position_copy", ceg_id=ceg_id, height=height)
        ((size,),) = steps.rows("select sum(n_copies) from temp.position_copy")
        if size > limit:
            raise CegError(
                f"the staged tree of {ceg['name']!r} has {size:,.0f} vertices, "
                f"more than the limit of {limit:,}",
                hint="give a larger limit",
            )
        steps.run(
            "label_order",
            ceg_id=ceg_id,
            tree_id=tree["tree_id"],
            staging_id=staging["staging_id"],
        )
        steps.empty(
            "unrolled_vertex",
            "vertex_id bigint, parent_id bigint, depth integer, position_id bigint, "
            "label_id integer",
        )
        steps.run("unrolled_root")
        n_before = 1
        for depth in range(1, top + 1):
            n_before += steps.run(
                "unrolled_vertex", ceg_id=ceg_id, depth=depth, n_before=n_before
            )
        return steps.fetch("recovered_vertex", ceg_id=ceg_id, survey_id=tree["survey_id"])
