"""What the methods share: stages as sums over their situations, and ties of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cegdb.clustering.hyperstage import Hyperstage
    from cegdb.clustering.scoring import Score


class StartStages(NamedTuple):
    """The stages that the situations of a hyperstage start in.

    ``ids`` has the smallest situation of each, ascending; ``member`` the row of ``ids`` that
    each situation is in; ``terms``, shape (stages, terms), what their score depends on.
    """

    ids: NDArray[np.int64]
    member: NDArray[np.int64]
    terms: NDArray[np.float64]


def start_stages(hyperstage: Hyperstage, score: Score) -> StartStages:
    """Return the stages that the situations of a hyperstage start in."""
    ids, member = np.unique(hyperstage.start, return_inverse=True)
    terms = score.terms(hyperstage.sizes, hyperstage.prior)
    return StartStages(ids, member, sum_by(member, terms, len(ids)))


def sum_by(
    group: NDArray[np.int64], terms: NDArray[np.float64], n_groups: int
) -> NDArray[np.float64]:
    """Add up the rows of each group, in their order (so that sums are equal to the bit)."""
    total = np.zeros((n_groups, terms.shape[1]))
    np.add.at(total, group, terms)
    return total


def shares_of(counts: NDArray[np.float64], smoothing: float) -> NDArray[np.float64]:
    """Return the smoothed shares of the labels; equal ones where there is no count at all."""
    smoothed = counts + smoothing
    total = smoothed.sum(axis=-1, keepdims=True)
    smoothed = np.where(total > 0, smoothed, 1.0)
    shares: NDArray[np.float64] = smoothed / smoothed.sum(axis=-1, keepdims=True)
    return shares


def tie_tolerance(score: float) -> float:
    """Return the difference up to which scores near ``score`` tie."""
    return max(1e-9, 1e-12 * abs(score))
