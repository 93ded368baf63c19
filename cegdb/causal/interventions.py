"""Interventions: setting probabilities on the edges of a CEG that is taken to be causal."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, get_args

import numpy as np

from cegdb.errors import QueryError, is_number, joined, listed
from cegdb.evidence import All, Count, Order, Take, Visit, items, text_of
from cegdb.inference.queries import condition
from cegdb.ingest.coding.variables import NOT_APPLICABLE
from cegdb.names import find_name, only_match
from cegdb.options import Absent, EffectOptions, check_choice

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from cegdb.evidence import Evidence
    from cegdb.inference.compiled_model import CompiledModel
    from cegdb.inference.propagation import Floats, Ints

    Flags: TypeAlias = NDArray[np.bool_]

MAPPING_HINT: Final = 'give a mapping: {"Treatment": "Treated"}'
_SETTING_HINT: Final = 'give a label, or a distribution: {"Treated": 0.3, "Not treated": 0.7}'
_ROUNDING: Final = 1e-9
_ALL_EDGES: Final = slice(None)
_NOTHING: Final = All(())


@dataclass(frozen=True)
class Intervention:
    """A CEG after an intervention.

    ``names`` are the variables or positions set, ``actions`` the settings as texts. ``is_set``
    marks the edges whose probability was set; ``share`` is their probability where the
    variable applies.
    """

    ceg: CompiledModel
    names: tuple[str, ...]
    actions: tuple[str, ...]
    is_set: Flags
    share: Floats

    def apply(self, probability: Floats, edges: Ints | slice = _ALL_EDGES) -> Floats:
        """Return edge probabilities after the intervention; further axes are independent.

        A share of "not applicable" stays. ``edges`` are all edges of some positions.
        """
        source = self.ceg.graph.source[edges]
        if not len(source):
            return probability
        starts = np.flatnonzero(np.diff(source, prepend=-1))
        shape = (-1,) + (1,) * (probability.ndim - 1)
        is_set = self.is_set[edges].reshape(shape)
        unset = np.add.reduceat(np.where(is_set, 0.0, probability), starts, axis=0)
        rest = (1.0 - unset)[np.searchsorted(source[starts], source)]
        return np.where(is_set, self.share[edges].reshape(shape) * rest, probability)


def no_intervention(ceg: CompiledModel) -> Intervention:
    """Return the intervention that sets nothing."""
    n_edges = len(ceg.probability)
    return Intervention(ceg, (), (), np.zeros(n_edges, bool), np.zeros(n_edges))


def intervene(
    earlier: Intervention,
    actions: Mapping[str, object],
    absent: Absent = EffectOptions.absent,
    group: Evidence = _NOTHING,
) -> Intervention:
    """Set the answers to variables, or what happens at positions.

    ``actions`` maps a variable, or a position where no variable has that name, to a label or to
    label -> probability. Where a reached position lacks the label, ``absent`` is an error or
    leaves its probabilities; positions that ``group`` excludes count as not reached.
    """
    check_choice("absent", absent, get_args(Absent), QueryError)
    if not actions:
        raise QueryError("the intervention sets nothing", hint=MAPPING_HINT)
    ceg = earlier.ceg
    source, n_nodes = ceg.graph.source, ceg.graph.n_nodes
    applies = np.array(ceg.edge_labels) != NOT_APPLICABLE
    is_set, share_set = earlier.is_set.copy(), earlier.share.copy()
    names, texts, lacking = list(earlier.names), list(earlier.actions), []
    for name, setting in actions.items():
        action = _action(ceg, name, _distribution(name, setting))
        edges = np.isin(source, action.nodes)
        if is_set[edges].any():
            raise QueryError(f"{action.name!r} is set twice", hint="set each variable once")
        if NOT_APPLICABLE not in action.shares:
            edges &= applies
        total = np.bincount(source, np.where(edges, action.share, 0.0), n_nodes)
        has_edges = np.bincount(source, edges, n_nodes) > 0
        lacks_label = (total < 1 - _ROUNDING) & has_edges
        nodes_lacking = action.nodes[lacks_label[action.nodes]]
        edges &= ~np.isin(source, nodes_lacking)
        share_set[edges] = action.share[edges]
        is_set |= edges
        lacking.append((action, nodes_lacking))
        names.append(action.name)
        texts.append(str(action))
    intervention = Intervention(ceg, tuple(names), tuple(texts), is_set, share_set)
    # docs/theory.md, section 11a: paths without the variable keep their probabilities, and a
    # share that does not apply stays, unless the action names it.
    after = replace(ceg, probability=intervention.apply(ceg.probability), is_changed=True)
    if absent == "error" and any(len(nodes) for _, nodes in lacking):
        reached = np.unique(condition(after, group).product.node)
        for action, nodes in lacking:
            _refuse_lacking(after, action, nodes[np.isin(nodes, reached)])
    return replace(intervention, ceg=after)


def _distribution(name: object, setting: object) -> dict[str, float]:
    """Return labels and their probabilities, normalised."""
    if not isinstance(setting, Mapping):
        if setting is None or isinstance(setting, (list, tuple, set, frozenset)):
            raise QueryError(f"{name!r} cannot be set to {setting!r}", hint=_SETTING_HINT)
        return {text_of(setting): 1.0}
    for label, share in setting.items():
        if not is_number(share) or share < 0:
            raise QueryError(
                f"the probability of {name} = {label} must be from 0 to 1, not {share!r}"
            )
    total = math.fsum(setting.values())
    if abs(total - 1) > _ROUNDING:
        raise QueryError(
            f"the probabilities of {name!r} sum to {total:.10g}", hint="they must sum to 1"
        )
    return {text_of(label): float(share) / total for label, share in setting.items()}


class _Action(NamedTuple):
    """A variable or position that is set, with the probability of each label.

    ``nodes`` are those set, ``share`` the probability of each edge.
    """

    name: str
    shares: Mapping[str, float]
    nodes: Ints
    share: Floats

    def __str__(self) -> str:
        certain = [label for label, share in self.shares.items() if share == 1]
        if certain:
            return f"{self.name} = {certain[0]}"
        each = ", ".join(f"{label}: {share:.4g}" for label, share in self.shares.items())
        return f"{self.name} ~ {each}"


def _action(ceg: CompiledModel, name: object, shares: Mapping[str, float]) -> _Action:
    """Return an action with the names that the CEG has."""
    if ceg.has_variable(name):
        variable = ceg.variable_index(name)
        nodes = np.flatnonzero(ceg.variable == variable)
        title, labels = ceg.variables[variable].name, ceg.variables[variable].labels
    else:
        if isinstance(name, str) and find_name(name, ceg.names) is None:
            ceg.variable_index(name)
        node = ceg.node(name)
        nodes, variable, title = np.array([node]), int(ceg.variable[node]), ceg.names[node]
        edges = np.flatnonzero(ceg.graph.source == node).tolist()
        labels = tuple(ceg.edge_labels[edge] for edge in edges)
        if not labels:
            raise QueryError(
                f"position {title} of {ceg.title} has no edges", hint="set another position"
            )
    stored: dict[str, float] = {}
    for label, value in shares.items():
        text = label
        if label not in labels and variable >= 0:
            known = ceg.variables[variable]
            text = known.labels[known.label_index(label)]
        elif label not in labels:
            unknown = f"position {title} of {ceg.title} has no edge {label!r}"
            text = only_match(label, labels, unknown, QueryError)
        stored[text] = stored.get(text, 0.0) + value
    share = np.zeros(len(ceg.probability))
    for edge in np.flatnonzero(np.isin(ceg.graph.source, nodes)).tolist():
        share[edge] = stored.get(ceg.edge_labels[edge], 0.0)
    return _Action(title, stored, nodes, share)


def _refuse_lacking(after: CompiledModel, action: _Action, nodes: Ints) -> None:
    if not len(nodes):
        return
    lacking = []
    for node in nodes.tolist():
        edges = np.flatnonzero(after.graph.source == node).tolist()
        labels = {after.edge_labels[edge]: None for edge in edges}
        absent = [label for label, p in action.shares.items() if p and label not in labels]
        lacking.append(
            f"{after.names[node]} has no {joined([*map(repr, absent)], 'or')} "
            f"(available: {listed(map(repr, labels))})"
        )
    raise QueryError(
        f"{action} cannot be set at every position: {listed(lacking)}",
        hint="use absent='leave' to leave these positions as they are, or set other labels",
    )


def assumption(ceg: CompiledModel, names: Sequence[object]) -> str:
    """Return the assumption on which an intervention rests, as a sentence."""
    treatment, it = joined([*map(str, names)]), "it" if len(names) == 1 else "them"
    return (
        f"assumed, not tested: the order of CEG {ceg.name!r} is causal: setting {treatment} "
        f"changes nothing before {it}, and keeps the probabilities after each position. "
        f"Nothing unmeasured confounds {treatment} and what follows."
    )


def nodes_below(ceg: CompiledModel, variable: int) -> Flags:
    """Return which nodes lie below an edge of a variable."""
    graph = ceg.graph
    is_below = np.zeros(graph.n_nodes, bool)
    for part in graph.layers():
        leads = is_below[graph.source[part]] | (ceg.edge_variable[part] == variable)
        is_below[graph.target[part][leads]] = True
    return is_below


def refuse_post_treatment(ceg: CompiledModel, treatment: int, evidence: Evidence) -> None:
    """Refuse evidence about the treatment itself or anything that may come after it."""
    after = nodes_below(ceg, treatment)
    treated = ceg.variables[treatment].name
    for part in _parts(evidence):
        if _is_treatment(ceg, treatment, part) or _may_follow(ceg, after, part):
            raise QueryError(
                f"{part} may come after {treated!r} or be the treatment itself: setting "
                f"{treated!r} would change who is in that group, and the "
                "labels would not be compared in the same people",
                hint=f"define groups by what comes before {treated!r}; to condition after "
                "intervening, use ceg.do(...).given(...) in Python",
            )


def fixed_outcome_note(ceg: CompiledModel, treatment: int, outcome: Evidence) -> str:
    """Return a note on an outcome that is the treatment or comes before it, else nothing."""
    after, treated = nodes_below(ceg, treatment), ceg.variables[treatment].name
    parts = list(_parts(outcome))
    if not parts or any(_may_follow(ceg, after, part) for part in parts):
        return ""
    if any(_is_treatment(ceg, treatment, part) for part in parts):
        return f"the outcome is about {treated} itself, which is set: this is not an effect"
    return f"the outcome comes before {treated}, so setting {treated} cannot change it"


def _is_treatment(ceg: CompiledModel, treatment: int, part: Evidence) -> bool:
    """Return whether a simple event is about the answer to the treatment."""
    if isinstance(part, Take):
        return bool(ceg.variable[ceg.node(part.position)] == treatment)
    if isinstance(part, Visit):
        return False
    return ceg.variable_index(part.variable) == treatment  # type: ignore[attr-defined]


def _may_follow(ceg: CompiledModel, after: Flags, part: Evidence) -> bool:
    """Return whether a simple event may be at one of the nodes ``after`` a treatment."""
    if isinstance(part, (Visit, Take)):
        return bool(after[ceg.node(part.position)])
    index = ceg.variable_index(part.variable)  # type: ignore[attr-defined]
    return bool(after[:-1][ceg.variable[:-1] == index].any())


def _parts(evidence: Evidence) -> Iterator[Evidence]:
    for part in items(evidence):
        if isinstance(part, Count):
            for event in part.of:
                yield from _parts(event)
        elif isinstance(part, Order):
            yield from _parts(part.first)
            yield from _parts(part.second)
        else:
            yield part


def compared_labels(
    ceg: CompiledModel, treatment: int, named: Sequence[object] | None
) -> list[str]:
    """Return the labels to compare: those named, else all; a single one against all others."""
    known = ceg.variables[treatment]
    met = np.unique(ceg.label[ceg.edge_variable == treatment]).tolist()
    every = [known.labels[i] for i in met if known.labels[i] != NOT_APPLICABLE]
    if len(every) < 2:
        has = f"only the label {every[0]!r}" if every else "no labels"
        raise QueryError(
            f"{known.name!r} has {has} in CEG {ceg.name!r}, so there is nothing to compare",
            hint="choose another treatment",
        )
    chosen = [known.labels[known.label_index(label)] for label in named or every]
    if len(chosen) == 1:
        chosen += [label for label in every if label != chosen[0]]
    if len(chosen) < 2 or len(set(chosen)) < len(chosen):
        raise QueryError(
            f"cannot compare these labels of {known.name!r}: {listed(map(repr, chosen))}",
            hint="name two or more different ones",
        )
    return chosen


def positivity_violations(
    ceg: CompiledModel, treatment: int, labels: Sequence[str], passed: Floats, least: float
) -> list[tuple[int, str, float, bool]]:
    """Return node, label, probability and whether there is such an edge, where it is small.

    ``passed`` is the probability of each node; probabilities below ``least`` are small.
    """
    violations = []
    nodes = np.flatnonzero((ceg.variable == treatment) & (passed > 0))
    first = np.searchsorted(ceg.graph.source, [nodes, nodes + 1])
    for node, start, end in zip(nodes.tolist(), *first.tolist(), strict=True):
        texts, shares = ceg.edge_labels[start:end], ceg.probability[start:end].tolist()
        share_of = dict(zip(texts, shares, strict=True))
        applies = 1.0 - share_of.pop(NOT_APPLICABLE, 0.0)
        if not share_of or applies <= 0:
            continue
        for label in labels:
            probability = share_of.get(label, 0.0) / applies
            if probability < least:
                violations.append((node, label, probability, label in share_of))
    return violations
