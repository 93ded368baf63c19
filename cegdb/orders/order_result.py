"""The result of a search over orders, as rows of tables and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from cegdb.errors import agreeing, counted, listed
from cegdb.options import SCORE_NAMES
from cegdb.orders.order_ranking import RankedOrder, mask_of, members

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cegdb.orders.order_scores import LocalScores

Row: TypeAlias = "dict[str, object]"


@dataclass(frozen=True)
class OrderSearchResult:
    """The result of a search over orders.

    Attributes
    ----------
    survey, best, score
        Name of the survey; the best order, and its score: the larger the better for
        likelihoods, the smaller for BIC and AIC.
    settings
        ``method``, ``exact_up_to`` how many situations all stagings were looked at, ``score``,
        ``alpha``, ``search`` (exact or greedy), ``before`` (tiers as pairs too), ``blank``.
    n_orders, n_optimal
        How many orders the constraints allow, and how many of them score as ``best``; None
        after a greedy search.
    margin
        By how much the next best order is worse; None if that is not known.
    orders, best_by_last, variable_stagings
        Rows of tables: see `cegdb.OrderSearch`.
    gates
        Variable -> those that decide whether it applies.
    without_gate
        Variables of which "not applicable" is an answer, since nothing decides it.
    n, n_left_out, left_out
        Respondents used; left out because an answer is missing; those for each variable.
    blanks
        How blanks were read: structural, missing.
    weighting
        How weights and design effects count, as in the settings of a staging.
    """

    survey: str
    best: list[str]
    score: float
    settings: dict[str, object]
    n_orders: int | None
    n_optimal: int | None
    orders: list[Row]
    best_by_last: list[Row]
    variable_stagings: list[Row]
    gates: dict[str, list[str]]
    without_gate: list[str]
    margin: float | None
    n: int
    n_left_out: int
    left_out: dict[str, int]
    blanks: frozenset[str]
    weighting: dict[str, object]
    alpha_is_default: bool
    seconds: float

    @property
    def summary(self) -> str:
        """The best order, the rows used and the constraints, in a few lines."""
        settings = self.settings
        why = " (the largest number of levels of a variable)" if self.alpha_is_default else ""
        is_marginal = settings["score"] == "log_marginal_likelihood"
        prior = f", alpha = {settings['alpha']:g}{why}" if is_marginal else ""
        value = f"{SCORE_NAMES[str(settings['score'])]} {self.score:.4f}"
        title = f"best order of {counted(len(self.best), 'variable')} of survey {self.survey!r}"
        lines = [
            f"{title}: {', '.join(self.best)}",
            f"  {value}, method {self._method}{prior}; {counted(self.n, 'respondent')}",
        ]
        n_stagings = counted(len(self.variable_stagings), "single-variable staging")
        effort = f"{n_stagings} learnt in {self.seconds:.2f} s"
        if self.n_optimal is None or self.n_orders is None:
            lines.append(f"  greedy search: a better order may exist; {effort}")
        elif self.n_optimal == 1:
            lines.append(
                f"  exact search: the best of {counted(self.n_orders, 'order')}{self._next}; "
                f"{effort}"
            )
        else:
            lines.append(
                f"  exact search: {self.n_optimal:,} of {counted(self.n_orders, 'order')} have "
                "the best score, and the one shown puts the earliest variables of the survey "
                f"last{self._next}; {effort}"
            )
        if self.n_left_out:
            missing = ", ".join(f"{name} ({n:,})" for name, n in self.left_out.items())
            all_rows = counted(self.n + self.n_left_out, "respondent")
            lines.append(
                f"  {self.n_left_out:,} of {all_rows} left out for missing answers: {missing}"
            )
        for name, gates in self.gates.items():
            verb = agreeing(len(gates), "decide")
            lines.append(
                f"  {name!r} comes after {listed(map(repr, gates))}, which {verb} whether it "
                "applies"
            )
        if self.without_gate:
            names = listed(map(repr, self.without_gate))
            lines.append(
                f"  'not applicable' counts as an answer to {names}: no variable decides it"
            )
        if "weighting" in self.weighting:
            lines.append(f"  weighting: {self.weighting['weighting']}")
        effects = self.weighting.get("design effects")
        if isinstance(effects, dict):
            values = ", ".join(f"{name} {value:.3g}" for name, value in effects.items())
            lines.append(f"  counts divided by design effects: {values}")
        return "\n".join(lines)

    @property
    def _method(self) -> str:
        """How stages were learnt."""
        method, exact_up_to = str(self.settings["method"]), self.settings["exact_up_to"]
        return f"exact up to {exact_up_to} situations, else {method}" if exact_up_to else method

    @property
    def _next(self) -> str:
        """By how much the next best order is worse, if that is known."""
        return "" if self.margin is None else f" (the next is {self.margin:.4g} worse)"


def order_score(order: Sequence[int], local_scores: LocalScores) -> float:
    """Return the score of an order as reported: BIC and AIC are -2 times the sum."""
    scores = [local_scores(x, mask_of(order[:index])) for index, x in enumerate(order)]
    return reported_score(math.fsum(scores), local_scores.plan.score)


def reported_score(value: float, score: str) -> float:
    """Return a sum of local scores as reported: BIC and AIC are -2 times it."""
    return -2 * value if score in ("bic", "aic") else value


def order_rows(
    ranked: Sequence[RankedOrder], names: Sequence[str], local_scores: LocalScores
) -> list[Row]:
    """Return the rows of `cegdb.OrderSearch.orders`."""
    rows: list[Row] = []
    rank, n_left = 1, 0
    for number, one in enumerate(ranked, 1):
        if not n_left:
            rank, n_left = number, max(one.n_ties, 1)
        n_left -= 1
        stages = [
            local_scores.staging(x, mask_of(one.order[:i])).n_stages
            for i, x in enumerate(one.order)
        ]
        rows.append(
            {
                "rank": rank,
                "order": [names[x] for x in one.order],
                "score": order_score(one.order, local_scores),
                "stages": stages,
                "n_stages": sum(stages),
            }
        )
    return rows


def best_by_last_rows(
    ranked: Sequence[RankedOrder], names: Sequence[str], local_scores: LocalScores
) -> list[Row]:
    """Return the rows of `cegdb.OrderSearch.best_by_last`."""
    return [
        {
            "last": names[one.order[-1]],
            "order": [names[x] for x in one.order],
            "score": order_score(one.order, local_scores),
            "n_ties": one.n_ties or None,
        }
        for one in ranked
    ]


def variable_staging_rows(names: Sequence[str], local_scores: LocalScores) -> list[Row]:
    """Return the rows of `cegdb.OrderSearch.variable_stagings`."""
    return [
        {
            "variable": names[x],
            "predecessors": [names[y] for y in members(before)],
            "score": reported_score(staging.value, local_scores.plan.score),
            "n_situations": staging.n_situations,
            "n_stages": staging.n_stages,
        }
        for (x, before), staging in sorted(
            local_scores.stagings.items(), key=lambda item: (item[0][1].bit_count(), *item[0])
        )
    ]
