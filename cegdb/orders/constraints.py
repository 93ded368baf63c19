"""The constraints of a search over orders: which variables, and which before which."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sa

from cegdb.errors import TreeError, items_of, listed
from cegdb.ingest.files.relation import find_columns
from cegdb.orders.order_ranking import mask_of
from cegdb.store import schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MAX_VARIABLES: Final = 60
_ORDERED: Final = "the variables to order"


def chosen_variables(
    catalog: sa.Connection, survey: Mapping[str, Any], variables: Sequence[str] | None
) -> list[str]:
    """Return the variables to order, looked up by name; all of the survey if none are given."""
    query = (
        sa.select(schema.variable.c.name)
        .where(schema.variable.c.survey_id == survey["survey_id"])
        .order_by(schema.variable.c.ordinal)
    )
    names = [str(name) for name in catalog.execute(query).scalars()]
    if variables is not None:
        chosen = items_of(variables, "variables", TreeError, hint="give a list of variables")
        names = find_columns(names, chosen, f"survey {survey['name']!r}")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TreeError(f"variables lists {listed(map(repr, twice))} more than once")
    if len(names) < 2:
        raise TreeError(
            f"there {'is 1 variable' if names else 'are 0 variables'} to order",
            hint="name two or more",
        )
    if len(names) > _MAX_VARIABLES:
        raise TreeError(
            f"{len(names):,} variables are too many to order: the limit is {_MAX_VARIABLES}",
            hint="choose some with variables (--variables A,B,C)",
        )
    return names


def ordered_pairs(
    names: list[str],
    tiers: Sequence[Sequence[str]] | None,
    before: Sequence[Sequence[str]],
) -> list[tuple[str, str]]:
    """Return tiers and pairs as pairs: the first variable comes before the second.

    Examples
    --------
    >>> ordered_pairs(["a", "b", "c"], [["a"], ["b"]], [("b", "c")])
    [('a', 'b'), ('b', 'c')]
    """
    hint = "give a list of lists of variables: those of the first come before all others"
    tier_of: dict[str, int] = {}
    pairs = []
    checked = items_of(() if tiers is None else tiers, "tiers", TreeError, hint=hint)
    for number, variables in enumerate(checked, 1):
        written = items_of(variables, f"tier {number}", TreeError, hint=hint)
        for name in find_columns(names, written, _ORDERED, setting=f"tier {number}"):
            if name in tier_of:
                raise TreeError(
                    f"{name!r} is in tier {tier_of[name]} and again in tier {number}",
                    hint="put each variable in one tier",
                )
            pairs += [(other, name) for other, tier in tier_of.items() if tier < number]
            tier_of[name] = number
    hint = "give a list of pairs: the first variable comes before the second"
    for pair in items_of(before, "before", TreeError, hint=hint):
        written = items_of(pair, "a pair of before", TreeError, hint=hint, in_order=True)
        if len(written) != 2:
            raise TreeError(
                f"each item of before must be two variables, not {tuple(written)!r}", hint=hint
            )
        first, second = find_columns(names, written, _ORDERED, setting="before")
        pairs.append((first, second))
    return list(dict.fromkeys(pairs))


def required_predecessors(
    names: list[str], pairs: Sequence[tuple[str, str]], gates: Mapping[str, list[str]]
) -> list[int]:
    """Return, for each variable, the set of those that must come before it.

    ``gates`` has the variables that decide whether another applies: they come before it.

    Examples
    --------
    >>> required_predecessors(["a", "b", "c"], [("a", "c")], {"c": ["b"]})
    [0, 0, 3]
    """
    earlier_ones: dict[str, set[str]] = {name: set(gates.get(name, ())) for name in names}
    for earlier, later in pairs:
        earlier_ones[later].add(earlier)
    try:
        TopologicalSorter(earlier_ones).prepare()
    except CycleError as error:
        circle = error.args[1]
        gated = [
            f"{later!r} comes after its gate {earlier!r}"
            for earlier, later in pairwise(circle)
            if earlier in gates.get(later, ())
        ]
        raise TreeError(
            f"no order is possible: {' before '.join(map(repr, circle))}",
            hint="; ".join(gated) or "leave out one of these constraints (tiers, before)",
        ) from None
    return [mask_of(names.index(earlier) for earlier in earlier_ones[name]) for name in names]
