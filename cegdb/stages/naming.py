"""Find the situations a user names, and name situations in messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from numbers import Number
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from cegdb.errors import SqlStepError, StagingError, SurveyError, items_of, listed
from cegdb.ingest.labels import label_of
from cegdb.ingest.sources import Source, opened, unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

    from cegdb.ingest.relation import Relation
    from cegdb.sqlfiles import Steps, Value

ANY: Final = "*"
_MOST_RECORDED: Final = 10_000
_PATHS: Final = "give labels from the root, such as ('High', 'Low')"

SituationPath: TypeAlias = "str | Sequence[object]"
Grouping: TypeAlias = (
    "Mapping[SituationPath, object] | Sequence[Sequence[SituationPath]] | Source"
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
        Path -> name, a list of groups of paths, or a frame, file or SELECT with the
        columns ``vertex_id`` and one more, the name. None groups nothing.
    what
        ``stage``, ``initial`` or ``hyperstage``.
    passed_over
        Where to tell of paths that fit no situation; None refuses them.

    Returns
    -------
    dict or None
        The grouping as settings to record.

    Raises
    ------
    StagingError
        A path fits no situation, or a situation is in two groups.
    """
    table = f"given_{what}"
    if grouping is None:
        steps.create(table, "select cast(0 as bigint) as vertex_id, '' as name where false")
        return None
    if isinstance(grouping, Mapping):
        named = [(_labels(path, what), _text(name)) for path, name in grouping.items()]
    elif isinstance(grouping, (list, tuple)):
        named = [
            (_labels(path, what), str(number))
            for number, group in enumerate(grouping, 1)
            for path in items_of(group, f"a group of {what}", StagingError, hint=_choices(what))
        ]
    elif isinstance(grouping, (Number, bytes)):
        raise StagingError(f"{what} is {grouping!r}", hint=_choices(what))
    else:
        return _from_source(steps, con, tree_id, cast("Source", grouping), what)
    _from_paths(steps, tree_id, named, what, passed_over)
    groups: dict[str, list[list[str]]] = {}
    for labels, name in named:
        groups.setdefault(name, []).append(labels)
    return {"groups": groups}


def _text(name: object) -> str:
    text = label_of(name)
    if text is None:
        raise StagingError("a stage needs a name that is not blank")
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


def _from_paths(
    steps: Steps,
    tree_id: int,
    named: list[tuple[list[str], str]],
    what: str,
    passed_over: list[str] | None,
) -> None:
    paths = [labels for labels, _ in named]
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
    reached = int(str(steps.rows("select max(depth) from temp.situation_path")[0][0] or 0))
    for depth in range(reached + 1, deepest + 1):
        steps.run("situation_path", depth=depth)
    steps.run("named_situation")
    unknown = steps.rows(
        "select path_id from temp.given_path where path_id not in "
        "(select path_id from temp.named_situation) order by path_id"
    )
    explained = [_explain(steps, tree_id, paths[i], what) for (i,) in unknown[:1]]
    if explained and passed_over is None:
        raise StagingError(explained[0])
    if explained and passed_over is not None:
        more = f"; and {len(unknown) - 1:,} more paths" if len(unknown) > 1 else ""
        passed_over.append(f"passed over: {explained[0]}{more}")
    _refuse_overlap(steps, tree_id, "select vertex_id, name from temp.named_situation", what)
    steps.create(f"given_{what}", "select distinct vertex_id, name from temp.named_situation")


@contextmanager
def _named(con: duckdb.DuckDBPyConnection, source: Source, what: str) -> Iterator[Relation]:
    """Open a source of names; what is wrong with it is said in the words of stages."""
    try:
        with opened(con, source) as relation:
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
    with _named(con, source, what) as relation:
        if "vertex_id" not in relation.columns or len(relation.columns) != 2:
            raise StagingError(
                f"{what}: columns {listed(relation.columns)}",
                hint=f"give two columns, vertex_id and {what}",
            )
        cells = dict(zip(relation.columns, relation.cells, strict=True))
        (name,) = (cell for column, cell in cells.items() if column != "vertex_id")
        query = (
            f"select {cells['vertex_id']} as written, "  # noqa: S608
            f"try_cast({cells['vertex_id']} as bigint) as vertex_id, {name} as name "
            f"from {relation.from_clause}"
        )
        try:
            steps.create("given_row", query, dict(relation.params))
        except SqlStepError as error:
            raise unreadable(con, relation, error) from None
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
    return {"source": relation.described, "rows": rows, **_as_groups(steps, what, rows)}


