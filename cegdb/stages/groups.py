"""Groups of situations that a user gives: stages, hyperstages, initial stages, priors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Number
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast

from cegdb.errors import (
    SqlStepError,
    StagingError,
    SurveyError,
    items_of,
    listed,
)
from cegdb.ingest.files.cell_labels import label_of
from cegdb.ingest.files.sources import Source, load_chunks, open_source, read_error
from cegdb.names import find_name
from cegdb.stages import template_reader
from cegdb.stages.situations import ANY, describe, explain_mismatch, extend_paths

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

    from cegdb.ingest.files.relation import Relation
    from cegdb.sqlfiles import Steps

__all__ = [
    "Grouping",
    "MemberTable",
    "SituationPath",
    "as_name",
    "find_groups",
    "find_path_situations",
    "refuse_mixed_groups",
    "refuse_mixed_stages",
    "whole_number",
]

MAX_RECORDED: Final = 10_000
"""Larger frames and files are not recorded in the settings of a staging."""

_NAMED: Final = ("stage", "frozen")
_PATHS: Final = "give labels from the root, such as ('High', 'Low')"
_NAME: Final = "a name is a text or a number"
SAME_LABELS: Final = (
    "situations can share a stage only if they have the same labels: complete the florets "
    "(tree with sampling_zeros='floret', --sampling-zeros floret), relabel, or split the stage"
)
SAME_HYPERSTAGE: Final = (
    "they have the same labels, but situations share a stage only within a hyperstage (by "
    "default: same variable and same label set): give hyperstages='labels' (--hyperstages "
    "labels) or hyperstages of your own, or split the stage"
)

SituationPath: TypeAlias = "str | Sequence[object]"
Role: TypeAlias = Literal["stage", "frozen", "initial", "hyperstage", "prior"]


@dataclass(frozen=True)
class MemberTable:
    """Stages in a temp table of ``vertex_id``, ``name`` and ``shown_name``.

    Situations with one ``name`` share a stage. ``settings`` is what to record.
    """

    table: str
    settings: Mapping[str, object] = field(default_factory=dict)


Grouping: TypeAlias = (
    "Mapping[SituationPath, object] | Sequence[Sequence[SituationPath]] | Source | MemberTable"
)


def find_groups(
    steps: Steps,
    con: duckdb.DuckDBPyConnection,
    tree_id: int,
    grouping: Grouping | None,
    role: Role,
    skipped: list[str] | None = None,
) -> dict[str, object] | None:
    """Add what a user grouped to ``given_group``, and return it as settings to record.

    ``grouping`` is a mapping from path to name, a list of groups of paths, a template, a
    frame, file or SELECT with the columns ``vertex_id`` and one more, the name, or a
    `MemberTable`. Paths that fit no situation are refused, or noted in ``skipped``.
    """
    if grouping is None:
        return None
    if isinstance(grouping, MemberTable):
        rows = steps.run("member_group", role=role, members=grouping.table)
        return {**grouping.settings, "rows": rows}
    if isinstance(grouping, (Mapping, list, tuple)):
        settings = _from_paths(steps, tree_id, grouping, role, skipped)
    elif isinstance(grouping, (Number, bytes)):
        raise StagingError(f"{role} is {grouping!r}", hint=_choices(role))
    else:
        settings = _from_source(steps, con, tree_id, cast("Source", grouping), role)
    for vertex_id, name, other in steps.fetch("group_overlap", role=role):
        raise StagingError(
            f"situation {describe(steps, tree_id, vertex_id)} is in two groups of {role}: "
            f"{name!r} and {other!r}",
            hint="name each situation once",
        )
    return settings


def find_path_situations(
    steps: Steps, tree_id: int, groups: Sequence[object], what: str
) -> None:
    """Make ``path_situation`` of groups of paths, which are numbered from 1."""
    _fit_paths(steps, tree_id, _numbered(groups, what), what, None)


def refuse_mixed_groups(steps: Steps, tree_id: int, role: Role) -> None:
    """Refuse a group whose situations differ in their labels."""
    hint = "a hyperstage holds situations with the same labels"
    _refuse_mixed(steps, tree_id, role, role, hint, is_by_labels=True)


def refuse_mixed_stages(steps: Steps, tree_id: int, role: Role) -> None:
    """Refuse a stage whose situations differ in their labels, or in their hyperstage."""
    what = "stage" if role == "stage" else f"{role} stage"
    _refuse_mixed(steps, tree_id, role, what, SAME_LABELS, is_by_labels=True)
    _refuse_mixed(steps, tree_id, role, what, SAME_HYPERSTAGE, is_by_labels=False)


def as_name(name: object, what: str) -> str:
    """Return the name of a stage or group, trimmed; refuse what is not a text or number.

    Examples
    --------
    >>> as_name(" frail ", "the new name"), as_name(2.0, "the new name")
    ('frail', '2')
    """
    try:
        text = (label_of(name) or "").strip()
    except SurveyError:
        raise StagingError(f"{what} is {name!r}", hint=_NAME) from None
    if not text:
        raise StagingError(f"{what} is empty", hint=_NAME)
    return text


def whole_number(cell: str) -> str:
    """Return SQL that reads a text as a whole number; null if it is not one (a cast rounds).

    Examples
    --------
    >>> import duckdb
    >>> texts = ("'2'", "' 2.0 '", "'1.5'", "'x'", "'1e1'")
    >>> duckdb.sql(f"select {', '.join(map(whole_number, texts))}").fetchall()
    [(2, 2, None, None, None)]
    """
    digits = f"regexp_extract(trim({cell}), '^(-?[0-9]+)([.]0+)?$', 1)"
    return f"try_cast({digits} as bigint)"


def _from_paths(
    steps: Steps,
    tree_id: int,
    grouping: Mapping[SituationPath, object] | Sequence[object],
    role: Role,
    skipped: list[str] | None,
) -> dict[str, object]:
    is_mapping = isinstance(grouping, Mapping)
    if isinstance(grouping, Mapping):
        named = [
            (_labels(path, role), as_name(name, f"{role}: the name of {path!r}"))
            for path, name in grouping.items()
        ]
    else:
        named = _numbered(grouping, role)
    _fit_paths(steps, tree_id, named, role, skipped)
    steps.run("path_group", role=role, is_named=is_mapping)
    groups: dict[str, list[list[str]]] = {}
    for labels, name in named:
        groups.setdefault(name, []).append(labels)
    return {"groups": groups} if is_mapping else {"groups": groups, "is_named": False}


def _numbered(groups: Sequence[object], what: str) -> list[tuple[list[str], str]]:
    return [
        (_labels(path, what), str(number))
        for number, group in enumerate(groups, 1)
        for path in items_of(group, f"a group of {what}", StagingError, hint=_choices(what))
    ]


def _labels(path: object, what: str) -> list[str]:
    parts = (
        [path]
        if isinstance(path, str)
        else items_of(path, f"a path of {what}", StagingError, hint=_PATHS, in_order=True)
    )
    labels = [label_of(part) for part in parts]
    if None in labels:
        raise StagingError(f"{what}: the path {path!r} contains an empty label")
    return [str(label) for label in labels]


def _fit_paths(
    steps: Steps,
    tree_id: int,
    named: Sequence[tuple[list[str], str]],
    what: str,
    skipped: list[str] | None,
) -> None:
    """Make ``path_situation``; paths that fit no situation are refused, or skipped."""
    known = dict.fromkeys(
        str(label)
        for (label,) in steps.rows("select distinct label from temp.situation_edge order by 1")
    )
    paths = [
        [label if label == ANY else find_name(label, known) or label for label in labels]
        for labels, _ in named
    ]
    steps.run(
        "given_path",
        names=[name for _, name in named],
        paths=paths,
        wildcards=[[label == ANY for label in labels] for labels in paths],
    )
    extend_paths(steps, max(map(len, paths), default=0))
    steps.run("path_situation")
    fitting = "(select path_id from temp.path_situation)"
    unfit = steps.rows(
        f"select path_id from temp.given_path where path_id not in {fitting} order by 1"  # noqa: S608
    )
    if not unfit:
        return
    why = explain_mismatch(steps, tree_id, paths[unfit[0][0]], what)
    if skipped is None:
        raise StagingError(why)
    more = f"; and {len(unfit) - 1:,} more paths" if len(unfit) > 1 else ""
    skipped.append(f"skipped: {why}{more}")


def _from_source(
    steps: Steps,
    con: duckdb.DuckDBPyConnection,
    tree_id: int,
    source: Source,
    role: Role,
) -> dict[str, object]:
    file = template_reader.read(source)
    if file is not None:
        return _from_template(steps, tree_id, file, role)
    with _opened(con, source, role) as relation:
        load_chunks(con, relation, relation.columns)
        if template_reader.is_template(relation.columns):
            file = template_reader.read_relation(steps, relation)
            return _from_template(steps, tree_id, file, role)
        if "vertex_id" not in relation.columns or len(relation.columns) != 2:
            raise StagingError(
                f"{role}: columns {listed(relation.columns)}",
                hint=f"give two columns, vertex_id and {role}, or a template with its column "
                "'stage'",
            )
        cells = dict(zip(relation.columns, relation.cells, strict=True))
        ((column, name),) = ((key, cells[key]) for key in cells if key != "vertex_id")
        query = (
            f"select {cells['vertex_id']} as written, "  # noqa: S608
            f"{whole_number(cells['vertex_id'])} as vertex_id, {name} as name "
            f"from {relation.from_clause}"
        )
        try:
            steps.create("given_row", query, dict(relation.params))
        except SqlStepError as error:
            raise read_error(con, relation, error) from None
    unknown = steps.fetch("unknown_row")
    if unknown:
        raise StagingError(
            f"{role}: vertex_id {listed(written for (written,) in unknown)} is not a situation "
            "of the tree, or has no name",
            hint="the view cegdb.situations lists them",
        )
    is_named = column == "stage"
    rows = steps.run("row_group", role=role, is_named=is_named)
    recorded = _recorded_groups(steps, role, rows, is_named=is_named)
    return {"source": relation.description, "rows": rows, **recorded}


@contextmanager
def _opened(con: duckdb.DuckDBPyConnection, source: Source, what: str) -> Iterator[Relation]:
    """Open a source of groups; an error says which setting it is about."""
    try:
        with open_source(con, source) as relation:
            yield relation
    except SurveyError as error:
        raise StagingError(f"{what}: {error.args[0]}", hint=_choices(what)) from None


def _choices(what: str) -> str:
    choice = {
        "hyperstage": "'variable', 'labels', 'height', 'paper', ",
        "initial": "'full', 'indep', ",
    }.get(what, "")
    return (
        f"give {choice}a mapping from path to name, a list of groups of paths, or a "
        "frame, file or SELECT with vertex_id and the name"
    )


def _from_template(
    steps: Steps, tree_id: int, file: template_reader.Template, role: Role
) -> dict[str, object]:
    steps.run(
        "template_row",
        lines=[row.line for row in file.rows],
        names=[row.stage for row in file.rows],
        vertex_ids=[row.vertex_id for row in file.rows],
        variables=[row.variable for row in file.rows],
        paths=[row.path for row in file.rows],
    )
    extend_paths(steps)
    steps.run("template_situation")
    for row_id, path, variable in steps.fetch("template_mismatch"):
        row = file.rows[row_id]
        if path is None and row.vertex_id is None:
            why = explain_mismatch(steps, tree_id, row.path or [], role, is_literal=True)
            raise StagingError(
                f"{file.title}, {row.line}: {why}", hint=template_reader.OTHER_TREE
            )
        template_reader.refuse_mismatch(file, row, path, variable)
    for vertex_id, name, line, other, other_line in steps.fetch("template_conflict"):
        raise StagingError(
            f"{file.title}, {line} and {other_line}: situation "
            f"{describe(steps, tree_id, vertex_id)} is in two groups of {role}, {name!r} and "
            f"{other!r}",
            hint="delete one of the rows, or name the same stage in both",
        )
    rows = steps.run("template_group", role=role)
    recorded = _recorded_groups(steps, role, rows, is_named=True)
    return {"source": file.title, "rows": rows, **recorded}


def _recorded_groups(
    steps: Steps, role: Role, rows: int, *, is_named: bool
) -> dict[str, object]:
    """Return the groups by path, so that they can be given again, unless they are many.

    Stages are not recorded: a rebuild finds them by their members.
    """
    if role == "stage" or rows > MAX_RECORDED:
        return {}
    extend_paths(steps)
    groups: dict[str, list[list[str]]] = {}
    for name, labels in steps.fetch("group_path", role=role):
        groups.setdefault(name, []).append(labels)
    if any(ANY in labels for paths in groups.values() for labels in paths):
        return {}  # given again, this label would fit any
    return {"groups": groups, **({} if is_named else {"is_named": False})}


def _refuse_mixed(
    steps: Steps, tree_id: int, role: Role, what: str, hint: str, *, is_by_labels: bool
) -> None:
    for name, *both in steps.fetch("mixed_group", role=role, is_by_labels=is_by_labels):
        one, other = (
            f"{_line_of(steps, role, vertex_id)}situation {describe(steps, tree_id, vertex_id)}"
            for vertex_id in both
        )
        raise StagingError(f"{what} {name!r} joins {one} and {other}", hint=hint)


def _line_of(steps: Steps, role: Role, vertex_id: int) -> str:
    """Return where a template names a situation, as ``row 3, ``; nothing if none does."""
    query = "select line from temp.given_group where role = $role and vertex_id = $vertex_id"
    ((line,),) = steps.rows(query, {"role": role, "vertex_id": vertex_id})
    return f"{line}, " if line is not None else ""
