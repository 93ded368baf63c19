"""Simulate how often intervals of whole surveys cover the truth, in SQL and in Python.

Run by hand: ``python tests/benchmarks/coverage.py [--sets 200]``. Each survey asks A; of those
who answer a1, B; then C and D of everybody. C depends on A and B, D on C alone, so that many
situations of D are alike. Respondents are complete, or some stop after an answer (half of those
who answered a1, a tenth of the others). They count the same, or have weights that vary, which
are a quarter as large for those with a1.

Prints a Markdown table: per answer, the share of surveys whose interval of 95 % contains the
true probability, and its mean width, for the macros and for Python. Edges of positions are
those of ``cegdb.ceg_edges``; their truth is the mean of the situations, weighted by the
(effective) rows that answered there, as stages and positions pool them.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from typing import Any

import numpy as np
import pandas as pd

import cegdb

P_A = 0.3
P_B = 0.6
P_C = {("a0",): 0.1, ("a1", "b0"): 0.35, ("a1", "b1"): 0.8}
P_D = {"c0": 0.25, "c1": 0.55}
LIGHT, HEAVY = 0.4, 1.6
KINDS = ("complete", "stops", "weights", "weights, stops")


def survey(kind: str, n: int, random: np.random.Generator) -> pd.DataFrame:
    """Draw a survey."""
    a = random.random(n) < P_A
    b = a & (random.random(n) < P_B)
    c = random.random(n) < np.where(a, np.where(b, P_C["a1", "b1"], P_C["a1", "b0"]), 0.1)
    d = random.random(n) < np.where(c, P_D["c1"], P_D["c0"])
    frame = pd.DataFrame(
        {
            "A": np.where(a, "a1", "a0"),
            "B": np.where(a, np.where(b, "b1", "b0"), "none"),
            "C": np.where(c, "c1", "c0"),
            "D": np.where(d, "d1", "d0"),
        },
        dtype=object,
    )
    frame.loc[~a, "B"] = None
    if "stops" in kind:
        stops = random.random(n) < np.where(a, 0.5, 0.1)
        first = random.integers(0, 3, n)
        frame.loc[stops & a & (first == 0), "B"] = None
        frame.loc[stops & (first <= 1), "C"] = None
        frame.loc[stops, "D"] = None
    if "weights" in kind:
        weight = np.where(a, LIGHT, HEAVY) * random.gamma(4, 0.25, n)
        frame["weight"] = np.round(weight + 0.0001, 4)
    return frame


def truths(kind: str) -> dict[str, float]:
    """Return the true probability of each answer that is asked for."""
    a = P_A
    if "weights" in kind:
        a = P_A * LIGHT / (P_A * LIGHT + (1 - P_A) * HEAVY)
    c_if_a = P_B * P_C["a1", "b1"] + (1 - P_B) * P_C["a1", "b0"]
    c = a * c_if_a + (1 - a) * P_C["a0",]
    return {
        "A = a1": a,
        "B = b1": a * P_B,
        "C = c1": c,
        "D = d1": c * P_D["c1"] + (1 - c) * P_D["c0"],
        "path a1, b1, c1, d1": a * P_B * P_C["a1", "b1"] * P_D["c1"],
        "C = c1, given a1": c_if_a,
        "A = a1, given c1": a * c_if_a / c,
        "A = a1, given d1": a
        * (c_if_a * P_D["c1"] + (1 - c_if_a) * P_D["c0"])
        / (c * P_D["c1"] + (1 - c) * P_D["c0"]),
    }


def by_macros(db: cegdb.Database) -> dict[str, tuple[float, float]]:
    """Return the limits that macros give."""
    found = {
        f"{row.variable} = {row.label}": (row.low, row.high)
        for row in db.sql("from cegdb.marginals('it')").itertuples()
    }
    for row in db.sql("from cegdb.paths('it')").itertuples():
        found["path " + ", ".join(row.labels)] = (row.low, row.high)
    for name, cells, target in (
        ("C = c1, given a1", "'a1' as A, 'c1' as C", "C"),
        ("A = a1, given c1", "'a1' as A, 'c1' as C", "A"),
        ("A = a1, given d1", "'a1' as A, 'd1' as D", "A"),
    ):
        db.sql(f"create or replace table asked as select {cells}")
        call = f"cegdb.conditional_probability('it', 'asked', ['{target}'])"
        (row,) = db.sql(f"from {call}").itertuples()
        found[name] = (row.low, row.high)
    return found


def by_python(ceg: cegdb.ChainEventGraph) -> dict[str, tuple[float, float]]:
    """Return the limits that methods give."""
    found = {
        f"{row.variable} = {row.label}": (row.low, row.high)
        for row in ceg.marginals().itertuples()
    }
    for row in ceg.most_probable_paths(100).itertuples():
        found["path " + ", ".join(row.labels)] = (row.low, row.high)
    for name, event, given in (
        ("C = c1, given a1", {"C": "c1"}, {"A": "a1"}),
        ("A = a1, given c1", {"A": "a1"}, {"C": "c1"}),
        ("A = a1, given d1", {"A": "a1"}, {"D": "d1"}),
    ):
        answer = ceg.given(given).probability(event)
        found[name] = (answer.low, answer.high)
    return found


def share(variable: str, labels: list[str]) -> float:
    """Return the true probability of the second answer in a situation."""
    return {
        "A": lambda: P_A,
        "B": lambda: P_B,
        "C": lambda: P_C[tuple(labels)],
        "D": lambda: P_D[labels[-1]],
    }[variable]()


def edges(db: cegdb.Database) -> list[tuple[bool, float]]:
    """Return of each edge of a position of several situations whether it covers, and width."""
    situations = db.sql("""
        select
            p.position,
            s.variable,
            s.labels,
            coalesce(
                cast(sum(e.weight) as double) ** 2 / cast(sum(w.weight_sq) as double), sum(e.n)
            ) as size
        from cegdb.situation_positions as p
        inner join cegdb.situations as s on p.vertex_id = s.vertex_id
        inner join cegdb.event_tree as t on s.tree = t.name
        inner join cegdb.edge as e on t.tree_id = e.tree_id and s.vertex_id = e.parent_id
        left join cegdb.vertex_weight as w
            on t.tree_id = w.tree_id and e.child_id = w.vertex_id
        where p.ceg = 'it' and s.tree = 'it'
        group by p.position, s.variable, s.labels
    """)
    limits = db.sql("select source, label, low, high from cegdb.ceg_edges where ceg = 'it'")
    found = []
    for position, group in situations.groupby("position"):
        size = group["size"].astype(float).to_numpy()
        variable = group["variable"].iloc[0]
        if len(group) < 2 or size.sum() == 0 or variable == "A":
            continue
        true = np.array([share(variable, list(labels)) for labels in group["labels"]])
        aim = float((true * size).sum() / size.sum())
        (edge,) = limits[
            (limits["source"] == position) & (limits["label"] == f"{variable.lower()}1")
        ].itertuples()
        found.append((edge.low <= aim <= edge.high, edge.high - edge.low))
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--kinds", nargs="*", default=KINDS, choices=KINDS)
    arguments = parser.parse_args()
    sets = arguments.sets
    print("| survey | n | answer | macros | width | Python | width |")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: |", flush=True)
    for kind in arguments.kinds:
        settings: dict[str, Any] = {"weighting": "situation"} if "weights" in kind else {}
        for n in (60, 300):
            random = np.random.default_rng([len(kind), n])
            true, hits = truths(kind), defaultdict(list)
            positions = []
            with cegdb.open() as db:
                for _ in range(sets):
                    frame = survey(kind, n, random)
                    weight = "weight" if "weights" in kind else None
                    it = db.ingest(frame, name="it", weight=weight, replace=True)
                    ceg = it.event_tree().learn_stages(**settings).to_ceg()
                    macros, python = by_macros(db), by_python(ceg)
                    for name, aim in true.items():
                        if name in macros:
                            pair = (macros[name], python[name])
                            hits[name].append(
                                [
                                    x
                                    for low, high in pair
                                    for x in (low <= aim <= high, high - low)
                                ]
                            )
                    positions += edges(db)
            for name, each in hits.items():
                covered, width, other, other_width = np.mean(each, axis=0)
                print(
                    f"| {kind} | {n:,} | {name} | {100 * covered:.1f} | {width:.3f} "
                    f"| {100 * other:.1f} | {other_width:.3f} |"
                )
            covered, width = np.mean(positions, axis=0)
            print(
                f"| {kind} | {n:,} | edges of {len(positions):,} positions "
                f"| {100 * covered:.1f} | {width:.3f} | | |",
                flush=True,
            )


if __name__ == "__main__":
    main()
