"""Queries of a CEG given evidence: probabilities, distributions, paths, expected costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from cegdb.errors import QueryError, is_number, is_whole, items_of
from cegdb.evidence import All, Evidence
from cegdb.inference.automata import Product, run_automata, smallest_path_sum
from cegdb.inference.compiled import NOT_APPLICABLE
from cegdb.inference.propagation import MAX_PRODUCT, PATH_COUNT, REAL
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
    """A CEG given evidence (``All(())`` is none), with the paths that agree with it."""

    ceg: Compiled
    evidence: Evidence
    product: Product

    @property
    def graph(self) -> Graph:
        """The graph of the paths that agree with the evidence."""
        return self.product.graph

    @cached_property
    def backward_message(self) -> Floats:
        """Probability of the evidence below each node of the graph."""
        return self.graph.backward(self.product.value)

    @property
    def probability_of_evidence(self) -> float:
        """Probability of the evidence; of soft evidence, its expected likelihood."""
        return float(self.backward_message[0])

    @cached_property
    def probability(self) -> Floats:
        """Probability of each edge of the graph, given its source and the evidence."""
        graph, backward_message = self.graph, self.backward_message
        return (
            self.product.value * backward_message[graph.target] / backward_message[graph.source]
        )

    @cached_property
    def smoothed(self) -> Floats:
        """Probability of each node of the graph, given all the evidence."""
        return self.graph.forward(self.probability)


def condition(ceg: Compiled, evidence: Evidence) -> Conditioned:
    """Return a CEG given evidence, exactly; refuse impossible evidence."""
    evidence = ceg.spelled(evidence)
    product = run_automata(ceg, evidence)
    given = None if product is None else Conditioned(ceg, evidence, product)
    if given is None or given.probability_of_evidence <= 0:
        raise QueryError(
            f"the evidence has probability 0 in {ceg.title}: {evidence}",
            hint="no path agrees with all parts of it",
        )
    return given


def probability_of(given: Conditioned, event: Evidence) -> float:
    """Return the probability of an event, given the evidence."""
    product = run_automata(given.ceg, All((given.evidence, event)))
    if product is None:
        return 0.0
    return float(product.graph.backward(product.value)[0] / given.probability_of_evidence)


def distribution(
    given: Conditioned, variables: Sequence[object]
) -> tuple[list[list[str]], Floats]:
    """Return the labels of each variable and their joint probability, given the evidence.

    One item per combination that some path has, in level order; ``not applicable``, where a
    variable does not occur, comes last. Cost: edges x combinations.
    """
    ceg, graph = given.ceg, given.graph
    indexes = [ceg.variable_index(variable) for variable in variables]
    if len(set(indexes)) < len(indexes):
        twice = next(name for name in variables if list(variables).count(name) > 1)
        raise QueryError(f"variable {twice!r} is named twice")
    sizes = [len(ceg.variables[index].labels) + 1 for index in indexes]
    stride, n_states = [], 1
    for size in reversed(sizes):
        stride.append(n_states)
        n_states *= size
    stride.reverse()
    if n_states * graph.n_nodes > _MOST_STATES:
        raise QueryError(
            "these variables have too many combinations of labels", hint="name fewer variables"
        )
    edge = given.product.edge
    added = np.zeros(len(edge), np.int64)
    edge_variable, label = ceg.edge_variable[edge], ceg.label[edge]
    for index, step in zip(indexes, stride, strict=True):
        added += np.where(edge_variable == index, (label + 1) * step, 0)
    code, mass = path_sums(graph, given.probability, added, n_states)
    digits = [code // step % size - 1 for step, size in zip(stride, sizes, strict=True)]
    return _labelled(ceg, indexes, digits, mass)


def marginal(given: Conditioned, variable: object) -> tuple[list[str], Floats]:
    """Return the labels of a variable that some path has, and their probability."""
    # A variable that every path has needs no pass of its own: its edges say it all.
    ceg, edge = given.ceg, given.product.edge
    index = ceg.variable_index(variable)
    is_it = ceg.edge_variable[edge] == index
    if smallest_path_sum(given.graph, np.where(is_it, 1.0, 0.0)) < 1:
        (labels,), probability = distribution(given, [variable])
        return labels, probability
    label = ceg.label[edge][is_it]
    passed = (given.smoothed[given.graph.source] * given.probability)[is_it]
    met = np.unique(label)
    total = np.bincount(label, weights=passed)
    return [ceg.variables[index].labels[i] for i in met.tolist()], total[met]


def _labelled(
    ceg: Compiled, indexes: list[int], digits: list[Ints], mass: Floats
) -> tuple[list[list[str]], Floats]:
    """Return labels and probabilities; absent and explicitly "not applicable" are one, last."""
    keys, texts = [], []
    for index, digit in zip(indexes, digits, strict=True):
        labels = ceg.variables[index].labels
        absent = labels.index(NOT_APPLICABLE) if NOT_APPLICABLE in labels else len(labels)
        keys.append(np.where(digit < 0, absent, digit))
        texts.append((*labels, NOT_APPLICABLE))
    if not indexes:
        return [], mass
    combos, inverse = np.unique(np.column_stack(keys), axis=0, return_inverse=True)
    total = np.zeros(len(combos))
    np.add.at(total, inverse.ravel(), mass)
    columns = [
        [names[i] for i in column]
        for names, column in zip(texts, combos.T.tolist(), strict=True)
    ]
    return columns, total


def path_sums(
    graph: Graph, value: NDArray[Any], added: Ints, n_states: int, ring: Ring = REAL
) -> tuple[Ints, NDArray[Any]]:
    """Sum the products of edge values over the paths, by the state in which a path ends.

    The state is 0 at the root, each edge adds ``added`` to it, and it stays below ``n_states``.
    Returns the states in order, and their sums; further axes of ``value`` are independent.

    Examples
    --------
    >>> from cegdb.inference.propagation import Graph
    >>> coin = np.array([0.25, 0.75, 0.5, 0.5])
    >>> twice = Graph(np.array([2, 1, 0]), np.array([0, 0, 1, 1]), np.array([1, 1, 2, 2]))
    >>> path_sums(twice, coin, np.array([0, 1, 0, 1]), 3)
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
            raise QueryError(
                "these variables have too many combinations of labels",
                hint="name fewer variables",
            )
        row = np.repeat(np.arange(len(key)), n_out)
        within = np.arange(len(row)) - np.repeat(np.cumsum(n_out) - n_out, n_out)
        edge = first[node][row] + within
        target = graph.target[edge]
        after = target * n_states + state[row] + added[edge]
        passed = ring.multiply(mass[row], value[edge])
        for lower in np.unique(graph.height[target]).tolist():
            is_at_height = graph.height[target] == lower
            waiting.setdefault(lower, []).append((after[is_at_height], passed[is_at_height]))
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
    """Return the k most probable paths given the evidence: CEG edges and probability.

    Equal probabilities (to 11 digits) are in level order.
    """
    if not is_whole(k) or k < 1:
        raise QueryError(f"k is {k!r}", hint="give a whole number that is 1 or more")
    # Each node keeps its k best paths to the sink, so the cost is k x edges, up to sorting.
    graph, value = given.graph, given.probability
    n = graph.n_nodes
    best = np.zeros((n, k))
    via, rank = np.full((n, k), -1, np.int64), np.zeros((n, k), np.int64)
    best[-1, 0] = 1.0
    for part in reversed(graph.layers()):
        source = graph.source[part]
        mass = value[part][:, None] * best[graph.target[part]]
        edge, of_rank = np.nonzero(mass > 0)
        product = mass[edge, of_rank]
        order = np.lexsort((of_rank, edge, -np.round(np.log(product), 11), source[edge]))
        edge, of_rank, product = edge[order], of_rank[order], product[order]
        node = source[edge]
        starts = np.flatnonzero(np.diff(node, prepend=-1))
        slot = np.arange(len(node)) - np.repeat(starts, np.diff(np.append(starts, len(node))))
        kept = slot < k
        node, slot = node[kept], slot[kept]
        best[node, slot] = product[kept]
        via[node, slot] = edge[kept] + part.start
        rank[node, slot] = of_rank[kept]
    return [
        (_path_edges(given, via, rank, slot), float(best[0, slot]))
        for slot in range(k)
        if best[0, slot] > 0
    ]


