"""Dependence rules: which earlier answers the stage of a situation depends on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from cegdb.errors import StagingError, SurveyError, agreeing, items_of, listed
from cegdb.ingest.files.relation import find_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cegdb.sqlfiles import Steps

__all__ = ["Depends", "add_dependence_stages", "checked_depends"]

Depends: TypeAlias = "Mapping[str, Sequence[str]]"

_HINT = "give a mapping such as {'Fall': ['Risk', 'Treatment']}"


def checked_depends(depends: object, order: Sequence[str], tree: str) -> dict[str, list[str]]:
    """Return dependence rules with the names and in the order of a tree's variables.

    Examples
    --------
    >>> checked_depends({"fall": ["Treatment", "Risk"]}, ["Risk", "Treatment", "Fall"], "t")
    {'Fall': ['Risk', 'Treatment']}
    """
    if not isinstance(depends, Mapping):
        raise StagingError(f"depends must be a mapping, not {depends!r}", hint=_HINT)
    rules: dict[str, list[str]] = {}
    for variable, written in depends.items():
        names = items_of(written, f"depends of {variable!r}", StagingError, hint=_HINT)
        try:
            target, *parents = find_columns(order, [variable, *names], f"tree {tree!r}")
        except SurveyError as error:
            raise StagingError(f"depends: {error.args[0]}", hint=error.hint) from None
        if target in rules:
            raise StagingError(
                f"depends has two rules for {target!r}", hint="combine them into one"
            )
        earlier = list(order[: order.index(target)])
        late = [name for name in parents if name not in earlier]
        if late:
            raise StagingError(
                f"depends: {target!r} cannot depend on {listed(map(repr, late))}, which "
                f"{agreeing(len(late), 'do')} not come before it in tree {tree!r}",
                hint=f"before it: {listed(map(repr, earlier)) or 'nothing'}; or build the tree "
                "in another order",
            )
        rules[target] = [name for name in earlier if name in parents]
    return rules


def add_dependence_stages(
    steps: Steps, tree: Mapping[str, Any], depends: object, variable_ids: Mapping[str, int]
) -> dict[str, list[str]]:
    """Add the stages that rules make to ``given_group``; return the rules to record.

    Situations of a variable share a stage iff they have the same hyperstage and the same
    answers to the variables it depends on; "not asked" is an answer of its own. Situations
    with a given stage keep it.
    """
    rules = checked_depends(depends, tree["settings"]["order"], str(tree["name"]))
    parents = sorted({variable_ids[name] for names in rules.values() for name in names})
    steps.run(
        "dependence_rule",
        variable_ids=[variable_ids[name] for name in rules],
        answer_indices=[
            [parents.index(variable_ids[name]) + 1 for name in names]
            for names in rules.values()
        ],
    )
    steps.run("dependence_stage", variable_ids=parents)
    return rules
