"""Search over the orders of variables for the staged tree of best score."""

from __future__ import annotations

import math
import sys
import time
from typing import TYPE_CHECKING, Final

from cegdb.errors import StagingError, TreeError, agreeing, listed
from cegdb.options import LearnOptions, OrderOptions
from cegdb.orders import order_ranking
from cegdb.orders.complete_cases import CompleteRows, Question, complete_rows, find_questions
from cegdb.orders.constraints import chosen_variables, needed, ordered_pairs
from cegdb.orders.order_result import (
    FoundOrders,
    local_rows,
    local_scores,
    order_rows,
    shown,
    winner_rows,
)
from cegdb.orders.order_scores import LocalScores, Worth
from cegdb.sqlfiles import Steps
from cegdb.stages.effective_counts import Weighting
from cegdb.stages.learning import plan_of
from cegdb.store.catalog import row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cegdb.store import Store

ALL_ORDERS: Final = 5040
BEST_ORDERS: Final = 100
_MOST_SETS: Final = 1 << 17
_AUTO_SITUATIONS: Final = 250_000


def search_orders(
    store: Store, survey_id: int, options: OrderOptions | None = None
) -> FoundOrders:
    """Find the order of variables whose stratified staged tree has the best score [1]_.

    The stages of a variable are learnt among the observed configurations of the set of
    variables before it. They do not depend on the order within the set, so k variables need
    ``k * 2**(k - 1)`` stagings for all ``k!`` orders; constraints make it fewer.

    References
    ----------
    .. [1] Silander, T. and Leong, T.-Y. (2013). A dynamic programming algorithm for learning
       chain event graphs. Discovery Science, LNAI 8140, 201-216.

    Examples
    --------
    >>> from cegdb.ingest import ingest
    >>> from cegdb.store import Store
    >>> with Store.open() as store:
    ...     rows = "select i % 2 as x, i % 3 = 0 and i % 2 = 0 as y from range(60) t(i)"
    ...     search_orders(store, ingest(store, rows)).best
    ['y', 'x']
    """
    started = time.perf_counter()
    options = options or OrderOptions()
    method, alpha, search, blank = options.method, options.alpha, options.search, options.blank
    learning = LearnOptions(method=method, score=options.score)
    with store.catalog() as catalog:
        survey = row(catalog, "survey", survey_id)
        names = chosen_variables(catalog, survey, options.variables)
        pairs = ordered_pairs(names, options.tiers, options.before)
        questions = find_questions(catalog, survey_id, names)
        tree = {"survey_id": survey_id, "settings": {"order": names}}
        counting = Weighting(options.weighting, options.deff).settled(catalog, tree)
    needed(names, pairs, {})
    with store.reading() as con:
        rows = complete_rows(con, survey, questions, blank=blank)
        with Steps(con) as steps:
            factor = counting.factor(steps) if counting.uses_weights else None
    gates = {
        asked.name: [names[y] for y in asked.gates] for asked in rows.questions if asked.gates
    }
    needs = needed(names, pairs, gates)
    mass = float(max(q.n_values for q in questions)) if alpha is None else float(alpha)
    _refuse_underflow(mass, rows)
    effects = tuple(counting.effects.get(name, 1.0) for name in names)
    worth = Worth(counting.uses_weights, factor, effects)
    _refuse_misfit(method, rows.questions)
    plan = plan_of(learning, 0.0, worth.n_rows(rows.sums))
    local = LocalScores(rows, worth, plan, mass)
    to_do = _exact_steps(needs, rows, search)
    ranking = _ranked(to_do, needs, local)
    return FoundOrders(
        survey=str(survey["name"]),
        best=[names[x] for x in ranking.orders[0].order],
        score=shown(math.fsum(local_scores(ranking.orders[0].order, local)), plan.score),
        settings={
            "method": method,
            "score": plan.score,
            "alpha": mass,
            "search": "greedy" if to_do is None else "exact",
            "before": [list(pair) for pair in pairs],
            "blank": blank,
        },
        n_orders=ranking.n_orders if to_do is not None else None,
        n_optimal=ranking.orders[0].n_ties if to_do is not None else None,
        orders=order_rows(ranking.orders, names, local),
        winners=winner_rows(ranking.winners, names, local),
        local=local_rows(names, local),
        gates=gates,
        undecided=[q.name for q in rows.questions if q.n_labels > q.n_values],
        n=int(rows.sums[:, 0].sum()),
        n_left_out=rows.n_left_out,
        left_out=rows.left_out,
        blanks=rows.blanks,
        weighting=_weighting(counting),
        alpha_is_default=alpha is None,
        seconds=time.perf_counter() - started,
    )


def _weighting(counting: Weighting) -> dict[str, object]:
    """Return how respondents count, for people."""
    told = counting.as_json()
    told.pop("deff_is_given", None)
    return {name.replace("deff", "design effects"): value for name, value in told.items()}


def _refuse_misfit(method: str, questions: Sequence[Question]) -> None:
    many = [repr(asked.name) for asked in questions if asked.n_labels > 2]
    if method == "exact" and many:
        raise StagingError(
            f"method 'exact' is for variables of two labels; {listed(many)} "
            f"{agreeing(len(many), 'have')} more",
            hint="use method='bhc', or leave them out of variables",
        )


def _refuse_underflow(alpha: float, rows: CompleteRows) -> None:
    n_shares = math.prod(asked.n_labels for asked in rows.questions)
    if n_shares > sys.float_info.max or not alpha / n_shares > sys.float_info.min:
        raise StagingError(
            f"alpha = {alpha:g}, shared among the answers to {len(rows.questions):,} "
            "variables, leaves no prior mass to the last (less than 1e-308)",
            hint="give a larger alpha, or use fewer variables",
        )


def _exact_steps(
    needs: Sequence[int], rows: CompleteRows, search: str
) -> dict[int, list[int]] | None:
    """Return what an exact search goes through, None for a greedy one."""
    if search == "greedy":
        return None
    subsets = order_ranking.down_sets(needs, _MOST_SETS)
    if subsets is None:
        if search == "auto":
            return None
        raise TreeError(
            f"more than {_MOST_SETS:,} sets of the {len(needs)} variables can come first: "
            "too many for an exact search",
            hint="say more of what comes before what (tiers, before), or search='greedy'",
        )
    steps = order_ranking.steps_of(subsets)
    return steps if search == "exact" or _is_quick(steps, rows) else None


def _is_quick(steps: Mapping[int, Sequence[int]], rows: CompleteRows) -> bool:
    """Return whether an exact search stages few situations, at most."""
    sizes = [asked.n_values + bool(asked.gates) for asked in rows.questions]
    total = 0
    for subset, lasts in steps.items():
        for x in lasts:
            size = math.prod(sizes[y] for y in order_ranking.members(subset ^ 1 << x))
            total += min(size, len(rows.codes))
        if total > _AUTO_SITUATIONS:
            return False
    return True


def _ranked(
    steps: dict[int, list[int]] | None, needs: Sequence[int], local: LocalScores
) -> order_ranking.Ranking:
    if steps is None:
        found = order_ranking.insert_variables(needs, local)
        return order_ranking.Ranking([found], [found], 0)
    # Larger sets first: the rows of a smaller one are summed from theirs.
    for subset in reversed(steps):
        for x in steps[subset]:
            local.staged(x, subset ^ 1 << x)
    n_orders = order_ranking.count_orders(steps)
    most = ALL_ORDERS if n_orders <= ALL_ORDERS else BEST_ORDERS
    return order_ranking.rank_orders(steps, local, most=most)
