"""Questions to a CEG, or to what evidence leaves of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from cegdb.errors import QueryError, is_number, is_whole, items_of
from cegdb.evidence import All, Evidence
from cegdb.inference.automata import Product, fewest, run_automata
from cegdb.inference.compiled import NOT_APPLICABLE
from cegdb.inference.propagation import NUMBER, REAL
from cegdb.names import only_match

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cegdb.inference.compiled import Compiled
    from cegdb.inference.propagation import Floats, Graph, Ints, Ring

_MOST_STATES: Final = 2**62
_MOST_ROWS: Final = 20_000_000


@dataclass(frozen=True)
class Conditioned:
    """A CEG given evidence: the paths left, and how probable each is.

    Parameters
    ----------
    ceg
        The CEG.
    evidence
        What is known; ``All(())`` is nothing.
    product
        The paths it leaves.
    """

    ceg: Compiled
    evidence: Evidence
    product: Product

    @property
    def graph(self) -> Graph:
        """The graph of what is left."""
        return self.product.graph

    @cached_property
    def onward(self) -> Floats:
        """Probability of the evidence yet to come, of each node of the graph."""
        return self.graph.backward(self.product.value)

    @property
    def probability_of_evidence(self) -> float:
        """Probability of the evidence; of soft evidence, its expected likelihood."""
        return float(self.onward[0])

    @cached_property
    def probability(self) -> Floats:
        """Probability of each edge of the graph, given its source and the evidence."""
        graph, onward = self.graph, self.onward
        return self.product.value * onward[graph.target] / onward[graph.source]

    @cached_property
    def smoothed(self) -> Floats:
        """Probability of each node of the graph, given all the evidence."""
        return self.graph.forward(self.probability)


def condition(ceg: Compiled, evidence: Evidence) -> Conditioned:
    """Return a CEG given evidence.

    Raises
    ------
    QueryError
        The evidence is impossible, or names what the CEG does not have.

    Notes
    -----
    Exact for any evidence: ``docs/theory.md``, section 8.
    """
    evidence = ceg.spelled(evidence)
    product = run_automata(ceg, evidence)
    found = None if product is None else Conditioned(ceg, evidence, product)
    if found is None or found.probability_of_evidence <= 0:
        raise QueryError(
            f"the evidence has probability 0 in {ceg.shown}: {evidence}",
            hint="no path agrees with all of it",
        )
    return found


def probability_of(given: Conditioned, event: Evidence) -> float:
    """Return the probability of an event, given the evidence.

    Raises
    ------
    QueryError
        The event names what the CEG does not have.
    """
    product = run_automata(given.ceg, All((given.evidence, event)))
    if product is None:
        return 0.0
    return float(product.graph.backward(product.value)[0] / given.probability_of_evidence)


def distribution(
    given: Conditioned, variables: Sequence[object]
) -> tuple[list[list[str]], Floats]:
    """Return the joint distribution of variables, given the evidence.

    Parameters
    ----------
    given
        The CEG and the evidence.
    variables
        Names; none twice.

    Returns
    -------
    labels, probability
        The labels of each variable in turn, and their probability: one item a combination
        that some path has, in level order; ``not applicable`` where a variable does not
        occur, last.

    Raises
    ------
    QueryError
        A variable is unknown or named twice.

    Notes
    -----
    O(edges x combinations): the labels met so far are carried along.
    """
    ceg, graph = given.ceg, given.graph
    places = [ceg.place(variable) for variable in variables]
    if len(set(places)) < len(places):
        twice = next(name for name in variables if list(variables).count(name) > 1)
        raise QueryError(f"{twice!r} is named twice", hint="name each variable once")
    sizes = [len(ceg.variables[place].labels) + 1 for place in places]
    stride, n_states = [], 1
    for size in reversed(sizes):
        stride.append(n_states)
        n_states *= size
    stride.reverse()
    if n_states * graph.n_nodes > _MOST_STATES:
        raise QueryError("these variables have too many combinations", hint="name fewer")
    edge = given.product.edge
    added = np.zeros(len(edge), np.int64)
    asked, label = ceg.edge_variable[edge], ceg.label[edge]
    for place, step in zip(places, stride, strict=True):
        added += np.where(asked == place, (label + 1) * step, 0)
    code, mass = carried(graph, given.probability, added, n_states)
    digits = [code // step % size - 1 for step, size in zip(stride, sizes, strict=True)]
    return _named(ceg, places, digits, mass)


def marginal(given: Conditioned, variable: object) -> tuple[list[str], Floats]:
    """Return the labels of a variable that some path has, and their probability.

    As `distribution` of one variable; where it occurs on every path, from what passes its
    edges.
    """
    ceg, edge = given.ceg, given.product.edge
    place = ceg.place(variable)
    is_it = ceg.edge_variable[edge] == place
    if fewest(given.graph, np.where(is_it, 1.0, 0.0)) < 1:
        (labels,), probability = distribution(given, [variable])
        return labels, probability
    label = ceg.label[edge][is_it]
    passed = (given.smoothed[given.graph.source] * given.probability)[is_it]
    met = np.unique(label)
    total = np.bincount(label, weights=passed)
    return [ceg.variables[place].labels[i] for i in met.tolist()], total[met]


def _named(
    ceg: Compiled, places: list[int], digits: list[Ints], mass: Floats
) -> tuple[list[list[str]], Floats]:
    """Return labels and probabilities, absent answers last and as one with explicit ones."""
    keys, texts = [], []
    for place, digit in zip(places, digits, strict=True):
        labels = ceg.variables[place].labels
        absent = labels.index(NOT_APPLICABLE) if NOT_APPLICABLE in labels else len(labels)
        keys.append(np.where(digit < 0, absent, digit))
        texts.append((*labels, NOT_APPLICABLE))
    if not places:
        return [], mass
    combos, inverse = np.unique(np.column_stack(keys), axis=0, return_inverse=True)
    total = np.zeros(len(combos))
    np.add.at(total, inverse.ravel(), mass)
    columns = [
        [names[i] for i in column]
        for names, column in zip(texts, combos.T.tolist(), strict=True)
    ]
    return columns, total


def carried(
    graph: Graph, value: NDArray[Any], added: Ints, n_states: int, ring: Ring = REAL
) -> tuple[Ints, NDArray[Any]]:
    """Return the sums over paths of the product of values, by the sum of what edges add.

    Parameters
    ----------
    graph
        Where.
    value
        Factor of each edge; further axes are passes of their own.
    added
        What each edge adds to the state, which is 0 at the root.
    n_states
        States are below it.
    ring
        How values are multiplied and added.

    Returns
    -------
    state, mass
        The states in which paths end, in order.

    Raises
    ------
    QueryError
        The nodes of one height have too many states.

    Examples
    --------
    >>> from cegdb.inference.propagation import Graph
    >>> coin = np.array([0.25, 0.75, 0.5, 0.5])
    >>> twice = Graph(np.array([2, 1, 0]), np.array([0, 0, 1, 1]), np.array([1, 1, 2, 2]))
    >>> carried(twice, coin, np.array([0, 1, 0, 1]), 3)
    (array([0, 1, 2]), array([0.125, 0.5  , 0.375]))
    """
    sink = graph.n_nodes - 1
    one = np.full((1, *value.shape[1:]), ring.one)
    if sink == 0:
        return np.zeros(1, np.int64), one
    first = np.searchsorted(graph.source, np.arange(graph.n_nodes + 1))
    waiting: dict[int, list[tuple[Ints, NDArray[Any]]]] = {
        int(graph.height[0]): [(np.zeros(1, np.int64), one)]
    }
    for height in range(int(graph.height[0]), 0, -1):
        if height not in waiting:
            continue
        key, mass = _summed(waiting.pop(height), ring)
        node, state = key // n_states, key % n_states
        n_out = first[node + 1] - first[node]
        if n_out.sum() > _MOST_ROWS:
            raise QueryError("these variables have too many combinations", hint="name fewer")
        row = np.repeat(np.arange(len(key)), n_out)
        within = np.arange(len(row)) - np.repeat(np.cumsum(n_out) - n_out, n_out)
        edge = first[node][row] + within
        target = graph.target[edge]
        after = target * n_states + state[row] + added[edge]
        passed = ring.multiply(mass[row], value[edge])
        for lower in np.unique(graph.height[target]).tolist():
            is_there = graph.height[target] == lower
            waiting.setdefault(lower, []).append((after[is_there], passed[is_there]))
    key, mass = _summed(waiting[0], ring)
    return key % n_states, mass


def _summed(parts: list[tuple[Ints, NDArray[Any]]], ring: Ring) -> tuple[Ints, NDArray[Any]]:
    key = np.concatenate([part[0] for part in parts])
    mass = np.concatenate([part[1] for part in parts])
    order = np.argsort(key, kind="stable")
    key, mass = key[order], mass[order]
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    return key[starts], ring.total(mass, starts)


def most_probable(given: Conditioned, k: int) -> list[tuple[Ints, float]]:
    """Return the k most probable paths, given the evidence.

    Parameters
    ----------
    given
        The CEG and the evidence.
    k
        How many, 1 or more.

    Returns
    -------
    list of tuple
        The edges of the CEG on each path, and its probability, the largest first; of equal
        ones (to 11 digits) the first in level order.

    Raises
    ------
    QueryError
        ``k`` is no whole number from 1 on.

    Notes
    -----
    Each node keeps its k best ways to the sink: O(k x edges), up to sorting.
    """
    if not is_whole(k) or k < 1:
        raise QueryError(f"k is {k!r}", hint="give a whole number from 1 on")
    graph, value = given.graph, given.probability
    n = graph.n_nodes
    best = np.zeros((n, k))
    via, rank = np.full((n, k), -1, np.int64), np.zeros((n, k), np.int64)
    best[-1, 0] = 1.0
    for part in reversed(graph.layers()):
        source = graph.source[part]
        mass = value[part][:, None] * best[graph.target[part]]
        edge, of_rank = np.nonzero(mass > 0)
        found = mass[edge, of_rank]
        order = np.lexsort((of_rank, edge, -np.round(np.log(found), 11), source[edge]))
        edge, of_rank, found = edge[order], of_rank[order], found[order]
        node = source[edge]
        starts = np.flatnonzero(np.diff(node, prepend=-1))
        place = np.arange(len(node)) - np.repeat(starts, np.diff(np.append(starts, len(node))))
        kept = place < k
        node, place = node[kept], place[kept]
        best[node, place] = found[kept]
        via[node, place] = edge[kept] + part.start
        rank[node, place] = of_rank[kept]
    return [
        (_walk(given, via, rank, place), float(best[0, place]))
        for place in range(k)
        if best[0, place] > 0
    ]


def _walk(given: Conditioned, via: Ints, rank: Ints, place: int) -> Ints:
    node, edges = 0, []
    while (edge := int(via[node, place])) >= 0:
        edges.append(int(given.product.edge[edge]))
        node, place = int(given.graph.target[edge]), int(rank[node, place])
    return np.array(edges, np.int64)


def expected_cost(
    given: Conditioned,
    costs: Mapping[str, Mapping[object, float]],
) -> float:
    """Return the expected sum of what edges cost, given the evidence.

    Parameters
    ----------
    given
        The CEG and the evidence.
    costs
        Variable -> label -> cost; or position (``"w3"``) -> label -> cost, where no
        variable has that name. What is not named costs nothing; ``"not applicable"``
        where a variable does not occur is refused.

    Raises
    ------
    QueryError
        A name or label is unknown, or a cost is no number.
    """
    ceg = given.ceg
    cost = np.zeros(len(ceg.probability))
    for name, of_label in costs.items():
        if not isinstance(of_label, Mapping):
            raise QueryError(
                f"the cost of {name!r} is {of_label!r}",
                hint='give a mapping of labels: {"Fall": {"Fall": 1200}}',
            )
        is_variable = ceg.has_variable(name)
        for label, value in of_label.items():
            if not is_number(value):
                raise QueryError(
                    f"the cost of {name} = {label} is {value!r}", hint="give a finite number"
                )
            cost[_edges_named(ceg, name, label, is_variable=is_variable)] += float(value)
    visited = given.smoothed[given.graph.source] * given.probability
    return float(np.dot(visited, cost[given.product.edge]))


def _edges_named(ceg: Compiled, name: str, label: object, *, is_variable: bool) -> Ints:
    if is_variable:
        place = ceg.place(name)
        at = ceg.variables[place].place(label)
        return np.flatnonzero((ceg.edge_variable == place) & (ceg.label == at))
    node = ceg.node(name)
    edges = np.flatnonzero(ceg.graph.source == node)
    labels = [ceg.texts[edge] for edge in edges.tolist()]
    unknown = f"{ceg.vertex} {name} of {ceg.shown} has no edge {label!r}"
    meant = only_match(str(label), dict.fromkeys(labels), unknown, QueryError)
    return edges[[text == meant for text in labels]]


def n_paths(given: Conditioned) -> int:
    """Return how many root-to-sink paths the evidence leaves."""
    ones = np.ones(len(given.product.edge), object)
    return int(given.graph.backward(ones, NUMBER)[0])


def names_of(given: Conditioned, variables: object) -> list[str]:
    """Return the names of variables given as one or a list; None means all."""
    if variables is None:
        return [variable.name for variable in given.ceg.variables]
    if isinstance(variables, str):
        variables = [variables]
    names = items_of(variables, "variables", QueryError, hint="give names of variables")
    ceg = given.ceg
    return [ceg.variables[ceg.place(name)].name for name in names]


def by_depth(given: Conditioned) -> list[tuple[int, int, float, float]]:
    """Return where a person may be after so many edges: filtered and smoothed.

    Returns
    -------
    list of tuple
        ``depth``, node of the CEG, probability given the evidence on the edges up to
        there (filtered), and given all of it (smoothed). Both sum to 1 in each depth; who
        has ended is in the sink.
    """
    ceg = given.ceg
    so_far = run_automata(ceg, given.evidence, looks_ahead=False) or given.product
    found = []
    filtered, smoothed = _at_root(so_far), _at_root(given.product)
    for depth in range(int(ceg.graph.height[0]) + 1):
        now = np.bincount(so_far.node, weights=filtered, minlength=ceg.graph.n_nodes)
        then = np.bincount(given.product.node, weights=smoothed, minlength=ceg.graph.n_nodes)
        total = now.sum()
        found += [
            (depth, node, float(now[node] / total), float(then[node]))
            for node in np.flatnonzero(now > 0).tolist()
        ]
        filtered = _moved(so_far.graph, so_far.value, filtered)
        smoothed = _moved(given.graph, given.probability, smoothed)
    return found


def _at_root(product: Product) -> Floats:
    mass = np.zeros(product.graph.n_nodes)
    mass[0] = 1.0
    return mass


def _moved(graph: Graph, value: Floats, mass: Floats) -> Floats:
    """Return where what is in each node is one edge later; what has ended stays."""
    after = np.zeros(graph.n_nodes)
    np.add.at(after, graph.target, mass[graph.source] * value)
    after[-1] += mass[-1]
    return after


def conditional(
    given: Conditioned, before: Sequence[str], variables: Sequence[str]
) -> tuple[list[str], list[list[str]], Floats]:
    """Return names, labels and probabilities of variables for each label of others.

    Raises
    ------
    QueryError
        A name is unknown or named twice, or is that of the column of probabilities.
    """
    ceg = given.ceg
    names = [ceg.variables[ceg.place(name)].name for name in (*before, *variables)]
    if "probability" in names:
        raise QueryError(
            "a variable is called 'probability', as the column of probabilities is",
            hint="ask for the probabilities of its labels one by one",
        )
    columns, joint = distribution(given, names)
    if not before:
        return names, columns, joint
    groups: dict[tuple[str, ...], int] = {}
    rows = zip(*columns[: len(before)], strict=True)
    group = np.array([groups.setdefault(row, len(groups)) for row in rows], np.int64)
    total = np.bincount(group, weights=joint)
    return names, columns, joint / total[group]


def words(given: Conditioned, edges: Ints) -> tuple[list[str], list[str]]:
    """Return the variables and labels on a path."""
    ceg = given.ceg
    names = [variable.name for variable in ceg.variables]
    asked = ceg.edge_variable[edges].tolist()
    variables = [names[place] if place >= 0 else "(several)" for place in asked]
    return variables, [ceg.texts[edge] for edge in edges.tolist()]


def passed(given: Conditioned) -> list[tuple[str, str | None, float, float, int]]:
    """Return, of each position: name, variable, probability before and given, id."""
    ceg = given.ceg
    smoothed = np.bincount(
        given.product.node, weights=given.smoothed, minlength=ceg.graph.n_nodes
    )
    names = [variable.name for variable in ceg.variables]
    last = ceg.graph.n_nodes - 1
    order = [*np.argsort(ceg.position_id[:last]).tolist(), last]
    return [
        (
            ceg.names[node],
            names[ceg.variable[node]] if ceg.variable[node] >= 0 else None,
            float(ceg.reached[node]),
            float(smoothed[node]),
            int(ceg.position_id[node]),
        )
        for node in order
    ]
