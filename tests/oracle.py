"""The independent oracle: slow, obvious Python that says what is right.

Written from the theory alone, with the standard library alone; it never imports
the product and the product never imports it. Read it to learn what a result must
be; read ``sql/`` to learn how it is computed on millions of rows.

Four parts, in the order of the data flow:

1. event tree      ``event_tree``
2. positions, CEG  ``heights``, ``positions``, ``merge_graphs``,
                   ``backward_recursion``, ``ceg``, ``coloured_words``, ``recover``
3. stages          ``hyperstages``, ``prior``, ``ahc``, ``log_marginal_likelihood``
4. small helpers   ``labels``, ``stage_of``, ``partition``, ``staged_paths``

A *path* is a tuple of (variable, label) pairs; vertices are compared by path, never
by name. A *stage map* is a dict from the id of every situation to any hashable name.

References
----------
Shenvi & Smith (2020), PMLR 138:437-448. Freeman & Smith (2011), arXiv 0904.0977.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from itertools import combinations, product
from math import fsum, lgamma, log
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

# =============================================================================
# 1. Event tree
# =============================================================================


class Cell(Enum):
    """What a cell can be when it is not a value (a value is a ``str``)."""

    BLANK = "empty: structural or missing, the tree decides"
    NA = "structural: the question does not apply"
    MISS = "missing: the question applies, the answer is unknown"

    def __repr__(self) -> str:
        return self.name


BLANK, NA, MISS = Cell

NOT_APPLICABLE = "not applicable"  # label of an explicit NA edge
MISSING = "missing"  # label of a MISS edge, policy "category" only


class Fate(Enum):
    """What can become of a row at a history, other than going on."""

    STOP = "it stops at this history and counts in n_stopped"
    DROP = "it leaves the whole tree"


Path = tuple[tuple[str, str], ...]
Row = dict[str, "str | Cell"]


@dataclass
class Vertex:
    """A vertex of the event tree; ``variable`` is None on a leaf."""

    id: int
    path: Path
    n: int
    n_stopped: int
    variable: str | None
    depth: int
    height: int = 0
    children: dict[str, int] = field(default_factory=dict)  # label -> id, level order

    @property
    def is_leaf(self) -> bool:
        return not self.children


@dataclass
class Tree:
    """Vertices by path, in the order of their ids (0, 1, 2, ...)."""

    vertices: dict[Path, Vertex]
    order: tuple[str, ...]
    levels: dict[str, list[str]]  # the value labels of each variable, in level order
    n_dropped: int = 0

    def __post_init__(self) -> None:
        self.by_id = list(self.vertices.values())
        for vertex_id, height in heights(self).items():
            self.by_id[vertex_id].height = height

    @property
    def situations(self) -> list[Vertex]:
        return [v for v in self.by_id if not v.is_leaf]

    @property
    def leaves(self) -> list[Vertex]:
        return [v for v in self.by_id if v.is_leaf]

    @property
    def n_edges(self) -> int:
        return sum(len(v.children) for v in self.by_id)

    def floret(self, vertex_id: int) -> dict[str, int]:
        """Return label -> n of the edges out of a vertex."""
        children = self.by_id[vertex_id].children
        return {label: self.by_id[child].n for label, child in children.items()}


def event_tree(
    rows: Iterable[Row | tuple[Row, int]],
    order: Sequence[str],
    *,
    blank: Literal["auto", "structural", "missing"] = "auto",
    missing_policy: Literal["prefix", "complete", "category"] = "prefix",
    sampling_zeros: Literal["auto", "none", "floret", "full"] = "none",
    add_paths: Sequence[Mapping[str, str]] = (),
    impossible: Sequence[Mapping[str, str]] = (),
    levels: Mapping[str, Sequence[str]] | None = None,
    gate_min_rows: int = 5,
) -> Tree:
    """Count rows into an event tree.

    A *history* is a path that still shows the variables that did not apply, each as
    (variable, "not applicable"). The work is done on histories; only at the end,
    those florets that have nothing but a not-applicable edge vanish.
    """
    table = _count_rows(rows, order)
    ordered = _level_order(table, order, add_paths, levels or {})
    added = [_added_history(path, order) for path in add_paths]

    n, n_dropped = _count_histories(table, order, added, blank, missing_policy, gate_min_rows)
    for history in added:
        for length in range(len(history) + 1):
            n.setdefault(history[:length], 0)
    _add_sampling_zeros(n, order, ordered, sampling_zeros, impossible)
    return _contract(n, order, ordered, n_dropped)


def _count_rows(
    rows: Iterable[Row | tuple[Row, int]], order: Sequence[str]
) -> Counter[tuple[str | Cell, ...]]:
    """Return distinct cells in tree order -> number of rows; rows of count 0 go."""
    table: Counter[tuple[str | Cell, ...]] = Counter()
    for entry in rows:
        row, count = entry if isinstance(entry, tuple) else (entry, 1)
        if count:
            table[tuple(row[variable] for variable in order)] += count
    for cells in table:
        if NOT_APPLICABLE in cells:
            raise ValueError(f"an answer reads {NOT_APPLICABLE!r}")
    return table


def in_level_order(values: Iterable[str]) -> list[str]:
    """Sort labels by value if all are integers, else by their UTF-8 bytes."""
    values = set(values)
    if all(re.fullmatch(r"[+-]?[0-9]+", value) for value in values):
        return sorted(values, key=lambda value: (int(value), value.encode()))
    return sorted(values, key=str.encode)


def _level_order(
    table: Iterable[tuple[str | Cell, ...]],
    order: Sequence[str],
    add_paths: Sequence[Mapping[str, str]],
    declared: Mapping[str, Sequence[str]],
) -> dict[str, list[str]]:
    """Return the value labels of each variable: declared ones first, as declared."""
    ordered = {}
    for column, variable in enumerate(order):
        seen: set[Any] = {cells[column] for cells in table} - set(Cell)
        seen |= {path[variable] for path in add_paths if variable in path}
        seen -= {NOT_APPLICABLE}
        first = list(declared.get(variable, ()))
        ordered[variable] = first + in_level_order(seen - set(first))
    return ordered


def _added_history(path: Mapping[str, str], order: Sequence[str]) -> Path:
    """Write out an added path; variables not named before its last one are NA."""
    unknown = set(path) - set(order)
    if unknown:
        raise ValueError(f"add_paths names {sorted(unknown)}, not in the order")
    last = max((order.index(variable) for variable in path), default=-1)
    return tuple((v, path.get(v, NOT_APPLICABLE)) for v in order[: last + 1])


def _count_histories(
    table: Mapping[tuple[str | Cell, ...], int],
    order: Sequence[str],
    added: Sequence[Path],
    blank: str,
    missing_policy: str,
    gate_min_rows: int,
) -> tuple[dict[Path, int], int]:
    """Send the rows down, variable by variable, and count them at each history."""
    alive: dict[Path, list[tuple[str | Cell, ...]]] = {(): list(table)}
    ended: list[tuple[Path, int]] = []
    n_dropped = 0
    for column, variable in enumerate(order):
        arriving: dict[Path, list[tuple[str | Cell, ...]]] = defaultdict(list)
        for history, group in alive.items():
            here: Counter[str | Cell] = Counter()
            for cells in group:
                here[cells[column]] += table[cells]
            added_here = {
                path[column][1]
                for path in added
                if len(path) > column and path[:column] == history
            }
            outcome = decide(here, added_here, blank, missing_policy, gate_min_rows)
            for cells in group:
                label = outcome[cells[column]]
                if label is Fate.DROP:
                    n_dropped += table[cells]
                elif label is Fate.STOP:
                    ended.append((history, table[cells]))
                else:
                    arriving[(*history, (variable, label))].append(cells)
        alive = arriving
    for history, group in alive.items():
        ended += [(history, table[cells]) for cells in group]

    n: dict[Path, int] = {(): 0}
    for history, count in ended:
        for length in range(len(history) + 1):
            n[history[:length]] = n.get(history[:length], 0) + count
    return n, n_dropped


def decide(
    here: Mapping[str | Cell, int],
    added_here: set[str],
    blank: str,
    missing_policy: str,
    gate_min_rows: int,
) -> dict[str | Cell, str | Fate]:
    """Return, for each distinct cell at one history, its label or its fate.

    ``here`` counts the cells of the rows alive at the history, ``added_here`` has the
    labels that added paths give there.
    """
    added_answers = added_here - {NOT_APPLICABLE}

    # What is a blank here?
    if blank == "auto":
        is_gate = (
            sum(here.values()) >= gate_min_rows and set(here) == {BLANK} and not added_answers
        )
        blank_is = NA if is_gate else MISS
    else:
        blank_is = {"structural": NA, "missing": MISS}[blank]
    read = {cell: blank_is if cell is BLANK else cell for cell in here}

    # What becomes of a missing answer here?
    missing_is: str | Fate
    if missing_policy == "prefix":
        answered = bool(added_answers) or any(isinstance(c, str) for c in read.values())
        not_applicable = NA in read.values() or NOT_APPLICABLE in added_here
        missing_is = NOT_APPLICABLE if not_applicable and not answered else Fate.STOP
    else:
        missing_is = Fate.DROP if missing_policy == "complete" else MISSING
        if missing_policy == "category" and MISSING in here:
            raise ValueError(f"an answer reads {MISSING!r} and the policy is category")

    label = {NA: NOT_APPLICABLE, MISS: missing_is}
    return {
        cell: label[kind] if isinstance(kind, Cell) else kind for cell, kind in read.items()
    }


def _add_sampling_zeros(
    n: dict[Path, int],
    order: Sequence[str],
    levels: Mapping[str, Sequence[str]],
    sampling_zeros: str,
    impossible: Sequence[Mapping[str, str]],
) -> None:
    """Add the answers nobody gave (n = 0), unless they are impossible."""
    if sampling_zeros == "none":
        return
    n_going_on: Counter[Path] = Counter()
    for path, count in n.items():
        if path:
            n_going_on[path[:-1]] += count
    n_asked = sum(_is_asked(n, history, order) for history in n)
    n_unreached = 0
    for column, variable in enumerate(order):
        histories = [h for h in n if len(h) == column]
        reached = [h for h in histories if n[h] > 0 or h == ()]
        unreached = set(histories) - set(reached)
        going_on = {child[:-1] for child in n if child}
        closed: set[Path] = set()
        if sampling_zeros != "floret":
            asked = _is_pair_asked(reached, n, order)
            closed = {h for h in unreached if _is_closed(h, asked)}
        n_open = len(unreached - going_on) - len(closed)
        is_full = sampling_zeros == "full"
        if sampling_zeros == "auto":
            is_full = n_unreached + n_open <= n_asked
            n_unreached += n_open if is_full else len(n) * n_asked + 1
        counted = {
            h: {x: n.get((*h, (variable, x)), 0) for x in levels[variable]} for h in histories
        }
        for history in histories:
            answers = [(*history, (variable, label)) for label in levels[variable]]
            missing = (*history, (variable, MISSING))
            n_stopped = n[history] - n_going_on[history]
            is_asked = n_stopped > 0 or any(child in n for child in [*answers, missing])
            if not is_asked and is_full and history in closed:
                n.setdefault((*history, (variable, NOT_APPLICABLE)), 0)
            elif is_asked or (is_full and history in unreached):
                for child in answers:
                    is_presumed = sampling_zeros == "auto" and presumed(
                        child[-1][1], counted[history], [counted[h] for h in reached]
                    )
                    is_ruled_out = any(set(rule.items()) <= set(child) for rule in impossible)
                    if not is_ruled_out and not is_presumed:
                        n.setdefault(child, 0)


def presumed(
    label: str, here: Mapping[str, int], everywhere: Sequence[Mapping[str, int]]
) -> tuple[int, int, int, float] | None:
    """Return n, a, b and log p0 of a label that is presumed impossible at a situation.

    ``here`` counts the answers there, ``everywhere`` those of all situations, this one too.
    """
    n = sum(here.values())
    n_with = sum(counts[label] for counts in everywhere)
    n_without = sum(sum(counts.values()) for counts in everywhere) - n_with - n
    if here[label] or n < 100 or not n_with:
        return None

    def log_beta(a: float, b: float) -> float:
        return lgamma(a) + lgamma(b) - lgamma(a + b)

    log_p0 = log_beta(n_with + 0.5, n_without + 0.5 + n) - log_beta(
        n_with + 0.5, n_without + 0.5
    )
    return (n, n_with, n_without, log_p0) if log_p0 < log(1e-6) else None


def _is_asked(n: Mapping[Path, int], history: Path, order: Sequence[str]) -> bool:
    """Return whether some row with a history was asked the next question."""
    if len(history) == len(order):
        return False
    not_applicable = (*history, (order[len(history)], NOT_APPLICABLE))
    return n[history] > n.get(not_applicable, 0)


def _is_pair_asked(
    reached: Sequence[Path], n: Mapping[Path, int], order: Sequence[str]
) -> dict[tuple[object, object], bool]:
    """Return for one or two answers whether somebody who gave them was asked."""
    asked: dict[tuple[object, object], bool] = {}
    for history in reached:
        is_asked = _is_asked(n, history, order)
        for pair in product(history, history):
            asked[pair] = asked.get(pair, False) or is_asked
    return asked


def _is_closed(history: Path, asked: Mapping[tuple[object, object], bool]) -> bool:
    """Return whether nobody with one or two of the answers of a history was asked."""
    return any(not asked.get(pair, True) for pair in product(history, history))


def _contract(
    n: Mapping[Path, int],
    order: Sequence[str],
    levels: Mapping[str, list[str]],
    n_dropped: int,
) -> Tree:
    """Let florets with a not-applicable edge only vanish; number breadth first."""

    def floret(history: Path) -> dict[str, Path]:
        if len(history) == len(order):
            return {}
        variable = order[len(history)]
        possible = [*levels[variable], MISSING, NOT_APPLICABLE]  # the level order
        children = {label: (*history, (variable, label)) for label in possible}
        return {label: child for label, child in children.items() if child in n}

    def settle(history: Path) -> Path:
        while list(floret(history)) == [NOT_APPLICABLE]:
            history = floret(history)[NOT_APPLICABLE]
        return history

    vertices: dict[Path, Vertex] = {}
    queue: deque[tuple[Path, Path, Vertex | None]] = deque([((), (), None)])
    while queue:
        path, history, parent = queue.popleft()
        history = settle(history)
        edges = floret(history)
        variable = order[len(history)] if edges else None
        vertices[path] = vertex = Vertex(
            id=len(vertices),
            path=path,
            n=n[history],
            n_stopped=n[history] - sum(n[child] for child in edges.values()),
            variable=variable,
            depth=len(path),
        )
        if not edges:
            vertex.n_stopped = 0
        if parent is not None:
            parent.children[path[-1][1]] = vertex.id
        for child in edges.values():
            queue.append(((*path, child[-1]), child, vertex))
    return Tree(vertices, tuple(order), dict(levels), n_dropped)


# =============================================================================
# 2. Positions and the Chain Event Graph
# =============================================================================

Stages = dict[int, Any]  # id of every situation -> name of its stage


def heights(tree: Tree) -> dict[int, int]:
    """Return the number of edges on the LONGEST path from each vertex to a leaf."""

    def height(vertex_id: int) -> int:
        children = tree.by_id[vertex_id].children.values()
        return max((1 + height(child) for child in children), default=0)

    return {vertex.id: height(vertex.id) for vertex in tree.by_id}


def subtree(tree: Tree, stage: Stages, vertex_id: int) -> Hashable:
    """Return a hashable copy of a rooted subtree, with its labels and stages."""
    children = sorted(tree.by_id[vertex_id].children.items())
    below = tuple((label, subtree(tree, stage, child)) for label, child in children)
    return stage.get(vertex_id), below


def positions(tree: Tree, stage: Stages) -> dict[int, int]:
    """Return vertex -> position: the smallest vertex with an isomorphic subtree.

    Brute force from the definition. All leaves are one position, the sink.
    """
    first: dict[Hashable, int] = {}
    return {
        vertex.id: first.setdefault(subtree(tree, stage, vertex.id), vertex.id)
        for vertex in tree.by_id
    }


@dataclass
class Graph:
    """A rooted, coloured, labelled graph: a staged tree, some G_i, or a CEG.

    ``colour`` has every vertex with out-edges; ``edges`` is
    {(source, label): (target, n)}.
    """

    root: Hashable
    colour: dict[Hashable, Hashable]
    edges: dict[tuple[Hashable, str], tuple[Hashable, int]]

    @property
    def vertices(self) -> set[Hashable]:
        targets = {target for target, _ in self.edges.values()}
        return {self.root} | {source for source, _ in self.edges} | targets

    @property
    def sizes(self) -> tuple[int, int]:
        """The number of vertices and of edges."""
        return len(self.vertices), len(self.edges)

    def floret(self, vertex: Hashable) -> dict[str, Hashable]:
        """Return label -> target of the edges out of a vertex."""
        return {
            label: target
            for (source, label), (target, _) in self.edges.items()
            if source == vertex
        }


def tree_graph(tree: Tree, stage: Stages) -> Graph:
    """Return the staged tree as a graph: G_0."""
    edges: dict[tuple[Hashable, str], tuple[Hashable, int]] = {
        (vertex.id, label): (child, tree.by_id[child].n)
        for vertex in tree.by_id
        for label, child in vertex.children.items()
    }
    return Graph(0, {v.id: stage[v.id] for v in tree.situations}, edges)


def merge(graph: Graph, into: Mapping[Any, Hashable]) -> Graph:
    """Merge vertices: counts of edges that fall together are added."""
    edges: dict[tuple[Hashable, str], tuple[Hashable, int]] = {}
    for (source, label), (target, n) in graph.edges.items():
        key, new_target = (into.get(source, source), label), into.get(target, target)
        old_target, old_n = edges.get(key, (new_target, 0))
        assert old_target == new_target, f"{key} leads to two vertices"
        edges[key] = (new_target, old_n + n)
    colour = {v: c for v, c in graph.colour.items() if into.get(v, v) == v}
    return Graph(into.get(graph.root, graph.root), colour, edges)


def merge_graphs(
    tree: Tree, stage: Stages, stop: Literal["early", "baseline"] = "early"
) -> list[Graph]:
    """Return G_0, G_1, ... of the backward recursion by height.

    Step 1 melts the leaves into the sink; step i merges the situations of height
    i - 1 that have the same stage and the same labelled targets in G_{i-1}. With m
    the height of the root there are m steps: the root is alone in its level and never
    compared. ``early`` stops after the first step that merges nothing, and that
    step's graph is still in the list.
    """
    graphs = [tree_graph(tree, stage)]
    height = heights(tree)
    for step in range(1, height[0] + 1):
        current = graphs[-1]
        into: dict[Hashable, Hashable] = {}
        first: dict[Hashable, int] = {}
        for vertex in tree.by_id:  # ids ascend, so each block keeps its smallest
            if height[vertex.id] == step - 1:
                floret = frozenset(current.floret(vertex.id).items())
                signature = (current.colour.get(vertex.id), floret)
                into[vertex.id] = first.setdefault(signature, vertex.id)
        graphs.append(merge(current, into))
        if stop == "early" and len(first) == len(into):
            break
    return graphs


def backward_recursion(
    tree: Tree, stage: Stages, stop: Literal["early", "baseline"] = "early"
) -> list[tuple[int, int]]:
    """Return the sizes (vertices, edges) of G_0, G_1, ..."""
    return [graph.sizes for graph in merge_graphs(tree, stage, stop)]


def ceg(tree: Tree, stage: Stages) -> Graph:
    """Return the CEG from brute-force positions, not from the recursion.

    ``.edges`` is {(position, label): (position, n)}; a position has the id of its
    smallest vertex, the sink that of the smallest leaf.
    """
    return merge(tree_graph(tree, stage), positions(tree, stage))


def coloured_words(graph: Graph) -> Counter[tuple[tuple[Hashable, str], ...]]:
    """Return each root-to-sink word of (stage, label) and its number of paths."""

    def words(vertex: Hashable) -> list[tuple[tuple[Hashable, str], ...]]:
        floret = graph.floret(vertex)
        if not floret:
            return [()]
        return [
            ((graph.colour[vertex], label), *word)
            for label, target in floret.items()
            for word in words(target)
        ]

    return Counter(words(graph.root))


def recover(graph: Graph) -> dict[tuple[str, ...], Hashable]:
    """Unroll a CEG into its staged tree (Theorem 3): labels from the root -> stage.

    One tree vertex for each path from the root; leaves have stage None.
    """
    tree: dict[tuple[str, ...], Hashable] = {}

    def unroll(vertex: Hashable, word: tuple[str, ...]) -> None:
        tree[word] = graph.colour.get(vertex)
        for label, target in graph.floret(vertex).items():
            unroll(target, (*word, label))

    unroll(graph.root, ())
    return tree


# =============================================================================
# 3. Stages
# =============================================================================


def hyperstages(
    tree: Tree, by: Literal["variable", "labels"] = "variable"
) -> dict[int, Hashable]:
    """Return situation -> hyperstage: the situations allowed to share a stage.

    By (variable, label set), our default, or by label set alone, as the peers do.
    """
    return {
        v.id: (v.variable if by == "variable" else None, frozenset(v.children))
        for v in tree.situations
    }


def default_alpha(tree: Tree) -> int:
    """Return the largest number of value levels of a variable (an NA is none)."""
    return max((len(levels) for levels in tree.levels.values()), default=0)


def prior(tree: Tree, alpha: float | Fraction) -> dict[int, dict[str, Fraction]]:
    """Return the Dirichlet prior of each floret, by conservation of mass.

    The root holds ``alpha``; a vertex shares its mass equally among its edges, and a
    child holds the mass of the edge that leads to it.
    """
    if not alpha > 0:
        raise ValueError(f"alpha is {alpha}, it must be positive")
    mass = {0: Fraction(alpha)}
    shares: dict[int, dict[str, Fraction]] = {}
    for vertex in tree.situations:  # ids ascend: parents come before children
        share = mass[vertex.id] / len(vertex.children)
        shares[vertex.id] = dict.fromkeys(vertex.children, share)
        mass.update(dict.fromkeys(vertex.children.values(), share))
    return shares


def log_evidence(a: Sequence[Fraction], n: Sequence[int]) -> float:
    """Return log L(a, n), the Dirichlet-multinomial evidence of one stage."""
    terms = [lgamma(float(sum(a))), -lgamma(float(sum(a) + sum(n)))]
    for a_j, n_j in zip(a, n, strict=True):
        terms += [lgamma(float(a_j + n_j)), -lgamma(float(a_j))]
    return fsum(terms)


@dataclass
class Florets:
    """Prior and counts of a stage: those of its situations, added by label."""

    a: tuple[Fraction, ...]
    n: tuple[int, ...]

    def __add__(self, other: Florets) -> Florets:
        a = tuple(x + y for x, y in zip(self.a, other.a, strict=True))
        n = tuple(x + y for x, y in zip(self.n, other.n, strict=True))
        return Florets(a, n)

    @property
    def log_evidence(self) -> float:
        return log_evidence(self.a, self.n)


def log_bayes_factor(u: Florets, v: Florets) -> float:
    """Return the gain in log marginal likelihood when two stages merge."""
    return (u + v).log_evidence - u.log_evidence - v.log_evidence


def florets(tree: Tree, alpha: float | Fraction) -> dict[int, Florets]:
    """Return prior and counts of each situation, labels sorted as text."""
    a = prior(tree, alpha)
    return {
        v.id: Florets(
            tuple(a[v.id][label] for label in sorted(v.children)),
            tuple(tree.floret(v.id)[label] for label in sorted(v.children)),
        )
        for v in tree.situations
    }


def stage_florets(
    tree: Tree, alpha: float | Fraction, stage: Stages
) -> dict[Hashable, Florets]:
    """Return pooled prior and counts of each stage."""
    pooled: dict[Hashable, Florets] = {}
    for vertex_id, own in florets(tree, alpha).items():
        name = stage[vertex_id]
        pooled[name] = pooled[name] + own if name in pooled else own
    return pooled


def probabilities(
    tree: Tree, alpha: float | Fraction, stage: Stages
) -> dict[Hashable, dict[str, Fraction]]:
    """Return the posterior mean of each stage, (a_j + n_j) / (A + N) by label."""
    members = {stage[v.id]: sorted(v.children) for v in tree.situations}
    return {
        name: {
            label: (a + n) / (sum(pooled.a) + sum(pooled.n))
            for label, a, n in zip(members[name], pooled.a, pooled.n, strict=True)
        }
        for name, pooled in stage_florets(tree, alpha, stage).items()
    }


def log_marginal_likelihood(tree: Tree, alpha: float | Fraction, stage: Stages) -> float:
    """Return the score of a staged tree: the sum of its stages' log evidence."""
    return fsum(pooled.log_evidence for pooled in stage_florets(tree, alpha, stage).values())


