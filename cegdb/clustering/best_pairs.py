"""The best pair of many, kept up to date while they change: for methods that merge stages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


class BestPairs:
    """The best of all pairs of slots, kept up to date while slots change.

    ``gains(slot, others)`` is what a slot gains with each of others (more is better, -inf for a
    pair that must not be); it must not depend on the order within a pair. The first ``n_taken``
    of ``size`` slots are taken, the others free. Each slot remembers its best partner, so that
    a change costs one call of ``gains``, and one more for each slot whose partner changed.

    Examples
    --------
    >>> position = np.array([0.0, 5.0, 7.0, 8.0])
    >>> pairs = BestPairs(lambda slot, others: -np.abs(position[others] - position[slot]), 4, 4)
    >>> pairs.find(np.arange(4), lambda best: 1e-9)
    (-1.0, 2, 3)
    >>> position[2] = 5.5
    >>> pairs.update([2], freed=[3])
    >>> pairs.find(np.arange(4), lambda best: 1e-9)
    (-0.5, 1, 2)
    """

    def __init__(
        self,
        gains: Callable[[int, NDArray[np.int64]], NDArray[np.float64]],
        size: int,
        n_taken: int,
    ) -> None:
        self.gains = gains
        self.taken = np.arange(size) < n_taken
        self.best: NDArray[np.float64] = np.full(size, -np.inf)
        self.partner: NDArray[np.int64] = np.full(size, -1)
        for slot in range(n_taken):
            self._find_partner(slot)

    def update(self, changed: list[int], freed: list[int]) -> None:
        """Take in that slots have new content (and are taken now), or are free."""
        self.taken[freed] = False
        self.taken[changed] = True
        self.best[freed] = -np.inf
        self.partner[freed] = -1
        touched = np.array(changed + freed)
        stale = self.taken & np.isin(self.partner, touched)
        stale[changed] = False
        for slot in changed:
            others, gains = self._find_partner(slot)
            better = gains >= self.best[others]
            better[others == slot] = False
            self.best[others[better]] = gains[better]
            self.partner[others[better]] = slot
            stale[others[better]] = False
        for slot in np.flatnonzero(stale).tolist():
            self._find_partner(slot)

    def find(
        self, rank: NDArray[np.int64], tolerance: Callable[[float], float]
    ) -> tuple[float, int, int]:
        """Return the best gain and its pair; of ties, the one of the smallest ranks."""
        best = float(self.best.max(initial=-np.inf))
        if best == -np.inf:
            return best, -1, -1
        floor = best - tolerance(best)
        rows = np.flatnonzero(self.best >= floor)
        first = int(rows[rank[rows].argmin()])
        others, gains = self._find_partner(first)
        equals = others[gains >= floor]
        second = int(equals[rank[equals].argmin()])
        return best, first, second

    def _find_partner(self, slot: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        others = np.flatnonzero(self.taken)
        gains = self.gains(slot, others)
        gains[others == slot] = -np.inf
        top = int(gains.argmax())
        self.best[slot] = gains[top]
        self.partner[slot] = int(others[top])
        return others, gains
