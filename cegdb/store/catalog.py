"""Named objects of the catalog: find them, claim a free name, drop them with all below."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, get_args

import sqlalchemy as sa

from cegdb.errors import NameTakenError, StaleError, UnknownNameError
from cegdb.names import find_name, matching, only_match, trimmed
from cegdb.options import Kind
from cegdb.store import schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


KIND_WORDS: Final[Mapping[Kind, str]] = {
    "survey": "survey",
    "tree": "event tree",
    "staging": "staging",
    "ceg": "CEG",
}
"""What a message calls an object of each kind."""
_ARTICLES: Final[Mapping[Kind, str]] = {
    "survey": "a",
    "tree": "an",
    "staging": "a",
    "ceg": "a",
}


class _Storage(NamedTuple):
    """Where a kind of object is stored: its catalog table, its parent, its tables of rows."""

    table: sa.TableClause
    key: str
    parent: Kind | None
    rows: tuple[sa.TableClause, ...]


_STORAGE: Final[Mapping[Kind, _Storage]] = {
    "survey": _Storage(schema.survey, "survey_id", None, (schema.finding,)),
    "tree": _Storage(
        schema.event_tree,
        "tree_id",
        "survey",
        (
            schema.vertex,
            schema.edge,
            schema.vertex_weight,
            schema.presumed_zero,
            schema.finding,
        ),
    ),
    "staging": _Storage(
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
            schema.parent_set,
            schema.stage_drift,
            schema.relabelled_edge,
            schema.stage_bootstrap,
            schema.situation_pair,
            schema.bootstrap_interval,
            schema.costaging,
            schema.hyperstage_posterior,
            schema.finding,
        ),
    ),
    "ceg": _Storage(
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
    table = _STORAGE[kind].table
    return list(catalog.execute(_listed(kind, sa.select(table.c.name))).scalars())


def all_ids(catalog: sa.Connection, kind: Kind) -> list[int]:
    """Return the ids of all objects of a kind, in the order they were made."""
    storage = _STORAGE[kind]
    return list(
        catalog.execute(_listed(kind, sa.select(storage.table.c[storage.key]))).scalars()
    )


def all_rows(catalog: sa.Connection, kind: Kind) -> list[dict[str, Any]]:
    """Return the catalog rows of all objects of a kind, as `row` does, in that order."""
    query = sa.select(_STORAGE[kind].table, _is_stale(kind).label("is_stale"))
    return [dict(record) for record in catalog.execute(_listed(kind, query)).mappings()]


def _listed(kind: Kind, query: sa.Select[Any]) -> sa.Select[Any]:
    """Leave out superseded rows of surveys, and put the others in order."""
    storage = _STORAGE[kind]
    if kind == "survey":
        query = query.where(schema.survey.c.superseded_by.is_(None))
    return query.order_by(storage.table.c[storage.key])


def find(catalog: sa.Connection, kind: Kind, name: str) -> int:
    """Return the id of the object of that name: exact, else trimmed and case-folded.

    Raises
    ------
    UnknownNameError
        There is none, or the name may be that of several.
    """
    if str(kind) not in _STORAGE:
        raise UnknownNameError(
            f"no kind named {kind!r}", hint=f"the kinds are {', '.join(KINDS)}"
        )
    storage = _STORAGE[kind]
    query = sa.select(storage.table.c.name, storage.table.c[storage.key])
    ids = {str(other): int(key) for other, key in catalog.execute(_listed(kind, query))}
    unknown = f"no {KIND_WORDS[kind]} named {name!r}"
    try:
        return ids[only_match(str(name), ids, unknown, UnknownNameError)]
    except UnknownNameError as error:
        if other := _of_other_kind(catalog, kind, str(name)):
            error.hint = other
        raise


def _of_other_kind(catalog: sa.Connection, kind: Kind, name: str) -> str | None:
    """Return a hint on the objects of other kinds that have a name, None without any."""
    if matching(name, all_names(catalog, kind)):
        return None
    found = []
    for other in (one for one in KINDS if one != kind):
        rows = {str(one["name"]): one for one in all_rows(catalog, other)}
        match = find_name(name, rows)
        if match is None:
            continue
        part = f"there is {_ARTICLES[other]} {KIND_WORDS[other]} {match!r}"
        below = _ancestor_name(catalog, other, rows[match], kind)
        found.append(
            part if below is None else f"{part}, whose {KIND_WORDS[kind]} is {below!r}"
        )
    return "; ".join(found) or None


def _ancestor_name(
    catalog: sa.Connection, kind: Kind, of: Mapping[str, Any], below: Kind
) -> str | None:
    """Return the name of the object of kind ``below`` that an object was made from, if any."""
    while kind != below:
        parent = _STORAGE[kind].parent
        if parent is None:
            return None
        key = staging_of(of) if kind == "ceg" else of[_STORAGE[parent].key]
        kind, of = parent, row(catalog, parent, key)
    return str(of["name"])


def row(catalog: sa.Connection, kind: Kind, object_id: int) -> dict[str, Any]:
    """Return the catalog row of an object, with ``is_stale``: see `refuse_stale`.

    Raises
    ------
    UnknownNameError
        It was dropped meanwhile.
    """
    found = catalog.execute(_query_of(kind), {"object_id": object_id})
    record = found.mappings().one_or_none()
    if record is None:
        raise UnknownNameError(
            f"this {KIND_WORDS[kind]} no longer exists: it was dropped",
            hint="look it up or make it again",
        )
    return dict(record)


@cache
def _query_of(kind: Kind) -> sa.Select[Any]:
    """Return the query for the row of one object: building it takes as long as running it."""
    storage = _STORAGE[kind]
    return sa.select(storage.table, _is_stale(kind).label("is_stale")).where(
        storage.table.c[storage.key] == sa.bindparam("object_id")
    )


def _is_stale(kind: Kind) -> sa.ColumnElement[bool]:
    """Return whether an object's survey was superseded, as an expression of its table."""
    if kind == "survey":
        return sa.false()
    storage = _STORAGE[kind]
    parent = _STORAGE[storage.parent or "survey"]
    is_stale = (
        schema.survey.c.superseded_by.is_not(None)
        if storage.parent == "survey"
        else _is_stale(storage.parent or "survey")
    )
    stale = sa.select(parent.table.c[parent.key]).where(is_stale)
    parent_id: sa.ColumnElement[int] = storage.table.c[parent.key]
    if kind == "ceg":
        parent_id = sa.func.coalesce(parent_id, schema.ceg.c.root_staging_id)
    return sa.func.coalesce(parent_id.in_(stale), sa.false())


