"""Named objects of the catalog: find them, claim a free name, drop them with all below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

import sqlalchemy as sa

from cegdb.errors import NameTakenError, StaleError, UnknownNameError
from cegdb.names import only_match
from cegdb.store import schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Kind: TypeAlias = Literal["survey", "tree", "staging", "ceg"]
KINDS: Final[tuple[Kind, ...]] = ("survey", "tree", "staging", "ceg")


KIND_WORDS: Final[Mapping[Kind, str]] = {
    "survey": "survey",
    "tree": "event tree",
    "staging": "staging",
    "ceg": "CEG",
}
"""What a message calls an object of each kind."""


class _Place(NamedTuple):
    """Where a kind of object lives: its catalog table, what it stands on, its rows."""

    table: sa.TableClause
    key: str
    parent: Kind | None
    rows: tuple[sa.TableClause, ...]


_PLACES: Final[Mapping[Kind, _Place]] = {
    "survey": _Place(schema.survey, "survey_id", None, ()),
    "tree": _Place(
        schema.event_tree,
        "tree_id",
        "survey",
        (schema.vertex, schema.edge, schema.vertex_weight),
    ),
    "staging": _Place(
        schema.staging,
        "staging_id",
        "tree",
        (
            schema.hyperstage,
            schema.stage,
            schema.stage_member,
            schema.stage_edge,
            schema.prior_entry,
            schema.ahc_merge,
            schema.stage_drift,
            schema.relabelled_edge,
            schema.stage_bootstrap,
            schema.situation_pair,
            schema.bootstrap_interval,
        ),
    ),
    "ceg": _Place(
        schema.ceg,
        "ceg_id",
        "staging",
        (
            schema.position,
            schema.position_member,
            schema.ceg_edge,
            schema.ceg_stage,
            schema.merge_step,
        ),
    ),
}


def response_table(survey_id: int) -> str:
    """Return the qualified name of a survey's table of coded rows.

    Examples
    --------
    >>> response_table(3)
    'cegdb.response_3'
    """
    return f"cegdb.response_{survey_id}"


def all_names(catalog: sa.Connection, kind: Kind) -> list[str]:
    """Return the names of all objects of a kind, in the order they were made."""
    table = _PLACES[kind].table
    return list(catalog.execute(_listed(kind, sa.select(table.c.name))).scalars())


def all_ids(catalog: sa.Connection, kind: Kind) -> list[int]:
    """Return the ids of all objects of a kind, in the order they were made."""
    place = _PLACES[kind]
    return list(catalog.execute(_listed(kind, sa.select(place.table.c[place.key]))).scalars())


def all_rows(catalog: sa.Connection, kind: Kind) -> list[dict[str, Any]]:
    """Return the catalog rows of all objects of a kind, as `row` does, in that order."""
    query = sa.select(_PLACES[kind].table, _is_stale(kind).label("is_stale"))
    return [dict(found) for found in catalog.execute(_listed(kind, query)).mappings()]


def _listed(kind: Kind, query: sa.Select[Any]) -> sa.Select[Any]:
    """Leave out superseded rows of surveys, and put the others in order."""
    place = _PLACES[kind]
    if kind == "survey":
        query = query.where(schema.survey.c.superseded_by.is_(None))
    return query.order_by(place.table.c[place.key])


def find(catalog: sa.Connection, kind: Kind, name: str) -> int:
    """Return the id of the object of that name: exact, else trimmed and case-folded.

    Raises
    ------
    UnknownNameError
        There is none, or the name may be that of several.
    """
    if str(kind) not in _PLACES:
        raise UnknownNameError(
            f"there is no kind {kind!r}", hint=f"kinds are {', '.join(KINDS)}"
        )
    place = _PLACES[kind]
    query = sa.select(place.table.c.name, place.table.c[place.key])
    ids = {str(other): int(key) for other, key in catalog.execute(_listed(kind, query))}
    unknown = f"no {KIND_WORDS[kind]} named {name!r}"
    return ids[only_match(str(name), ids, unknown, UnknownNameError)]


def row(catalog: sa.Connection, kind: Kind, object_id: int) -> dict[str, Any]:
    """Return the catalog row of an object, with ``is_stale``: see `refuse_stale`.

    Raises
    ------
    UnknownNameError
        It was dropped meanwhile.
    """
    place = _PLACES[kind]
    query = sa.select(place.table, _is_stale(kind).label("is_stale")).where(
        place.table.c[place.key] == object_id
    )
    found = catalog.execute(query).mappings().one_or_none()
    if found is None:
        raise UnknownNameError(f"this {kind} was dropped", hint="make or find it again")
    return dict(found)


def _is_stale(kind: Kind) -> sa.ColumnElement[bool]:
    """Return whether an object's survey was superseded, as an expression of its table."""
    if kind == "survey":
        return sa.false()
    place = _PLACES[kind]
    parent = _PLACES[place.parent or "survey"]
    is_stale = (
        schema.survey.c.superseded_by.is_not(None)
        if place.parent == "survey"
        else _is_stale(place.parent or "survey")
    )
    stale = sa.select(parent.table.c[parent.key]).where(is_stale)
    stands_on: sa.ColumnElement[int] = place.table.c[parent.key]
    if kind == "ceg":
        stands_on = sa.func.coalesce(stands_on, schema.ceg.c.root_staging_id)
    return sa.func.coalesce(stands_on.in_(stale), sa.false())


