"""A CEG or staged tree as arrays, for many small queries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from cegdb.errors import QueryError, listed
from cegdb.evidence import (
    Answer,
    Likelihood,
    Take,
    Visit,
    likelihood_of,
    text_of,
    with_parts,
)
from cegdb.inference.propagation import Graph
from cegdb.ingest.coding.variables import NOT_APPLICABLE
from cegdb.names import find_name, folded, matching, only_match
from cegdb.sqlfiles import Row, Steps
from cegdb.store.catalog import ceg_and_parents, row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cegdb.evidence import Evidence
    from cegdb.inference.propagation import Floats, Ints
    from cegdb.store import Store

SINK: Final = -1
"""The variable of the sink, which has none."""
MIXED: Final = -2
"""The variable of a position whose situations have different variables."""


class Variable(NamedTuple):
    """A variable of a CEG: its labels in level order, and synonyms with their index."""

    name: str
    labels: tuple[str, ...]
    synonyms: Mapping[str, int]

    def label_index(self, label: object) -> int:
        """Return the index of a label, given as it is shown or as its original code."""
        text = self.stored_label(label)
        return self.labels.index(text) if text in self.labels else self.synonyms[text]

    def stored_answer(self, label: str) -> str:
        """Return a label as it is stored; also where the variable does not occur."""
        is_absent = folded(label) == NOT_APPLICABLE and not matching(label, self.labels)
        return NOT_APPLICABLE if is_absent else self.labels[self.label_index(label)]

    def stored_label(self, label: object) -> str:
        """Return a label or original code as it is stored, however it was written."""
        text = text_of(label)
        if text in self.labels or text in self.synonyms:
            return text
        near = matching(text, self.labels) or matching(text, self.synonyms)
        unknown = f"{self.name!r} has no label {text!r}"
        return only_match(text, near or self.labels, unknown, QueryError)


@dataclass(frozen=True)
class CompiledModel:
    """A CEG or staged tree as arrays: the nodes are its positions or situations.

    Parameters
    ----------
    name
        Name of the CEG or staged tree.
    graph
        Nodes by height, the root first and the sink last; edges by source, then in level
        order.
    position_id, stage_id
        Ids of each node; the sink has stage -1.
    names
        w0, w1, ..., w_inf.
    variable
        Index in ``variables`` of each node; -1 at the sink, -2 where a position has
        situations with different variables.
    label
        Index of each edge in the labels of its variable; -1 at positions with several.
    edge_labels
        The label of each edge.
    probability
        Posterior mean of each edge.
    variables
        Variables of the CEG, in the order of the survey; a conditioned CEG keeps those of
        the CEG it comes from.
    label_id
        Id of the label of each edge.
    kind
        ``CEG`` or ``staged tree``.
    is_changed
        Whether an intervention changed the probabilities.
    """

    name: str
    graph: Graph
    position_id: Ints
    stage_id: Ints
    names: tuple[str, ...]
    variable: Ints
    label: Ints
    edge_labels: tuple[str, ...]
    probability: Floats
    variables: tuple[Variable, ...]
    label_id: Ints
    kind: str = "CEG"
    is_changed: bool = False

    @property
    def vertex(self) -> str:
        """The word for a node: position or situation."""
        return "position" if self.kind == "CEG" else "situation"

    @property
    def title(self) -> str:
        """Kind and name, for messages."""
        return f"{self.kind} {self.name!r}"

    def variable_index(self, variable: object) -> int:
        """Return the index of a variable; refuse positions with several variables."""
        self.refuse_mixed()
        names = [known.name for known in self.variables]
        unknown = f"{self.title} has no variable {variable!r}"
        return names.index(only_match(str(variable), names, unknown, QueryError))

    def has_variable(self, name: object) -> bool:
        """Return whether a name is, or may be, that of a variable."""
        return bool(matching(str(name), (known.name for known in self.variables)))

    def with_stored_names(self, evidence: Evidence) -> Evidence:
        """Return evidence with variables, labels and positions as the CEG spells them."""
        if isinstance(evidence, Answer):
            variable = self.variables[self.variable_index(evidence.variable)]
            return Answer(variable.name, tuple(map(variable.stored_answer, evidence.labels)))
        if isinstance(evidence, Likelihood):
            variable = self.variables[self.variable_index(evidence.variable)]
            weights = [(variable.stored_answer(text), w) for text, w in evidence.weights]
            return likelihood_of(variable.name, weights)
        if isinstance(evidence, (Visit, Take)):
            return self._with_stored_position(evidence)
        return with_parts(evidence, self.with_stored_names)

    def _with_stored_position(self, evidence: Visit | Take) -> Evidence:
        node, position = self.node(evidence.position), evidence.position
        if isinstance(position, str):
            position = self.names[node]
        if isinstance(evidence, Visit):
            return replace(evidence, position=position)
        label = self.edge_labels[self.edge(position, evidence.label)]
        return replace(evidence, position=position, label=label)

    def refuse_mixed(self) -> None:
        """Refuse a CEG that has a position with several variables."""
        if (self.variable == MIXED).any():
            mixed = self.names[int(np.flatnonzero(self.variable == MIXED)[0])]
            raise QueryError(
                f"position {mixed} of {self.title} has situations with different variables, "
                "so its edges do not show which variable was answered",
                hint="learn stages with hyperstages='variable' and make a CEG from them",
            )

    def node(self, position: object) -> int:
        """Return the node of a position, given by name (``"w3"``) or id."""
        if isinstance(position, str):
            name = find_name(position, self.names)
            if name is not None:
                return self.names.index(name)
        elif isinstance(position, (int, np.integer)) and not isinstance(position, bool):
            nodes = np.flatnonzero(self.position_id == position)
            if len(nodes):
                return int(nodes[0])
        raise QueryError(
            f"{self.title} has no {self.vertex} {position!r}",
            hint=f"available: {listed(self.names[node] for node in self.nodes_by_name)}",
        )

    def edge(self, position: object, label: str) -> int:
        """Return the edge of a position, given by name or id, that has a label."""
        node = self.node(position)
        edges = np.flatnonzero(self.graph.source == node).tolist()
        labels = [self.edge_labels[edge] for edge in edges]
        unknown = f"{self.vertex} {self.names[node]} of {self.title} has no edge {label!r}"
        return int(edges[labels.index(only_match(label, labels, unknown, QueryError))])

    @property
    def nodes_by_name(self) -> list[int]:
        """The nodes in the order of their names: w0, w1, ..., w_inf."""
        sink = self.graph.n_nodes - 1
        return [*np.argsort(self.position_id[:sink]).tolist(), sink]

    @property
    def edge_variable(self) -> Ints:
        """Index of the variable of each edge."""
        return self.variable[self.graph.source]

    @cached_property
    def reach_probability(self) -> Floats:
        """Probability that a path passes each node."""
        return self.graph.forward(self.probability)


def compile_ceg(store: Store, ceg_id: int) -> CompiledModel:
    """Return a CEG as arrays."""
    with store.reading() as con, store.catalog() as catalog, Steps(con) as steps:
        ceg, *parents = ceg_and_parents(catalog, ceg_id)
        origin = parents[-1] if parents else ceg
        staging = row(catalog, "staging", origin["staging_id"])
        tree = row(catalog, "tree", staging["tree_id"])
        # A conditioned CEG still knows the labels that its evidence excludes.
        _make_tables(steps, origin, staging)
        steps.run("compiled_label")
        known_labels = steps.rows("from temp.compiled_label")
        relabelling = steps.fetch("compiled_relabelling", ceg_id=origin["ceg_id"])
        if parents:
            _make_tables(steps, ceg, staging)
        tables = _read(
            steps,
            tree["survey_id"],
            "compiled_position",
            "compiled_edge",
            known_labels,
            relabelling,
        )
    return _compiled("CEG", ceg["name"], tables, ("w", "w_inf"))


def compile_staged_tree(store: Store, staging_id: int) -> CompiledModel:
    """Return a staged tree as arrays: the nodes are its situations, the leaves are one sink."""
    with store.reading() as con, store.catalog() as catalog, Steps(con) as steps:
        staging = row(catalog, "staging", staging_id)
        tree = row(catalog, "tree", staging["tree_id"])
        ids = {
            "tree_id": tree["tree_id"],
            "staging_id": staging_id,
            "sink_id": tree["n_vertices"],
        }
        steps.run("compiled_situation", **ids)
        steps.run("compiled_tree_edge", **ids)
        relabelling = steps.fetch("tree_edge_relabelling")
        tables = _read(
            steps,
            tree["survey_id"],
            "compiled_situation",
            "compiled_tree_edge",
            [],
            relabelling,
        )
    return _compiled("staged tree", staging["name"], tables, ("s", "leaf"))


class _Tables(NamedTuple):
    """The rows that a compiled CEG or staged tree is made of.

    ``known_labels`` are pairs of variable and label beside those on the edges.
    """

    nodes: Mapping[str, Any]
    edges: Mapping[str, Any]
    known_labels: list[Row]
    relabelling: list[Row]
    texts: dict[int, str]
    levels: list[Row]


def _read(
    steps: Steps,
    survey_id: int,
    node_table: str,
    edge_table: str,
    known_labels: list[Row],
    relabelling: list[Row],
) -> _Tables:
    nodes = steps.arrays(f"from temp.{node_table} order by height desc, position_id")
    edges = steps.arrays(
        "select source_id, target_id, label_id, probability "  # noqa: S608
        f"from temp.{edge_table} order by height desc, source_id, level_order, label_id"
    )
    texts: dict[int, str] = dict(
        steps.rows(
            "select label_id, label from cegdb.labels where survey_id = $survey_id",
            {"survey_id": survey_id},
        )
    )
    levels = steps.fetch("compiled_level", survey_id=survey_id)
    return _Tables(nodes, edges, known_labels, relabelling, texts, levels)


def _compiled(kind: str, name: str, tables: _Tables, names: tuple[str, str]) -> CompiledModel:
    """Return the arrays; ``names`` are the letter of a node's name and the name of the sink."""
    nodes, edges, texts = tables.nodes, tables.edges, tables.texts
    order = np.argsort(nodes["position_id"], kind="stable")
    node_of = order[np.searchsorted(nodes["position_id"], edges["source_id"], sorter=order)]
    target = order[np.searchsorted(nodes["position_id"], edges["target_id"], sorter=order)]
    graph = Graph(
        nodes["height"].astype(np.int64), node_of.astype(np.int64), target.astype(np.int64)
    )
    variable_of_edge = nodes["variable_id"][node_of].tolist()
    pairs = list(zip(variable_of_edge, edges["label_id"].tolist(), strict=True))
    variables, ids, label_index_of = _variables(
        tables.levels, texts, {*pairs, *tables.known_labels}, tables.relabelling
    )
    index = {variable_id: i for i, variable_id in enumerate(ids)} | {SINK: SINK, MIXED: MIXED}
    rank = np.empty(len(order), np.int64)
    rank[order[order != len(order) - 1]] = np.arange(len(order) - 1)
    letter, sink = names
    return CompiledModel(
        name,
        graph,
        nodes["position_id"],
        nodes["stage_id"],
        (*(f"{letter}{i}" for i in rank[:-1].tolist()), sink),
        np.array([index[v] for v in nodes["variable_id"].tolist()], np.int64),
        np.array([label_index_of.get(pair, -1) for pair in pairs], np.int64),
        tuple(texts[label] for label in edges["label_id"].tolist()),
        edges["probability"],
        variables,
        edges["label_id"].astype(np.int64),
        kind,
    )


