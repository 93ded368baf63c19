"""The stage table of a report, from what was told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cegdb.errors import agreeing, counted
from cegdb.graphs.texts import shown_probability
from cegdb.report.words.document import Note, Table
from cegdb.report.words.phrases import joined

if TYPE_CHECKING:
    from cegdb.report.words.document import Block
    from cegdb.report.words.situations import Group, Rule
    from cegdb.report.words.telling import Answer, Told

HIDDEN = "…"


def situations_in_words(group: Group) -> str:
    """Return the situations of a stage for a table.

    Examples
    --------
    >>> from cegdb.report.words.situations import Group, Rule
    >>> situations_in_words(Group((Rule((("Risk", ("High",)), ("Care", (None,)))),), 2))
    'Risk = High, Care not asked; and 2 further'
    >>> situations_in_words(Group((Rule(()),), 0))
    'all'
    """
    parts = [_rule(rule) or "all" for rule in group.rules]
    if group.n_left_out:
        parts.append(f"and {group.n_left_out:,} further")
    return "; ".join(parts)


def _rule(rule: Rule) -> str:
    return ", ".join(
        f"{name} not asked"
        if labels == (None,)
        else f"{name} = {joined([str(x) for x in labels if x is not None], 'or')}"
        for name, labels in rule.answers
    )


def stage_table(told: Told) -> list[Block]:
    """Return the stages: situations in words, people, and the interval of each answer."""
    names = ("Stage", "Variable", "Situations", "n", "Answer", "n of it", "Probability", "95 %")
    rows: list[tuple[str, ...]] = []
    for variable, stages in told.stages.items():
        for stage in sorted(stages, key=lambda s: s.stage_id):
            name = f"{stage.name} ({stage.given_name})" if stage.given_name else stage.name
            for i, answer in enumerate(stage.answers):
                first = (
                    (
                        name,
                        variable or "several",
                        situations_in_words(stage.group),
                        count(stage.n),
                    )
                    if not i
                    else ("", "", "", "")
                )
                rows.append(
                    (
                        *first,
                        answer.label,
                        count(answer.n),
                        probability(answer),
                        interval(answer),
                    )
                )
    blocks: list[Block] = [
        Table(
            "Stages: situations (which answers lead to them), respondents n, and the posterior "
            "mean of each answer with its 95 % credible interval.",
            names,
            rows,
            ("n", "n of it", "Probability", "95 %"),
        )
    ]
    left_out = sum(one.n_stages for one in told.left_out.values())
    if left_out:
        what = counted(left_out, "stage")
        verb = agreeing(left_out, "are")
        blocks.append(
            Note(
                f"{what} of fewer people {verb} left out of this table: the largest of each "
                "variable are shown. All are in the view cegdb.stage_edges."
            )
        )
    if told.min_n is not None:
        blocks.append(
            Note(
                f"{HIDDEN} stands for counts below {told.min_n:,}, and for numbers from which "
                "they could be calculated."
            )
        )
    return blocks


def count(n: int | None) -> str:
    """Return a count as a table shows it."""
    return HIDDEN if n is None else f"{n:,}"


def probability(answer: Answer) -> str:
    """Return a probability as a table shows it."""
    return HIDDEN if answer.probability is None else shown_probability(answer.probability)


def interval(answer: Answer) -> str:
    """Return an interval as a table shows it; nothing where there is none."""
    if answer.low is None or answer.high is None:
        return HIDDEN if answer.probability is None else ""
    return f"{shown_probability(answer.low)} to {shown_probability(answer.high)}"
