"""Time exact greedy clustering against a plain run that scores every pair every round.

Run by hand: ``python tests/benchmarks/clustering.py [--quick]``. Each run is in a process of
its own. It makes seeded hyperstages (Poisson(5) counts of two labels; distinct counts of
three), stops the plain run where it would take more than ``--limit`` seconds, checks that both
find the same stages, and prints Markdown tables: CPU seconds, their ratio, what the run adds
to the process's peak memory, and the growth exponents (slopes of log seconds on log
situations). The last table is of `learn_stages` on a tree with such a hyperstage, null
bootstrap included.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
import time
from typing import TYPE_CHECKING, TypedDict, cast

import numpy as np

import cegdb
from cegdb.clustering import agglomerate, log_marginal_likelihood

if TYPE_CHECKING:
    from numpy.typing import NDArray

BINARY = (50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
TERNARY = (50, 100, 200, 500, 1_000, 2_000, 5_000)
KINDS = {"binary": "two labels, Poisson(5)", "ternary": "three labels, distinct"}
TARGETS = {("binary", 100_000): 30.0, ("ternary", 5_000): 60.0}
QUICK = 1_000
WARM = 50


class Run(TypedDict):
    """What one process measured."""

    seconds: float
    megabytes: float
    stages: int
    checksum: int


def make(kind: str, n: int) -> NDArray[np.int64]:
    """Return the counts of n situations, the same each time."""
    random = np.random.default_rng(n)
    if kind == "binary":
        return random.poisson(5, (n, 2))
    drawn = random.poisson(60, (2 * n + 100, 3))
    _, first = np.unique(drawn, axis=0, return_index=True)
    our_run: NDArray[np.int64] = drawn[np.sort(first)[:n]]
    return our_run


def plain(counts: NDArray[np.int64], prior: NDArray[np.float64]) -> NDArray[np.int64]:
    """Merge the best pair while it gains, all pairs scored anew each round."""
    stage = np.arange(len(counts))
    alive = stage.copy()
    counts, prior = counts.copy(), prior.copy()
    while len(alive) > 1:
        score = log_marginal_likelihood(counts, prior)
        one, other = np.triu_indices(len(alive), 1)
        merged = log_marginal_likelihood(counts[one] + counts[other], prior[one] + prior[other])
        gains = merged - score[one] - score[other]
        top = gains.max()
        if top <= 1e-9:
            break
        pair = int(np.argmax(gains >= top - 1e-9 * max(1.0, top)))
        kept, absorbed = one[pair], other[pair]
        counts[kept] += counts[absorbed]
        prior[kept] += prior[absorbed]
        stage[stage == alive[absorbed]] = alive[kept]
        counts = np.delete(counts, absorbed, axis=0)
        prior = np.delete(prior, absorbed, axis=0)
        alive = np.delete(alive, absorbed)
    return stage


def ours(counts: NDArray[np.int64], prior: NDArray[np.float64]) -> NDArray[np.int64]:
    """Cluster as the product does."""
    n = len(counts)
    ids = np.arange(n)
    stage = ids.copy()
    for merge in reversed(agglomerate(counts, prior[:1], np.ones((n, 1), dtype=int), ids)):
        stage[merge.absorbed_id] = stage[merge.kept_id]
    return stage


def peak() -> float:
    """Return the peak memory of this process so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def measure(kind: str, n: int, what: str) -> Run:
    """Run once, warm."""
    counts = make(kind, n)
    prior = np.full(counts.shape, 1 / counts.shape[1])
    if what == "tree":
        return measure_tree(counts)
    run = plain if what == "plain" else ours
    run(make(kind, WARM), prior[:1].repeat(WARM, axis=0))
    before, start = peak(), time.process_time()
    stage = run(counts, prior)
    seconds = time.process_time() - start
    checksum = int((stage * (np.arange(n) + 1) % 1_000_003).sum())
    return Run(
        seconds=seconds,
        megabytes=peak() - before,
        stages=len(np.unique(stage)),
        checksum=checksum,
    )


