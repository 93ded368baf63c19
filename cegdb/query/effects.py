"""Effects of a treatment: what follows each of its labels when set, and when only seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from cegdb.errors import QueryError, is_number, is_whole
from cegdb.evidence import All, Answer
from cegdb.query.asking import condition, probability_of
from cegdb.query.automata import run_automata
from cegdb.query.interventions import intervene, untouched

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cegdb.evidence import Evidence
    from cegdb.query.compiled import Compiled
    from cegdb.query.interventions import Absent, Intervention
    from cegdb.query.propagation import Floats

_CELLS: Final = 4_000_000
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
    parts = []
    for theta in _thetas(made[0].ceg, masses, draws, seed):
        columns = []
        for one in made:
            then = one.applied(theta)
            both = _total(one.ceg, All((group, outcome)), then)
            columns.append(both / _total(one.ceg, group, then))
        parts.append(np.column_stack(columns))
    return np.concatenate(parts)


def _total(ceg: Compiled, evidence: Evidence, theta: Floats) -> Floats:
    """Return the probability of evidence, for each column of probabilities of the edges."""
    if evidence == All(()):
        return np.ones(theta.shape[1])
    product = run_automata(ceg, evidence)
    if product is None:
        return np.zeros(theta.shape[1])
    factor = product.value / ceg.probability[product.edge]
    found: Floats = product.graph.backward(factor[:, None] * theta[product.edge])[0]
    return found


def _thetas(
    ceg: Compiled, masses: Mapping[tuple[int, str], float], draws: int, seed: int
) -> Iterator[Floats]:
    """Give probabilities of the edges drawn from the posterior, one column a draw."""
    keys = list(zip(ceg.stage_id[ceg.graph.source].tolist(), ceg.texts, strict=True))
    place = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    mass = np.array([masses[key] for key in place])
    _, stage = np.unique([key[0] for key in place], return_inverse=True)
    order = np.argsort(stage, kind="stable")
    starts = np.flatnonzero(np.diff(stage[order], prepend=-1))
    mean = mass / np.bincount(stage, mass)[stage]
    edge = np.array([place[key] for key in keys], np.int64)
    random = np.random.Generator(np.random.PCG64(seed))
    at_once = max(1, _CELLS // len(edge))
    for first in range(0, draws, at_once):
        share = random.standard_gamma(mass, (min(at_once, draws - first), len(mass)))
        total = np.add.reduceat(share[:, order], starts, axis=1)[:, stage]
        share = np.divide(
            share, total, out=np.broadcast_to(mean, share.shape).copy(), where=total > 0
        )
        yield share.T[edge]
