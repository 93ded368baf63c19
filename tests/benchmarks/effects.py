"""Simulate how often intervals of effects and of answers cover the truth.

Run by hand: ``python tests/benchmarks/effects.py [--sets 2000]``. Each data set has n rows of
three questions with two answers: P(Z = 1) = .5, P(X = 1) = .3 or .7 by Z, and P(Y = 1) = .3 +
effect X + .2 Z (docs/theory.md, section 17). Measured are the effect of X on Y, and the
probabilities of Y = 1, of Y = 1 given X = 1, and of X = 1 given Y = 1. The intervals do not
depend on the stages, so that none are learnt.

Then two strata of equal weight, z0 and z1, have unequally many rows that were treated, of whom
a share p has the outcome: how often is P(Y = 1 | do(X = 1)) covered?

It prints three Markdown tables, in percent: of the effect the coverage, beside the mean width
and the bias in standard errors; of the answers the coverage.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

import cegdb
from cegdb.causal.effects import interventions_by_label
from cegdb.causal.unpooled_effects import row_outcomes
from cegdb.evidence import All, answers
from cegdb.inference.answer_intervals import AnswerIntervals
from cegdb.inference.queries import condition

if TYPE_CHECKING:
    from cegdb.inference.counted_tree import CountedTree

SIZES: Final = (100, 600, 5_000)
EFFECTS: Final = (0.0, 0.05, 0.12, 0.2)
LEVEL: Final = 0.95
SPARSE: Final = (
    ((0.3, 1_000), (0.1, 5)),
    ((0.3, 1_000), (0.1, 20)),
    ((0.3, 1_000), (0.3, 5)),
    ((0.05, 500), (0.05, 10)),
    ((0.02, 300), (0.3, 2)),
)
ASKED: Final = (({}, {"y": "1"}), ({"x": "1"}, {"y": "1"}), ({"y": "1"}, {"x": "1"}))


def counted(tree: CountedTree, cells: np.ndarray) -> CountedTree:
    """Return the tree with counts: ``cells`` has those of z, x and y."""
    n_z, n_x = cells.sum(axis=(1, 2)), cells.sum(axis=2)
    edges = np.concatenate([n_z, n_x.ravel(), cells.ravel()])
    return replace(tree, n=np.append(cells.sum(), edges), size=edges.astype(float))


def _share(cells: np.ndarray, known: dict[str, str], event: dict[str, str]) -> float:
    """Return the share of an event among the rows that agree with what is known."""
    places = {name: i for i, name in enumerate("zxy")}
    some: list[slice | int] = [slice(None)] * 3
    for name, label in known.items():
        some[places[name]] = int(label)
    both = list(some)
    for name, label in event.items():
        both[places[name]] = int(label)
    total = cells[tuple(some)].sum()
    return float(cells[tuple(both)].sum() / total) if total else 0.5


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=2_000)
    sets = parser.parse_args().sets
    random = np.random.default_rng(1)
    rows = "select i // 4 as z, i // 2 % 2 as x, i % 2 as y from range(8) as t(i)"
    with cegdb.open() as db:
        ceg = db.ingest(rows, name="effects").event_tree().set_stages({}).to_ceg()
        model = ceg._compiled()
        tree = ceg._counted_tree()
    nothing = All(())
    by_label = interventions_by_label(model.ceg, "x", ["0", "1"], nothing, "error")
    given = [condition(model.ceg, answers(known)) for known, _ in ASKED]
    print("| n | effect | coverage | width | bias (s.e.) |", "| --- " * 5 + "|", sep="\n")
    answered = []
    for n in SIZES:
        for effect in EFFECTS:
            z, x, y = np.ogrid[:2, :2, :2]
            p_x, p_y = 0.3 + 0.4 * z, 0.3 + effect * x + 0.2 * z
            chance = 0.5 * np.where(x, p_x, 1 - p_x) * np.where(y, p_y, 1 - p_y)
            truths = [
                chance[..., 1].sum(),
                chance[:, 1, 1].sum() / chance[:, 1].sum(),
                chance[:, 1, 1].sum() / chance[..., 1].sum(),
            ]
            found, widths, covered, hits = [], [], 0, np.zeros(len(ASKED))
            for _ in range(sets):
                cells = random.multinomial(n, chance.ravel()).reshape(2, 2, 2)
                own = counted(tree, cells)
                made = row_outcomes(
                    own, model.ceg, "x", by_label, answers({"y": "1"}), nothing, LEVEL
                )
                low, high = made.effect_low[0], made.effect_high[0]
                found.append(made.effect[0])
                widths.append(high - low)
                covered += low <= effect <= high
                for i, (one, (_, event)) in enumerate(zip(given, ASKED, strict=True)):
                    # Of the share of the rows: another one printed would widen the interval.
                    share = _share(cells, *ASKED[i])
                    limits = AnswerIntervals(own, one, LEVEL).of_event(answers(event), share)
                    hits[i] += limits.low[0] <= truths[i] <= limits.high[0]
            error = np.std(found)
            print(
                f"| {n:,} | {effect} | {100 * covered / sets:.1f} | {np.mean(widths):.3f} | "
                f"{(np.mean(found) - effect) / error:+.3f} |",
                flush=True,
            )
            answered.append((n, effect, 100 * hits / sets))
    print("\n| n | effect | Y | Y given X | X given Y |", "| --- " * 5 + "|", sep="\n")
    for n, effect, shares in answered:
        print(f"| {n:,} | {effect} | " + " | ".join(f"{share:.1f}" for share in shares) + " |")
    print("\n| p, rows in z0 | in z1 | coverage | width |", "| --- " * 4 + "|", sep="\n")
    for strata in SPARSE:
        truth = float(np.mean([p for p, _ in strata]))
        covered, widths = 0, []
        for _ in range(sets):
            cells = np.zeros((2, 2, 2), np.int64)
            for z, (p, rows_treated) in enumerate(strata):
                with_outcome = random.binomial(rows_treated, p)
                cells[z, 1] = rows_treated - with_outcome, with_outcome
                # As many in all in each stratum, half of the others with the outcome.
                cells[z, 0] = (5_000 - rows_treated) // 2
            own = counted(tree, cells)
            made = row_outcomes(
                own, model.ceg, "x", by_label, answers({"y": "1"}), nothing, LEVEL
            )
            covered += made.low[1] <= truth <= made.high[1]
            widths.append(made.high[1] - made.low[1])
        texts = [f"{p}, {rows_treated:,}" for p, rows_treated in strata]
        share, width = 100 * covered / sets, np.mean(widths)
        print(f"| {texts[0]} | {texts[1]} | {share:.1f} | {width:.3f} |", flush=True)


if __name__ == "__main__":
    main()
