"""Small cells: which counts of respondents to hide, so that none can be recovered from sums.

Counts are the flow of respondents through a network: as many leave a vertex as reach it.
The steps ``..._cell`` of ``sql/application/60_small_cells`` define the network,
`hidden_flows` decides, and the steps ``masked_...`` are the views without the hidden counts.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from cegdb.errors import QueryError, is_whole, listed
from cegdb.sqlfiles import Steps
from cegdb.store.catalog import ceg_and_parents, find, row

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from cegdb.options import Kind
    from cegdb.store import Store

    Flags = NDArray[np.bool_]
    Numbers = NDArray[np.int64]

_NONE: Final = np.iinfo(np.int64).max


class _View(NamedTuple):
    """A view that has a form without small cells: kind of object and step of its cells."""

    kind: Kind
    cells: str
    order: str


_VIEWS: Final = {
    "variables": _View("survey", "level_cell", "ordinal, code"),
    "vertices": _View("tree", "vertex_cell", "vertex_id"),
    "situations": _View("tree", "vertex_cell", "vertex_id"),
    "tree_edges": _View("tree", "vertex_cell", "child_id"),
    "stage_table": _View("staging", "vertex_cell", "stage_id, label_id"),
    "staged_vertices": _View("staging", "vertex_cell", "vertex_id"),
    "staged_edges": _View("staging", "vertex_cell", "child_id"),
    "positions": _View("ceg", "position_cell", "stage_id is null, position_id"),
    "ceg_edges": _View("ceg", "position_cell", "source_id, label_id, target_id"),
}


def views(kind: Kind) -> list[str]:
    """Return the views of an object that have a form without small cells."""
    return [view for view, known in _VIEWS.items() if known.kind == kind]


def view_order(view: str) -> str:
    """Return the columns that sort the rows of one object."""
    return _VIEWS[view].order


def check_min_n(min_n: object) -> None:
    """Refuse a smallest count that is not a whole number of 1 or more."""
    if min_n is None:
        return
    if not is_whole(min_n) or min_n < 1:
        raise QueryError(
            f"min_n must be a whole number of 1 or more, not {min_n!r}",
            hint="counts from 1 to min_n - 1 are hidden",
        )


@contextmanager
def masked_view(
    store: Store, view: str, where: Mapping[str, object], min_n: int | None
) -> Iterator[str]:
    """Yield the relation to read instead of a view; None as ``min_n`` yields the view itself.

    Counts from 1 to ``min_n - 1``, and counts that would reveal them, are null in it, like
    everything calculated from them. ``where`` maps the column of the object to its name.
    """
    with masked_views(store, (view,), where, min_n) as (relation,):
        yield relation


@contextmanager
def masked_views(
    store: Store, views: Sequence[str], where: Mapping[str, object], min_n: int | None
) -> Iterator[tuple[str, ...]]:
    """Yield the relations to read instead of several views of one object, like `masked_view`.

    Inside, ``temp.hidden_cell`` (``kind``, ``owner_id``, ``label_id``) lists the hidden counts,
    unless ``min_n`` is None.
    """
    check_min_n(min_n)
    if min_n is None:
        yield tuple(f"cegdb.{view}" for view in views)
        return
    for view in views:
        if view not in _VIEWS:
            raise QueryError(
                f"small counts cannot be hidden in cegdb.{view}",
                hint=f"they can be in {listed(_VIEWS, most=len(_VIEWS))}",
            )
    kind, cells, _ = _VIEWS[views[0]]
    name = str(where[kind])
    with store.catalog() as catalog:
        object_id = find(catalog, kind, name)
        owner_id = object_id
        if cells == "vertex_cell" and kind == "staging":
            owner_id = row(catalog, kind, object_id)["tree_id"]
        origin_id = object_id
        if kind == "ceg":
            origin_id = int(ceg_and_parents(catalog, object_id)[-1]["ceg_id"])
    with store.reading() as con, Steps(con) as steps:
        steps.run(cells, **{_OWNERS[cells]: owner_id})
        flows = steps.arrays(
            f"select cell, tail, head, n from temp.{cells} order by n, cell, tail, head"  # noqa: S608
        )
        hidden = hidden_flows(
            flows["tail"], flows["head"], flows["n"], int(min_n), flows["cell"]
        )
        steps.create_from("hidden_number", {"cell": np.unique(flows["cell"][hidden])})
        steps.run("hidden_cell", cells=f"temp.{cells}")
        if origin_id != object_id:
            _hide_probabilities(steps, origin_id, int(min_n))
        for view in views:
            steps.run(f"masked_{view}", object_name=name)
        yield tuple(f"temp.masked_{view}" for view in views)


def _hide_probabilities(steps: Steps, origin_id: int, min_n: int) -> None:
    """Hide all probabilities of a conditioned CEG if they could reveal a small count.

    Each depends on counts anywhere in the CEG it comes from, so one small count hides them all.
    """
    steps.run("position_cell", ceg_id=origin_id)
    steps.run("hidden_probability", min_n=min_n)


_OWNERS: Final = {
    "level_cell": "survey_id",
    "vertex_cell": "tree_id",
    "position_cell": "ceg_id",
}


def hidden_flows(
    tail: ArrayLike,
    head: ArrayLike,
    n: ArrayLike,
    min_n: int,
    cell: ArrayLike | None = None,
) -> Flags:
    """Decide which flows of a network to hide, so that no hidden one can be calculated.

    ``tail`` and ``head`` are the ends of each flow (0 is outside), ``n`` its respondents; flows
    of one ``cell`` are hidden together. A flow of 0 is never hidden.

    Examples
    --------
    Of 60 people 3 said "a", 7 "b" and 50 "c": "b" would reveal "a".

    >>> hidden_flows([0, 1, 1, 1], [1, 0, 0, 0], [60, 3, 7, 50], min_n=5).tolist()
    [False, True, True, False]
    """
    # A reader who sees the other flows, and knows that hidden ones are at least 1, still finds
    # two or more values for each hidden flow if and only if each lies on a cycle of hidden
    # flows along which one respondent can be moved: forwards through any flow, backwards
    # through flows of 2 or more. Such cycles exist if no hidden flow is a bridge of the hidden
    # ones, and each of their components is strongly connected in these directions (Boesch and
    # Tindell 1980, Robbins's theorem for mixed multigraphs, American Mathematical Monthly 87).
    # While a part of the network has one hidden flow across its border, or none to move
    # somebody in (or out), the smallest other flow across its border (ties: the first) is
    # hidden too; there is one, since as many leave the part as arrive. A round is linear in
    # the flows.
    flow = np.asarray(n, dtype=np.int64)
    ends = np.concatenate([np.asarray(tail), np.asarray(head)])
    names, numbered = np.unique(ends, return_inverse=True)
    outside = min(int(np.searchsorted(names, 0)), len(names) - 1)
    tails, heads = np.split(numbered.astype(np.int64), 2)
    _, cells = np.unique(np.arange(len(flow)) if cell is None else cell, return_inverse=True)
    order = np.argsort(flow, kind="stable")
    rank = np.empty(len(flow), dtype=np.int64)
    rank[order] = np.arange(len(flow))
    hidden = (flow > 0) & (flow < min_n)
    if not hidden.any():
        return hidden
    n_nodes = int(numbered.max()) + 1
    each = np.arange(n_nodes)
    while True:
        is_hidden_cell = np.zeros(len(flow), dtype=bool)
        is_hidden_cell[cells[hidden]] = True
        hidden = is_hidden_cell[cells] & (flow > 0)
        network = _Network(tails, heads, flow, hidden, rank, order, outside)
        added = network.across_single(each)
        if not len(added):
            added = network.across_single(_blocks(tails[hidden], heads[hidden], n_nodes))
        if not len(added):
            added = network.out_of_traps(n_nodes)
        if not len(added):
            return hidden
        hidden[added] = True


class _Network(NamedTuple):
    """A network of flows with some hidden; ``order`` sorts the flows, ``rank`` undoes it."""

    tail: Numbers
    head: Numbers
    n: Numbers
    hidden: Flags
    rank: Numbers
    order: Numbers
    outside: int

    def across_single(self, part: Numbers) -> Numbers:
        """Return a flow to hide for each part with a single hidden flow across its border."""
        source, target = part[self.tail], part[self.head]
        across = source != target
        size = int(part.max()) + 1
        crossing = self.hidden & across
        degree = np.bincount(source[crossing], minlength=size)
        degree += np.bincount(target[crossing], minlength=size)
        usable = ~self.hidden & across & (self.n > 0)
        return self._smallest(degree == 1, part, usable, usable)

    def out_of_traps(self, n_nodes: int) -> Numbers:
        """Return a flow to hide for each part that nobody can be moved into, or out of."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        back = self.hidden & (self.n > 1)
        start = np.concatenate([self.tail[self.hidden], self.head[back]])
        end = np.concatenate([self.head[self.hidden], self.tail[back]])
        graph = coo_array((np.ones(len(start)), (start, end)), shape=(n_nodes, n_nodes))
        size, component = connected_components(graph, directed=True, connection="strong")
        part: Numbers = component.astype(np.int64)
        moves_out = np.zeros(size, dtype=bool)
        moves_in = np.zeros(size, dtype=bool)
        across = part[start] != part[end]
        moves_out[part[start[across]]] = True
        moves_in[part[end[across]]] = True
        source, target = part[self.tail], part[self.head]
        usable = ~self.hidden & (source != target) & (self.n > 0)
        both_ways = usable & (self.n > 1)
        only_out = moves_out & ~moves_in
        only_out[part[self.outside]] = False
        if only_out.any():
            return self._smallest(only_out, part, both_ways, usable)
        return self._smallest(moves_in & ~moves_out, part, usable, both_ways)

    def _smallest(
        self, needs: Flags, part: Numbers, leaving: Flags, entering: Flags
    ) -> Numbers:
        """Return the smallest flow that leaves or enters each part in need.

        The part outside comes last: flows hidden for other parts may already help it.
        """
        if needs.sum() > 1:
            needs[part[self.outside]] = False
        best = np.full(len(needs), _NONE, dtype=np.int64)
        np.minimum.at(best, part[self.tail[leaving]], self.rank[leaving])
        np.minimum.at(best, part[self.head[entering]], self.rank[entering])
        chosen: Numbers = self.order[np.unique(best[needs & (best != _NONE)])]
        return chosen


