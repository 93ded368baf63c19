"""Hyperstages: which situations may share a stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from cegdb.errors import is_one_of
from cegdb.options import HyperstageRule
from cegdb.stages.groups import Grouping

if TYPE_CHECKING:
    from cegdb.stages.groups import GroupReader

Hyperstages: TypeAlias = HyperstageRule | Grouping


def find_hyperstages(reader: GroupReader, hyperstages: Hyperstages) -> object:
    """Make ``situation_group`` by a rule or by groups, and return the setting to record.

    Situations of one hyperstage have the same label set and, by the rule, the same variable
    (also those in no group), nothing else (``labels``), the same height, or the same shortest
    distance to a leaf (``paper``).
    """
    steps, tree_id = reader.steps, reader.tree_id
    is_rule = is_one_of(hyperstages, get_args(HyperstageRule))
    rule = str(hyperstages) if is_rule else "variable"
    setting: Any = rule
    if not is_rule:
        setting = reader.read(hyperstages, "hyperstage")
    if rule == "paper":
        steps.run("leaf_distance", tree_id=tree_id)
    else:
        steps.empty("leaf_distance", "vertex_id bigint, distance integer")
    steps.run("situation_group", tree_id=tree_id, rule=rule)
    if reader.is_strict and not is_rule:
        reader.refuse_mixed_labels("hyperstage")
    return setting
