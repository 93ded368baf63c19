"""Time the way from a file to a CEG beside DuckDB's limit, and how it grows.

Run by hand: ``python tests/benchmarks/pipeline.py [--quick] [--output FILE] [FILE ...]``. It
makes its data (seeded by a hash of the row number), interleaves all runs, checks every
result by the invariants of ``cegdb check``, and writes Markdown: ratios to G, DuckDB's own
``create temp table as select columns, count(*) group by all`` over the same file; medians;
the growth with the rows; the fixed cost on small data; and cegpy, where it is installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import logging
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import duckdb
import numpy as np

import cegdb
from cegdb.demo import DEMOS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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
STEPS = ("ingest", "tree", "stages", "ceg")


class Case(NamedTuple):
    """A file to run, and whether it is one of those that differ in their rows only."""

    file: Path
    rows: int
    variables: int
    grows: bool


class Statements(logging.Handler):
    """Counts the SQL statements of the steps, by what is under way."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.n = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.n += str(record.msg).startswith("step")


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


def group_by_all(source: str | Path) -> float:
    """Return the seconds of G: DuckDB's own grouping of the same rows."""
    con = duckdb.connect()
    if isinstance(source, str):
        rows = f"({source})"
    else:
        is_parquet = source.suffix == ".parquet"
        rows = f"read_parquet('{source}')" if is_parquet else f"read_csv('{source}')"
    start = time.perf_counter()
    con.execute(f"create temp table g as select *, count(*) from {rows} group by all")  # noqa: S608
    return time.perf_counter() - start


def timed(
    db: cegdb.Database,
    source: str | Path,
    stage: Callable[[cegdb.EventTree], cegdb.StagedTree],
    counted: Statements | None = None,
    *,
    is_checked: bool,
) -> dict[str, float]:
    """Run all steps; return the seconds of each and of all, and what they made."""
    count = "people" if isinstance(source, str) else None
    marks, statements = [time.perf_counter()], [counted.n if counted else 0]

    def mark() -> None:
        marks.append(time.perf_counter())
        statements.append(counted.n if counted else 0)

    survey = db.ingest(source, name="bench", count=count)
    mark()
    tree = survey.event_tree()
    mark()
    staged = stage(tree)
    mark()
    ceg = staged.to_ceg()
    mark()
    measured = dict(zip(STEPS, np.diff(marks).tolist(), strict=True))
    measured |= {
        f"statements of {step}": float(n)
        for step, n in zip(STEPS, np.diff(statements), strict=True)
    }
    measured |= {"all": marks[-1] - marks[0]}
    steps = db.rows("select seconds from cegdb.merge_steps where step > 0")[1]
    measured["slowest step"] = max(seconds for (seconds,) in steps)
    sizes = "select v.n_vertices, c.n_vertices from cegdb.event_tree as v, cegdb.ceg as c"
    ((measured["vertices"], measured["positions"]),) = db.rows(sizes)[1]
    if is_checked:
        problems = db.check()
        if problems:
            raise SystemExit(f"a fast wrong answer is worthless: {problems[:3]}")
    del ceg
    db.drop("survey", "bench")
    return measured


def run_case(case: Case, counted: Statements, *, is_checked: bool) -> dict[str, float]:
    """Run all steps in a new database file beside the data."""
    file = case.file.with_suffix(".duckdb")
    file.unlink(missing_ok=True)
    found = {"G": group_by_all(case.file)}
    with cegdb.open(file) as db:
        found |= timed(
            db,
            case.file,
            lambda tree: tree.set_stages(LAST_TWO),
            counted,
            is_checked=is_checked,
        )
    print(".", end="", flush=True, file=sys.stderr)
    return found


def whole_process(folder: Path) -> float:
    """Return the seconds of ``cegdb run`` on the CHDS file, from start to exit."""
    file = folder / "chds.csv"
    db = folder / "chds.duckdb"
    if not file.exists():
        duckdb.connect().execute(f"copy ({DEMOS['chds'].select()}) to '{file}'")
    db.unlink(missing_ok=True)
    command = [sys.executable, "-m", "cegdb", "run", str(file), "--db", str(db)]
    start = time.perf_counter()
    subprocess.run([*command, "--count", "people"], check=True, capture_output=True)
    return time.perf_counter() - start


