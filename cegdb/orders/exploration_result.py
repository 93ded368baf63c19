"""The result of an exploration, as rows of a table and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, TypeAlias

from cegdb.errors import agreeing, counted, listed
from cegdb.findings import Screening

Row: TypeAlias = "dict[str, object]"

PROBABILITY: Final = 0.9
"""From this posterior probability of association a variable is chosen."""


@dataclass
class ExploredVariable:
    """A variable of an exploration.

    Attributes
    ----------
    name
        That of the survey.
    labels, rows
        Its labels and respondents among those with an outcome to whom it applies; None if it
        was not counted.
    alone
        Log Bayes factor of dependence of the outcome on it; None if it was not screened.
    given
        That given those chosen before it, or, if it is not chosen, given all of them.
    position
        Its place in the order, from 1; None if it is not chosen.
    reason
        Why it is not chosen; of a gate, for which variable it is.
    """

    name: str
    labels: int | None = None
    rows: int | None = None
    alone: float | None = None
    given: float | None = None
    position: int | None = None
    reason: str = ""


@dataclass(frozen=True)
class ExplorationResult:
    """The result of an exploration.

    Attributes
    ----------
    survey, outcome, order
        Names of the survey and of the outcome; the chosen variables in an order, the outcome
        last.
    variables
        All variables but the outcome, in the order of the survey.
    gates_of_outcome
        Those that decide whether the outcome applies; they are in the order in any case.
    n_screened, log_threshold, max_variables
        How many variables were screened, the log Bayes factor from which one is chosen, and
        the most that may be chosen.
    n, n_known, n_used
        Respondents; those to whom the outcome applies, with an answer to it; of these, those
        with an answer to every variable chosen.
    blank, missing_policy
        How cells without an answer count.
    weighting
        How weights and design effects count, as in the settings of a staging.
    """

    survey: str
    outcome: str
    order: list[str]
    variables: list[ExploredVariable]
    gates_of_outcome: list[str]
    n_screened: int
    log_threshold: float
    max_variables: int
    n: int
    n_known: int
    n_used: int
    blank: str
    missing_policy: str
    weighting: dict[str, object]
    seconds: float

    @property
    def columns(self) -> list[str]:
        """The names of the columns of `rows`."""
        return [
            *("variable", "labels", "rows", "log_bayes_factor", "probability"),
            *("log_bayes_factor_given", "chosen", "position", "reason"),
        ]

    @property
    def rows(self) -> list[Row]:
        """The rows of `cegdb.Exploration.frame`: those chosen, the others by strength."""
        return [
            {
                "variable": one.name,
                "labels": one.labels,
                "rows": one.rows,
                "log_bayes_factor": one.alone,
                "probability": self._probability(one.alone),
                "log_bayes_factor_given": one.given,
                "chosen": one.position is not None,
                "position": one.position,
                "reason": one.reason,
            }
            for one in sorted(self.variables, key=_rank)
        ]

    @property
    def n_by_chance(self) -> float:
        """The most variables without association to expect among those chosen first.

        The expected Bayes factor of such a variable is 1, so it reaches c in at most 1 of c
        cases.
        """
        return self.n_screened * math.exp(-self.log_threshold)

    @property
    def screening(self) -> Screening | None:
        """What a tree of the order keeps of it; None if no variable was chosen by the rows."""
        chosen = [
            x for x in sorted(self.variables, key=_rank) if x.position and x.given is not None
        ]
        if not chosen:
            return None
        names = [one.name for one in chosen]
        return Screening(self.outcome, names, self.n_screened, self.n_known, self.n_by_chance)

    @property
    def summary(self) -> str:
        """The order, how sure it is, what is left out and why, and what may mislead."""
        if self.screening is None:
            return self.own_summary
        return (
            f"{self.own_summary}\nnote: variables were chosen by the same rows that the tree "
            "counts, so their associations look stronger than they are: check them on other "
            "rows"
        )

    @property
    def own_summary(self) -> str:
        """The summary without what the tree of the order says too."""
        outcome, chosen = repr(self.outcome), [x for x in self.variables if x.position]
        chosen.sort(key=_rank)
        n_chosen = len(chosen)
        known = counted(self.n_known, "respondent")
        counts = (
            f"  {n_chosen} of {counted(len(self.variables), 'variable')} chosen (at most "
            f"{self.max_variables}), {self.n_screened} screened; {self.n_used:,} of {known} "
            f"with an answer to {outcome} {agreeing(self.n_used, 'have')} one to all of them; "
            f"{self.seconds:.2f} s"
        )
        order = ", ".join(self.order)
        lines = [f"order for {outcome} of survey {self.survey!r}: {order}", counts]
        lines += [self._strength(one) for one in chosen]
        if not chosen:
            lines.append(f"  no variable says enough about {outcome}")
        odds = f"1 in {max(self.n_screened, 2):,}"
        if self.n_screened:
            lines.append(
                f"  prior probability of each {odds}, so that one is expected; chosen from "
                f"probability {PROBABILITY:g} (log Bayes factor {self.log_threshold:.2f}). If "
                f"none had to do with {outcome}, at most {self.n_by_chance:.2g} would be "
                "expected to get that far by chance"
            )
        lines += [
            f"  left out, {reason}: {listed(names)}" for reason, names in self._left_out()
        ]
        if "weighting" in self.weighting:
            lines.append(f"  weighting: {self.weighting['weighting']}")
        effects = self.weighting.get("deff")
        if isinstance(effects, dict) and self.outcome in effects:
            lines.append(f"  counts divided by the design effect {effects[self.outcome]:.3g}")
        return "\n".join(lines)

    def _probability(self, log_bayes_factor: float | None) -> float | None:
        """Return the posterior probability of association."""
        if log_bayes_factor is None:
            return None
        log_odds = log_bayes_factor + log_prior_odds(self.n_screened)
        return 1 / (1 + math.exp(-log_odds)) if log_odds > -700 else 0.0

    def _strength(self, one: ExploredVariable) -> str:
        parts = []
        if one.alone is not None:
            parts.append(f"log Bayes factor {one.alone:.2f}")
        if one.given is not None and one.given != one.alone:
            parts.append(f"{one.given:.2f} given those chosen before it")
        if one.reason:
            parts.append(one.reason)
        return f"  {one.name}: {', '.join(parts)}"

    def _left_out(self) -> list[tuple[str, list[str]]]:
        """Return the reasons for leaving variables out, with those that have it."""
        found: dict[str, list[str]] = {}
        for one in sorted(self.variables, key=_rank):
            if one.position is None:
                found.setdefault(one.reason, []).append(repr(one.name))
        return list(found.items())


def log_prior_odds(n_screened: int) -> float:
    """Return the log prior odds of association: one of the variables screened, at most half.

    Examples
    --------
    >>> round(math.exp(-log_prior_odds(53))), log_prior_odds(1)
    (52, 0.0)
    """
    return -math.log(max(n_screened - 1, 1)) or 0.0


def log_threshold(n_screened: int) -> float:
    """Return the log Bayes factor at which a variable has the probability `PROBABILITY`.

    Examples
    --------
    >>> round(math.exp(log_threshold(53)))
    468
    """
    return math.log(PROBABILITY / (1 - PROBABILITY)) - log_prior_odds(n_screened)


def _rank(one: ExploredVariable) -> tuple[float, float]:
    """Return the place in the table: those chosen, by strength, those not screened."""
    if one.position is not None:
        return (one.position, 0.0)
    return (math.inf, math.inf if one.alone is None else -one.alone)
