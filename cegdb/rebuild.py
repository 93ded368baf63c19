"""Rebuild: make stale trees, stagings and CEGs again of the rows that surveys have now."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

import sqlalchemy as sa

from cegdb.ceg import remake_ceg
from cegdb.errors import (
    QueryError,
    StagingError,
    StaleError,
    SurveyError,
    TreeError,
    is_one_of,
)
from cegdb.evidence import from_json, positions_of, with_positions
from cegdb.inference.conditioned_ceg import remake_conditioned
from cegdb.sqlfiles import Steps
from cegdb.stages import remake_stages
from cegdb.store import schema
from cegdb.store.catalog import Kind, drop_superseded, find, row, write
from cegdb.tree import remake_tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cegdb.evidence import Evidence
    from cegdb.store import Store

__all__ = ["Rebuilt", "Stages", "rebuild"]

Stages: TypeAlias = Literal["keep", "relearn"]


class Rebuilt(NamedTuple):
    """An object that was made again; its id and name stayed."""

    kind: Kind
    object_id: int
    name: str


def rebuild(
    store: Store, survey: str | None = None, *, stages: Stages = "keep"
) -> list[Rebuilt]:
    """Make every stale tree, and the stagings and CEGs on it, again with its settings.

    Parameters
    ----------
    store
        Where they are; all is done in one transaction, or nothing.
    survey
        Whose trees; left out, all stale ones.
    stages
        ``"keep"``: situations that were there before stay in their stage, whose
        probabilities are estimated anew; where the label sets of some of them changed, those
        with the same one stay together. New situations are their own stage.
        ``"relearn"``: stages that were learnt are learnt again.
        Stages given by hand hold in both cases, for new situations that their paths fit too.

    Returns
    -------
    list of Rebuilt
        What was made again, trees before their stagings before their CEGs, and these
        before those given evidence: the same evidence of the CEG as it is now. The view
        ``cegdb.drift`` tells for each stage what became of its probabilities.

    Raises
    ------
    StaleError
        An object cannot be made again of the rows there are; the message names it.
    UnknownNameError
        There is no survey of that name.

    Notes
    -----
    Ids of situations, stages and positions are ranks, so they stay where nothing came
    before them; ``former_stage`` in ``cegdb.drift`` has the former name of a stage. A
    situation is the same if the same answers to the same variables lead to it and it asks the
    same. A position that evidence names is the one that its former situations are in now.

    Examples
    --------
    >>> from cegdb.ingest import ingest, refresh
    >>> from cegdb.store import Store
    >>> from cegdb.tree import event_tree
    >>> with Store.open() as store:
    ...     survey_id = ingest(store, "select 'yes' as a", name="one")
    ...     _ = event_tree(store, survey_id)
    ...     refresh(store, survey_id, "select 'no' as a")
    ...     [(made.kind, made.name) for made in rebuild(store)]
    [('tree', 'one')]
    """
    if not is_one_of(stages, get_args(Stages)):
        raise StaleError(f"stages is {stages!r}", hint="choose keep or relearn")
    with store.writing() as (con, catalog):
        made: list[Rebuilt] = []
        stale = _stale_trees(catalog, survey)
        with store.counting(_n_built(catalog, stale), "object") as progress:
            for tree, former_survey_id in stale:
                with Steps(con) as steps:
                    for one in _remade(
                        store, steps, catalog, tree, former_survey_id, keeps=stages == "keep"
                    ):
                        made.append(one)
                        progress.read()
        drop_superseded(catalog)
    return made


def _stale_trees(catalog: sa.Connection, survey: str | None) -> list[tuple[Rebuilt, int]]:
    tree, former = schema.event_tree.c, schema.survey.c
    query = (
        sa.select(tree.tree_id, tree.name, tree.survey_id)
        .join(schema.survey, tree.survey_id == former.survey_id)
        .where(former.superseded_by.is_not(None))
        .order_by(tree.tree_id)
    )
    if survey is not None:
        query = query.where(former.superseded_by == find(catalog, "survey", survey))
    return [
        (Rebuilt("tree", tree_id, name), survey_id)
        for tree_id, name, survey_id in catalog.execute(query)
    ]


def _remade(
    store: Store,
    steps: Steps,
    catalog: sa.Connection,
    tree: Rebuilt,
    former_survey_id: int,
    *,
    keeps: bool,
) -> Iterator[Rebuilt]:
    """Make one tree again, and all that is built on it; give each as it is made."""
    steps.run("former_vertex", tree_id=tree.object_id)
    steps.run("former_edge", tree_id=tree.object_id)
    with _told(tree):
        remake_tree(store, tree.object_id)
    yield tree
    of_tree = schema.staging.c.tree_id == tree.object_id
    stagings = _built("staging", schema.staging, schema.staging.c.staging_id, of_tree, catalog)
    if stagings:
        _match(steps, tree.object_id)
    for staging in stagings:
        staging_id = staging.object_id
        steps.run("former_stage", staging_id=staging_id)
        steps.run("former_member", staging_id=staging_id)
        steps.run("former_probability", staging_id=staging_id, survey_id=former_survey_id)
        steps.run("kept_situation", tree_id=tree.object_id)
        steps.run("kept_prior", staging_id=staging_id, tree_id=tree.object_id)
        with _told(staging):
            remake_stages(store, staging_id, keeps=keeps)
        steps.run("moved_stage", staging_id=staging_id)
        _summarise(steps, catalog, staging_id, keeps=keeps)
        yield staging
        of_staging = schema.ceg.c.staging_id == staging_id
        for ceg in _built("ceg", schema.ceg, schema.ceg.c.ceg_id, of_staging, catalog):
            yield from _remade_cegs(store, steps, catalog, ceg, None)


def _remade_cegs(
    store: Store,
    steps: Steps,
    catalog: sa.Connection,
    ceg: Rebuilt,
    evidence: Evidence | None,
) -> Iterator[Rebuilt]:
    """Make a CEG again, by its evidence if given, and those conditioned from it."""
    of_parent = schema.ceg.c.parent_ceg_id == ceg.object_id
    given = _built("ceg", schema.ceg, schema.ceg.c.ceg_id, of_parent, catalog)
    known = [from_json(row(catalog, "ceg", one.object_id)["evidence"]) for one in given]
    if any(positions_of(one) for one in known):
        steps.run("former_position", ceg_id=ceg.object_id)
    if evidence is None:
        remake_ceg(store, ceg.object_id)
    else:
        with _told(ceg):
            remake_conditioned(store, ceg.object_id, evidence)
    yield ceg
    renamed = []
    for one, evidence in zip(given, known, strict=True):
        with _told(one):
            renamed.append(_named_anew(steps, ceg, evidence))
    for one, evidence in zip(given, renamed, strict=True):
        yield from _remade_cegs(store, steps, catalog, one, evidence)


def _named_anew(steps: Steps, ceg: Rebuilt, evidence: Evidence) -> Evidence:
    """Return evidence with the positions it names as they are called now.

    A position is now the one that its former situations are in.
    """
    if not positions_of(evidence):
        return evidence
    names: dict[str | int, str | int] = {}
    for former, former_id, least, least_id, most_id in steps.fetch(
        "moved_position", ceg_id=ceg.object_id
    ):
        if least_id is not None and least_id == most_id:
            names |= {former: least, former_id: least_id}
    for position in positions_of(evidence) - set(names):
        raise QueryError(
            f"its evidence names position {position} of CEG {ceg.name!r}, whose situations are "
            "in no single position any more",
            hint="condition anew",
        )
    return with_positions(evidence, names)


def _n_built(catalog: sa.Connection, stale: Sequence[tuple[Rebuilt, int]]) -> int:
    """Return how many objects there are to be made again, trees included."""
    trees = [tree.object_id for tree, _ in stale]
    staged = sa.select(schema.staging.c.staging_id).where(schema.staging.c.tree_id.in_(trees))
    shown = sa.func.coalesce(schema.ceg.c.staging_id, schema.ceg.c.root_staging_id)
    on_them = sa.select(schema.ceg.c.ceg_id).where(shown.in_(staged))
    return sum(len(catalog.execute(query).all()) for query in (staged, on_them)) + len(trees)


def _match(steps: Steps, tree_id: int) -> None:
    """Make ``same_vertex``: which situation of the tree each former one is."""
    steps.create(
        "same_vertex", "select cast(0 as bigint) as former_id, cast(0 as bigint) as vertex_id"
    )
    depths = steps.rows(
        "select min(vertex_id), max(vertex_id) from temp.former_vertex group by depth "
        "order by depth"
    )
    for low, high in depths:
        steps.run("same_vertex", tree_id=tree_id, low=low, high=high)


def _summarise(steps: Steps, catalog: sa.Connection, staging_id: int, *, keeps: bool) -> None:
    """Tell in the summary of a staging what became of it."""
    ((n_apart, n_stages, n_new, n_gone),) = steps.fetch("drift_size", staging_id=staging_id)
    drift = {
        "keeps": keeps,
        "apart": n_apart,
        "stages": n_stages,
        "situations_new": n_new,
        "situations_gone": n_gone,
    }
    summary = {**row(catalog, "staging", staging_id)["summary"], "drift": drift}
    write(catalog, "staging", {"staging_id": staging_id, "summary": summary}, again=True)


def _built(
    kind: Kind,
    table: sa.TableClause,
    key: sa.ColumnElement[int],
    of_parent: sa.ColumnElement[bool],
    catalog: sa.Connection,
) -> list[Rebuilt]:
    """Return the objects of a kind that are built on another."""
    query = sa.select(key, table.c.name).where(of_parent).order_by(key)
    return [Rebuilt(kind, object_id, name) for object_id, name in catalog.execute(query)]


@contextmanager
def _told(one: Rebuilt) -> Iterator[None]:
    """Name the object that cannot be made again."""
    try:
        yield
    except (TreeError, StagingError, SurveyError, QueryError) as error:
        raise StaleError(
            f"{one.kind} {one.name!r} cannot be made again: {error.args[0]}",
            hint=f"{error.hint + '; or ' if error.hint else ''}drop it (cegdb drop DB "
            f"NAME --kind {one.kind}) and rebuild the others",
        ) from error