def _make_tables(steps: Steps, ceg: Mapping[str, Any], staging: Mapping[str, Any]) -> None:
    """Make ``compiled_position`` and ``compiled_edge`` of a CEG."""
    steps.run(
        "position_variable",
        ceg_id=ceg["ceg_id"],
        tree_id=staging["tree_id"],
        staging_id=staging["staging_id"],
    )
    steps.run("compiled_position", ceg_id=ceg["ceg_id"], staging_id=ceg["staging_id"])
    steps.run("compiled_edge", ceg_id=ceg["ceg_id"])


def _variables(
    levels: list[Row],
    texts: Mapping[int, str],
    known: set[tuple[int, int]],
    relabelling: list[Row],
) -> tuple[tuple[Variable, ...], list[int], dict[tuple[int, int], int]]:
    """Return the variables, their ids, and the index of the label of each (variable, label).

    ``known`` are the pairs of variable and label that the model has.
    """
    used = {variable_id for variable_id, _ in known}
    relabelled: dict[tuple[int, str], set[int]] = {}
    for variable_id, raw_label, label in relabelling:
        if raw_label != texts[label]:
            relabelled.setdefault((variable_id, raw_label), set()).add(label)
    names: dict[int, str] = {}
    labels_of: dict[int, list[int]] = {}
    synonyms_of: dict[int, list[tuple[str, int]]] = {}
    for variable_id, name, label, text, code in levels:
        if variable_id not in used:
            continue
        names[variable_id] = name
        labels = labels_of.setdefault(variable_id, [])
        synonyms = synonyms_of.setdefault(variable_id, [])
        if label is None:
            continue
        # The staging may show other labels: then the level is a synonym of those.
        meanings = relabelled.get((variable_id, text), set())
        if not meanings or (variable_id, label) in known:
            meanings = {label}
            if label not in labels:
                labels.append(label)
        synonyms += [
            (other, meaning)
            for other in (text, code)
            if other is not None
            for meaning in meanings
        ]
    for variable_id, label in sorted(known):
        if variable_id in names and label not in labels_of[variable_id]:
            labels_of[variable_id].append(label)
    variables = []
    label_index_of: dict[tuple[int, int], int] = {}
    for variable_id, name in names.items():
        labels = labels_of[variable_id]
        index = {label: i for i, label in enumerate(labels)}
        label_index_of |= {(variable_id, label): i for label, i in index.items()}
        indexes: dict[str, set[int]] = {}
        for other, label in synonyms_of[variable_id]:
            indexes.setdefault(other, set()).add(index[label])
        # A text that may mean several labels is a synonym of none.
        unique = {other: some.pop() for other, some in indexes.items() if len(some) == 1}
        variables.append(Variable(name, tuple(texts[label] for label in labels), unique))
    return tuple(variables), list(names), label_index_of
