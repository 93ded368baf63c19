"""The event tree below a CEG or staged tree, with what its rows and its stages say."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from cegdb.errors import StaleError
from cegdb.evidence import All, from_json
from cegdb.sqlfiles import Steps
from cegdb.stability.intervals import make_estimates
from cegdb.store.catalog import ceg_and_parents, row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from cegdb.evidence import Evidence
    from cegdb.inference.automata import Product
    from cegdb.inference.compiled_model import CompiledModel
    from cegdb.inference.propagation import Floats, Ints
    from cegdb.store import Store

    Bools = NDArray[np.bool_]


_ROUNDING: Final = 1e-9


@dataclass(frozen=True)
class CountedTree:
    """The event tree below a CEG or staged tree as arrays.

    Vertices are numbered breadth-first from the root, 0, so that edge ``i`` leads to vertex
    ``i + 1``; edges that evidence stored with a CEG excludes are left out.

    Parameters
    ----------
    parent
        Vertex that each edge leaves.
    edge
        Edge of the CEG or staged tree that each edge is part of; -1 for none.
    n
        Rows that reach each vertex.
    size
        What the rows of each edge count: their number, or their effective number.
    stage, answer
        Id of the stage of each edge, and index of stage and label.
    probability
        Posterior mean of each edge, given the staging.
    mass
        Posterior mass of the stage of each edge: prior and rows.
    set_share
        What an intervention makes of the edges that it sets at a vertex; NaN elsewhere.
    stored_evidence
        What a stored CEG was given.
    """

    parent: Ints
    edge: Ints
    n: Ints
    size: Floats
    stage: Ints
    answer: Ints
    probability: Floats
    mass: Floats
    set_share: Floats
    stored_evidence: Evidence

    @cached_property
    def layers(self) -> list[slice]:
        """The edges by depth, those of the root first."""
        layers: list[slice] = []
        first, last = 0, 1
        while True:
            part = slice(*np.searchsorted(self.parent, (first, last)).tolist())
            if part.start == part.stop:
                return layers
            layers.append(part)
            first, last = part.start + 1, part.stop + 1

    @cached_property
    def is_leaf(self) -> Bools:
        """Whether a vertex is a leaf."""
        is_leaf = np.ones(len(self.n), bool)
        is_leaf[self.parent] = False
        return is_leaf

    @cached_property
    def total(self) -> Floats:
        """What the rows that answered at each vertex count."""
        return np.bincount(self.parent, self.size, len(self.n)).astype(np.float64)

    @cached_property
    def share(self) -> Floats:
        """Share of each edge in its situation; where nobody answered, as in the stage."""
        total = self.total[self.parent]
        return np.divide(self.size, total, out=self.probability.copy(), where=total > 0)

    @cached_property
    def rows_at_root(self) -> float:
        """What the rows at the root count, as those count that answered there."""
        answered = int(self.n[1:][self.parent == 0].sum())
        total = float(self.total[0]) if len(self.parent) else 0.0
        return float(self.n[0]) * (total / answered if answered else 1.0)

    @cached_property
    def overweight(self) -> Floats:
        """Which part of the weight of a vertex is more than its rows have, from 0 to 1.

        Without interventions, and if nobody stopped, a vertex has the weight of its rows. Below
        what an intervention sets, weights do not come from rows.
        """
        weight = self.forward(self.row_chance) * float(self.total[0])
        excess = 1 - np.divide(self.total, weight, out=np.ones(len(self.n)), where=weight > 0)
        is_free = self.forward(np.where(self._is_set, 0.0, 1.0)) > 0
        return np.where(is_free, np.where(excess > _ROUNDING, excess, 0.0), 1.0)

    @cached_property
    def row_chance(self) -> Floats:
        """Probability of each edge by the rows of its situation, after the intervention."""
        return self._intervened(self.share)

    @cached_property
    def stage_chance(self) -> Floats:
        """Probability of each edge by its stage, after the intervention."""
        return self._intervened(self.probability)

    @cached_property
    def _is_set(self) -> Bools:
        return ~np.isnan(self.set_share)

    def _intervened(self, chance: Floats) -> Floats:
        """Return edge probabilities after the intervention, which shares out their sum."""
        if not self._is_set.any():
            return chance
        rest = np.bincount(self.parent, np.where(self._is_set, chance, 0.0), len(self.n))
        return np.where(self._is_set, self.set_share * rest[self.parent], chance)

    def before_intervention(self, slope: Floats) -> Floats:
        """Return slopes in the probabilities before an intervention, given those after it."""
        if not self._is_set.any():
            return slope
        weight = np.where(self._is_set, self.set_share, 0.0)
        means = [np.bincount(self.parent, weight * one, len(self.n)) for one in slope.T]
        return np.where(self._is_set[:, None], np.column_stack(means)[self.parent], slope)

    def after(self, ceg: CompiledModel, is_set: Bools) -> CountedTree:
        """Return the tree after an intervention that set some edges of the CEG."""
        is_set_here = (self.edge >= 0) & is_set[self.edge]
        value = np.where(is_set_here, ceg.probability[self.edge], 0.0)
        total = np.bincount(self.parent, value, len(self.n))[self.parent]
        share = np.divide(value, total, out=np.zeros(len(value)), where=total > 0)
        return replace(self, set_share=np.where(is_set_here, share, np.nan))

    def forward(self, value: Floats) -> Floats:
        """Return the product of edge values from the root to each vertex."""
        message = np.ones(len(self.n))
        for part in self.layers:
            below = slice(part.start + 1, part.stop + 1)
            message[below] = message[self.parent[part]] * value[part]
        return message

    def backward(self, value: Floats, at_leaves: NDArray[Any]) -> NDArray[Any]:
        """Return at each vertex the mean of the leaves below it, weighted by edge values."""
        return self._upwards(np.add, at_leaves, value)

    def all_below(self, at_leaves: Bools) -> Bools:
        """Return whether something holds of all leaves below each vertex."""
        return self._upwards(np.logical_and, at_leaves)

    def _upwards(
        self, combine: np.ufunc, at_leaves: NDArray[Any], value: Floats | None = None
    ) -> NDArray[Any]:
        message = at_leaves.copy()
        for part in reversed(self.layers):
            passed = message[part.start + 1 : part.stop + 1]
            if value is not None:
                passed = passed * (value[part] if passed.ndim == 1 else value[part][:, None])
            parents = self.parent[part]
            starts = np.flatnonzero(np.diff(parents, prepend=-1))
            message[parents[starts]] = combine.reduceat(passed, starts, axis=0)
        return message


class Walk(NamedTuple):
    """The tree as evidence leaves it: the factor of each edge, 0 where it excludes it.

    ``is_alive`` says of each vertex whether it can be reached.
    """

    factor: Floats
    is_alive: Bools


def walk(tree: CountedTree, ceg: CompiledModel, product: Product | None) -> Walk:
    """Follow the paths that agree with evidence through the tree.

    Where probabilities of the CEG are not those of the stages, since evidence was stored with
    it, their ratio is a factor too: along a path they multiply to its relative likelihood.
    """
    n_edges = len(ceg.probability)
    factor, is_alive = np.zeros(len(tree.parent)), np.zeros(len(tree.n), bool)
    if product is None:
        return Walk(factor, is_alive)
    keys = product.graph.source * n_edges + product.edge
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    state = np.full(len(tree.n), -1)
    state[0] = 0
    stored = np.zeros(len(tree.parent))
    can_occur = (tree.edge >= 0) & (tree.stage_chance > 0)
    np.divide(ceg.probability[tree.edge], tree.stage_chance, out=stored, where=can_occur)
    ratio = product.value / ceg.probability[product.edge]
    for part in tree.layers:
        at = state[tree.parent[part]]
        sought = at * n_edges + tree.edge[part]
        taken = _places(np.where((at >= 0) & (tree.edge[part] >= 0), sought, -1), keys, order)
        met = taken >= 0
        state[part.start + 1 : part.stop + 1] = np.where(met, product.graph.target[taken], -1)
        factor[part] = np.where(met, ratio[taken] * stored[part], 0.0)
    return Walk(factor, state >= 0)


def counted_tree(
    store: Store,
    ceg: CompiledModel,
    *,
    staging_id: int | None = None,
    ceg_id: int | None = None,
) -> CountedTree:
    """Return the tree below a CEG, or a staged tree, which is compiled."""
    known: list[Evidence] = []
    with store.reading() as con, store.catalog() as catalog, Steps(con) as steps:
        if ceg_id is not None:
            *conditioned, origin = ceg_and_parents(catalog, ceg_id)
            staging_id = origin["staging_id"]
            known = [from_json(one["evidence"]) for one in conditioned]
        staging = row(catalog, "staging", int(staging_id or 0))
        tree_id = staging["tree_id"]
        ((n_rows,),) = steps.rows(
            "select n from cegdb.vertex where tree_id = $tree_id and vertex_id = 0",
            {"tree_id": tree_id},
        )
        try:
            make_estimates(store, steps, staging["staging_id"])
        except StaleError as error:
            hint = f"{error.hint}; or ask without intervals (interval=None, --interval none)"
            raise StaleError(error.args[0], hint=hint) from None
        steps.run("vertex_position", tree_id=tree_id, ceg_id=ceg_id)
        steps.run("counted_edge")
        edges = steps.arrays("select * from temp.counted_edge order by child_id")
    return _tree_of(ceg, edges, int(n_rows), All(tuple(known)))


def _tree_of(
    ceg: CompiledModel, edges: Mapping[str, Any], n_rows: int, known: Evidence
) -> CountedTree:
    graph, n_labels = ceg.graph, int(ceg.label_id.max(initial=0)) + 1
    keys = ceg.position_id[graph.source] * n_labels + ceg.label_id
    order = np.argsort(keys, kind="stable")
    sought = edges["position_id"] * n_labels + edges["label_id"]
    edge = _places(sought, keys[order], order)
    parent = np.searchsorted(edges["child_id"], edges["parent_id"]) + 1
    parent[edges["parent_id"] == 0] = 0
    return CountedTree(
        parent.astype(np.int64),
        edge.astype(np.int64),
        np.append(n_rows, edges["n"]).astype(np.int64),
        edges["size"].astype(np.float64),
        edges["stage_id"].astype(np.int64),
        edges["answer"].astype(np.int64),
        edges["probability"].astype(np.float64),
        edges["total"].astype(np.float64),
        np.full(len(parent), np.nan),
        known,
    )


def _places(sought: Ints, keys: Ints, order: Ints) -> Ints:
    """Return where keys, sorted by ``order``, are those sought; -1 for none."""
    found = np.minimum(np.searchsorted(keys, sought), max(len(keys) - 1, 0))
    is_found = keys[found] == sought if len(keys) else np.zeros(len(sought), bool)
    return np.where(is_found, order[found] if len(keys) else 0, -1)
