"""Evidence as masks on edges, or small automata run along the paths of a CEG."""

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
from cegdb.inference.compiled import NOT_APPLICABLE
from cegdb.inference.propagation import Graph, Semiring
from cegdb.names import only_match

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cegdb.inference.compiled import Compiled
    from cegdb.inference.propagation import Floats, Ints

_FEWEST: Final = Semiring(np.minimum, np.add, np.inf, 0.0)
_MOST_CELLS: Final = 50_000_000
_MOST_BITS: Final = 900
"""Of a product of likelihoods: numbers have 1,022, and probabilities take some."""


class Automaton(NamedTuple):
    """A deterministic automaton that reads the edges of a path.

    Parameters
    ----------
    start
        Its state at the root.
    moves
        State after an edge, one row an edge and one column a state; -1 where none is.
    mask
        Of each edge, a factor from 0 on.
    accepts
        Of each state at the sink, a factor from 0 on.
    """

    start: int
    moves: Ints
    mask: Floats
    accepts: Floats


@dataclass(frozen=True)
class Product:
    """The part of a CEG that some evidence leaves, with the state of its automata.

    Parameters
    ----------
    graph
        Its nodes are (node of the CEG, state), in the order of these.
    node, edge
        Of the CEG, for each node and edge here.
    value
        Of each edge: probability times what the evidence makes of it.
    """

    graph: Graph
    node: Ints
    edge: Ints
    value: Floats


def run_automata(
    ceg: Compiled, evidence: Evidence, *, looks_ahead: bool = True
) -> Product | None:
    """Return the paths of a CEG that evidence leaves; None if it leaves none.

    Parameters
    ----------
    ceg
        The CEG.
    evidence
        All of it must hold.
    looks_ahead
        Leave out beginnings of paths that the evidence contradicts later only.

    Raises
    ------
    QueryError
        The evidence names what the CEG does not have, or needs too many states.

    Notes
    -----
    A mask where that is enough: answers to a variable met on every path, positions and
    edges passed. Otherwise the product of the graph with automata of few states, one after
    another, O(edges x states that are reached and can still be accepted):
    ``docs/theory.md``, section 8, (a) to (d).
    """
    _refuse_extremes(evidence)
    parts = [_automaton(ceg, part) for part in items(evidence)]
    mask = np.ones(len(ceg.probability))
    for part in parts:
        mask = mask * part.mask
    noticing = [part for part in parts if len(part.accepts) > 1 or part.accepts[0] != 1]
    product = Product(
        ceg.graph,
        np.arange(ceg.graph.n_nodes),
        np.arange(len(mask)),
        mask * ceg.probability,
    )
    for part in noticing or [_masked(ceg, mask)]:
        left = _product(product, part, looks_ahead=looks_ahead)
        if left is None:
            return None
        product = left
    return product


def _product(whole: Product, part: Automaton, *, looks_ahead: bool) -> Product | None:
    """Return the product of what is left of a CEG with one more automaton."""
    graph, value, accepts = whole.graph, whole.value, part.accepts
    n_states = len(accepts)
    if n_states * len(value) > _MOST_CELLS:
        raise QueryError(
            f"this evidence needs {n_states:,} states on {len(value):,} edges",
            hint="ask less at once",
        )
    moves = np.where((value > 0)[:, None], part.moves[whole.edge], -1)
    is_left = _left(graph, part.start, moves, accepts, looks_ahead=looks_ahead)
    if not is_left[0, part.start]:
        return None
    sink = graph.n_nodes - 1
    if sink == 0:
        return whole
    is_left[sink] = False
    node, state = np.nonzero(is_left)
    number = np.full((graph.n_nodes, n_states), len(node), np.int64)
    number[node, state] = np.arange(len(node))
    goes_on = is_left[graph.source] & (moves >= 0)
    target_left = is_left[graph.target[:, None], moves]
    at_sink = (graph.target == sink)[:, None] & (accepts[moves] > 0)
    edge, of_state = np.nonzero(goes_on & (target_left | at_sink))
    source = number[graph.source[edge], of_state]
    target_state = moves[edge, of_state]
    target = number[graph.target[edge], target_state]
    is_last = target == len(node)
    kept = np.where(is_last, value[edge] * accepts[target_state], value[edge])
    order = np.lexsort((edge, source))
    heights = np.append(graph.height[node], 0)
    return Product(
        Graph(heights, source[order], target[order]),
        np.append(whole.node[node], whole.node[sink]),
        whole.edge[edge[order]],
        kept[order],
    )


