"""Rebuild stale trees, stagings and CEGs from the current rows of their surveys."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, get_args

import sqlalchemy as sa

from cegdb.ceg import rebuild_ceg
from cegdb.errors import (
    QueryError,
    StagingError,
    StaleError,
    SurveyError,
    TreeError,
)
from cegdb.evidence import from_json, positions_of, with_positions
from cegdb.inference.conditioned_ceg import rebuild_conditioned
from cegdb.options import Kind, RebuildOptions, RebuildRule, check_choice
from cegdb.sqlfiles import Steps
from cegdb.stages import rebuild_stages
from cegdb.store import schema
from cegdb.store.catalog import KIND_WORDS, drop_superseded, find, row, write
from cegdb.tree import rebuild_tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cegdb.evidence import Evidence
    from cegdb.store import Store

__all__ = ["Rebuilt", "rebuild"]


class Rebuilt(NamedTuple):
    """An object that was rebuilt; its id and name stay the same."""

    kind: Kind
    object_id: int
    name: str


def rebuild(
    store: Store, survey: str | None = None, *, stages: RebuildRule = RebuildOptions.stages
) -> list[Rebuilt]:
    """Make every stale tree, and its stagings and CEGs, again with the same settings.

    This is one transaction: all objects are rebuilt, or none. Situations that existed before
    (the same answers to the same variables lead to them, and they have the same variable) stay
    in their stage; if their label sets have changed, those with the same set stay together. A
    new situation is its own stage, or joins its configuration where stages were learnt with
    ``max_parents``. With ``"relearn"``, learnt stages are learnt again instead.
    Stages given by hand also hold for new situations that match their paths. A CEG given
    evidence is conditioned on it again; a position in evidence is replaced by the one in which
    its former situations are now.

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
    check_choice("stages", stages, get_args(RebuildRule), StaleError)
    with store.writing() as (con, catalog):
        objects: list[Rebuilt] = []
        stale = _stale_trees(catalog, survey)
        with store.counting(_count_objects(catalog, stale), "object") as progress:
            for tree, former_survey_id in stale:
                with Steps(con) as steps:
                    rebuilt = _rebuild_tree(
                        store, steps, catalog, tree, former_survey_id, keeps=stages == "keep"
                    )
                    for rebuilt_object in rebuilt:
                        objects.append(rebuilt_object)
                        progress.read()
        drop_superseded(catalog)
    return objects


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


def _rebuild_tree(
    store: Store,
    steps: Steps,
    catalog: sa.Connection,
    tree: Rebuilt,
    former_survey_id: int,
    *,
    keeps: bool,
) -> Iterator[Rebuilt]:
    """Make one tree again, and all that is built on it; yield each object when it is made."""
    steps.run("former_vertex", tree_id=tree.object_id)
    steps.run("former_edge", tree_id=tree.object_id)
    with _named_in_errors(tree):
        rebuild_tree(store, tree.object_id)
    yield tree
    of_tree = schema.staging.c.tree_id == tree.object_id
    stagings = _children(
        "staging", schema.staging, schema.staging.c.staging_id, of_tree, catalog
    )
    if stagings:
        _match_situations(steps, tree.object_id)
    for staging in stagings:
        staging_id = staging.object_id
        steps.run("former_stage", staging_id=staging_id)
        steps.run("former_parent_set", staging=staging.name)
        steps.run("former_member", staging_id=staging_id)
        steps.run("former_probability", staging_id=staging_id, survey_id=former_survey_id)
        steps.run("remaining_situation", tree_id=tree.object_id)
        steps.run("remaining_member")
        steps.run("remaining_prior", staging_id=staging_id, tree_id=tree.object_id)
        with _named_in_errors(staging):
            rebuild_stages(store, staging_id, keeps=keeps)
        steps.run("stage_change", staging_id=staging_id)
        _record_drift(steps, catalog, staging_id, keeps=keeps)
        yield staging
        of_staging = schema.ceg.c.staging_id == staging_id
        for ceg in _children("ceg", schema.ceg, schema.ceg.c.ceg_id, of_staging, catalog):
            yield from _rebuild_cegs(store, steps, catalog, ceg, None)


