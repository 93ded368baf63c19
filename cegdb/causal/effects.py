"""Effects of a treatment: what follows each of its labels when set, and when only seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from cegdb.causal.interventions import intervene, untouched
from cegdb.errors import QueryError, is_number, is_whole
from cegdb.evidence import All, Answer
from cegdb.inference.automata import run_automata
from cegdb.inference.propagation import Graph
from cegdb.inference.queries import condition, probability_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cegdb.causal.interventions import Absent, Intervention
    from cegdb.evidence import Evidence
    from cegdb.inference.compiled import Compiled
    from cegdb.inference.propagation import Floats, Ints

_CELLS: Final = 4_000_000
_ROUNDING: Final = 1e-12
_MOST_DRAWS: Final = 1_000_000


class Outcomes(NamedTuple):
    """The outcome under each label of a treatment.

    Attributes
    ----------
    under
        P(outcome || treatment = label), given the group.
    seen
        P(outcome | treatment = label), given the group; NaN where nobody has that label.
    """

    under: Floats
    seen: Floats


def interventions(
    ceg: Compiled, treatment: str, labels: Sequence[str], group: Evidence, absent: Absent
) -> dict[str, Intervention]:
    """Return the CEG after setting each label of a treatment."""
    return {
        label: intervene(untouched(ceg), {treatment: label}, absent, group) for label in labels
    }


def outcomes(
    ceg: Compiled,
    treatment: str,
    made: Mapping[str, Intervention],
    outcome: Evidence,
    group: Evidence,
) -> Outcomes:
    """Return the probability of an outcome under each label of a treatment.

    Parameters
    ----------
    ceg
        Without any intervention.
    treatment, made
        A variable, and the CEG after setting each of its labels to compare.
    outcome
        An event.
    group
        What is known before the treatment.
    """
    under, seen = [], []
    for label, after in made.items():
        under.append(probability_of(condition(after.ceg, group), outcome))
        both = All((group, Answer(treatment, (label,))))
        try:
            seen.append(probability_of(condition(ceg, both), outcome))
        except QueryError:
            seen.append(np.nan)
    return Outcomes(np.array(under), np.array(seen))


def checked_draws(level: float, draws: int) -> None:
    """Refuse a level or number of draws that is not usable.

    Examples
    --------
    >>> checked_draws(0.95, 1000)
    """
    if not is_number(level) or not 0 < level < 1:
        raise QueryError(f"level is {level!r}", hint="give a number between 0 and 1: 0.95")
    if not is_whole(draws) or not 0 <= draws <= _MOST_DRAWS:
        raise QueryError(
            f"draws is {draws!r}",
            hint=f"give a whole number from 0 (no intervals) to {_MOST_DRAWS:,}",
        )


def drawn_outcomes(
    made: Sequence[Intervention],
    outcome: Evidence,
    group: Evidence,
    masses: Mapping[tuple[int, str], float],
    draws: int,
    seed: int,
) -> Floats:
    """Return the outcome under interventions for probabilities drawn from the posterior.

    Parameters
    ----------
    made
        Interventions on one CEG.
    outcome, group
        As `outcomes` takes them.
    masses
        The Dirichlet posterior: the mass of each stage and label.
    draws, seed
        How many draws; of the random numbers.

    Returns
    -------
    ndarray
        One row a draw, the same for all interventions, and one column an intervention.
    """
    ceg = made[0].ceg
    passes = [
        (one, _pass(one.ceg, All((group, outcome))), _pass(one.ceg, group)) for one in made
    ]
    used = np.zeros(len(ceg.probability), bool)
    for _, *both in passes:
        for one_pass in both:
            used[one_pass.edge] = True
    edges = np.flatnonzero(np.isin(ceg.graph.source, ceg.graph.source[used]))
    place = np.full(len(used), -1)
    place[edges] = np.arange(len(edges))
    parts = [np.empty((0, len(made)))]
    for theta in _thetas(ceg, edges, masses, draws, seed):
        columns = []
        for one, event, every in passes:
            then = one.applied(theta, edges)
            columns.append(event.total(then, place) / every.total(then, place))
        parts.append(np.column_stack(columns))
    return np.concatenate(parts)


class _Pass(NamedTuple):
    """What decides the probability of an event: no more edges than that.

    Attributes
    ----------
    graph
        The paths, up to where the event is certain.
    edge, factor
        The edge of the CEG of each edge here, and the factor of the evidence on it.
    """

    graph: Graph | None
    edge: Ints
    factor: Floats

    def total(self, theta: Floats, place: Ints) -> Floats:
        """Return the probability of the event, for each column of probabilities."""
        if self.graph is None:
            return np.full(theta.shape[1], float(self.factor[0]))
        value = self.factor[:, None] * theta[place[self.edge]]
        found: Floats = self.graph.backward(value)[0]
        return found


def _pass(ceg: Compiled, evidence: Evidence) -> _Pass:
    """Return what decides an event; a graph of None is one that is certain or impossible."""
    none = np.empty(0, np.int64)
    product = run_automata(ceg, evidence)
    if product is None:
        return _Pass(None, none, np.zeros(1))
    graph = product.graph
    factor = product.value / ceg.probability[product.edge]
    onward = graph.backward(product.value)
    # Of evidence that is an event, nothing is lost below where it is certain.
    is_open = (onward < 1 - _ROUNDING) | bool((factor != 1).any())
    if not is_open[0]:
        return _Pass(None, none, np.ones(1))
    is_open[-1] = False
    number = np.where(is_open, np.cumsum(is_open) - 1, is_open.sum())
    kept = is_open[graph.source]
    return _Pass(
        Graph(
            np.append(graph.height[is_open], 0),
            number[graph.source[kept]],
            number[graph.target[kept]],
        ),
        product.edge[kept],
        factor[kept],
    )


def _thetas(
    ceg: Compiled,
    edges: Ints,
    masses: Mapping[tuple[int, str], float],
    draws: int,
    seed: int,
) -> Iterator[Floats]:
    """Give probabilities of edges drawn from the posterior, one column a draw."""
    if not len(edges):
        yield np.empty((0, draws))
        return
    stages = ceg.stage_id[ceg.graph.source[edges]].tolist()
    keys = list(zip(stages, [ceg.texts[edge] for edge in edges.tolist()], strict=True))
    known = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    mass = np.array([masses[key] for key in known])
    _, stage = np.unique([key[0] for key in known], return_inverse=True)
    order = np.argsort(stage, kind="stable")
    starts = np.flatnonzero(np.diff(stage[order], prepend=-1))
    mean = mass / np.bincount(stage, mass)[stage]
    which = np.array([known[key] for key in keys], np.int64)
    random = np.random.Generator(np.random.PCG64(seed))
    at_once = max(1, _CELLS // len(edges))
    for first in range(0, draws, at_once):
        share = random.standard_gamma(mass, (min(at_once, draws - first), len(mass)))
        total = np.add.reduceat(share[:, order], starts, axis=1)[:, stage]
        plain = np.broadcast_to(mean, share.shape).copy()
        share = np.divide(share, total, out=plain, where=total > 0)
        yield share.T[which]
