"""Time ingests of large files: more rows than memory holds, and thousands of columns.

Run by hand: ``python tests/benchmarks/large.py [--gigabytes 2] [--memory-limit 1GB] ...``.
It makes its data (seeded by a hash of the row number), ingests each file in a process of
its own, and prints a Markdown table: seconds, rows a second, the process's peak memory and
the most that was spilled to disk. The folder needs about 8 times the size of the CSV file.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import duckdb

import cegdb

LEVELS = (2, 3, 4, 5, 6, 30)
WORDS = ("Yes", "No", "Not asked", "Refused", "Often", "Rarely")
BYTES_A_CELL = 5.8


def make(file: Path, rows: int, columns: int) -> None:
    """Write a CSV or Parquet file of random answers, the same each time."""
    cells = []
    for k in range(columns):
        n = LEVELS[k % len(LEVELS)]
        at = f"cast(hash(i * 3001 + {k * 1000003}) % {n} as integer)"
        cells.append(f"{list(WORDS)}[1 + {at}]" if n <= len(WORDS) else f"'town ' || {at}")
    selected = ", ".join(f"{cell} as q{k}" for k, cell in enumerate(cells))
    con = duckdb.connect()
    con.execute("set preserve_insertion_order = false")
    con.execute(f"copy (select {selected} from range({rows}) as t(i)) to '{file}'")  # noqa: S608


def ingest(file: Path, columns: int, memory_limit: str) -> dict[str, float]:
    """Ingest the first columns of a file into a database beside it, and measure it."""
    database = file.with_suffix(".duckdb")
    spilled, done = [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.2):
            sizes = [f.stat().st_size for f in database.parent.glob(f"{database.name}.tmp/*")]
            spilled[0] = max(spilled[0], sum(sizes))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        start = time.perf_counter()
        with cegdb.open(database, memory_limit=memory_limit) as db:
            survey = db.ingest(file, columns=[f"q{k}" for k in range(columns)])
            rows = survey.receipt["rows_read"]
        seconds = time.perf_counter() - start
    finally:
        done.set()
        watcher.join()
    if database.with_name(f"{database.name}.tmp").exists():
        raise SystemExit("spilled files were left behind")
    return {
        "rows": float(str(rows)),
        "seconds": seconds,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9,
        "spilled": spilled[0] / 1e9,
        "database": database.stat().st_size / 1e9,
    }


def apart(file: Path, columns: int, memory_limit: str) -> dict[str, float]:
    """Ingest in a process of its own, whose peak memory is that of the ingest."""
    file.with_suffix(".duckdb").unlink(missing_ok=True)
    command = [sys.executable, __file__, "--one", str(file), str(columns), memory_limit]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    run: dict[str, float] = json.loads(result.stdout)
    return run


def main() -> None:
    """Make the files, ingest them and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=2, help="of the long CSV file")
    parser.add_argument("--columns", type=int, default=60, help="of the long file")
    parser.add_argument("--chosen", type=int, default=50, help="of them")
    parser.add_argument("--memory-limit", default="1GB")
    parser.add_argument("--wide", type=int, nargs=2, default=(3000, 1000), metavar="N",
                        help="columns and rows of the wide file")  # fmt: skip
    parser.add_argument("--folder", help="where to make the files")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        file, columns, memory_limit = options.one
        print(json.dumps(ingest(Path(file), int(columns), memory_limit)))
        return
    rows = int(options.gigabytes * 1e9 / BYTES_A_CELL / options.columns)
    wide, few = options.wide
    print("| file | GB | columns | rows | s | rows/s | memory GB | spilled GB |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, made, chosen, limit in (
        ("long", (rows, options.columns), [options.chosen], options.memory_limit),
        ("wide", (few, wide), [wide, 10], "4GB"),
    ):
        for kind in ("csv", "parquet"):
            with tempfile.TemporaryDirectory(dir=options.folder) as folder:
                file = Path(folder) / f"{name}.{kind}"
                make(file, *made)
                for columns in chosen:
                    run = apart(file, columns, limit)
                    print(
                        f"| {name} {kind} | {file.stat().st_size / 1e9:.2f} "
                        f"| {columns} of {made[1]} | {made[0]:,} | {run['seconds']:.1f} "
                        f"| {run['rows'] / run['seconds']:,.0f} | {run['memory']:.2f} "
                        f"| {run['spilled']:.2f} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