def _left(
    graph: Graph, start: int, moves: Ints, accepts: Floats, *, looks_ahead: bool
) -> NDArray[np.bool_]:
    """Return which (node, state) are reached, and lie on a path that is accepted."""
    n_states = len(accepts)
    shape = (graph.n_nodes, n_states)
    reached, left = np.zeros(shape, bool), np.zeros(shape, bool)
    reached[0, start] = True
    left[-1] = accepts > 0
    for part in graph.layers():
        goes = reached[graph.source[part]] & (moves[part] >= 0)
        edge, state = np.nonzero(goes)
        edges = edge + part.start
        reached[graph.target[edges], moves[edges, state]] = True
    if not looks_ahead:
        return reached
    for part in reversed(graph.layers()):
        targets = graph.target[part][:, None]
        goes = reached[graph.source[part]] & (moves[part] >= 0) & left[targets, moves[part]]
        edge, state = np.nonzero(goes)
        left[graph.source[edge + part.start], state] = True
    return left & reached


def always(ceg: Compiled, variable: int) -> bool:
    """Return whether a variable, by number, occurs on every path of positive probability."""
    met = np.where(ceg.edge_variable == variable, 1.0, 0.0)
    return fewest(ceg.graph, np.where(ceg.probability > 0, met, np.inf)) >= 1


def fewest(graph: Graph, met: Floats) -> float:
    """Return the smallest sum of what edges hold, over the paths of a graph."""
    return float(graph.backward(met, _FEWEST)[0])


def _automaton(ceg: Compiled, part: Evidence) -> Automaton:
    if isinstance(part, Answer):
        return _answer(ceg, part)
    if isinstance(part, Likelihood):
        return _likelihood(ceg, part)
    if isinstance(part, Visit):
        return _masked(ceg, _visited(ceg, part))
    if isinstance(part, Take):
        return _masked(ceg, _taken(ceg, part))
    if isinstance(part, Count):
        return _count(ceg, part)
    if isinstance(part, Order):
        return _order(ceg, part)
    raise QueryError(f"{part!r} is no evidence")


def _masked(ceg: Compiled, mask: Floats) -> Automaton:
    return Automaton(0, np.zeros((len(ceg.probability), 1), np.int64), mask, np.ones(1))


def _seen(ceg: Compiled, variable: int, mask: Floats, absent: float) -> Automaton:
    """Return the automaton that notes whether a variable occurs, worth ``absent`` if not."""
    if absent == 1 or always(ceg, variable):
        return _masked(ceg, mask)
    is_it = ceg.edge_variable == variable
    moves = np.column_stack([np.where(is_it, 1, 0), np.ones_like(is_it, np.int64)])
    return Automaton(0, moves.astype(np.int64), mask, np.array([absent, 1.0]))


def _places(ceg: Compiled, part: Answer) -> tuple[int, list[int], bool]:
    """Return a variable, the places of its labels, and whether it may be absent."""
    variable = ceg.place(part.variable)
    known = ceg.variables[variable]
    may_lack = NOT_APPLICABLE in part.labels
    named = [label for label in part.labels if label != NOT_APPLICABLE or label in known.labels]
    return variable, [known.place(label) for label in named], may_lack


def _answer(ceg: Compiled, part: Answer) -> Automaton:
    variable, places, may_lack = _places(ceg, part)
    is_other = (ceg.edge_variable == variable) & ~np.isin(ceg.label, places)
    return _seen(ceg, variable, np.where(is_other, 0.0, 1.0), float(may_lack))


def _likelihood(ceg: Compiled, part: Likelihood) -> Automaton:
    variable = ceg.place(part.variable)
    known = ceg.variables[variable]
    weights = np.full(len(known.labels), np.nan)
    absent = np.nan
    for label, weight in part.weights:
        if label == NOT_APPLICABLE:
            absent = weight
        if label != NOT_APPLICABLE or label in known.labels:
            weights[known.place(label)] = weight
    is_it = ceg.edge_variable == variable
    lacking = [known.labels[i] for i in np.unique(ceg.label[is_it]) if np.isnan(weights[i])]
    if np.isnan(absent) and not always(ceg, variable):
        lacking.append(NOT_APPLICABLE)
    if lacking:
        raise QueryError(
            f"the likelihood of {part.variable!r} lacks {listed(map(repr, lacking))}",
            hint="give a number for each label",
        )
    mask = np.ones(len(is_it))
    mask[is_it] = weights[ceg.label[is_it]]
    return _seen(ceg, variable, mask, float(np.nan_to_num(absent, nan=0.0)))


