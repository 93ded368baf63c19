"""One way to learn the stages of a hyperstage, by any method."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from cegdb.ahc.greedy import Merge, agglomerate
from cegdb.ahc.scoring import Hyperstage, Marginal, Penalised, Score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Method: TypeAlias = Literal["ahc"]
ScoreName: TypeAlias = Literal["log_marginal_likelihood", "bic", "aic", "log_likelihood"]


@dataclass(frozen=True)
class Plan:
    """How stages are learnt.

    Attributes
    ----------
    method
        ``"ahc"``.
    score
        What is made as large (``"log_marginal_likelihood"``, ``"log_likelihood"``) or as
        small (``"bic"``, ``"aic"``) as can be.
    n_rows
        The N of BIC.
    smoothing
        Added to the count of each label of a stage when its shares are estimated.
    """

    method: Method = "ahc"
    score: ScoreName = "log_marginal_likelihood"
    n_rows: float = 1.0
    smoothing: float = 0.0

    @property
    def scorer(self) -> Score:
        """The score of a stage, more being better."""
        if self.score == "log_marginal_likelihood":
            return Marginal()
        half_log = math.log(max(self.n_rows, 1.0)) / 2
        penalty = {"bic": half_log, "aic": 1.0, "log_likelihood": 0.0}[self.score]
        return Penalised(penalty, self.smoothing)


class Learnt(NamedTuple):
    """The stages of a hyperstage.

    Attributes
    ----------
    stage
        Shape (situations,): the stage of each, named by its smallest situation.
    merges
        Those that led to them, in the order made; none for methods that do not merge.
    """

    stage: NDArray[np.int64]
    merges: Sequence[Merge]


def learn(hyperstage: Hyperstage, plan: Plan) -> Learnt:
    """Learn the stages of one hyperstage.

    Examples
    --------
    Two situations alike and one apart, each with prior (1, 1):

    >>> ids = np.array([4, 5, 6])
    >>> situations = Hyperstage(
    ...     ids=ids,
    ...     counts=np.array([[9, 1], [1, 9], [8, 2]]),
    ...     bases=np.array([[1.0, 1.0]]),
    ...     multiplicities=np.array([[1], [1], [1]]),
    ...     start=ids,
    ...     answers=np.array([[0], [1], [2]]),
    ... )
    >>> learn(situations, Plan()).stage
    array([4, 5, 4])
    """
    starts, member = np.unique(hyperstage.start, return_inverse=True)
    counts = np.zeros((len(starts), hyperstage.counts.shape[1]), dtype=np.int64)
    np.add.at(counts, member, hyperstage.counts)
    multiplicities = np.zeros((len(starts), len(hyperstage.bases)), dtype=np.int64)
    np.add.at(multiplicities, member, hyperstage.multiplicities)
    merges = agglomerate(counts, hyperstage.bases, multiplicities, starts, unit=hyperstage.unit)
    final = {int(stage): int(stage) for stage in starts}
    for merge in reversed(merges):
        final[merge.absorbed_id] = final[merge.kept_id]
    stage = np.array([final[int(start)] for start in starts], dtype=np.int64)
    return Learnt(stage[member], merges)
