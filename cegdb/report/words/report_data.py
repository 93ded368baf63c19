"""What the tables say about a CEG, read once for every form of its report."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import numpy as np

from cegdb.errors import agreeing
from cegdb.findings import findings_of
from cegdb.inference.mean_scores import (
    MeanScore,
    declared_scores,
    in_order_of_means,
    mean_scores,
    stage_means,
)
from cegdb.report.lineage import lineage_of
from cegdb.report.words.situation_words import Group, History, StageDescriber, examples
from cegdb.small_cells import masked_view
from cegdb.sqlfiles import Row, Steps

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from cegdb.findings import StoredFinding
    from cegdb.inference.mean_scores import Scores
    from cegdb.store import Store

#: Situations of one variable that are compared to find what those of a stage have in common.
MOST_COMPARED: Final = 3_000
_EXAMPLES: Final = 4


class Answer(NamedTuple):
    """An answer at a stage; None where a number is hidden or undefined."""

    label: str
    n: int | None
    share: float | None
    probability: float | None
    low: float | None
    high: float | None


class Stage(NamedTuple):
    """A stage with its situations in words; ``mean`` is the mean score of ordered answers."""

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
    mean: MeanScore | None = None

    @property
    def title(self) -> str:
        """Return its name, and the one that it was given."""
        return f"{self.name} ({self.given_name})" if self.given_name else self.name

    @property
    def n_answered(self) -> int | None:
        """Return how many people answered; None if that is hidden."""
        counts = [answer.n for answer in self.answers if answer.n is not None]
        return sum(counts) if len(counts) == len(self.answers) else None

    def n_scored(self, scores: Mapping[str, float | None]) -> int | None:
        """Return how many people gave an answer that has a score; None if that is hidden."""
        counts = [answer.n for answer in self.answers if scores.get(answer.label) is not None]
        known = [n for n in counts if n is not None]
        return sum(known) if len(known) == len(counts) else None

    @property
    def is_hidden(self) -> bool:
        """Return whether its probabilities are hidden."""
        return any(answer.probability is None for answer in self.answers)


class _StageRow(NamedTuple):
    """A row of the step ``report_stage``."""

    stage_id: int
    name: str
    given_name: str | None
    kind: str | None
    variable: str | None
    n_positions: int
    n_situations: int
    n: int | None


class Provenance(Protocol):
    """What a staging was made from, as catalog rows, and which counts are hidden."""

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
        """Return below which size counts are hidden."""


def n_respondents(source: Provenance) -> int:
    """Return how many the survey has; those of the tree if the others are few and hidden."""
    n, n_used = int(source.survey["n"]), int(source.tree["n"])
    return n_used if is_small(n - n_used, source.min_n) else n


def is_small(n: int, min_n: int | None) -> bool:
    """Return whether a count is a small one, where these are hidden."""
    return min_n is not None and 0 < n < min_n


def count_at_start(n: int, min_n: int | None) -> str:
    """Return a count at the start of a sentence; a small one is hidden.

    Examples
    --------
    >>> count_at_start(1200, 10), count_at_start(3, 10), count_at_start(3, None)
    ('1,200', 'Fewer than 10', '3')
    """
    return f"Fewer than {min_n:,}" if is_small(n, min_n) else f"{n:,}"


def verb_after(n: int, verb: str, min_n: int | None) -> str:
    """Return the verb after a count; after a hidden one it does not reveal a 1."""
    return verb if is_small(n, min_n) else agreeing(n, verb)


class OmittedStages(NamedTuple):
    """Stages of a variable that are not reported: how many, and how many people they have."""

    n_stages: int
    n: int | None


class ReportData(NamedTuple):
    """A CEG and what it was made from, as catalog rows, and its stages by variable.

    Those of ordered answers stand in the order of their mean, others by their people;
    ``scores`` are those of the labels of ordered variables.
    """

    ceg: Mapping[str, Any]
    staging: Mapping[str, Any]
    tree: Mapping[str, Any]
    survey: Mapping[str, Any]
    variables: Mapping[str, str | None]
    labels: Mapping[str, Sequence[str]]
    stages: Mapping[str | None, tuple[Stage, ...]]
    omitted: Mapping[str | None, OmittedStages]
    n_stages: Mapping[str | None, int]
    min_n: int | None
    is_conditioned: bool
    findings: Sequence[StoredFinding]
    scores: Scores

    @property
    def answers(self) -> dict[str, list[str]]:
        """Return the labels of each variable, those of relabelled edges too."""
        answers = {name: list(labels) for name, labels in self.labels.items()}
        for name, stages in self.stages.items():
            if name is not None:
                more = (answer.label for stage in stages for answer in stage.answers)
                answers[name] = list(dict.fromkeys([*answers.get(name, ()), *more]))
        return answers


def read_report_data(
    store: Store,
    ceg_id: int,
    *,
    limit: int,
    min_n: int | None = None,
    most_compared: int = MOST_COMPARED,
) -> ReportData:
    """Return what the tables say about a CEG, of a variable at most ``limit`` stages.

    If a variable has more than ``most_compared`` situations, a few examples describe each stage
    instead of what its situations have in common.
    """
    lineage = lineage_of(store, ceg_id)
    ceg, staging, tree, survey = lineage
    scores = declared_scores(store, "ceg", ceg_id)
    means = {} if lineage.is_conditioned else stage_means(store, staging["staging_id"], scores)
    where = {"ceg": ceg["name"]}
    with store.catalog() as catalog:
        found = findings_of(catalog, "ceg", ceg["name"])
    with store.reading() as con, Steps(con) as steps:
        with masked_view(store, "positions", where, min_n) as positions:
            rows = steps.fetch(
                "report_stage",
                positions=positions,
                ceg=ceg["name"],
                staging_id=ceg["staging_id"] or 0,
            )
        variables = variables_of(steps, survey["survey_id"], tree)
        by_variable = _by_variable(
            [_StageRow(*row) for row in rows], [name for _, name, _ in variables]
        )
        reported = {
            name: sorted(rows, key=lambda row: -(row.n or 0))[:limit]
            for name, rows in by_variable.items()
        }
        ids = [row.stage_id for rows in reported.values() for row in rows]
        steps.create_from("reported_stage", {"stage_id": np.array(ids, np.int64)})
        with masked_view(store, "ceg_edges", where, min_n) as edges:
            answers = steps.fetch("report_answer", edges=edges, ceg=ceg["name"])
        labels = labels_of(steps, survey["survey_id"])
        few = {
            name
            for name, rows in by_variable.items()
            if sum(row.n_situations for row in rows) <= most_compared
        }
        tree_and_ceg = {"ceg_id": ceg_id, "tree_id": tree["tree_id"]}
        groups = _groups(steps, variables, labels, reported, few, tree_and_ceg, min_n)
    by_stage = {
        stage_id: tuple(Answer(*rest) for _, _, *rest in rows)
        for stage_id, rows in groupby(answers, key=lambda row: row[0])
    }
    known = mean_scores(
        (
            (row.stage_id, name, answer.label, answer.probability)
            for name, rows in reported.items()
            for row in rows
            for answer in by_stage[row.stage_id]
        ),
        scores,
    )
    stages = {
        name: tuple(
            Stage._make(
                (
                    *row._replace(kind=row.kind or ""),
                    by_stage[row.stage_id],
                    groups[row.stage_id],
                    means.get(row.stage_id, MeanScore(known[row.stage_id]))
                    if row.stage_id in known
                    else None,
                )
            )
            for row in in_order_of_means(
                rows, lambda row: row.variable, lambda row: known.get(row.stage_id)
            )
        )
        for name, rows in reported.items()
    }
    return ReportData(
        *lineage,
        variables={name: question for _, name, question in variables},
        labels=labels,
        stages=stages,
        omitted={name: _omitted(rows, reported[name]) for name, rows in by_variable.items()},
        n_stages={name: len(rows) for name, rows in by_variable.items()},
        min_n=min_n,
        is_conditioned=lineage.is_conditioned,
        findings=found,
        scores=scores,
    )


def variables_of(steps: Steps, survey_id: int, tree: Mapping[str, Any]) -> list[Row]:
    """Return id, name and question of the variables of a tree, in its order."""
    rows = steps.rows(
        "select variable_id, name, question from cegdb.variable where survey_id = $survey_id "
        "order by ordinal",
        {"survey_id": survey_id},
    )
    index = {name: i for i, name in enumerate(tree["settings"].get("order") or ())}
    if not index:
        return rows
    return sorted((row for row in rows if row[1] in index), key=lambda row: index[row[1]])


def labels_of(steps: Steps, survey_id: int) -> dict[str, list[str]]:
    """Return the labels of each variable, in level order."""
    labels: dict[str, list[str]] = {}
    for name, label in steps.fetch("report_label", survey_id=survey_id):
        labels.setdefault(name, []).append(label)
    return labels


def _by_variable(
    rows: Sequence[_StageRow], order: Sequence[str]
) -> dict[str | None, list[_StageRow]]:
    """Return rows of stages by variable, in the order of the tree; None spans several."""
    by_variable: dict[str | None, list[_StageRow]] = {
        name: [row for row in rows if row.variable == name] for name in (*order, None)
    }
    return {name: rows for name, rows in by_variable.items() if rows}


def _omitted(rows: Sequence[_StageRow], reported: Sequence[_StageRow]) -> OmittedStages:
    ids = {row.stage_id for row in reported}
    counts = [row.n for row in rows if row.stage_id not in ids]
    known = [n for n in counts if n is not None]
    return OmittedStages(len(counts), sum(known) if len(known) == len(counts) else None)


def _groups(
    steps: Steps,
    variables: Sequence[Row],
    labels: Mapping[str, Sequence[str]],
    reported: Mapping[str | None, Sequence[_StageRow]],
    few: Collection[str | None],
    tree_and_ceg: Mapping[str, int],
    min_n: int | None,
) -> dict[int, Group]:
    """Return the situations of each stage to report, in words.

    Those of variables with ``few`` situations are compared; others would take too long, and
    are described by a few examples.
    """
    create_variables(steps, variables)
    names = {variable_id: name for variable_id, name, _ in variables}
    tree_id = tree_and_ceg["tree_id"]
    groups: dict[int, Group] = {}
    for index, (variable_id, name, _) in enumerate(variables):
        if name not in few:
            continue
        steps.run(
            "report_history", variable_id=variable_id, variable_index=index, **tree_and_ceg
        )
        paths = list(histories(steps, "report_history", tree_id, names, min_n))
        describer = StageDescriber(paths, [n for _, n, _ in variables[:index]], labels)
        groups |= {row.stage_id: describer.group(row.stage_id) for row in reported[name]}
    rest = {
        row.stage_id: row.n_situations
        for rows in reported.values()
        for row in rows
        if row.stage_id not in groups
    }
    if rest:
        steps.create_from("reported_stage", {"stage_id": np.array(list(rest), np.int64)})
        steps.run("report_example", most=_EXAMPLES, by_people=min_n is None, **tree_and_ceg)
        by_stage = sorted(
            histories(steps, "report_example", tree_id, names, min_n),
            key=lambda history: (history.stage_id or 0, -history.n, history.vertex_id),
        )
        for stage_id, of_stage in groupby(by_stage, key=lambda history: history.stage_id or 0):
            groups[stage_id] = examples(list(of_stage), rest[stage_id])
    return groups


def create_variables(steps: Steps, variables: Sequence[Row]) -> None:
    """Keep the variables of a tree with their index as a temp table for other steps."""
    ids = np.array([variable_id for variable_id, *_ in variables], np.int64)
    columns = {"variable_id": ids, "variable_index": np.arange(len(ids))}
    steps.create_from("report_variable", columns)


def histories(
    steps: Steps, relation: str, tree_id: int, names: Mapping[int, str], min_n: int | None
) -> Iterator[History]:
    """Read vertices with the answers that lead to them.

    Where small cells are hidden, their order does not depend on counts.
    """
    rows = steps.fetch("report_path", tree_id=tree_id, histories=f"temp.{relation}")
    for vertex_id, path in groupby(rows, key=lambda row: row[0]):
        (_, stage_id, n, *_), *answers = list(path)
        yield History(
            vertex_id,
            stage_id,
            n if min_n is None else 1,
            {names[variable_id]: label for *_, variable_id, label in reversed(answers)},
        )
