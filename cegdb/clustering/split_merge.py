"""Sample the stagings of a hyperstage from their posterior: Gibbs sweeps, splits and merges.

The probabilities of stages are integrated out, so that a state is a staging alone. A sweep
moves each situation in turn to a stage drawn from its conditional distribution; all chains
take the same situation at a time, as one array. Then pairs of situations are drawn: if both
are in one stage, it may be split between them, the others following one by one; otherwise
their stages may be merged [1]_, [2]_.

References
----------
.. [1] Jain, S. and Neal, R. M. (2004). A split-merge Markov chain Monte Carlo procedure for the
   Dirichlet process mixture model. Journal of Computational and Graphical Statistics 13,
   158-182.
.. [2] Dahl, D. B. and Newcomb, S. (2022). Sequentially allocated merge-split samplers for
   conjugate Bayesian nonparametric models. Journal of Statistical Computation and Simulation
   92, 1487-1511.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from cegdb.clustering.hyperstage import name_stages
from cegdb.clustering.stage_sums import sum_by

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from cegdb.clustering.scoring import Marginal

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int64]

_SPARE: Final = 4
_MOVES_PER_STAGE: Final = 2


class Draw(NamedTuple):
    """A staging that a chain reached.

    ``member`` has the stage of each situation, as a row of ``terms``, the sums of each stage;
    ``log_score`` is its log marginal likelihood plus log structure prior.
    """

    member: Numbers
    terms: Floats
    log_score: float


def sample(
    terms: Floats,
    score: Marginal,
    structure: Floats,
    starts: Numbers,
    n_warm: int,
    n_kept: int,
    random: np.random.Generator,
) -> Iterator[list[Draw]]:
    """Yield what each chain reached after each sweep.

    Parameters
    ----------
    terms
        Those of each situation, shape (situations, terms); two situations or more.
    score, structure
        The log marginal likelihood, and the log prior by the number of stages.
    starts
        The stage that each situation starts in, shape (chains, situations).
    n_warm, n_kept
        Number of sweeps whose draws are to be left out, and of those after them.
    random
        Where random numbers come from.
    """
    scorer = _Scorer(terms, score)
    alone = scorer.value(scorer.rows)
    chains, n_moves = list(starts), 0
    for sweep in range(n_warm + n_kept):
        # A prior by size keeps chains with many stages from ever reaching few.
        prior = structure if 2 * sweep >= n_warm else np.zeros_like(structure)
        chains = _sweep(chains, scorer, alone, prior, random)
        if sweep < n_warm:
            # Of the pairs, one in as many as there are stages leads to a split. Kept draws
            # need moves whose number does not depend on where the chain is.
            n_moves = _MOVES_PER_STAGE * max(len(np.unique(member)) for member in chains)
        reached = []
        for member in chains:
            chain = _Chain(member, scorer, prior)
            chain.split_and_merge(n_moves, random)
            reached.append(_draw(chain.member, terms, score, structure))
        chains = [draw.member for draw in reached]
        yield reached


def _draw(member: Numbers, terms: Floats, score: Marginal, structure: Floats) -> Draw:
    """Return where a chain is."""
    names = name_stages(np.arange(len(member)), member)
    stages, member = np.unique(names, return_inverse=True)
    sums = sum_by(member, terms, len(stages))
    log_score = math.fsum(score.value(sums)) + float(structure[len(stages)])
    return Draw(member, sums, log_score)


class _Scorer:
    """The log marginal likelihood of stages as log gamma functions of sums over situations.

    Faster than `Marginal.value`, and accurate enough to draw by. ``rows`` has the summands of
    each situation.
    """

    def __init__(self, terms: Floats, score: Marginal) -> None:
        from scipy.special import gammaln

        self._log_gamma = gammaln
        if score.stage_mass is None:
            counts, prior = np.split(terms, 2, axis=1)
            parts = [counts + prior, prior]
            offsets = [0.0, 0.0]
        else:
            parts = [terms]
            offsets = [score.stage_mass / terms.shape[1]]
        n_labels = parts[0].shape[1]
        self.rows = np.concatenate(
            [column for part in parts for column in (part, part.sum(axis=1, keepdims=True))],
            axis=1,
        )
        of_part = np.append(np.ones(n_labels), -1.0)
        self._signs = np.concatenate([of_part, -of_part][: len(parts)])
        self._offset = np.concatenate(
            [np.append(np.full(n_labels, one), n_labels * one) for one in offsets]
        )
        self._constant = 0.0
        if score.stage_mass is not None:
            self._constant = -float(gammaln(self._offset) @ self._signs)

    def value(self, sums: Floats) -> Floats:
        """Return the score of stages, none of them empty, shape (...)."""
        values: Floats = self._log_gamma(sums + self._offset) @ self._signs + self._constant
        return values


def _sweep(
    chains: list[Numbers],
    scorer: _Scorer,
    alone: Floats,
    structure: Floats,
    random: np.random.Generator,
) -> list[Numbers]:
    """Draw the stage of each situation given those of all others, in a random order."""
    member = np.stack([np.unique(one, return_inverse=True)[1] for one in chains])
    n_slots = int(member.max()) + 1 + _SPARE
    sums = np.stack([sum_by(one, scorer.rows, n_slots) for one in member])
    size = np.stack([np.bincount(one, minlength=n_slots) for one in member])
    value = np.zeros(size.shape)
    value[size > 0] = scorer.value(sums[size > 0])
    more = np.diff(structure)
    rows = np.arange(len(chains))
    for i in random.permutation(member.shape[1]).tolist():
        own, x = member[:, i], scorer.rows[i]
        # The stage that the situation leaves is scored without it, the others with it.
        is_single = size[rows, own] == 1
        left = np.where(is_single[:, None], x, sums[rows, own] - x)
        joined = sums + x
        joined[rows, own] = left
        scored = scorer.value(joined)
        gain = scored - value
        rest = np.where(is_single, 0.0, scored[rows, own])
        gain[rows, own] = value[rows, own] - rest
        value[rows, own] = rest
        sums[rows, own] = np.where(is_single[:, None], 0.0, left)
        size[rows, own] -= 1
        is_empty = size == 0
        n_empty = is_empty.sum(axis=1)
        # One new stage is possible, whichever of the empty slots it takes.
        new = alone[i] + more[n_slots - n_empty] - np.log(n_empty)
        noisy = np.where(is_empty, new[:, None], gain) + random.gumbel(size=gain.shape)
        chosen = noisy.argmax(axis=1)
        value[rows, chosen] += np.where(is_empty[rows, chosen], alone[i], gain[rows, chosen])
        sums[rows, chosen] += x
        size[rows, chosen] += 1
        member[:, i] = chosen
        if n_empty.min() <= 1:
            sums = np.pad(sums, ((0, 0), (0, n_slots), (0, 0)))
            size = np.pad(size, ((0, 0), (0, n_slots)))
            value = np.pad(value, ((0, 0), (0, n_slots)))
            n_slots *= 2
    return list(member)


class _Chain:
    """One chain between two sweeps: its stages as lists of situations."""

    def __init__(self, member: Numbers, scorer: _Scorer, structure: Floats) -> None:
        self.scorer = scorer
        self.structure = structure
        self.member = np.unique(member, return_inverse=True)[1]
        # Sums are made anew each time, so that rounding errors do not add up.
        self.sums = list(sum_by(self.member, scorer.rows, int(self.member.max()) + 1))
        self.value = scorer.value(np.array(self.sums)).tolist()

    def split_and_merge(self, n_moves: int, random: np.random.Generator) -> None:
        """Draw pairs of situations, and split or merge each time, or stay."""
        n = len(self.member)
        first = random.integers(n, size=n_moves)
        second = (first + random.integers(1, n, size=n_moves)) % n
        log_us = -random.exponential(size=n_moves)
        pairs = zip(first.tolist(), second.tolist(), log_us.tolist(), strict=True)
        for one, other, log_u in pairs:
            if self.member[one] == self.member[other]:
                self._split(one, other, log_u, random)
            else:
                self._merge(one, other, log_u, random)

    def _split(self, one: int, other: int, log_u: float, random: np.random.Generator) -> None:
        """Split a stage between two situations; the others join theirs one by one."""
        slot, n_stages = int(self.member[one]), len(self.sums)
        others = self._others(self.member == slot, one, other, random)
        sums = self.scorer.rows[[one, other]]
        values = self.scorer.value(sums).tolist()
        is_second = np.zeros(len(others), dtype=bool)
        log_probability = 0.0
        uniform = random.random(len(others)).tolist()
        for index, situation in enumerate(others.tolist()):
            joined = sums + self.scorer.rows[situation]
            joined_values = self.scorer.value(joined).tolist()
            log_odds = joined_values[1] - values[1] - joined_values[0] + values[0]
            k = int(uniform[index] < math.exp(-_log1p_exp(-log_odds)))
            log_probability -= _log1p_exp(-log_odds if k else log_odds)
            is_second[index] = k
            sums[k], values[k] = joined[k], joined_values[k]
        ratio = sum(values) - self.value[slot]
        ratio += self.structure[n_stages + 1] - self.structure[n_stages]
        if log_u < ratio - log_probability:
            self.member[others[is_second]] = n_stages
            self.member[other] = n_stages
            self.sums[slot], self.value[slot] = sums[0], values[0]
            self.sums.append(sums[1])
            self.value.append(values[1])

    def _merge(self, one: int, other: int, log_u: float, random: np.random.Generator) -> None:
        """Merge the stages of two situations."""
        slots, n_stages = (int(self.member[one]), int(self.member[other])), len(self.sums)
        sums = self.sums[slots[0]] + self.sums[slots[1]]
        value = float(self.scorer.value(sums))
        ratio = value - self.value[slots[0]] - self.value[slots[1]]
        ratio += self.structure[n_stages - 1] - self.structure[n_stages]
        # The probability of the way back only makes the move less probable.
        if log_u >= ratio:
            return
        is_either = (self.member == slots[0]) | (self.member == slots[1])
        others = self._others(is_either, one, other, random)
        if log_u < ratio + self._log_way_back(one, other, others):
            (kept, freed), last = sorted(slots), n_stages - 1
            self.sums[kept], self.value[kept] = sums, value
            self.member[self.member == freed] = kept
            self.member[self.member == last] = freed
            self.sums[freed], self.value[freed] = self.sums[last], self.value[last]
            del self.sums[last], self.value[last]

    def _others(
        self, is_in: NDArray[np.bool_], one: int, other: int, random: np.random.Generator
    ) -> Numbers:
        """Return the situations of stages but for two, in a random order."""
        is_in[[one, other]] = False
        return random.permutation(np.flatnonzero(is_in))

    def _log_way_back(self, one: int, other: int, others: Numbers) -> float:
        """Return the log probability that a split would make the stages of two situations."""
        x = self.scorer.rows[others]
        is_second = self.member[others] == self.member[other]
        value, joined = [], []
        for situation, is_joining in ((one, ~is_second), (other, is_second)):
            after = self.scorer.rows[situation] + np.cumsum(x * is_joining[:, None], axis=0)
            before = after - x * is_joining[:, None]
            value.append(self.scorer.value(before))
            joined.append(self.scorer.value(before + x))
        log_odds = joined[1] - value[1] - joined[0] + value[0]
        return -float(np.logaddexp(0.0, np.where(is_second, -log_odds, log_odds)).sum())


def _log1p_exp(x: float) -> float:
    """Return ``log(1 + exp(x))``."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))
