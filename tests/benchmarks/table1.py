"""Make table 1 of Shenvi & Smith (2020) again: sizes of CEGs, and both stopping rules.

Run by hand: ``python tests/benchmarks/table1.py``. It reads each file with the paper's
settings (an empty cell is structurally not applicable; a hyperstage is a label set and a
shortest distance to a leaf; the prior's mass is the largest number of levels of a variable),
builds the CEG with single-edge situations apart and together, and prints two Markdown
tables: the sizes beside the published and the expected ones, and the times of both stopping
rules. It ends with 1 if a size is not the expected one.
"""

from __future__ import annotations

import platform
import statistics
import sys
import time
from pathlib import Path
from typing import NamedTuple

import duckdb

import cegdb

sys.path.append(str(Path(__file__).resolve().parents[1]))
from datasets import survey_file

RUNS = 5
RULES = ("apart", "together")


class Row(NamedTuple):
    """A row of the table: what was published, and what exact arithmetic gives.

    The last two are those of ``tests/data/README.md``, "Table 1 of the paper", which were
    computed by another program.
    """

    n_situations: int
    height: int
    published: int
    apart: int
    together: int


TABLE = {
    "iris": Row(52, 5, 42, 51, 25),
    "hayes_roth": Row(124, 5, 58, 117, 49),
    "balance_scale": Row(327, 5, 90, 178, 70),
    "glass": Row(636, 10, 308, 615, 216),
    "chds": Row(19, 4, 10, 10, 10),
    "falls": Row(39, 6, 27, 27, 20),
}

WHY = """\
|V| counts the sink. Sizes beside a slash: single-edge situations apart / together.

Why four published |V| differ (iris, hayes_roth, balance_scale, glass): a situation with one
outgoing edge has the likelihood 1 whatever its stage, so that its Bayes factor with any
other such situation is exactly 1, its logarithm exactly 0. Computed from log gamma functions
the logarithm comes out as about +-1e-13, and the published code merges while it is above 0:
which of those situations share a stage is decided by rounding. The published |V| lies between
never merging them ("apart") and one stage a hyperstage ("together"), and no property of the
data gives it. chds has no single-edge situation; in falls the published |V| is that of never
merging them.

The dynamic falls study (346 situations, published |V| 242) is left out: no public file gives
346 situations."""


class Found(NamedTuple):
    """What one data set gave."""

    row: Row
    n_single: int
    steps: dict[str, tuple[int, int]]
    seconds: dict[str, dict[str, float]]


def measure(db: cegdb.Database, file: Path, published: int) -> Found:
    """Build the CEGs of one file, each stopping rule several times in turn."""
    tree = db.ingest(file).event_tree(blank="structural")
    sizes, steps, seconds = {}, {}, {}
    for rule in RULES:
        staged = tree.learn_stages(hyperstages="paper", single_edges=rule)
        times: dict[str, list[float]] = {"early": [], "baseline": []}
        found: dict[str, tuple[int, int]] = {}
        for run in range(RUNS + 1):
            for stop in times:
                start = time.perf_counter()
                ceg = staged.to_ceg("timed", stop=stop, replace=True)
                if run:  # the first one warms caches
                    times[stop].append(time.perf_counter() - start)
                found[stop] = len(ceg.positions), len(ceg.steps) - 1
        if found["early"][0] != found["baseline"][0]:
            raise SystemExit(f"{file.name}: stopping early changed the CEG: {found}")
        sizes[rule] = found["early"][0]
        steps[rule] = found["early"][1], found["baseline"][1]
        seconds[rule] = {stop: statistics.median(each) for stop, each in times.items()}
    florets, situations = tree.florets, tree.situations
    row = Row(len(florets), int(situations["height"].max()), published, **sizes)
    return Found(row, int((florets["n_edges"] == 1).sum()), steps, seconds)


def main() -> None:
    """Print the tables."""
    found = {}
    for name, expected in TABLE.items():
        with cegdb.open() as db:
            found[name] = measure(db, survey_file(name), expected.published)

    print("| data | S | single-edge | height | published V | V apart / together | expected |")
    print(f"| --- |{' ---: |' * 6}")
    for name, (row, n_single, _, _) in found.items():
        expected = TABLE[name]
        wrong = "" if row == expected else " **differs**"
        print(f"| {name} | {row.n_situations} | {n_single} | {row.height} ", end="")
        print(f"| {row.published} | {row.apart} / {row.together} ", end="")
        print(f"| {expected.apart} / {expected.together}{wrong} |")
    print(f"\n{WHY}\n")
    print(f"{platform.machine()}, Python {platform.python_version()}, ", end="")
    print(f"DuckDB {duckdb.__version__}, cegdb {cegdb.__version__}; ", end="")
    print(f"medians of {RUNS} interleaved runs of to_ceg, all tables written, in ms\n")
    print("| data | single edges | steps early / baseline | early | baseline | ratio |")
    print(f"| --- | --- |{' ---: |' * 4}")
    for name, (_, _, steps, seconds) in found.items():
        for rule in RULES:
            early, baseline = (1000 * seconds[rule][stop] for stop in ("early", "baseline"))
            print(f"| {name} | {rule} | {steps[rule][0]} / {steps[rule][1]} ", end="")
            print(f"| {early:.1f} | {baseline:.1f} | {early / baseline:.2f} |")
    if any(row != TABLE[name] for name, (row, *_) in found.items()):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
