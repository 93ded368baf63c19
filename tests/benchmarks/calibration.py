"""Simulate how honest stages and their intervals are, for candidates of the defaults.

Run by hand: ``python tests/benchmarks/calibration.py [--sets 1000] [--points small]
[--candidates "stage, test"]``. Each data set has one question of 2, 3 or 5 answers, asked in n
situations of equally many rows. Their true probabilities are

- alike: one vector;
- two groups: two vectors, four standard errors of a situation apart in the first answer, half
  of the situations each;
- close groups: the same, two standard errors apart;
- many groups: n / 4 vectors drawn at random;
- spread: one vector each, which varies by half, one or two standard errors.

The common vector is drawn from a Dirichlet distribution of 2 for each answer, kept from 0 by a
twentieth. With ``--weights`` half of the rows, drawn at random, weigh seven times as much as
the others, and counts are the effective ones (Kish) of each situation.

With ``--points bound`` it prints how often any test of 5 % can tell two groups apart. With
``--points new`` it draws situations with a correlation, and prints how often the interval
of one that nobody reached contains its true share. Else it prints three Markdown tables: how
stages are found; how probabilities are estimated; and how often intervals of 95 % cover the
truth, with their mean width in standard errors of a situation.
"""

from __future__ import annotations

import argparse
import time
from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from scipy.special import betaincinv, logsumexp
from scipy.stats import beta

from cegdb.clustering import Hyperstage, Plan, agglomerate, learn
from cegdb.stages.robust_intervals import robust_intervals
from cegdb.stages.unobserved import predictive_mass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEVEL: Final = 0.95
UNIT: Final = 1e-6
KINDS: Final = ("alike", "two groups", "close groups", "many groups", "spread")
POINTS: Final = {
    "small": [(2, 15, 2), (5, 15, 2), (20, 15, 2), (20, 150, 2), (20, 50, 3)],
    "grid": [
        (n, rows, labels)
        for n in (2, 5, 20)
        for rows in (5, 50, 500, 5_000)
        for labels in (2, 3, 5)
    ],
    "large": [
        (60, 5, 2),
        (60, 50, 2),
        (60, 500, 2),
        (60, 5_000, 2),
        (60, 50, 3),
        (60, 50, 5),
        (200, 5, 2),
        (200, 50, 2),
        (200, 500, 2),
        (200, 5_000, 2),
        (200, 50, 3),
        (200, 50, 5),
    ],
}
NEW_POINTS: Final = (
    (1, 50, 0.1), (2, 15, 0.05), (3, 500, 0.1), (3, 500, 0.3), (5, 15, 0.0), (5, 15, 0.05),
    (5, 200, 0.02), (20, 15, 0.0), (20, 15, 0.05), (20, 15, 0.2), (20, 200, 0.02),
    (20, 500, 0.0), (60, 50, 0.1),
)  # fmt: skip


class Candidate(NamedTuple):
    """How stages are learnt; ``odds`` are what a split must have for it."""

    name: str
    prior: str
    structure_prior: str = "flat"
    significance: float | None = None
    odds: float = 1.0


CANDIDATES: Final = (
    Candidate("mass, flat", "mass"),
    Candidate("mass, size", "mass", "size"),
    Candidate("stage, flat", "stage"),
    Candidate("stage, size", "stage", "size"),
    Candidate("stage, odds of 9", "stage", odds=9.0),
    Candidate("mass, test", "mass", significance=0.05),
    Candidate("stage, test", "stage", significance=0.05),
)