def cegpy_rows(folder: Path, variables: int, rows: int) -> dict[str, float]:
    """Return seconds of cegpy and of ours from a data frame to the same CEG, stages learnt."""
    import cegpy
    import pandas as pd

    file = folder / f"binary_{variables}.parquet"
    make_rows(file, rows, variables, 2)
    frame = duckdb.connect().sql(f"from '{file}'").df()
    assert isinstance(frame, pd.DataFrame)
    logging.getLogger("cegpy").setLevel(logging.ERROR)
    start = time.perf_counter()
    staged = cegpy.StagedTree(frame)
    staged.calculate_AHC_transitions()
    theirs = cegpy.ChainEventGraph(staged)
    seconds = time.perf_counter() - start
    with cegdb.open() as db:
        start = time.perf_counter()
        tree = db.ingest(frame, name="it").event_tree()
        ceg = tree.learn_stages(hyperstages="labels").to_ceg()
        ours = time.perf_counter() - start
        if len(staged.nodes) != len(tree.rows("vertices")[1]):
            raise SystemExit("cegpy has another event tree")
        positions = len(ceg.positions)
    if positions != len(theirs.nodes):
        raise SystemExit(f"cegpy has {len(theirs.nodes)} positions, we {positions}")
    return {"cegpy": seconds, "ours": ours, "positions": positions}


def median(
    runs: Sequence[Mapping[str, float]], of: Callable[[Mapping[str, float]], float]
) -> float:
    """Return the median of a value over the runs of a case."""
    return statistics.median(of(run) for run in runs)


def slope(rows: Sequence[int], seconds: Sequence[float]) -> float:
    """Return the slope of log time against log rows."""
    return float(np.polyfit(np.log(rows), np.log(seconds), 1)[0])


def ratios(results: Mapping[Case, list[dict[str, float]]]) -> list[str]:
    """Return the table of ratios and of the seconds behind them."""
    heads = ("rows x variables", "tree / G", "(ingest + tree) / G", "ceg / tree", "G", *STEPS)
    heads = (*heads, "vertices", "positions")
    lines = [
        f"| {' | '.join(heads)} |",
        "| --- |" + " ---: |" * 10,
    ]
    for case, runs in results.items():
        cells = [
            f"{median(runs, lambda r: r['tree'] / r['G']):.2f}",
            f"{median(runs, lambda r: (r['ingest'] + r['tree']) / r['G']):.2f}",
            f"{median(runs, lambda r: r['ceg'] / r['tree']):.2f}",
            *(f"{median(runs, lambda r, s=s: r[s]):.3g} s" for s in ("G", *STEPS)),
            *(f"{runs[0][what]:,.0f}" for what in ("vertices", "positions")),
        ]
        lines.append(f"| {case.rows:,} x {case.variables} | {' | '.join(cells)} |")
    return lines


def growth(results: Mapping[Case, list[dict[str, float]]]) -> list[str]:
    """Return the table of growth exponents and of statements, over the cases that grow."""
    cases = [case for case in results if case.grows]
    rows = [case.rows for case in cases]
    lines = [
        f"| step | slope of log time, {rows[0]:,} to {rows[-1]:,} rows | SQL statements |",
        "| --- | ---: | ---: |",
    ]
    for step in STEPS:
        seconds = [median(results[case], lambda r, s=step: r[s]) for case in cases]
        n = {int(results[case][0][f"statements of {step}"]) for case in cases}
        few, many = min(n), max(n)
        counts = f"{few}" if few == many else f"{few} to {many}"
        lines.append(f"| {step} | {slope(rows, seconds):.2f} | {counts} |")
    return lines


def floors(db: cegdb.Database, source: str, repeats: int) -> dict[str, float]:
    """Return the least that the database takes, in seconds: to write the tables, and to query.

    The rows of all tables are ready and are only inserted. The query joins a table of 900
    rows with itself, groups, and stores the result, as most steps do.
    """
    db.ingest(source, name="bench", count="people").event_tree().learn_stages().to_ceg()
    tables = (
        "select table_name from duckdb_tables() where schema_name = 'cegdb' "
        "and table_name != 'alembic_version' and estimated_size > 0"
    )
    query = (
        "create or replace temp table answer as "
        "select a.i % 5 as x, b.i % 7 as y, count(*) as n "
        "from temp.question as a inner join temp.question as b on a.i = b.i group by all"
    )
    written, answered = [], []
    with db._store.reading() as con:
        con.execute("create or replace temp table question as from range(900) as t(i)")
        names = [name for (name,) in con.execute(tables).fetchall()]
        for name in names:
            con.execute(f'create temp table "ready_{name}" as from cegdb."{name}"')
    db.drop("survey", "bench")
    with db._store.reading() as con:
        for _ in range(repeats):
            start = time.perf_counter()
            con.execute("begin")
            for name in names:
                verb = "create table" if name.startswith("response_") else "insert into"
                read = "as from" if name.startswith("response_") else "from"
                con.execute(f'{verb} cegdb."{name}" {read} temp."ready_{name}"')
            written.append(time.perf_counter() - start)
            con.execute("rollback")
            start = time.perf_counter()
            con.execute(query)
            answered.append(time.perf_counter() - start)
    return {"write": statistics.median(written), "ask": statistics.median(answered)}


