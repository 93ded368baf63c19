"""Which positions of a CEG to draw where all of them are too many."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


def most_visited(
    source: Ints, target: Ints, n: NDArray[Any], most_edges: int
) -> NDArray[np.int64]:
    """Return the nodes that most people pass, all reached from the first through these.

    Edges are sorted by their source; nodes are numbered from the root, 0, to the sink, which is
    not returned. Of the nodes that edges lead to, the one with most people is added next, as
    long as there are no more than ``most_edges`` edges; O(most_edges log most_edges).

    Examples
    --------
    >>> source, target = np.array([0, 0, 1, 2]), np.array([1, 2, 3, 3])
    >>> most_visited(source, target, np.array([9, 3, 6, 9]), 3)
    array([0, 2])
    """
    sink = len(n) - 1
    first = np.searchsorted(source, np.arange(sink + 1))
    chosen: list[int] = []
    met = {0, sink}
    waiting = [(0, 0)]
    n_edges = 0
    while waiting:
        _, node = heapq.heappop(waiting)
        added = int(first[node + 1] - first[node])
        if chosen and n_edges + added > most_edges:
            break
        n_edges += added
        chosen.append(node)
        for other in target[first[node] : first[node + 1]].tolist():
            if other not in met:
                met.add(other)
                heapq.heappush(waiting, (-int(n[other]), other))
    return np.sort(np.array(chosen, np.int64))