def staging_of(ceg: Mapping[str, Any]) -> int:
    """Return the staging that a CEG, or the one it was conditioned from, was made from.

    Examples
    --------
    >>> staging_of({"staging_id": None, "root_staging_id": 3})
    3
    """
    own = ceg["staging_id"]
    return int(ceg["root_staging_id"] if own is None else own)


def refuse_stale(kind: Kind, found: Mapping[str, Any]) -> None:
    """Refuse to build on an object whose survey has other rows by now.

    Raises
    ------
    StaleError
        Its survey was added to or refreshed since it was made.
    """
    if found["is_stale"]:
        raise StaleError(
            f"{kind} {found['name']!r} shows rows that were since added to or replaced",
            hint="rebuild what is built on its survey first: db.rebuild(), cegdb rebuild DB",
        )


def claim_name(
    catalog: sa.Connection, kind: Kind, name: str | None, default: str, *, replace: bool
) -> str:
    """Return the name of an object to be made; with ``replace`` drop the one that has it.

    A name left out is ``default``, with ``-2``, ``-3``, ... if taken (or, with
    ``replace``, just ``default``).

    Raises
    ------
    NameTakenError
        The name is taken, blank, or no UTF-8 text.
    """
    known = set(catalog.execute(sa.select(_PLACES[kind].table.c.name)).scalars())
    wanted = default if name is None else str(name)
    if not wanted.strip():
        raise NameTakenError(f"a {kind} needs a name that is not blank")
    try:
        wanted.encode()
    except UnicodeEncodeError:
        raise NameTakenError(f"{wanted!r} cannot be a name: it is not UTF-8 text") from None
    if wanted not in known:
        return wanted
    if replace and wanted in all_names(catalog, kind):
        drop(catalog, kind, find(catalog, kind, wanted))
        return wanted
    if name is not None:
        raise NameTakenError(
            f"there is a {kind} called {name!r} already",
            hint="choose another name, or replace it (replace=True, --replace)",
        )
    return next(
        candidate
        for i in range(2, len(known) + 3)
        if (candidate := f"{default}-{i}") not in known
    )


def new_id(catalog: sa.Connection, kind: Kind) -> int:
    """Return the id of an object to be made; ids are never used twice."""
    sequence = f"{schema.SCHEMA}.{_PLACES[kind].key}_seq"
    found = catalog.exec_driver_sql(f"select nextval('{sequence}')")
    return int(found.scalar_one())


