"""Few parents: the earlier answers on which the stages of a hyperstage may depend, on arrays.

Situations with the same answers to a set of earlier variables are a configuration of it. A set
is scored by the sum of the scores of its configurations, each as a stage.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from cegdb.clustering.hyperstage import name_stages
from cegdb.clustering.stage_sums import sum_by, tie_tolerance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cegdb.clustering.hyperstage import Hyperstage
    from cegdb.clustering.scoring import Score

MAX_SETS: Final = 25_000
"""How many sets of a hyperstage are compared at most."""
KEPT_SETS: Final = 5
"""How many of them are kept: the best one and its runners-up."""
_MOST_CELLS: Final = 4
"""Up to so many cells per situation, configurations are counted without sorting them."""


class ParentSet(NamedTuple):
    """A set of earlier variables, by their columns in the answers, and its score."""

    columns: tuple[int, ...]
    score: float
    n_configurations: int


class Configurations(NamedTuple):
    """A hyperstage with its configurations of the best set as situations.

    Attributes
    ----------
    hyperstage
        Its situations are the configurations that a row reached, with the ids of their smallest
        situations; answers to variables outside the set are -1.
    member
        Shape (situations,): the row of each situation's configuration there, -1 where no row
        reached it.
    sets
        The best set, then its runners-up.
    """

    hyperstage: Hyperstage
    member: NDArray[np.int64]
    sets: Sequence[ParentSet]


def candidate_columns(answers: NDArray[np.int64]) -> list[int]:
    """Return the variables whose answers differ between situations.

    Examples
    --------
    >>> candidate_columns(np.array([[4, 7, -1], [4, 8, -1]]))
    [1]
    """
    return np.flatnonzero((answers != answers[:1]).any(axis=0)).tolist()


def n_sets(n_candidates: int, most: int) -> int:
    """Return the number of sets of at most so many candidates.

    Examples
    --------
    >>> n_sets(14, 3)
    470
    """
    return sum(math.comb(n_candidates, size) for size in range(min(most, n_candidates) + 1))


def codes_of(
    answers: NDArray[np.int64], columns: Sequence[int]
) -> tuple[NDArray[np.int64], int]:
    """Return a code of each situation's configuration, and how many codes there may be.

    Examples
    --------
    >>> codes_of(np.array([[4, 7], [4, 8], [5, 8]]), [0, 1])
    (array([0, 1, 3]), 4)
    """
    digits = _digits(answers, columns)
    code, radix = np.zeros(len(answers), dtype=np.int64), 1
    for column in columns:
        code, radix = _refined(code, radix, digits[column])
    return code, radix


def parent_sets(hyperstage: Hyperstage, score: Score, most: int) -> list[ParentSet]:
    """Return the best sets of at most ``most`` variables, the best first, exactly.

    Of sets with the same score, to rounding, the one with fewer variables comes first, then
    the one with earlier ones.
    """
    answers = hyperstage.answers
    candidates = candidate_columns(answers)
    digits = _digits(answers, candidates)
    terms = score.terms(hyperstage.sizes, hyperstage.prior)
    n = hyperstage.counts.sum(axis=1)

    def scored(columns: tuple[int, ...], code: NDArray[np.int64], radix: int) -> ParentSet:
        is_reached = np.bincount(code, n, radix) > 0
        sums = _sums(code, terms, radix)[is_reached]
        return ParentSet(columns, float(score.value(sums).sum()), int(is_reached.sum()))

    root = (np.zeros(len(answers), dtype=np.int64), 1)
    sets = [scored((), *root)]
    coded: dict[tuple[int, ...], tuple[NDArray[np.int64], int]] = {(): root}
    for size in range(1, min(most, len(candidates)) + 1):
        longer: dict[tuple[int, ...], tuple[NDArray[np.int64], int]] = {}
        for columns in combinations(candidates, size):
            code, radix = _refined(*coded[columns[:-1]], digits[columns[-1]])
            sets.append(scored(columns, code, radix))
            if size < most and columns[-1] != candidates[-1]:
                longer[columns] = (code, radix)
        coded = longer
    tolerance = tie_tolerance(sets[0].score)
    sets.sort(key=lambda one: (-round(one.score / tolerance), len(one.columns), one.columns))
    return sets[:KEPT_SETS]


def pool_configurations(hyperstage: Hyperstage, score: Score, most: int) -> Configurations:
    """Choose the best set of at most ``most`` variables, and pool its configurations."""
    sets = parent_sets(hyperstage, score, most)
    code, _ = codes_of(hyperstage.answers, sets[0].columns)
    start = name_stages(hyperstage.ids, code)
    pooled = replace(hyperstage, start=start).pooled()
    reached = np.flatnonzero(pooled.counts.sum(axis=1) > 0)
    row = np.full(len(pooled.ids), -1, dtype=np.int64)
    row[reached] = np.arange(len(reached))
    configurations = pooled.subset(reached)
    answers = np.full_like(configurations.answers, -1)
    columns = list(sets[0].columns)
    answers[:, columns] = configurations.answers[:, columns]
    member = row[np.searchsorted(pooled.ids, start)]
    return Configurations(replace(configurations, answers=answers), member, sets)


def _digits(
    answers: NDArray[np.int64], columns: Sequence[int]
) -> dict[int, tuple[NDArray[np.int64], int]]:
    """Return the answers to each variable as digits from 0, and how many there are."""
    digits = {}
    for column in columns:
        labels, digit = np.unique(answers[:, column], return_inverse=True)
        digits[column] = (digit.ravel().astype(np.int64), len(labels))
    return digits


def _refined(
    code: NDArray[np.int64], radix: int, digit: tuple[NDArray[np.int64], int]
) -> tuple[NDArray[np.int64], int]:
    """Return the code with one more digit; renumbered if most codes would not occur."""
    code, radix = code * digit[1] + digit[0], radix * digit[1]
    if radix > _MOST_CELLS * len(code):
        used, code = np.unique(code, return_inverse=True)
        code, radix = code.ravel().astype(np.int64), len(used)
    return code, radix


def _sums(
    code: NDArray[np.int64], terms: NDArray[np.float64], radix: int
) -> NDArray[np.float64]:
    """Add up the terms of each configuration."""
    if radix == 1:
        return sum_by(code, terms, 1)
    n_terms = terms.shape[1]
    cell = (code[:, None] * n_terms + np.arange(n_terms)).ravel()
    sums = np.bincount(cell, weights=terms.ravel(), minlength=radix * n_terms)
    return np.asarray(sums, np.float64).reshape(radix, n_terms)
