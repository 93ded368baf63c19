"""The paths of situations, situations in words, and what is wrong with their groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cegdb.errors import StagingError, listed

if TYPE_CHECKING:
    from cegdb.sqlfiles import Steps

ANY: Final = "*"
ROOT: Final = (
    "select vertex_id, 0 as depth, cast([] as varchar[]) as labels "
    "from temp.floret where vertex_id = 0"
)
OF_LABELS: Final = (
    "situations share a stage only if they have the same labels: complete the florets (tree "
    "with sampling_zeros='floret', --sampling-zeros floret), relabel, or split the stage"
)
OF_HYPERSTAGES: Final = (
    "their labels are the same, but situations share a stage within a hyperstage only (by "
    "default: same variable and same label set): give hyperstages='labels' (--hyperstages "
    "labels) or hyperstages of your own, or split the stage"
)


def whole(cell: str) -> str:
    """Return SQL that reads a text as a whole number; null if it is none (a cast rounds).

    Examples
    --------
    >>> import duckdb
    >>> texts = ("'2'", "' 2.0 '", "'1.5'", "'x'", "'1e1'")
    >>> duckdb.sql(f"select {', '.join(map(whole, texts))}").fetchall()
    [(2, 2, None, None, None)]
    """
    digits = f"regexp_extract(trim({cell}), '^(-?[0-9]+)([.]0+)?$', 1)"
    return f"try_cast({digits} as bigint)"


def walk(steps: Steps, depth: int | None = None) -> None:
    """Make the paths of all situations, or those of some depth and above.

    ``situation_path`` has those of some depths, at least of 0, the root.
    """
    reached = int(str(steps.rows("select max(depth) from temp.situation_path")[0][0] or 0))
    while (depth is None or reached < depth) and steps.run("situation_path", depth=reached + 1):
        reached += 1


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
        name, *both = mixed[0]
        one, other = (
            f"{place_of(steps, given, vertex_id)}situation {words(steps, tree_id, vertex_id)}"
            for vertex_id in both
        )
        raise StagingError(f"{what} {name!r} joins {one} and {other}", hint=hint)


def refuse_mixed_stages(steps: Steps, tree_id: int, given: str, what: str) -> None:
    """Refuse a stage of ``given`` over several label sets, or over several hyperstages."""
    labels = "select vertex_id, labels as part from temp.floret"
    refuse_mixture(steps, tree_id, given, labels, what, OF_LABELS)
    hyperstage = "select vertex_id, hyperstage_id as part from temp.situation_group"
    refuse_mixture(steps, tree_id, given, hyperstage, what, OF_HYPERSTAGES)


def place_of(steps: Steps, given: str, vertex_id: int) -> str:
    """Return where a file names a situation, as ``row 3, ``; nothing if no file does."""
    if not steps.has(f"{given}_place"):
        return ""
    found = steps.rows(
        f"select min(place) from temp.{given}_place where vertex_id = $vertex_id",  # noqa: S608
        {"vertex_id": vertex_id},
    )
    return f"{found[0][0]}, " if found[0][0] is not None else ""


def explain(
    steps: Steps, tree_id: int, labels: list[str], what: str, *, is_literal: bool = False
) -> str:
    """Say why a path fits no situation, following it as far as it goes.

    ``is_literal``: ``"*"`` is a label like any other.
    """
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
        if label == ANY and not is_literal:
            return f"{what}: no situation of the tree fits ({shown})"
        if label not in children:
            found = listed(map(repr, children))
            return f"{what}: ({shown}) does not exist: after ({before}) come {found}"
        vertex_id = children[label]
    return f"{what}: ({shown}) is a leaf, which has no stage"
