"""Interventions: other probabilities on the edges of a CEG that is taken to be causal."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import numpy as np

from cegdb.errors import QueryError, counted, is_number, is_one_of, listed
from cegdb.evidence import All, Count, Likelihood, Order, Take, Visit, items, text_of
from cegdb.inference.compiled import MIXED, NOT_APPLICABLE
from cegdb.inference.propagation import MOST
from cegdb.inference.queries import condition
from cegdb.names import find_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from cegdb.evidence import Evidence
    from cegdb.inference.compiled import Compiled
    from cegdb.inference.propagation import Floats, Ints

    Flags: TypeAlias = NDArray[np.bool_]

Absent: TypeAlias = Literal["error", "leave"]

MAPPING: Final = 'give a mapping: {"Treatment": "Treated"}'
_HINT: Final = 'give a label, or a distribution: {"Treated": 0.3, "Not treated": 0.7}'
_ROUNDING: Final = 1e-9
_ALL: Final = slice(None)
_NOTHING: Final = All(())


@dataclass(frozen=True)
class Intervention:
    """A CEG after an intervention.

    Parameters
    ----------
    ceg
        With the probabilities it has then.
    names
        Of the variables or positions that were set.
    words
        How, one text each.
    is_set
        Of each edge, whether its probability was set.
    share
        Of each edge that was set, its probability where the variable applies.
    """

    ceg: Compiled
    names: tuple[str, ...]
    words: tuple[str, ...]
    is_set: Flags
    share: Floats

    def applied(self, probability: Floats, edges: Ints | slice = _ALL) -> Floats:
        """Return probabilities of edges after it; further axes are others of their own.

        What does not apply at a position that also has labels stays so. ``edges`` are all
        edges of some positions.
        """
        source = self.ceg.graph.source[edges]
        if not len(source):
            return probability
        starts = np.flatnonzero(np.diff(source, prepend=-1))
        shape = (-1,) + (1,) * (probability.ndim - 1)
        is_set = self.is_set[edges].reshape(shape)
        kept = np.add.reduceat(np.where(is_set, 0.0, probability), starts, axis=0)
        rest = (1.0 - kept)[np.searchsorted(source[starts], source)]
        return np.where(is_set, self.share[edges].reshape(shape) * rest, probability)


def untouched(ceg: Compiled) -> Intervention:
    """Return the intervention that sets nothing."""
    n_edges = len(ceg.probability)
    return Intervention(ceg, (), (), np.zeros(n_edges, bool), np.zeros(n_edges))


def intervene(
    before: Intervention,
    actions: Mapping[str, object],
    absent: Absent = "error",
    group: Evidence = _NOTHING,
) -> Intervention:
    """Set the answers of variables, or what happens at positions.

    Parameters
    ----------
    before
        The CEG, and what is set already.
    actions
        Variable -> label, or label -> probability; a position (``"w3"``) where no variable
        has that name.
    absent
        What to do where a position that is reached lacks the label: ``"error"``, or
        ``"leave"`` its probabilities as they are.
    group
        Evidence: positions that it does not leave count as not reached.

    Raises
    ------
    QueryError
        A name or label is unknown, set twice, or absent at a position; a distribution is
        none.

    Notes
    -----
    Paths on which a variable does not occur stay as they are, and so does the share of a
    position for which it is explicitly not applicable, unless that is stated:
    ``docs/theory.md``, section 11a.
    """
    if not is_one_of(absent, get_args(Absent)):
        raise QueryError(f"absent is {absent!r}", hint="choose 'error' or 'leave'")
    if not actions:
        raise QueryError("nothing is set", hint=MAPPING)
    ceg = before.ceg
    source, n_nodes = ceg.graph.source, ceg.graph.n_nodes
    applies = np.array(ceg.texts) != NOT_APPLICABLE
    is_set, set_to = before.is_set.copy(), before.share.copy()
    words, lacking = list(before.words), []
    for name, stated in actions.items():
        shares = _stated(name, stated)
        nodes, share = _shares(ceg, name, shares)
        edges = np.isin(source, nodes)
        if is_set[edges].any():
            raise QueryError(f"{name!r} is set twice", hint="set a variable once")
        if NOT_APPLICABLE not in shares:
            edges &= applies
        total = np.bincount(source, np.where(edges, share, 0.0), n_nodes)
        has_edges = np.bincount(source, edges, n_nodes) > 0
        lacks = nodes[(total[nodes] < 1 - _ROUNDING) & has_edges[nodes]]
        edges &= ~np.isin(source, lacks)
        set_to[edges] = share[edges]
        is_set |= edges
        lacking.append((name, shares, lacks))
        words.append(_in_words(name, shares))
    names = (*before.names, *map(str, actions))
    made = Intervention(ceg, names, tuple(words), is_set, set_to)
    made = replace(made, ceg=replace(ceg, probability=made.applied(ceg.probability)))
    if absent == "error" and any(len(lacks) for *_, lacks in lacking):
        reached = np.unique(condition(made.ceg, group).product.node)
        for name, shares, lacks in lacking:
            _refuse_lacking(made.ceg, name, shares, lacks[np.isin(lacks, reached)])
    return made


def _stated(name: object, stated: object) -> dict[str, float]:
    """Return labels and their probabilities."""
    if not isinstance(stated, Mapping):
        if stated is None or isinstance(stated, (list, tuple, set, frozenset)):
            raise QueryError(f"{name!r} is set to {stated!r}", hint=_HINT)
        return {text_of(stated): 1.0}
    for label, share in stated.items():
        if not is_number(share) or share < 0:
            raise QueryError(
                f"the probability of {name} = {label} is {share!r}",
                hint="give a number from 0 to 1",
            )
    total = math.fsum(stated.values())
    if abs(total - 1) > _ROUNDING:
        raise QueryError(
            f"the probabilities of {name!r} sum to {total:.10g}", hint="they must sum to 1"
        )
    return {text_of(label): float(share) / total for label, share in stated.items()}


def _in_words(name: object, shares: Mapping[str, float]) -> str:
    certain = [label for label, share in shares.items() if share == 1]
    if certain:
        return f"{name} = {certain[0]}"
    each = ", ".join(f"{label}: {share:.4g}" for label, share in shares.items())
    return f"{name} ~ {each}"


def _shares(ceg: Compiled, name: object, shares: Mapping[str, float]) -> tuple[Ints, Floats]:
    """Return the nodes that an action sets, and the probability it states for each edge."""
    graph = ceg.graph
    share = np.zeros(len(ceg.probability))
    if ceg.has_variable(name):
        place = ceg.place(name)
        known = ceg.variables[place]
        stated = np.zeros(len(known.labels))
        for label, value in shares.items():
            stated[known.place(label)] += value
        is_it = ceg.edge_variable == place
        share[is_it] = stated[ceg.label[is_it]]
        return np.flatnonzero(ceg.variable == place), share
    if isinstance(name, str) and find_name(name, ceg.names) is None:
        ceg.place(name)
    node = ceg.node(name)
    edges = np.flatnonzero(graph.source == node)
    labels = [ceg.texts[edge] for edge in edges.tolist()]
    variable = ceg.variable[node]
    for label, value in shares.items():
        if label not in labels and variable >= 0:
            at = ceg.variables[variable].place(label)
            share[edges[ceg.label[edges] == at]] += value
        elif label in labels:
            share[edges[labels.index(label)]] += value
        elif variable == MIXED or not labels:
            raise QueryError(
                f"position {ceg.names[node]} of {ceg.shown} has no edge {label!r}",
                hint=f"available: {listed(map(repr, labels))}"
                if labels
                else "nothing follows it",
            )
    return np.array([node]), share


def _refuse_lacking(
    after: Compiled, name: object, shares: Mapping[str, float], lacks: Ints
) -> None:
    if not len(lacks):
        return
    missing = []
    for node in lacks.tolist():
        edges = np.flatnonzero(after.graph.source == node).tolist()
        labels = listed([repr(after.texts[edge]) for edge in edges])
        missing.append(f"{after.names[node]} (it has {labels})")
    raise QueryError(
        f"{_in_words(name, shares)} cannot be set at {counted(len(missing), 'position')} that "
        f"can be reached and lack a label: {listed(missing)}",
        hint="absent='leave' leaves those as they are; or set other labels",
    )


def assumption(ceg: Compiled, names: Sequence[object]) -> str:
    """Return what must be true for an intervention to be read off a CEG, in words."""
    what = " and ".join(map(str, names))
    return (
        f"assumed, not tested: the order of CEG {ceg.name!r} is causal (setting {what} changes "
        "nothing that comes before it, and leaves the probabilities of what follows each "
        f"position), and nothing unmeasured confounds {what} and what follows"
    )


def below(ceg: Compiled, variable: int) -> Flags:
    """Return which nodes lie below an edge of a variable."""
    graph = ceg.graph
    found = np.zeros(graph.n_nodes, bool)
    for part in graph.layers():
        leads = found[graph.source[part]] | (ceg.edge_variable[part] == variable)
        found[graph.target[part][leads]] = True
    return found


def refuse_later(ceg: Compiled, treatment: int, evidence: Evidence) -> None:
    """Refuse evidence on what a treatment may change.

    Raises
    ------
    QueryError
        Part of it is the treatment itself or may come after it.
    """
    after = below(ceg, treatment)
    treated = ceg.variables[treatment].name
    for part in _parts(evidence):
        if isinstance(part, (Visit, Take)):
            node = ceg.node(part.position)
            is_later = after[node] or (
                isinstance(part, Take) and ceg.variable[node] == treatment
            )
        else:
            place = ceg.place(part.variable)  # type: ignore[attr-defined]
            is_later = place == treatment or bool(after[:-1][ceg.variable[:-1] == place].any())
        if is_later:
            raise QueryError(
                f"{part} may come after {treated!r} or be it, so that setting {treated!r} "
                "changes who is in that group: P(outcome || treatment, group) would not "
                "compare the same people",
                hint=f"give groups by what comes before {treated!r}; to observe after "
                "intervening: ceg.do(...).given(...)",
            )


def _parts(evidence: Evidence) -> Iterator[Evidence]:
    for part in items(evidence):
        if isinstance(part, Count):
            for event in part.of:
                yield from _parts(event)
        elif isinstance(part, Order):
            yield from _parts(part.first)
            yield from _parts(part.second)
        else:
            yield part


def refuse_soft(evidence: Evidence) -> None:
    """Refuse evidence that is no event."""
    for part in items(evidence):
        if isinstance(part, Likelihood):
            raise QueryError(f"{part} is no event", hint="give answers, positions or edges")


def levels_of(ceg: Compiled, treatment: int, named: Sequence[object] | None) -> list[str]:
    """Return the labels of a treatment to compare: those named, else all it can have.

    A single one is followed by all others.

    Raises
    ------
    QueryError
        There are fewer than two, or one is unknown or named twice.
    """
    known = ceg.variables[treatment]
    met = np.unique(ceg.label[ceg.edge_variable == treatment]).tolist()
    every = [known.labels[i] for i in met if known.labels[i] != NOT_APPLICABLE]
    if len(every) < 2:
        has = f"only the label {every[0]!r}" if every else "no label"
        raise QueryError(
            f"CEG {ceg.name!r} has {has} of {known.name!r}",
            hint="there is no other to compare it with: choose another treatment",
        )
    found = [known.labels[known.place(label)] for label in named or every]
    if len(found) == 1:
        found += [label for label in every if label != found[0]]
    if len(found) < 2 or len(set(found)) < len(found):
        raise QueryError(
            f"labels of {known.name!r} to compare: {listed(map(repr, found))}",
            hint="name two or more different ones",
        )
    return found


def rare(
    ceg: Compiled, treatment: int, labels: Sequence[str], passed: Floats, least: float
) -> list[tuple[int, str, float, bool]]:
    """Return where a label of a treatment is impossible, or has a small probability.

    Parameters
    ----------
    ceg, treatment, labels
        The labels of a variable of a CEG.
    passed
        Of each node, the probability to pass it.
    least
        Smaller probabilities are small.

    Returns
    -------
    list of tuple
        Node, label, probability where the treatment applies, whether there is such an edge.
    """
    found = []
    nodes = np.flatnonzero((ceg.variable == treatment) & (passed > 0))
    first = np.searchsorted(ceg.graph.source, [nodes, nodes + 1])
    for node, start, end in zip(nodes.tolist(), *first.tolist(), strict=True):
        texts, shares = ceg.texts[start:end], ceg.probability[start:end].tolist()
        of = dict(zip(texts, shares, strict=True))
        applies = 1.0 - of.pop(NOT_APPLICABLE, 0.0)
        if not of or applies <= 0:
            continue
        for label in labels:
            probability = of.get(label, 0.0) / applies
            if probability < least:
                found.append((node, label, probability, label in of))
    return found


def histories(ceg: Compiled, nodes: Sequence[int]) -> list[str]:
    """Return the most probable way to each node, in words."""
    graph, value = ceg.graph, ceg.probability
    best = graph.forward(value, MOST)
    names = [variable.name for variable in ceg.variables]
    order = np.argsort(graph.target, kind="stable")
    first = np.searchsorted(graph.target[order], np.arange(graph.n_nodes + 1))
    found = []
    for end in nodes:
        node, steps = end, []
        while node:
            edges = order[first[node] : first[node + 1]]
            edge = int(edges[np.argmax(best[graph.source[edges]] * value[edges])])
            asked = int(ceg.edge_variable[edge])
            name = names[asked] if asked >= 0 else "(several)"
            steps.append(f"{name} = {ceg.texts[edge]}")
            node = int(graph.source[edge])
        found.append(", ".join(reversed(steps)) or "(the root)")
    return found
