"""Find the situations a user names, and name situations in messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Number
from typing import TYPE_CHECKING, Final, TypeAlias, cast

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
from cegdb.stages.situation_paths import (
    ANY,
    explain,
    refuse_mixed_stages,
    refuse_mixture,
    walk,
    whole,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

    from cegdb.ingest.files.relation import Relation
    from cegdb.sqlfiles import Steps, Value

__all__ = [
    "Grouping",
    "Members",
    "SituationPath",
    "find_paths",
    "keep_names",
    "name_of",
    "refuse_mixed_stages",
    "refuse_mixture",
    "resolve",
]

_NAMED: Final = ("stage", "frozen")
_MOST_RECORDED: Final = 10_000
_PATHS: Final = "give labels from the root, such as ('High', 'Low')"

_SHOWN: Final = "u[0-9]+"
_BLANKS: Final = r"[\s\x0b\x1c-\x1f\x85\p{Z}]+"

SituationPath: TypeAlias = "str | Sequence[object]"


@dataclass(frozen=True)
class Members:
    """The stages that a query finds: rows of ``vertex_id``, ``name`` and ``called``.

    Situations of one ``name`` share a stage, shown by the name ``called`` if there is one.
    ``told`` is recorded in the settings.
    """

    query: str
    told: Mapping[str, object] = field(default_factory=dict)


Grouping: TypeAlias = (
    "Mapping[SituationPath, object] | Sequence[Sequence[SituationPath]] | Source | Members"
)


def resolve(
    steps: Steps,
    con: duckdb.DuckDBPyConnection,
    tree_id: int,
    grouping: Grouping | None,
    what: str,
    passed_over: list[str] | None = None,
) -> dict[str, object] | None:
    """Make the temp table ``given_<what>(vertex_id, name)`` of what a user grouped.

    Parameters
    ----------
    steps, con
        Run the SQL; ``floret`` and ``situation_path`` (depth 0) exist.
    tree_id
        The tree.
    grouping
        Path -> name, a list of groups of paths, a template, a frame, file or SELECT with
        the columns ``vertex_id`` and one more, the name, or `Members`. None groups nothing.
    what
        ``stage``, ``frozen``, ``initial``, ``hyperstage`` or ``prior``.
    passed_over
        Where to tell of paths that fit no situation; None refuses them.

    Returns
    -------
    dict or None
        The grouping as settings to record. Of stages given or frozen,
        ``given_name(vertex_id, name, place)`` is made too: the names to show, ``place``
        saying which of two to prefer.

    Raises
    ------
    StagingError
        A path fits no situation, or a situation is in two groups.
    """
    table = f"given_{what}"
    if what in _NAMED and not steps.has("given_name"):
        steps.create(
            "given_name",
            "select cast(0 as bigint) as vertex_id, '' as name, 0 as place where false",
        )
    if grouping is None:
        steps.create(table, "select cast(0 as bigint) as vertex_id, '' as name where false")
        return None
    if isinstance(grouping, Members):
        rows = steps.create(table, f"select vertex_id, name from ({grouping.query})")  # noqa: S608
        if what in _NAMED:
            called = f"select vertex_id, called as name from ({grouping.query})"  # noqa: S608
            _show_names(steps, called)
        return {**grouping.told, "rows": rows}
    if isinstance(grouping, Mapping):
        named = [
            (_labels(path, what), name_of(name, f"{what}: the name of {path!r}"))
            for path, name in grouping.items()
        ]
    elif isinstance(grouping, (list, tuple)):
        named = _numbered(grouping, what)
    elif isinstance(grouping, (Number, bytes)):
        raise StagingError(f"{what} is {grouping!r}", hint=_choices(what))
    else:
        return _from_source(steps, con, tree_id, cast("Source", grouping), what)
    _from_paths(steps, tree_id, named, what, passed_over)
    groups: dict[str, list[list[str]]] = {}
    for labels, name in named:
        groups.setdefault(name, []).append(labels)
    if not isinstance(grouping, Mapping):
        return {"groups": groups, "is_named": False}
    if what in _NAMED:
        _show_names(steps, f"select vertex_id, name from temp.{table}")  # noqa: S608
    return {"groups": groups}


def _show_names(steps: Steps, query: str, place: int = 1) -> None:
    """Keep the names to show of stages, but for what looks like a name shown anyway."""
    trimmed = f"regexp_replace(name, '^{_BLANKS}|{_BLANKS}$', '', 'g')"
    steps.execute(
        f"insert into temp.given_name select distinct vertex_id, name, {place} from "  # noqa: S608
        f"(select vertex_id, {trimmed} as name from ({query})) "
        f"where name <> '' and not regexp_full_match(name, '{_SHOWN}')"
    )


def _numbered(groups: Sequence[object], what: str) -> list[tuple[list[str], str]]:
    return [
        (_labels(path, what), str(number))
        for number, group in enumerate(groups, 1)
        for path in items_of(group, f"a group of {what}", StagingError, hint=_choices(what))
    ]


def find_paths(steps: Steps, tree_id: int, groups: Sequence[object], what: str) -> None:
    """Make ``named_situation(path_id, name, vertex_id)`` of groups of paths, numbered from 1.

    Raises
    ------
    StagingError
        A path fits no situation.
    """
    _fit_paths(steps, tree_id, _numbered(groups, what), what, None)


def keep_names(steps: Steps) -> None:
    """Prefer the names that stages had before they were made again."""
    _show_names(steps, "select vertex_id, name from temp.kept_situation", 0)


def name_of(name: object, what: str) -> str:
    """Return the name of a stage or group, trimmed; refuse what is no text or number.

    Examples
    --------
    >>> name_of(" frail ", "the new name"), name_of(2.0, "the new name")
    ('frail', '2')
    >>> name_of(["frail"], "the new name")
    Traceback (most recent call last):
    ...
    cegdb.errors.StagingError: the new name is ['frail']
    hint: a name is a text or a number
    """
    try:
        text = (label_of(name) or "").strip()
    except SurveyError:
        raise StagingError(f"{what} is {name!r}", hint="a name is a text or a number") from None
    if not text:
        raise StagingError(f"{what} is blank", hint="a name is a text or a number")
    return text


def _labels(path: object, what: str) -> list[str]:
    parts = (
        [path]
        if isinstance(path, str)
        else items_of(path, f"a path of {what}", StagingError, hint=_PATHS, in_order=True)
    )
    labels = [label_of(part) for part in parts]
    if None in labels:
        raise StagingError(f"{what}: the path {path!r} holds a blank, which is no label")
    return [str(label) for label in labels]


def _fit_paths(
    steps: Steps,
    tree_id: int,
    named: list[tuple[list[str], str]],
    what: str,
    passed_over: list[str] | None,
) -> None:
    known = dict.fromkeys(
        str(label)
        for (label,) in steps.rows("select distinct label from temp.situation_edge order by 1")
    )
    paths = [
        [label if label == ANY else find_name(label, known) or label for label in labels]
        for labels, _ in named
    ]
    masks = [[label == ANY for label in labels] for labels in paths]
    params: dict[str, Value] = {
        "names": [name for _, name in named],
        "labels": paths,
        "masks": masks,
    }
    steps.create(
        "given_path",
        "select unnest(range(len($names))) as path_id, "
        "unnest(cast($names as varchar[])) as name, "
        "unnest(cast($labels as varchar[][])) as labels, "
        "unnest(cast($masks as boolean[][])) as is_any",
        params,
    )
    steps.create("given_mask", "select distinct is_any from temp.given_path")
    deepest = max((len(labels) for labels in paths), default=0)
    walk(steps, deepest)
    steps.run("named_situation")
    unknown = steps.rows(
        "select path_id from temp.given_path where path_id not in "
        "(select path_id from temp.named_situation) order by path_id"
    )
    explained = [explain(steps, tree_id, paths[i], what) for (i,) in unknown[:1]]
    if explained and passed_over is None:
        raise StagingError(explained[0])
    if explained and passed_over is not None:
        more = f"; and {len(unknown) - 1:,} more paths" if len(unknown) > 1 else ""
        passed_over.append(f"passed over: {explained[0]}{more}")


def _from_paths(
    steps: Steps,
    tree_id: int,
    named: list[tuple[list[str], str]],
    what: str,
    passed_over: list[str] | None,
) -> None:
    _fit_paths(steps, tree_id, named, what, passed_over)
    _refuse_overlap(steps, tree_id, "select vertex_id, name from temp.named_situation", what)
    steps.create(f"given_{what}", "select distinct vertex_id, name from temp.named_situation")


@contextmanager
def _named(con: duckdb.DuckDBPyConnection, source: Source, what: str) -> Iterator[Relation]:
    """Open a source of names; what is wrong with it is said in the words of stages."""
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


def _from_source(
    steps: Steps,
    con: duckdb.DuckDBPyConnection,
    tree_id: int,
    source: Source,
    what: str,
) -> dict[str, object]:
    file = template_reader.read(source)
    if file is not None:
        return _from_template(steps, tree_id, file, what)
    with _named(con, source, what) as relation:
        load_chunks(con, relation, relation.columns)
        if template_reader.fits(relation.columns):
            return _from_template(
                steps, tree_id, template_reader.read_relation(steps, relation), what
            )
        if "vertex_id" not in relation.columns or len(relation.columns) != 2:
            raise StagingError(
                f"{what}: columns {listed(relation.columns)}",
                hint=f"give two columns, vertex_id and {what}, or a template with its column "
                "'stage'",
            )
        cells = dict(zip(relation.columns, relation.cells, strict=True))
        ((column, name),) = ((key, cells[key]) for key in cells if key != "vertex_id")
        query = (
            f"select {cells['vertex_id']} as written, "  # noqa: S608
            f"{whole(cells['vertex_id'])} as vertex_id, {name} as name "
            f"from {relation.from_clause}"
        )
        try:
            steps.create("given_row", query, dict(relation.params))
        except SqlStepError as error:
            raise read_error(con, relation, error) from None
    bad = steps.rows(
        "select coalesce(g.written, 'a blank') from temp.given_row as g where g.name is null "
        "or g.vertex_id is null or g.vertex_id not in (select vertex_id from temp.floret) "
        "order by 1 limit 6"
    )
    if bad:
        raise StagingError(
            f"{what}: vertex_id {listed(row[0] for row in bad)} is no situation of the tree, "
            "or has no name",
            hint="the view cegdb.situations lists them",
        )
    _refuse_overlap(steps, tree_id, "select vertex_id, name from temp.given_row", what)
    rows = steps.create(f"given_{what}", "select distinct vertex_id, name from temp.given_row")
    is_named = column == "stage"
    if is_named and what in _NAMED:
        _show_names(steps, "select vertex_id, name from temp.given_row")
    groups = _as_groups(steps, what, rows, is_named=is_named)
    return {"source": relation.description, "rows": rows, **groups}


def _from_template(
    steps: Steps, tree_id: int, file: template_reader.Template, what: str
) -> dict[str, object]:
    """Take the stages from the rows of a filled."""
    columns = (
        ("name", "varchar", [row.stage for row in file.rows]),
        ("vertex_id", "bigint", [row.vertex_id for row in file.rows]),
        ("variable", "varchar", [row.variable for row in file.rows]),
        ("labels", "varchar[]", [row.path for row in file.rows]),
        ("place", "varchar", [row.place for row in file.rows]),
    )
    cells = "".join(
        f", unnest(cast(${column} as {kind}[])) as {column}" for column, kind, _ in columns
    )
    steps.create(
        "template_row",
        f"select unnest(range(len($name))) as row_id{cells}",
        {column: cast("Value", values) for column, _, values in columns},
    )
    walk(steps)
    steps.run("template_situation")
    joined = (
        "temp.template_row as r left join temp.template_situation as s on r.row_id = s.row_id"
    )
    bad = steps.rows(
        f"select r.row_id, s.labels, s.variable from {joined} where s.row_id is null "  # noqa: S608
        "or r.labels <> s.labels or r.variable <> s.variable order by r.row_id limit 1"
    )
    for row_id, path, variable in bad:
        row = file.rows[row_id]
        if path is None and row.vertex_id is None:
            why = explain(steps, tree_id, row.path or [], what, is_literal=True)
            raise StagingError(
                f"{file.called}, {row.place}: {why}", hint=template_reader.ANOTHER_TREE
            )
        template_reader.refuse_other(file, row, path, variable)
    table = f"given_{what}"
    steps.create(
        f"{table}_place",
        f"select s.vertex_id, r.name, r.place, r.row_id from {joined} "  # noqa: S608
        "where r.name is not null",
    )
    twice = steps.rows(
        "select a.name, a.place, b.name, b.place, a.vertex_id "  # noqa: S608
        f"from temp.{table}_place as a inner join temp.{table}_place as b "
        "on a.vertex_id = b.vertex_id and a.row_id < b.row_id and a.name <> b.name "
        "order by a.row_id, b.row_id limit 1"
    )
    for one, here, other, there, vertex_id in twice:
        raise StagingError(
            f"{file.called}, {here} and {there}: situation "
            f"{words(steps, tree_id, vertex_id)} is in two groups of {what}, {one!r} and "
            f"{other!r}",
            hint="keep one of the rows, or name the same stage in both",
        )
    named = f"select distinct vertex_id, name from temp.{table}_place"  # noqa: S608
    rows = steps.create(table, named)
    if what in _NAMED:
        _show_names(steps, named)
    groups = _as_groups(steps, what, rows, is_named=True)
    return {"source": file.called, "rows": rows, **groups}


def _as_groups(steps: Steps, what: str, rows: int, *, is_named: bool) -> dict[str, object]:
    """Return the groups of ``given_<what>`` by path, to give again, unless they are many.

    Not those of stages, which a rebuild finds by their members.
    """
    if what == "stage" or rows > _MOST_RECORDED:
        return {}
    walk(steps)
    groups: dict[str, list[list[str]]] = {}
    for name, labels in steps.rows(
        f"select g.name, p.labels from temp.given_{what} as g "  # noqa: S608
        "inner join temp.situation_path as p on g.vertex_id = p.vertex_id order by p.vertex_id"
    ):
        groups.setdefault(name, []).append(labels)
    if any(ANY in labels for paths in groups.values() for labels in paths):
        return {}  # a label that would be taken for any
    return {"groups": groups, **({} if is_named else {"is_named": False})}


def _refuse_overlap(steps: Steps, tree_id: int, query: str, what: str) -> None:
    twice = steps.rows(
        f"select vertex_id, min(name), max(name) from ({query}) group by vertex_id "  # noqa: S608
        "having min(name) <> max(name) order by vertex_id limit 1"
    )
    if twice:
        vertex_id, one, other = twice[0]
        raise StagingError(
            f"situation {words(steps, tree_id, vertex_id)} is in two groups of "
            f"{what}: {one!r} and {other!r}",
            hint="name each situation once",
        )
