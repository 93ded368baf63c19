"""The stage table of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cegdb.errors import agreeing, counted, joined
from cegdb.export.stage_tables import MEAN_SCORE, stage_tables
from cegdb.graphs.label_text import format_probability
from cegdb.inference.mean_scores import in_order_of_means, scale_text, scored_stages
from cegdb.render.document import Column, Note, Table
from cegdb.render.document import Group as TableGroup
from cegdb.render.writers import HIDDEN, format_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cegdb.render.document import Block
    from cegdb.report.words.report_data import Answer, ReportData, Stage
    from cegdb.report.words.situation_words import Group, Rule
    from cegdb.store import Store

_MOST_SITUATIONS: Final = 20_000


def situations_in_words(group: Group) -> str:
    """Return the situations of a stage for a table.

    Examples
    --------
    >>> from cegdb.report.words.situation_words import Group, Rule
    >>> situations_in_words(Group((Rule((("Risk", ("High",)), ("Care", (None,)))),), 2))
    'Risk = High, Care not asked; and 2 more'
    >>> situations_in_words(Group((Rule(()),), 0))
    'all'
    """
    parts = [_rule(rule) or "all" for rule in group.rules]
    if group.n_left_out:
        parts.append(f"and {group.n_left_out:,} more")
    return "; ".join(parts)


def _rule(rule: Rule) -> str:
    return ", ".join(
        f"{name} not asked"
        if labels == (None,)
        else f"{name} = {joined([str(x) for x in labels if x is not None], 'or')}"
        for name, labels in rule.answers
    )


def stage_table(store: Store, report: ReportData) -> list[Block]:
    """Return the stages: situations in words, people, and the interval of each answer.

    They are those of the view ``stage_table``, but for stages given evidence, those of very
    large trees, and those without small cells, which must be hidden as in the whole report.
    """
    is_large = report.tree["n_situations"] > _MOST_SITUATIONS
    if report.is_conditioned or report.min_n is not None or is_large:
        return [_of_ceg(report), *_notes(report)]
    return [*_of_view(store, report), *_notes(report)]


def _of_view(store: Store, report: ReportData) -> Iterator[Table]:
    """Yield the table of each variable, of the stages that the report has."""
    titles = {stage.title for stages in report.stages.values() for stage in stages}
    scored = scored_stages(store, report.staging["staging_id"])
    name = report.staging["name"]
    with store.reading() as con:
        tables = stage_tables(con, "cegdb.stage_table", name, None, scored)
        for table in tables:
            groups = [group for group in table.groups if group.shared[0] in titles]
            if groups:
                yield Table(table.caption, table.columns, groups, table.shared)


def _of_ceg(report: ReportData) -> Table:
    groups = [
        TableGroup(
            [
                [
                    answer.label,
                    format_count(answer.n),
                    format_mean(answer.probability),
                    *([] if report.is_conditioned else [_interval(answer)]),
                ]
                for answer in stage.answers
            ]
            + _mean_line(report, stage),
            [
                stage.title,
                variable or "several",
                situations_in_words(stage.group),
                format_count(stage.n),
            ],
        )
        for variable, stages in report.stages.items()
        for stage in _in_order(stages)
    ]
    caption = (
        "Stages: their situations (the answers that lead to them), people who reached them, "
        "and of each answer its n and posterior mean"
    )
    caption += (
        ", given the evidence."
        if report.is_conditioned
        else " with a 95 % interval, which does not require the situations of a stage to be "
        "alike."
    )
    scales = [f"{name} {scale_text(scores)}" for name, scores in report.scores.items()]
    if scales:
        caption += (
            f" Stages of ordered answers stand in the order of their mean score: "
            f"{joined(scales, 'and')}."
        )
    numbers = ["n", "Mean", *([] if report.is_conditioned else ["95 % interval"])]
    return Table(
        caption,
        [Column("Answer"), *(Column(name, is_number=True) for name in numbers)],
        groups,
        [
            Column("Stage"),
            Column("Variable"),
            Column("Situations"),
            Column("People", is_number=True),
        ],
    )


def _in_order(stages: Sequence[Stage]) -> list[Stage]:
    """Return the stages of a variable by their mean score, those without one by their id."""
    by_id = sorted(stages, key=lambda stage: stage.stage_id)
    return in_order_of_means(
        by_id, lambda stage: stage.variable, lambda stage: stage.mean and stage.mean.mean
    )


def _mean_line(report: ReportData, stage: Stage) -> list[list[str]]:
    """Return the line of the mean score of ordered answers."""
    mean = stage.mean
    if mean is None:
        return []
    n = stage.n_scored(report.scores.get(stage.variable or "", {}))
    line = [MEAN_SCORE, format_count(n), f"{mean.mean:.3f}"]
    if report.is_conditioned:
        return [line]
    has_limits = mean.low is not None and mean.high is not None
    return [[*line, f"{mean.low:.3f} to {mean.high:.3f}" if has_limits else ""]]


def _notes(report: ReportData) -> Iterator[Note]:
    """Yield what is left out of the table, or hidden in it."""
    left_out = sum(one.n_stages for one in report.omitted.values())
    if left_out:
        yield Note(
            f"{counted(left_out, 'stage')} with fewer people {agreeing(left_out, 'are')} left "
            "out of this table, which has the largest of each variable; the view "
            "cegdb.stage_table has all of them."
        )
    if report.min_n is not None:
        yield Note(
            f"{HIDDEN} stands for counts below {report.min_n:,}, and for numbers from which "
            "they could be calculated."
        )


def format_mean(probability: float | None) -> str:
    """Return a probability as a table shows it."""
    return HIDDEN if probability is None else format_probability(probability)


def _interval(answer: Answer) -> str:
    """Return an interval as a table shows it; nothing where there is none."""
    if answer.low is None or answer.high is None:
        return HIDDEN if answer.probability is None else ""
    return f"{format_probability(answer.low)} to {format_probability(answer.high)}"
