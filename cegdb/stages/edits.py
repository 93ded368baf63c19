"""Edits of a staging: join, split and rename stages, as a new staging."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from cegdb.errors import StagingError, counted, items_of, listed
from cegdb.names import matching
from cegdb.options import StageOptions
from cegdb.sqlfiles import Steps
from cegdb.stages import set_stages, situation_names
from cegdb.stages.priors import again
from cegdb.stages.relabel import give_labels, relabelled
from cegdb.stages.situation_names import name_of
from cegdb.stages.situation_paths import OF_HYPERSTAGES, OF_LABELS, ROOT, words
from cegdb.store.catalog import claim_name, copy_rows, new_id, refuse_stale, row, write
from cegdb.version import made_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    import sqlalchemy as sa

    from cegdb.stages.situation_names import SituationPath
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
    def called(self) -> str:
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
    """Make a new staging in which some stages are one.

    Parameters
    ----------
    store, staging_id
        The staging; its alpha, hyperstages and weighting are kept.
    stages
        Two or more, by the names shown (u3) or given. Of given names the first is kept.
    name
        Of the new staging; left out, that of the staging it comes from.
    replace
        Drop a staging of that name first (the one it comes from, too), with everything
        built on it.

    Returns
    -------
    int
        ``staging_id`` of the new one, of method ``"given"``.

    Raises
    ------
    StagingError
        There is no such stage, or they differ in their labels or hyperstages; the message
        names a situation of each.

    Examples
    --------
    >>> import cegdb
    >>> with cegdb.open() as db:
    ...     survey = db.ingest("select i % 2 as x, i % 4 < 2 as y from range(8) t(i)")
    ...     staged = survey.event_tree().set_stages({})
    ...     joined = staged.join("u1", "u2")
    ...     len(staged.stages), len(joined.stages)
    (3, 2)
    """
    with store.writing() as (con, catalog), Steps(con) as steps:
        staging = _staging(catalog, staging_id)
        known = _known(steps, staging_id)
        found = {one.stage_id: one for one in (_found(known, x, staging) for x in stages)}
        chosen = list(found.values())
        if len(chosen) < 2:
            raise StagingError(
                f"{counted(len(chosen), 'stage')} to join: {listed(stages) or 'none'}",
                hint="name two stages or more, such as 'u3', 'u5'",
            )
        _refuse_other_labels(steps, staging, chosen)
        called = next((stage.name for stage in chosen if stage.name is not None), None)
        steps.create(
            "changed_member",
            "select vertex_id, 'joined' as name, cast($called as varchar) as called "
            "from cegdb.stage_member where staging_id = $staging_id "
            "and list_contains($stages, stage_id)",
            {
                "called": called,
                "staging_id": staging_id,
                "stages": [stage.stage_id for stage in chosen],
            },
        )
        told = {"joined": [stage.shown for stage in chosen]}
        return _edited(store, catalog, steps, staging, told, name, replace=replace)


def split_stage(
    store: Store,
    staging_id: int,
    stage: str,
    groups: Sequence[Sequence[SituationPath]] | None = None,
    *,
    name: str | None = None,
    replace: bool = False,
) -> int:
    """Make a new staging in which a stage is several.

    Parameters
    ----------
    store, staging_id, name, replace
        As in `join_stages`.
    stage
        The one to split, by the name shown (u3) or given.
    groups
        Its parts: lists of situations (``"s4"``) and paths as in `set_stages`, of which
        those in the stage count. What is in none is one more part, which keeps the given
        name. Left out, each situation becomes its own stage.

    Returns
    -------
    int
        ``staging_id`` of the new one, of method ``"given"``.

    Raises
    ------
    StagingError
        There is no such stage or situation, a situation is not in the stage or in two
        groups, or nothing would be split.

    Examples
    --------
    >>> import cegdb
    >>> with cegdb.open() as db:
    ...     survey = db.ingest("select i % 2 as x, i % 4 < 2 as y from range(8) t(i)")
    ...     staged = survey.event_tree().set_stages({"0": "same", "1": "same"})
    ...     parts = staged.split("same", [["s2"]])
    ...     parts.stages["name"].fillna("").tolist()
    ['', 'same', '']
    """
    with store.writing() as (con, catalog), Steps(con) as steps:
        staging = _staging(catalog, staging_id)
        whole = _found(_known(steps, staging_id), stage, staging)
        if groups is None:
            steps.create(
                "changed_member",
                "select vertex_id, 'part ' || vertex_id as name, cast(null as varchar) "
                "as called from cegdb.stage_member "
                "where staging_id = $staging_id and stage_id = $stage_id",
                {"staging_id": staging_id, "stage_id": whole.stage_id},
            )
        else:
            _part(steps, staging, whole, groups)
        ((n_parts, n_named, n_all),) = steps.rows(
            "select count(distinct c.name), count(c.name), count(*) "
            "from cegdb.stage_member as m left join temp.changed_member as c "
            "on m.vertex_id = c.vertex_id "
            "where m.staging_id = $staging_id and m.stage_id = $stage_id",
            {"staging_id": staging_id, "stage_id": whole.stage_id},
        )
        if n_parts + (n_named < n_all) < 2:
            raise StagingError(
                f"stage {whole.called} of {counted(n_all, 'situation')} is not split by that",
                hint=_GROUPS,
            )
        told = {"split": whole.shown}
        return _edited(store, catalog, steps, staging, told, name, replace=replace)


def regroup_situations(
    store: Store,
    staging_id: int,
    kind: Literal["full", "indep"],
    *,
    name: str | None = None,
    replace: bool = False,
) -> int:
    """Make a new staging with a stage for each situation, or one for each hyperstage.

    Its alpha, priors, hyperstages and weighting are those of the staging. By default it is
    called like that, with ``-full`` or ``-indep``.

    Examples
    --------
    >>> import cegdb
    >>> with cegdb.open() as db:
    ...     survey = db.ingest("select i % 2 as x, i % 4 < 2 as y from range(8) t(i)")
    ...     staged = survey.event_tree().learn_stages()
    ...     len(staged.full().stages), len(staged.indep().stages)
    (3, 2)
    """
    with store.writing() as (con, catalog), Steps(con) as steps:
        staging = _staging(catalog, staging_id)
        stage_of = "m.vertex_id" if kind == "full" else "s.hyperstage_id"
        steps.create(
            "changed_member",
            f"select m.vertex_id, cast({stage_of} as varchar) as name, "  # noqa: S608
            "cast(null as varchar) as called from cegdb.stage_member as m inner join "
            "cegdb.stage as s on m.staging_id = s.staging_id and m.stage_id = s.stage_id "
            "where m.staging_id = $staging_id",
            {"staging_id": staging_id},
        )
        made_as = name if name is not None else f"{staging['name']}-{kind}"
        return _edited(
            store, catalog, steps, staging, {"regroup": kind}, made_as, replace=replace
        )


def rename_stages(
    store: Store,
    staging_id: int,
    names: Mapping[str, str],
    *,
    name: str | None = None,
    replace: bool = False,
) -> int:
    """Make a new staging that is the same but for the names of stages.

    Parameters
    ----------
    store, staging_id, name, replace
        As in `join_stages`.
    names
        Stage, by the name shown (u3) or given -> its new name.

    Returns
    -------
    int
        ``staging_id`` of the new one; its method, kinds of stages and settings stay.

    Raises
    ------
    StagingError
        There is no such stage; a name is blank, that of another stage, or like one shown.

    Examples
    --------
    >>> import cegdb
    >>> with cegdb.open() as db:
    ...     survey = db.ingest("select i % 2 as x, i % 4 < 2 as y from range(8) t(i)")
    ...     staged = survey.event_tree().learn_stages().rename({"u1": "frail"})
    ...     staged.stages[["name", "kind"]].fillna("").to_numpy().tolist()
    [['', 'learnt'], ['frail', 'learnt']]
    """
    if not names or not isinstance(names, Mapping):
        raise StagingError(f"names to give are {names!r}", hint="such as {'u3': 'frail'}")
    with store.writing() as (con, catalog), Steps(con) as steps:
        staging = _staging(catalog, staging_id)
        known = _known(steps, staging_id)
        new = _new_names(known, names, staging)
        made = new_id(catalog, "staging")
        copy_rows(catalog, "staging", staging_id, made)
        # Not by stage after stage: a name is then never that of two.
        steps.create(
            "new_name",
            "select unnest(cast($ids as bigint[])) as stage_id, unnest($names) as name",
            {"ids": list(new), "names": list(new.values())},
        )
        steps.execute(
            "update cegdb.stage set name = n.name from temp.new_name as n "
            "where staging_id = $staging_id and stage.stage_id = n.stage_id",
            {"staging_id": made},
        )
        before = str(staging["name"])
        claimed = claim_name(catalog, "staging", name, before, replace=replace)
        told = {stage.name: new[stage.stage_id] for stage in known if stage.stage_id in new}
        settings = _renamed(dict(staging["settings"]), told)
        kept = {key: value for key, value in staging.items() if key != "is_stale"}
        write(
            catalog,
            "staging",
            {
                **kept,
                **made_by(float(staging["seconds"])),
                "staging_id": made,
                "name": claimed,
                "settings": settings,
            },
        )
        return made


def _staging(catalog: sa.Connection, staging_id: int) -> dict[str, Any]:
    staging = row(catalog, "staging", staging_id)
    refuse_stale("staging", staging)
    return staging


def _known(steps: Steps, staging_id: int) -> list[_Stage]:
    return [_Stage(*found) for found in steps.fetch("stage_handle", staging_id=staging_id)]


def _found(known: Sequence[_Stage], asked: object, staging: Mapping[str, Any]) -> _Stage:
    """Return the stage that a name shown or given stands for."""
    handles = [(text, stage) for stage in known for text in (stage.shown, stage.name) if text]
    wanted = asked if isinstance(asked, str) else ""
    meant = set(matching(wanted, (text for text, _ in handles)))
    fits = list({stage.stage_id: stage for text, stage in handles if text in meant}.values())
    if len(fits) == 1:
        return fits[0]
    where = f"staging {staging['name']!r}"
    if fits:
        raise StagingError(
            f"{asked!r} may be {listed(stage.called for stage in fits)} in {where}",
            hint="use the other name of the stage",
        )
    names = [repr(stage.name) for stage in known if stage.name is not None]
    of_names = f", some of them called {listed(names)}" if names else ""
    raise StagingError(
        f"{where} has no stage {asked!r}",
        hint=f"its stages are u0 to u{len(known) - 1}{of_names}; see the view cegdb.stages",
    )


def _refuse_other_labels(
    steps: Steps, staging: Mapping[str, Any], chosen: Sequence[_Stage]
) -> None:
    first = chosen[0]
    for hint, differs in (
        (OF_LABELS, lambda other: sorted(other.labels) != sorted(first.labels)),
        (OF_HYPERSTAGES, lambda other: other.hyperstage_id != first.hyperstage_id),
    ):
        for other in filter(differs, chosen[1:]):
            one, two = (
                f"{stage.called} with situation "
                f"{words(steps, staging['tree_id'], stage.stage_id)}"
                for stage in (first, other)
            )
            raise StagingError(f"stages cannot be joined: {one} and {two}", hint=hint)


def _part(
    steps: Steps,
    staging: Mapping[str, Any],
    whole: _Stage,
    groups: Sequence[Sequence[SituationPath]],
) -> None:
    """Make ``changed_member`` of the parts of a stage that are asked for."""
    tree_id, staging_id = staging["tree_id"], staging["staging_id"]
    paths: list[list[SituationPath]] = []
    shown: list[tuple[int, int]] = []
    for place, group in enumerate(items_of(groups, "groups", StagingError, hint=_GROUPS)):
        paths.append([])
        for item in items_of(group, "a group of groups", StagingError, hint=_GROUPS):
            match = _SITUATION.fullmatch(item) if isinstance(item, str) else None
            if match is None:
                paths[-1].append(item)  # type: ignore[arg-type]
            else:
                shown.append((place + 1, int(match[1])))
    give_labels(steps, {"tree_id": tree_id}, [], None)
    steps.run("situation_edge", tree_id=tree_id)
    steps.run("floret")
    steps.create("situation_path", ROOT)
    situation_names.find_paths(steps, tree_id, paths, "split")
    steps.create(
        "split_row",
        "select cast(group_id as varchar) as name, s.vertex_id, 's' || place as written, "
        "cast(null as bigint) as path_id from (select unnest(cast($groups as bigint[])) "
        "as group_id, unnest(cast($places as bigint[])) as place) as g "
        "left join (select vertex_id, row_number() over (order by vertex_id) - 1 as place "
        "from temp.floret) as s using (place) "
        "union all select name, vertex_id, null, path_id from temp.named_situation",
        {"groups": [group for group, _ in shown], "places": [place for _, place in shown]},
    )
    unknown = steps.rows(
        "select written from temp.split_row where vertex_id is null order by all limit 6"
    )
    if unknown:
        raise StagingError(
            f"the tree has no situation {listed(one for (one,) in unknown)}",
            hint="the view cegdb.situations lists them",
        )
    within = (
        "select vertex_id from cegdb.stage_member "  # noqa: S608
        f"where staging_id = {int(staging_id)} and stage_id = {whole.stage_id}"
    )
    # A path with wildcards may fit others too; one that fits none of the stage is an error.
    outside = steps.rows(
        "select min(vertex_id) from temp.split_row group by name, path_id, written "  # noqa: S608
        f"having count(*) filter (where vertex_id in ({within})) = 0 order by 1 limit 1"
    )
    for (vertex_id,) in outside:
        raise StagingError(
            f"situation {words(steps, tree_id, vertex_id)} is not in stage {whole.called}",
            hint="see staged.florets or the view cegdb.staged_florets for those that are",
        )
    steps.create(
        "changed_member",
        "select distinct vertex_id, 'part ' || name as name, cast(null as varchar) as called "  # noqa: S608
        f"from temp.split_row where vertex_id in ({within})",
    )
    twice = steps.rows(
        "select vertex_id from temp.changed_member group by vertex_id "
        "having count(*) > 1 order by 1 limit 1"
    )
    for (vertex_id,) in twice:
        raise StagingError(
            f"situation {words(steps, tree_id, vertex_id)} is in two groups",
            hint="name each situation once",
        )


def _edited(
    store: Store,
    catalog: sa.Connection,
    steps: Steps,
    staging: Mapping[str, Any],
    told: Mapping[str, object],
    name: str | None,
    *,
    replace: bool,
) -> int:
    """Make the staging that ``changed_member`` says."""
    staging_id = staging["staging_id"]
    steps.run("edited_member", staging_id=staging_id)
    steps.create(
        "edited_hyperstage",
        "select m.vertex_id, s.hyperstage_id from cegdb.stage_member as m "
        "inner join cegdb.stage as s on m.staging_id = s.staging_id "
        "and m.stage_id = s.stage_id where m.staging_id = $staging_id",
        {"staging_id": staging_id},
    )
    steps.create(
        "edited_prior",
        "select vertex_id, label, prior from cegdb.prior_entry where staging_id = $staging_id",
        {"staging_id": staging_id},
    )
    settings = staging["settings"]
    before = str(staging["name"])
    claimed = claim_name(catalog, "staging", name, before, replace=replace)
    hyperstages = settings.get("hyperstages", "variable")
    options = StageOptions(
        alpha=staging["alpha"],
        prior=again(settings.get("prior"), "select * from temp.edited_prior"),
        hyperstages=(
            hyperstages
            if isinstance(hyperstages, str)
            else "select vertex_id, hyperstage_id from temp.edited_hyperstage"
        ),
        relabel=relabelled(settings),
        single_edges=settings.get("single_edges", "together"),
        smoothing=float(settings.get("smoothing", 0)),
        weighting=settings.get("weighting", "situation"),
        deff=settings.get("deff") if settings.get("deff_is_given") else None,
    )
    members = situation_names.Members(
        "select vertex_id, name, called from temp.edited_member",
        {"edited": {**told, "from": before}},
    )
    return set_stages(store, staging["tree_id"], members, options, name=claimed)


def _new_names(
    known: Sequence[_Stage], names: Mapping[str, str], staging: Mapping[str, Any]
) -> dict[int, str]:
    new: dict[int, str] = {}
    for asked, wanted in names.items():
        stage = _found(known, asked, staging)
        text = name_of(wanted, f"the new name of stage {stage.called}")
        if _SHOWN_STAGE.fullmatch(text):
            raise StagingError(
                f"stage {stage.called} cannot be called {text!r}",
                hint="stages are shown as u0, u1, ...: choose a name unlike these",
            )
        if stage.stage_id in new:
            raise StagingError(f"stage {stage.called} is given two names")
        new[stage.stage_id] = text
    after: dict[str, _Stage] = {}
    for stage in known:
        text = new.get(stage.stage_id, stage.name or "")
        if text in after:
            raise StagingError(
                f"stages {after[text].called} and {stage.called} would both be called {text!r}",
                hint="join them, or choose another name",
            )
        if text:
            after[text] = stage
    return new


def _renamed(settings: dict[str, Any], told: Mapping[str | None, str]) -> dict[str, Any]:
    """Return settings in which stages given or frozen by path have their new names."""
    for what in ("stages", "frozen"):
        said = settings.get(what)
        if isinstance(said, dict) and "groups" in said and said.get("is_named", True):
            groups = {told.get(name, name): paths for name, paths in said["groups"].items()}
            settings[what] = {**said, "groups": groups}
    return settings
