"""Which situations may share a stage, and what a user says of the stages of any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from cegdb.errors import StagingError, counted, is_one_of
from cegdb.options import HyperstageRule, StartRule
from cegdb.stages.situation_names import (
    Grouping,
    Members,
    refuse_mixed_stages,
    refuse_mixture,
    resolve,
)
from cegdb.stages.situation_paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

    import duckdb

    from cegdb.sqlfiles import Steps

Hyperstages: TypeAlias = HyperstageRule | Grouping
Start: TypeAlias = StartRule | Grouping


@dataclass(frozen=True)
class Given:
    """What a user says of the stages of a tree.

    Attributes
    ----------
    hyperstages
        A rule (same label set and: same ``"variable"``, any (``"labels"``), same
        ``"height"``, or same shortest distance to a leaf (``"paper"``)), or groups.
    stages, initial, frozen
        Stages to give, to start learning from, and to keep out of learning.
    """

    hyperstages: Hyperstages = "variable"
    stages: Grouping | None = None
    initial: Start | None = None
    frozen: Grouping | None = None

    @property
    def is_joined(self) -> bool:
        """Whether learning starts from one stage a hyperstage."""
        return isinstance(self.initial, str) and self.initial == "indep"

    def find(
        self,
        steps: Steps,
        con: duckdb.DuckDBPyConnection,
        tree: Mapping[str, Any],
        passed_over: list[str] | None,
    ) -> dict[str, object]:
        """Find the florets, what was given about them, and check it.

        Returns
        -------
        dict
            The settings to record.

        Raises
        ------
        StagingError
            A path fits no situation, a situation is in two groups, or a stage joins
            situations that may share none.
        """
        tree_id = tree["tree_id"]
        is_rule = is_one_of(self.hyperstages, get_args(HyperstageRule))
        rule = self.hyperstages if is_rule else "groups"

        groups = {
            "hyperstage": None if rule != "groups" else self.hyperstages,
            "initial": None if is_one_of(self.initial, get_args(StartRule)) else self.initial,
            "frozen": self.frozen,
            "stage": self.stages,
        }
        find_florets(steps, tree_id)
        told: dict[str, object] = {}
        for what, given in groups.items():
            told[what] = resolve(steps, con, tree_id, given, what, passed_over)
        if rule == "paper":
            steps.run("leaf_distance", tree_id=tree_id)
        else:
            _empty(steps, "leaf_distance", "cast(0 as bigint) as vertex_id, 0 as distance")
        if passed_over is None and groups["hyperstage"] is not None:
            labels = "select vertex_id, labels as part from temp.floret"
            hint = "a hyperstage holds situations of one label set"
            refuse_mixture(steps, tree_id, "given_hyperstage", labels, "hyperstage", hint)
        fallback = "variable" if rule == "groups" else str(rule)
        steps.run("situation_group", tree_id=tree_id, rule=fallback)
        for what, name in (
            ("initial", "initial stage"),
            ("frozen", "frozen stage"),
            ("stage", "stage"),
        ):
            if passed_over is None and groups[what] is not None:
                refuse_mixed_stages(steps, tree_id, f"given_{what}", name)
        return {
            "hyperstages": told["hyperstage"] or rule,
            "initial": told["initial"] or self.initial,
            "frozen": told["frozen"],
            "stages": told["stage"],
        }


def find_florets(steps: Steps, tree_id: int) -> None:
    """Make ``situation_edge``, ``floret``, and ``situation_path`` of the root alone."""
    steps.run("situation_edge", tree_id=tree_id)
    steps.run("floret")
    steps.create("situation_path", ROOT)


def given_again(said: Any, kept: str | Members | None) -> Any:
    """Return what was given of a staging, by its settings, as it can be given again.

    Parameters
    ----------
    said
        The setting.
    kept
        What stands for a frame or file, whose rows are not in the settings.

    Examples
    --------
    >>> given_again({"groups": {"a": [["High", "Low"]]}}, None)
    {('High', 'Low'): 'a'}
    >>> given_again("indep", None)
    'indep'
    """
    if not isinstance(said, dict):
        return said
    if "groups" in said and not said.get("is_named", True):
        return list(said["groups"].values())
    if "groups" in said:
        return {tuple(path): name for name, paths in said["groups"].items() for path in paths}
    return kept


def _empty(steps: Steps, table: str, columns: str) -> None:
    steps.create(table, f"select {columns} where false")


def refuse_overlap_of_frozen(steps: Steps) -> None:
    """Refuse situations that are both frozen and given an initial stage."""
    both = steps.rows(
        "select count(*) from temp.given_frozen as z "
        "inner join temp.given_initial as i on z.vertex_id = i.vertex_id"
    )[0][0]
    if both:
        raise StagingError(
            f"{counted(int(both), 'situation')} named in both frozen and initial",
            hint="a frozen stage is kept out of learning: leave it out of initial",
        )
