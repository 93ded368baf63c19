"""Rows for plots: as much of a staging or CEG as there is room for, small cells hidden."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cegdb.compare.stage_matching import match_stages
from cegdb.errors import QueryError, is_whole
from cegdb.inference.mean_scores import (
    declared_scores,
    in_order_of_means,
    mean_scores,
    stage_means,
)
from cegdb.names import only_match
from cegdb.small_cells import masked_view, masked_views
from cegdb.sqlfiles import Steps
from cegdb.store.catalog import row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cegdb.inference.mean_scores import MeanScore, Scores
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


class OmittedSituations(NamedTuple):
    """How many of all were left out for lack of room, and their people as far as known.

    The number of people is hidden for ``n_hidden`` of all.
    """

    n_omitted: int
    n_all: int
    n_people: int
    n_hidden: int = 0


class Stages(NamedTuple):
    """The stages of a variable, or all of a staging, and the answers given in them.

    Stages of ordered answers stand in the order of their mean. Of a single variable whose
    answers are ordered, ``scores`` has those of its labels (None: no answer), and ``means``
    those of the stages, as far as they are not hidden.
    """

    stages: list[Stage]
    answers: list[Answer]
    scores: Mapping[str, float | None]
    means: Mapping[int, MeanScore]

    def in_order_of_scores(self, label_ids: Sequence[int]) -> list[int]:
        """Return labels by their scores; those that have none follow, by id."""
        name_of = {answer.label_id: answer.label for answer in self.answers}

        def order(label_id: int) -> tuple[bool, float, int]:
            score = self.scores.get(name_of[label_id])
            return score is None, score or 0.0, label_id

        return sorted(label_ids, key=order)


class Situations(NamedTuple):
    """Situations with most people, their stages, and what was left out.

    ``shares`` has the share of each answer, by situation and label; ``n_unlearnt`` situations
    are left out since their stage was not learnt, if only learnt ones are wanted.
    """

    situations: list[Situation]
    stages: Stages
    shares: dict[int, dict[int, float | None]]
    omitted: OmittedSituations
    n_unlearnt: int = 0


class Block(NamedTuple):
    """A part of a column of a flow: a stage or position, the end (-1), or the rest (-2).

    ``mean`` is the mean score of ordered answers.
    """

    block_id: int
    column: int
    name: str
    colour: str
    n: int
    n_hidden: int
    n_nodes: int
    mean: float | None = None


class Ribbon(NamedTuple):
    """The people who take an answer from one block to another."""

    source_id: int
    source_column: int
    target_id: int
    target_column: int
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


def check_most(most: object, what: str) -> int:
    """Return the limit of a plot; refuse all but whole numbers from 2 on."""
    if not is_whole(most) or not 2 <= most <= 10_000:
        raise QueryError(
            f"most must be a whole number of {what} from 2 to 10,000, not {most!r}"
        )
    return int(most)


def variables_of(store: Store, tree_id: int) -> list[str]:
    """Return the variables that situations of a tree have, in its order."""
    with store.catalog() as catalog:
        order = row(catalog, "tree", tree_id)["settings"]["order"]
    with store.reading() as con, Steps(con) as steps:
        known = {str(name) for _, name in steps.fetch("tree_variable", tree_id=tree_id)}
    return [name for name in order if name in known]


def find_variable(known: Sequence[str], variable: object) -> str:
    """Return the variable that is meant, refusing one that no situation has."""
    unknown = f"no situation has the variable {variable!r}"
    return only_match(str(variable), known, unknown, QueryError)


def matched_stages(overlaps: Sequence[Overlap]) -> set[tuple[int, int]]:
    """Match the stages of two stagings one to one, so that they share as many people as can be.

    If two matchings share equally many people, the one that shares more situations is taken.
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


def create_plotted_vertices(
    store: Store,
    steps: Steps,
    staging: str,
    variable: str | None,
    min_n: int | None,
    *,
    only_learnt: bool = False,
) -> int:
    """Keep the vertices of a staging; those in stages of a variable if one is given."""
    with masked_view(store, "staged_vertices", {"staging": staging}, min_n) as vertices:
        return steps.run(
            "plotted_vertex",
            vertices=vertices,
            staging=staging,
            variable=variable,
            only_learnt=only_learnt,
        )


