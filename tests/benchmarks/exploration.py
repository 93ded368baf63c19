"""Time an exploration of 53 variables, and count what it chooses where there is nothing.

python tests/benchmarks/exploration.py
python tests/benchmarks/exploration.py --noise
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd

import cegdb

N_VARIABLES = 53


def speed(n: int) -> None:
    """Print the time of an exploration, and of the counts of its variables by the outcome."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({f"x{i}": rng.integers(0, 2 + i % 5, n) for i in range(N_VARIABLES)})
    share = 0.2 + 0.1 * (frame.x1 == 1) + 0.1 * (frame.x3 == 2) + 0.05 * (frame.x7 == 1)
    frame["y"] = (rng.random(n) < share).astype(int)
    with cegdb.open() as db:
        survey = db.ingest(frame, name="wide")
        runs = []
        for _ in range(3):
            started = time.perf_counter()
            found = survey.explore("y")
            runs.append(time.perf_counter() - started)
        connection = survey._store.own_connection()
        plain = []
        for _ in range(3):
            started = time.perf_counter()
            for i in range(N_VARIABLES):
                connection.execute(
                    f"select v{i + 1}, v{N_VARIABLES + 1}, sum(n) "  # noqa: S608
                    f"from cegdb.response_{survey.id} group by all"
                ).fetchall()
            plain.append(time.perf_counter() - started)
    seconds, counting = np.median(runs), np.median(plain)
    print(
        f"{n:,} rows, {N_VARIABLES} variables, {len(found.order) - 1} chosen: {seconds:.2f} s; "
        f"plain counts {counting:.2f} s, ratio {seconds / counting:.1f}"
    )


def noise(n: int, share: float, n_outcomes: int) -> None:
    """Print how often a variable is chosen for outcomes that have to do with none."""
    rng = np.random.default_rng([n, int(1000 * share)])
    columns: dict[str, object] = {}
    for i in range(N_VARIABLES):
        n_labels = 2 + i % 5
        shares = rng.dirichlet(np.ones(n_labels)) if i % 2 else np.ones(n_labels) / n_labels
        columns[f"x{i}"] = rng.choice(n_labels, n, p=shares)
    outcomes = [f"y{i}" for i in range(n_outcomes)]
    columns |= {name: (rng.random(n) < share).astype(int) for name in outcomes}
    chosen = []
    with cegdb.open() as db:
        survey = db.ingest(pd.DataFrame(columns), name="noise")
        for name in outcomes:
            others = [other for other in outcomes if other != name]
            chosen.append(len(survey.explore(name, exclude=others).order) - 1)
    print(
        f"{n:,} rows, share {share}: a variable was chosen for {np.count_nonzero(chosen)} of "
        f"{n_outcomes} outcomes",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--noise", action="store_true")
    if parser.parse_args().noise:
        for size in (100, 500, 2_000):
            for rate in (0.5, 0.1):
                noise(size, rate, 250)
    else:
        for size in (10_000, 100_000, 1_000_000):
            speed(size)