def small(folder: Path, repeats: int) -> list[str]:
    """Return the table of the fixed cost: the CHDS data on an open database."""
    counted, source = Statements(), DEMOS["chds"].select()
    log = logging.getLogger("cegdb")
    log.addHandler(counted)
    with cegdb.open() as db:
        runs = [
            timed(db, source, lambda tree: tree.learn_stages(), counted, is_checked=not i)
            for i in range(4 * repeats + 1)
        ][1:]
        least = floors(db, source, 4 * repeats)
    log.removeHandler(counted)
    process = statistics.median(whole_process(folder) for _ in range(repeats))
    lines = ["| CHDS, 890 people | ms | SQL statements |", "| --- | ---: | ---: |"]
    for step in STEPS:
        n = int(runs[0][f"statements of {step}"])
        lines.append(f"| {step} | {1000 * median(runs, lambda r, s=step: r[s]):.0f} | {n} |")
    n = sum(int(runs[0][f"statements of {step}"]) for step in STEPS)
    slowest = median(runs, lambda r: r["slowest step"])
    return [
        *lines,
        f"| file to CEG, open database | {1000 * median(runs, lambda r: r['all']):.0f} | {n} |",
        f"| slowest step of the recursion | {1000 * slowest:.1f} | |",
        f"| floor: only insert the rows of all tables | {1000 * least['write']:.0f} | |",
        f"| floor: join, group and keep 900 rows | {1000 * least['ask']:.1f} | 1 |",
        f"| `cegdb run chds.csv`, whole process | {1000 * process:.0f} | |",
    ]


def peers(folder: Path, *, is_quick: bool) -> list[str]:
    """Return the table beside cegpy, if it is installed."""
    if importlib.util.find_spec("cegpy") is None:
        return ["cegpy is not installed: `pip install cegpy` adds it to this table."]
    lines = [
        "| 1,000 rows, binary variables | cegpy | cegdb | ratio | positions |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for variables in (4, 5) if is_quick else (4, 5, 6):
        run = cegpy_rows(folder, variables, 1_000)
        lines.append(
            f"| {variables} | {run['cegpy']:.2f} s | {run['ours']:.2f} s "
            f"| {run['cegpy'] / run['ours']:.1f} | {run['positions']:.0f} |"
        )
    return lines


def machine(repeats: int) -> str:
    """Return what was used, in one line."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = f"Python {platform.python_version()}, DuckDB {duckdb.__version__}"
    return (
        f"{platform.machine()}, {os.cpu_count()} cores, {math.ceil(memory)} GB; {versions}, "
        f"cegdb {cegdb.__version__}; medians of {repeats} interleaved runs, in database files"
    )


def main() -> None:
    """Run the benchmark and write its tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="3 runs, up to 100,000 rows")
    parser.add_argument("--output", type=Path, help="write the Markdown to this file too")
    parser.add_argument("--folder", help="where to make the files")
    parser.add_argument("files", nargs="*", type=Path, help="more Parquet or CSV files")
    options = parser.parse_args()
    repeats, most = (3, 5) if options.quick else (5, 7)
    counted = Statements()
    log = logging.getLogger("cegdb")
    log.setLevel(logging.DEBUG)
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        cases = [
            Case(folder / f"e{power}.parquet", 10**power, 12, grows=True)
            for power in range(4, most + 1)
        ]
        if not options.quick:
            cases.append(Case(folder / "short.parquet", 10**6, 10, grows=False))
        for case in cases:
            make_rows(case.file, case.rows, case.variables, levels=4)
        for file in options.files:
            copy = folder / file.name
            copy.write_bytes(file.read_bytes())
            relation = duckdb.connect().sql(f"from '{copy}'")
            cases.append(Case(copy, len(relation), len(relation.columns), grows=False))
        results: dict[Case, list[dict[str, float]]] = {case: [] for case in cases}
        log.addHandler(counted)
        for repeat in range(repeats):
            for case in cases:
                is_last = repeat == repeats - 1
                results[case].append(run_case(case, counted, is_checked=is_last))
        log.removeHandler(counted)
        parts = [
            [machine(repeats)],
            ratios(results),
            growth(results),
            small(folder, repeats),
            peers(folder, is_quick=options.quick),
        ]
    text = "\n\n".join("\n".join(part) for part in parts) + "\n"
    print(f"\n{text}")
    if options.output is not None:
        options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