def staging_of(ceg: Mapping[str, Any]) -> int:
    """Return the staging that a CEG, or the one it was conditioned from, was made from.

    Examples
    --------
    >>> staging_of({"staging_id": None, "root_staging_id": 3})
    3
    """
    own = ceg["staging_id"]
    return int(ceg["root_staging_id"] if own is None else own)


def ceg_and_parents(catalog: sa.Connection, ceg_id: int) -> list[dict[str, Any]]:
    """Return a CEG, the one it was conditioned from, and so on to one without evidence."""
    cegs = [row(catalog, "ceg", ceg_id)]
    while cegs[-1]["parent_ceg_id"] is not None:
        cegs.append(row(catalog, "ceg", cegs[-1]["parent_ceg_id"]))
    return cegs


def refuse_stale(kind: Kind, record: Mapping[str, Any]) -> None:
    """Refuse to build on an object whose survey has changed since it was made.

    Raises
    ------
    StaleError
        Rows of its survey were added or replaced since it was made.
    """
    if record["is_stale"]:
        raise StaleError(
            f"{KIND_WORDS[kind]} {record['name']!r} is stale: its survey has changed",
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
        The name is taken, blank, or not UTF-8 text.
    """
    known = set(catalog.execute(sa.select(_STORAGE[kind].table.c.name)).scalars())
    wanted = default if name is None else str(name)
    if not trimmed(wanted):
        raise NameTakenError(
            f"the name for the {KIND_WORDS[kind]} is blank", hint="give another name"
        )
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
            f"{KIND_WORDS[kind]} {name!r} already exists",
            hint="choose another name, or replace it (replace=True, --replace)",
        )
    return next(
        candidate
        for i in range(2, len(known) + 3)
        if (candidate := f"{default}-{i}") not in known
    )


def new_id(catalog: sa.Connection, kind: Kind) -> int:
    """Return the id of a new object; ids are never used twice."""
    sequence = f"{schema.SCHEMA}.{_STORAGE[kind].key}_seq"
    return int(catalog.exec_driver_sql(f"select nextval('{sequence}')").scalar_one())


def write(
    catalog: sa.Connection, kind: Kind, values: Mapping[str, object], *, is_update: bool = False
) -> None:
    """Write the catalog row of an object whose rows are written, or update it."""
    storage = _STORAGE[kind]
    if is_update:
        is_same = storage.table.c[storage.key] == values[storage.key]
        catalog.execute(sa.update(storage.table).where(is_same).values(**values))
    else:
        catalog.execute(sa.insert(storage.table).values(**values))


def delete_rows(catalog: sa.Connection, kind: Kind, object_id: int) -> None:
    """Delete the rows of an object to be made again; its catalog row stays."""
    storage = _STORAGE[kind]
    for table in storage.rows:
        catalog.execute(sa.delete(table).where(table.c[storage.key] == object_id))


def copy_rows(
    catalog: sa.Connection,
    kind: Kind,
    object_id: int,
    copy_id: int,
    *,
    omitted: sa.TableClause | None = None,
) -> None:
    """Copy the rows of an object, in their order, for another, except those of one table."""
    storage = _STORAGE[kind]
    for table in storage.rows:
        if table is omitted:
            continue
        catalog.exec_driver_sql(
            f"insert into {table.fullname} select * replace ($1 as {storage.key}) "  # noqa: S608
            f"from {table.fullname} where {storage.key} = $2 order by rowid",
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
    values = ", ".join(f"unnest(${i})" for i in range(1, len(names) + 1))
    catalog.exec_driver_sql(
        f"insert into {table.fullname} ({', '.join(names)}) select {values}",
        lists,
    )


def drop(catalog: sa.Connection, kind: Kind, object_id: int) -> None:
    """Delete an object, everything built on it, and every row of theirs."""
    storage = _STORAGE[kind]
    for child, parent_id in _children(kind):
        key = _STORAGE[child].table.c[_STORAGE[child].key]
        query = sa.select(key).where(parent_id == object_id)
        for child_id in catalog.execute(query).scalars().all():
            drop(catalog, child, child_id)
    delete_rows(catalog, kind, object_id)
    if kind == "survey":
        drop_variables(catalog, object_id)
        catalog.exec_driver_sql(f"drop table if exists {response_table(object_id)}")
    catalog.execute(sa.delete(storage.table).where(storage.table.c[storage.key] == object_id))
    if kind == "tree":
        drop_superseded(catalog)


def drop_variables(catalog: sa.Connection, survey_id: int) -> None:
    """Delete the variables and levels of a survey."""
    of_survey = schema.variable.c.survey_id == survey_id
    variables = sa.select(schema.variable.c.variable_id).where(of_survey)
    levels = sa.select(schema.level.c.level_id).where(schema.level.c.variable_id.in_(variables))
    catalog.execute(
        sa.delete(schema.level_score).where(schema.level_score.c.level_id.in_(levels))
    )
    catalog.execute(sa.delete(schema.level).where(schema.level.c.variable_id.in_(variables)))
    catalog.execute(sa.delete(schema.variable).where(of_survey))


def drop_superseded(catalog: sa.Connection) -> None:
    """Delete what remains of superseded surveys that no tree shows any more."""
    survey = schema.survey.c
    query = (
        sa.select(survey.survey_id)
        .where(survey.superseded_by.is_not(None))
        .where(survey.survey_id.not_in(sa.select(schema.event_tree.c.survey_id)))
    )
    for survey_id in catalog.execute(query).scalars().all():
        delete_rows(catalog, "survey", survey_id)
        drop_variables(catalog, survey_id)
        catalog.execute(sa.delete(schema.survey).where(survey.survey_id == survey_id))


def _children(kind: Kind) -> list[tuple[Kind, sa.ColumnElement[int]]]:
    """Return the kinds built on a kind, with the column that holds the id of the parent."""
    key = _STORAGE[kind].key
    children: list[tuple[Kind, sa.ColumnElement[int]]] = [
        (child, _STORAGE[child].table.c[key])
        for child in KINDS
        if _STORAGE[child].parent == kind
    ]
    if kind == "survey":
        children.append(("survey", schema.survey.c.superseded_by))
    if kind == "ceg":
        children.append(("ceg", schema.ceg.c.parent_ceg_id))
    return children