def measure_tree(counts: NDArray[np.int64]) -> Run:
    """Time `learn_stages` on the tree of a first question of n answers."""
    import pandas as pd

    n, k = counts.shape
    frame = pd.DataFrame(
        {
            "X": np.repeat([f"x{i:06d}" for i in range(n)], k),
            "Y": np.tile(list("abc"[:k]), n),
            "people": counts.ravel(),
        }
    )
    frame = frame[frame["people"] > 0]
    with cegdb.open() as db:
        survey = db.ingest(frame, count="people", name="bench")
        tree = survey.event_tree(sampling_zeros="floret")
        before, start = peak(), time.perf_counter()
        learnt = tree.learn_stages()
        seconds = time.perf_counter() - start
        return Run(
            seconds=seconds,
            megabytes=peak() - before,
            stages=len(learnt.stages) - 1,
            checksum=0,
        )


def apart(kind: str, n: int, what: str, limit: float | None = None) -> Run | None:
    """Measure in a process of its own, whose peak memory is that of the run."""
    command = [sys.executable, __file__, "--one", kind, str(n), what]
    try:
        result = subprocess.run(
            command, check=True, capture_output=True, text=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return None
    return cast("Run", json.loads(result.stdout))


def exponent(seconds: dict[int, float], least: int) -> float:
    """Return the slope of log seconds on log situations, from a size on."""
    sizes = [n for n in seconds if n >= least]
    slope, _ = np.polyfit(np.log(sizes), np.log([seconds[n] for n in sizes]), 1)
    return float(slope)


def compare(kind: str, sizes: list[int], limit: float) -> None:
    """Print the table of one kind of hyperstage."""
    print(f"\n{KINDS[kind]}\n")
    print("| situations | stages | plain, CPU s | cegdb, CPU s | ratio | plain MB | cegdb MB |")
    print(f"|{' ---: |' * 7}")
    plain_seconds: dict[int, float] = {}
    our_seconds: dict[int, float] = {}
    in_time = True
    for n in sizes:
        our_run = apart(kind, n, "cegdb")
        plain_run = apart(kind, n, "plain", limit) if in_time else None
        in_time = plain_run is not None
        assert our_run is not None
        our_seconds[n] = our_run["seconds"]
        row = f"| {n:,} | {our_run['stages']:,} "
        if plain_run is None:
            row += f"| | {our_run['seconds']:.3g} | | | {our_run['megabytes']:.0f} |"
        else:
            if plain_run["checksum"] != our_run["checksum"]:
                raise SystemExit(f"{kind}, {n} situations: the stages differ")
            plain_seconds[n] = plain_run["seconds"]
            row += f"| {plain_run['seconds']:.3g} | {our_run['seconds']:.3g} "
            row += f"| {plain_run['seconds'] / our_run['seconds']:,.0f} "
            row += f"| {plain_run['megabytes']:.0f} | {our_run['megabytes']:.0f} |"
        print(row, flush=True)
    print(
        f"\ngrowth exponent: plain {exponent(plain_seconds, 100):.2f} (from 100 on), ", end=""
    )
    print(f"cegdb {exponent(our_seconds, 500):.2f} (from 500 on)", flush=True)


def main() -> None:
    """Run the benchmark and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"up to {QUICK:,} situations")
    parser.add_argument("--limit", type=float, default=60, help="seconds for the plain run")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        kind, n, what = options.one
        print(json.dumps(measure(kind, int(n), what)))
        return
    most = QUICK if options.quick else BINARY[-1]
    print(f"{platform.machine()}, Python {platform.python_version()}, ", end="")
    print(f"numpy {np.__version__}, cegdb {cegdb.__version__}")
    for kind, sizes in (("binary", BINARY), ("ternary", TERNARY)):
        compare(kind, [n for n in sizes if n <= most], options.limit)
    print("\nlearn_stages on a tree, null bootstrap included\n")
    print("| floret | situations | stages | s | target s | MB |")
    print(f"| --- |{' ---: |' * 5}")
    for (kind, n), target in TARGETS.items():
        size = min(n, most)
        our_run = apart(kind, size, "tree")
        assert our_run is not None
        print(
            f"| {KINDS[kind]} | {size:,} | {our_run['stages']:,} | {our_run['seconds']:.1f} ",
            end="",
        )
        print(f"| {target:.0f} | {our_run['megabytes']:.0f} |", flush=True)


if __name__ == "__main__":
    main()
