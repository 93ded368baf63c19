"""Simulate how many spurious stages are learnt, and whether planted ones are found.

Run by hand: ``python tests/benchmarks/null_bootstrap.py [--sets 300]``. Each data set
has one question with two answers, asked in n situations of equally many rows. First all
situations are alike (30 % "yes"), then two stages are planted (40 % and 30 % in turn).

It prints a Markdown table with one row per number of situations, number of rows, method and
structure prior. For situations that are alike: how often they were split; the mean number of
spurious stages with its standard error; the number that summaries of learning print (mean of
the first data sets, each learnt from a frame) with its error. For planted stages: how often no
learnt stage mixes them; the mean number of extra stages; how often both are found exactly.
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


class Settings(NamedTuple):
    """How stages are learnt."""

    method: Method
    score: ScoreName
    structure_prior: StructurePrior


SETTINGS = (
    Settings("ahc", "log_marginal_likelihood", "flat"),
    Settings("ahc", "log_marginal_likelihood", "size"),
    Settings("bhc", "bic", "flat"),
    Settings("exact", "bic", "flat"),
    Settings("exact", "bic", "size"),
)


def stages(first: NDArray[np.int64], rows: int, settings: Settings) -> NDArray[np.int64]:
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
    return learn(hyperstage, Plan(*settings, n_rows=float(n * rows))).stage


def printed(first: NDArray[np.int64], rows: int, settings: Settings) -> tuple[float, float]:
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
        tree.learn_stages(**settings._asdict())
        (summary,) = db.sql("select summary from cegdb.staging")["summary"].map(json.loads)
    return summary["spurious_stages"], summary["spurious_stages_error"]


def simulate(n: int, rows: int, settings: Settings, n_sets: int) -> str:
    """Return a row of the table."""
    random = np.random.default_rng([n, rows])
    alike = random.binomial(rows, 0.3, size=(n_sets, n))
    share = np.where(np.arange(n) % 2, 0.3, 0.4)
    planted = random.binomial(rows, share, size=(n_sets, n))

    extra = np.array([len(np.unique(stages(each, rows, settings))) - 1 for each in alike])
    expected = np.array([printed(each, rows, settings) for each in alike[:N_PRINTED]])
    error = sqrt((expected[:, 1] ** 2).sum()) / N_PRINTED
    pure, more = [], []
    for each in planted:
        stage = stages(each, rows, settings)
        even, odd = set(stage[::2].tolist()), set(stage[1::2].tolist())
        pure.append(not even & odd)
        more.append(len(even | odd) - 2)
    exact = np.array(pure) & (np.array(more) == 0)
    return (
        f"| {n} | {rows:,} | {settings.method} | {settings.structure_prior} "
        f"| {100 * (extra > 0).mean():.0f} % "
        f"| {extra.mean():.2f} ± {extra.std(ddof=1) / sqrt(n_sets):.2f} "
        f"| {expected[:, 0].mean():.2f} ± {error:.2f} "
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
            for settings in SETTINGS:
                print(simulate(n, rows, settings, n_sets), flush=True)
    print(f"\n{n_sets} data sets of each kind, {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
