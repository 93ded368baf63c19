"""Time every operation on a small model alone, beside a big one, and beside many.

Run by hand: ``python tests/benchmarks/many.py [--quick]``. Three database files hold the
same small survey, tree, staging and CEG (CHDS, 890 people): one nothing else, one a tree of
about a million vertices with its staging and CEG, one 200 other models. It interleaves the
runs on all three and prints a Markdown table: medians in milliseconds, and ratios to the
small model alone. A second table shows whether the space of dropped models is used again.
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
from click.testing import CliRunner
from pipeline import LAST_TWO, make_rows

import cegdb
from cegdb.cli import main as cli
from cegdb.demo import DEMOS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Operations = dict[str, Callable[[], object]]

CHDS = DEMOS["chds"].select()
ONE_MORE = (
    "select 'High' as Social, 'High' as Economic, 'Low' as Events, 'No' as Admission, "
    "1 as people"
)
VIEWS = {
    "survey": ("surveys", "variables", "labels"),
    "tree": ("vertices", "tree_edges", "situations", "florets"),
    "staging": (
        "stagings",
        "stages",
        "stage_edges",
        "stage_table",
        "staged_vertices",
        "staged_situations",
        "staged_edges",
        "staged_florets",
        "merges",
        "drift",
        "stage_bootstraps",
        "stage_pairs",
        "stage_stability",
        "bootstrap_intervals",
    ),
    "ceg": ("positions", "ceg_edges", "situation_positions", "merge_steps"),
}


def make_model(db: cegdb.Database, name: str) -> None:
    """Make a small survey, tree, staging and CEG."""
    survey = db.ingest(CHDS, name=name, count="people")
    survey.event_tree().learn_stages().to_ceg()


def make_models(db: cegdb.Database, models: int) -> None:
    """Make many small models."""
    for i in range(models):
        make_model(db, f"model {i}")


def make_big(db: cegdb.Database, source: Path) -> None:
    """Make a survey, tree, staging and CEG of many vertices, instead of a former one."""
    tree = db.ingest(source, name="big", replace=True).event_tree()
    edge = f"(select * from cegdb.edge where tree_id = {tree.id})"  # noqa: S608
    tree.set_stages(LAST_TWO.replace("cegdb.edge", edge)).to_ceg()


def make_file(file: Path, beside: Callable[[cegdb.Database], None]) -> None:
    """Make a database of the small model, beside others."""
    with cegdb.open(file) as db:
        beside(db)
        make_model(db, "small")
        db.stagings["small"].stability(runs=3)
        db.stagings["small"].intervals("bootstrap", runs=3)


def writing(db: cegdb.Database) -> Operations:
    """Return the operations that write, to be run in this order."""

    def staged() -> cegdb.StagedTree:
        return db.stagings["new"]

    return {
        "ingest": lambda: db.ingest(CHDS, name="new", count="people"),
        "event_tree": lambda: db.surveys["new"].event_tree(),  # noqa: PLW0108
        "learn_stages": lambda: db.trees["new"].learn_stages(),  # noqa: PLW0108
        "to_ceg": lambda: staged().to_ceg(),
        "stability, 3 runs": lambda: staged().stability(runs=3),
        "learn_stages, replace": lambda: db.trees["new"].learn_stages(name="new", replace=True),
        "rename a stage": lambda: staged().rename({"u1": "one"}),
        "append a row": lambda: db.surveys["new"].append(ONE_MORE),
        "rebuild": lambda: db.rebuild("new"),
        "drop tree, staging": lambda: db.drop("tree", "new"),
        "drop survey": lambda: db.drop("survey", "new"),
    }


def reading(db: cegdb.Database, folder: Path) -> Operations:
    """Return the operations that read."""
    tree, staged, ceg = db.trees["small"], db.stagings["small"], db.cegs["small"]
    operations: Operations = {
        "db.cegs['small']": lambda: db.cegs["small"],
        "db.cegs.names()": db.cegs.names,
        "db.cegs.summaries()": db.cegs.summaries,
        "repr(db)": lambda: repr(db),
        "ceg.summary": lambda: ceg.summary,
        "tree.situations": lambda: tree.situations,
        "tree.florets": lambda: tree.florets,
        "staged.stages": lambda: staged.stages,
        "staged.florets": lambda: staged.florets,
        "ceg.positions": lambda: ceg.positions,
        "ceg.edges": lambda: ceg.edges,
        "ceg.situation_positions": lambda: ceg.situation_positions,
        "ceg.recover()": ceg.recover,
        "db.compare(small, small)": lambda: db.compare("small", "small"),
        "tree.to_networkx()": tree.to_networkx,
        "staged.to_networkx()": staged.to_networkx,
        "ceg.to_networkx()": ceg.to_networkx,
        "staged.export(CSV)": lambda: staged.export(folder / "small.csv"),
        "ceg.export(CSV)": lambda: ceg.export(folder / "small.csv"),
    }
    for of, view in (
        (tree, "vertices"),
        (tree, "situations"),
        (tree, "tree_edges"),
        (staged, "staged_vertices"),
        (staged, "staged_edges"),
        (ceg, "positions"),
        (ceg, "ceg_edges"),
    ):
        operations[f"{view}, min_n=5"] = lambda of=of, view=view: of.rows(view, min_n=5)
    for kind, views in VIEWS.items():
        for view in views:
            sql = f"select * from cegdb.{view} where {kind} = 'small'"  # noqa: S608
            operations[f"view {view}"] = lambda sql=sql: db.rows(sql)
    operations["macro paths"] = lambda: db.rows("from cegdb.paths('small')")
    return operations


def opening(file: Path) -> Operations:
    """Return the operations on a file that is not open."""

    def run(*words: str) -> None:
        result = CliRunner().invoke(cli, [words[0], str(file), *words[1:]])
        if result.exit_code:
            raise SystemExit(result.output)

    return {
        "open, close": lambda: cegdb.open(file).close(),
        "cegdb list": lambda: run("list"),
        "cegdb show ceg": lambda: run("show", "small"),
        "cegdb show tree": lambda: run(
            "show", "small", "--kind", "tree", "--view", "situations"
        ),
        "cegdb sql": lambda: run("sql", "from cegdb.ceg_edges where ceg = 'small'"),
    }


def by_turns(
    operations: Mapping[str, Operations], times: dict[str, dict[str, list[float]]]
) -> None:
    """Run each operation on every file, one after the other; add the milliseconds."""
    for name in next(iter(operations.values())):
        for case, of_case in operations.items():
            start = time.perf_counter()
            of_case[name]()
            took = 1000 * (time.perf_counter() - start)
            times.setdefault(name, {}).setdefault(case, []).append(took)


def measure(files: Mapping[str, Path], repeats: int) -> dict[str, dict[str, list[float]]]:
    """Return the milliseconds of the runs of each operation on each file."""
    times: dict[str, dict[str, list[float]]] = {}
    for repeat in range(repeats + 1):
        if repeat == 1:
            times.clear()  # the first run warms imports and caches
        dbs = {case: cegdb.open(file) for case, file in files.items()}
        by_turns({case: writing(db) for case, db in dbs.items()}, times)
        folder = next(iter(files.values())).parent
        by_turns({case: reading(db, folder) for case, db in dbs.items()}, times)
        for db in dbs.values():
            db.close()
        by_turns({case: opening(file) for case, file in files.items()}, times)
        print(".", end="", flush=True)
    for file in files.values():
        with cegdb.open(file) as db:
            problems = db.check()
        if problems:
            raise SystemExit(f"a fast wrong answer is worthless: {problems[:3]}")
    return times


def space(file: Path) -> tuple[float, float]:
    """Return the megabytes of a closed file, and those of them in use."""
    with duckdb.connect(file) as con:
        row = con.execute(
            "select block_size * used_blocks from pragma_database_size()"
        ).fetchone()
    return file.stat().st_size / 1e6, (row[0] if row else 0) / 1e6


def measure_space(file: Path, source: Path, models: int) -> dict[str, tuple[float, float]]:
    """Return the space of a file after each of several changes."""
    spaces = {}

    def after(what: str, change: Callable[[cegdb.Database], None]) -> None:
        with cegdb.open(file) as db:
            change(db)
        spaces[what] = space(file)

    after("a small model", lambda db: make_model(db, "small"))
    after("and a big one", lambda db: make_big(db, source))
    for _ in range(4):
        after("which is replaced 4 times", lambda db: make_big(db, source))
    after("the CEG of which is dropped", lambda db: db.drop("ceg", "big"))
    after("and all of which is dropped", lambda db: db.drop("survey", "big"))
    after("one model more", lambda db: make_model(db, "more"))
    after(f"{models} models more", lambda db: make_models(db, models))
    after(
        "which are dropped",
        lambda db: [db.drop("survey", f"model {i}") for i in range(models)] and None,
    )
    return spaces


def main() -> None:
    """Run the benchmark and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="3 runs, 100,000 rows, 20 models")
    repeats, rows, models = 7, 1_000_000, 200
    if parser.parse_args().quick:
        repeats, rows, models = 3, 100_000, 20
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        source = folder / "answers.parquet"
        make_rows(source, rows, variables=10, levels=4)
        cases: dict[str, Callable[[cegdb.Database], None]] = {
            "alone": lambda _: None,
            "beside a big one": lambda db: make_big(db, source),
            f"beside {models}": lambda db: make_models(db, models),
        }
        files = {case: folder / f"{i}.duckdb" for i, case in enumerate(cases)}
        for case, beside in cases.items():
            make_file(files[case], beside)
        with duckdb.connect(files["beside a big one"]) as con:
            ((vertices,),) = con.execute(
                "select max(n_vertices) from cegdb.event_tree"
            ).fetchall()
        times = measure(files, repeats)
        sizes = measure_space(folder / "space.duckdb", source, models)
    print(f"\n\n{platform.machine()}, Python {platform.python_version()}, ", end="")
    print(f"DuckDB {duckdb.__version__}, cegdb {cegdb.__version__}; ", end="")
    print(f"medians of {repeats} runs, in ms; the big tree has {vertices:,} vertices\n")
    print(f"| operation | {' | '.join(files)} | ratios |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, of_case in times.items():
        medians = [statistics.median(runs) for runs in of_case.values()]
        cells = " | ".join(f"{median:,.1f}" for median in medians)
        ratios = ", ".join(f"{median / medians[0]:.1f}" for median in medians[1:])
        print(f"| {name} | {cells} | {ratios} |")
    print("\n| the file after | MB | MB in use |\n| --- | ---: | ---: |")
    for what, (size, used) in sizes.items():
        print(f"| {what} | {size:.1f} | {used:.1f} |")


if __name__ == "__main__":
    main()
