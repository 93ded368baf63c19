"""The situations of one hyperstage as arrays: what every method of learning starts from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Hyperstage:
    """Situations that may share a stage, one row each.

    Attributes
    ----------
    ids
        Shape (situations,), ascending.
    counts
        Shape (situations, labels): whole numbers of ``unit``, 0 or more.
    bases
        Shape (bases, labels), above 0: the distinct prior vectors.
    multiplicities
        Shape (situations, bases), whole numbers: the prior of situation ``i`` is
        ``multiplicities[i] @ bases``. So equal contents are equal to the bit.
    start
        Shape (situations,): the stage each starts in, named by its smallest situation.
    answers
        Shape (situations, variables): the answers that lead there, as codes of each
        variable, -1 where it does not apply.
    unit
        What 1 in ``counts`` stands for, a power of 2: effective counts of weighted
        surveys are multiples of a small one, so that their sums are exact too.
    scores
        Shape (labels,): the numbers that stand for ordered labels, nan for one without;
        None where they are not ordered, or not needed.
    """

    ids: NDArray[np.int64]
    counts: NDArray[np.int64]
    bases: NDArray[np.float64]
    multiplicities: NDArray[np.int64]
    start: NDArray[np.int64]
    answers: NDArray[np.int64]
    unit: float = 1.0
    scores: NDArray[np.float64] | None = None

    @property
    def sizes(self) -> NDArray[np.float64]:
        """The counts in respondents."""
        sizes: NDArray[np.float64] = self.counts * np.float64(self.unit)
        return sizes

    @property
    def prior(self) -> NDArray[np.float64]:
        """The prior of each situation, shape (situations, labels)."""
        return self.multiplicities @ self.bases

    def subset(
        self,
        rows: NDArray[np.int64],
        counts: NDArray[np.int64] | None = None,
        *,
        unit: float | None = None,
    ) -> Hyperstage:
        """Return some of the situations, with other counts if these are given.

        Situations that started in one stage still do; its name is the smallest one left.
        """
        ids = self.ids[rows]
        return replace(
            self,
            ids=ids,
            counts=self.counts[rows] if counts is None else counts,
            multiplicities=self.multiplicities[rows],
            start=name_stages(ids, self.start[rows]),
            answers=self.answers[rows],
            unit=self.unit if unit is None else unit,
        )

    def pooled(self) -> Hyperstage:
        """Return each start stage as one situation, with the answers of its smallest."""
        starts, first, member = np.unique(self.start, return_index=True, return_inverse=True)
        if len(starts) == len(self.ids):
            return self
        counts = np.zeros((len(starts), self.counts.shape[1]), dtype=np.int64)
        np.add.at(counts, member, self.counts)
        multiplicities = np.zeros((len(starts), len(self.bases)), dtype=np.int64)
        np.add.at(multiplicities, member, self.multiplicities)
        return replace(
            self,
            ids=starts,
            counts=counts,
            multiplicities=multiplicities,
            start=starts,
            answers=self.answers[first],
        )


def name_stages(ids: NDArray[np.int64], group: NDArray[np.int64]) -> NDArray[np.int64]:
    """Name the group of each situation by its smallest situation.

    Examples
    --------
    >>> name_stages(np.array([4, 5, 6, 9]), np.array([2, 0, 2, 0]))
    array([4, 5, 4, 5])
    """
    _, first, member = np.unique(group, return_index=True, return_inverse=True)
    names: NDArray[np.int64] = ids[first][member]
    return names