def create_plotted_edges(store: Store, steps: Steps, staging: str, min_n: int | None) -> None:
    """Keep the edges of the vertices kept."""
    with masked_view(store, "staged_edges", {"staging": staging}, min_n) as edges:
        steps.run("plotted_edge", edges=edges, staging=staging)


def read_stages(
    store: Store, staging: Mapping[str, object], variable: str | None, min_n: int | None
) -> Stages:
    """Return the stages of a variable (None: all) and the answers given in them."""
    with store.reading() as con, Steps(con) as steps:
        create_plotted_vertices(store, steps, str(staging["name"]), variable, min_n)
        return _stages(store, steps, staging, variable, min_n)


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
        n_unlearnt = create_plotted_vertices(store, steps, name, variable, min_n)
        if only_learnt:
            n_unlearnt -= create_plotted_vertices(
                store, steps, name, variable, min_n, only_learnt=True
            )
        stages = _stages(store, steps, staging, variable, min_n)
        steps.run("plotted_situation", variable=variable, most=most)
        shares: dict[int, dict[int, float | None]] = {}
        with masked_view(store, "tree_edges", {"tree": tree}, min_n) as edges:
            for vertex_id, label_id, share in steps.fetch(
                "plotted_share", edges=edges, tree=tree, staging=name
            ):
                shares.setdefault(int(vertex_id), {})[int(label_id)] = share
        situations = situations_with_paths(steps, tree_id)
        (omitted,) = steps.fetch("omitted_situation", variable=variable)
    return Situations(
        situations,
        stages,
        shares,
        OmittedSituations(*omitted),
        n_unlearnt if only_learnt else 0,
    )


def situations_with_paths(steps: Steps, tree_id: int) -> list[Situation]:
    """Return the rows of ``plotted_situation`` with the answers that lead to each."""
    paths: dict[int, list[str]] = {}
    for vertex_id, label in steps.fetch("plotted_path", tree_id=tree_id):
        paths.setdefault(int(vertex_id), []).append(str(label))
    return [
        Situation(int(vertex_id), name, stage_id, n, tuple(paths.get(int(vertex_id), ())))
        for vertex_id, name, stage_id, n in steps.rows(
            "select vertex_id, situation, stage_id, n from temp.plotted_situation "
            "order by vertex_id"
        )
    ]


def read_pairs(
    store: Store, staging: str, kind: str, vertex_ids: Sequence[int]
) -> list[tuple[int, int, int, int]]:
    """Return in how many runs two situations were reached, and staged together."""
    with store.reading() as con, Steps(con) as steps:
        _create_plotted_situations(steps, vertex_ids)
        pairs = steps.fetch("plotted_pair", staging=staging, kind=kind)
    return [(int(a), int(b), int(n), int(k)) for a, b, n, k in pairs]


def read_members(store: Store, staging_id: int, vertex_ids: Sequence[int]) -> dict[int, int]:
    """Return the stage of each of some situations in a staging."""
    with store.reading() as con, Steps(con) as steps:
        _create_plotted_situations(steps, vertex_ids)
        members = steps.fetch("plotted_member", staging_id=staging_id)
    return {int(vertex_id): int(stage_id) for vertex_id, stage_id in members}


def read_stage_flow(
    store: Store,
    staging: Mapping[str, object],
    variables: Sequence[str],
    min_n: int | None,
    most: int,
) -> Flow:
    """Return the people through the stages of a staging."""
    name, staging_id = str(staging["name"]), int(str(staging["staging_id"]))
    last = len(variables)
    with store.reading() as con, Steps(con) as steps:
        create_plotted_vertices(store, steps, name, None, min_n)
        create_plotted_edges(store, steps, name, min_n)
        _create_plotted_columns(steps, variables)
        steps.run("stage_flow", last=last)
        steps.run("stage_node", staging=name, last=last)
        scores = declared_scores(store, "staging", staging_id)
        means = mean_scores(_stage_probabilities(steps), scores) if scores else {}
        return _flow(steps, variables, ("stage_flow", "stage_node"), scores, means, most)


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
    views = ("positions", "ceg_edges")
    with (
        store.reading() as con,
        Steps(con) as steps,
        masked_views(store, views, {"ceg": name}, min_n) as (positions, edges),
    ):
        _create_plotted_columns(steps, variables)
        steps.run(
            "plotted_position",
            positions=positions,
            ceg=name,
            ceg_id=ceg_id,
            tree_id=tree_id,
            last=len(variables),
        )
        steps.run("position_flow", edges=edges, ceg=name)
        scores = declared_scores(store, "ceg", ceg_id)
        means = (
            mean_scores(_position_probabilities(steps, edges, name), scores) if scores else {}
        )
        tables = ("position_flow", "plotted_position")
        return _flow(steps, variables, tables, scores, means, most)


