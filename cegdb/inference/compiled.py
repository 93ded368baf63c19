"""A CEG as arrays, for many small questions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from cegdb.errors import QueryError, listed
from cegdb.evidence import Answer, Likelihood, likelihood_of, text_of, with_parts
from cegdb.inference.propagation import Graph
from cegdb.names import find_name, folded, matching, only_match
from cegdb.sqlfiles import Row, Steps
from cegdb.store.catalog import row, staging_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cegdb.evidence import Evidence
    from cegdb.inference.propagation import Floats, Ints
    from cegdb.store import Store

NOT_APPLICABLE: Final = "not applicable"
"""The answer of a path on which a variable does not occur."""
SINK: Final = -1
MIXED: Final = -2


class Variable(NamedTuple):
    """A question of a CEG: its labels in level order, and other texts for them."""

    name: str
    labels: tuple[str, ...]
    also: Mapping[str, int]

    def place(self, label: object) -> int:
        """Return the number of a label, given as it is shown, or as its original code.

        Raises
        ------
        QueryError
            It is none of the variable.
        """
        text = self.spelled(label)
        return self.labels.index(text) if text in self.labels else self.also[text]

    def spelled_answer(self, label: str) -> str:
        """Return a label as it is stored; also where the variable does not occur."""
        is_absent = folded(label) == NOT_APPLICABLE and not matching(label, self.labels)
        return NOT_APPLICABLE if is_absent else self.spelled(label)

    def spelled(self, label: object) -> str:
        """Return a label or original code as it is stored, however it was written.

        Raises
        ------
        QueryError
            It is none of the variable, or may be several.
        """
        text = text_of(label)
        if text in self.labels or text in self.also:
            return text
        near = matching(text, self.labels) or matching(text, self.also)
        unknown = f"{self.name!r} has no label {text!r}"
        return only_match(text, near or self.labels, unknown, QueryError)


@dataclass(frozen=True)
class Compiled:
    """A CEG as arrays: a graph whose nodes are positions, and what each edge means.

    Parameters
    ----------
    name
        Of the CEG or staged tree.
    graph
        Its positions by height, the root first and the sink last; edges sorted by source,
        then in level order.
    position_id, stage_id
        Of each node; the sink has stage -1.
    names
        w0, w1, ..., w_inf.
    variable
        Index in ``variables`` of each node; -1 at the sink, -2 where the situations of a
        position ask different variables.
    label
        Of each edge, an index in the labels of its source's variable, -1 at mixed ones.
    texts
        The label of each edge.
    probability
        Of each edge: the posterior mean.
    variables
        Those the CEG asks, in the order of the survey; given evidence, those that it asks
        without it.
    label_id
        Of each edge, in the tables.
    kind
        ``CEG`` or ``staged tree``.
    """

    name: str
    graph: Graph
    position_id: Ints
    stage_id: Ints
    names: tuple[str, ...]
    variable: Ints
    label: Ints
    texts: tuple[str, ...]
    probability: Floats
    variables: tuple[Variable, ...]
    label_id: Ints
    kind: str = "CEG"

    @property
    def vertex(self) -> str:
        """What its nodes are called."""
        return "position" if self.kind == "CEG" else "situation"

    @property
    def shown(self) -> str:
        """What messages call it."""
        return f"{self.kind} {self.name!r}"

    def place(self, variable: object) -> int:
        """Return the number of a variable.

        Raises
        ------
        QueryError
            The CEG does not ask it, or asks it at a position that asks another one too.
        """
        self.refuse_mixed()
        names = [known.name for known in self.variables]
        unknown = f"{self.shown} has no variable {variable!r}"
        return names.index(only_match(str(variable), names, unknown, QueryError))

    def has_variable(self, name: object) -> bool:
        """Return whether a name is, or may be, that of a variable."""
        return bool(matching(str(name), (known.name for known in self.variables)))

    def spelled(self, evidence: Evidence) -> Evidence:
        """Return evidence with its variables and labels as the CEG spells them.

        Raises
        ------
        QueryError
            The CEG has no such variable or label.
        """
        if isinstance(evidence, Answer):
            variable = self.variables[self.place(evidence.variable)]
            return Answer(variable.name, tuple(map(variable.spelled_answer, evidence.labels)))
        if isinstance(evidence, Likelihood):
            variable = self.variables[self.place(evidence.variable)]
            weights = [(variable.spelled_answer(text), w) for text, w in evidence.weights]
            return likelihood_of(variable.name, weights)
        return with_parts(evidence, self.spelled)

    def refuse_mixed(self) -> None:
        """Refuse a CEG with a position that asks several variables."""
        if (self.variable == MIXED).any():
            mixed = self.names[int(np.flatnonzero(self.variable == MIXED)[0])]
            raise QueryError(
                f"position {mixed} of {self.shown} asks different variables, so its edges do "
                "not show which one was answered",
                hint="learn the stages with hyperstages='variable', and make its CEG",
            )

    def node(self, position: object) -> int:
        """Return the node of a position, given by name (``"w3"``) or id.

        Raises
        ------
        QueryError
            The CEG has no such position.
        """
        if isinstance(position, str):
            name = find_name(position, self.names)
            if name is not None:
                return self.names.index(name)
        elif isinstance(position, (int, np.integer)) and not isinstance(position, bool):
            found = np.flatnonzero(self.position_id == position)
            if len(found):
                return int(found[0])
        raise QueryError(
            f"{self.shown} has no {self.vertex} {position!r}",
            hint=f"available: {listed(self.names)}",
        )

    @property
    def edge_variable(self) -> Ints:
        """Index of the variable of each edge."""
        return self.variable[self.graph.source]

    @cached_property
    def reached(self) -> Floats:
        """Probability that a path reaches each node."""
        return self.graph.forward(self.probability)


def compile_ceg(store: Store, ceg_id: int) -> Compiled:
    """Return a CEG as arrays.

    Examples
    --------
    >>> from cegdb.ceg import build_ceg
    >>> from cegdb.ingest import ingest
    >>> from cegdb.stages import set_stages
    >>> from cegdb.store import Store
    >>> from cegdb.tree import event_tree
    >>> with Store.open() as store:
    ...     survey = ingest(store, "select 'a' as x, 'u' as y union all select 'b', 'u'")
    ...     ceg = build_ceg(store, set_stages(store, event_tree(store, survey), {}))
    ...     compiled = compile_ceg(store, ceg)
    ...     compiled.names, compiled.texts, compiled.probability
    (('w0', 'w1', 'w_inf'), ('a', 'b', 'u'), array([0.5, 0.5, 1. ]))
    """
    with store.reading() as con, store.catalog() as catalog, Steps(con) as steps:
        ceg = row(catalog, "ceg", ceg_id)
        staging = row(catalog, "staging", staging_of(ceg))
        tree = row(catalog, "tree", staging["tree_id"])
        root = ceg
        while root["parent_ceg_id"] is not None:
            root = row(catalog, "ceg", root["parent_ceg_id"])
        _ask(steps, root, staging)
        known = steps.arrays(
            "select distinct p.variable_id, e.label_id from temp.question_edge as e "
            "inner join temp.question_position as p on e.source_id = p.position_id "
            "where p.variable_id is not null order by all"
        )
        became = steps.rows(
            "select distinct p.variable_id, unnest(e.raw_labels) as raw_label, e.label_id "
            "from cegdb.ceg_edge as e inner join temp.question_position as p "
            "on e.source_id = p.position_id "
            "where e.ceg_id = $ceg_id and p.variable_id is not null",
            {"ceg_id": root["ceg_id"]},
        )
        if root is not ceg:
            _ask(steps, ceg, staging)
        found = _read(
            steps, tree["survey_id"], "question_position", "question_edge", known, became
        )
    return _compiled("CEG", ceg["name"], found, ("w", "w_inf"))


def compile_staged_tree(store: Store, staging_id: int) -> Compiled:
    """Return a staged tree as arrays: its situations are the nodes, its leaves one sink.

    Examples
    --------
    >>> from cegdb.ingest import ingest
    >>> from cegdb.stages import set_stages
    >>> from cegdb.store import Store
    >>> from cegdb.tree import event_tree
    >>> with Store.open() as store:
    ...     survey = ingest(store, "select 'a' as x, 'u' as y union all select 'b', 'u'")
    ...     staging = set_stages(store, event_tree(store, survey), {})
    ...     compiled = compile_staged_tree(store, staging)
    ...     compiled.names, compiled.texts, compiled.probability
    (('s0', 's1', 's2', 'leaf'), ('a', 'b', 'u', 'u'), array([0.5, 0.5, 1. , 1. ]))
    """
    with store.reading() as con, store.catalog() as catalog, Steps(con) as steps:
        staging = row(catalog, "staging", staging_id)
        tree = row(catalog, "tree", staging["tree_id"])
        about = {
            "tree_id": tree["tree_id"],
            "staging_id": staging_id,
            "sink_id": tree["n_vertices"],
        }
        steps.run("question_situation", **about)
        steps.run("question_branch", **about)
        became = steps.rows(
            "select distinct s.variable_id, e.raw_label, e.label_id "
            "from temp.question_branch as e inner join temp.question_situation as s "
            "on e.source_id = s.position_id"
        )
        known = {
            "variable_id": np.array([one[0] for one in became], np.int64),
            "label_id": np.array([one[2] for one in became], np.int64),
        }
        found = _read(
            steps, tree["survey_id"], "question_situation", "question_branch", known, became
        )
    return _compiled("staged tree", staging["name"], found, ("s", "leaf"))


class _Tables(NamedTuple):
    """The rows that a compiled CEG or staged tree is made of."""

    nodes: Mapping[str, Any]
    edges: Mapping[str, Any]
    known: Mapping[str, Any]
    became: list[Row]
    texts: dict[int, str]
    levels: list[Row]


def _read(
    steps: Steps,
    survey_id: int,
    node_table: str,
    edge_table: str,
    known: Mapping[str, Any],
    became: list[Row],
) -> _Tables:
    nodes = steps.arrays(
        "select position_id, coalesce(stage_id, -1) as stage_id, height, "  # noqa: S608
        "coalesce(variable_id, if(stage_id is null, -1, -2)) as variable_id "
        f"from temp.{node_table} order by height desc, position_id"
    )
    edges = steps.arrays(
        "select e.source_id, e.target_id, e.label_id, e.probability "  # noqa: S608
        f"from temp.{edge_table} as e inner join temp.{node_table} as p "
        "on e.source_id = p.position_id "
        "order by p.height desc, e.source_id, e.place, e.label_id"
    )
    texts: dict[int, str] = dict(
        steps.rows(
            "select label_id, label from cegdb.labels where survey_id = $survey_id",
            {"survey_id": survey_id},
        )
    )
    levels = steps.rows(
        "select v.variable_id, v.name, l.label_id, l.label, l.original_code "
        "from cegdb.variable as v left join cegdb.level as l "
        "on v.variable_id = l.variable_id and l.kind = 'value' "
        "where v.survey_id = $survey_id "
        "order by v.variable_id, l.level_id",
        {"survey_id": survey_id},
    )
    return _Tables(nodes, edges, known, became, texts, levels)


def _compiled(kind: str, name: str, found: _Tables, names: tuple[str, str]) -> Compiled:
    """Return the arrays; ``names`` are the letter of a node's name and the name of the sink."""
    nodes, edges, texts = found.nodes, found.edges, found.texts
    order = np.argsort(nodes["position_id"], kind="stable")
    node_of = order[np.searchsorted(nodes["position_id"], edges["source_id"], sorter=order)]
    target = order[np.searchsorted(nodes["position_id"], edges["target_id"], sorter=order)]
    graph = Graph(
        nodes["height"].astype(np.int64), node_of.astype(np.int64), target.astype(np.int64)
    )
    asked = nodes["variable_id"][node_of]
    variables, ids, places = _variables(
        found.levels,
        texts,
        np.concatenate([asked, found.known["variable_id"]]),
        np.concatenate([edges["label_id"], found.known["label_id"]]),
        found.became,
    )
    index = {variable_id: i for i, variable_id in enumerate(ids)} | {SINK: SINK, MIXED: MIXED}
    pairs = zip(asked.tolist(), edges["label_id"].tolist(), strict=True)
    rank = np.empty(len(order), np.int64)
    rank[order[order != len(order) - 1]] = np.arange(len(order) - 1)
    letter, sink = names
    return Compiled(
        name,
        graph,
        nodes["position_id"],
        nodes["stage_id"],
        (*(f"{letter}{i}" for i in rank[:-1].tolist()), sink),
        np.array([index[v] for v in nodes["variable_id"].tolist()], np.int64),
        np.array([places.get(pair, -1) for pair in pairs], np.int64),
        tuple(texts[label] for label in edges["label_id"].tolist()),
        edges["probability"],
        variables,
        edges["label_id"].astype(np.int64),
        kind,
    )