def _path_edges(given: Conditioned, via: Ints, rank: Ints, slot: int) -> Ints:
    node, edges = 0, []
    while (edge := int(via[node, slot])) >= 0:
        edges.append(int(given.product.edge[edge]))
        node, slot = int(given.graph.target[edge]), int(rank[node, slot])
    return np.array(edges, np.int64)


def expected_cost(
    given: Conditioned,
    costs: Mapping[str, Mapping[object, float]],
) -> float:
    """Return the expected cost of a path, given the evidence.

    ``costs`` maps a variable, or a position where no variable has that name, to label -> cost.
    """
    ceg = given.ceg
    cost = np.zeros(len(ceg.probability))
    for name, of_label in costs.items():
        if not isinstance(of_label, Mapping):
            raise QueryError(
                f"the cost of {name!r} is {of_label!r}",
                hint='map labels to numbers: {"Fall": {"Fall": 1200}}',
            )
        is_variable = ceg.has_variable(name)
        for label, value in of_label.items():
            if not is_number(value):
                raise QueryError(
                    f"the cost of {name} = {label} is {value!r}", hint="give a finite number"
                )
            cost[_edges_of_label(ceg, name, label, is_variable=is_variable)] += float(value)
    visited = given.smoothed[given.graph.source] * given.probability
    return float(np.dot(visited, cost[given.product.edge]))


def _edges_of_label(ceg: Compiled, name: str, label: object, *, is_variable: bool) -> Ints:
    if is_variable:
        index = ceg.variable_index(name)
        at = ceg.variables[index].label_index(label)
        return np.flatnonzero((ceg.edge_variable == index) & (ceg.label == at))
    node = ceg.node(name)
    edges = np.flatnonzero(ceg.graph.source == node)
    labels = [ceg.texts[edge] for edge in edges.tolist()]
    unknown = f"{ceg.vertex} {name} of {ceg.title} has no edge {label!r}"
    meant = only_match(str(label), dict.fromkeys(labels), unknown, QueryError)
    return edges[[text == meant for text in labels]]


