"""Rules: which earlier answers the stage of a situation depends on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from cegdb.errors import StagingError, SurveyError, items_of, listed
from cegdb.ingest.files.relation import find_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cegdb.sqlfiles import Steps

__all__ = ["Depends", "apply_rules", "known_rules"]

Depends: TypeAlias = "Mapping[str, Sequence[str]]"

_HINT = "give a mapping such as {'Fall': ['Risk', 'Treatment']}"


def known_rules(depends: object, order: Sequence[str], tree: str) -> dict[str, list[str]]:
    """Return rules with the names that the tree has, in its order.

    Parameters
    ----------
    depends
        Variable -> the earlier ones that its stages depend on; names are looked up exactly,
        else trimmed, else case-folded.
    order
        The variables of the tree, from the root.
    tree
        What it is called.

    Raises
    ------
    StagingError
        A variable is not one of the tree, has two rules, or does not come before the one
        that depends on it.

    Examples
    --------
    >>> known_rules({"fall": ["Treatment", "Risk"]}, ["Risk", "Treatment", "Fall"], "falls")
    {'Fall': ['Risk', 'Treatment']}
    """
    if not isinstance(depends, Mapping):
        raise StagingError(f"depends is {depends!r}", hint=_HINT)
    found: dict[str, list[str]] = {}
    for variable, on in depends.items():
        items = items_of(on, f"depends of {variable!r}", StagingError, hint=_HINT)
        try:
            target, *asked = find_columns(order, [variable, *items], f"tree {tree!r}")
        except SurveyError as error:
            raise StagingError(f"depends: {error.args[0]}", hint=error.hint) from None
        if target in found:
            raise StagingError(f"depends has two rules of {target!r}", hint="join them to one")
        before = list(order[: order.index(target)])
        late = [name for name in asked if name not in before]
        if late:
            earlier = listed(map(repr, before)) or "nothing"
            raise StagingError(
                f"depends: {target!r} cannot depend on {listed(map(repr, late))}, which does "
                f"not come before it in tree {tree!r}",
                hint=f"before it: {earlier}; or build the tree in another order",
            )
        found[target] = [name for name in before if name in asked]
    return found


def apply_rules(steps: Steps, tree: Mapping[str, Any], depends: object) -> dict[str, list[str]]:
    """Add to ``given_stage`` the stages that rules make; return the rules to record.

    Situations of a variable share a stage iff they have the same hyperstage and the same
    answers to the variables it depends on; one that was not asked is an answer of its own.
    Situations in ``given_stage`` are left as they are.

    Parameters
    ----------
    steps
        Runs the SQL; ``situation_edge``, ``floret``, ``situation_group`` and
        ``given_stage`` exist.
    tree
        Its catalog row.
    depends
        See `known_rules`.

    Raises
    ------
    StagingError
        As `known_rules`.

    Examples
    --------
    >>> import cegdb
    >>> rows = "select i % 2 as x, i % 4 < 2 as y, i % 8 < 4 as z from range(8) t(i)"
    >>> with cegdb.open() as db:
    ...     tree = db.ingest(rows).event_tree()
    ...     staged = tree.set_stages(depends={"z": ["y"], "y": []})
    ...     staged.florets["stage"].tolist()
    ['u0', 'u1', 'u1', 'u2', 'u3', 'u2', 'u3']
    """
    rules = known_rules(depends, tree["settings"]["order"], str(tree["name"]))
    ids = {
        str(name): int(variable_id)
        for name, variable_id in steps.rows(
            "select name, variable_id from cegdb.variable where survey_id = $survey_id",
            {"survey_id": tree["survey_id"]},
        )
    }
    asked = sorted({ids[name] for on in rules.values() for name in on})
    steps.create(
        "stage_rule",
        "select unnest(cast($variables as integer[])) as variable_id, "
        "unnest(cast($places as integer[][])) as places",
        {
            "variables": [ids[name] for name in rules],
            "places": [[asked.index(ids[name]) + 1 for name in on] for on in rules.values()],
        },
    )
    steps.run("rule_stage", asked=asked)
    steps.execute("insert into temp.given_stage select vertex_id, name from temp.rule_stage")
    return rules
