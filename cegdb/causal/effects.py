"""Effects of a treatment: the outcome given each label when set, and when only observed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from cegdb.causal.interventions import intervene, no_intervention
from cegdb.errors import QueryError
from cegdb.evidence import All, Answer
from cegdb.inference.automata import run_automata
from cegdb.inference.propagation import Graph
from cegdb.inference.queries import condition, probability_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cegdb.causal.interventions import Intervention
    from cegdb.evidence import Evidence
    from cegdb.inference.compiled_model import CompiledModel
    from cegdb.inference.propagation import Floats, Ints
    from cegdb.options import Absent

_CELLS_AT_ONCE: Final = 4_000_000
_ROUNDING: Final = 1e-12


class OutcomeProbabilities(NamedTuple):
    """The probability of an outcome by label of a treatment, given the group.

    ``intervened`` is P(outcome | do(treatment = label)); ``observed`` is P(outcome |
    treatment = label), NaN where nobody has that label.
    """

    intervened: Floats
    observed: Floats


def interventions_by_label(
    ceg: CompiledModel, treatment: str, labels: Sequence[str], group: Evidence, absent: Absent
) -> dict[str, Intervention]:
    """Return the CEG after setting each label of a treatment."""
    return {
        label: intervene(no_intervention(ceg), {treatment: label}, absent, group)
        for label in labels
    }


def outcome_probabilities(
    ceg: CompiledModel,
    treatment: str,
    by_label: Mapping[str, Intervention],
    outcome: Evidence,
    group: Evidence,
) -> OutcomeProbabilities:
    """Return the probability of an outcome for each label of a treatment."""
    intervened, observed = [], []
    for label, after in by_label.items():
        intervened.append(probability_of(condition(after.ceg, group), outcome))
        both = All((group, Answer(treatment, (label,))))
        try:
            observed.append(probability_of(condition(ceg, both), outcome))
        except QueryError:
            observed.append(np.nan)
    return OutcomeProbabilities(np.array(intervened), np.array(observed))


def sample_outcomes(
    interventions: Sequence[Intervention],
    outcome: Evidence,
    group: Evidence,
    masses: Mapping[tuple[int, str], float],
    draws: int,
    seed: int,
) -> Floats:
    """Draw parameters from the posterior; return one row a draw, one column an intervention.

    All interventions are on one CEG and share the draws; ``masses`` is the Dirichlet
    posterior of each stage and label.
    """
    ceg = interventions[0].ceg
    passes = [
        (one, _event_pass(one.ceg, All((group, outcome))), _event_pass(one.ceg, group))
        for one in interventions
    ]
    used = np.zeros(len(ceg.probability), bool)
    for _, *both in passes:
        for one_pass in both:
            used[one_pass.edge] = True
    edges = np.flatnonzero(np.isin(ceg.graph.source, ceg.graph.source[used]))
    index = np.full(len(used), -1)
    index[edges] = np.arange(len(edges))
    parts = [np.empty((0, len(interventions)))]
    for theta in _posterior_draws(ceg, edges, masses, draws, seed):
        columns = []
        for one, event, every in passes:
            intervened = one.apply(theta, edges)
            columns.append(event.total(intervened, index) / every.total(intervened, index))
        parts.append(np.column_stack(columns))
    return np.concatenate(parts)


class _EventPass(NamedTuple):
    """The part of a CEG that decides the probability of an event.

    ``graph`` ends where the event is certain, and is None where it is certain or impossible;
    ``edge`` and ``factor`` are the CEG edge of each edge and the factor of the evidence.
    """

    graph: Graph | None
    edge: Ints
    factor: Floats

    def total(self, theta: Floats, index: Ints) -> Floats:
        """Return the probability of the event, for each column of probabilities."""
        if self.graph is None:
            return np.full(theta.shape[1], float(self.factor[0]))
        value = self.factor[:, None] * theta[index[self.edge]]
        total: Floats = self.graph.backward(value)[0]
        return total


def _event_pass(ceg: CompiledModel, evidence: Evidence) -> _EventPass:
    """Return the part of a CEG that decides an event."""
    none = np.empty(0, np.int64)
    product = run_automata(ceg, evidence)
    if product is None:
        return _EventPass(None, none, np.zeros(1))
    graph = product.graph
    factor = product.value / ceg.probability[product.edge]
    backward_message = graph.backward(product.value)
    # Below a node where an event is certain, all paths count: they need not be followed.
    is_undecided = (backward_message < 1 - _ROUNDING) | bool((factor != 1).any())
    if not is_undecided[0]:
        return _EventPass(None, none, np.ones(1))
    is_undecided[-1] = False
    number = np.where(is_undecided, np.cumsum(is_undecided) - 1, is_undecided.sum())
    is_followed = is_undecided[graph.source]
    return _EventPass(
        Graph(
            np.append(graph.height[is_undecided], 0),
            number[graph.source[is_followed]],
            number[graph.target[is_followed]],
        ),
        product.edge[is_followed],
        factor[is_followed],
    )


def _posterior_draws(
    ceg: CompiledModel,
    edges: Ints,
    masses: Mapping[tuple[int, str], float],
    draws: int,
    seed: int,
) -> Iterator[Floats]:
    """Yield edge probabilities drawn from the posterior, one column per draw."""
    if not len(edges):
        yield np.empty((0, draws))
        return
    stages = ceg.stage_id[ceg.graph.source[edges]].tolist()
    keys = list(zip(stages, [ceg.edge_labels[edge] for edge in edges.tolist()], strict=True))
    known = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    mass = np.array([masses[key] for key in known])
    _, stage = np.unique([key[0] for key in known], return_inverse=True)
    order = np.argsort(stage, kind="stable")
    starts = np.flatnonzero(np.diff(stage[order], prepend=-1))
    mean = mass / np.bincount(stage, mass)[stage]
    which = np.array([known[key] for key in keys], np.int64)
    random = np.random.Generator(np.random.PCG64(seed))
    at_once = max(1, _CELLS_AT_ONCE // len(edges))
    for first in range(0, draws, at_once):
        share = random.standard_gamma(mass, (min(at_once, draws - first), len(mass)))
        total = np.add.reduceat(share[:, order], starts, axis=1)[:, stage]
        plain = np.broadcast_to(mean, share.shape).copy()
        share = np.divide(share, total, out=plain, where=total > 0)
        yield share.T[which]
