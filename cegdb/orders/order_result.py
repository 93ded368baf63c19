"""What a search over orders found, as rows of tables and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from cegdb.errors import agreeing, counted, listed
from cegdb.orders import order_ranking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cegdb.orders.order_scores import LocalScores

Row: TypeAlias = "dict[str, object]"

_SCORES: Final = {
    "log_marginal_likelihood": "log marginal likelihood",
    "log_likelihood": "log likelihood",
    "bic": "BIC",
    "aic": "AIC",
}


@dataclass(frozen=True)
class FoundOrders:
    """What a search over orders found.

    Attributes
    ----------
    survey
        Name of the survey.
    best
        The best order found.
    score
        Its score: the larger the better for likelihoods, the smaller for BIC and AIC.
    settings
        ``method``, ``score``, ``alpha``, ``search`` (exact or greedy), ``before`` (tiers as
        pairs too), ``blank``.
    n_orders, n_optimal
        Orders that the constraints allow, and how many of them score as ``best``; None after
        a greedy search.
    orders, winners, local
        Rows of tables: see `cegdb.api.OrderSearch`.
    gates
        Variable -> those that decide whether it applies.
    undecided
        Variables of which "not applicable" is an answer, since nothing decides it.
    n, n_left_out, left_out
        Respondents used; left out for lack of an answer; for each variable that lacks some.
    blanks
        Which kinds of decisions were made about blanks: structural, missing.
    weighting
        How weights and design effects count, as recorded in the settings of a staging.
    alpha_is_default
        Whether alpha was left out.
    seconds
        How long it took.
    """

    survey: str
    best: list[str]
    score: float
    settings: dict[str, object]
    n_orders: int | None
    n_optimal: int | None
    orders: list[Row]
    winners: list[Row]
    local: list[Row]
    gates: dict[str, list[str]]
    undecided: list[str]
    n: int
    n_left_out: int
    left_out: dict[str, int]
    blanks: frozenset[str]
    weighting: dict[str, object]
    alpha_is_default: bool
    seconds: float

    @property
    def summary(self) -> str:
        """What was found, of which rows and under which constraints, in a few lines."""
        settings = self.settings
        why = " (the largest number of levels of a variable)" if self.alpha_is_default else ""
        is_marginal = settings["score"] == "log_marginal_likelihood"
        prior = f", alpha = {settings['alpha']:g}{why}" if is_marginal else ""
        stagings = counted(len(self.local), "local staging")
        head = f"orders of {counted(len(self.best), 'variable')} of survey {self.survey!r}"
        value = f"{_SCORES[str(settings['score'])]} {self.score:.4f}"
        lines = [
            f"{head}: best {', '.join(self.best)}",
            f"  {value} (method {settings['method']}{prior}); {counted(self.n, 'row')}",
        ]
        if self.n_optimal is None or self.n_orders is None:
            lines.append(
                f"  greedy: {stagings}, {self.seconds:.2f} s; a better order may exist"
            )
        else:
            which = ", the one with the smallest last variables shown"
            lines.append(
                f"  exact: {counted(self.n_orders, 'order')}, {self.n_optimal:,} of them "
                f"optimal{which if self.n_optimal > 1 else ''}; {stagings}, "
                f"{self.seconds:.2f} s"
            )
        if self.n_left_out:
            lacking = ", ".join(f"{name} {n:,}" for name, n in self.left_out.items())
            all_rows = counted(self.n + self.n_left_out, "row")
            lines.append(
                f"  {self.n_left_out:,} of {all_rows} left out, which "
                f"{agreeing(self.n_left_out, 'lack')} an answer: {lacking}"
            )
        lines += [
            f"  {name} comes after {listed(map(repr, gates))}, which {verb} whether it applies"
            for name, gates in self.gates.items()
            for verb in (agreeing(len(gates), "decide"),)
        ]
        if self.undecided:
            names = listed(map(repr, self.undecided))
            lines.append(f"  'not applicable' is an answer to {names}: nothing decides it")
        if self.weighting:
            told = "; ".join(f"{key} {value}" for key, value in self.weighting.items())
            lines.append(f"  respondents count by {told}")
        return "\n".join(lines)


def local_scores(order: Sequence[int], local: LocalScores) -> list[float]:
    """Return the local score of each variable of an order."""
    return [local(x, order_ranking.mask_of(order[:place])) for place, x in enumerate(order)]


def shown(value: float, score: str) -> float:
    """Return a sum of local scores as the score is known: BIC and AIC are -2 times it."""
    return -2 * value if score in ("bic", "aic") else value


def order_rows(
    ranked: Sequence[order_ranking.Ranked], names: Sequence[str], local: LocalScores
) -> list[Row]:
    """Return the rows of `cegdb.api.OrderSearch.orders`."""
    rows: list[Row] = []
    rank, left = 1, 0
    for place, found in enumerate(ranked, 1):
        if not left:
            rank, left = place, max(found.n_ties, 1)
        left -= 1
        stages = [
            local.staged(x, order_ranking.mask_of(found.order[:i])).n_stages
            for i, x in enumerate(found.order)
        ]
        rows.append(
            {
                "rank": rank,
                "order": [names[x] for x in found.order],
                "score": shown(math.fsum(local_scores(found.order, local)), local.plan.score),
                "stages": stages,
                "n_stages": sum(stages),
            }
        )
    return rows


def winner_rows(
    ranked: Sequence[order_ranking.Ranked], names: Sequence[str], local: LocalScores
) -> list[Row]:
    """Return the rows of `cegdb.api.OrderSearch.winners`."""
    return [
        {
            "last": names[found.order[-1]],
            "order": [names[x] for x in found.order],
            "score": shown(math.fsum(local_scores(found.order, local)), local.plan.score),
            "n_ties": found.n_ties or None,
        }
        for found in ranked
    ]


def local_rows(names: Sequence[str], local: LocalScores) -> list[Row]:
    """Return the rows of `cegdb.api.OrderSearch.local`."""
    return [
        {
            "variable": names[x],
            "predecessors": [names[y] for y in order_ranking.members(before)],
            "score": shown(staged.value, local.plan.score),
            "n_situations": staged.n_situations,
            "n_stages": staged.n_stages,
        }
        for (x, before), staged in sorted(
            local.known.items(), key=lambda item: (item[0][1].bit_count(), *item[0])
        )
    ]
