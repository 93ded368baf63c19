"""Edits of a staging: join, split and rename stages, as a new staging."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from cegdb.errors import StagingError, counted, items_of, listed
from cegdb.names import did_you_mean, matching
from cegdb.sqlfiles import Steps
from cegdb.stages import set_stages
from cegdb.stages.groups import (
    OTHER_VARIABLES,
    SAME_HYPERSTAGE,
    SAME_LABELS,
    GroupReader,
    MemberTable,
    checked_name,
)
from cegdb.stages.priors import PriorRows
from cegdb.stages.recorded import recorded_options, recorded_prior, recorded_weighting
from cegdb.stages.relabel import read_relabelled, relabel_edges
from cegdb.stages.situations import describe_situation, find_florets, find_situation
from cegdb.store import schema
from cegdb.store.catalog import claim_name, copy_rows, new_id, refuse_stale, row, write
from cegdb.version import made_by

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import duckdb
    import sqlalchemy as sa
    from numpy.typing import NDArray

    from cegdb.stages.groups import SituationPath
    from cegdb.stages.priors import Prior
    from cegdb.store import Store

__all__ = [
    "average_stages",
    "join_stages",
    "regroup_situations",
    "rename_stages",
    "split_stage",
]

AVERAGED: Final = "averaged over stagings"
"""What the settings name as source of the priors of averaged probabilities."""
_SHOWN_STAGE: Final = re.compile(r"u[0-9]+")
_SITUATION: Final = re.compile(r"\s*s(0|[1-9][0-9]{0,17})\s*", re.IGNORECASE)
_GROUPS: Final = (
    "give a list of groups, each a list of situations ('s4') or paths (('High', 'Low'); one "
    "label alone is ('High',))"
)


class _Stage(NamedTuple):
    stage_id: int
    shown_name: str
    name: str | None
    hyperstage_id: int
    labels: tuple[str, ...]

    @property
    def title(self) -> str:
        """What messages call it."""
        return self.shown_name if self.name is None else f"{self.shown_name} ({self.name!r})"


def join_stages(
    store: Store,
    staging_id: int,
    stages: Sequence[str],
    *,
    name: str | None = None,
    replace: bool = False,
) -> int:
    """Join stages, named as shown (u3) or as given, in a new staging.

    The joined stage has the first of their given names. The new staging has the alpha,
    priors, hyperstages and weighting of the old one, and the method ``"given"``.
    """
    with _editing(store, staging_id) as edit:
        joined = list(dict.fromkeys(map(edit.find_stage, stages)))
        if len(joined) < 2:
            raise StagingError(
                f"{listed(stages)}: this is one stage, with nothing to join"
                if joined
                else "no stages to join",
                hint="name two stages or more, such as 'u3', 'u5'",
            )
        edit.refuse_different(joined)
        edit.begin()
        edit.steps.run(
            "joined_member",
            staging_id=staging_id,
            stage_ids=[stage.stage_id for stage in joined],
            shown_name=next((stage.name for stage in joined if stage.name is not None), None),
        )
        settings = {"joined": [stage.shown_name for stage in joined]}
        return edit.save(settings, name, replace=replace)


def split_stage(
    store: Store,
    staging_id: int,
    stage: str,
    groups: Sequence[Sequence[SituationPath]] | None = None,
    *,
    name: str | None = None,
    replace: bool = False,
) -> int:
    """Split a stage, named as shown (u3) or as given, in a new staging.

    ``groups`` are lists of situations (``"s4"``) and paths as in `set_stages`; of a path with
    wildcards only the situations in the stage count. Its other situations are one more part,
    which keeps the given name. Left out, each situation becomes its own stage.
    """
    with _editing(store, staging_id) as edit:
        split = edit.find_stage(stage)
        ids = {"staging_id": staging_id, "stage_id": split.stage_id}
        edit.begin()
        if groups is None:
            edit.steps.run("separated_member", **ids)
        else:
            edit.find_parts(split, groups)
        ((n_parts, n_named, n_situations),) = edit.steps.fetch("split_size", **ids)
        has_rest = n_named < n_situations
        if n_parts + has_rest < 2:
            raise StagingError(
                f"stage {split.title} of {counted(n_situations, 'situation')} would stay whole",
                hint=_GROUPS,
            )
        return edit.save({"split": split.shown_name}, name, replace=replace)


def regroup_situations(
    store: Store,
    staging_id: int,
    kind: Literal["full", "indep"],
    *,
    name: str | None = None,
    replace: bool = False,
) -> int:
    """Make a new staging with a stage for each situation, or one for each hyperstage.

    By default its name is that of the old one, with ``-full`` or ``-indep``, and a number if
    that is taken.
    """
    with _editing(store, staging_id) as edit:
        edit.begin()
        edit.steps.run("regrouped_member", is_full=kind == "full")
        return edit.save({"regroup": kind}, name, replace=replace, suffix=f"-{kind}")


def average_stages(
    store: Store,
    staging_id: int,
    probabilities: Mapping[str, NDArray[Any]],
    *,
    name: str | None = None,
    replace: bool = False,
) -> int:
    """Make a new staging whose situations have probabilities averaged over stagings.

    ``probabilities`` has the columns ``vertex_id``, ``label_id``, ``probability``. Situations
    that it does not name keep their stage. The averages become posterior means by priors that
    are made for them; by default the name is that of the old staging with ``-averaged``.
    """
    with _editing(store, staging_id) as edit:
        edit.begin()
        steps, tree_id = edit.steps, edit.staging["tree_id"]
        read_relabelled(steps, staging_id)
        steps.run("situation_edge", tree_id=tree_id)
        weighting = recorded_weighting(edit.staging["settings"])
        weighting.for_tree(edit.catalog, row(edit.catalog, "tree", tree_id)).measure(
            steps, tree_id
        )
        columns = ("vertex_id", "label_id", "probability")
        steps.create_from(
            "averaged_probability", {column: probabilities[column] for column in columns}
        )
        steps.run("averaged_member")
        steps.run("averaged_prior", staging_id=staging_id)
        prior = PriorRows("select * from temp.averaged_prior", AVERAGED)
        settings = {"averaged": len(set(probabilities["vertex_id"].tolist()))}
        return edit.save(settings, name, replace=replace, suffix="-averaged", prior=prior)


def rename_stages(
    store: Store,
    staging_id: int,
    names: Mapping[str, str],
    *,
    name: str | None = None,
    replace: bool = False,
) -> int:
    """Make a new staging that differs only in the names of stages: shown or given -> new.

    Its method, kinds of stages and settings stay.
    """
    if not names or not isinstance(names, Mapping):
        raise StagingError(
            f"names must be a mapping from stage to new name, not {names!r}",
            hint="give a mapping such as {'u3': 'frail'}",
        )
    with _editing(store, staging_id) as edit:
        staging = edit.staging
        new_names = edit.new_names(names)
        copy_id = new_id(edit.catalog, "staging")
        copy_rows(edit.catalog, "staging", staging_id, copy_id, omitted=schema.stage)
        edit.steps.run(
            "renamed_stage",
            staging_id=staging_id,
            copy_id=copy_id,
            stage_ids=list(new_names),
            names=list(new_names.values()),
        )
        own_name = edit.claim_name(name, replace=replace)
        renamed = {
            stage.name: new_names[stage.stage_id]
            for stage in edit.stages
            if stage.stage_id in new_names
        }
        copied = {key: value for key, value in staging.items() if key != "is_stale"}
        write(
            edit.catalog,
            "staging",
            {
                **copied,
                **made_by(float(staging["seconds"])),
                "staging_id": copy_id,
                "name": own_name,
                "settings": _renamed(dict(staging["settings"]), renamed),
            },
        )
        return copy_id


@contextmanager
def _editing(store: Store, staging_id: int) -> Iterator[_Edit]:
    """Open the transaction in which a staging is edited."""
    with store.writing() as (con, catalog), Steps(con) as steps:
        staging = row(catalog, "staging", staging_id)
        refuse_stale("staging", staging)
        stages = [
            _Stage(stage_id, shown_name, name, hyperstage_id, tuple(labels))
            for stage_id, shown_name, name, hyperstage_id, labels in steps.fetch(
                "stage_handle", staging_id=staging_id
            )
        ]
        yield _Edit(store, con, catalog, steps, staging, stages)


@dataclass(frozen=True)
class _Edit:
    """A staging that is edited, with its stages."""

    store: Store
    con: duckdb.DuckDBPyConnection
    catalog: sa.Connection
    steps: Steps
    staging: Mapping[str, Any]
    stages: list[_Stage]

    def find_stage(self, written: object) -> _Stage:
        """Return the stage that a name shown or given stands for."""
        if not isinstance(written, str):
            raise StagingError(
                f"the name of a stage must be a text, not {written!r}",
                hint="give the names of stages one by one, such as 'u3', 'u5'",
            )
        stages_of: dict[str, list[_Stage]] = {}
        for stage in self.stages:
            for text in (stage.shown_name, stage.name):
                if text:
                    stages_of.setdefault(text, []).append(stage)
        names = matching(written, stages_of)
        matches = list(dict.fromkeys(stage for name in names for stage in stages_of[name]))
        if len(matches) == 1:
            return matches[0]
        where = f"staging {self.staging['name']!r}"
        if matches:
            raise StagingError(
                f"{written!r} may be {listed(stage.title for stage in matches)} in {where}",
                hint="use the other name of the stage",
            )
        given = [stage.name for stage in self.stages if stage.name is not None]
        some_named = f", some of them named {listed(map(repr, given))}" if given else ""
        raise StagingError(
            f"{where} has no stage {written!r}",
            hint=did_you_mean(written, given)
            or f"its stages are u0 to u{len(self.stages) - 1}{some_named}; see the view "
            "cegdb.stages",
        )

    def refuse_different(self, stages: Sequence[_Stage]) -> None:
        """Refuse to join stages that differ in their labels or hyperstage."""
        first = stages[0]
        variable, question = self.variable_and_question(first)
        for other in stages[1:]:
            other_variable, other_question = self.variable_and_question(other)
            if sorted(other.labels) != sorted(first.labels):
                hint = SAME_LABELS if other_variable == variable else OTHER_VARIABLES
            elif other.hyperstage_id != first.hyperstage_id:
                hint = SAME_HYPERSTAGE
            else:
                continue
            raise StagingError(
                f"{first.title} and {other.title} cannot be joined: the situations of "
                f"{first.shown_name} are about {question}, those of {other.shown_name} about "
                f"{other_question}",
                hint=hint,
            )

    def begin(self) -> None:
        """Make ``recorded_member``, and ``changed_member`` without rows."""
        self.steps.run("recorded_member", staging_id=self.staging["staging_id"])
        self.steps.empty("changed_member", "vertex_id bigint, name varchar, shown_name varchar")

    def find_parts(self, stage: _Stage, groups: Sequence[Sequence[SituationPath]]) -> None:
        """Add the parts of a stage that a user named to ``changed_member``."""
        steps, tree_id = self.steps, self.staging["tree_id"]
        paths: list[list[SituationPath]] = []
        situations: list[tuple[int, int]] = []
        for part, group in enumerate(items_of(groups, "groups", StagingError, hint=_GROUPS), 1):
            paths.append([])
            for item in items_of(group, f"group {part} of groups", StagingError, hint=_GROUPS):
                match = _SITUATION.fullmatch(item) if isinstance(item, str) else None
                if match is None:
                    paths[-1].append(item)  # type: ignore[arg-type]
                else:
                    situations.append((part, int(match[1])))
        relabel_edges(steps, {"tree_id": tree_id})
        find_florets(steps, tree_id)
        GroupReader(steps, self.con, tree_id).find_path_situations(paths, "split")
        steps.run(
            "split_row",
            parts=[part for part, _ in situations],
            ranks=[rank for _, rank in situations],
            staging_id=self.staging["staging_id"],
            stage_id=stage.stage_id,
        )
        unknown = steps.fetch("split_unknown")
        if unknown:
            raise StagingError(
                f"the tree has no situation {listed(situation for (situation,) in unknown)}",
                hint="the view cegdb.situations lists them",
            )
        for (vertex_id,) in steps.fetch("split_outsider"):
            raise StagingError(
                f"situation {self.described(vertex_id)} is not in stage {stage.title}",
                hint="see staged.florets or the view cegdb.staged_florets for those that are",
            )
        steps.run("split_member")
        for (vertex_id,) in steps.fetch("split_overlap"):
            raise StagingError(
                f"situation {self.described(vertex_id)} is in two groups",
                hint="name each situation once",
            )

    def new_names(self, names: Mapping[str, str]) -> dict[int, str]:
        """Return the new name of each stage that is renamed; refuse one name for two stages."""
        new: dict[int, str] = {}
        for written, wanted in names.items():
            stage = self.find_stage(written)
            name = checked_name(wanted, f"the new name of stage {stage.title}")
            if _SHOWN_STAGE.fullmatch(name):
                raise StagingError(
                    f"stage {stage.title} cannot be named {name!r}",
                    hint="u0, u1, ... are the names shown by default: choose another kind of "
                    "name",
                )
            if stage.stage_id in new:
                raise StagingError(f"stage {stage.title} has two new names")
            new[stage.stage_id] = name
        named: dict[str, _Stage] = {}
        for stage in self.stages:
            final_name = new.get(stage.stage_id, stage.name)
            if final_name is None:
                continue
            if final_name in named:
                raise StagingError(
                    f"stages {named[final_name].title} and {stage.title} would both be named "
                    f"{final_name!r}",
                    hint="join them, or choose another name",
                )
            named[final_name] = stage
        return new

    def save(
        self,
        edit: Mapping[str, object],
        name: str | None,
        *,
        replace: bool,
        suffix: str = "",
        prior: Prior | None = None,
    ) -> int:
        """Make a staging with the stages in ``changed_member``, the others as they are.

        Without a ``prior`` it has that of the staging.
        """
        staging_id, settings = self.staging["staging_id"], self.staging["settings"]
        self.steps.run("edited_member", staging_id=staging_id)
        self.steps.run("edited_prior", staging_id=staging_id)
        former_name = str(self.staging["name"])
        own_name = self.claim_name(name, replace=replace, suffix=suffix)
        hyperstages = settings.get("hyperstages", "variable")
        if not isinstance(hyperstages, str):
            hyperstages = "select vertex_id, hyperstage_id from temp.recorded_member"
        if prior is None:
            prior = recorded_prior(settings.get("prior"), "select * from temp.edited_prior")
        options = recorded_options(self.staging, prior, hyperstages)
        members = MemberTable("temp.edited_member", {"edited": {**edit, "from": former_name}})
        return set_stages(self.store, self.staging["tree_id"], members, options, name=own_name)

    def claim_name(self, name: str | None, *, replace: bool, suffix: str = "") -> str:
        """Return the name of the new staging; with ``replace`` drop the one that has it."""
        default = f"{self.staging['name']}{suffix}"
        return claim_name(self.catalog, "staging", name, default, replace=replace)

    def variable_and_question(self, stage: _Stage) -> tuple[str, str]:
        """Return the variable of a stage, and the same with its labels."""
        situation = find_situation(self.steps, self.staging["tree_id"], stage.stage_id)
        return situation.variable, situation.question

    def described(self, vertex_id: int) -> str:
        """Return a situation in words."""
        return describe_situation(self.steps, self.staging["tree_id"], vertex_id)


def _renamed(settings: dict[str, Any], names: Mapping[str | None, str]) -> dict[str, Any]:
    """Return settings in which stages given or frozen by path have their new names."""
    for key in ("stages", "frozen"):
        recorded = settings.get(key)
        if (
            isinstance(recorded, dict)
            and "groups" in recorded
            and recorded.get("is_named", True)
        ):
            groups = {
                names.get(name, name): paths for name, paths in recorded["groups"].items()
            }
            settings[key] = {**recorded, "groups": groups}
    return settings