def _ask(steps: Steps, ceg: Mapping[str, Any], staging: Mapping[str, Any]) -> None:
    """Make ``question_position`` and ``question_edge`` of a CEG."""
    steps.run(
        "asked_variable",
        ceg_id=ceg["ceg_id"],
        tree_id=staging["tree_id"],
        staging_id=staging["staging_id"],
    )
    steps.run("question_position", ceg_id=ceg["ceg_id"], staging_id=ceg["staging_id"])
    steps.run("question_edge", ceg_id=ceg["ceg_id"])


def _variables(
    levels: list[Row],
    texts: Mapping[int, str],
    asked: Ints,
    label_id: Ints,
    became: list[Row],
) -> tuple[tuple[Variable, ...], list[int], dict[tuple[int, int], int]]:
    """Return the variables asked, their ids, and the place of each (variable, label)."""
    of: dict[int, tuple[str, list[int], list[tuple[str, int]]]] = {}
    known = set(asked.tolist())
    shown_at = set(zip(asked.tolist(), label_id.tolist(), strict=True))
    relabelled: dict[tuple[int, str], set[int]] = {}
    for variable_id, raw_label, label in became:
        if raw_label != texts[label]:
            relabelled.setdefault((variable_id, raw_label), set()).add(label)
    for variable_id, name, label, text, code in levels:
        if variable_id not in known:
            continue
        _, labels, others = of.setdefault(variable_id, (name, [], []))
        if label is None:
            continue
        joined = relabelled.get((variable_id, text), set())
        if joined and (variable_id, label) not in shown_at:
            others += [
                (other, to) for other in (text, code) if other is not None for to in joined
            ]
            continue
        if label not in labels:
            labels.append(label)
        others += [(other, label) for other in (text, code) if other is not None]
    for variable_id, label in sorted(shown_at):
        if variable_id in of and label not in of[variable_id][1]:
            of[variable_id][1].append(label)
    variables = []
    places: dict[tuple[int, int], int] = {}
    for variable_id, (name, labels, others) in of.items():
        place = {label: i for i, label in enumerate(labels)}
        places |= {(variable_id, label): i for label, i in place.items()}
        meant: dict[str, set[int]] = {}
        for other, label in others:
            meant.setdefault(other, set()).add(place[label])
        also = {other: found.pop() for other, found in meant.items() if len(found) == 1}
        shown = tuple(texts[label] for label in labels)
        variables.append(Variable(name, shown, also))
    return tuple(variables), list(of), places
