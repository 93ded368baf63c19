"""Time what has a stated bar: exact stagings, sampled stagings, few parents, intervals.

    python tests/benchmarks/bars.py

Every line is one run in a process of its own: seconds, the bar, and seconds over those of a
fixed piece of arithmetic in the same process, which tells a slow machine from a slow program.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

import cegdb

if TYPE_CHECKING:
    from collections.abc import Callable


def arithmetic() -> float:
    """Return the seconds of some arithmetic that never changes."""
    start = time.perf_counter()
    total = 0
    for number in range(5_000_000):
        total += number * number % 7
    return time.perf_counter() - start


def seconds(work: Callable[[], object]) -> float:
    """Return how long the work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def regions(db: cegdb.Database, n: int, labels: int, rows: int) -> cegdb.EventTree:
    """Make a tree of n situations with different counts of one question."""
    random = np.random.default_rng(n)
    shares = random.dirichlet(np.ones(labels), 3)[random.integers(0, 3, n)]
    region = np.repeat(np.arange(n), rows)
    answer = [random.choice(labels, rows, p=share) for share in shares]
    frame = pd.DataFrame(
        {"region": [f"r{i}" for i in region], "answer": np.concatenate(answer)}
    )
    return db.ingest(frame, name="regions").event_tree()


def exact(n: int) -> float:
    """Find the best of all stagings of n situations."""
    with cegdb.open() as db:
        tree = regions(db, n, 3, 100)
        return seconds(lambda: tree.learn_stages(method="exact"))


def posterior(n: int) -> float:
    """Look at all, or at some, stagings of n situations."""
    with cegdb.open() as db:
        staged = regions(db, n, 3, 2_000).learn_stages()
        return seconds(staged.posterior)


def few_parents() -> float:
    """Build a tree of 15 questions, each with at most three parents, and its stages."""
    random = np.random.default_rng(1)
    answers = np.zeros((2_000, 15), dtype=int)
    for i in range(15):
        odds = random.normal(0, 1, (2, 2))
        first = answers[:, max(i - 1, 0)]
        second = answers[:, max(i - 3, 0)]
        answers[:, i] = random.random(2_000) < 1 / (1 + np.exp(-odds[first, second]))
    frame = pd.DataFrame(answers, columns=[f"q{i}" for i in range(15)])
    with cegdb.open() as db:
        tree = db.ingest(frame, name="wide").event_tree()
        return seconds(lambda: tree.learn_stages(max_parents=3))


def intervals(*, given_staging: bool) -> float:
    """Give the marginals their intervals on a CEG of 9,840 edges."""
    random = np.random.default_rng(1)
    frame = pd.DataFrame({f"q{i}": random.integers(0, 3, 200_000) for i in range(8)})
    with cegdb.open() as db:
        ceg = db.ingest(frame, name="big").event_tree().set_stages({}).to_ceg()
        return seconds(lambda: ceg.marginals(given_staging=given_staging))


BARS: dict[str, tuple[Callable[[], float], float]] = {
    "exact, 12 situations": (lambda: exact(12), 1),
    "exact, 14 situations": (lambda: exact(14), 15),
    "posterior, 12 situations": (lambda: posterior(12), 1),
    "posterior, 14 situations": (lambda: posterior(14), 15),
    "posterior, 1,000 situations": (lambda: posterior(1_000), 30),
    "max_parents=3, 15 variables, 2,000 rows": (few_parents, 5),
    "interval, 10,000 edges": (lambda: intervals(given_staging=False), 1),
    "interval given the staging, 10,000 edges": (lambda: intervals(given_staging=True), 1),
}


def main() -> None:
    """Run each in a process of its own and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=list(BARS), help=argparse.SUPPRESS)
    only = parser.parse_args().only
    if only:
        work, bar = BARS[only]
        took = work()
        print(f"{only:42} {took:8.2f} s  bar {bar:3.0f} s  {took / arithmetic():8.2f}")
        return
    for name in BARS:
        subprocess.run([sys.executable, __file__, "--only", name], check=True)


if __name__ == "__main__":
    main()