def truth(kind: str, n: int, rows: float, labels: int, random: np.random.Generator) -> Floats:
    """Return the true probabilities, shape (situations, labels)."""

    def vectors(count: int) -> Floats:
        drawn: Floats = random.dirichlet(np.full(labels, 2.0), count)
        return 0.9 * drawn + 0.1 / labels

    if kind == "many groups":
        group = random.integers(0, max(2, n // 4), n)
        return vectors(max(2, n // 4))[group]
    common = np.repeat(vectors(1), n, axis=0)
    if kind == "alike":
        return common
    first = common[0, 0]
    error = np.sqrt(first * (1 - first) / rows)
    if kind == "spread":
        step = random.normal(0.0, error * random.choice([0.5, 1.0, 2.0]), n)
    else:
        half = error * (2.0 if kind == "two groups" else 1.0)
        step = np.where(np.arange(n) < n // 2, half, -half)
    moved = np.clip(first + np.clip(step, -0.95 * first, 0.95 * (1 - first)), 0.001, 0.999)
    rest = common[:, 1:] * ((1 - moved) / (1 - first))[:, None]
    return np.column_stack((moved, rest))


def effective(counts: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
    """Return effective counts, in units, if some rows weigh 0.25 and the others 1.75."""
    heavy = random.binomial(counts, 0.5)
    weight = 0.25 * (counts - heavy) + 1.75 * heavy
    squares = 0.25**2 * (counts - heavy) + 1.75**2 * heavy
    factor = weight.sum(axis=1, keepdims=True) / squares.sum(axis=1, keepdims=True)
    units: NDArray[np.int64] = np.rint(weight * factor / UNIT).astype(np.int64)
    return units


def stages_of(
    counts: NDArray[np.int64], candidate: Candidate, unit: float
) -> tuple[NDArray[np.int64], Floats]:
    """Return the stage of each situation, from 0 up, and the posterior mean of each stage."""
    n, labels = counts.shape
    ids = np.arange(n)
    mass = labels / (n * labels) if candidate.prior == "mass" else 1.0 / labels
    situations = Hyperstage(
        ids=ids,
        counts=counts,
        bases=np.full((1, labels), mass),
        multiplicities=np.ones((n, 1), dtype=np.int64),
        start=ids,
        answers=ids[:, None],
        unit=unit,
    )
    plan = Plan(
        structure_prior=candidate.structure_prior,  # type: ignore[arg-type]
        stage_mass=1.0 if candidate.prior == "stage" else None,
        significance=candidate.significance,
    )
    if candidate.odds > 1:
        stage = ids.copy()
        for merge in agglomerate(
            counts,
            situations.bases,
            situations.multiplicities,
            ids,
            unit=unit,
            score=plan.scorer,
            least=-np.log(candidate.odds),
        ):
            stage[stage == merge.absorbed_id] = merge.kept_id
    else:
        stage = learn(situations, plan).stage
    group = np.unique(stage, return_inverse=True)[1]
    sizes = np.zeros((group.max() + 1, labels))
    np.add.at(sizes, group, situations.sizes)
    prior = np.full_like(sizes, 1.0 / labels)
    if candidate.prior == "mass":
        prior = np.full_like(sizes, mass) * np.bincount(group)[:, None]
    posterior = sizes + prior
    return group, posterior


class Tally:
    """What is counted for one candidate at one point."""

    def __init__(self) -> None:
        self.n_sets = self.n_split = self.n_exact = self.n_extra = 0
        self.bias: list[float] = []
        self.loss: list[float] = []
        self.covered = np.zeros(4)
        self.width = np.zeros(4)
        self.n_covered = 0

    def add(
        self,
        kind: str,
        true: Floats,
        sizes: Floats,
        group: NDArray[np.int64],
        posterior: Floats,
    ) -> None:
        """Count one data set."""
        n = len(sizes)
        n_stages = len(posterior)
        self.n_sets += 1
        self.n_split += n_stages > 1
        self.n_extra += n_stages - 1
        if kind.endswith(" groups") and kind != "many groups":
            half = n // 2
            self.n_exact += n_stages == 2 and len(set(group[:half].tolist())) == 1
        points = posterior / posterior.sum(axis=1, keepdims=True)
        counts = np.zeros_like(posterior)
        np.add.at(counts, group, sizes)
        total = counts.sum(axis=1, keepdims=True)
        share = counts / total
        error = np.sqrt(np.maximum(share * (1 - share), 1e-9) / total)
        is_inner = (share > 0.05) & (share < 0.95)
        self.bias += (np.abs(points - share) / error)[is_inner].tolist()
        self.loss.append(float((true * np.log(true / points[group])).sum(axis=1).mean()))

        # The target of a stage is the mean of its situations, weighted by their counts.
        rows = sizes.sum(axis=1)
        target = np.zeros_like(posterior)
        np.add.at(target, group, true * rows[:, None])
        target = (target / total)[group]
        tail = (1 - LEVEL) / 2
        mass = posterior.sum(axis=1, keepdims=True)
        given = [
            betaincinv(posterior, mass - posterior, quantile)[group]
            for quantile in (tail, 1 - tail)
        ]
        robust = [limit[group] for limit in robust_intervals(sizes, group, points, LEVEL)]
        own = robust_intervals(sizes, np.arange(n), points[group], LEVEL)
        scale = np.sqrt(true * (1 - true) / rows[:, None])
        intervals = ((*given, true), (*own, true), (*given, target), (*robust, target))
        for index, (low, high, aim) in enumerate(intervals):
            self.covered[index] += ((low <= aim) & (aim <= high)).mean()
            self.width[index] += ((high - low) / scale).mean()
        self.n_covered += 1


def at_least(count: int, n: int) -> float:
    """Return the lower 99 % confidence limit of a rate, in percent (Clopper and Pearson)."""
    return 100 * float(beta.ppf(0.01, count, n - count + 1)) if count else 0.0


def new_situations(n_sets: int) -> None:
    """Print how often the interval of one more situation contains its true share."""
    random = np.random.default_rng(17)
    print("| situations | rows each | correlation | coverage | width |")
    print(f"|{' ---: |' * 5}")
    for n, rows, correlation in NEW_POINTS:
        n_hits, width = 0, 0.0
        for _ in range(n_sets):
            share = random.uniform(0.05, 0.95)
            true = np.full(n + 1, share)
            if correlation:
                mass = 1 / correlation - 1
                true = random.beta(mass * share, mass * (1 - share), n + 1)
            counts = random.binomial(rows, true[:n])
            a, b = predictive_mass(np.column_stack([counts, rows - counts]).astype(float))
            low, high = betaincinv(a, b, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
            n_hits += low <= true[n] <= high
            width += high - low
        print(
            f"| {n} | {rows} | {correlation} | {100 * n_hits / n_sets:.1f} "
            f"| {width / n_sets:.3f} |",
            flush=True,
        )


def _drawn(vectors: Floats, rows: int, random: np.random.Generator) -> Floats:
    """Return the counts of 1,000 data sets, one a row."""
    counts = [random.multinomial(rows, one, size=1_000) for one in vectors]
    return np.stack(counts, axis=1).reshape(1_000, -1).astype(float)


def _fit(counts: Floats, cases: list[Floats]) -> Floats:
    """Return the log likelihood of each data set if each of the cases is as probable."""
    each = counts @ np.log(np.array(cases).reshape(len(cases), -1)).T
    return np.asarray(logsumexp(each, axis=1) - np.log(len(cases)))


def bound(n: int, rows: int, labels: int, random: np.random.Generator, n_sets: int) -> float:
    """Return the largest power, on average over true vectors, of a test of 5 % for two groups.

    The test knows both vectors, but neither which situations have which nor which answer
    differs, as no test does that treats all alike: it is the likelihood ratio of Neyman and
    Pearson for the mixture of all these cases against the mean of both vectors.
    """
    halves = [np.isin(np.arange(n), one) for one in combinations(range(n), n // 2)]
    power = []
    for _ in range(n_sets):
        true = truth("two groups", n, rows, labels, random)
        null = np.repeat(true.mean(axis=0, keepdims=True), n, axis=0)
        cases = [
            np.roll(np.where(half[:, None], true[0], true[-1]), shift, axis=1)
            for half in halves
            for shift in range(labels)
        ]
        nulls = [np.roll(null, shift, axis=1) for shift in range(labels)]

        at_null, found = (
            _fit(counts, cases) - _fit(counts, nulls)
            for counts in (_drawn(null, rows, random), _drawn(true, rows, random))
        )
        at_null = np.sort(at_null)
        # Ties are broken at random, so that the level is reached.
        cut = at_null[-50]
        above, at = (at_null > cut + 1e-9).sum(), (np.abs(at_null - cut) <= 1e-9).sum()
        part = (50 - above) / at
        ties = np.abs(found - cut) <= 1e-9
        power.append(float((found > cut + 1e-9).mean() + part * ties.mean()))
    return float(np.mean(power))


def bounds(n_sets: int) -> None:
    """Print the largest power of tests at points of few situations."""
    random = np.random.default_rng(5)
    print("| situations | rows each | answers | at most |")
    print("| ---: | ---: | ---: | ---: |")
    for n, rows, labels in POINTS["grid"]:
        if n < 20 and rows <= 500:
            most = 100 * bound(n, rows, labels, random, n_sets)
            print(f"| {n} | {rows:,} | {labels} | {most:.0f} |", flush=True)


def main() -> None:
    """Run the simulation and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--sets",
        type=int,
        default=1000,
        help="data sets with alike situations; of each other kind twice as many",
    )
    names = [one.name for one in CANDIDATES]
    parser.add_argument("--candidates", nargs="*", default=names, choices=names)
    parser.add_argument("--points", choices=[*POINTS, "new", "bound"], default="small")
    parser.add_argument("--weights", action="store_true", help="use effective counts")
    arguments = parser.parse_args()
    if arguments.points == "new":
        new_situations(arguments.sets)
        return
    if arguments.points == "bound":
        bounds(arguments.sets)
        return
    unit = UNIT if arguments.weights else 1.0
    # The design effect of these weights: 1 and the square of their coefficient of variation.
    effect = 1.5625 if arguments.weights else 1.0
    started = time.perf_counter()
    found, estimated, covered = [], [], []
    candidates = [one for one in CANDIDATES if one.name in arguments.candidates]
    for n, rows, labels in POINTS[arguments.points]:
        tallies = {(one, kind): Tally() for one in candidates for kind in KINDS}
        for index, kind in enumerate(KINDS):
            random = np.random.default_rng([n, rows, labels, index])
            for _ in range(arguments.sets * (1 if kind == "alike" else 2)):
                true = truth(kind, n, rows / effect, labels, random)
                counts = np.array([random.multinomial(rows, p) for p in true])
                if arguments.weights:
                    counts = effective(counts, random)
                for one in candidates:
                    group, posterior = stages_of(counts, one, unit)
                    tallies[one, kind].add(kind, true, counts * unit, group, posterior)
        for one in candidates:
            point = f"| {n} | {rows:,} | {labels} | {one.name} |"
            of = {kind: tallies[one, kind] for kind in KINDS}
            alike = of["alike"]
            found.append(
                f"{point} {100 * alike.n_split / alike.n_sets:.1f} "
                f"| {at_least(alike.n_split, alike.n_sets):.1f} "
                + "".join(
                    f"| {100 * of[kind].n_split / of[kind].n_sets:.0f} "
                    f"| {100 * of[kind].n_exact / of[kind].n_sets:.0f} "
                    for kind in ("two groups", "close groups")
                )
                + f"| {of['many groups'].n_extra / of['many groups'].n_sets + 1:.1f} |"
            )
            estimated.append(
                point
                + "".join(
                    f" {np.mean(of[kind].bias):.2f} | {1000 * np.mean(of[kind].loss):.2f} |"
                    for kind in KINDS
                )
            )
            covered.append(
                point
                + "".join(
                    " "
                    + " / ".join(
                        f"{100 * x / of[kind].n_covered:.1f}" for x in of[kind].covered
                    )
                    + " |"
                    for kind in KINDS
                )
                + " "
                + " / ".join(f"{x / of['spread'].n_covered:.1f}" for x in of["spread"].width)
                + " |"
            )
        print(f"{n} situations of {rows} rows, {labels} labels", flush=True)
    head = "| situations | rows each | labels | prior, criterion |"
    print("\nStages found: data sets with several stages, in percent\n")
    print(f"{head} alike | at least (99 %) ", end="")
    print("".join(f"| {kind} | exactly " for kind in KINDS[1:3]) + "| stages of many |")
    print(f"| ---: | ---: | ---: | --- |{' ---: |' * 7}")
    print("\n".join(found))
    print(
        "\nBias of pooled shares in standard errors; loss on new rows, in 1/1000 nats a row\n"
    )
    print(head + "".join(f" {kind}: bias | loss |" for kind in KINDS))
    print(f"| ---: | ---: | ---: | --- |{' ---: |' * 10}")
    print("\n".join(estimated))
    print("\nCoverage of 95 % intervals: situation given stages / own, stage given / robust\n")
    print(head + "".join(f" {kind} |" for kind in KINDS) + " width, spread |")
    print(f"| ---: | ---: | ---: | --- |{' ---: |' * 6}")
    print("\n".join(covered))
    seconds = time.perf_counter() - started
    print(f"\n{arguments.sets} data sets with alike situations, {seconds:.0f} s")


if __name__ == "__main__":
    main()
