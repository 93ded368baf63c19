"""What the methods share: stages as sums of terms, and their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cegdb.clustering.scoring import Hyperstage, Score


class Stages(NamedTuple):
    """The stages that the situations of a hyperstage start in.

    Attributes
    ----------
    ids
        Shape (stages,), the smallest situation of each, ascending.
    member
        Shape (situations,), the row of ``ids`` that each situation is in.
    terms
        Shape (stages, terms), what their score is a function of.
    """

    ids: NDArray[np.int64]
    member: NDArray[np.int64]
    terms: NDArray[np.float64]


def start_stages(hyperstage: Hyperstage, score: Score) -> Stages:
    """Return the stages that the situations of a hyperstage start in.

    Examples
    --------
    >>> from cegdb.clustering import Hyperstage, Penalised
    >>> three = Hyperstage(
    ...     ids=np.array([4, 5, 6]),
    ...     counts=np.array([[9, 1], [1, 9], [8, 2]]),
    ...     bases=np.ones((1, 2)),
    ...     multiplicities=np.ones((3, 1), dtype=np.int64),
    ...     start=np.array([4, 5, 4]),
    ...     answers=np.array([[0], [1], [2]]),
    ... )
    >>> start_stages(three, Penalised(1.0)).terms
    array([[17.,  3.],
           [ 1.,  9.]])
    """
    ids, member = np.unique(hyperstage.start, return_inverse=True)
    terms = score.terms(hyperstage.sizes, hyperstage.prior)
    return Stages(ids, member, add_by(member, terms, len(ids)))


def add_by(
    group: NDArray[np.int64], terms: NDArray[np.float64], n_groups: int
) -> NDArray[np.float64]:
    """Add the rows of each group, in their order.

    Examples
    --------
    >>> add_by(np.array([1, 0, 1]), np.array([[1.0], [2.0], [4.0]]), 2)
    array([[2.],
           [5.]])
    """
    total = np.zeros((n_groups, terms.shape[1]))
    np.add.at(total, group, terms)
    return total


def name_stages(ids: NDArray[np.int64], group: NDArray[np.int64]) -> NDArray[np.int64]:
    """Name each group by its smallest situation.

    Examples
    --------
    >>> name_stages(np.array([4, 5, 6, 9]), np.array([2, 0, 2, 0]))
    array([4, 5, 4, 5])
    """
    _, first, member = np.unique(group, return_index=True, return_inverse=True)
    names: NDArray[np.int64] = ids[first][member]
    return names


def share_of(counts: NDArray[np.float64], smoothing: float) -> NDArray[np.float64]:
    """Return smoothed shares of the labels, equal ones where there is no count at all.

    Examples
    --------
    >>> share_of(np.array([[3.0, 1.0], [0.0, 0.0]]), smoothing=0.0)
    array([[0.75, 0.25],
           [0.5 , 0.5 ]])
    """
    smoothed = counts + smoothing
    total = smoothed.sum(axis=-1, keepdims=True)
    smoothed = np.where(total > 0, smoothed, 1.0)
    shares: NDArray[np.float64] = smoothed / smoothed.sum(axis=-1, keepdims=True)
    return shares


def slack(score: float) -> float:
    """Return the difference up to which scores near ``score`` are taken as equal.

    Examples
    --------
    >>> slack(-20.5), slack(-1e6)
    (1e-09, 1e-06)
    """
    return max(1e-9, 1e-12 * abs(score))
