"""Scores and greedy clustering of stages, slow and obvious."""

from functools import cache
from itertools import combinations
from math import fsum, lgamma


@cache
def log_marginal_likelihood(counts, prior):
    """Score one stage, given as two tuples."""
    terms = [lgamma(fsum(prior)), -lgamma(fsum(prior) + sum(counts))]
    for n, a in zip(counts, prior, strict=True):
        terms += [lgamma(a + n), -lgamma(a)]
    return fsum(terms)


def log_bayes_factor(one, other):
    """Gain of merging two stages, each a tuple (counts, prior)."""
    return fsum(
        [
            log_marginal_likelihood(*merged(one, other)),
            -log_marginal_likelihood(*one),
            -log_marginal_likelihood(*other),
        ]
    )


def merged(one, other):
    """Add the counts and the priors of two stages."""
    return tuple(
        tuple(a + b for a, b in zip(left, right, strict=True))
        for left, right in zip(one, other, strict=True)
    )


def agglomerate(*hyperstages):
    """Cluster several hyperstages in one run; each a dict id -> (counts, prior).

    Returns the merges (kept_id, absorbed_id, log Bayes factor) in the order made.
    """
    alive = [dict(hyperstage) for hyperstage in hyperstages]
    merges = []
    while True:
        gains = {
            pair: log_bayes_factor(stages[pair[0]], stages[pair[1]])
            for stages in alive
            for pair in combinations(sorted(stages), 2)
        }
        best = max(gains.values(), default=0.0)
        if best <= 1e-9:
            return merges
        floor = best - 1e-9 * max(1.0, best)
        kept, absorbed = min(
            pair for pair, gain in gains.items() if gain >= floor and gain > 1e-9
        )
        merges.append((kept, absorbed, gains[kept, absorbed]))
        stages = next(stages for stages in alive if kept in stages)
        stages[kept] = merged(stages[kept], stages.pop(absorbed))