def write(
    catalog: sa.Connection, kind: Kind, values: Mapping[str, object], *, again: bool = False
) -> None:
    """Write the catalog row of an object, new or made again, once its rows are there."""
    place = _PLACES[kind]
    if again:
        is_it = place.table.c[place.key] == values[place.key]
        catalog.execute(sa.update(place.table).where(is_it).values(**values))
    else:
        catalog.execute(sa.insert(place.table).values(**values))


def clear(catalog: sa.Connection, kind: Kind, object_id: int) -> None:
    """Delete the rows of an object that is to be made anew; its catalog row stays."""
    place = _PLACES[kind]
    for table in place.rows:
        catalog.execute(sa.delete(table).where(table.c[place.key] == object_id))


def copy_rows(catalog: sa.Connection, kind: Kind, object_id: int, copy_id: int) -> None:
    """Copy the rows of an object, in their order, for another; not its catalog row."""
    place = _PLACES[kind]
    for table in place.rows:
        catalog.exec_driver_sql(
            f"insert into {table.fullname} select * replace ($1 as {place.key}) "  # noqa: S608
            f"from {table.fullname} where {place.key} = $2 order by rowid",
            (copy_id, object_id),
        )


def insert_rows(
    catalog: sa.Connection, table: sa.TableClause, rows: Sequence[Mapping[str, object]]
) -> None:
    """Insert rows in one statement: DuckDB takes as long for one row as for hundreds."""
    if not rows:
        return
    names = list(rows[0])
    lists = tuple([row[name] for row in rows] for name in names)
    taken = ", ".join(f"unnest(${i})" for i in range(1, len(names) + 1))
    catalog.exec_driver_sql(
        f"insert into {table.fullname} ({', '.join(names)}) select {taken}",
        lists,
    )


def drop(catalog: sa.Connection, kind: Kind, object_id: int) -> None:
    """Delete an object, everything built on it, and every row of theirs."""
    place = _PLACES[kind]
    for child, stands_on in _stands_on(kind):
        key = _PLACES[child].table.c[_PLACES[child].key]
        query = sa.select(key).where(stands_on == object_id)
        for child_id in catalog.execute(query).scalars().all():
            drop(catalog, child, child_id)
    clear(catalog, kind, object_id)
    if kind == "survey":
        drop_variables(catalog, object_id)
        catalog.exec_driver_sql(f"drop table if exists {response_table(object_id)}")
    catalog.execute(sa.delete(place.table).where(place.table.c[place.key] == object_id))
    if kind == "tree":
        drop_superseded(catalog)


def drop_variables(catalog: sa.Connection, survey_id: int) -> None:
    """Delete the variables and levels of a survey."""
    of_survey = schema.variable.c.survey_id == survey_id
    variables = sa.select(schema.variable.c.variable_id).where(of_survey)
    catalog.execute(sa.delete(schema.level).where(schema.level.c.variable_id.in_(variables)))
    catalog.execute(sa.delete(schema.variable).where(of_survey))


def drop_superseded(catalog: sa.Connection) -> None:
    """Delete what is kept of superseded rows that no tree shows any more."""
    survey = schema.survey.c
    query = (
        sa.select(survey.survey_id)
        .where(survey.superseded_by.is_not(None))
        .where(survey.survey_id.not_in(sa.select(schema.event_tree.c.survey_id)))
    )
    for survey_id in catalog.execute(query).scalars().all():
        drop_variables(catalog, survey_id)
        catalog.execute(sa.delete(schema.survey).where(survey.survey_id == survey_id))


def _stands_on(kind: Kind) -> list[tuple[Kind, sa.ColumnElement[int]]]:
    """Return the kinds built on a kind, with the column that says on which object."""
    key = _PLACES[kind].key
    found: list[tuple[Kind, sa.ColumnElement[int]]] = [
        (child, _PLACES[child].table.c[key]) for child in KINDS if _PLACES[child].parent == kind
    ]
    if kind == "survey":
        found.append(("survey", schema.survey.c.superseded_by))
    if kind == "ceg":
        found.append(("ceg", schema.ceg.c.parent_ceg_id))
    return found