def _as_groups(steps: Steps, what: str, rows: int) -> dict[str, object]:
    """Return the groups of ``given_<what>`` by path, to give again, unless they are many.

    Not those of stages, which a rebuild finds by their members.
    """
    if what == "stage" or rows > _MOST_RECORDED:
        return {}
    ((depth,),) = steps.rows("select max(depth) from temp.situation_path")
    while steps.run("situation_path", depth=depth + 1):
        depth += 1
    groups: dict[str, list[list[str]]] = {}
    for name, labels in steps.rows(
        f"select g.name, p.labels from temp.given_{what} as g "  # noqa: S608
        "inner join temp.situation_path as p on g.vertex_id = p.vertex_id order by p.vertex_id"
    ):
        groups.setdefault(name, []).append(labels)
    if any(ANY in labels for paths in groups.values() for labels in paths):
        return {}  # a label that would be taken for any
    return {"groups": groups}


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


def words(steps: Steps, tree_id: int, vertex_id: int) -> str:
    """Return a situation in words: the labels that lead to it, and those of its floret."""
    rows = steps.fetch("path_words", tree_id=tree_id, vertex_id=vertex_id)
    path = [repr(label) for part, _, label in rows if part == "path"]
    floret = [str(label) for part, _, label in rows if part == "floret"]
    labels = f"with labels {listed(floret)}" if floret else "which is a leaf"
    return f"({', '.join(path) or 'the root'}) {labels}"


def refuse_mixture(
    steps: Steps, tree_id: int, given: str, by: str, what: str, hint: str
) -> None:
    """Refuse a group of ``given`` whose situations differ in ``by(vertex_id, part)``."""
    mixed = steps.rows(
        f"select g.name, arg_min(g.vertex_id, g.vertex_id), "  # noqa: S608
        "max(g.vertex_id) filter (where b.part is distinct from f.part) "
        f"from temp.{given} as g inner join ({by}) as b on g.vertex_id = b.vertex_id "
        f"inner join (select x.name, arg_min(y.part, x.vertex_id) as part from temp.{given} "
        f"as x inner join ({by}) as y on x.vertex_id = y.vertex_id group by x.name) as f "
        "on g.name = f.name group by g.name "
        "having count(*) filter (where b.part is distinct from f.part) > 0 "
        "order by 2 limit 1"
    )
    if mixed:
        name, one, other = mixed[0]
        raise StagingError(
            f"{what} {name!r} joins situation {words(steps, tree_id, one)} and "
            f"situation {words(steps, tree_id, other)}",
            hint=hint,
        )


def _explain(steps: Steps, tree_id: int, labels: list[str], what: str) -> str:
    """Say why a path fits no situation, following it as far as it goes."""
    shown = ", ".join(map(repr, labels))
    vertex_id = 0
    for place, label in enumerate(labels):
        children = {
            str(found): child
            for found, child in steps.rows(
                "select l.label, e.child_id from cegdb.edge as e "  # noqa: S608
                "inner join cegdb.level as l on e.level_id = l.level_id "
                f"where e.tree_id = {tree_id} and e.parent_id = {vertex_id} "
                "order by e.child_id"
            )
        }
        before = ", ".join(map(repr, labels[:place])) or "the root"
        if not children:
            return f"{what}: ({shown}) goes on after ({before}), which is a leaf"
        if label == ANY:
            return f"{what}: no situation of the tree fits ({shown})"
        if label not in children:
            found = listed(map(repr, children))
            return f"{what}: ({shown}) does not exist: after ({before}) come {found}"
        vertex_id = children[label]
    return f"{what}: ({shown}) is a leaf, which has no stage"