@dataclass
class Learnt:
    """A learnt staging; a stage is named after its smallest situation."""

    stage: Stages
    merges: list[tuple[int, int, float]]  # kept, absorbed, log Bayes factor
    kind: dict[int, str]  # stage -> learnt, single_edge or unobserved


def ahc(
    tree: Tree,
    alpha: float | Fraction,
    hyperstages: Mapping[int, Hashable] | None = None,
    initial: Mapping[int, Hashable] | None = None,
) -> Learnt:
    """Learn stages by agglomerative hierarchical clustering, one hyperstage a time.

    Again and again the pair of stages with the largest log Bayes factor is merged,
    as long as that exceeds 1e-9 (0 in exact arithmetic). Of pairs as good as the best
    (|d| <= 1e-9 max(1, |best|)) the one with the smallest (min id, min id) wins.

    ``hyperstages`` maps every situation, by default to (variable, label set).
    ``initial`` maps some situations to the name of the group they start in; a
    situation not named starts alone.
    """
    allowed = _by_variable(tree) if hyperstages is None else hyperstages
    initial = initial or {}
    for block in partition(initial):
        if len({allowed[v] for v in block}) != 1:
            raise ValueError(f"the initial group {sorted(block)} spans hyperstages")
    own = florets(tree, alpha)
    learnt = Learnt({}, [], {})

    members: dict[Hashable, list[int]] = defaultdict(list)
    for vertex in tree.situations:
        members[allowed[vertex.id]].append(vertex.id)

    for situations in members.values():
        label_sets = {frozenset(tree.by_id[v].children) for v in situations}
        if len(label_sets) != 1:
            raise ValueError(f"a hyperstage has {len(label_sets)} label sets")

        # Who is in which group at the start, and which groups take part at all?
        groups: dict[Hashable, list[int]] = defaultdict(list)
        for v in situations:
            if len(tree.by_id[v].children) == 1:
                groups["single_edge"].append(v)
            elif v in initial:
                groups["initial", initial[v]].append(v)
            elif sum(own[v].n) == 0:
                groups["unobserved"].append(v)
            else:
                groups["alone", v].append(v)
        stages = {}
        for name, group in groups.items():
            learnt.stage.update(dict.fromkeys(group, group[0]))
            kept_out = name in ("single_edge", "unobserved")
            learnt.kind[group[0]] = str(name) if kept_out else "learnt"
            if not kept_out:
                stages[group[0]] = _pool(own[v] for v in group)

        for kept, absorbed, gain in _cluster(stages):
            learnt.merges.append((kept, absorbed, gain))
            del learnt.kind[absorbed]
            for v in situations:
                if learnt.stage[v] == absorbed:
                    learnt.stage[v] = kept

    return learnt


