"""Whether X is independent of Y given Z: for all parameters, and at the fitted ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil, fsum, log10
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from cegdb.errors import QueryError, agreeing, listed
from cegdb.evidence import All, Answer, Evidence, Take, Visit, evidence_of
from cegdb.independence.modular_arithmetic import MODULAR, PRIME, multiply, random_parameters
from cegdb.inference.automata import event_changes, run_automata
from cegdb.inference.propagation import REAL
from cegdb.inference.queries import MOST_STATES, path_sums, too_many_combinations
from cegdb.ingest.coding.variables import NOT_APPLICABLE
from cegdb.names import first_repeated

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeAlias

    import pandas as pd
    from numpy.typing import NDArray

    from cegdb.inference.automata import Product
    from cegdb.inference.compiled_model import CompiledModel
    from cegdb.inference.propagation import Floats, Ints, Ring

    Part: TypeAlias = "str | Evidence | Mapping[str, object]"
    Parts: TypeAlias = "Part | Sequence[Part]"

N_DRAWS: Final = 2
_SEED: Final = 20_260_101
_IMPOSSIBLE: Final = "no path agrees with all parts of it: leave one out"
_HINT: Final = 'give names of variables, {"variable": "label"}, visits("w3") or takes(...)'


class Stratum(NamedTuple):
    """X and Y where Z has some answers.

    ``mutual_information`` (nats) and ``difference``, the largest between probabilities of an
    answer to X for two answers to Y, are at the fitted probabilities.
    """

    stratum: str
    probability: float
    holds: bool
    mutual_information: float
    contribution: float
    difference: float


@dataclass(frozen=True)
class Independence:
    """The result of `independence`.

    Parameters
    ----------
    statement
        The independence that was tested.
    holds
        Whether it holds for all values of the stage probabilities.
    is_trivial
        Whether it holds because each stratum leaves only one possible answer to X or to Y.
    false_positive_bound
        Upper bound of the probability that ``holds`` is wrong: 0 where it is False or trivial.
    fitted
        Conditional mutual information in nats at the fitted probabilities (posterior means);
        0 if and only if X and Y are independent there.
    strata
        One for each combination of answers to Z, the largest contribution first.
    """

    statement: str
    holds: bool
    is_trivial: bool
    false_positive_bound: float
    fitted: float
    strata: tuple[Stratum, ...]

    @property
    def frame(self) -> pd.DataFrame:
        """The strata as rows, the largest contribution first.

        Columns: ``stratum``, an answer to each variable of Z; its ``probability``; whether
        independence ``holds`` there for all parameters; at the fitted ones its
        ``mutual_information`` (nats), its ``contribution`` to that of all strata, and the
        largest ``difference`` between probabilities of an answer to X for two answers to Y.
        """
        import pandas as pd

        return pd.DataFrame(self.strata, columns=list(Stratum._fields))

    def __str__(self) -> str:
        """Return the verdict as a sentence."""
        if self.is_trivial:
            return f"{self.statement}: yes, because one of them has only one possible answer"
        if self.holds:
            least = ceil(log10(self.false_positive_bound))
            return (
                f"{self.statement}: yes, whatever the probabilities of the stages (a false "
                f"positive has probability below 1e{least})"
            )
        worst = self.strata[0]
        where = f", most at {worst.stratum}" if len(self.strata) > 1 else ""
        return (
            f"{self.statement}: no; as fitted, the mutual information is {self.fitted:.3g} nats"
            f"{where} (probabilities differ by up to {worst.difference:.3g})"
        )


class _TrackedVariable(NamedTuple):
    """A variable or event whose value is tracked along paths, as one digit of the state."""

    text: str
    key: object
    start: int
    added: Ints
    texts: tuple[str, ...]
    merged: Ints


class _Cells(NamedTuple):
    """The combinations of answers that some path has.

    ``z``, ``zx``, ``zy`` number, for each, the answers to Z, to Z and X, to Z and Y;
    ``strata`` has those to Z as texts.
    """

    z: Ints
    zx: Ints
    zy: Ints
    strata: list[str]


def independence(
    ceg: CompiledModel,
    x: Parts,
    y: Parts,
    *,
    given: Parts = (),
    context: Evidence | Mapping[str, object] | None = None,
) -> Independence:
    """Return whether X is independent of Y given Z, in a context.

    X, Y and Z are names of variables or events, one or several; a path without a variable has
    the answer ``not applicable``. ``context`` is evidence given as well.
    """
    # P(x, y, z) P(z) - P(x, z) P(y, z) is zero for all answers if and only if the independence
    # holds. It is a polynomial in the free stage probabilities, evaluated at random ones modulo
    # 2^61 - 1, twice: one that is not zero is so both times with probability
    # (degree / (2^61 - 1))^2 at most (docs/theory.md, section 9.3).
    parts = [_tracked_variables(ceg, group) for group in (x, y, given)]
    repeated = first_repeated(part.key for group in parts for part in group)
    if repeated is not None:
        name = repr(repeated) if isinstance(repeated, str) else repeated
        raise QueryError(f"{name} is named twice", hint="name each variable once")
    if not parts[0] or not parts[1]:
        raise QueryError("X or Y is empty", hint=_HINT)
    evidence = All(()) if context is None else evidence_of(context, "context")
    evidence = ceg.with_stored_names(evidence)
    product = _possible_paths(ceg, evidence)
    order = [*parts[2], *parts[0], *parts[1]]
    added, n_states = _state_changes(ceg, order, product)
    parameters = random_parameters(ceg, N_DRAWS, _SEED)[product.edge]
    state, exact = path_sums(product.graph, parameters, added, n_states, MODULAR)
    _, mass = path_sums(product.graph, ceg.probability[product.edge], added, n_states)
    if not mass.sum() > 0:
        raise QueryError(
            f"the context has probability 0 in CEG {ceg.name!r}: {evidence}", hint=_IMPOSSIBLE
        )
    cells, first = _cells(parts, order, state)
    exact = _group_sums(MODULAR, exact, first)
    fitted = _group_sums(REAL, mass / mass.sum(), first)
    holds = _holds(cells, exact)
    strata = _strata(cells, fitted, holds)
    holds_everywhere, is_trivial = (
        bool(holds.all()),
        bool((_n_answers(cells) == 1).any(axis=0).all()),
    )
    bound = (2 * int(product.graph.height[0]) / PRIME) ** N_DRAWS
    return Independence(
        _statement(parts, evidence),
        holds_everywhere,
        is_trivial,
        bound if holds_everywhere and not is_trivial else 0.0,
        fsum(stratum.contribution for stratum in strata),
        tuple(sorted(strata, key=lambda one: -round(one.contribution, 15))),
    )


def _possible_paths(ceg: CompiledModel, evidence: Evidence) -> Product:
    """Return the paths that agree with evidence, also those of fitted probability 0."""
    product = run_automata(replace(ceg, probability=np.ones(len(ceg.probability))), evidence)
    if product is None:
        raise QueryError(
            f"the context is impossible in CEG {ceg.name!r}: {evidence}",
            hint=_IMPOSSIBLE,
        )
    if (product.value != 1).any():
        raise QueryError(
            f"the context is soft evidence: {evidence}",
            hint="give answers, positions or edges as context",
        )
    return product


def _tracked_variables(ceg: CompiledModel, parts: Parts) -> list[_TrackedVariable]:
    if isinstance(parts, (list, tuple)):
        return [_tracked_variable(ceg, part) for part in parts]
    return [_tracked_variable(ceg, parts)]


def _tracked_variable(ceg: CompiledModel, part: object) -> _TrackedVariable:
    if isinstance(part, (Evidence, Mapping)):
        return _event(ceg, ceg.with_stored_names(evidence_of(part)))
    if not isinstance(part, str):
        raise QueryError(f"{part!r} is not a variable or an event", hint=_HINT)
    index = ceg.variable_index(part)
    labels = ceg.variables[index].labels
    added = np.where(ceg.edge_variable == index, ceg.label + 1, 0)
    texts = (NOT_APPLICABLE, *labels)
    # An absent variable comes last, as one with an explicit "not applicable".
    merged = np.arange(-1, len(labels))
    merged[0] = labels.index(NOT_APPLICABLE) if NOT_APPLICABLE in labels else len(labels)
    name = ceg.variables[index].name
    return _TrackedVariable(name, name, 0, added, texts, merged)


def _event(ceg: CompiledModel, event: Evidence) -> _TrackedVariable:
    if not isinstance(event, (Answer, Visit, Take)):
        raise QueryError(f"{event} is not a variable or an event", hint=_HINT)
    start, change = event_changes(ceg, event)
    return _TrackedVariable(
        str(event), event, start, np.abs(change), ("no", "yes"), np.arange(2)
    )


def _state_changes(
    ceg: CompiledModel, order: Sequence[_TrackedVariable], product: Product
) -> tuple[Ints, int]:
    """Return what each edge adds to the state, and the number of states."""
    added, n_states = np.zeros(len(ceg.probability), np.int64), 1
    for part in reversed(order):
        added += part.added * n_states
        n_states *= len(part.texts)
        if n_states * product.graph.n_nodes > MOST_STATES:
            raise too_many_combinations()
    return added[product.edge], n_states


def _cells(
    parts: list[list[_TrackedVariable]], order: Sequence[_TrackedVariable], state: Ints
) -> tuple[_Cells, Ints]:
    """Return the combinations of answers, and the index of that of each state."""
    digits, left = [], state
    for part in reversed(order):
        digit = left % len(part.texts)
        digits.append(part.merged[digit ^ part.start if part.start else digit])
        left = left // len(part.texts)
    columns = np.column_stack(digits[::-1])
    rows, first = np.unique(columns, axis=0, return_inverse=True)
    n_given, n_x = len(parts[2]), len(parts[0])
    given, x_and_z = rows[:, :n_given], rows[:, : n_given + n_x]
    y_and_z = np.delete(rows, np.s_[n_given : n_given + n_x], axis=1)
    z_rows, z = _numbered(given)
    _, zx = _numbered(x_and_z)
    _, zy = _numbered(y_and_z)
    strata = [_stratum_text(parts[2], row) for row in z_rows.tolist()]
    return _Cells(z, zx, zy, strata), first.ravel()


def _numbered(rows: Ints) -> tuple[Ints, Ints]:
    if rows.shape[1] == 0:
        return rows[:1], np.zeros(len(rows), np.int64)
    distinct, number = np.unique(rows, axis=0, return_inverse=True)
    return distinct, number.ravel()


def _stratum_text(parts: Sequence[_TrackedVariable], row: Sequence[int]) -> str:
    answers = []
    for part, value in zip(parts, row, strict=True):
        label = part.texts[int(np.flatnonzero(part.merged == value)[0])]
        answers.append(
            f"{part.text} = {label}" if part.key == part.text else f"{part.text}: {label}"
        )
    return ", ".join(answers) or "all"


def _group_sums(ring: Ring, value: NDArray[Any], group: Ints) -> NDArray[Any]:
    """Return the sums of values by group; every group from 0 on occurs."""
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    return ring.total(value[order], starts)


def _z_of(cells: _Cells, group: Ints) -> Ints:
    """Return the stratum of each group of cells."""
    stratum = np.zeros(int(group.max()) + 1, np.int64)
    stratum[group] = cells.z
    return stratum


def _n_answers(cells: _Cells) -> NDArray[np.int64]:
    """Return the number of possible answers of X, and of Y, in each stratum."""
    return np.array([np.bincount(_z_of(cells, group)) for group in (cells.zx, cells.zy)])


def _holds(cells: _Cells, exact: NDArray[Any]) -> NDArray[np.bool_]:
    """Return, of each stratum, whether X and Y are independent for all parameters."""
    # If two possible answers cannot occur together, X and Y depend on each other.
    holds: NDArray[np.bool_] = np.bincount(cells.z) == _n_answers(cells).prod(axis=0)
    sums = [
        _group_sums(MODULAR, exact, group)[group] for group in (cells.z, cells.zx, cells.zy)
    ]
    is_equal = (multiply(exact, sums[0]) == multiply(sums[1], sums[2])).all(axis=1)
    holds[cells.z[~is_equal]] = False
    return holds


def _strata(cells: _Cells, mass: Floats, holds: NDArray[np.bool_]) -> list[Stratum]:
    of_z, of_zx, of_zy = (_group_sums(REAL, mass, g) for g in (cells.z, cells.zx, cells.zy))
    is_possible = mass > 0
    mass = mass[is_possible]
    z, zx, zy = (of[is_possible] for of in (cells.z, cells.zx, cells.zy))
    log_ratio = np.log(mass) + np.log(of_z[z]) - np.log(of_zx[zx]) - np.log(of_zy[zy])
    n = len(of_z)
    contribution = np.maximum(np.bincount(z, weights=mass * log_ratio, minlength=n), 0.0)
    most, least = np.zeros(len(of_zx)), np.full(len(of_zx), np.inf)
    np.maximum.at(most, zx, mass / of_zy[zy])
    np.minimum.at(least, zx, mass / of_zy[zy])
    n_groups = np.bincount(_z_of(cells, cells.zy)[of_zy > 0], minlength=n)
    z_of_zx = _z_of(cells, cells.zx)
    has_impossible = np.bincount(zx, minlength=len(of_zx)) < n_groups[z_of_zx]
    difference = np.zeros(n)
    np.maximum.at(difference, z_of_zx, most - np.where(has_impossible, 0.0, least))
    contribution, difference = (np.where(holds, 0.0, of) for of in (contribution, difference))
    within = np.divide(contribution, of_z, out=np.zeros(n), where=of_z > 0)
    # Divided by their own sum, a single stratum has probability 1, not 1 - 1e-16.
    columns = (of_z / of_z.sum(), holds, within, contribution, difference)
    return [
        Stratum(*row)
        for row in zip(cells.strata, *(column.tolist() for column in columns), strict=True)
    ]


def _statement(parts: list[list[_TrackedVariable]], evidence: Evidence) -> str:
    x, y, z = (listed((part.text for part in group), most=10) for group in parts)
    given = f" given {z}" if z else ""
    where = f", where {evidence}" if evidence != All(()) else ""
    is_or_are = agreeing(len(parts[0]), "are")
    return f"{x} {is_or_are} independent of {y}{given}{where}"
