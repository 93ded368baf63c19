"""Scores and greedy clustering of stages, slow and obvious."""

from functools import cache
from itertools import combinations
from math import fsum, inf, lgamma, log


@cache
def log_marginal_likelihood(counts, prior):
    """Score one stage, given as two tuples."""
    terms = [lgamma(fsum(prior)), -lgamma(fsum(prior) + fsum(counts))]
    for n, a in zip(counts, prior, strict=True):
        terms += [lgamma(a + n), -lgamma(a)]
    return fsum(terms)


def one_prior(stage_mass):
    """Return a score: the log marginal likelihood where every stage has the same prior."""

    def score(counts, prior):
        return log_marginal_likelihood(counts, (stage_mass / len(prior),) * len(prior))

    return score


def penalised(penalty, smoothing=0.0):
    """Return a score: the log likelihood at the smoothed shares, less a penalty."""

    @cache
    def score(counts, prior):
        total = fsum(counts) + smoothing * len(prior)
        terms = [n * log((n + smoothing) / total) for n in counts if n]
        return fsum(terms) - penalty * (len(prior) - 1)

    return score


def log_bayes_factor(one, other, score=log_marginal_likelihood):
    """Gain of merging two stages, each a tuple (counts, prior)."""
    return fsum([score(*merged(one, other)), -score(*one), -score(*other)])


def merged(one, other):
    """Add the counts and the priors of two stages."""
    return tuple(
        tuple(a + b for a, b in zip(left, right, strict=True))
        for left, right in zip(one, other, strict=True)
    )


def agglomerate(*hyperstages, score=log_marginal_likelihood, least=1e-9, last_wins=False):
    """Cluster several hyperstages in one run; each a dict id -> (counts, prior).

    Returns the merges (kept_id, absorbed_id, gain) in the order made. Of ties the smallest
    (smaller id, larger id) is made, or the largest (larger id, smaller id).
    """
    alive = [dict(hyperstage) for hyperstage in hyperstages]
    merges = []
    while True:
        gains = {
            pair: log_bayes_factor(stages[pair[0]], stages[pair[1]], score)
            for stages in alive
            for pair in combinations(sorted(stages), 2)
        }
        best = max(gains.values(), default=-inf)
        if best <= least:
            return merges
        floor = best - 1e-9 * max(1.0, abs(best))
        tied = [pair for pair, gain in gains.items() if gain >= floor and gain > least]
        kept, absorbed = max(tied, key=lambda pair: pair[::-1]) if last_wins else min(tied)
        merges.append((kept, absorbed, gains[kept, absorbed]))
        stages = next(stages for stages in alive if kept in stages)
        stages[kept] = merged(stages[kept], stages.pop(absorbed))


def best_cut(stages, log_structure, score=log_marginal_likelihood):
    """Merge all the way; return the merges that lead to the best total, the first of ties.

    ``log_structure(m)`` is the log prior of a partition into ``m`` stages.
    """
    merges = agglomerate(stages, score=score, least=-inf)
    best, length, gained = log_structure(len(stages)), 0, 0.0
    for done, (_, _, gain) in enumerate(merges, 1):
        gained += gain
        total = gained + log_structure(len(stages) - done)
        if total > best + 1e-9:
            best, length = total, done
    return merges[:length]


@cache
def n_partitions(n, m):
    """Return the number of partitions of n things into m blocks."""
    if n == m:
        return 1
    if m in (0, n + 1):
        return 0
    return n_partitions(n - 1, m - 1) + m * n_partitions(n - 1, m)


def partitions(items):
    """Yield all partitions of a list, as lists of lists."""
    if not items:
        yield []
        return
    first, *others = items
    for blocks in partitions(others):
        yield [[first], *blocks]
        for index, block in enumerate(blocks):
            yield [*blocks[:index], [first, *block], *blocks[index + 1 :]]


def all_stagings(situations, log_structure, score=log_marginal_likelihood):
    """Yield each staging of a list of (counts, prior), as blocks of indices, and its score.

    ``log_structure(m)`` is the log prior of a staging with ``m`` stages.
    """

    @cache
    def block_score(block):
        total = situations[block[0]]
        for index in block[1:]:
            total = merged(total, situations[index])
        return score(*total)

    for blocks in partitions(list(range(len(situations)))):
        values = [block_score(tuple(block)) for block in blocks]
        yield blocks, fsum([*values, log_structure(len(blocks))])
