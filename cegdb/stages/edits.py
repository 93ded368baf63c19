"""Edits of a staging: join, split and rename stages, as a new staging."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from cegdb.errors import StagingError, counted, items_of, listed
from cegdb.names import matching
from cegdb.sqlfiles import Steps
from cegdb.stages import set_stages
from cegdb.stages.groups import (
    SAME_HYPERSTAGE,
    SAME_LABELS,
    MemberTable,
    as_name,
    find_path_situations,
)
from cegdb.stages.recorded import recorded_options, recorded_prior
from cegdb.stages.relabel import relabel_edges
from cegdb.stages.situations import describe, find_florets
from cegdb.store.catalog import claim_name, copy_rows, new_id, refuse_stale, row, write
from cegdb.version import made_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    import sqlalchemy as sa

    from cegdb.stages.groups import SituationPath
    from cegdb.store import Store

__all__ = ["join_stages", "regroup_situations", "rename_stages", "split_stage"]

_SHOWN_STAGE: Final = re.compile(r"u[0-9]+")
_SITUATION: Final = re.compile(r"s(0|[1-9][0-9]{0,17})")
_GROUPS: Final = (
    "give a list of groups, each a list of situations ('s4') or paths (('High', 'Low'); one "
    "label alone is ('High',))"
)


class _Stage(NamedTuple):
    stage_id: int
    shown: str
    name: str | None
    hyperstage_id: int
    labels: list[str]

    @property
    def title(self) -> str:
        """What messages call it."""
        return self.shown if self.name is None else f"{self.shown} ({self.name!r})"


def join_stages(
    store: Store,
    staging_id: int,
    stages: Sequence[str],
    *,
    name: str | None = None,
    replace: bool = False,
) -> int:
    """Make a new staging in which some stages, by the names shown (u3) or given, are one.

    The joined stage has the first of their given names. The new staging has the alpha,
    priors, hyperstages and weighting of the old one, and the method ``"given"``.
    """
    with store.writing() as (con, catalog), Steps(con) as steps:
        staging = _staging(catalog, staging_id)
        known = _stages(steps, staging_id)
        chosen = list(dict.fromkeys(_find_stage(known, x, staging).stage_id for x in stages))
        joined = [stage for i in chosen for stage in known if stage.stage_id == i]
        if len(joined) < 2:
            raise StagingError(
                f"{counted(len(joined), 'stage')} to join: {listed(stages) or 'none'}",
                hint="name two stages or more, such as 'u3', 'u5'",
            )
        _refuse_different(steps, staging, joined)
        shown_name = next((stage.name for stage in joined if stage.name is not None), None)
        _begin(steps, staging_id)
        steps.run(
            "joined_member", staging_id=staging_id, stage_ids=chosen, shown_name=shown_name
        )
        edit = {"joined": [stage.shown for stage in joined]}
        return _save(store, catalog, steps, staging, edit, name, replace=replace)


def split_stage(
    store: Store,
    staging_id: int,
    stage: str,
    groups: Sequence[Sequence[SituationPath]] | None = None,
    *,
    name: str | None = None,
    replace: bool = False,
) -> int:
    """Make a new staging in which a stage, by the name shown (u3) or given, is several.

    ``groups`` are lists of situations (``"s4"``) and paths as in `set_stages`, of which those
    in the stage count. The remaining situations are one more part, which keeps the given
    name. Left out, each situation becomes its own stage.
    """
    with store.writing() as (con, catalog), Steps(con) as steps:
        staging = _staging(catalog, staging_id)
        split = _find_stage(_stages(steps, staging_id), stage, staging)
        which = {"staging_id": staging_id, "stage_id": split.stage_id}
        _begin(steps, staging_id)
        if groups is None:
            steps.run("separated_member", **which)
        else:
            _find_parts(steps, staging, split, groups)
        ((n_parts, n_named, n_situations),) = steps.fetch("split_size", **which)
        if n_parts + (n_named < n_situations) < 2:
            raise StagingError(
                f"this does not split stage {split.title} of "
                f"{counted(n_situations, 'situation')}",
                hint=_GROUPS,
            )
        edit = {"split": split.shown}
        return _save(store, catalog, steps, staging, edit, name, replace=replace)


def regroup_situations(
    store: Store,
    staging_id: int,
    kind: Literal["full", "indep"],
    *,
    name: str | None = None,
    replace: bool = False,
) -> int:
    """Make a new staging with a stage for each situation, or one for each hyperstage.

    By default its name is that of the old one, with ``-full`` or ``-indep``.
    """
    with store.writing() as (con, catalog), Steps(con) as steps:
        staging = _staging(catalog, staging_id)
        _begin(steps, staging_id)
        steps.run("regrouped_member", is_full=kind == "full")
        name = name if name is not None else f"{staging['name']}-{kind}"
        edit = {"regroup": kind}
        return _save(store, catalog, steps, staging, edit, name, replace=replace)


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
        raise StagingError(f"names is {names!r}", hint="give a mapping such as {'u3': 'frail'}")
    with store.writing() as (con, catalog), Steps(con) as steps:
        staging = _staging(catalog, staging_id)
        known = _stages(steps, staging_id)
        new = _new_names(known, names, staging)
        copy_id = new_id(catalog, "staging")
        copy_rows(catalog, "staging", staging_id, copy_id)
        # All at once: stage by stage, a name could for a moment be that of two.
        steps.execute(
            "update cegdb.stage set name = n.name "
            "from (select unnest($ids) as stage_id, unnest($names) as name) as n "
            "where staging_id = $staging_id and stage.stage_id = n.stage_id",
            {"ids": list(new), "names": list(new.values()), "staging_id": copy_id},
        )
        renamed = {stage.name: new[stage.stage_id] for stage in known if stage.stage_id in new}
        copied = {key: value for key, value in staging.items() if key != "is_stale"}
        own_name = claim_name(catalog, "staging", name, str(staging["name"]), replace=replace)
        write(
            catalog,
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


def _staging(catalog: sa.Connection, staging_id: int) -> dict[str, Any]:
    staging = row(catalog, "staging", staging_id)
    refuse_stale("staging", staging)
    return staging


def _stages(steps: Steps, staging_id: int) -> list[_Stage]:
    return [_Stage(*stage) for stage in steps.fetch("stage_handle", staging_id=staging_id)]


def _find_stage(known: Sequence[_Stage], written: object, staging: Mapping[str, Any]) -> _Stage:
    """Return the stage that a name shown or given stands for."""
    handles = [(text, stage) for stage in known for text in (stage.shown, stage.name) if text]
    wanted = written if isinstance(written, str) else ""
    meant = set(matching(wanted, (text for text, _ in handles)))
    fits = list({stage.stage_id: stage for text, stage in handles if text in meant}.values())
    if len(fits) == 1:
        return fits[0]
    where = f"staging {staging['name']!r}"
    if fits:
        raise StagingError(
            f"{written!r} may be {listed(stage.title for stage in fits)} in {where}",
            hint="use the other name of the stage",
        )
    names = [repr(stage.name) for stage in known if stage.name is not None]
    of_names = f", some of them named {listed(names)}" if names else ""
    raise StagingError(
        f"{where} has no stage {written!r}",
        hint=f"its stages are u0 to u{len(known) - 1}{of_names}; see the view cegdb.stages",
    )


def _refuse_different(
    steps: Steps, staging: Mapping[str, Any], stages: Sequence[_Stage]
) -> None:
    """Refuse to join stages that differ in their labels or hyperstage."""
    first = stages[0]
    for other in stages[1:]:
        if sorted(other.labels) != sorted(first.labels):
            hint = SAME_LABELS
        elif other.hyperstage_id != first.hyperstage_id:
            hint = SAME_HYPERSTAGE
        else:
            continue
        one, two = (
            f"{stage.title} with situation "
            f"{describe(steps, staging['tree_id'], stage.stage_id)}"
            for stage in (first, other)
        )
        raise StagingError(f"stages cannot be joined: {one} and {two}", hint=hint)


def _begin(steps: Steps, staging_id: int) -> None:
    """Make ``recorded_member``, and ``changed_member`` without rows."""
    steps.run("recorded_member", staging_id=staging_id)
    steps.empty("changed_member", "vertex_id bigint, name varchar, shown_name varchar")


def _find_parts(
    steps: Steps,
    staging: Mapping[str, Any],
    stage: _Stage,
    groups: Sequence[Sequence[SituationPath]],
) -> None:
    """Add the parts of a stage that a user named to ``changed_member``."""
    tree_id = staging["tree_id"]
    paths: list[list[SituationPath]] = []
    situations: list[tuple[int, int]] = []
    for part, group in enumerate(items_of(groups, "groups", StagingError, hint=_GROUPS), 1):
        paths.append([])
        for item in items_of(group, "a group of groups", StagingError, hint=_GROUPS):
            match = _SITUATION.fullmatch(item) if isinstance(item, str) else None
            if match is None:
                paths[-1].append(item)  # type: ignore[arg-type]
            else:
                situations.append((part, int(match[1])))
    relabel_edges(steps, {"tree_id": tree_id})
    find_florets(steps, tree_id)
    find_path_situations(steps, tree_id, paths, "split")
    steps.run(
        "split_row",
        parts=[part for part, _ in situations],
        ranks=[rank for _, rank in situations],
        staging_id=staging["staging_id"],
        stage_id=stage.stage_id,
    )
    unknown = steps.rows(
        "select situation from temp.split_row where vertex_id is null order by all limit 6"
    )
    if unknown:
        raise StagingError(
            f"the tree has no situation {listed(situation for (situation,) in unknown)}",
            hint="the view cegdb.situations lists them",
        )
    for (vertex_id,) in steps.fetch("split_outsider"):
        raise StagingError(
            f"situation {describe(steps, tree_id, vertex_id)} is not in stage {stage.title}",
            hint="see staged.florets or the view cegdb.staged_florets for those that are",
        )
    steps.run("split_member")
    twice = steps.rows(
        "select vertex_id from temp.changed_member group by vertex_id "
        "having count(*) > 1 order by 1 limit 1"
    )
    for (vertex_id,) in twice:
        raise StagingError(
            f"situation {describe(steps, tree_id, vertex_id)} is in two groups",
            hint="name each situation once",
        )


def _save(
    store: Store,
    catalog: sa.Connection,
    steps: Steps,
    staging: Mapping[str, Any],
    edit: Mapping[str, object],
    name: str | None,
    *,
    replace: bool,
) -> int:
    """Make a staging with the stages in ``changed_member``, the others as they are."""
    staging_id, settings = staging["staging_id"], staging["settings"]
    steps.run("edited_member", staging_id=staging_id)
    # A staging that is replaced is dropped, and its priors with it.
    steps.create(
        "edited_prior",
        "select vertex_id, label, prior from cegdb.prior_entry where staging_id = $staging_id",
        {"staging_id": staging_id},
    )
    former_name = str(staging["name"])
    own_name = claim_name(catalog, "staging", name, former_name, replace=replace)
    hyperstages = settings.get("hyperstages", "variable")
    if not isinstance(hyperstages, str):
        hyperstages = "select vertex_id, hyperstage_id from temp.recorded_member"
    options = recorded_options(
        staging,
        recorded_prior(settings.get("prior"), "select * from temp.edited_prior"),
        hyperstages,
    )
    members = MemberTable("temp.edited_member", {"edited": {**edit, "from": former_name}})
    return set_stages(store, staging["tree_id"], members, options, name=own_name)


def _new_names(
    known: Sequence[_Stage], names: Mapping[str, str], staging: Mapping[str, Any]
) -> dict[int, str]:
    new: dict[int, str] = {}
    for written, wanted in names.items():
        stage = _find_stage(known, written, staging)
        text = as_name(wanted, f"the new name of stage {stage.title}")
        if _SHOWN_STAGE.fullmatch(text):
            raise StagingError(
                f"stage {stage.title} cannot be named {text!r}",
                hint="u0, u1, ... are the names shown by default: choose another kind of name",
            )
        if stage.stage_id in new:
            raise StagingError(f"stage {stage.title} has two new names")
        new[stage.stage_id] = text
    after: dict[str, _Stage] = {}
    for stage in known:
        text = new.get(stage.stage_id, stage.name or "")
        if text in after:
            raise StagingError(
                f"stages {after[text].title} and {stage.title} would both be named {text!r}",
                hint="join them, or choose another name",
            )
        if text:
            after[text] = stage
    return new


def _renamed(settings: dict[str, Any], names: Mapping[str | None, str]) -> dict[str, Any]:
    """Return settings in which stages given or frozen by path have their new names."""
    for key in ("stages", "frozen"):
        given = settings.get(key)
        if isinstance(given, dict) and "groups" in given and given.get("is_named", True):
            groups = {names.get(name, name): paths for name, paths in given["groups"].items()}
            settings[key] = {**given, "groups": groups}
    return settings
