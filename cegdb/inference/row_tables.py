"""A CEG as tables for message passing over rows, and what each code of a cell means.

The order of the tree says which variables an edge jumps over, so no automaton is needed to
check that every answered variable occurs: ``docs/theory.md``, section 8 (d).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from cegdb.errors import QueryError
from cegdb.ingest.coding.new_row_codes import ABSENT, ASKED_BLANK, OTHER_MISSING
from cegdb.ingest.coding.variables import MISSING, NOT_APPLICABLE
from cegdb.ingest.survey_version import survey_version
from cegdb.store.catalog import row, staging_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import sqlalchemy as sa

    from cegdb.inference.propagation import Ints
    from cegdb.inference.queries import ConditionedModel
    from cegdb.ingest.survey_version import SurveyVersion
    from cegdb.options import Kind
    from cegdb.sqlfiles import Steps

ModelKey: TypeAlias = "tuple[Kind, int]"
"""A CEG or staging, by kind and id."""
_CodesByLabel: TypeAlias = "dict[str, dict[str, list[int]]]"
"""Variable -> label -> codes."""
RANK_AFTER_ALL: Final = 2**31 - 1
"""The rank of what comes after all variables."""
_OPEN_ANSWER: Final = -1
"""The code of an answer that is not known."""
_NO_LEVEL: Final = -1
"""The level id of an answer without a level in the tree."""
_TEXTS: Final = ("answer_text", "label")


class _TreeVariable(NamedTuple):
    """A variable of the tree, and the first of its level ids."""

    variable_id: int
    first_level_id: int


@dataclass(frozen=True)
class ModelOrigin:
    """What a CEG or staged tree was made from: its tree, and the survey as it was then.

    ``ceg_id`` is None for a staged tree; a conditioned CEG has the ``staging_id`` of the CEG it
    comes from. ``order`` lists the variables from the root; ``blank`` and ``missing_policy``
    are settings of the tree.
    """

    ceg_id: int | None
    is_conditioned: bool
    staging_id: int
    tree_id: int
    survey: SurveyVersion
    order: list[str]
    variables: dict[str, _TreeVariable]
    blank: str
    missing_policy: str


def origin_of(catalog: sa.Connection, steps: Steps, key: ModelKey) -> ModelOrigin:
    """Return what a CEG or staging was made from; for a conditioned CEG, its first parent."""
    kind, object_id = key
    ceg = row(catalog, "ceg", object_id) if kind == "ceg" else None
    staging = row(catalog, "staging", object_id if ceg is None else staging_of(ceg))
    tree = row(catalog, "tree", staging["tree_id"])
    variables = {
        name: _TreeVariable(*ids)
        for name, *ids in steps.fetch("model_variable", survey_id=tree["survey_id"])
    }
    settings = dict(tree["settings"])
    return ModelOrigin(
        None if ceg is None else int(ceg["ceg_id"]),
        ceg is not None and ceg["parent_ceg_id"] is not None,
        int(staging["staging_id"]),
        int(tree["tree_id"]),
        survey_version(catalog, tree["survey_id"]),
        list(settings["order"]),
        variables,
        settings["blank"],
        settings["missing_policy"],
    )


@dataclass(frozen=True)
class Passes:
    """What passes over the tables of `make_tables` must know.

    ``heights`` has the height of the sources of edges, the highest first, each with the
    smallest height above 0 that these edges lead to; ``root_rank`` is the rank of the root's
    variable; ``has_jumps`` says whether any edge jumps over a variable.
    """

    heights: list[tuple[int, int]]
    root_rank: int
    has_jumps: bool
    n_variables: int


def make_tables(
    steps: Steps,
    model: ConditionedModel,
    origin: ModelOrigin,
    unknown: Mapping[str, Mapping[int, str]],
    *,
    blank: str,
) -> Passes:
    """Make the tables that passes read: nodes and edges, and what each code means.

    ``unknown`` maps variable -> code -> text of answers that the survey does not know.
    """
    ceg, graph = model.ceg, model.graph
    ceg.refuse_mixed()
    if graph.n_nodes == 1:
        raise QueryError(f"{ceg.title} has no variables", hint="build a tree with variables")
    rank_of = {name: rank for rank, name in enumerate(origin.order)}
    ranks = np.array([rank_of[variable.name] for variable in ceg.variables], np.int64)
    node_rank = np.append(ranks[ceg.variable[model.product.node[:-1]]], RANK_AFTER_ALL)
    steps.create_from(
        "query_node",
        {
            "node": np.arange(graph.n_nodes - 1, dtype=np.int32),
            "rank": node_rank[:-1].astype(np.int32),
        },
    )
    steps.create_from(
        "variable_rank",
        {
            "variable_id": np.array(
                [origin.variables[name].variable_id for name in origin.order]
            ),
            "rank": np.arange(len(origin.order)),
        },
    )
    codes = _codes_by_label(origin, unknown)
    known = _make_edges(steps, model, origin, node_rank, codes)
    _make_answers(steps, model, node_rank)
    _make_labels(steps, model, origin)
    _make_skipped_variables(steps, model, origin, node_rank)
    _make_codes(steps, origin, codes, unknown, known, blank=blank)
    target_rank = np.minimum(node_rank[graph.target], len(origin.order))
    is_jump = target_rank > node_rank[graph.source] + 1
    has_jumps = bool(is_jump.any() or node_rank[0] > 0)
    return Passes(
        _heights(graph.height[graph.source], graph.height[graph.target]),
        int(node_rank[0]),
        has_jumps,
        len(origin.order),
    )


def _heights(source: Ints, target: Ints) -> list[tuple[int, int]]:
    """Return each height that edges lead from, and the lowest above 0 that they lead to."""
    heights = []
    for height in np.unique(source)[::-1].tolist():
        below = target[source == height]
        below = below[below > 0]
        heights.append((height, int(below.min()) if len(below) else RANK_AFTER_ALL))
    return heights


def _make_edges(
    steps: Steps,
    model: ConditionedModel,
    origin: ModelOrigin,
    node_rank: Ints,
    codes: _CodesByLabel,
) -> set[tuple[int, int]]:
    """Make ``query_edge``, the edges by code; return which (rank, code) some edge has."""
    graph, target = model.graph, model.graph.target
    codes_of = _codes_of_edges(steps, model, origin, codes)
    ranks = node_rank[graph.source].tolist()
    edges: list[int] = []
    answers: list[int] = []
    known: set[tuple[int, int]] = set()
    for i, edge in enumerate(model.product.edge.tolist()):
        edge_codes = codes_of[edge]
        edges += [i] * (len(edge_codes) + 1)
        answers += [_OPEN_ANSWER, *edge_codes]
        known.update((ranks[i], code) for code in edge_codes)
    at = np.array(edges, np.int64)
    with np.errstate(divide="ignore"):
        log_probability = np.log(model.probability)
    steps.create_from(
        "edge_code",
        {
            "source": graph.source[at],
            "code": np.array(answers, np.int64),
            "edge": at,
            "target": target[at],
            "target_height": graph.height[target[at]],
            "target_rank": node_rank[target[at]],
            "log_probability": log_probability[at],
        },
    )
    steps.run("query_edge")
    steps.drop(["edge_code"])
    return known


def _make_answers(steps: Steps, model: ConditionedModel, node_rank: Ints) -> None:
    """Make ``edge_answer``, the answer of each edge."""
    ceg, graph, product = model.ceg, model.graph, model.product
    names = [variable.name for variable in ceg.variables]
    answer_texts = np.array(
        [
            f"{names[ceg.variable[node]]} = {ceg.edge_labels[edge]}"
            for node, edge in zip(
                product.node[graph.source].tolist(), product.edge.tolist(), strict=True
            )
        ],
        object,
    )
    steps.create_from(
        "edge_answer",
        {
            "edge": np.arange(len(graph.source)),
            "target": graph.target,
            "target_height": graph.height[graph.target],
            "rank": node_rank[graph.source],
            "label_index": ceg.label[product.edge],
            "answer_text": answer_texts,
        },
    )


def _make_skipped_variables(
    steps: Steps, model: ConditionedModel, origin: ModelOrigin, node_rank: Ints
) -> None:
    """Make ``skipped_variable``: those that an edge jumps over (edge -1: that into the root).

    ``label_index`` is the index of "not applicable" among the labels of the variable.
    """
    source_rank = node_rank[model.graph.source]
    target_rank = np.minimum(node_rank[model.graph.target], len(origin.order))
    n_skipped = np.append(target_rank - source_rank - 1, node_rank[0])
    first_skipped = np.append(source_rank + 1, 0)
    edge = np.repeat(np.append(np.arange(len(source_rank)), -1), n_skipped)
    within = np.arange(len(edge)) - np.repeat(np.cumsum(n_skipped) - n_skipped, n_skipped)
    skipped = np.repeat(first_skipped, n_skipped) + within
    absent = np.zeros(len(origin.order), np.int64)
    for variable in model.ceg.variables:
        absent[origin.order.index(variable.name)] = (
            variable.labels.index(NOT_APPLICABLE)
            if NOT_APPLICABLE in variable.labels
            else len(variable.labels)
        )
    steps.create_from(
        "skipped_variable", {"edge": edge, "rank": skipped, "label_index": absent[skipped]}
    )


def _make_labels(steps: Steps, model: ConditionedModel, origin: ModelOrigin) -> None:
    """Make ``query_label``, the labels of each variable, "not applicable" among them."""
    ranks: list[int] = []
    indexes: list[int] = []
    labels: list[str] = []
    of_name = {variable.name: variable for variable in model.ceg.variables}
    for rank, name in enumerate(origin.order):
        known = of_name[name].labels if name in of_name else ()
        of_variable = known if NOT_APPLICABLE in known else (*known, NOT_APPLICABLE)
        ranks += [rank] * len(of_variable)
        indexes += range(len(of_variable))
        labels += of_variable
    steps.create_from(
        "query_label",
        {
            "rank": np.array(ranks),
            "label_index": np.array(indexes),
            "label": np.array(labels, object),
        },
    )


def _codes_by_label(
    origin: ModelOrigin, unknown: Mapping[str, Mapping[int, str]]
) -> _CodesByLabel:
    """Return the codes of each label of each variable; unknown texts may be labels too."""
    codes: _CodesByLabel = {}
    for name in origin.order:
        of_label = codes.setdefault(name, {})
        levels = origin.survey.variables[name].levels
        answers = {label for kind, label, *_ in levels if kind == "value"}
        for code, (kind, label, *_) in enumerate(levels, 1):
            if kind == "value" or label not in answers:
                of_label.setdefault(label, []).append(code)
        for code, text in unknown.get(name, {}).items():
            of_label.setdefault(text, []).append(code)
    return codes


def _codes_of_edges(
    steps: Steps, model: ConditionedModel, origin: ModelOrigin, codes: _CodesByLabel
) -> list[list[int]]:
    """Return the codes of the answers that lead along each edge.

    They are those of its labels in the tree, and that of the label it shows, unless another
    edge of the position has this label in the tree.
    """
    ceg = model.ceg
    rows = (
        steps.fetch(
            "position_raw_label", ceg_id=origin.ceg_id, survey_id=origin.survey.survey_id
        )
        if ceg.kind == "CEG"
        else steps.fetch(
            "situation_raw_label",
            tree_id=origin.tree_id,
            staging_id=origin.staging_id,
            survey_id=origin.survey.survey_id,
        )
    )
    raw: dict[tuple[int, str], list[str]] = {
        (source, label): labels for source, label, labels in rows
    }
    in_tree: dict[int, set[str]] = {}
    for (source, _), labels in raw.items():
        in_tree.setdefault(source, set()).update(labels)
    codes_of_edges = []
    sources = ceg.position_id[ceg.graph.source].tolist()
    variables = ceg.edge_variable.tolist()
    # Below the tree (no stage), a label means what it means anywhere in the tree.
    is_below = (ceg.stage_id < 0)[ceg.graph.source].tolist()
    anywhere: dict[tuple[int, str], set[str]] = {}
    if any(is_below):
        for source, index, text in zip(sources, variables, ceg.edge_labels, strict=True):
            anywhere.setdefault((index, text), set()).update(raw.get((source, text), ()))
    for source, index, text, below in zip(
        sources, variables, ceg.edge_labels, is_below, strict=True
    ):
        of_variable = codes[ceg.variables[index].name]
        meant = set(raw.get((source, text), ()))
        if below:
            meant = set(anywhere[index, text])
        if text not in in_tree.get(source, ()):
            meant.add(text)
        codes_of_edges.append(
            sorted({code for label in meant for code in of_variable.get(label, [])})
        )
    return codes_of_edges


def _make_codes(
    steps: Steps,
    origin: ModelOrigin,
    codes: _CodesByLabel,
    unknown: Mapping[str, Mapping[int, str]],
    known: set[tuple[int, int]],
    *,
    blank: str,
) -> None:
    """Make ``code_meaning``, ``unseen_code`` and ``label_level``."""
    rows: list[tuple[int, int, int, int, bool]] = []
    unseen: list[tuple[int, int, str]] = []
    labels: list[tuple[int, int, str]] = []
    for rank, name in enumerate(origin.order):
        meanings = _meanings(origin, name, blank)
        meanings += [(code, code, text) for code, text in unknown.get(name, {}).items()]
        for code, answer, label in meanings:
            level_id = _level_id(origin, name, answer)
            rows.append((rank, code, level_id, answer, label is not None))
            if label is not None and (rank, answer) not in known:
                unseen.append((rank, code, f"{name} = {label}"))
        variable_id = origin.variables[name].variable_id
        labels += [
            (variable_id, _level_id(origin, name, of_label[0]), label)
            for label, of_label in codes[name].items()
        ]
    columns = ("rank", "code", "level_id", "answer", "is_given")
    steps.create_from("code_meaning", _columns(columns, rows))
    steps.create_from("unseen_code", _columns(("rank", "code", "answer_text"), unseen))
    steps.create_from("label_level", _columns(("variable_id", "level_id", "label"), labels))


def _meanings(origin: ModelOrigin, name: str, blank: str) -> list[tuple[int, int, str | None]]:
    """Return for each code of a variable its answer, and the label if it must occur.

    A cell without an answer agrees with every path on which the variable does not occur.
    """
    levels = origin.survey.variables[name].levels
    kinds = [kind for kind, *_ in levels]
    is_category = origin.missing_policy == "category"
    missing = next(
        code
        for code, (kind, label, *_) in enumerate(levels, 1)
        if label == MISSING and kind != "value"
    )
    asked_blank = missing if is_category and blank != "unknown" else _OPEN_ANSWER
    meanings: list[tuple[int, int, str | None]] = [
        (ABSENT, _OPEN_ANSWER, None),
        (ASKED_BLANK, asked_blank, None),
        (OTHER_MISSING, missing, MISSING)
        if is_category
        else (OTHER_MISSING, _OPEN_ANSWER, None),
    ]
    for code, (kind, label, *_) in enumerate(levels, 1):
        if kind == "structural":
            meanings.append((code, code, None))
        elif kind != "blank":
            is_answer = kind == "value" or is_category
            meanings.append((code, code, label) if is_answer else (code, _OPEN_ANSWER, None))
    is_structural = origin.blank == "structural" and blank != "unknown"
    blank_is = kinds.index("structural") + 1 if is_structural else asked_blank
    return [*meanings, (kinds.index("blank") + 1, blank_is, None)]


def _level_id(origin: ModelOrigin, name: str, answer: int) -> int:
    """Return the level of an answer; one below -1 stands for a text that is not a level."""
    if answer == _OPEN_ANSWER:
        return _NO_LEVEL
    if answer > len(origin.survey.variables[name].levels):
        return _NO_LEVEL - answer
    return origin.variables[name].first_level_id + answer - 1


def _columns(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
    """Return rows as one array per column."""
    if not rows:
        return {name: np.empty(0, object if name in _TEXTS else np.int64) for name in names}
    return {
        name: np.array(values, object if name in _TEXTS else None)
        for name, values in zip(names, zip(*rows, strict=True), strict=True)
    }
