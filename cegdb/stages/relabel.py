"""Label equivalence: other labels for edges of a tree, given before anything is staged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cegdb.errors import StagingError, SurveyError, items_of, listed
from cegdb.ingest.files.cell_labels import label_of
from cegdb.ingest.files.relation import find_columns
from cegdb.stages.situation_paths import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cegdb.options import Relabel
    from cegdb.sqlfiles import Steps

_FORM: Final = (
    "give label -> new label, ('Variable', label) -> new label, or (('High', 'Low'), label) "
    "-> new label, the labels from the root to a situation, '*' for any"
)


@dataclass(frozen=True)
class Rule:
    """A label and the one it takes: anywhere, of a variable, or at the end of a path."""

    raw_label: str
    label: str
    variable: str | None = None
    path: tuple[str, ...] | None = None

    def __str__(self) -> str:
        """Return the edges it is about, for messages."""
        if self.variable is not None:
            return f"{self.raw_label!r} of {self.variable!r}"
        if self.path is not None:
            return f"{self.raw_label!r} at {_path(self.path)}"
        return repr(self.raw_label)

    def as_json(self) -> dict[str, object]:
        """Return it for the settings of a staging, as `rules_of` takes it back."""
        context = {"variable": self.variable, "path": self.path}
        told = {key: value for key, value in context.items() if value is not None}
        return {**told, "raw_label": self.raw_label, "label": self.label}


def read_rules(relabel: Relabel | None) -> list[Rule]:
    """Read the setting ``relabel``.

    Parameters
    ----------
    relabel
        What to relabel -> new label. What to relabel is a label (of any edge of the tree),
        ``(variable, label)`` or ``(path, label)``, a path being a tuple of the labels from
        the root to a situation, ``"*"`` for any; ``()`` is the root. Labels and paths are
        those of the tree: rules do not see what other rules do.

    Raises
    ------
    StagingError
        It has another form, or holds a blank.

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
        raise StagingError(f"relabel is {relabel!r}", hint=_FORM)
    return [_rule(key, label) for key, label in relabel.items()]


def _rule(key: object, label: object) -> Rule:
    context: object = None
    raw_label = key
    if isinstance(key, tuple):
        if len(key) != 2:
            raise StagingError(f"relabel: {key!r} is no pair of where and a label", hint=_FORM)
        context, raw_label = key
    new = _text(label, f"the new label of {key!r}")
    raw = _text(raw_label, f"the label of {key!r}")
    if not isinstance(key, tuple):
        return Rule(raw, new)
    if isinstance(context, str):
        return Rule(raw, new, variable=context)
    parts = items_of(context, "where to relabel", StagingError, hint=_FORM, in_order=True)
    return Rule(raw, new, path=tuple(_text(part, f"the path {context!r}") for part in parts))


def _text(label: object, what: str) -> str:
    text = None if isinstance(label, (tuple, list, Mapping)) else label_of(label)
    if text is None or not text.strip():
        raise StagingError(f"relabel: {what} is {label!r}", hint=_FORM)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise StagingError(f"relabel: {text!r} is not UTF-8 text") from None
    return text


def rules_of(settings: Mapping[str, Any]) -> list[Rule]:
    """Return the rules that the settings of a staging record.

    Examples
    --------
    >>> rules_of({"relabel": [rule.as_json() for rule in read_rules({((), "no*"): "no"})]})
    [Rule(raw_label='no*', label='no', variable=None, path=())]
    """
    return [
        Rule(**{**said, "path": tuple(said["path"]) if "path" in said else None})
        for said in settings.get("relabel") or []
    ]


