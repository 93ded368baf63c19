"""Match the stages of two stagings one to one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def match_stages(stage: ArrayLike, other: ArrayLike, n_shared: ArrayLike) -> NDArray[np.bool_]:
    """Match the stages of two stagings one to one; return whether each pair is matched.

    A pair is two overlapping stages, given once, with the number of situations they share. No
    other matching shares more situations: a maximum-weight bipartite matching, solved apart for
    each set of stages that overlap, which lie within a variable or hyperstage.

    Examples
    --------
    >>> match_stages([1, 1, 2, 3], [7, 8, 8, 9], [2, 1, 1, 5]).tolist()
    [True, False, True, True]
    """
    from scipy.optimize import linear_sum_assignment
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    shared = np.asarray(n_shared, dtype=np.int64)
    is_match = np.zeros(len(shared), dtype=np.bool_)
    if not len(shared):
        return is_match
    ones, one_of = np.unique(np.asarray(stage), return_inverse=True)
    others, other_of = np.unique(np.asarray(other), return_inverse=True)
    size = len(ones) + len(others)
    graph = coo_array((shared, (one_of, len(ones) + other_of)), shape=(size, size))
    n_parts, part_of = connected_components(graph, directed=False)
    parts = part_of[one_of]
    order = np.lexsort((other_of, one_of, -shared, parts))
    starts = np.flatnonzero(np.diff(parts[order], prepend=-1))
    n_ones = np.bincount(part_of[: len(ones)], minlength=n_parts)
    n_others = np.bincount(part_of[len(ones) :], minlength=n_parts)
    # One stage against several: the largest pair is the matching, and there is no need to
    # solve the assignment, whose time grows with the cube of the number of stages.
    is_star = (n_ones == 1) | (n_others == 1)
    is_match[order[starts[is_star]]] = True
    ends = np.append(starts[1:], len(order))
    for part in np.flatnonzero(~is_star):
        pairs = order[starts[part] : ends[part]]
        rows, row_of = np.unique(one_of[pairs], return_inverse=True)
        columns, column_of = np.unique(other_of[pairs], return_inverse=True)
        weight = np.zeros((len(rows), len(columns)))
        weight[row_of, column_of] = shared[pairs]
        column_for = np.full(len(rows), -1)
        matched, columns = linear_sum_assignment(weight, maximize=True)
        column_for[matched] = columns
        is_match[pairs] = column_for[row_of] == column_of
    return is_match
