"""Effects by the rows of each situation alone, without pooling them over stages.

The shares of the situations are standardised as the intervention says. Stages that were found
in the same rows hide differences that are small beside the noise, and may show others that are
not there; the shares themselves are not biased. Where a situation has no rows, they are those
of its stage, and the interval leaves them open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cegdb.errors import joined
from cegdb.evidence import All, Answer
from cegdb.inference.answer_intervals import linearise, row_covariance, row_limits
from cegdb.inference.automata import run_automata
from cegdb.inference.counted_tree import walk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cegdb.causal.interventions import Intervention
    from cegdb.evidence import Evidence
    from cegdb.inference.answer_intervals import Linear
    from cegdb.inference.compiled_model import CompiledModel
    from cegdb.inference.counted_tree import CountedTree
    from cegdb.inference.propagation import Floats


class RowOutcomes(NamedTuple):
    """The probability of an outcome by label of a treatment, as the rows have it.

    ``intervened`` and ``observed`` are as in `cegdb.causal.effects.OutcomeProbabilities`, with
    the interval of the first; ``effect`` is the difference from the first label, with its
    standard ``error`` and the interval ``effect_low`` to ``effect_high``.
    """

    intervened: Floats
    low: Floats
    high: Floats
    observed: Floats
    effect: Floats
    error: Floats
    effect_low: Floats
    effect_high: Floats


def row_outcomes(
    tree: CountedTree,
    ceg: CompiledModel,
    treatment: str,
    by_label: Mapping[str, Intervention],
    outcome: Evidence,
    group: Evidence,
    level: float,
) -> RowOutcomes:
    """Return the probability of an outcome for each label of a treatment, and differences.

    Intervals of differences are put together from those of the two probabilities and their
    correlation [1]_.

    References
    ----------
    .. [1] G. Y. Zou (2007), Toward using confidence intervals to compare correlations.
       Psychological Methods 12, 399-413.
    """
    slopes, intervened, observed, lows, highs = [], [], [], [], []
    for label, after in by_label.items():
        set_tree = tree.after(after.ceg, after.is_set)
        answer, *limits = _answer(set_tree, after.ceg, group, outcome, level)
        slopes.append(answer.slope)
        intervened.append(answer.ratio[0] if answer.has_condition[0] else np.nan)
        lows.append(limits[0])
        highs.append(limits[1])
        seen, _, _ = _answer(
            tree, ceg, All((group, Answer(treatment, (label,)))), outcome, level
        )
        observed.append(seen.ratio[0] if seen.has_condition[0] else np.nan)
    probability, low, high = np.array(intervened), np.array(lows), np.array(highs)
    covariance = row_covariance(tree, np.hstack(slopes))
    variance = np.diag(covariance)
    error = np.sqrt(np.maximum(variance[1:] + variance[0] - 2 * covariance[0, 1:], 0.0))
    effect = probability[1:] - probability[0]
    product = np.sqrt(variance[1:] * variance[0])
    correlation = np.divide(
        covariance[0, 1:], product, out=np.zeros(len(product)), where=product > 0
    )
    below = _distance(probability[1:] - low[1:], high[0] - probability[0], correlation)
    above = _distance(high[1:] - probability[1:], probability[0] - low[0], correlation)
    return RowOutcomes(
        probability,
        low,
        high,
        np.array(observed),
        effect,
        error,
        np.maximum(effect - below, -1.0),
        np.minimum(effect + above, 1.0),
    )


def staging_note(labels: Sequence[str], staged: Floats, rows: RowOutcomes) -> str:
    """Return a note where the effects by the stages differ by more than a standard error."""
    by_stages = staged[1:] - staged[0]
    texts = [
        f"{label} against {labels[0]}: {effect:+.4f} (by the rows: {own:+.4f})"
        for label, effect, own, error in zip(
            labels[1:], by_stages, rows.effect, rows.error, strict=True
        )
        if abs(effect - own) > error
    ]
    if not texts:
        return ""
    return (
        f"by the stages, {joined(texts)}, more than a standard error apart; the stages may "
        "hide a difference, or the rows may show noise"
    )


def _answer(
    tree: CountedTree, ceg: CompiledModel, group: Evidence, outcome: Evidence, level: float
) -> tuple[Linear, float, float]:
    """Return the probability of the outcome in a group, and its interval."""
    evidence = walk(tree, ceg, run_automata(ceg, group))
    both = walk(tree, ceg, run_automata(ceg, All((group, outcome))))
    is_within = (evidence.is_alive & tree.is_leaf)[:, None]
    is_event = (both.is_alive & tree.is_leaf)[:, None]
    answer = linearise(tree, evidence, is_event, is_within, tree.row_chance)
    low, high = row_limits(tree, evidence, answer, is_event, is_within, level)
    ratio = float(answer.ratio[0])
    return answer, min(float(low[0]), ratio), max(float(high[0]), ratio)


def _distance(one: Floats, other: Floats, correlation: Floats) -> Floats:
    """Return how far a limit of a difference is from it, given those of its two parts."""
    square = one**2 + other**2 - 2 * correlation * one * other
    distance: Floats = np.sqrt(np.maximum(square, 0.0))
    return distance