def give_labels(
    steps: Steps, tree: Mapping[str, Any], rules: list[Rule], passed_over: list[str] | None
) -> int:
    """Make the temp table ``given_label`` of the edges whose label changes.

    Parameters
    ----------
    steps
        Run the SQL.
    tree
        The catalog row of the tree.
    rules
        What to relabel; none changes no label.
    passed_over
        Where to tell of rules that fit no edge; None refuses them.

    Returns
    -------
    int
        How many edges change their label.

    Raises
    ------
    StagingError
        A rule fits no edge, two rules give one edge different labels, or two edges of one
        situation would have the same label.
    """
    if not rules:
        return steps.create(
            "given_label",
            "select cast(0 as bigint) as child_id, 0 as label_id, '' as label where false",
        )
    tree_id, survey_id = tree["tree_id"], tree["survey_id"]
    order = list(tree["settings"]["order"])
    steps.create(
        "given_rule",
        "select unnest(range(len($labels))) as rule_id, "
        "unnest(cast($raw_labels as varchar[])) as raw_label, "
        "unnest(cast($labels as varchar[])) as label, "
        "unnest(cast($variables as varchar[])) as variable, "
        "unnest(cast($is_path as boolean[])) as is_path, "
        "unnest(cast($paths as varchar[][])) as path",
        {
            "raw_labels": [rule.raw_label for rule in rules],
            "labels": [rule.label for rule in rules],
            "variables": [_variable(rule, order) for rule in rules],
            "is_path": [rule.path is not None for rule in rules],
            "paths": [list(rule.path or ()) for rule in rules],
        },
    )
    steps.run("ruled_vertex", tree_id=tree_id)
    steps.run("rule_edge", tree_id=tree_id, survey_id=survey_id)
    unused = steps.rows(
        "select rule_id from temp.given_rule where rule_id not in "
        "(select rule_id from temp.rule_edge) order by rule_id"
    )
    told = [_why_unused(steps, tree, rules[i], i) for (i,) in unused]
    if told and passed_over is None:
        raise StagingError(
            told[0], hint="labels and paths are those of the tree; cegdb.tree_edges has them"
        )
    if passed_over is not None:
        passed_over += [f"passed over: {why}" for why in told]
    _refuse_two_labels(steps, tree_id)
    n = steps.run("given_label", survey_id=survey_id)
    for vertex_id, raw_labels, label in steps.fetch("joined_sibling", tree_id=tree_id):
        raise StagingError(
            f"relabel makes {listed(map(repr, raw_labels))} one label, {label!r}, in "
            f"situation {words(steps, tree_id, vertex_id)}",
            hint="siblings keep different labels: relabel in fewer places, or join the answers "
            "at ingest (recode in the codebook)",
        )
    return n


def labels_of(steps: Steps, staging_id: int) -> None:
    """Make ``given_label`` of the edges whose label a staging changed."""
    steps.create(
        "given_label",
        "select child_id, label_id, label from cegdb.relabelled_edge "
        "where staging_id = $staging_id",
        {"staging_id": staging_id},
    )


def _variable(rule: Rule, order: list[str]) -> str | None:
    if rule.variable is None:
        return None
    try:
        return find_columns(order, [rule.variable], "the tree")[0]
    except SurveyError as error:
        raise StagingError(f"relabel: {error.args[0]}", hint=error.hint) from None


def _path(labels: Sequence[str]) -> str:
    return f"({', '.join(map(repr, labels)) or 'the root'})"


def _refuse_two_labels(steps: Steps, tree_id: int) -> None:
    twice = steps.rows(
        "select e.vertex_id, l.label, min(e.label), max(e.label) "
        "from temp.rule_edge as e inner join cegdb.level as l on e.level_id = l.level_id "
        "group by e.vertex_id, e.child_id, l.label having min(e.label) <> max(e.label) "
        "order by e.child_id limit 1"
    )
    for vertex_id, raw_label, one, other in twice:
        raise StagingError(
            f"relabel gives two labels, {one!r} and {other!r}, to {raw_label!r} of situation "
            f"{words(steps, tree_id, vertex_id)}",
            hint="let one rule be about an edge",
        )


def _why_unused(steps: Steps, tree: Mapping[str, Any], rule: Rule, rule_id: int) -> str:
    """Say why a rule fits no edge, following its path as far as it goes."""
    if rule.path is None:
        found = steps.rows(
            "select l.label from cegdb.level as l inner join cegdb.variable as v "
            "on l.variable_id = v.variable_id where v.name = coalesce($variable, v.name) "
            "and l.level_id in (select level_id from cegdb.edge where tree_id = $tree_id) "
            "group by l.label order by min(l.level_id)",
            {
                "tree_id": tree["tree_id"],
                "variable": _variable(rule, list(tree["settings"]["order"])),
            },
        )
        labels = listed((repr(label) for (label,) in found), most=10)
        return f"relabel: no edge of the tree is {rule}; there are {labels}"
    ((depth, vertex_id),) = steps.rows(
        "select max(depth), min(vertex_id) from temp.ruled_vertex where rule_id = $rule_id "
        "and depth = (select max(depth) from temp.ruled_vertex where rule_id = $rule_id)",
        {"rule_id": rule_id},
    )
    there = words(steps, tree["tree_id"], vertex_id)
    what = f"edge of the tree is {rule}" if depth == len(rule.path) else f"path fits {rule}"
    return f"relabel: no {what}; there is {there}"


def relabelled(settings: Mapping[str, Any]) -> Relabel | None:
    """Return what was relabelled, as it can be given again."""
    found: dict[Any, str] = {}
    for rule in rules_of(settings):
        where = rule.variable if rule.path is None else rule.path
        found[rule.raw_label if where is None else (where, rule.raw_label)] = rule.label
    return found or None
