"""Time the way from a file to a CEG on an open database, and compare with DuckDB's limit.

Run by hand: ``python tests/benchmarks/pipeline.py [--quick] [FILE ...]``. It makes its data
(seeded by a hash of the row number), interleaves all runs, checks the numbers it knows and
prints a Markdown table: medians in milliseconds, and ratios to G, DuckDB's own
``create table as select columns, count(*) group by all`` over the same file.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

import cegdb
from cegdb.demo import DEMOS

if TYPE_CHECKING:
    from collections.abc import Callable

LAST_TWO = """
    with floret as (
        select parent_id, list_sort(list(label_id)) as labels
        from cegdb.edge inner join cegdb.level using (level_id)
        group by parent_id
    )
    select e.child_id as vertex_id,
        concat_ws(' ', before.level_id, e.level_id, f.labels) as stage
    from cegdb.edge as e
    inner join floret as f on e.child_id = f.parent_id
    left join cegdb.edge as before on before.child_id = e.parent_id
"""


def make_rows(file: Path, rows: int, variables: int, levels: int) -> None:
    """Write a Parquet file of random answers, the same each time."""
    columns = ", ".join(
        f"'abcdefgh'[1 + cast(hash(i * 31 + {k} * 1000003) % {levels} as integer)] as q{k}"
        for k in range(variables)
    )
    duckdb.connect().execute(
        f"copy (select {columns} from range({rows}) as t(i)) "  # noqa: S608
        f"to '{file}' (format parquet)"
    )


def learnt(source: str | Path) -> Callable[[cegdb.Database], dict[str, float]]:
    """Return a run that learns the stages."""

    def run(db: cegdb.Database) -> dict[str, float]:
        return timed(db, source, lambda tree: tree.learn_stages())

    return run


def last_two(source: Path) -> Callable[[cegdb.Database], dict[str, float]]:
    """Return a run whose stages are given by the last two answers and the label set."""

    def run(db: cegdb.Database) -> dict[str, float]:
        return timed(db, source, lambda tree: tree.set_stages(LAST_TWO))

    return run


def timed(
    db: cegdb.Database,
    source: str | Path,
    stage: Callable[[cegdb.EventTree], cegdb.StagedTree],
) -> dict[str, float]:
    """Run all steps; return milliseconds a step and in all."""
    count = "people" if isinstance(source, str) else None
    times, start = {}, time.perf_counter()
    survey = db.ingest(source, name="bench", count=count)
    times["ingest"] = time.perf_counter() - start
    tree = survey.event_tree()
    times["tree"] = time.perf_counter() - start - sum(times.values())
    staged = stage(tree)
    times["stages"] = time.perf_counter() - start - sum(times.values())
    ceg = staged.to_ceg()
    times["ceg"] = time.perf_counter() - start - sum(times.values())
    times["all"] = time.perf_counter() - start
    problems = db.check()
    if problems:
        raise SystemExit(f"a fast wrong answer is worthless: {problems[:3]}")
    print(".", end="", flush=True)
    del ceg
    db.drop("survey", "bench")
    return {step: 1000 * seconds for step, seconds in times.items()}


def group_by_all(source: str | Path) -> float:
    """Return milliseconds of G: DuckDB's own grouping of the same rows."""
    con = duckdb.connect()
    if isinstance(source, str):
        rows = f"({source})"
    else:
        is_parquet = source.suffix == ".parquet"
        rows = f"read_parquet('{source}')" if is_parquet else f"read_csv('{source}')"
    start = time.perf_counter()
    con.execute(f"create temp table g as select *, count(*) from {rows} group by all")  # noqa: S608
    return 1000 * (time.perf_counter() - start)


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="3 runs, 100,000 rows")
    parser.add_argument("files", nargs="*", type=Path, help="more CSV or Parquet files")
    options = parser.parse_args()
    repeats, rows = (3, 100_000) if options.quick else (5, 1_000_000)
    with tempfile.TemporaryDirectory() as folder, cegdb.open() as db:
        big = Path(folder) / "answers.parquet"
        make_rows(big, rows, variables=10, levels=4)
        cases: dict[str, tuple[str | Path, Callable[[cegdb.Database], dict[str, float]]]] = {
            "CHDS, 890 people": (DEMOS["chds"].select(), learnt(DEMOS["chds"].select())),
            f"{rows:,} rows x 10 x 4 levels": (big, last_two(big)),
        }
        for file in options.files:
            cases[file.name] = (file, learnt(file))
        for _, run in cases.values():
            run(db)  # warm imports and caches
        results: dict[str, list[dict[str, float]]] = {name: [] for name in cases}
        for _ in range(repeats):
            for name, (source, run) in cases.items():
                results[name].append(run(db) | {"G": group_by_all(source)})
    print(f"\n\n{platform.machine()}, Python {platform.python_version()}, ", end="")
    print(f"DuckDB {duckdb.__version__}, cegdb {cegdb.__version__}; ", end="")
    print(f"medians of {repeats} runs, in ms\n")
    steps = ["ingest", "tree", "stages", "ceg", "all", "G"]
    print(f"| input | {' | '.join(steps)} | all / G |")
    print(f"| --- |{' ---: |' * (len(steps) + 1)}")
    for name, runs in results.items():
        medians = {step: statistics.median(run[step] for run in runs) for step in steps}
        ratio = statistics.median(run["all"] / run["G"] for run in runs)
        cells = " | ".join(f"{medians[step]:,.0f}" for step in steps)
        print(f"| {name} | {cells} | {ratio:.1f} |")


if __name__ == "__main__":
    main()
