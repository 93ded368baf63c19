"""Time rows that a CEG answers: ``python tests/benchmarks/assign.py``.

1,000,000 rows of the falls data, drawn again with a fifth of the answers blanked, are
assigned and completed, from a Parquet file to Parquet files; then 200,000 distinct partly
filled rows of 12 four-level variables. Prints seconds and processor seconds, and what the
CEG is.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

import cegdb

sys.path.append(str(Path(__file__).resolve().parents[1]))
from datasets import survey_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from cegdb.api import ChainEventGraph

N_ROWS = 1_000_000
N_DISTINCT = 200_000
SEED = 1


def timed(what: str, work: Callable[[], object]) -> None:
    """Do some work and print how long it took, and its result."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    started = time.perf_counter()
    result = work()
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_SELF)
    spent = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    first = str(result).split("\n", 1)[0]
    print(f"{what}: {seconds:.2f} s, {spent:.2f} s of processors; {first}")


def answered(ceg: ChainEventGraph, source: Path, folder: Path) -> None:
    """Assign and complete the rows of a file, to files."""
    print(ceg)
    timed(
        "assigned", lambda: ceg.assign(source, file=folder / "assigned.parquet", replace=True)
    )
    timed(
        "completed",
        lambda: ceg.complete(source, file=folder / "complete.parquet", replace=True),
    )
    timed("scored", lambda: ceg.score(source))


def falls(folder: Path) -> None:
    """Draw the falls data again, blank some answers, and answer the rows."""
    file = survey_file("falls_cegpy")
    rng = np.random.default_rng(SEED)
    frame = pd.read_csv(file, dtype=str)
    drawn = frame.iloc[rng.integers(0, len(frame), N_ROWS)].reset_index(drop=True)
    for name in ("HousingAssessment", "Risk", "Fall"):
        drawn[name] = drawn[name].mask(rng.random(N_ROWS) < 0.2)
    source = folder / "falls.parquet"
    drawn.to_parquet(source)
    with cegdb.open() as db:
        answered(db.ingest(file).event_tree().learn_stages(alpha=4).to_ceg(), source, folder)


def many(folder: Path) -> None:
    """Draw rows of which nearly all are distinct, and answer them."""
    rng = np.random.default_rng(SEED)
    codes = np.zeros((N_DISTINCT + 20_000, 12), int)
    for k in range(12):
        stage = codes[:, max(0, k - 3) : k].sum(axis=1) % 4
        cumulative = rng.dirichlet(np.ones(4), 4)[stage].cumsum(axis=1)
        codes[:, k] = (rng.random(len(codes))[:, None] > cumulative).sum(axis=1).clip(0, 3)
    frame = pd.DataFrame(codes, columns=[f"X{i}" for i in range(1, 13)])
    learnt = frame.iloc[:20_000]
    partly = frame.astype("Int64").mask(rng.random(frame.shape) < 0.25)
    source = folder / "many.parquet"
    partly.drop_duplicates().head(N_DISTINCT).to_parquet(source)
    with cegdb.open() as db:
        answered(db.ingest(learnt, "many").event_tree().learn_stages().to_ceg(), source, folder)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        falls(Path(name))
        many(Path(name))
