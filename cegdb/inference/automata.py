"""Evidence as masks on edges, or as small automata that read the paths of a CEG."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from cegdb.errors import QueryError, listed
from cegdb.evidence import (
    Answer,
    Count,
    Evidence,
    Likelihood,
    Order,
    Take,
    Visit,
    items,
)
from cegdb.inference.propagation import MIN_SUM, Graph
from cegdb.ingest.coding.variables import NOT_APPLICABLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cegdb.inference.compiled_model import CompiledModel
    from cegdb.inference.propagation import Floats, Ints

_MOST_CELLS: Final = 50_000_000
_MOST_BITS: Final = 900
"""How far, in powers of 2, a product of likelihoods may go: doubles reach 2^1,022, of which
the probabilities need some."""


class Automaton(NamedTuple):
    """A deterministic automaton that reads the edges of a path.

    ``moves[edge, state]`` is the next state, -1 to reject; ``mask`` has a factor for each
    edge and ``accepts`` one for each state at the sink, 0 or more.
    """

    start: int
    moves: Ints
    mask: Floats
    accepts: Floats


@dataclass(frozen=True)
class Product:
    """The paths of a CEG that agree with evidence; a node is (node of the CEG, state).

    ``node`` and ``edge`` are those of the CEG; ``value`` is the probability of each edge times
    the factor of the evidence.
    """

    graph: Graph
    node: Ints
    edge: Ints
    value: Floats


def run_automata(
    ceg: CompiledModel, evidence: Evidence, *, looks_ahead: bool = True
) -> Product | None:
    """Return the paths of a CEG that agree with evidence, None if there are none.

    With ``looks_ahead`` the beginnings of paths that only later contradict it are left out.
    Cost: edges x states that are reached and can still be accepted.
    """
    # A mask is enough for answers to a variable that every path has, and for positions and
    # edges: docs/theory.md, section 8, (a) to (d). Only the rest multiplies the nodes.
    _refuse_extremes(evidence)
    parts = [_automaton_of(ceg, part) for part in items(evidence)]
    mask = np.ones(len(ceg.probability))
    for part in parts:
        mask = mask * part.mask
    with_states = [part for part in parts if len(part.accepts) > 1 or part.accepts[0] != 1]
    product = Product(
        ceg.graph,
        np.arange(ceg.graph.n_nodes),
        np.arange(len(mask)),
        mask * ceg.probability,
    )
    for part in with_states or [_mask_only(ceg, mask)]:
        smaller = _product(product, part, looks_ahead=looks_ahead)
        if smaller is None:
            return None
        product = smaller
    return product


def _product(whole: Product, part: Automaton, *, looks_ahead: bool) -> Product | None:
    """Return the product with one more automaton."""
    graph, value, accepts = whole.graph, whole.value, part.accepts
    n_states = len(accepts)
    if n_states * len(value) > _MOST_CELLS:
        raise QueryError(
            f"the evidence is too complex: {n_states:,} states on {len(value):,} edges",
            hint="use fewer counts, orders and variables that some paths lack",
        )
    moves = np.where((value > 0)[:, None], part.moves[whole.edge], -1)
    is_usable = _usable_states(graph, part.start, moves, accepts, looks_ahead=looks_ahead)
    if not is_usable[0, part.start]:
        return None
    sink = graph.n_nodes - 1
    if sink == 0:
        return whole
    is_usable[sink] = False
    node, state = np.nonzero(is_usable)
    number = np.full((graph.n_nodes, n_states), len(node), np.int64)
    number[node, state] = np.arange(len(node))
    goes_on = is_usable[graph.source] & (moves >= 0)
    target_usable = is_usable[graph.target[:, None], moves]
    at_sink = (graph.target == sink)[:, None] & (accepts[moves] > 0)
    edge, of_state = np.nonzero(goes_on & (target_usable | at_sink))
    source = number[graph.source[edge], of_state]
    target_state = moves[edge, of_state]
    target = number[graph.target[edge], target_state]
    is_last = target == len(node)
    edge_value = np.where(is_last, value[edge] * accepts[target_state], value[edge])
    order = np.lexsort((edge, source))
    heights = np.append(graph.height[node], 0)
    return Product(
        Graph(heights, source[order], target[order]),
        np.append(whole.node[node], whole.node[sink]),
        whole.edge[edge[order]],
        edge_value[order],
    )


def _usable_states(
    graph: Graph, start: int, moves: Ints, accepts: Floats, *, looks_ahead: bool
) -> NDArray[np.bool_]:
    """Return which (node, state) are reachable and lie on an accepted path."""
    n_states = len(accepts)
    shape = (graph.n_nodes, n_states)
    reached, accepted = np.zeros(shape, bool), np.zeros(shape, bool)
    reached[0, start] = True
    accepted[-1] = accepts > 0
    for part in graph.layers():
        goes = reached[graph.source[part]] & (moves[part] >= 0)
        edge, state = np.nonzero(goes)
        edges = edge + part.start
        reached[graph.target[edges], moves[edges, state]] = True
    if not looks_ahead:
        return reached
    for part in reversed(graph.layers()):
        targets = graph.target[part][:, None]
        goes = reached[graph.source[part]] & (moves[part] >= 0) & accepted[targets, moves[part]]
        edge, state = np.nonzero(goes)
        accepted[graph.source[edge + part.start], state] = True
    return accepted & reached


def occurs_always(ceg: CompiledModel, variable: int) -> bool:
    """Return whether a variable occurs on every path of positive probability."""
    met = np.where(ceg.edge_variable == variable, 1.0, 0.0)
    return smallest_path_sum(ceg.graph, np.where(ceg.probability > 0, met, np.inf)) >= 1


def smallest_path_sum(graph: Graph, met: Floats) -> float:
    """Return the smallest sum of edge values over the paths of a graph."""
    return float(graph.backward(met, MIN_SUM)[0])


def _automaton_of(ceg: CompiledModel, part: Evidence) -> Automaton:
    if isinstance(part, Answer):
        return _answer_automaton(ceg, part)
    if isinstance(part, Likelihood):
        return _likelihood_automaton(ceg, part)
    if isinstance(part, Visit):
        return _mask_only(ceg, _visit_mask(ceg, part))
    if isinstance(part, Take):
        return _mask_only(ceg, _take_mask(ceg, part))
    if isinstance(part, Count):
        return _count_automaton(ceg, part)
    if isinstance(part, Order):
        return _order_automaton(ceg, part)
    raise QueryError(f"{part!r} is not evidence")


def _mask_only(ceg: CompiledModel, mask: Floats) -> Automaton:
    return Automaton(0, np.zeros((len(ceg.probability), 1), np.int64), mask, np.ones(1))


def _occurrence(ceg: CompiledModel, variable: int, mask: Floats, absent: float) -> Automaton:
    """Return the automaton of a variable; paths without it have the factor ``absent``."""
    if absent == 1 or occurs_always(ceg, variable):
        return _mask_only(ceg, mask)
    is_it = ceg.edge_variable == variable
    moves = np.column_stack([np.where(is_it, 1, 0), np.ones_like(is_it, np.int64)])
    return Automaton(0, moves.astype(np.int64), mask, np.array([absent, 1.0]))


def _label_indexes(ceg: CompiledModel, part: Answer) -> tuple[int, list[int], bool]:
    """Return a variable, the indexes of its labels, and whether it may be absent."""
    variable = ceg.variable_index(part.variable)
    known = ceg.variables[variable]
    may_be_absent = NOT_APPLICABLE in part.labels
    named = [label for label in part.labels if label != NOT_APPLICABLE or label in known.labels]
    return variable, [known.label_index(label) for label in named], may_be_absent


def _answer_automaton(ceg: CompiledModel, part: Answer) -> Automaton:
    variable, labels, may_be_absent = _label_indexes(ceg, part)
    is_other = (ceg.edge_variable == variable) & ~np.isin(ceg.label, labels)
    return _occurrence(ceg, variable, np.where(is_other, 0.0, 1.0), float(may_be_absent))


def _likelihood_automaton(ceg: CompiledModel, part: Likelihood) -> Automaton:
    variable = ceg.variable_index(part.variable)
    known = ceg.variables[variable]
    weights = np.full(len(known.labels), np.nan)
    absent = np.nan
    for label, weight in part.weights:
        if label == NOT_APPLICABLE:
            absent = weight
        if label != NOT_APPLICABLE or label in known.labels:
            weights[known.label_index(label)] = weight
    is_it = ceg.edge_variable == variable
    missing = [known.labels[i] for i in np.unique(ceg.label[is_it]) if np.isnan(weights[i])]
    if np.isnan(absent) and not occurs_always(ceg, variable):
        missing.append(NOT_APPLICABLE)
    if missing:
        raise QueryError(
            f"the likelihood of {part.variable!r} lacks {listed(map(repr, missing))}",
            hint="give a number for every label",
        )
    mask = np.ones(len(is_it))
    mask[is_it] = weights[ceg.label[is_it]]
    return _occurrence(ceg, variable, mask, float(np.nan_to_num(absent, nan=0.0)))


def _refuse_extremes(evidence: Evidence) -> None:
    """Refuse likelihoods whose product could overflow, or lose digits to underflow."""
    most = least = 0.0
    for part in items(evidence):
        if isinstance(part, Likelihood):
            sizes = [math.log2(weight) for _, weight in part.weights if weight > 0]
            most += max(0.0, *sizes)
            least += min(0.0, *sizes)
    if most > _MOST_BITS or least < -_MOST_BITS:
        extreme = "large" if most > _MOST_BITS else "small"
        raise QueryError(
            f"the product of the likelihoods is too {extreme} to compute",
            hint="only ratios matter: divide each likelihood by its largest value",
        )


def _visit_mask(ceg: CompiledModel, part: Visit) -> Floats:
    """Return the mask of the paths that pass a position, or avoid it."""
    node, graph = ceg.node(part.position), ceg.graph
    if part.is_passed:
        keeps = _ancestors(graph, node)[graph.target] | _descendants(graph, node)[graph.source]
        return keeps.astype(float)
    return np.where((graph.target == node) | (node == 0), 0.0, 1.0)


def _take_mask(ceg: CompiledModel, part: Take) -> Floats:
    """Return the mask of the paths that take an edge, or do not."""
    edge, graph = ceg.edge(part.position, part.label), ceg.graph
    if not part.is_taken:
        return np.where(np.arange(len(graph.source)) == edge, 0.0, 1.0)
    keeps = (
        _ancestors(graph, graph.source[edge])[graph.target]
        | _descendants(graph, graph.target[edge])[graph.source]
    )
    keeps[edge] = True
    return keeps.astype(float)


def _ancestors(graph: Graph, node: int) -> NDArray[np.bool_]:
    """Return which nodes lead to a node, including itself."""
    is_connected = np.zeros(graph.n_nodes, bool)
    is_connected[node] = True
    for part in reversed(graph.layers()):
        is_connected[graph.source[part][is_connected[graph.target[part]]]] = True
    return is_connected


def _descendants(graph: Graph, node: int) -> NDArray[np.bool_]:
    """Return which nodes a node leads to, including itself."""
    is_connected = np.zeros(graph.n_nodes, bool)
    is_connected[node] = True
    for part in graph.layers():
        is_connected[graph.target[part][is_connected[graph.source[part]]]] = True
    return is_connected


def event_changes(ceg: CompiledModel, part: Evidence) -> tuple[int, Ints]:
    """Return whether (1 or 0) an event is true at the root, and how each edge changes that."""
    if isinstance(part, Answer):
        variable, labels, may_be_absent = _label_indexes(ceg, part)
        is_it = ceg.edge_variable == variable
        is_named = np.isin(ceg.label, labels)
        if may_be_absent:
            return 1, np.where(is_it & ~is_named, -1, 0)
        return 0, np.where(is_it & is_named, 1, 0)
    if isinstance(part, Visit):
        node = ceg.node(part.position)
        passes = np.where(ceg.graph.target == node, 1, 0)
        at_root = int(node == 0)
        return (at_root, passes) if part.is_passed else (1 - at_root, -passes)
    if not isinstance(part, Take):
        raise QueryError(f"{part} cannot be counted or ordered")
    edge = ceg.edge(part.position, part.label)
    takes = np.where(np.arange(len(ceg.edge_labels)) == edge, 1, 0)
    return (0, takes) if part.is_taken else (1, -takes)


def _count_automaton(ceg: CompiledModel, part: Count) -> Automaton:
    n_edges, n_events = len(ceg.probability), len(part.of)
    start, change = 0, np.zeros(n_edges, np.int64)
    for event in part.of:
        holds, changes = event_changes(ceg, event)
        start += holds
        change += changes
    states = np.arange(n_events + 1)
    moves = states + change[:, None]
    moves = np.where((moves < 0) | (moves > n_events), -1, moves)
    accepts = ((states >= part.least) & (states <= part.most)).astype(float)
    return Automaton(start, moves, np.ones(n_edges), accepts)


def _order_automaton(ceg: CompiledModel, part: Order) -> Automaton:
    changes = []
    starts = []
    for event in (part.first, part.second):
        holds, change = event_changes(ceg, event)
        if (change < 0).any() or (holds and not (isinstance(event, Visit) and event.is_passed)):
            raise QueryError(
                f"{event} does not happen at any one point of a path, so it cannot be ordered",
                hint="order answers that occur, positions visited and edges taken",
            )
        starts.append(holds)
        changes.append(change > 0)
    first, second = changes
    # An edge is taken before the position that it leads to is passed.
    ends_both = isinstance(part.second, Visit) and not isinstance(part.first, Visit)
    both = 2 if ends_both else -1
    begun = np.where(second, np.where(first, both, -1), np.where(first, 1, 0))
    moves = np.column_stack([begun, np.where(second, 2, 1), np.full(len(first), 2)])
    if starts[1]:
        moves[:] = -1
    return Automaton(
        starts[0], moves.astype(np.int64), np.ones(len(first)), np.array([0.0, 0.0, 1.0])
    )
