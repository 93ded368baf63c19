"""Rows for plots: as much of a staging or CEG as there is room for, small cells hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cegdb.compare.stage_matching import match_stages
from cegdb.errors import QueryError, is_whole, listed
from cegdb.small_cells import shown
from cegdb.sqlfiles import Steps
from cegdb.store.catalog import row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cegdb.store import Store


class Stage(NamedTuple):
    """A stage: its name, given name, kind and colour, and the people who reach it."""

    stage_id: int
    stage: str
    name: str | None
    kind: str
    colour: str
    n_situations: int
    n: int | None


class Answer(NamedTuple):
    """An answer given in a stage; numbers are None where small cells are hidden."""

    stage_id: int
    label_id: int
    label: str
    n: int | None
    probability: float | None
    low: float | None
    high: float | None


class Situation(NamedTuple):
    """A situation and the answers that lead to it."""

    vertex_id: int
    situation: str
    stage_id: int
    n: int | None
    path: tuple[str, ...]


class Left(NamedTuple):
    """What there was no room for: how many, and the people in them as far as shown.

    ``n_hidden`` are those of all whose people are hidden.
    """

    n_left: int
    n_all: int
    people: int
    n_hidden: int = 0


class Stages(NamedTuple):
    """The stages of a variable, or all of a staging."""

    stages: list[Stage]
    answers: list[Answer]


class Situations(NamedTuple):
    """Situations with most people, their stages, and what was left out.

    ``shares`` has the share of each answer, by situation and label; ``n_unlearnt`` are the
    situations left out since their stage was not learnt, where these alone are asked for.
    """

    situations: list[Situation]
    stages: Stages
    shares: dict[int, dict[int, float | None]]
    left: Left
    n_unlearnt: int = 0


class Block(NamedTuple):
    """A part of a column of a flow: a stage or position, the end (-1), or the rest (-2)."""

    block_id: int
    place: int
    name: str
    colour: str
    n: int
    n_hidden: int
    n_nodes: int


class Ribbon(NamedTuple):
    """The people who take an answer from one block to another."""

    source_id: int
    source_place: int
    target_id: int
    target_place: int
    label: str
    n: int
    n_hidden: int


class Flow(NamedTuple):
    """People through stages or positions; ``columns`` are the variables."""

    columns: list[str]
    blocks: list[Block]
    ribbons: list[Ribbon]


class Overlap(NamedTuple):
    """What a stage of one staging and a stage of another have in common."""

    variable: str
    stage_id: int
    other_id: int
    n: int
    n_hidden: int
    n_situations: int


END = -1
REST = -2


def checked_most(most: object, what: str) -> int:
    """Return how many there is room for, refusing what is no whole number from 2 on.

    Examples
    --------
    >>> checked_most(1, "stages")
    Traceback (most recent call last):
    ...
    cegdb.errors.QueryError: most is 1, expected a whole number of stages from 2 on
    """
    if not is_whole(most) or not 2 <= most <= 10_000:
        raise QueryError(f"most is {most!r}, expected a whole number of {what} from 2 on")
    return int(most)


def variables_of(store: Store, tree_id: int) -> list[str]:
    """Return the variables that the situations of a tree ask, in its order."""
    with store.catalog() as catalog:
        order = row(catalog, "tree", tree_id)["settings"]["order"]
    with store.reading() as con:
        found = con.execute(
            "select distinct q.name from cegdb.vertex as v inner join cegdb.variable as q "
            "on v.variable_id = q.variable_id where v.tree_id = $tree_id",
            {"tree_id": tree_id},
        ).fetchall()
    asked = {str(name) for (name,) in found}
    return [name for name in order if name in asked]


def check_variable(known: Sequence[str], variable: object) -> str:
    """Return a variable that situations ask, refusing any other.

    Examples
    --------
    >>> check_variable(["Risk", "Fall"], "risk")
    Traceback (most recent call last):
    ...
    cegdb.errors.QueryError: no situation asks 'risk'
    hint: the variables are Risk, Fall
    """
    if variable not in known:
        raise QueryError(
            f"no situation asks {variable!r}",
            hint=f"the variables are {listed(known, most=20)}",
        )
    return str(variable)


def matched_stages(overlaps: Sequence[Overlap]) -> set[tuple[int, int]]:
    """Match the stages of two stagings one to one, so that they share most people.

    Of two ways to share as many, the one that shares more situations.

    Examples
    --------
    >>> rows = [Overlap("y", 1, 1, 5, 0, 1), Overlap("y", 1, 2, 9, 0, 1)]
    >>> matched_stages(rows)
    {(1, 2)}
    """
    shared: dict[tuple[int, int], list[int]] = {}
    for one in overlaps:
        both = shared.setdefault((one.stage_id, one.other_id), [0, 0])
        both[0] += one.n
        both[1] += one.n_situations
    total = 1 + sum(one.n_situations for one in overlaps)
    pairs = sorted(shared)
    is_match = match_stages(
        [stage for stage, _ in pairs],
        [other for _, other in pairs],
        [shared[pair][0] * total + shared[pair][1] for pair in pairs],
    )
    return {pair for pair, matches in zip(pairs, is_match.tolist(), strict=True) if matches}


def keep_vertices(
    store: Store, steps: Steps, staging: str, variable: str | None, min_n: int | None
) -> None:
    """Keep the vertices of a staging; those in stages of a variable if one is given."""
    with shown(store, "staged_vertices", {"staging": staging}, min_n) as relation:
        steps.create(
            "plotted_vertex",
            f"select * from {relation} where staging = $staging and ($variable is null or "  # noqa: S608
            f"stage_id in (select stage_id from {relation} where staging = $staging "
            "and variable = $variable))",
            {"staging": staging, "variable": variable},
        )


def keep_edges(store: Store, steps: Steps, staging: str, min_n: int | None) -> None:
    """Keep the edges of the vertices kept."""
    with shown(store, "staged_edges", {"staging": staging}, min_n) as relation:
        steps.create(
            "plotted_edge",
            f"select * from {relation} where staging = $staging and stage_id in "  # noqa: S608
            "(select stage_id from temp.plotted_vertex)",
            {"staging": staging},
        )


def read_stages(store: Store, staging: str, variable: str | None, min_n: int | None) -> Stages:
    """Return the stages of a variable (None: all) and the answers given in them."""
    with store.reading() as con, Steps(con) as steps:
        keep_vertices(store, steps, staging, variable, min_n)
        return _stages(store, steps, staging, min_n)


def read_situations(
    store: Store,
    staging: Mapping[str, object],
    tree: str,
    variable: str | None,
    min_n: int | None,
    most: int,
    *,
    only_learnt: bool = False,
) -> Situations:
    """Return the situations of a variable with most people; those hidden are left out."""
    name, tree_id = str(staging["name"]), int(str(staging["tree_id"]))
    with store.reading() as con, Steps(con) as steps:
        keep_vertices(store, steps, name, variable, min_n)
        n_unlearnt = 0
        if only_learnt:
            n_unlearnt = steps.execute(
                "delete from temp.plotted_vertex where stage_id in (select stage_id "
                "from cegdb.stages where staging = $staging and kind <> 'learnt')",
                {"staging": name},
            )
        stages = _stages(store, steps, name, min_n)
        steps.run("plotted_situation", variable=variable, most=most)
        steps.execute("delete from temp.plotted_situation where n is null")
        with shown(store, "tree_edges", {"tree": tree}, min_n) as relation:
            steps.create(
                "plotted_tree_edge",
                f"select child_id, share from {relation} where tree = $tree "  # noqa: S608
                "and parent_id in (select vertex_id from temp.plotted_situation)",
                {"tree": tree},
            )
        shares: dict[int, dict[int, float | None]] = {}
        for vertex_id, label_id, _, share in steps.fetch("plotted_share", staging=name):
            shares.setdefault(int(vertex_id), {})[int(label_id)] = share
        paths: dict[int, list[str]] = {}
        for vertex_id, _, label in steps.fetch("plotted_path", tree_id=tree_id):
            paths.setdefault(int(vertex_id), []).append(str(label))
        kept = [
            Situation(
                int(vertex_id), situation, stage_id, n, tuple(paths.get(int(vertex_id), ()))
            )
            for vertex_id, situation, stage_id, n in steps.rows(
                "select vertex_id, situation, stage_id, n from temp.plotted_situation "
                "order by vertex_id"
            )
        ]
        (n_all, people, n_hidden), *_ = steps.rows(
            "select count(*), coalesce(sum(n), 0), count(*) - count(n) "
            "from temp.plotted_vertex "
            "where variable = coalesce($variable, variable)",
            {"variable": variable},
        )
        shown_people = sum(one.n or 0 for one in kept)
        n_all, n_hidden = int(n_all), int(n_hidden)
        left = Left(n_all - len(kept), n_all, int(people) - shown_people, n_hidden)
    return Situations(kept, stages, shares, left, n_unlearnt)


def read_pairs(
    store: Store, staging: str, kind: str, vertex_ids: Sequence[int]
) -> list[tuple[int, int, int, int]]:
    """Return in how many runs two situations were reached, and staged together."""
    with store.reading() as con, Steps(con) as steps:
        ids = np.array(list(vertex_ids), dtype=np.int64)
        steps.create_from("plotted_situation", {"vertex_id": ids})
        found = steps.fetch("plotted_pair", staging=staging, kind=kind)
    return [(int(a), int(b), int(n), int(k)) for a, b, n, k in found]


def read_members(store: Store, staging_id: int, vertex_ids: Sequence[int]) -> dict[int, int]:
    """Return the stage of each of some situations in a staging."""
    with store.reading() as con, Steps(con) as steps:
        ids = np.array(list(vertex_ids), dtype=np.int64)
        steps.create_from("plotted_situation", {"vertex_id": ids})
        found = steps.rows(
            "select vertex_id, stage_id from cegdb.stage_member where staging_id = $staging_id "
            "and vertex_id in (select vertex_id from temp.plotted_situation)",
            {"staging_id": staging_id},
        )
    return {int(vertex_id): int(stage_id) for vertex_id, stage_id in found}


def read_stage_flow(
    store: Store, staging: str, variables: Sequence[str], min_n: int | None, most: int
) -> Flow:
    """Return the people through the stages of a staging."""
    with store.reading() as con, Steps(con) as steps:
        keep_vertices(store, steps, staging, None, min_n)
        keep_edges(store, steps, staging, min_n)
        _places(steps, variables)
        steps.run("stage_flow", last=len(variables))
        steps.run("stage_node", last=len(variables))
        steps.view("flow_link", "from temp.stage_flow")
        steps.view("flow_node", "from temp.stage_node")
        named = (
            "select stage_id as node_id, coalesce(name, stage) as name, "
            "if(n_situations > 1, colour, '#ffffff') as colour "
            "from cegdb.stages where staging = $object"
        )
        return _flow(steps, variables, named, staging, most)


def read_position_flow(
    store: Store,
    ceg: Mapping[str, object],
    tree_id: int,
    variables: Sequence[str],
    min_n: int | None,
    most: int,
) -> Flow:
    """Return the people through the positions of a CEG."""
    name, ceg_id = str(ceg["name"]), int(str(ceg["ceg_id"]))
    with store.reading() as con, Steps(con) as steps:
        for view, table in (("positions", "plotted_vertex"), ("ceg_edges", "plotted_edge")):
            with shown(store, view, {"ceg": name}, min_n) as relation:
                steps.create(
                    table,
                    f"select * from {relation} where ceg = $ceg",  # noqa: S608
                    {"ceg": name},
                )
        _places(steps, variables)
        steps.run("plotted_position", ceg_id=ceg_id, tree_id=tree_id, last=len(variables))
        steps.run("position_flow")
        steps.view("flow_link", "from temp.position_flow")
        steps.view("flow_node", "from temp.plotted_position")
        named = (
            "select position_id as node_id, position as name, if(n_situations > 1 "
            "or count(*) over (partition by stage_id) > 1, colour, '#ffffff') as colour "
            "from cegdb.positions where ceg = $object"
        )
        return _flow(steps, variables, named, name, most)


def read_overlap(store: Store, staging: str, other_id: int, min_n: int | None) -> list[Overlap]:
    """Return what stages of two stagings of one tree have in common, by variable."""
    with store.reading() as con, Steps(con) as steps:
        keep_vertices(store, steps, staging, None, min_n)
        found = steps.fetch("stage_overlap", other_staging_id=other_id)
    return [Overlap(*one) for one in found]


def _stages(store: Store, steps: Steps, staging: str, min_n: int | None) -> Stages:
    keep_edges(store, steps, staging, min_n)
    steps.run("plotted_stage", staging=staging)
    steps.run("plotted_answer")
    stages = steps.rows("from temp.plotted_stage order by stage_id")
    answers = steps.rows("from temp.plotted_answer order by stage_id, label_id")
    return Stages([Stage(*one) for one in stages], [Answer(*one) for one in answers])


def _places(steps: Steps, variables: Sequence[str]) -> None:
    steps.create_from(
        "plotted_place",
        {
            "variable": np.array(list(variables), dtype=object),
            "place": np.arange(len(variables)),
        },
    )


def _flow(steps: Steps, variables: Sequence[str], named: str, name: str, most: int) -> Flow:
    """Return the flow of ``flow_node`` and ``flow_link``, as blocks named by a query."""
    steps.run("flow_block", most=most)
    ribbons = [Ribbon(*one) for one in steps.fetch("flow_ribbon")]
    steps.create("flow_name", named, {"object": name})
    blocks = [Block(*one) for one in steps.fetch("shown_block")]
    return Flow(list(variables), blocks, ribbons)
