"""What an effect is, and whether adjusting gives it, to be shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cegdb.api.notebook import Shown

if TYPE_CHECKING:
    import pandas as pd

_MOST_NOTES = 5


@dataclass(frozen=True, repr=False)
class Effect(Shown):
    """What setting a treatment does to an outcome: made by `ChainEventGraph.effect`.

    Parameters
    ----------
    treatment, outcome, group
        In words.
    probabilities
        One row a label of the treatment: ``label``; ``probability`` of the outcome when it
        is set, P(outcome || treatment = label); ``low``, ``high``; ``observed``,
        P(outcome | treatment = label), which confounding may bend.
    differences
        One row a label but the first: ``label``; ``against``; ``effect``, the difference of
        their probabilities; ``low``, ``high``; ``observed``, the difference of what is
        observed.
    positivity
        As `ChainEventGraph.positivity` returns it.
    share
        The probability that the treatment occurs on a path (of the group); on other paths
        nothing is set.
    intervals
        What the intervals are, in words.
    assumption
        What must be true for these to be effects.
    """

    treatment: str
    outcome: str
    group: str
    probabilities: pd.DataFrame
    differences: pd.DataFrame
    positivity: pd.DataFrame
    share: float
    intervals: str
    assumption: str

    def __str__(self) -> str:
        """Return all of it in words."""
        group = "" if self.group == "nothing" else f", given {self.group}"
        lines = [f"effect of {self.treatment} on {self.outcome}{group}"]
        lines += [
            f"  P({self.outcome} || {self.treatment} = {label}) = {probability:.4f}"
            f"{_interval(low, high)}, observed {seen:.4f}"
            for label, probability, low, high, seen in _rows(self.probabilities)
        ]
        lines += [
            f"  {label} against {against}: {effect:+.4f}{_interval(low, high)}, "
            f"observed {seen:+.4f}"
            for label, against, effect, low, high, seen in _rows(self.differences)
        ]
        return "\n".join([*lines, *self.notes])

    @property
    def frame(self) -> pd.DataFrame:
        """Probabilities and differences in one, a row a label of the treatment.

        Columns: those of ``probabilities``, then ``effect``, ``effect_low``,
        ``effect_high``, ``observed_effect`` (missing in the row of the first label).
        """
        names = {"low": "effect_low", "high": "effect_high", "observed": "observed_effect"}
        differences = self.differences.drop(columns="against").rename(columns=names)
        return self.probabilities.merge(differences, on="label", how="left")

    @property
    def notes(self) -> list[str]:
        """What must be known to read it: intervals, positivity, the assumption."""
        notes = [self.intervals] if self.intervals else []
        if self.share < 1 - 1e-12:
            notes.append(
                f"{self.treatment} occurs with probability {self.share:.4g}; on other paths "
                "nothing is set"
            )
        rare = _rows(self.positivity)
        notes += [
            f"positivity: {self.treatment} = {label} has "
            f"{f'probability {probability:.4g}' if is_possible else 'no edge'} at "
            f"{position} ({history}; {n:,} rows)"
            for position, history, label, probability, is_possible, _, n in rare[:_MOST_NOTES]
        ]
        if len(rare) > _MOST_NOTES:
            notes.append(f"positivity: {len(rare) - _MOST_NOTES:,} more like these")
        return [*notes, self.assumption]

    def __repr__(self) -> str:
        """Return all of it in words."""
        return str(self)


def _rows(frame: pd.DataFrame) -> list[list[Any]]:
    return frame.astype(object).to_numpy().tolist()


def _interval(low: float, high: float) -> str:
    return "" if np.isnan(low) else f" ({low:.4f} to {high:.4f})"


@dataclass(frozen=True, repr=False)
class Adjustment(Shown):
    """Whether adjusting for variables works: made by `ChainEventGraph.adjustment`.

    Parameters
    ----------
    treatment, outcome
        Variables.
    by
        What is adjusted for: what was asked, else the first of the smallest sets.
    group
        In words.
    works
        Whether it gives the effect, whatever the probabilities of the stages are.
    reason
        Why not.
    sets
        Those that work: what was asked, or the smallest ones.
    tries_all
        Whether all sets up to that size were tried.
    estimates
        One row a label of the treatment and answer to the outcome: ``label``; ``outcome``;
        ``adjusted``, the sum over z of P(y | x, z) P(z), missing where a z lacks x;
        ``truth``, P(y || x); ``observed``, P(y | x); all as fitted.
    assumption
        What must be true for ``truth`` to be that.
    """

    treatment: str
    outcome: str
    by: tuple[str, ...]
    group: str
    works: bool
    reason: str
    sets: list[tuple[str, ...]]
    tries_all: bool
    estimates: pd.DataFrame
    assumption: str

    @property
    def verdict(self) -> str:
        """Whether it works, and why not."""
        return "yes" if self.works else f"no: {self.reason}"

    def __str__(self) -> str:
        """Return all of it in words."""
        group = "" if self.group == "nothing" else f", given {self.group}"
        first = (
            f"adjusting for {_named(self.by)} gives the effect of {self.treatment} on "
            f"{self.outcome}{group}: {self.verdict}"
        )
        lines = [first]
        if len(self.sets) > 1:
            others = "; ".join(_named(one) for one in self.sets[1:])
            lines.append(f"so does adjusting for {others}")
        if not self.tries_all:
            lines.append("not all sets were tried: there may be a smaller one")
        lines += [
            (
                f"  {self.outcome} = {answer}, {self.treatment} = {label}: adjusted "
                f"{adjusted:.4f}, set {truth:.4f}, observed {seen:.4f}"
            )
            for label, answer, adjusted, truth, seen in _rows(self.estimates)
        ]
        return "\n".join([*lines, self.assumption])

    def __repr__(self) -> str:
        """Return all of it in words."""
        return str(self)


def _named(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "nothing"
