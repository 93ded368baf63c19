"""Relabelling: labels of a tree that count as others, replaced before anything is staged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from cegdb.errors import StagingError, SurveyError, items_of, listed
from cegdb.ingest.files.cell_labels import label_of
from cegdb.ingest.files.relation import find_columns
from cegdb.names import WILDCARD, find_name
from cegdb.stages.situations import describe_situation, shown_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cegdb.options import Relabel
    from cegdb.sqlfiles import Steps

_FORM: Final = (
    "give label -> new label, ('Variable', label) -> new label, or (('High', 'Low'), label) "
    "-> new label, the labels from the root to a situation, '*' for any"
)
_GIVEN_LABEL: Final = "child_id bigint, label_id integer, label varchar"


@dataclass(frozen=True)
class RelabelRule:
    """A label and its new one: anywhere, of a variable, or at the end of a path."""

    raw_label: str
    label: str
    variable: str | None = None
    path: tuple[str, ...] | None = None

    def __str__(self) -> str:
        """Return the edges that it changes, for messages."""
        if self.variable is not None:
            return f"{self.raw_label!r} of {self.variable!r}"
        if self.path is not None:
            return f"{self.raw_label!r} at {shown_path(self.path)}"
        return repr(self.raw_label)

    def as_json(self) -> dict[str, object]:
        """Return it for the settings of a staging, as `recorded_rules` reads it."""
        context = {"variable": self.variable, "path": self.path}
        where = {key: value for key, value in context.items() if value is not None}
        return {**where, "raw_label": self.raw_label, "label": self.label}


def read_rules(relabel: Relabel | None) -> list[RelabelRule]:
    """Read the setting ``relabel``, a mapping from what to relabel to its new label.

    What to relabel is a label (of any edge of the tree), ``(variable, label)`` or ``(path,
    label)``, a path being a tuple of the labels from the root to a situation, ``"*"`` for any.
    Labels and paths are those of the tree: no rule sees what another one changes.

    Examples
    --------
    >>> for rule in read_rules({"no*": "no", ("Fall", "1"): "yes", (("a", "*"), "2"): "b"}):
    ...     print(rule, "->", rule.label)
    'no*' -> no
    '1' of 'Fall' -> yes
    '2' at ('a', '*') -> b
    """
    if relabel is None:
        return []
    if not isinstance(relabel, Mapping):
        raise StagingError(f"relabel must be a mapping, not {relabel!r}", hint=_FORM)
    return [_read_rule(key, label) for key, label in relabel.items()]


def _read_rule(key: object, label: object) -> RelabelRule:
    context: object = None
    raw_label = key
    if isinstance(key, tuple):
        if len(key) != 2:
            raise StagingError(f"relabel: {key!r} is not a pair (where, label)", hint=_FORM)
        context, raw_label = key
    new = _checked_label(label, f"the new label of {key!r}")
    raw = _checked_label(raw_label, f"the label of {key!r}")
    if not isinstance(key, tuple):
        return RelabelRule(raw, new)
    if isinstance(context, str):
        return RelabelRule(raw, new, variable=context)
    parts = items_of(context, "where to relabel", StagingError, hint=_FORM, in_order=True)
    return RelabelRule(
        raw, new, path=tuple(_checked_label(part, f"the path {context!r}") for part in parts)
    )


def _checked_label(label: object, what: str) -> str:
    try:
        text = None if isinstance(label, (tuple, list, Mapping)) else label_of(label)
    except SurveyError as error:
        raise StagingError(f"relabel: {error}", hint=_FORM) from None
    if text is None or not text.strip():
        raise StagingError(
            f"relabel: {what} must be a text that is not blank, not {label!r}", hint=_FORM
        )
    return text


def recorded_rules(settings: Mapping[str, Any]) -> list[RelabelRule]:
    """Return the rules that the settings of a staging record."""
    return [
        RelabelRule(
            **{**recorded, "path": tuple(recorded["path"]) if "path" in recorded else None}
        )
        for recorded in settings.get("relabel") or []
    ]


def recorded_relabel(settings: Mapping[str, Any]) -> Relabel | None:
    """Return what was relabelled, as it can be given again.

    Examples
    --------
    >>> rules = read_rules({((), "no*"): "no"})
    >>> recorded_relabel({"relabel": [rule.as_json() for rule in rules]})
    {((), 'no*'): 'no'}
    """
    relabel: dict[Any, str] = {}
    for rule in recorded_rules(settings):
        where = rule.variable if rule.path is None else rule.path
        relabel[rule.raw_label if where is None else (where, rule.raw_label)] = rule.label
    return relabel or None


def find_rules(
    steps: Steps, tree: Mapping[str, Any], rules: Sequence[RelabelRule]
) -> list[RelabelRule]:
    """Return rules with the variables and labels of a tree as they are spelled there.

    Labels that the tree does not have stay as written.
    """
    order = list(tree["settings"]["order"])

    def labels_of(variable: str | None) -> list[str]:
        rows = steps.fetch("tree_label", tree_id=tree["tree_id"], variable=variable)
        return [str(label) for (label,) in rows]

    spelled = []
    for rule in rules:
        variable = _find_variable(rule, order)
        known = labels_of(variable)
        path = rule.path
        if path is not None:
            path = tuple(
                label if label == WILDCARD else find_name(label, known) or label
                for label in path
            )
        raw_label = find_name(rule.raw_label, known) or rule.raw_label
        spelled.append(replace(rule, raw_label=raw_label, variable=variable, path=path))
    return spelled


def relabel_edges(
    steps: Steps,
    tree: Mapping[str, Any],
    rules: Sequence[RelabelRule] = (),
    skipped: list[str] | None = None,
) -> int:
    """Make ``given_label``, the edges whose label changes; return how many they are.

    The rules are those of `find_rules`. Those that fit no edge are refused, or noted in
    ``skipped``; refused are two rules that give an edge different labels, and equal labels of
    one situation.
    """
    if not rules:
        steps.empty("given_label", _GIVEN_LABEL)
        return 0
    tree_id, survey_id = tree["tree_id"], tree["survey_id"]
    steps.run(
        "relabel_rule",
        raw_labels=[rule.raw_label for rule in rules],
        labels=[rule.label for rule in rules],
        variables=[rule.variable for rule in rules],
        is_path=[rule.path is not None for rule in rules],
        paths=[list(rule.path or ()) for rule in rules],
    )
    steps.run("relabel_vertex", tree_id=tree_id)
    steps.run("relabel_edge", tree_id=tree_id, survey_id=survey_id)
    in_use = {
        rule_id for (rule_id,) in steps.rows("select distinct rule_id from temp.relabel_edge")
    }
    unused = [
        _explain_unused(steps, tree, rule, rule_id)
        for rule_id, rule in enumerate(rules)
        if rule_id not in in_use
    ]
    if unused and skipped is None:
        raise StagingError(
            unused[0], hint="labels and paths are those of the tree; see cegdb.tree_edges"
        )
    if skipped is not None:
        skipped += [f"skipped: {reason}" for reason in unused]
    for vertex_id, raw_label, label, other in steps.fetch("relabel_conflict"):
        raise StagingError(
            f"relabel gives two labels, {label!r} and {other!r}, to {raw_label!r} of situation "
            f"{describe_situation(steps, tree_id, vertex_id)}",
            hint="let one rule apply to each edge",
        )
    n_edges = steps.run("given_label", survey_id=survey_id)
    zeros = tree["settings"]["sampling_zeros"]
    for vertex_id, raw_labels, label in steps.fetch("joined_sibling", tree_id=tree_id):
        leave_out = (
            ""
            if zeros == "none"
            else "; where nobody gave one of them, sampling_zeros='none' leaves it out"
        )
        raise StagingError(
            f"relabel gives {listed(map(repr, raw_labels))} the same label, {label!r}, in "
            f"situation {describe_situation(steps, tree_id, vertex_id)}",
            hint="labels of one situation must differ: relabel in fewer places, or join the "
            f"answers at ingest (recode in the codebook){leave_out}",
        )
    return n_edges


def read_relabelled(steps: Steps, staging_id: int) -> None:
    """Make ``given_label`` of the edges that a staging relabelled."""
    steps.empty("given_label", _GIVEN_LABEL)
    steps.run("recorded_label", staging_id=staging_id)


def _find_variable(rule: RelabelRule, order: list[str]) -> str | None:
    if rule.variable is None:
        return None
    try:
        return find_columns(order, [rule.variable], "the tree")[0]
    except SurveyError as error:
        raise StagingError(f"relabel: {error.args[0]}", hint=error.hint) from None


def _explain_unused(
    steps: Steps, tree: Mapping[str, Any], rule: RelabelRule, rule_id: int
) -> str:
    """Say why a rule fits no edge, following its path as far as it goes."""
    tree_id = tree["tree_id"]
    if rule.path is None:
        labels = steps.fetch("tree_label", tree_id=tree_id, variable=rule.variable)
        listing = listed((repr(label) for (label,) in labels), most=10)
        return f"relabel: the tree has no label {rule}; the labels are {listing}"
    ((depth, vertex_id),) = steps.fetch("relabel_reach", rule_id=rule_id)
    situation = describe_situation(steps, tree_id, vertex_id)
    if depth == len(rule.path):
        return f"relabel: there is no {rule}; the situation is {situation}"
    return (
        f"relabel: there is no situation {shown_path(rule.path)}; the path leads to {situation}"
    )
