"""Small cells: which counts of respondents to leave out, so that none comes back by sums.

Counts are the flow of respondents through a network: as many leave a vertex as reach it.
The steps ``..._cell`` of ``sql/60_small_cells`` say which network, `hidden_flows` decides, and
the steps ``shown_...`` are the views without what was decided to be hidden.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from cegdb.errors import QueryError, listed
from cegdb.sqlfiles import Steps
from cegdb.store.catalog import find, row

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import sqlalchemy as sa
    from numpy.typing import ArrayLike, NDArray

    from cegdb.store import Store
    from cegdb.store.catalog import Kind

    Flags = NDArray[np.bool_]
    Numbers = NDArray[np.int64]

_NONE: Final = np.iinfo(np.int64).max


class _Shown(NamedTuple):
    """How to show a view without small cells: whose it is, and the step of its cells."""

    kind: Kind
    cells: str
    order: str


_VIEWS: Final = {
    "variables": _Shown("survey", "level_cell", "ordinal, code"),
    "vertices": _Shown("tree", "vertex_cell", "vertex_id"),
    "situations": _Shown("tree", "vertex_cell", "vertex_id"),
    "tree_edges": _Shown("tree", "vertex_cell", "child_id"),
    "stage_table": _Shown("staging", "vertex_cell", "stage_id, label_id"),
    "staged_vertices": _Shown("staging", "vertex_cell", "vertex_id"),
    "staged_edges": _Shown("staging", "vertex_cell", "child_id"),
    "positions": _Shown("ceg", "position_cell", "stage_id is null, position_id"),
    "ceg_edges": _Shown("ceg", "position_cell", "source_id, label_id, target_id"),
}


def views(kind: Kind) -> list[str]:
    """Return the views of an object that can be shown without small cells.

    Examples
    --------
    >>> views("ceg")
    ['positions', 'ceg_edges']
    """
    return [view for view, shown in _VIEWS.items() if shown.kind == kind]


def view_order(view: str) -> str:
    """Return the columns that put the rows of one object in order.

    Examples
    --------
    >>> view_order("tree_edges")
    'child_id'
    """
    return _VIEWS[view].order


def check_min_n(min_n: object) -> None:
    """Refuse a smallest count that is no whole number from 1 on.

    Raises
    ------
    QueryError
        It is not one.

    Examples
    --------
    >>> check_min_n(0)
    Traceback (most recent call last):
    ...
    cegdb.errors.QueryError: min_n is 0, expected a whole number from 1 on
    hint: counts from 1 to min_n - 1 are hidden; leave it out to show all
    """
    if min_n is None:
        return
    if isinstance(min_n, bool) or not isinstance(min_n, int) or min_n < 1:
        raise QueryError(
            f"min_n is {min_n!r}, expected a whole number from 1 on",
            hint="counts from 1 to min_n - 1 are hidden; leave it out to show all",
        )


@contextmanager
def shown(
    store: Store, view: str, where: Mapping[str, object], min_n: int | None
) -> Iterator[str]:
    """Give the relation to read instead of a view, while the block lasts.

    Parameters
    ----------
    store
        Where to read.
    view
        One of `views`.
    where
        The column that names the object whose rows are meant, and its name.
    min_n
        Counts from 1 to ``min_n - 1`` are hidden, and what would reveal them; None shows
        all: the relation is the view itself.

    Yields
    ------
    str
        A relation with the columns of the view. Hidden counts are null, and so is what
        was calculated from one.

    Raises
    ------
    QueryError
        ``min_n`` is no whole number from 1 on, or the view cannot be shown without small
        cells.

    Examples
    --------
    >>> from cegdb.ingest import ingest
    >>> from cegdb.store import Store
    >>> where = {"survey": "nine"}
    >>> with Store.open() as store:
    ...     survey = ingest(store, "select i < 7 as x from range(9) t(i)", name="nine")
    ...     with store.reading() as con, shown(store, "variables", where, 3) as rows:
    ...         con.execute(f"select label, n from {rows} where kind = 'value'").fetchall()
    [('False', None), ('True', None)]
    """
    with shown_views(store, (view,), where, min_n) as (relation,):
        yield relation


@contextmanager
def shown_views(
    store: Store, views: Sequence[str], where: Mapping[str, object], min_n: int | None
) -> Iterator[tuple[str, ...]]:
    """Give the relations to read instead of several views of one object, as `shown` does.

    Inside, ``temp.hidden_cell`` (``kind``, ``owner_id``, ``label_id``) holds what is hidden,
    unless ``min_n`` is None.

    Examples
    --------
    >>> from cegdb.store import Store
    >>> views, where = ["vertices", "tree_edges"], {"tree": "nine"}
    >>> with Store.open() as store, shown_views(store, views, where, None) as found:
    ...     found
    ('cegdb.vertices', 'cegdb.tree_edges')
    """
    check_min_n(min_n)
    if min_n is None:
        yield tuple(f"cegdb.{view}" for view in views)
        return
    for view in views:
        if view not in _VIEWS:
            raise QueryError(
                f"cegdb.{view} cannot be shown without small cells",
                hint=f"views that can are {listed(_VIEWS, most=len(_VIEWS))}",
            )
    kind, cells, _ = _VIEWS[views[0]]
    name = str(where[kind])
    with store.catalog() as catalog:
        object_id = find(catalog, kind, name)
        owner_id = object_id
        if cells == "vertex_cell" and kind == "staging":
            owner_id = row(catalog, kind, object_id)["tree_id"]
        origin_id = _origin(catalog, object_id) if kind == "ceg" else object_id
    with store.reading() as con, Steps(con) as steps:
        steps.run(cells, **{_OWNERS[cells]: owner_id})
        found = steps.arrays(
            f"select cell, tail, head, n from temp.{cells} order by n, cell, tail, head"  # noqa: S608
        )
        hidden = hidden_flows(found["tail"], found["head"], found["n"], min_n, found["cell"])
        steps.create_from("hidden_number", {"cell": np.unique(found["cell"][hidden])})
        steps.create(
            "hidden_cell",
            f"select c.kind, c.owner_id, c.label_id from temp.{cells} as c "  # noqa: S608
            "where c.cell in (from temp.hidden_number) group by all",
        )
        if origin_id != object_id:
            _spoil(steps, origin_id, min_n)
        for view in views:
            steps.run(f"shown_{view}", object_name=name)
        yield tuple(f"temp.shown_{view}" for view in views)


def _origin(catalog: sa.Connection, ceg_id: int) -> int:
    """Return the CEG that a CEG given evidence comes from; without evidence, itself."""
    ceg = row(catalog, "ceg", ceg_id)
    while ceg["parent_ceg_id"] is not None:
        ceg = row(catalog, "ceg", ceg["parent_ceg_id"])
    return int(ceg["ceg_id"])


def _spoil(steps: Steps, origin_id: int, min_n: int) -> None:
    """Add to ``hidden_cell`` that all probabilities are hidden, if they would tell.

    Given evidence, each depends on the counts of the CEG without it, wherever they are: one
    that is hidden there hides them all.
    """
    steps.run("position_cell", ceg_id=origin_id)
    steps.execute(
        "insert into temp.hidden_cell select distinct 'given' as kind, 0 as owner_id, "
        "null as label_id from temp.position_cell where n between 1 and $min_n - 1",
        {"min_n": min_n},
    )


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

    Parameters
    ----------
    tail, head
        The ends of each flow; at each end as much arrives as leaves. End 0 is outside.
    n
        Respondents, 0 or more.
    min_n
        Flows from 1 to ``min_n - 1`` are hidden; others too if they would reveal one.
    cell
        Flows of one cell are hidden together; left out, each is its own.

    Returns
    -------
    array of bool
        Whether each flow is hidden. A flow of 0 never is.

    Notes
    -----
    Whoever sees the other flows, knows that hidden ones are 1 or more and adds and
    subtracts as they like finds at least two values for each hidden flow. It is so if and
    only if each lies on a cycle of hidden flows along which one respondent can be moved:
    forwards through any flow, backwards through those of 2 or more. Those cycles exist if
    no hidden flow is a bridge of the hidden ones and each of their components is strongly
    connected in these directions (the mixed graphs of [1]_). While a part of the network
    has one hidden flow across its border, or none to move somebody in (or out), the
    smallest other flow across its border (ties: the first given) is hidden too; there is
    one, since as much leaves the part as arrives. Each round is linear in the flows.

    References
    ----------
    .. [1] F. Boesch and R. Tindell (1980), Robbins's theorem for mixed multigraphs,
       American Mathematical Monthly 87.

    Examples
    --------
    Of 60 people 3 said "a", 7 "b" and 50 "c": "b" would reveal "a".

    >>> hidden_flows([0, 1, 1, 1], [1, 0, 0, 0], [60, 3, 7, 50], min_n=5).tolist()
    [False, True, True, False]
    """
    flow = np.asarray(n, dtype=np.int64)
    ends = np.concatenate([np.asarray(tail), np.asarray(head)])
    named, numbered = np.unique(ends, return_inverse=True)
    outside = min(int(np.searchsorted(named, 0)), len(named) - 1)
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
        """Return a flow to hide for each part with one hidden flow across its border."""
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
        size, found = connected_components(graph, directed=True, connection="strong")
        part: Numbers = found.astype(np.int64)
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

        The part outside waits for the others, whose flows may help it.
        """
        if needs.sum() > 1:
            needs[part[self.outside]] = False
        best = np.full(len(needs), _NONE, dtype=np.int64)
        np.minimum.at(best, part[self.tail[leaving]], self.rank[leaving])
        np.minimum.at(best, part[self.head[entering]], self.rank[entering])
        chosen: Numbers = self.order[np.unique(best[needs & (best != _NONE)])]
        return chosen


def _blocks(tail: Numbers, head: Numbers, n_nodes: int) -> Numbers:
    """Return the number of each node's block: the nodes that no bridge keeps apart."""
    neighbours = _neighbours(tail, head, n_nodes)
    found = [-1] * n_nodes  # when the search met the node
    low = [0] * n_nodes  # the earliest node that it reaches by another way
    block = np.arange(n_nodes)
    met: list[int] = []
    time = 0
    for root in np.unique(np.concatenate([tail, head])).tolist():
        if found[root] >= 0:
            continue
        found[root] = low[root] = time
        time += 1
        met.append(root)
        stack = [(root, -1, iter(neighbours[root]))]
        while stack:
            node, through, left = stack[-1]
            step = next(left, None)
            if step is None:
                stack.pop()
                if stack:
                    above = stack[-1][0]
                    low[above] = min(low[above], low[node])
                if low[node] == found[node]:
                    while (member := met.pop()) != node:
                        block[member] = node
                continue
            other, flow = step
            if flow == through:
                continue
            if found[other] >= 0:
                low[node] = min(low[node], found[other])
                continue
            found[other] = low[other] = time
            time += 1
            met.append(other)
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
