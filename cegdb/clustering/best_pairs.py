"""The best pair of many, while they change: for methods that join stages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


class Pairs:
    """The best of all pairs of slots, kept up to date while slots change.

    Parameters
    ----------
    worth
        Gives the worth of a slot with each of others, more being better, -inf for a pair
        that must not be; the order within a pair must not matter.
    size
        The number of slots.
    n_taken
        The first of them are taken, the others free.

    Notes
    -----
    Each slot knows its best partner. A change costs one call of ``worth``, and one more
    for each slot whose partner has changed; the memory is linear.

    Examples
    --------
    >>> place = np.array([0.0, 5.0, 7.0, 8.0])
    >>> pairs = Pairs(lambda slot, others: -np.abs(place[others] - place[slot]), 4, 4)
    >>> pairs.find(np.arange(4), lambda best: 1e-9)
    (-1.0, 2, 3)
    >>> place[2] = 5.5
    >>> pairs.change([2], freed=[3])
    >>> pairs.find(np.arange(4), lambda best: 1e-9)
    (-0.5, 1, 2)
    """

    def __init__(
        self,
        worth: Callable[[int, NDArray[np.int64]], NDArray[np.float64]],
        size: int,
        n_taken: int,
    ) -> None:
        self.worth = worth
        self.taken = np.arange(size) < n_taken
        self.best: NDArray[np.float64] = np.full(size, -np.inf)
        self.partner: NDArray[np.int64] = np.full(size, -1)
        for slot in range(n_taken):
            self._find_partner(slot)

    def change(self, changed: list[int], freed: list[int]) -> None:
        """Tell that slots have new content (taken now, if they were not) or are free."""
        self.taken[freed] = False
        self.taken[changed] = True
        self.best[freed] = -np.inf
        self.partner[freed] = -1
        touched = np.array(changed + freed)
        stale = self.taken & np.isin(self.partner, touched)
        stale[changed] = False
        for slot in changed:
            others, worth = self._find_partner(slot)
            better = worth >= self.best[others]
            better[others == slot] = False
            self.best[others[better]] = worth[better]
            self.partner[others[better]] = slot
            stale[others[better]] = False
        for slot in np.flatnonzero(stale).tolist():
            self._find_partner(slot)

    def find(
        self, rank: NDArray[np.int64], tolerance: Callable[[float], float]
    ) -> tuple[float, int, int]:
        """Return the best worth and its pair, of equals that of the smallest ranks."""
        best = float(self.best.max(initial=-np.inf))
        if best == -np.inf:
            return best, -1, -1
        floor = best - tolerance(best)
        rows = np.flatnonzero(self.best >= floor)
        first = int(rows[rank[rows].argmin()])
        others, worth = self._find_partner(first)
        equals = others[worth >= floor]
        second = int(equals[rank[equals].argmin()])
        return best, first, second

    def _find_partner(self, slot: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        others = np.flatnonzero(self.taken)
        worth = self.worth(slot, others)
        worth[others == slot] = -np.inf
        top = int(worth.argmax())
        self.best[slot] = worth[top]
        self.partner[slot] = int(others[top])
        return others, worth
