"""What the tables say of a CEG, read once for every form of its report."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import numpy as np

from cegdb.errors import agreeing
from cegdb.report.words.situation_words import Group, Place, Places, examples
from cegdb.small_cells import shown
from cegdb.sqlfiles import Steps
from cegdb.store.catalog import row, staging_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cegdb.store import Store

#: Situations of one question that are compared to say what is common to those of a stage.
MOST_COMPARED: Final = 3_000
_EXAMPLES: Final = 4


class Answer(NamedTuple):
    """An answer at a stage, as the tables have it; None is hidden, or undefined."""

    label: str
    n: int | None
    share: float | None
    probability: float | None
    low: float | None
    high: float | None


class Stage(NamedTuple):
    """A stage with its situations in words."""

    stage_id: int
    name: str
    given_name: str | None
    kind: str
    variable: str | None
    n_positions: int
    n_situations: int
    n: int | None
    answers: tuple[Answer, ...]
    group: Group

    @property
    def n_answered(self) -> int | None:
        """Return how many people its numbers rest on; None if that is hidden."""
        counts = [answer.n for answer in self.answers if answer.n is not None]
        return sum(counts) if len(counts) == len(self.answers) else None

    @property
    def is_hidden(self) -> bool:
        """Return whether its probabilities are hidden."""
        return any(answer.probability is None for answer in self.answers)


class Made(Protocol):
    """What a staging stands on, as catalog rows, and whether small cells are hidden."""

    @property
    def survey(self) -> Mapping[str, Any]:
        """Return the row of the survey."""

    @property
    def tree(self) -> Mapping[str, Any]:
        """Return the row of the tree."""

    @property
    def staging(self) -> Mapping[str, Any]:
        """Return the row of the staging."""

    @property
    def min_n(self) -> int | None:
        """Return which counts are hidden."""


def respondents(told: Made) -> int:
    """Return how many the survey has; those of the tree if the others are too few to tell."""
    n, n_used = int(told.survey["n"]), int(told.tree["n"])
    return n_used if is_few(n - n_used, told) else n


def is_few(n: int, told: Made) -> bool:
    """Return whether a count is a small one, where these are hidden."""
    return told.min_n is not None and 0 < n < told.min_n


def agreed(n: int, verb: str, told: Made) -> str:
    """Return a verb after a count, which does not tell that a hidden one is 1."""
    return verb if is_few(n, told) else agreeing(n, verb)


class LeftOut(NamedTuple):
    """Stages of a question that are not told: how many, and of how many people."""

    n_stages: int
    n: int | None


class Told(NamedTuple):
    """A CEG and what it stands on, as catalog rows, and its stages by question."""

    ceg: Mapping[str, Any]
    staging: Mapping[str, Any]
    tree: Mapping[str, Any]
    survey: Mapping[str, Any]
    variables: Mapping[str, str | None]
    labels: Mapping[str, Sequence[str]]
    stages: Mapping[str | None, tuple[Stage, ...]]
    left_out: Mapping[str | None, LeftOut]
    sizes: Mapping[str | None, int]
    min_n: int | None

    @property
    def answers(self) -> dict[str, list[str]]:
        """Return the labels of each variable, those of relabelled edges too."""
        found = {name: list(labels) for name, labels in self.labels.items()}
        for name, stages in self.stages.items():
            if name is not None:
                more = (answer.label for stage in stages for answer in stage.answers)
                found[name] = list(dict.fromkeys([*found.get(name, ()), *more]))
        return found

    @property
    def is_conditioned(self) -> bool:
        """Return whether it is a CEG given evidence."""
        return self.ceg["staging_id"] is None


def read(store: Store, ceg_id: int, *, limit: int, min_n: int | None = None) -> Told:
    """Return what the tables say of a CEG.

    Parameters
    ----------
    store
        Where to read.
    ceg_id
        The CEG.
    limit
        The most stages of one question: those of most people.
    min_n
        Hide counts below it, and what would reveal them, as in `cegdb.small_cells.shown`.

    Notes
    -----
    One reading of positions and edges, and of the situations of each question that has no
    more than `MOST_COMPARED`; of others a few examples.
    """
    ceg, staging, tree, survey = owners(store, ceg_id)
    where = {"ceg": ceg["name"]}
    with store.reading() as con, Steps(con) as steps:
        with shown(store, "positions", where, min_n) as positions:
            found = steps.fetch(
                "told_stage",
                positions=positions,
                ceg=ceg["name"],
                staging_id=ceg["staging_id"] or 0,
            )
        known = variables_of(steps, survey["survey_id"], tree)
        of = _by_variable(found, [name for _, name, _ in known])
        kept = {name: _of_most_people(rows, limit) for name, rows in of.items()}
        ids = [int(str(r[0])) for rows in kept.values() for r in rows]
        steps.create_from("asked_stage", {"stage_id": np.array(ids, np.int64)})
        with shown(store, "ceg_edges", where, min_n) as edges:
            answers = steps.fetch("told_answer", edges=edges, ceg=ceg["name"])
        labels = labels_of(steps, survey["survey_id"])
        groups = _groups(steps, known, labels, of, kept, ceg_id, tree["tree_id"], min_n)
    by_stage = {
        int(str(stage_id)): tuple(Answer(*rest[1:]) for _, *rest in rows)
        for stage_id, rows in groupby(answers, key=lambda r: r[0])
    }
    stages = {
        name: tuple(_stage(r, by_stage, groups) for r in rows) for name, rows in kept.items()
    }
    return Told(
        ceg,
        staging,
        tree,
        survey,
        {name: question for _, name, question in known},
        labels,
        stages,
        {
            name: LeftOut(len(rows) - len(kept[name]), _left_out(rows, kept[name]))
            for name, rows in of.items()
        },
        {name: len(rows) for name, rows in of.items()},
        min_n,
    )


def owners(store: Store, ceg_id: int) -> tuple[dict[str, Any], ...]:
    """Return the catalog rows of a CEG, its staging, its tree and its survey."""
    with store.catalog() as catalog:
        ceg = row(catalog, "ceg", ceg_id)
        staging = row(catalog, "staging", staging_of(ceg))
        tree = row(catalog, "tree", staging["tree_id"])
        return ceg, staging, tree, row(catalog, "survey", tree["survey_id"])


def variables_of(
    steps: Steps, survey_id: int, tree: Mapping[str, Any]
) -> list[tuple[int, str, str | None]]:
    """Return id, name and question of the variables of a tree, in its order."""
    rows = steps.rows(
        "select variable_id, name, question from cegdb.variable where survey_id = $survey_id "
        "order by ordinal",
        {"survey_id": survey_id},
    )
    order = tree["settings"].get("order")
    names = [str(name) for name in order] if isinstance(order, list) else []
    place = {name: i for i, name in enumerate(names)}
    found = [(int(str(i)), str(n), None if q is None else str(q)) for i, n, q in rows]
    kept = [one for one in found if one[1] in place] if names else found
    return sorted(kept, key=lambda one: place.get(one[1], 0))


def labels_of(steps: Steps, survey_id: int) -> dict[str, list[str]]:
    """Return the labels of each variable, in level order."""
    rows = steps.rows(
        "select v.name, l.label from cegdb.level as l inner join cegdb.variable as v "
        "on l.variable_id = v.variable_id where v.survey_id = $survey_id and l.kind = 'value' "
        "order by v.ordinal, l.code",
        {"survey_id": survey_id},
    )
    labels: dict[str, list[str]] = {}
    for name, label in rows:
        labels.setdefault(str(name), []).append(str(label))
    return labels


def _by_variable(
    rows: Sequence[tuple[object, ...]], order: Sequence[str]
) -> dict[str | None, list[tuple[object, ...]]]:
    """Return rows of stages by question, in the order of the tree; None spans several."""
    of: dict[str | None, list[tuple[object, ...]]] = {}
    for name in (*order, None):
        found = [r for r in rows if r[4] == name]
        if found:
            of[name] = found
    return of


def _of_most_people(rows: Sequence[tuple[object, ...]], limit: int) -> list[tuple[object, ...]]:
    return sorted(rows, key=lambda r: -int(str(r[7] or 0)))[:limit]


def _left_out(
    rows: Sequence[tuple[object, ...]], kept: Sequence[tuple[object, ...]]
) -> int | None:
    """Return the people of the stages that are not kept; None if any count is hidden."""
    ids = {r[0] for r in kept}
    counts = [r[7] for r in rows if r[0] not in ids]
    return None if None in counts else sum(int(str(n)) for n in counts)


def _stage(
    found: tuple[object, ...],
    answers: Mapping[int, tuple[Answer, ...]],
    groups: Mapping[int, Group],
) -> Stage:
    stage_id = int(str(found[0]))
    return Stage(
        stage_id,
        str(found[1]),
        None if found[2] is None else str(found[2]),
        "" if found[3] is None else str(found[3]),
        None if found[4] is None else str(found[4]),
        int(str(found[5])),
        int(str(found[6])),
        None if found[7] is None else int(str(found[7])),
        answers[stage_id],
        groups[stage_id],
    )


def _groups(
    steps: Steps,
    known: Sequence[tuple[int, str, str | None]],
    labels: Mapping[str, Sequence[str]],
    of: Mapping[str | None, Sequence[tuple[object, ...]]],
    kept: Mapping[str | None, Sequence[tuple[object, ...]]],
    ceg_id: int,
    tree_id: int,
    min_n: int | None,
) -> dict[int, Group]:
    """Return the situations of each stage kept, in words."""
    ids = np.array([variable_id for variable_id, _, _ in known], np.int64)
    steps.create_from("told_variable", {"variable_id": ids, "place": np.arange(len(ids))})
    names = {variable_id: name for variable_id, name, _ in known}
    groups: dict[int, Group] = {}
    for place, (variable_id, name, _) in enumerate(known):
        size = sum(int(str(r[6])) for r in of.get(name, ()))
        if not size or size > MOST_COMPARED:
            continue
        steps.run(
            "told_place", tree_id=tree_id, ceg_id=ceg_id, variable_id=variable_id, place=place
        )
        found = list(places_of(steps, "told_place", tree_id, names, min_n))
        places = Places(found, [n for _, n, _ in known[:place]], labels)
        groups |= {int(str(r[0])): places.group(int(str(r[0]))) for r in kept[name]}
    rest = {
        int(str(r[0])): int(str(r[6]))
        for rows in kept.values()
        for r in rows
        if int(str(r[0])) not in groups
    }
    if rest:
        steps.create_from("asked_stage", {"stage_id": np.array(list(rest), np.int64)})
        steps.run(
            "told_example",
            tree_id=tree_id,
            ceg_id=ceg_id,
            most=_EXAMPLES,
            by_people=min_n is None,
        )
        found = sorted(
            places_of(steps, "told_example", tree_id, names, min_n),
            key=lambda p: (p.stage_id or 0, -p.n, p.vertex_id),
        )
        for stage_id, few in groupby(found, key=lambda p: p.stage_id or 0):
            groups[stage_id] = examples(list(few), rest[stage_id])
    return groups


def places_of(
    steps: Steps, relation: str, tree_id: int, names: Mapping[int, str], min_n: int | None
) -> Iterator[Place]:
    """Read vertices with the answers that lead to them.

    Where small cells are hidden, the order does not tell of counts.
    """
    rows = steps.fetch("told_path", tree_id=tree_id, places=f"temp.{relation}")
    for vertex_id, path in groupby(rows, key=lambda r: r[0]):
        (_, stage_id, n, *_), *answers = list(path)
        yield Place(
            int(str(vertex_id)),
            None if stage_id is None else int(str(stage_id)),
            int(str(n)) if min_n is None else 1,
            {names[int(str(i))]: str(label) for *_, i, label in reversed(answers)},
        )
