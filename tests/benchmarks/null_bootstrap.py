"""Simulate how many spurious stages are learnt, and whether planted ones are found.

Run by hand: ``python tests/benchmarks/null_bootstrap.py [--sets 300]``. Data sets are of one
question of two answers below n situations of the same number of rows: alike (30 % throughout),
then planted (40 % and 30 % in turn). It prints a Markdown table, a row a number of situations,
of rows, a method and a structure prior: how often situations alike were split; the spurious
stages seen and their standard error; the number that learning prints (mean of the summaries of
the first data sets, whole way from a frame on) and its error; how often each stage learnt from
planted data is of one share; the extra stages then; how often both are found exactly.
"""

from __future__ import annotations

import argparse
import json
import time
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

import cegdb
from cegdb.clustering import Hyperstage, Plan, learn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cegdb.options import Method, ScoreName, StructurePrior

SITUATIONS = (5, 20, 60)
ROWS = (150, 1500)
N_PRINTED = 4


class Way(NamedTuple):
    """A way to learn."""

    method: Method
    score: ScoreName
    structure_prior: StructurePrior


WAYS = (
    Way("ahc", "log_marginal_likelihood", "flat"),
    Way("ahc", "log_marginal_likelihood", "size"),
    Way("bhc", "bic", "flat"),
    Way("exact", "bic", "flat"),
    Way("exact", "bic", "size"),
)


def stages(first: NDArray[np.int64], rows: int, way: Way) -> NDArray[np.int64]:
    """Learn the stages of one data set; ``first`` are the rows with the first answer."""
    n = len(first)
    ids = np.arange(n)
    hyperstage = Hyperstage(
        ids=ids,
        counts=np.column_stack((first, rows - first)),
        bases=np.full((1, 2), 0.5),
        multiplicities=np.ones((n, 1), dtype=np.int64),
        start=ids,
        answers=ids[:, None],
    )
    return learn(hyperstage, Plan(*way, n_rows=float(n * rows))).stage


def printed(first: NDArray[np.int64], rows: int, way: Way) -> tuple[float, float]:
    """Return the number of spurious stages that learning from a frame prints, and its error."""
    n = len(first)
    frame = pd.DataFrame(
        {
            "X": np.repeat([f"x{i:03d}" for i in range(n)], 2),
            "Y": np.tile(["a", "b"], n),
            "people": np.column_stack((first, rows - first)).ravel(),
        }
    )
    with cegdb.open() as db:
        tree = db.ingest(frame, count="people", name="alike").event_tree()
        tree.learn_stages(**way._asdict())
        (told,) = db.sql("select summary from cegdb.staging")["summary"].map(json.loads)
    return told["false_stages"], told["false_stages_error"]


def simulate(n: int, rows: int, way: Way, n_sets: int) -> str:
    """Return a row of the table."""
    random = np.random.default_rng([n, rows])
    alike = random.binomial(rows, 0.3, size=(n_sets, n))
    share = np.where(np.arange(n) % 2, 0.3, 0.4)
    planted = random.binomial(rows, share, size=(n_sets, n))

    extra = np.array([len(np.unique(stages(each, rows, way))) - 1 for each in alike])
    told = np.array([printed(each, rows, way) for each in alike[:N_PRINTED]])
    error = sqrt((told[:, 1] ** 2).sum()) / N_PRINTED
    pure, more = [], []
    for each in planted:
        stage = stages(each, rows, way)
        even, odd = set(stage[::2].tolist()), set(stage[1::2].tolist())
        pure.append(not even & odd)
        more.append(len(even | odd) - 2)
    exact = np.array(pure) & (np.array(more) == 0)
    return (
        f"| {n} | {rows:,} | {way.method} | {way.structure_prior} "
        f"| {100 * (extra > 0).mean():.0f} % "
        f"| {extra.mean():.2f} +- {extra.std(ddof=1) / sqrt(n_sets):.2f} "
        f"| {told[:, 0].mean():.2f} +- {error:.2f} "
        f"| {100 * np.mean(pure):.0f} % | {np.mean(more):+.2f} | {100 * exact.mean():.0f} % |"
    )


def main() -> None:
    """Run the simulation and print its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=300, help="data sets of each kind")
    n_sets = parser.parse_args().sets
    start = time.perf_counter()
    print(
        "| situations | rows each | method | structure prior | split | extra stages seen ",
        end="",
    )
    print("| printed | planted: pure | extra | both found |")
    print(f"| ---: | ---: | --- | --- |{' ---: |' * 6}")
    for n in SITUATIONS:
        for rows in ROWS:
            for way in WAYS:
                print(simulate(n, rows, way, n_sets), flush=True)
    print(f"\n{n_sets} data sets of each kind, {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
