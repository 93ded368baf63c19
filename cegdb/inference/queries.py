"""Queries of a CEG given evidence: probabilities, distributions, paths, expected costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from cegdb.errors import QueryError, is_number, is_whole, items_of
from cegdb.evidence import All, Answer, Evidence, is_soft, items, refuse_soft_evidence
from cegdb.inference.automata import Product, run_automata, smallest_path_sum
from cegdb.inference.propagation import MAX_PRODUCT, PATH_COUNT, REAL
from cegdb.ingest.coding.variables import NOT_APPLICABLE
from cegdb.names import first_repeated, only_match

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from cegdb.inference.compiled_model import CompiledModel
    from cegdb.inference.propagation import Floats, Graph, Ints, Ring

MOST_STATES: Final = 2**62
_MOST_ROWS: Final = 20_000_000
_COSTS_HINT: Final = 'map labels to numbers: {"Fall": {"Fall": 1200}}'


@dataclass(frozen=True)
class ConditionedModel:
    """A CEG given evidence (``All(())`` is none), with the paths that agree with it."""

    ceg: CompiledModel
    evidence: Evidence
    product: Product

    @property
    def graph(self) -> Graph:
        """The graph of the paths that agree with the evidence."""
        return self.product.graph

    @cached_property
    def backward_message(self) -> Floats:
        """Probability of the evidence, or mean likelihood, below each node of the graph."""
        return self.graph.backward(self.product.value)

    @property
    def mass(self) -> float:
        """Sum of the path probabilities, each times the likelihoods of soft evidence."""
        return float(self.backward_message[0])

    @property
    def probability_of_evidence(self) -> float | None:
        """Probability of the evidence; None for soft evidence."""
        return None if is_soft(self.evidence) else self.mass

    @property
    def relative_likelihood(self) -> float | None:
        """Mean of the likelihoods of soft evidence over all paths; None for other evidence."""
        return self.mass if is_soft(self.evidence) else None

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


def condition(ceg: CompiledModel, evidence: Evidence) -> ConditionedModel:
    """Return a CEG given evidence, exactly; refuse impossible evidence."""
    evidence = ceg.with_stored_names(evidence)
    product = run_automata(ceg, evidence)
    model = None if product is None else ConditionedModel(ceg, evidence, product)
    if model is None or model.mass <= 0:
        parts = list(items(evidence))
        hint = "no path agrees with all parts of it: leave one out"
        if len(parts) == 1:
            hint = "no path agrees with it"
            if isinstance(parts[0], Answer):
                hint += ": the marginal distributions show which answers are possible"
        raise QueryError(
            f"the evidence has probability 0 in {ceg.title}: {evidence}", hint=hint
        )
    return model


def probability_of(model: ConditionedModel, event: Evidence) -> float:
    """Return the probability of an event, given the evidence."""
    refuse_soft_evidence(event)
    product = run_automata(model.ceg, All((model.evidence, event)))
    if product is None:
        return 0.0
    return float(product.graph.backward(product.value)[0] / model.mass)


def distribution(
    model: ConditionedModel, variables: Sequence[object]
) -> tuple[list[list[str]], Floats]:
    """Return the labels of each variable and their joint probability, given the evidence.

    One item per combination that some path has, in level order; ``not applicable``, where a
    variable does not occur, comes last. Cost: edges x combinations.
    """
    ceg, graph = model.ceg, model.graph
    indexes = [ceg.variable_index(variable) for variable in variables]
    refuse_repeated([ceg.variables[index].name for index in indexes])
    sizes = [len(ceg.variables[index].labels) + 1 for index in indexes]
    stride, n_states = [], 1
    for size in reversed(sizes):
        stride.append(n_states)
        n_states *= size
    stride.reverse()
    if n_states * graph.n_nodes > MOST_STATES:
        raise too_many_combinations()
    edge = model.product.edge
    added = np.zeros(len(edge), np.int64)
    edge_variable, label = ceg.edge_variable[edge], ceg.label[edge]
    for index, step in zip(indexes, stride, strict=True):
        added += np.where(edge_variable == index, (label + 1) * step, 0)
    code, mass = path_sums(graph, model.probability, added, n_states)
    digits = [code // step % size - 1 for step, size in zip(stride, sizes, strict=True)]
    return _with_labels(ceg, indexes, digits, mass)


def marginal(model: ConditionedModel, variable: object) -> tuple[list[str], Floats]:
    """Return the labels of a variable that some path has, and their probability."""
    # A variable that every path has needs no pass of its own: its edges say it all.
    ceg, edge = model.ceg, model.product.edge
    index = ceg.variable_index(variable)
    is_it = ceg.edge_variable[edge] == index
    if smallest_path_sum(model.graph, np.where(is_it, 1.0, 0.0)) < 1:
        (labels,), probability = distribution(model, [variable])
        return labels, probability
    label = ceg.label[edge][is_it]
    passed = (model.smoothed[model.graph.source] * model.probability)[is_it]
    met = np.unique(label)
    total = np.bincount(label, weights=passed)
    return [ceg.variables[index].labels[i] for i in met.tolist()], total[met]


def refuse_repeated(names: Iterable[str], hint: str = "name each variable once") -> None:
    """Refuse variables of which one is named twice."""
    repeated = first_repeated(names)
    if repeated is not None:
        raise QueryError(f"variable {repeated!r} is named twice", hint=hint)


def too_many_combinations() -> QueryError:
    """Return the error of a query about too many variables."""
    return QueryError(
        "these variables have too many combinations of labels", hint="name fewer variables"
    )


def _with_labels(
    ceg: CompiledModel, indexes: list[int], digits: list[Ints], mass: Floats
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
        key, mass = _sums_by_key(waiting.pop(height), ring)
        node, state = key // n_states, key % n_states
        n_out = first[node + 1] - first[node]
        if n_out.sum() > _MOST_ROWS:
            raise too_many_combinations()
        row = np.repeat(np.arange(len(key)), n_out)
        within = np.arange(len(row)) - np.repeat(np.cumsum(n_out) - n_out, n_out)
        edge = first[node][row] + within
        target = graph.target[edge]
        after = target * n_states + state[row] + added[edge]
        passed = ring.multiply(mass[row], value[edge])
        for lower in np.unique(graph.height[target]).tolist():
            is_at_height = graph.height[target] == lower
            waiting.setdefault(lower, []).append((after[is_at_height], passed[is_at_height]))
    key, mass = _sums_by_key(waiting[0], ring)
    return key % n_states, mass


def _sums_by_key(
    parts: list[tuple[Ints, NDArray[Any]]], ring: Ring
) -> tuple[Ints, NDArray[Any]]:
    key = np.concatenate([part[0] for part in parts])
    mass = np.concatenate([part[1] for part in parts])
    order = np.argsort(key, kind="stable")
    key, mass = key[order], mass[order]
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    return key[starts], ring.total(mass, starts)


def most_probable(model: ConditionedModel, k: int) -> list[tuple[Ints, float]]:
    """Return the k most probable paths given the evidence: CEG edges and probability.

    Equal probabilities (to 11 digits) are in level order.
    """
    if not is_whole(k) or k < 1:
        raise QueryError(f"k must be a whole number of 1 or more, not {k!r}")
    # Each node keeps its k best paths to the sink, so the cost is k x edges, up to sorting.
    graph, value = model.graph, model.probability
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
        is_best = slot < k
        node, slot = node[is_best], slot[is_best]
        best[node, slot] = product[is_best]
        via[node, slot] = edge[is_best] + part.start
        rank[node, slot] = of_rank[is_best]
    return [
        (_path_edges(model, via, rank, slot), float(best[0, slot]))
        for slot in range(k)
        if best[0, slot] > 0
    ]


def _path_edges(model: ConditionedModel, via: Ints, rank: Ints, slot: int) -> Ints:
    node, edges = 0, []
    while (edge := int(via[node, slot])) >= 0:
        edges.append(int(model.product.edge[edge]))
        node, slot = int(model.graph.target[edge]), int(rank[node, slot])
    return np.array(edges, np.int64)


def expected_cost(
    model: ConditionedModel,
    costs: Mapping[str, Mapping[object, float]],
) -> float:
    """Return the expected cost of a path, given the evidence.

    ``costs`` maps a variable, or a position where no variable has that name, to label -> cost.
    """
    ceg = model.ceg
    cost = np.zeros(len(ceg.probability))
    if not isinstance(costs, Mapping):
        raise QueryError(f"costs must be a mapping, not {costs!r}", hint=_COSTS_HINT)
    for name, of_label in costs.items():
        if not isinstance(of_label, Mapping):
            raise QueryError(
                f"the cost of {name!r} must be a mapping, not {of_label!r}",
                hint=_COSTS_HINT,
            )
        is_variable = ceg.has_variable(name)
        for label, value in of_label.items():
            if not is_number(value):
                raise QueryError(
                    f"the cost of {name} = {label} must be a finite number, not {value!r}"
                )
            cost[_edges_of_label(ceg, name, label, is_variable=is_variable)] += float(value)
    visited = model.smoothed[model.graph.source] * model.probability
    return float(np.dot(visited, cost[model.product.edge]))


def _edges_of_label(ceg: CompiledModel, name: str, label: object, *, is_variable: bool) -> Ints:
    if is_variable:
        index = ceg.variable_index(name)
        at = ceg.variables[index].label_index(label)
        return np.flatnonzero((ceg.edge_variable == index) & (ceg.label == at))
    node = ceg.node(name)
    edges = np.flatnonzero(ceg.graph.source == node)
    labels = [ceg.edge_labels[edge] for edge in edges.tolist()]
    unknown = f"{ceg.vertex} {name} of {ceg.title} has no edge {label!r}"
    meant = only_match(str(label), dict.fromkeys(labels), unknown, QueryError)
    return edges[[text == meant for text in labels]]


def n_paths(model: ConditionedModel) -> int:
    """Return the number of root-to-sink paths that agree with the evidence."""
    ones = np.ones(len(model.product.edge), object)
    return int(model.graph.backward(ones, PATH_COUNT)[0])


def variable_names(model: ConditionedModel, variables: object) -> list[str]:
    """Return the names of variables, given as one name, a list, or None for all."""
    if variables is None:
        return [variable.name for variable in model.ceg.variables]
    if isinstance(variables, str):
        variables = [variables]
    names = items_of(variables, "variables", QueryError, hint="give the names of variables")
    ceg = model.ceg
    return [ceg.variables[ceg.variable_index(name)].name for name in names]


def filtered_and_smoothed(model: ConditionedModel) -> list[tuple[int, int, float, float]]:
    """Return depth, node, filtered and smoothed probability for each node at each depth.

    Filtered is given the evidence on the edges so far, smoothed given all of it; each sums to
    1 within a depth, and paths that have ended stay in the sink.
    """
    ceg = model.ceg
    so_far = run_automata(ceg, model.evidence, looks_ahead=False) or model.product
    rows = []
    filtered, smoothed = _all_at_root(so_far), _all_at_root(model.product)
    for depth in range(int(ceg.graph.height[0]) + 1):
        now = np.bincount(so_far.node, weights=filtered, minlength=ceg.graph.n_nodes)
        then = np.bincount(model.product.node, weights=smoothed, minlength=ceg.graph.n_nodes)
        total = now.sum()
        rows += [
            (depth, node, float(now[node] / total), float(then[node]))
            for node in np.flatnonzero(now > 0).tolist()
        ]
        filtered = _one_edge_later(so_far.graph, so_far.value, filtered)
        smoothed = _one_edge_later(model.graph, model.probability, smoothed)
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
    model: ConditionedModel,
    before: Sequence[str],
    variables: Sequence[str],
    columns_beside: Sequence[str] = ("probability",),
) -> tuple[list[str], list[list[str]], Floats]:
    """Return names, labels and probabilities of variables given each answer to ``before``.

    Variables called like ``columns_beside`` are refused.
    """
    ceg = model.ceg
    names = [ceg.variables[ceg.variable_index(name)].name for name in (*before, *variables)]
    for name in columns_beside:
        if name in names:
            raise QueryError(
                f"a variable is named {name!r}, like a column of the table",
                hint="use marginals, or ask for the probability of each of its labels",
            )
    columns, joint = distribution(model, names)
    if not before:
        return names, columns, joint
    groups: dict[tuple[str, ...], int] = {}
    rows = zip(*columns[: len(before)], strict=True)
    group = np.array([groups.setdefault(row, len(groups)) for row in rows], np.int64)
    total = np.bincount(group, weights=joint)
    return names, columns, joint / total[group]


def path_answers(model: ConditionedModel, edges: Ints) -> tuple[list[str], list[str]]:
    """Return the variables and the labels on a path."""
    ceg = model.ceg
    names = [variable.name for variable in ceg.variables]
    variables = [
        names[index] if index >= 0 else "(several)"
        for index in ceg.edge_variable[edges].tolist()
    ]
    return variables, [ceg.edge_labels[edge] for edge in edges.tolist()]


def position_probabilities(
    model: ConditionedModel,
) -> list[tuple[str, str | None, float, float, int]]:
    """Return, by position: name, variable, probability without and with evidence, id."""
    ceg = model.ceg
    smoothed = np.bincount(
        model.product.node, weights=model.smoothed, minlength=ceg.graph.n_nodes
    )
    names = [variable.name for variable in ceg.variables]
    return [
        (
            ceg.names[node],
            names[ceg.variable[node]] if ceg.variable[node] >= 0 else None,
            float(ceg.reach_probability[node]),
            float(smoothed[node]),
            int(ceg.position_id[node]),
        )
        for node in ceg.nodes_by_name
    ]


def most_probable_histories(ceg: CompiledModel, nodes: Sequence[int]) -> list[list[str]]:
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


def _answer_text(ceg: CompiledModel, edge: int) -> str:
    index = int(ceg.edge_variable[edge])
    name = ceg.variables[index].name if index >= 0 else "(several)"
    return f"{name} = {ceg.edge_labels[edge]}"