def _by_variable(tree: Tree) -> dict[int, Hashable]:
    return hyperstages(tree)


def _pool(parts: Iterable[Florets]) -> Florets:
    first, *rest = parts
    for part in rest:
        first = first + part
    return first


def _cluster(stages: dict[int, Florets]) -> list[tuple[int, int, float]]:
    """Merge greedily within one hyperstage; return the merges in their order."""
    gain = {
        (i, j): log_bayes_factor(stages[i], stages[j])
        for i, j in combinations(sorted(stages), 2)
    }
    merges = []
    while gain and max(gain.values()) > 1e-9:
        best = max(gain.values())
        tolerance = 1e-9 * max(1, abs(best))
        i, j = min(pair for pair, value in gain.items() if best - value <= tolerance)
        merges.append((i, j, gain[i, j]))
        stages[i] = stages[i] + stages.pop(j)
        gain = {pair: value for pair, value in gain.items() if j not in pair}
        for k in stages:
            if k != i:
                pair = (min(i, k), max(i, k))
                gain[pair] = log_bayes_factor(stages[i], stages[k])
    return merges


# =============================================================================
# 4. Small helpers
# =============================================================================


def labels(path: Path) -> tuple[str, ...]:
    """Return the labels from the root, the name a vertex has in the interface."""
    return tuple(label for _, label in path)


def stage_of(tree: Tree, named: Mapping[Path, Hashable]) -> Stages:
    """Turn path -> name into a stage map; situations not named are alone.

    A stage gets the id of its smallest situation, as in the product.
    """
    unknown = set(named) - {v.path for v in tree.situations}
    if unknown:
        raise ValueError(f"not situations of the tree: {sorted(unknown)}")
    first: dict[Hashable, int] = {}
    return {
        v.id: first.setdefault(("named", named[v.path]), v.id) if v.path in named else v.id
        for v in tree.situations
    }


def partition(names: Mapping[Any, Hashable]) -> set[frozenset[Any]]:
    """Forget the names: return the blocks of keys that share one."""
    blocks: dict[Hashable, set[Any]] = defaultdict(set)
    for key, name in names.items():
        blocks[name].add(key)
    return {frozenset(block) for block in blocks.values()}


def staged_paths(tree: Tree, stage: Stages) -> dict[tuple[str, ...], Hashable]:
    """Return labels from the root -> stage (None on leaves), to set beside recover."""
    return {labels(vertex.path): stage.get(vertex.id) for vertex in tree.by_id}
