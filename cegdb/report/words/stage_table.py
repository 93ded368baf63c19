"""The stage table of a report, from what was told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cegdb.errors import agreeing, counted
from cegdb.export.stage_tables import stage_tables
from cegdb.graphs.label_text import shown_probability
from cegdb.render.document import Note, Table
from cegdb.report.words.phrases import joined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cegdb.render.document import Block
    from cegdb.report.words.report_data import Answer, Told
    from cegdb.report.words.situation_words import Group, Rule
    from cegdb.store import Store

HIDDEN: Final = "…"
_MOST_SITUATIONS: Final = 20_000


def situations_in_words(group: Group) -> str:
    """Return the situations of a stage for a table.

    Examples
    --------
    >>> from cegdb.report.words.situation_words import Group, Rule
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


def stage_table(store: Store, told: Told) -> list[Block]:
    """Return the stages: situations in words, people, and the interval of each answer.

    They are those of the view ``stage_table``. What that does not have is told from the CEG
    itself: stages given evidence, those of very large trees, and those without small cells,
    which must be hidden as in the rest of the report.
    """
    is_large = told.tree["n_situations"] > _MOST_SITUATIONS
    if told.is_conditioned or told.min_n is not None or is_large:
        return [_of_ceg(told), *_notes(told)]
    return [*_of_view(store, told), *_notes(told)]


def _of_view(store: Store, told: Told) -> Iterator[Table]:
    """Yield the table of each variable, of the stages to tell."""
    names = {
        f"{stage.name} ({stage.given_name})" if stage.given_name else stage.name
        for stages in told.stages.values()
        for stage in stages
    }
    staging = str(told.staging["name"])
    with store.reading() as con:
        for table in stage_tables(con, "cegdb.stage_table", staging, None):
            columns = [*table.told, *table.columns]
            rows = [
                [*(group.told if not number else [""] * len(group.told)), *line]
                for group in table.groups
                if group.told[0] in names
                for number, line in enumerate(group.lines)
            ]
            heads = [column.name for column in columns]
            numbers = [column.name for column in columns if column.is_number]
            if rows:
                yield Table(table.caption, heads, rows, numbers)


def _of_ceg(told: Told) -> Table:
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
    caption = (
        "Stages: situations (which answers lead to them), respondents n, and the posterior "
        "mean of each answer"
    )
    numbers = ("n", "n of it", "Probability", "95 %")
    if told.is_conditioned:
        shorter = [one[:-1] for one in rows]
        return Table(f"{caption}, given the evidence.", names[:-1], shorter, numbers[:-1])
    return Table(f"{caption} with its 95 % credible interval.", names, rows, numbers)


def _notes(told: Told) -> Iterator[Block]:
    """Yield what is left out of the table, or hidden in it."""
    left_out = sum(one.n_stages for one in told.left_out.values())
    if left_out:
        what = counted(left_out, "stage")
        verb = agreeing(left_out, "are")
        yield Note(
            f"{what} of fewer people {verb} left out of this table: the largest of each "
            "variable are shown. All are in the view cegdb.stage_table."
        )
    if told.min_n is not None:
        yield Note(
            f"{HIDDEN} stands for counts below {told.min_n:,}, and for numbers from which "
            "they could be calculated."
        )


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