def n_paths(given: Conditioned) -> int:
    """Return the number of root-to-sink paths that agree with the evidence."""
    ones = np.ones(len(given.product.edge), object)
    return int(given.graph.backward(ones, PATH_COUNT)[0])


def variable_names(given: Conditioned, variables: object) -> list[str]:
    """Return the names of variables, given as one name, a list, or None for all."""
    if variables is None:
        return [variable.name for variable in given.ceg.variables]
    if isinstance(variables, str):
        variables = [variables]
    names = items_of(variables, "variables", QueryError, hint="give the names of variables")
    ceg = given.ceg
    return [ceg.variables[ceg.variable_index(name)].name for name in names]


def filtered_and_smoothed(given: Conditioned) -> list[tuple[int, int, float, float]]:
    """Return depth, node, filtered and smoothed probability for each node at each depth.

    Filtered is given the evidence on the edges so far, smoothed given all of it; each sums to
    1 within a depth, and paths that have ended stay in the sink.
    """
    ceg = given.ceg
    so_far = run_automata(ceg, given.evidence, looks_ahead=False) or given.product
    rows = []
    filtered, smoothed = _all_at_root(so_far), _all_at_root(given.product)
    for depth in range(int(ceg.graph.height[0]) + 1):
        now = np.bincount(so_far.node, weights=filtered, minlength=ceg.graph.n_nodes)
        then = np.bincount(given.product.node, weights=smoothed, minlength=ceg.graph.n_nodes)
        total = now.sum()
        rows += [
            (depth, node, float(now[node] / total), float(then[node]))
            for node in np.flatnonzero(now > 0).tolist()
        ]
        filtered = _one_edge_later(so_far.graph, so_far.value, filtered)
        smoothed = _one_edge_later(given.graph, given.probability, smoothed)
    return rows


def _all_at_root(product: Product) -> Floats:
    mass = np.zeros(product.graph.n_nodes)
    mass[0] = 1.0
    return mass


def _one_edge_later(graph: Graph, value: Floats, mass: Floats) -> Floats:
    """Return the distribution over nodes one edge later; paths that have ended stay."""
    after = np.zeros(graph.n_nodes)
    np.add.at(after, graph.target, mass[graph.source] * value)
    after[-1] += mass[-1]
    return after


def conditional_distribution(
    given: Conditioned, before: Sequence[str], variables: Sequence[str]
) -> tuple[list[str], list[list[str]], Floats]:
    """Return names, labels and probabilities of variables given each answer to ``before``."""
    ceg = given.ceg
    names = [ceg.variables[ceg.variable_index(name)].name for name in (*before, *variables)]
    if "probability" in names:
        raise QueryError(
            "a variable is named 'probability', like the column of probabilities",
            hint="query the probability of each of its labels instead",
        )
    columns, joint = distribution(given, names)
    if not before:
        return names, columns, joint
    groups: dict[tuple[str, ...], int] = {}
    rows = zip(*columns[: len(before)], strict=True)
    group = np.array([groups.setdefault(row, len(groups)) for row in rows], np.int64)
    total = np.bincount(group, weights=joint)
    return names, columns, joint / total[group]


def path_answers(given: Conditioned, edges: Ints) -> tuple[list[str], list[str]]:
    """Return the variables and the labels on a path."""
    ceg = given.ceg
    names = [variable.name for variable in ceg.variables]
    variables = [
        names[index] if index >= 0 else "(several)"
        for index in ceg.edge_variable[edges].tolist()
    ]
    return variables, [ceg.texts[edge] for edge in edges.tolist()]


def position_probabilities(
    given: Conditioned,
) -> list[tuple[str, str | None, float, float, int]]:
    """Return, by position: name, variable, probability without and with evidence, id."""
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
            float(ceg.reach_probability[node]),
            float(smoothed[node]),
            int(ceg.position_id[node]),
        )
        for node in order
    ]


def most_probable_histories(ceg: Compiled, nodes: Sequence[int]) -> list[list[str]]:
    """Return, for each node, the answers on the most probable path from the root to it."""
    graph, value = ceg.graph, ceg.probability
    best = graph.forward(value, MAX_PRODUCT)
    order = np.argsort(graph.target, kind="stable")
    first = np.searchsorted(graph.target[order], np.arange(graph.n_nodes + 1))
    histories = []
    for end in nodes:
        node, edges = end, []
        while node:
            into = order[first[node] : first[node + 1]]
            edges.append(int(into[np.argmax(best[graph.source[into]] * value[into])]))
            node = int(graph.source[edges[-1]])
        histories.append([_answer_text(ceg, edge) for edge in reversed(edges)])
    return histories


def _answer_text(ceg: Compiled, edge: int) -> str:
    index = int(ceg.edge_variable[edge])
    name = ceg.variables[index].name if index >= 0 else "(several)"
    return f"{name} = {ceg.texts[edge]}"
