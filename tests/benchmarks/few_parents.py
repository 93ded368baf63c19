"""Measure how well stages predict new rows where almost every history is seen once.

Each of 15 binary questions has two parents drawn among the earlier ones, and the probability
of 1 after each of their configurations is drawn from Beta(1, 1): docs/theory.md, section 16.
Stages are learnt from 2,000 rows, and 5,000 others are scored. The table gives the mean over
the seeds of the log score a row, less that of the truth, for each way of learning, and the
worst; the share of rows with probability 0; and the longest time to learn. Independence is the
share of each answer, with one row added to both. Trees and other settings are the default.
Run by hand:

    python tests/benchmarks/few_parents.py
    python tests/benchmarks/few_parents.py --seeds 2 --ways "3 parents"
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

import cegdb

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

N_QUESTIONS, N_LEARNT, N_SCORED = 15, 2_000, 5_000
WAYS: Mapping[str, Mapping[str, Any]] = {
    "3 parents": {"max_parents": 3},
    "2 parents": {"max_parents": 2},
    "3 parents, score": {"max_parents": 3, "criterion": "score"},
    "3 parents, prior='mass', score": {
        "max_parents": 3, "prior": "mass", "criterion": "score",
    },
    "3 parents, prior='floret', score": {
        "max_parents": 3, "prior": "floret", "criterion": "score",
    },
    "3 parents, BIC": {"max_parents": 3, "score": "bic"},
    "default": {},
    "prior='mass', score": {"prior": "mass", "criterion": "score"},
}  # fmt: skip


class Simulation(NamedTuple):
    """Rows to learn from, rows to score, and the mean log probability of the latter."""

    learnt: pd.DataFrame
    scored: pd.DataFrame
    truth: float
    independence: float


def simulate(
    seed: int, k: int = N_QUESTIONS, n: int = N_LEARNT, n_scored: int = N_SCORED
) -> Simulation:
    """Draw parents, probabilities and rows."""
    random = np.random.default_rng(seed)
    parents = [random.choice(i, min(2, i), replace=False) for i in range(k)]
    probabilities = [random.beta(1, 1, 2 ** len(of)) for of in parents]
    answers = np.zeros((n + n_scored, k), int)
    log_truth = np.zeros(n + n_scored)
    for i, of in enumerate(parents):
        configuration = answers[:, of] @ (2 ** np.arange(len(of)))
        p = probabilities[i][configuration]
        answers[:, i] = random.random(len(p)) < p
        log_truth += np.log(np.where(answers[:, i] == 1, p, 1 - p))
    rows = pd.DataFrame(answers, columns=[f"q{i:02}" for i in range(k)])
    return Simulation(rows[:n], rows[n:], float(log_truth[n:].mean()), _apart(answers, n))


def _apart(answers: NDArray[np.int_], n: int) -> float:
    share = (answers[:n].sum(axis=0) + 1) / (n + 2)
    return float(np.log(np.where(answers[n:] == 1, share, 1 - share)).sum(axis=1).mean())


def measure(seed: int, ways: Mapping[str, Mapping[str, Any]]) -> list[dict[str, object]]:
    """Return the loss and the time of each way of learning."""
    simulation = simulate(seed)
    loss = simulation.independence - simulation.truth
    rows: list[dict[str, object]] = [
        {"way": "independence", "loss": loss, "impossible": 0.0, "seconds": 0.0}
    ]
    with cegdb.open() as db:
        tree = db.ingest(simulation.learnt).event_tree()
        for way, settings in ways.items():
            started = time.perf_counter()
            staged = tree.learn_stages(**settings)
            seconds = time.perf_counter() - started
            score = staged.score(simulation.scored)
            rows.append(
                {
                    "way": way,
                    "loss": score.mean - simulation.truth,
                    "impossible": score.n_impossible / score.n,
                    "seconds": seconds,
                }
            )
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--ways", nargs="*", default=list(WAYS), choices=list(WAYS))
    arguments = parser.parse_args()
    ways = {name: WAYS[name] for name in arguments.ways}
    rows = [row for seed in range(arguments.seeds) for row in measure(seed, ways)]
    table = pd.DataFrame(rows).groupby("way", sort=False)
    summary = table.agg(
        loss=("loss", "mean"),
        worst=("loss", "min"),
        impossible=("impossible", "mean"),
        seconds=("seconds", "max"),
    )
    print(summary.round(4).to_string())


if __name__ == "__main__":
    main()