def _blocks(tail: Numbers, head: Numbers, n_nodes: int) -> Numbers:
    """Return the block of each node: nodes that no bridge separates share one."""
    neighbours = _neighbours(tail, head, n_nodes)
    discovered = [-1] * n_nodes  # when the search met the node
    low = [0] * n_nodes  # the earliest node that it reaches by another way
    block = np.arange(n_nodes)
    open_nodes: list[int] = []
    time = 0
    for root in np.unique(np.concatenate([tail, head])).tolist():
        if discovered[root] >= 0:
            continue
        discovered[root] = low[root] = time
        time += 1
        open_nodes.append(root)
        stack = [(root, -1, iter(neighbours[root]))]
        while stack:
            node, through, rest = stack[-1]
            step = next(rest, None)
            if step is None:
                stack.pop()
                if stack:
                    above = stack[-1][0]
                    low[above] = min(low[above], low[node])
                if low[node] == discovered[node]:
                    while (member := open_nodes.pop()) != node:
                        block[member] = node
                continue
            other, flow = step
            if flow == through:
                continue
            if discovered[other] >= 0:
                low[node] = min(low[node], discovered[other])
                continue
            discovered[other] = low[other] = time
            time += 1
            open_nodes.append(other)
            stack.append((other, flow, iter(neighbours[other])))
    return block


def _neighbours(
    tail: Numbers, head: Numbers, n_nodes: int
) -> Sequence[Sequence[tuple[int, int]]]:
    """Return for each node the flows at it, each with its other end."""
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(n_nodes)]
    for flow, (source, target) in enumerate(zip(tail.tolist(), head.tolist(), strict=True)):
        neighbours[source].append((target, flow))
        neighbours[target].append((source, flow))
    return neighbours
