"""Histories that nobody had: what a staging says of those below which its tree does not go on.

The staged tree goes on below the answers that nobody gave, as far as the rows asked about lead.
A state there is what later questions depend on: the answers to their parents, if the staging
was learnt with ``max_parents``. Each question takes the stage of its configuration; without
parents, and in a configuration that nobody had, it takes the pooled rows of the hyperstage.
Which situation of a hyperstage a history would have, and whether the question would be asked at
all, depends on the earlier answers too: on those that tell it best.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from cegdb import clustering
from cegdb.errors import QueryError, is_one_of
from cegdb.evidence import items, positions_of
from cegdb.inference.compiled_model import CompiledModel, compile_staged_tree
from cegdb.inference.propagation import Graph
from cegdb.inference.queries import condition
from cegdb.stages.priors import stage_mass
from cegdb.stages.recorded import prior_rule
from cegdb.store.catalog import row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import sqlalchemy as sa
    from numpy.typing import NDArray

    from cegdb.evidence import Evidence
    from cegdb.inference.propagation import Floats, Ints
    from cegdb.inference.queries import ConditionedModel
    from cegdb.inference.row_tables import ModelOrigin
    from cegdb.sqlfiles import Row, Steps
    from cegdb.store import Store

_OPEN: Final = -1
_BLOCK: Final = 100_000
_MOST_ITEMS: Final = 20_000_000
_MOST_STATES: Final = 500_000
_SINK: Final = -1
_MOST_TELLING: Final = 3
"""Earlier answers that tell whether a question is asked, unless ``max_parents`` says it."""


class _Lookup(NamedTuple):
    """A vector for each configuration of some variables, and one for any other."""

    columns: Sequence[int]
    vectors: Mapping[tuple[int, ...], Floats]
    other: Floats

    def __call__(self, memory: Ints) -> Floats:
        return self.vectors.get(tuple(memory[list(self.columns)].tolist()), self.other)


class _Question(NamedTuple):
    """A variable below the tree.

    ``kind`` gives the probability that it is not asked, then of each hyperstage; ``answers``
    the probability of each of ``labels`` in that hyperstage.
    """

    labels: Ints
    kind: _Lookup
    answers: Sequence[_Lookup]

    def absence(self, memory: Ints) -> float:
        return float(self.kind(memory)[0])

    def distribution(self, memory: Ints) -> Floats:
        """Return the probability of each label, given that the question is asked."""
        weights = self.kind(memory)[1:]
        total = sum(
            (w * of(memory) for w, of in zip(weights, self.answers, strict=True)),
            np.zeros(len(self.labels)),
        )
        return np.asarray(total / total.sum())


class _Arrival(NamedTuple):
    """Where a history goes on, and how probably: a state of the question of that rank."""

    probability: float
    rank: int
    state: int


@dataclass(frozen=True)
class UnseenHistories:
    """A staged tree with what later questions depend on.

    ``rank`` is that of the variable of each situation in the order of the tree; ``answer`` the
    label of each edge, -1 for "not applicable"; ``is_open`` says which edges nobody took and
    the tree does not go on below; ``histories`` has the answers that lead to each situation.
    ``needed`` says which variables the questions of a rank or a later one depend on.
    """

    tree: CompiledModel
    evidence: Evidence
    rank: Ints
    answer: Ints
    is_open: NDArray[np.bool_]
    histories: Ints
    questions: Sequence[_Question | None]
    needed: NDArray[np.bool_]

    @cached_property
    def _answer_of_label(self) -> dict[int, int]:
        return dict(zip(self.tree.label_id.tolist(), self.answer.tolist(), strict=True))

    def answer_of_label(self, label_id: int) -> int:
        """Return a label as later questions see it: -1 for "not applicable"."""
        return self._answer_of_label[label_id]

    def extended(self, steps: Steps, n_combinations: int) -> ConditionedModel:
        """Return the staged tree, given its evidence, with the histories of all combinations.

        The probability of evidence needs all other histories too.
        """
        growth = _Growth(self)
        if any(True for _ in items(self.evidence)):
            shape = (1, len(self.questions))
            growth.follow(np.full(shape, _OPEN), np.zeros(shape, bool))
        for first in range(0, n_combinations, _BLOCK):
            last = min(first + _BLOCK, n_combinations) - 1
            steps.run("coded_cell", first=first, last=last)
            steps.run("history_cell")
            cells = steps.arrays("from temp.history_cell order by combination_id, rank")
            shape = (last - first + 1, len(self.questions))
            growth.follow(
                cells["label_id"].astype(np.int64).reshape(shape),
                cells["is_given"].astype(bool).reshape(shape),
            )
        steps.drop(["coded_cell", "history_cell"])
        return condition(growth.model(), self.evidence)


def read_unseen_histories(
    store: Store,
    catalog: sa.Connection,
    steps: Steps,
    origin: ModelOrigin,
    model: ConditionedModel,
) -> UnseenHistories | None:
    """Return how to go on below a tree; None if its stages, or the evidence, do not say.

    Evidence about positions, and interventions, are about histories that somebody had.
    """
    staging = row(catalog, "staging", origin.staging_id)
    tree = row(catalog, "tree", origin.tree_id)
    is_whole = is_one_of(tree["settings"]["sampling_zeros"], ("none", "full"))
    most = staging["settings"].get("max_parents")
    knows_less = origin.is_conditioned or bool(positions_of(model.evidence))
    if is_whole or knows_less or model.ceg.is_changed:
        return None
    compiled = compile_staged_tree(store, origin.staging_id)
    rank_of = {name: rank for rank, name in enumerate(origin.order)}
    ranks = np.array([rank_of[variable.name] for variable in compiled.variables], np.int64)
    rank = ranks[compiled.variable[:-1]]
    edges = _edge_table(steps, origin.tree_id, compiled)
    presumed = steps.fetch("history_presumed", tree_id=origin.tree_id)
    compiled, edges = _with_presumed(compiled, edges, presumed)
    source, target = compiled.graph.source, compiled.graph.target
    is_leaf = target == len(rank)
    n_variables = len(origin.order)
    is_open = (edges["n"] == 0) & is_leaf & (rank[source] < n_variables - 1)
    if most is None and not _are_blanks_open(tree["settings"]):
        is_open &= edges["is_presumed"]
    if not is_open.any() and not presumed:
        return None
    answer = np.where(edges["is_absent"], -1, compiled.label_id)
    histories = np.full((len(rank), n_variables), -1, np.int64)
    for level in np.unique(rank).tolist():
        part = np.flatnonzero((rank[source] == level) & ~is_leaf)
        histories[target[part]] = histories[source[part]]
        histories[target[part], level] = answer[part]
    parents = {
        hyperstage: [rank_of[name] for name in names]
        for hyperstage, names in steps.fetch("history_parent", staging_id=origin.staging_id)
    }
    reader = _QuestionReader(
        compiled,
        rank,
        answer,
        histories,
        edges["n"].astype(np.int64),
        _stages(steps, origin.staging_id),
        parents,
        stage_mass(prior_rule(staging["settings"]), staging["alpha"]) is not None,
        _MOST_TELLING if most is None else max(int(most), 1),
    )
    questions = [reader.read(level) for level in range(n_variables)]
    needed = np.zeros((n_variables + 1, n_variables), bool)
    for level in reversed(range(n_variables)):
        needed[level] = needed[level + 1]
        question = questions[level]
        if question is not None:
            for lookup in (question.kind, *question.answers):
                needed[level, list(lookup.columns)] = True
    return UnseenHistories(
        compiled, model.evidence, rank, answer, is_open, histories, questions, needed
    )


def _are_blanks_open(settings: Mapping[str, Any]) -> bool:
    """Return whether a path that ends early, as samples have them, reads as unknown answers.

    Otherwise its blank cells are answers, and the history would go on with others.
    """
    is_answer = settings["missing_policy"] == "category" or settings["blank"] == "structural"
    return not is_answer


def _edge_table(steps: Steps, tree_id: int, tree: CompiledModel) -> dict[str, NDArray[Any]]:
    """Return count and kind of each edge of the compiled tree."""
    rows = steps.fetch("history_edge", tree_id=tree_id)
    order = np.lexsort((tree.label_id, tree.position_id[tree.graph.source]))
    n, is_absent = np.zeros(len(order), np.int64), np.zeros(len(order), bool)
    n[order] = [row[2] for row in rows]
    is_absent[order] = [row[3] for row in rows]
    return {"n": n, "is_absent": is_absent, "is_presumed": np.zeros(len(order), bool)}


def _with_presumed(
    tree: CompiledModel, edges: dict[str, NDArray[Any]], presumed: Sequence[Row]
) -> tuple[CompiledModel, dict[str, NDArray[Any]]]:
    """Return a tree and its edges with those for answers that are presumed impossible.

    A new row may give one: it is as probable there as if, before anybody answered, one person
    had been shared among all answers.
    """
    node_of = {vertex: node for node, vertex in enumerate(tree.position_id[:-1].tolist())}
    added = []
    for vertex, label_id, label, n in presumed:
        node = node_of[vertex]
        labels = tree.variables[tree.variable[node]].labels
        if label in labels:  # not if the staging relabels it
            share = 1 / (len(labels) * (n + 1))
            added.append((node, labels.index(label), label_id, label, share))
    if not added:
        return tree, edges
    nodes, labels, label_ids, texts, shares = zip(*added, strict=True)
    rest = 1 - np.bincount(nodes, shares, tree.graph.n_nodes)
    source = np.append(tree.graph.source, nodes)
    label = np.append(tree.label, labels)
    order = np.lexsort((label, source))
    target = np.append(tree.graph.target, [tree.graph.n_nodes - 1] * len(added))
    probability = np.append(tree.probability * rest[tree.graph.source], shares)
    edge_labels = (*tree.edge_labels, *texts)
    graph = Graph(tree.graph.height, source[order], target[order])
    whole = replace(
        tree,
        graph=graph,
        label=label[order],
        edge_labels=tuple(edge_labels[i] for i in order.tolist()),
        probability=probability[order],
        label_id=np.append(tree.label_id, label_ids)[order],
    )
    more = {"n": 0, "is_absent": False, "is_presumed": True}
    return whole, {
        name: np.append(column, np.full(len(added), more[name]))[order]
        for name, column in edges.items()
    }


class _Stage(NamedTuple):
    hyperstage: int
    kind: str
    n: Mapping[int, float]
    prior: Mapping[int, float]
    probability: Mapping[int, float]


def _stages(steps: Steps, staging_id: int) -> dict[int, _Stage]:
    stages: dict[int, _Stage] = {}
    for stage_id, hyperstage, kind, label, *numbers in steps.fetch(
        "history_answer", staging_id=staging_id
    ):
        stage = stages.setdefault(stage_id, _Stage(hyperstage, kind, {}, {}, {}))
        of_label: Any
        for of_label, number in zip(stage[2:], numbers, strict=True):
            of_label[label] = float(number)
    return stages


@dataclass(frozen=True)
class _QuestionReader:
    """Finds for each rank the stages by configuration, and when the question is asked."""

    tree: CompiledModel
    rank: Ints
    answer: Ints
    histories: Ints
    n: Ints
    stages: Mapping[int, _Stage]
    parents: Mapping[int, Sequence[int]]
    is_by_stage: bool
    most: int

    def read(self, rank: int) -> _Question | None:
        """Return the question of a rank, None if nobody was asked it."""
        source, target = self.tree.graph.source, self.tree.graph.target
        n_of_node = np.bincount(source, self.n, len(self.rank)).astype(np.int64)
        nodes = np.flatnonzero((self.rank == rank) & (n_of_node > 0))
        if not len(nodes):
            return None
        hyperstage = np.array(
            [self.stages[stage].hyperstage for stage in self.tree.stage_id[nodes].tolist()]
        )
        known = np.unique(hyperstage)
        variable = self.tree.variable[nodes[0]]
        of_variable = self.tree.edge_variable == variable
        index, first = np.unique(self.tree.label[of_variable], return_index=True)
        labels = self.tree.label_id[of_variable][first][np.argsort(index)]
        answers = [
            self._by_configuration(nodes[hyperstage == one], n_of_node, int(one), labels)
            for one in known.tolist()
        ]
        # An edge that jumps over the question: it was not asked.
        target_rank = np.append(self.rank, len(self.histories[0]))[target]
        over = np.flatnonzero((self.rank[source] < rank) & (target_rank > rank) & (self.n > 0))
        jumped = self.histories[source[over]]
        jumped[np.arange(len(over)), self.rank[source[over]]] = self.answer[over]
        counts = np.zeros((len(nodes) + len(over), 1 + len(known)), np.int64)
        counts[np.arange(len(nodes)), 1 + np.searchsorted(known, hyperstage)] = n_of_node[nodes]
        counts[len(nodes) :, 0] = self.n[over]
        histories = np.vstack((self.histories[nodes], jumped))
        return _Question(labels, _when_asked(histories, counts, self.most), answers)

    def _by_configuration(
        self, nodes: Ints, n_of_node: Ints, hyperstage: int, labels: Ints
    ) -> _Lookup:
        """Return the probabilities of the labels, by configuration of the parents."""
        learnt = [
            stage
            for stage in self.stages.values()
            if stage.hyperstage == hyperstage and stage.kind != "unobserved"
        ]

        def vector(of_label: Mapping[int, float]) -> Floats:
            return np.array([of_label.get(label, 0.0) for label in labels.tolist()])

        prior = np.array([vector(stage.prior) for stage in learnt])
        mass = prior.max(axis=0) if self.is_by_stage else prior.sum(axis=0)
        mass = mass + np.sum([vector(stage.n) for stage in learnt], axis=0)
        pooled = mass / mass.sum()
        if hyperstage not in self.parents:
            return _Lookup((), {}, pooled)
        columns = list(self.parents[hyperstage])
        # Of several stages in a configuration (after a rebuild), the one with most rows.
        n_of: dict[tuple[int, ...], dict[int, int]] = {}
        for node in nodes.tolist():
            key = tuple(self.histories[node, columns].tolist())
            stage = int(self.tree.stage_id[node])
            of_key = n_of.setdefault(key, {})
            of_key[stage] = of_key.get(stage, 0) + int(n_of_node[node])
        vectors = {
            key: vector(self.stages[max(of_key, key=lambda s: (of_key[s], -s))].probability)
            for key, of_key in n_of.items()
        }
        return _Lookup(columns, vectors, pooled)


def _when_asked(histories: Ints, counts: Ints, most: int) -> _Lookup:
    """Return the probability of each kind of situation by the answers that tell it best.

    Where there are several kinds, half a row is added to each.
    """
    total = counts.sum(axis=0)
    if (total > 0).sum() == 1:
        return _Lookup((), {}, (total > 0).astype(float))
    n_kinds = counts.shape[1]
    items_ = clustering.Hyperstage(
        ids=np.arange(len(counts)),
        counts=counts,
        bases=np.full((1, n_kinds), 1 / n_kinds),
        multiplicities=np.ones((len(counts), 1), np.int64),
        start=np.arange(len(counts)),
        answers=histories,
    )
    n_candidates = len(clustering.candidate_columns(histories))
    while clustering.n_sets(n_candidates, most) > clustering.MAX_SETS:
        most -= 1
    columns = clustering.parent_sets(items_, clustering.Marginal(1.0), most)[0].columns
    keys, member = np.unique(histories[:, list(columns)], axis=0, return_inverse=True)
    sums = np.zeros((len(keys), n_kinds))
    np.add.at(sums, member.ravel(), counts)
    half = np.where(total > 0, 0.5, 0.0)
    shares = sums + half
    shares /= shares.sum(axis=1, keepdims=True)
    pooled = total + half
    by_key = dict(zip(map(tuple, keys.tolist()), shares, strict=True))
    return _Lookup(columns, by_key, pooled / pooled.sum())


@dataclass
class _Growth:
    """The part of the model below the tree that rows lead to.

    A state is the rank of a question and the answers that it and later ones depend on.
    ``onward`` has where each used answer leads, by (state, label index); ``onward_of_edge`` by
    edge of the tree.
    """

    histories: UnseenHistories
    numbers: dict[tuple[int, bytes], int] = field(default_factory=dict)
    ranks: list[int] = field(default_factory=list)
    memories: list[Ints] = field(default_factory=list)
    distributions: dict[int, Floats] = field(default_factory=dict)
    onward: dict[tuple[int, int], list[_Arrival]] = field(default_factory=dict)
    onward_of_edge: dict[int, list[_Arrival]] = field(default_factory=dict)

    def follow(self, answers: Ints, is_given: NDArray[np.bool_]) -> None:
        """Add the states to which combinations of answers lead.

        Both have the shape (combinations, variables): the label, -1 where it is not known, and
        whether the variable must be asked.
        """
        known, graph = self.histories, self.histories.tree.graph
        n_variables = answers.shape[1]
        n_given = np.zeros((len(answers), n_variables + 1), np.int64)
        np.cumsum(is_given, axis=1, out=n_given[:, 1:])
        first = np.searchsorted(graph.source, np.arange(graph.n_nodes + 1))
        root_rank = int(known.rank[0])
        start = np.flatnonzero(n_given[:, root_rank] == 0)
        in_tree: dict[int, list[Ints]] = {
            root_rank: [np.column_stack((start, np.zeros(len(start), np.int64)))]
        }
        below: dict[int, list[Ints]] = {}
        for rank in range(n_variables):
            if rank in in_tree:
                row, node = _distinct(in_tree.pop(rank))
                edge, at = _expanded(first[node], first[node + 1] - first[node])
                row = row[at]
                fits = (answers[row, rank] == _OPEN) | (
                    answers[row, rank] == known.tree.label_id[edge]
                )
                row, edge = row[fits], edge[fits]
                is_open = known.is_open[edge]
                self._go_on(below, rank, row[is_open], edge[is_open], n_given)
                row, edge = row[~is_open], edge[~is_open]
                target = graph.target[edge]
                is_inner = target < len(known.rank)
                row, target = row[is_inner], target[is_inner]
                target_rank = known.rank[target]
                fits = n_given[row, target_rank] == n_given[row, rank + 1]
                for later in np.unique(target_rank[fits]).tolist():
                    part = fits & (target_rank == later)
                    in_tree.setdefault(later, []).append(
                        np.column_stack((row[part], target[part]))
                    )
            if rank in below:
                self._answer(below, rank, answers, n_given)

    def _go_on(
        self, below: dict[int, list[Ints]], rank: int, row: Ints, edge: Ints, n_given: Ints
    ) -> None:
        """Leave the tree by edges that nobody took."""
        known = self.histories
        used, at = np.unique(edge, return_inverse=True)
        for one in used.tolist():
            if one not in self.onward_of_edge:
                memory = known.histories[known.tree.graph.source[one]].copy()
                memory[rank] = known.answer[one]
                self.onward_of_edge[one] = self._arrivals(memory, rank + 1)
        arrivals = [self.onward_of_edge[one] for one in used.tolist()]
        self._arrive(below, rank, row, at.ravel(), arrivals, n_given)

    def _answer(
        self, below: dict[int, list[Ints]], rank: int, answers: Ints, n_given: Ints
    ) -> None:
        """Answer the question of a rank in the states that combinations are in."""
        question = self.histories.questions[rank]
        if question is None:
            raise AssertionError(rank)
        row, state = _distinct(below.pop(rank))
        if len(row) * len(question.labels) > _MOST_ITEMS or len(self.ranks) > _MOST_STATES:
            raise QueryError(
                "too many histories that nobody had agree with the rows or the evidence: more "
                f"than {_MOST_STATES:,}",
                hint="leave fewer answers open, or learn stages with a smaller max_parents",
            )
        states, at = np.unique(state, return_inverse=True)
        table = np.array([self._distribution(one) for one in states.tolist()])
        given = answers[row, rank][:, None]
        fits = ((given == _OPEN) | (given == question.labels)) & (table[at.ravel()] > 0)
        item, label = np.nonzero(fits)
        pair = state[item] * len(question.labels) + label
        used, at = np.unique(pair, return_inverse=True)
        arrivals = []
        for one in used.tolist():
            key = divmod(one, len(question.labels))
            if key not in self.onward:
                memory = self.memories[key[0]].copy()
                memory[rank] = self.histories.answer_of_label(int(question.labels[key[1]]))
                self.onward[key] = self._arrivals(memory, rank + 1)
            arrivals.append(self.onward[key])
        self._arrive(below, rank, row[item], at.ravel(), arrivals, n_given)

    def _arrive(
        self,
        below: dict[int, list[Ints]],
        rank: int,
        row: Ints,
        at: Ints,
        arrivals: Sequence[Sequence[_Arrival]],
        n_given: Ints,
    ) -> None:
        """Put combinations into the states where they arrive, skipping no answer given."""
        size = np.array([len(one) for one in arrivals], np.int64)
        flat = [arrival for one in arrivals for arrival in one]
        if not flat:
            return
        index, item = _expanded((np.cumsum(size) - size)[at], size[at])
        row = row[item]
        later = np.array([arrival.rank for arrival in flat])[index]
        state = np.array([arrival.state for arrival in flat])[index]
        fits = (state != _SINK) & (n_given[row, later] == n_given[row, rank + 1])
        for one in np.unique(later[fits]).tolist():
            part = fits & (later == one)
            below.setdefault(one, []).append(np.column_stack((row[part], state[part])))

    def _arrivals(self, memory: Ints, rank: int) -> list[_Arrival]:
        """Return where a history goes on: at the next question that is asked."""
        arrivals, probability = [], 1.0
        for later in range(rank, len(self.histories.questions)):
            question = self.histories.questions[later]
            absence = 1.0 if question is None else question.absence(memory)
            if absence < 1:
                state = self._state(later, memory)
                arrivals.append(_Arrival(probability * (1 - absence), later, state))
            probability *= absence
            if not probability:
                return arrivals
        return [*arrivals, _Arrival(probability, len(self.histories.questions), _SINK)]

    def _state(self, rank: int, memory: Ints) -> int:
        memory = np.where(self.histories.needed[rank], memory, -1)
        key = (rank, memory.tobytes())
        number = self.numbers.setdefault(key, len(self.numbers))
        if number == len(self.ranks):
            self.ranks.append(rank)
            self.memories.append(memory)
        return number

    def _distribution(self, state: int) -> Floats:
        if state not in self.distributions:
            question = self.histories.questions[self.ranks[state]]
            if question is None:
                raise AssertionError(state)
            self.distributions[state] = question.distribution(self.memories[state])
        return self.distributions[state]

    def model(self) -> CompiledModel:
        """Return the staged tree with the states below it as nodes.

        An answer that no combination gives leads to the sink, with all that follows it.
        """
        known, tree = self.histories, self.histories.tree
        n_tree, n_variables = len(known.rank), len(known.questions)
        sink = n_tree + len(self.ranks)
        is_kept = ~np.isin(np.arange(len(known.is_open)), list(self.onward_of_edge))
        kept = np.flatnonzero(is_kept)
        kept_target = tree.graph.target[kept]
        # Columns: source, target, order at the source, label_id, probability.
        edges: list[tuple[int, int, int, int, float]] = []
        for edge, arrivals in self.onward_of_edge.items():
            label, probability = int(tree.label_id[edge]), float(tree.probability[edge])
            edges += [
                (int(tree.graph.source[edge]), self._node(one), edge, label,
                 probability * one.probability)
                for one in arrivals
            ]  # fmt: skip
        for state, rank in enumerate(self.ranks):
            question = known.questions[rank]
            if question is None:
                raise AssertionError(rank)
            for i, probability in enumerate(self._distribution(state).tolist()):
                if probability:
                    onward = self.onward.get((state, i), [_Arrival(1.0, n_variables, _SINK)])
                    edges += [
                        (n_tree + state, self._node(one), i, int(question.labels[i]),
                         probability * one.probability)
                        for one in onward
                    ]  # fmt: skip
        columns = list(zip(*edges, strict=True)) if edges else [()] * 5
        source = np.concatenate((tree.graph.source[kept], np.array(columns[0], np.int64)))
        target = np.concatenate(
            (np.where(kept_target == n_tree, sink, kept_target), np.array(columns[1], np.int64))
        )
        at_source = np.concatenate((kept, np.array(columns[2], np.int64)))
        label_id = np.concatenate((tree.label_id[kept], np.array(columns[3], np.int64)))
        probability_ = np.concatenate((tree.probability[kept], np.array(columns[4], float)))
        # Nodes by height: the number of questions from there on.
        rank_of_node = np.append(np.concatenate((known.rank, self.ranks)), n_variables)
        order = np.argsort(rank_of_node, kind="stable")
        number = np.empty(len(order), np.int64)
        number[order] = np.arange(len(order))
        source, target = number[source], number[target]
        by_source = np.lexsort((at_source, source))
        source, target, label_id = source[by_source], target[by_source], label_id[by_source]
        variable_of_rank = dict(zip(known.rank.tolist(), tree.variable.tolist(), strict=False))
        variable = np.array(
            [variable_of_rank[rank] for rank in rank_of_node[order][:-1].tolist()] + [-1]
        )
        index, text = _label_tables(tree)
        pairs = list(zip(variable[source].tolist(), label_id.tolist(), strict=True))
        below = np.arange(len(self.ranks)) + int(tree.position_id[-1]) + 1
        position = np.concatenate((tree.position_id[:-1], below, tree.position_id[-1:]))
        stage = np.concatenate((tree.stage_id[:-1], np.full(len(below), -1), [-1]))
        names = (*tree.names[:-1], *(f"unseen {i}" for i in range(len(below))), tree.names[-1])
        return CompiledModel(
            tree.name,
            Graph(n_variables - rank_of_node[order], source, target),
            position[order],
            stage[order],
            tuple(names[i] for i in order.tolist()),
            variable,
            np.array([index[pair] for pair in pairs], np.int64),
            tuple(text[label] for label in label_id.tolist()),
            probability_[by_source],
            tree.variables,
            label_id,
            tree.kind,
        )

    def _node(self, arrival: _Arrival) -> int:
        n_tree = len(self.histories.rank)
        return n_tree + (len(self.ranks) if arrival.state == _SINK else arrival.state)


def _label_tables(tree: CompiledModel) -> tuple[dict[tuple[int, int], int], dict[int, str]]:
    """Return the index of each label of a variable, and the text of each label."""
    variables, ids = tree.edge_variable.tolist(), tree.label_id.tolist()
    index = dict(zip(zip(variables, ids, strict=True), tree.label.tolist(), strict=True))
    return index, dict(zip(ids, tree.edge_labels, strict=True))


def _distinct(pairs: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Return the distinct pairs of a combination and where it is."""
    row, node = np.concatenate(pairs).T
    width = int(node.max(initial=0)) + 1
    key = np.unique(row * width + node)
    return key // width, key % width


def _expanded(first: Ints, size: Ints) -> tuple[Ints, Ints]:
    """Return the numbers from ``first`` on, ``size`` for each item, and the item of each."""
    item = np.repeat(np.arange(len(size)), size)
    within = np.arange(len(item)) - np.repeat(np.cumsum(size) - size, size)
    return first[item] + within, item