def _rebuild_cegs(
    store: Store,
    steps: Steps,
    catalog: sa.Connection,
    ceg: Rebuilt,
    evidence: Evidence | None,
) -> Iterator[Rebuilt]:
    """Make a CEG again, with its evidence if it has any, and the CEGs conditioned from it."""
    of_parent = schema.ceg.c.parent_ceg_id == ceg.object_id
    conditioned = _children("ceg", schema.ceg, schema.ceg.c.ceg_id, of_parent, catalog)
    former = [from_json(row(catalog, "ceg", one.object_id)["evidence"]) for one in conditioned]
    if any(positions_of(one) for one in former):
        steps.run("former_position", ceg_id=ceg.object_id)
    if evidence is None:
        rebuild_ceg(store, ceg.object_id)
    else:
        with _named_in_errors(ceg):
            rebuild_conditioned(store, ceg.object_id, evidence)
    yield ceg
    # For all of them before the next CEG is made, which replaces ``former_position``.
    current = []
    for one, evidence in zip(conditioned, former, strict=True):
        with _named_in_errors(one):
            current.append(_current_evidence(steps, ceg, evidence))
    for one, evidence in zip(conditioned, current, strict=True):
        yield from _rebuild_cegs(store, steps, catalog, one, evidence)


def _current_evidence(steps: Steps, ceg: Rebuilt, evidence: Evidence) -> Evidence:
    """Replace positions in evidence by those in which their former situations are now."""
    if not positions_of(evidence):
        return evidence
    names: dict[str | int, str | int] = {}
    for former, former_id, least, least_id, most_id in steps.fetch(
        "current_position", ceg_id=ceg.object_id
    ):
        if least_id is not None and least_id == most_id:
            names |= {former: least, former_id: least_id}
    for position in positions_of(evidence) - set(names):
        raise QueryError(
            f"its evidence names position {position} of CEG {ceg.name!r}, whose situations are "
            "no longer in one position",
            hint="condition the CEG again",
        )
    return with_positions(evidence, names)


def _count_objects(catalog: sa.Connection, stale: Sequence[tuple[Rebuilt, int]]) -> int:
    """Return the number of objects to rebuild, trees included."""
    trees = [tree.object_id for tree, _ in stale]
    staged = sa.select(schema.staging.c.staging_id).where(schema.staging.c.tree_id.in_(trees))
    shown = sa.func.coalesce(schema.ceg.c.staging_id, schema.ceg.c.root_staging_id)
    on_them = sa.select(schema.ceg.c.ceg_id).where(shown.in_(staged))
    return sum(len(catalog.execute(query).all()) for query in (staged, on_them)) + len(trees)


def _match_situations(steps: Steps, tree_id: int) -> None:
    """Make ``same_vertex``, which maps the former situations to those of the rebuilt tree."""
    steps.create(
        "same_vertex", "select cast(0 as bigint) as former_id, cast(0 as bigint) as vertex_id"
    )
    for low, high in steps.fetch("former_depth"):
        steps.run("same_vertex", tree_id=tree_id, low=low, high=high)


def _record_drift(
    steps: Steps, catalog: sa.Connection, staging_id: int, *, keeps: bool
) -> None:
    """Record in the summary of a staging how its stages have changed."""
    ((n_apart, n_stages, n_new, n_gone),) = steps.fetch("drift_size", staging_id=staging_id)
    drift = {
        "keeps": keeps,
        "apart": n_apart,
        "stages": n_stages,
        "situations_new": n_new,
        "situations_gone": n_gone,
    }
    summary = {**row(catalog, "staging", staging_id)["summary"], "drift": drift}
    write(catalog, "staging", {"staging_id": staging_id, "summary": summary}, is_update=True)


def _children(
    kind: Kind,
    table: sa.TableClause,
    key: sa.ColumnElement[int],
    of_parent: sa.ColumnElement[bool],
    catalog: sa.Connection,
) -> list[Rebuilt]:
    """Return the objects of a kind that are built on another object."""
    query = sa.select(key, table.c.name).where(of_parent).order_by(key)
    return [Rebuilt(kind, object_id, name) for object_id, name in catalog.execute(query)]


@contextmanager
def _named_in_errors(one: Rebuilt) -> Iterator[None]:
    """Name the object in an error, as one that cannot be rebuilt."""
    try:
        yield
    except (TreeError, StagingError, SurveyError, QueryError) as error:
        raise StaleError(
            f"{KIND_WORDS[one.kind]} {one.name!r} cannot be rebuilt: {error.args[0]}",
            hint=f"{error.hint + '; or ' if error.hint else ''}drop it (cegdb drop DB "
            f"NAME --kind {one.kind}) and rebuild the others",
        ) from error