def _refuse_extremes(evidence: Evidence) -> None:
    """Refuse likelihoods whose product can be no number, or one of few digits."""
    most = least = 0.0
    for part in items(evidence):
        if isinstance(part, Likelihood):
            sizes = [math.log2(weight) for _, weight in part.weights if weight > 0]
            most += max(0.0, *sizes)
            least += min(0.0, *sizes)
    if most > _MOST_BITS or least < -_MOST_BITS:
        extreme = "large" if most > _MOST_BITS else "small"
        raise QueryError(
            f"the likelihoods multiply to numbers too {extreme} to calculate with",
            hint="only their ratios matter: divide the numbers of each by its largest",
        )


def _visited(ceg: Compiled, part: Visit) -> Floats:
    """Return the mask of the paths that pass a position, or do not."""
    node, graph = ceg.node(part.position), ceg.graph
    if part.is_passed:
        keeps = _above(graph, node)[graph.target] | _below(graph, node)[graph.source]
        return keeps.astype(float)
    return np.where((graph.target == node) | (node == 0), 0.0, 1.0)


def _taken(ceg: Compiled, part: Take) -> Floats:
    """Return the mask of the paths that take an edge, or do not."""
    edge, graph = _edge(ceg, part), ceg.graph
    if not part.is_taken:
        return np.where(np.arange(len(graph.source)) == edge, 0.0, 1.0)
    keeps = (
        _above(graph, graph.source[edge])[graph.target]
        | _below(graph, graph.target[edge])[graph.source]
    )
    keeps[edge] = True
    return keeps.astype(float)


def _edge(ceg: Compiled, part: Take) -> int:
    node = ceg.node(part.position)
    edges = np.flatnonzero(ceg.graph.source == node).tolist()
    labels = [ceg.texts[edge] for edge in edges]
    unknown = f"{ceg.vertex} {ceg.names[node]} of {ceg.shown} has no edge {part.label!r}"
    return int(edges[labels.index(only_match(part.label, labels, unknown, QueryError))])


def _above(graph: Graph, node: int) -> NDArray[np.bool_]:
    """Return which nodes lead to a node, or are it."""
    found = np.zeros(graph.n_nodes, bool)
    found[node] = True
    for part in reversed(graph.layers()):
        found[graph.source[part][found[graph.target[part]]]] = True
    return found


def _below(graph: Graph, node: int) -> NDArray[np.bool_]:
    """Return which nodes a node leads to, or are it."""
    found = np.zeros(graph.n_nodes, bool)
    found[node] = True
    for part in graph.layers():
        found[graph.target[part][found[graph.source[part]]]] = True
    return found


def change_of(ceg: Compiled, part: Evidence) -> tuple[int, Ints]:
    """Return whether an event holds before the first edge, and what each edge changes."""
    if isinstance(part, Answer):
        variable, places, may_lack = _places(ceg, part)
        is_it = ceg.edge_variable == variable
        is_named = np.isin(ceg.label, places)
        if may_lack:
            return 1, np.where(is_it & ~is_named, -1, 0)
        return 0, np.where(is_it & is_named, 1, 0)
    if isinstance(part, Visit):
        node = ceg.node(part.position)
        passes = np.where(ceg.graph.target == node, 1, 0)
        at_root = int(node == 0)
        return (at_root, passes) if part.is_passed else (1 - at_root, -passes)
    if not isinstance(part, Take):
        raise QueryError(f"{part} cannot be counted or put in order")
    takes = np.where(np.arange(len(ceg.texts)) == _edge(ceg, part), 1, 0)
    return (0, takes) if part.is_taken else (1, -takes)


def _count(ceg: Compiled, part: Count) -> Automaton:
    n_edges, n_events = len(ceg.probability), len(part.of)
    start, change = 0, np.zeros(n_edges, np.int64)
    for event in part.of:
        holds, changes = change_of(ceg, event)
        start += holds
        change += changes
    states = np.arange(n_events + 1)
    moves = states + change[:, None]
    moves = np.where((moves < 0) | (moves > n_events), -1, moves)
    accepts = ((states >= part.least) & (states <= part.most)).astype(float)
    return Automaton(start, moves, np.ones(n_edges), accepts)


def _order(ceg: Compiled, part: Order) -> Automaton:
    changes = []
    starts = []
    for event in (part.first, part.second):
        holds, change = change_of(ceg, event)
        if (change < 0).any() or (holds and not (isinstance(event, Visit) and event.is_passed)):
            raise QueryError(
                f"{event} happens at no moment of a path",
                hint="put answers that occur, visits and edges taken in order",
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
