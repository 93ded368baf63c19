"""Time queries of a CEG of about 100,000 edges, in Python and in SQL.

Run by hand: ``python tests/benchmarks/queries.py [--rows N]``. The rows are seeded by a hash
of their number, and the last two answers decide the stage. The answers of both sides are
compared, so that a fast wrong one does not count. Prints Markdown: medians of 5, in seconds.
"""

from __future__ import annotations

import argparse
import math
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline import LAST_TWO, make_rows

import cegdb
from cegdb.evidence import at_least, before, exactly, visits

if TYPE_CHECKING:
    from collections.abc import Callable

QUESTIONS = "select 'a' as q0, 'b' as q3, 'c' as q8"


def seconds(query: Callable[[], object]) -> tuple[float, object]:
    """Return the median time of five calls, and the last answer."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        answer = query()
        times.append(time.perf_counter() - start)
    return statistics.median(times), answer


def main() -> None:
    """Run the benchmark and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=300_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as name, cegdb.open(Path(name) / "b.duckdb") as db:
        file = Path(name) / "rows.parquet"
        make_rows(file, rows, 10, levels=4)
        ceg = db.ingest(file, name="b").event_tree().set_stages(LAST_TWO).to_ceg()
        n_edges = db.rows("select count(*) from cegdb.ceg_edge")[1][0][0]
        start = time.perf_counter()
        given = ceg.given()
        compiled = time.perf_counter() - start
        event = {"q0": "a", "q3": "b", "q8": "c"}
        some = [{f"q{k}": "a"} for k in range(10)]
        far = ceg.positions["position"].iloc[-3]
        queries: dict[str, Callable[[], object]] = {
            "probability of an event": lambda: given.probability(event),
            "given it, of another": lambda: given.given(event).probability(q9="a"),
            "exactly 3 of 10 events": lambda: given.probability(exactly(3, some)),
            "at least 2 of 3, in order": lambda: given.probability(
                at_least(2, some[:3]) & before({"q1": "a"}, {"q7": "b"})
            ),
            "given a position": lambda: given.given(visits(far)).probability(event),
            "all marginals": given.marginals,
            "joint of three variables": lambda: given.distribution(["q1", "q5", "q9"]),
            "10 most probable paths": lambda: given.most_probable_paths(10),
            "number of paths": lambda: given.n_paths,
        }
        print(f"CEG of {n_edges:,} edges, compiled in {compiled:.2f} s\n")
        print("| query, in Python | seconds |\n| --- | ---: |")
        answers = {}
        for what, query in queries.items():
            took, answers[what] = seconds(query)
            print(f"| {what} | {took:.3f} |")
        db.sql(f"create table questions as {QUESTIONS}")
        macros = {
            "position_probability": "from cegdb.position_probability('b')",
            "marginals": "from cegdb.marginals('b')",
            "event_probability": "from cegdb.event_probability('b', 'questions')",
            "most_probable_paths": "from cegdb.most_probable_paths('b', 10)",
        }
        print("\n| macro | seconds |\n| --- | ---: |")
        for what, sql in macros.items():
            took, frame = seconds(lambda sql=sql: db.sql(sql))
            print(f"| {what} | {took:.3f} |")
            if what == "event_probability":
                of_sql = frame["probability"].item()
                of_python = answers["probability of an event"]
                if not math.isclose(of_sql, of_python, rel_tol=1e-9):
                    raise SystemExit(f"SQL says {of_sql}, Python {of_python}")


if __name__ == "__main__":
    main()
