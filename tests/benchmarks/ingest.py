"""Time the ingest of a CSV and a Parquet file against DuckDB's own grouping of the same file.

Run by hand: ``python tests/benchmarks/ingest.py [--rows 10000000] [--runs 3]``. It makes its
data (seeded by a hash of the row number), interleaves the runs, checks that no row is lost,
and prints a Markdown table: median seconds, rows a second, and the ratio to G, DuckDB's
``create temp table as select columns, count(*) group by all``.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import tempfile
import time
from pathlib import Path

import duckdb

import cegdb


def make(folder: Path, rows: int, columns: int, levels: int) -> list[Path]:
    """Write the same random answers as Parquet and as CSV."""
    cells = ", ".join(
        f"chr(97 + cast(hash(i * 13 + {k}) % {levels} as integer)) as q{k}"
        for k in range(1, columns + 1)
    )
    files = [folder / "rows.parquet", folder / "rows.csv"]
    con = duckdb.connect()
    con.execute(f"copy (select {cells} from range({rows}) as t(i)) to '{files[0]}'")  # noqa: S608
    con.execute(f"copy (from '{files[0]}') to '{files[1]}' (header true)")
    return files


def grouped(file: Path) -> float:
    """Return the seconds that DuckDB needs to group the rows of a file."""
    source = f"read_csv('{file}', all_varchar=true)" if file.suffix == ".csv" else f"'{file}'"
    with duckdb.connect() as con:
        start = time.perf_counter()
        con.execute(
            f"create temp table g as select *, count(*) from {source} group by all"  # noqa: S608
        )
        return time.perf_counter() - start


def ingested(file: Path, rows: int) -> float:
    """Return the seconds that an ingest of a file needs, in memory."""
    with cegdb.open() as db:
        start = time.perf_counter()
        survey = db.ingest(file)
        seconds = time.perf_counter() - start
        if survey.receipt["respondents"] != rows:
            raise SystemExit(
                f"{file}: {survey.receipt['respondents']} respondents, {rows} rows"
            )
    return seconds


def main() -> None:
    """Make the files, time both, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--columns", type=int, default=12)
    parser.add_argument("--levels", type=int, default=4)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    print(f"cegdb {cegdb.__version__}, DuckDB {duckdb.__version__}, {platform.platform()}; ")
    print(f"{options.rows:,} rows x {options.columns} x {options.levels} levels\n")
    print("| file | ingest s | rows/s | G s | ratio |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        files = make(Path(folder), options.rows, options.columns, options.levels)
        times: dict[Path, list[tuple[float, float]]] = {file: [] for file in files}
        for _ in range(options.runs):
            for file in files:
                times[file].append((grouped(file), ingested(file, options.rows)))
        for file, runs in times.items():
            g = statistics.median(run[0] for run in runs)
            own = statistics.median(run[1] for run in runs)
            ratio = statistics.median(run[1] / run[0] for run in runs)
            print(
                f"| {file.suffix[1:]} | {own:.2f} | {options.rows / own:,.0f} | {g:.2f} "
                f"| {ratio:.2f} |"
            )


if __name__ == "__main__":
    main()
