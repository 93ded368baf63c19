"""Search over the orders of variables for the staged tree of best score."""

from __future__ import annotations

import math
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cegdb.errors import StagingError, TreeError
from cegdb.options import EXACT_SITUATIONS, OrderOptions
from cegdb.orders import order_ranking
from cegdb.orders.complete_cases import (
    CompleteRows,
    find_questions,
    read_complete_rows,
)
from cegdb.orders.constraints import chosen_variables, ordered_pairs, required_predecessors
from cegdb.orders.order_result import (
    OrderSearchResult,
    best_by_last_rows,
    order_rows,
    order_score,
    reported_score,
    variable_staging_rows,
)
from cegdb.orders.order_scores import EffectiveSize, LocalScores
from cegdb.sqlfiles import Steps
from cegdb.stages.effective_counts import Weighting
from cegdb.stages.learning import plan_of
from cegdb.store.catalog import row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cegdb.store import Store

ALL_ORDERS: Final = 5_040
"""Up to so many orders all of them are returned."""

BEST_ORDERS: Final = 100
"""How many are returned of more than that."""


@dataclass(frozen=True)
class SearchLimits:
    """How far a search over orders goes.

    An exact search goes through at most ``max_sets`` sets of variables; ``"auto"`` is exact
    only if it stages at most ``auto_situations`` situations. For the rest see `LocalScores`.
    """

    max_sets: int = 1 << 17
    auto_situations: int = 250_000
    max_cells: int = 50_000_000
    max_key: int = 1 << 62


def search_orders(
    store: Store,
    survey_id: int,
    options: OrderOptions | None = None,
    *,
    limits: SearchLimits | None = None,
) -> OrderSearchResult:
    """Find the order of variables whose stratified staged tree has the best score [1]_.

    The stages of a variable are learnt among the observed configurations of the set of
    variables before it. They do not depend on the order within the set, so k variables need
    ``k * 2**(k - 1)`` stagings for all ``k!`` orders; constraints make it fewer.

    References
    ----------
    .. [1] Silander, T. and Leong, T.-Y. (2013). A dynamic programming algorithm for learning
       chain event graphs. Discovery Science, LNAI 8140, 201-216.
    """
    started = time.perf_counter()
    options = options or OrderOptions()
    limits = limits or SearchLimits()
    alpha, search, blank = options.alpha, options.search, options.blank
    exact_up_to = EXACT_SITUATIONS if options.method is None else 0
    with store.catalog() as catalog:
        survey = row(catalog, "survey", survey_id)
        names = chosen_variables(catalog, survey, options.variables)
        pairs = ordered_pairs(names, options.tiers, options.before)
        questions = find_questions(catalog, survey_id, names)
        tree = {"survey_id": survey_id, "settings": {"order": names}}
        counting = Weighting(options.weighting, options.deff).for_tree(catalog, tree)
    required_predecessors(names, pairs, {})
    with store.reading() as con:
        rows = read_complete_rows(con, survey, questions, blank=blank)
        with Steps(con) as steps:
            factor = counting.factor(steps) if counting.uses_weights else None
    gates = {
        question.name: [names[y] for y in question.gates]
        for question in rows.questions
        if question.gates
    }
    predecessors = required_predecessors(names, pairs, gates)
    mass = float(max(q.n_values for q in questions)) if alpha is None else float(alpha)
    _refuse_underflow(mass, rows)
    effects = tuple(counting.effects.get(name, 1.0) for name in names)
    effective_size = EffectiveSize(counting.uses_weights, factor, effects)
    plan = plan_of(options.learning, 0.0, effective_size.n_rows(rows.sums))
    local_scores = LocalScores(
        rows, effective_size, plan, mass, exact_up_to, limits.max_cells, limits.max_key
    )
    lasts_of = _exact_search(predecessors, rows, search, limits)
    ranking = _ranked(lasts_of, predecessors, local_scores)
    return OrderSearchResult(
        survey=str(survey["name"]),
        best=[names[x] for x in ranking.orders[0].order],
        score=order_score(ranking.orders[0].order, local_scores),
        settings={
            "method": plan.method,
            "exact_up_to": exact_up_to,
            "score": plan.score,
            "alpha": mass,
            "search": "greedy" if lasts_of is None else "exact",
            "before": [list(pair) for pair in pairs],
            "blank": blank,
        },
        n_orders=ranking.n_orders if lasts_of is not None else None,
        n_optimal=ranking.orders[0].n_ties if lasts_of is not None else None,
        margin=_margin(ranking, plan.score) if lasts_of is not None else None,
        orders=order_rows(ranking.orders, names, local_scores),
        best_by_last=best_by_last_rows(ranking.best_by_last, names, local_scores),
        variable_stagings=variable_staging_rows(names, local_scores),
        gates=gates,
        without_gate=[q.name for q in rows.questions if q.n_labels > q.n_values],
        n=int(rows.sums[:, 0].sum()),
        n_left_out=rows.n_left_out,
        left_out=rows.left_out,
        blanks=rows.blanks,
        weighting=_weighting(counting),
        alpha_is_default=alpha is None,
        seconds=time.perf_counter() - started,
    )