def _position_probabilities(
    steps: Steps, edges: str, ceg: str
) -> list[tuple[int, str, str, float | None]]:
    """Return position, variable, label and probability of the edges of a CEG."""
    return [
        (int(position_id), str(variable), str(label), probability)
        for position_id, variable, label, probability in steps.rows(
            "select source_id, variable, label, probability from query_table($edges) "
            "where ceg = $ceg order by all",
            {"edges": edges, "ceg": ceg},
        )
    ]


def read_overlap(store: Store, staging: str, other_id: int, min_n: int | None) -> list[Overlap]:
    """Return what stages of two stagings of one tree have in common, by variable."""
    with store.reading() as con, Steps(con) as steps:
        create_plotted_vertices(store, steps, staging, None, min_n)
        overlaps = steps.fetch("stage_overlap", other_staging_id=other_id)
    return [Overlap(*one) for one in overlaps]


def _stages(
    store: Store,
    steps: Steps,
    staging: Mapping[str, object],
    variable: str | None,
    min_n: int | None,
) -> Stages:
    name, staging_id = str(staging["name"]), int(str(staging["staging_id"]))
    create_plotted_edges(store, steps, name, min_n)
    stages = [Stage(*one) for one in steps.fetch("plotted_stage", staging=name)]
    answers = [Answer(*one) for one in steps.fetch("plotted_answer")]
    scores = declared_scores(store, "staging", staging_id)
    edges = _stage_probabilities(steps) if scores else []
    variable_of = {stage_id: of_stage for stage_id, of_stage, *_ in edges}
    means = mean_scores(edges, scores)
    own = scores.get(variable, {}) if variable is not None else {}
    found = stage_means(store, staging_id, {str(variable): own}) if own else {}
    return Stages(
        in_order_of_means(
            stages,
            lambda stage: variable_of.get(stage.stage_id),
            lambda stage: means.get(stage.stage_id),
        ),
        answers,
        own,
        {stage_id: mean for stage_id, mean in found.items() if stage_id in means},
    )


def _stage_probabilities(steps: Steps) -> list[tuple[int, str, str, float | None]]:
    """Return stage, variable, label and probability of the edges of the vertices kept."""
    return [
        (int(stage_id), str(variable), str(label), probability)
        for stage_id, variable, label, probability in steps.rows(
            "select distinct stage_id, variable, label, probability from temp.plotted_edge "
            "order by all"
        )
    ]


def _create_plotted_situations(steps: Steps, vertex_ids: Sequence[int]) -> None:
    ids = np.array(list(vertex_ids), dtype=np.int64)
    steps.create_from("plotted_situation", {"vertex_id": ids})


def _create_plotted_columns(steps: Steps, variables: Sequence[str]) -> None:
    names = np.array(list(variables), dtype=object)
    steps.create_from(
        "plotted_column", {"variable": names, "column_index": np.arange(len(names))}
    )


def _flow(
    steps: Steps,
    variables: Sequence[str],
    tables: tuple[str, str],
    scores: Scores,
    means: Mapping[int, float],
    most: int,
) -> Flow:
    """Return the flow in the tables of links and nodes, ordered answers by their scores."""
    links, nodes = tables
    steps.view("flow_link", f"from temp.{links}")
    steps.view("flow_node", f"from temp.{nodes}")
    steps.run("flow_block", most=most)
    ribbons = [Ribbon(*one) for one in steps.fetch("flow_ribbon")]

    def order(ribbon: Ribbon) -> tuple[int, int, int, int, float]:
        source, target = ribbon.source_column, ribbon.target_column
        score = scores.get(variables[source], {}).get(ribbon.label)
        place = math.inf if score is None else score
        return source, ribbon.source_id, target, ribbon.target_id, place

    blocks = [
        Block(*one)._replace(mean=means.get(one[0])) for one in steps.fetch("drawn_block")
    ]
    return Flow(list(variables), blocks, sorted(ribbons, key=order))