def _margin(ranking: order_ranking.Ranking, score: str) -> float | None:
    """Return by how much the best order not tied with the best is worse; None if not known."""
    best, others = ranking.orders[0], ranking.orders[ranking.orders[0].n_ties :]
    return abs(reported_score(best.score - others[0].score, score)) if others else None


def _weighting(counting: Weighting) -> dict[str, object]:
    """Return how respondents count, in words."""
    recorded = counting.as_json()
    recorded.pop("deff_is_given", None)
    return {name.replace("deff", "design effects"): value for name, value in recorded.items()}


def _refuse_underflow(alpha: float, rows: CompleteRows) -> None:
    n_shares = math.prod(question.n_labels for question in rows.questions)
    if n_shares > sys.float_info.max or not alpha / n_shares > sys.float_info.min:
        raise StagingError(
            f"alpha = {alpha:g}, shared among the answers to {len(rows.questions):,} "
            "variables, leaves no prior mass for the last one (less than 1e-308)",
            hint="give a larger alpha, or use fewer variables",
        )


def _exact_search(
    predecessors: Sequence[int], rows: CompleteRows, search: str, limits: SearchLimits
) -> dict[int, list[int]] | None:
    """Return the sets an exact search goes through, with their last variables, or None."""
    if search == "greedy":
        return None
    subsets = order_ranking.down_sets(predecessors, limits.max_sets)
    if subsets is None:
        if search == "auto":
            return None
        raise TreeError(
            f"an exact search over {len(predecessors)} variables goes through more than "
            f"{limits.max_sets:,} sets of them: too many",
            hint="add constraints (tiers, before), or give search='greedy'",
        )
    lasts_of = order_ranking.last_variables(subsets)
    if search == "exact" or _is_quick(lasts_of, rows, limits.auto_situations):
        return lasts_of
    return None


def _is_quick(lasts_of: Mapping[int, Sequence[int]], rows: CompleteRows, most: int) -> bool:
    """Return whether an exact search certainly stages few situations."""
    sizes = [question.n_values + bool(question.gates) for question in rows.questions]
    total = 0
    for subset, lasts in lasts_of.items():
        for x in lasts:
            size = math.prod(sizes[y] for y in order_ranking.members(subset ^ 1 << x))
            total += min(size, len(rows.codes))
        if total > most:
            return False
    return True


def _ranked(
    lasts_of: dict[int, list[int]] | None,
    predecessors: Sequence[int],
    local_scores: LocalScores,
) -> order_ranking.Ranking:
    if lasts_of is None:
        order = order_ranking.greedy_order(predecessors, local_scores)
        return order_ranking.Ranking([order], [order], 0)
    # Larger sets first: the rows of a smaller one are summed from theirs.
    for subset in reversed(lasts_of):
        for x in lasts_of[subset]:
            local_scores.staging(x, subset ^ 1 << x)
    n_orders = order_ranking.count_orders(lasts_of)
    limit = ALL_ORDERS if n_orders <= ALL_ORDERS else BEST_ORDERS
    return order_ranking.rank_orders(lasts_of, local_scores, limit=limit)
