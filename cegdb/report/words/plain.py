"""The plain report: how many of 100 people answer what, for non-technical readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cegdb.errors import agreeing, counted, joined
from cegdb.findings import FEW, at_most, plain_texts
from cegdb.inference.mean_scores import scale_text
from cegdb.options import ReportOptions
from cegdb.render.document import Heading, Items, Note, Paragraph
from cegdb.report.lineage import json_column
from cegdb.report.words import phrases
from cegdb.report.words.report_data import count_at_start, n_respondents, verb_after
from cegdb.report.words.situation_words import Group, Rule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cegdb.render.document import Block
    from cegdb.report.words.phrases import Words
    from cegdb.report.words.report_data import Answer, ReportData, Stage


def plain_report(
    report: ReportData, *, unit: str = ReportOptions.unit, words: Words | None = None
) -> list[Block]:
    """Return the report for non-technical readers; ``unit`` is in the plural."""
    variables = [name for name in report.variables if name in report.stages]
    title = f"What the answers of {phrases.count_of(report.tree['n'], unit)} show"
    blocks: list[Block] = [Heading(f"{title}: {report.ceg['name']}", 1)]
    blocks += _opening(report, unit)
    if None in report.stages:
        n = report.n_stages[None]
        blocks.append(
            Note(
                f"{counted(n, 'group')} {agreeing(n, 'cover')} several questions, treated as "
                f"if they were one; {'it is' if n == 1 else 'they are'} not shown here."
            )
        )
    for name in (*variables[-1:], *variables[:-1]):
        blocks += _question(report, name, unit, words or {})
    return [*blocks, Heading("How to read this"), Items(_how_to_read(report, unit))]


def _opening(report: ReportData, unit: str) -> list[Block]:
    tree, n = report.tree, n_respondents(report)
    details = tree["summary"] if isinstance(tree["summary"], dict) else {}
    sentences = [f"These are the answers of {phrases.count_of(n, unit)}."]
    left_out = n - tree["n"]
    if left_out:
        are = agreeing(left_out, "are")
        sentences.append(f"{left_out:,} of them {are} left out because an answer is missing.")
    stopped = details.get("rows_stopped_at_a_situation", 0)
    if stopped:
        count = verb_after(stopped, "count", report.min_n)
        sentences.append(
            f"{count_at_start(stopped, report.min_n)} of them did not answer every question "
            f"asked, and {count} up to the last answer given."
        )
    blocks: list[Block] = [Paragraph(" ".join(sentences))]
    if report.is_conditioned:
        evidence = report.ceg["summary"].get("evidence")
        blocks.append(Note(f"Everything below holds given this evidence: {evidence}."))
    questions = []
    for name, question in report.variables.items():
        labels = [phrases.quoted(label) for label in report.labels.get(name, ())]
        more = len(labels) - phrases.MOST_LABELS
        answers = (
            f"{', '.join(labels[: phrases.MOST_LABELS])} and {more:,} more"
            if more > 0
            else joined(labels, "or")
        )
        questions.append(f"{name}: {f'{question} ' if question else ''}{answers}")
    cautions = plain_texts(report.findings, is_hidden=report.min_n is not None)
    if cautions:
        blocks += [Paragraph("Before you use the numbers:"), Items(cautions)]
    return [*blocks, Paragraph("The questions, in order:"), Items(questions)]


def _presumed(report: ReportData, name: str, unit: str, words: Words) -> list[str]:
    """Return the answers to a variable that nobody in some group gave, presumed impossible."""
    zeros = json_column(report.tree, "summary").get("presumed_zeros") or {"shown": []}
    if report.is_conditioned or len(report.labels.get(name, ())) < 3:
        return []  # of two answers, the other one says it
    sentences = []
    for zero in zeros["shown"]:
        if zero["variable"] != name or (report.min_n or 0) > zero["n"]:
            continue
        answers = zip(zero["asked"], zero["path"], strict=True)
        rule = Rule(tuple((asked, (label,)) for asked, label in answers))
        who = phrases.group_phrase(Group((rule,), 0), unit, words)
        did = phrases.answer_phrase(name, zero["label"], words)
        sentences.append(
            f"None of {zero['n']:,} {who} {did}: at most {at_most(zero['n'])} of such {unit} "
            "would (95 % limit)."
        )
    return sentences


def _question(report: ReportData, name: str, unit: str, words: Words) -> list[Block]:
    stages, omitted = report.stages[name], report.omitted[name]
    blocks: list[Block] = [Heading(name)]
    if report.variables[name]:
        blocks.append(Paragraph(str(report.variables[name])))
    counts = [stage.n for stage in stages]
    if None not in counts and omitted.n is not None and not report.is_conditioned:
        n = sum(n for n in counts if n is not None) + omitted.n
        if n < report.tree["n"]:
            were = "was" if n == 1 else "were"
            blocks.append(
                Paragraph(
                    f"{n:,} of the {report.tree['n']:,} {unit} {were} asked this question."
                )
            )
    scores = report.scores.get(name, {})
    if any(_average(stage, scores) for stage in stages):
        blocks.append(Paragraph(f"Averages are on a scale {scale_text(scores)}."))
    focus = _focus(stages)
    ordered = stages if scores else sorted(stages, key=lambda stage: -_rate(stage, focus))
    base = _base(ordered, focus)
    is_conditioned = report.is_conditioned
    blocks.append(
        Items(
            [
                stage_sentence(stage, unit, words, focus, base, is_conditioned=is_conditioned)
                + _average(stage, scores)
                for stage in ordered
            ]
            + _presumed(report, name, unit, words)
        )
    )
    if omitted.n_stages:
        of_all = "" if omitted.n is None else f" ({phrases.count_of(omitted.n, unit)} in all)"
        blocks.append(
            Note(
                f"{counted(omitted.n_stages, 'smaller group')}{of_all} "
                f"{agreeing(omitted.n_stages, 'are')} not shown."
            )
        )
    return blocks


def _focus(stages: Sequence[Stage]) -> str | None:
    """Return the rarer of two answers, which comes first; None if there are more than two."""
    totals: dict[str, int] = {}
    for stage in stages:
        for answer in stage.answers:
            totals[answer.label] = totals.get(answer.label, 0) + (answer.n or 0)
    if len(totals) != 2:
        return None
    return min(reversed(totals), key=lambda label: totals[label])


def _rate(stage: Stage, focus: str | None) -> float:
    for answer in stage.answers:
        if focus in (None, answer.label):
            return answer.probability or 0.0
    return 0.0


def _base(stages: Sequence[Stage], focus: str | None) -> int:
    """Return out of how many people to give the frequencies of a variable."""
    answers = [
        answer
        for stage in stages
        for answer in _most_probable(stage.answers)
        if answer.probability is not None
    ]
    return phrases.frequency_base(
        [a.probability for a in answers if a.n != 0 and a.probability is not None],
        (
            (a.low, a.high)
            for a in answers
            if focus == a.label and a.low is not None and a.high is not None
        ),
    )


def stage_sentence(
    stage: Stage,
    unit: str,
    words: Words,
    focus: str | None = None,
    base: int = 100,
    *,
    is_conditioned: bool = False,
) -> str:
    """Return what people of a stage answer, as natural frequencies.

    Given evidence, nothing is said about others, whose answers it may rule out.

    Examples
    --------
    >>> from cegdb.report.words.situation_words import Group, Rule
    >>> from cegdb.report.words.report_data import Answer, Stage
    >>> yes = Answer("Yes", 31, 0.31, 0.3098, 0.2891, 0.3312)
    >>> no = Answer("No", 69, 0.69, 0.6902, 0.6688, 0.7109)
    >>> group = Group((Rule((("Risk", ("High",)),)),), 0)
    >>> stage = Stage(5, "u2", None, "learnt", "Fall", 1, 1, 100, (yes, no), group)
    >>> first, rest = stage_sentence(stage, "people", {}, "Yes").split(" (29 to 33) ")
    >>> first
    'Of 100 people with Risk “High”, about 31 answered “Yes” to Fall'
    >>> rest
    'and the other 69 “No” (n = 100).'
    """
    who = phrases.group_phrase(stage.group, unit, words)
    name = str(stage.variable)
    if stage.is_hidden:
        return (
            f"No numbers are shown for {who}: too few of them gave one of the answers, or "
            "their numbers would reveal such a small number elsewhere."
        )
    n = stage.n_answered
    if stage.kind == "unobserved" or n == 0:
        return f"Nothing is said about {name} of {who}: the data have no answer."
    answers = stage.answers
    comma = "," if ", " in who or len(stage.group.rules) > 1 else ""
    if len(answers) == 1:
        what = phrases.answer_phrase(name, answers[0].label, words)
        if is_conditioned:
            return f"All {who}{comma} {what} {_based_on(n)}."
        if n is None:
            return f"As far as the data show, {who}{comma} {what} {_based_on(n)}."
        least = phrases.at_least(n)
        return (
            f"{n:,} of {n:,} {who}{comma} {what}; of such {unit} in general, at least {least} "
            f"(95 % limit) {_based_on(n)}."
        )
    if focus is not None and len(answers) == 2:
        first, other = sorted(answers, key=lambda a: a.label != focus)
        rest = base - int(base * (first.probability or 0.0) + 0.5)
        has_words = first.label in words.get(name, {})
        what = phrases.answer_phrase(name, other.label, words, is_first=has_words)
        parts = [
            _frequency(first, name, words, base),
            f"the other {rest:,} {what}" if 0 < rest < base else f"the others {what}",
        ]
        note = ""
    else:
        ordered = _most_probable(answers)
        note = phrases.rounding_note(
            [answer.probability or 0.0 for answer in ordered],
            base,
            has_rest=len(answers) > len(ordered),
        )
        parts = [
            _frequency(answer, name, words, base, is_first=not i)
            for i, answer in enumerate(ordered)
        ]
        more = len(answers) - len(ordered)
        if more:
            others = "another answer" if more == 1 else f"one of {more:,} other answers"
            parts.append(f"the rest gave {others}")
    return f"Of {base:,} {who}, {joined(parts)} {_based_on(n, note)}."


def _average(stage: Stage, scores: Mapping[str, float | None]) -> str:
    """Return a sentence on the mean score of a stage, if its answers are ordered."""
    n = stage.n_scored(scores)
    if stage.mean is None or len(stage.answers) == 1 or n == 0 or stage.kind == "unobserved":
        return ""
    return f" On average {phrases.mean_phrase(stage.mean, n)}."


def _most_probable(answers: Sequence[Answer]) -> list[Answer]:
    """Return the most probable answers, in that order."""
    return sorted(answers, key=lambda a: -(a.probability or 0.0))[: phrases.MOST_LABELS]


def _frequency(
    answer: Answer, name: str, words: Words, base: int, *, is_first: bool = True
) -> str:
    number = phrases.frequency(answer.probability or 0.0, base)
    about = "about " if is_first and number[0].isdigit() else ""
    what = phrases.answer_phrase(name, answer.label, words, is_first=is_first)
    interval = phrases.interval_phrase(answer.low, answer.high, base)
    if answer.n == 0:
        interval = f"{interval[:-1]}; " if interval else " ("
        interval += "nobody in the data)"
    return f"{about}{number} {what}{interval}"


def _based_on(n: int | None, note: str = "") -> str:
    if n is None:
        return f"(n is not shown{note})"
    return (
        f"(n = {n:,}{note})" if n >= FEW else f"(only n = {n:,}: interpret with caution{note})"
    )


def _how_to_read(report: ReportData, unit: str) -> list[str]:
    example = f"Of 100 {unit}, about 31"
    expect = f"among 100 such {unit}, expect about 31."
    sentences = (
        [f"“{example}”: {expect} The uncertainty of the number is not stated here."]
        if report.is_conditioned
        else [
            (
                f"“{example} (29 to 33)”: {expect} The numbers in parentheses show the "
                "uncertainty: intervals made like this contain the true number in about 95 of "
                f"100 surveys, whether or not the {unit} of a group are alike."
            )
        ]
    )
    if any(stage.mean for stages in report.stages.values() for stage in stages):
        sentences.append(
            "“On average” is the mean of the numbers that stand for the answers of a scale"
            + ("." if report.is_conditioned else ", with its uncertainty in parentheses.")
        )
    sentences += [
        f"n is the number of {unit} in the data on which a sentence is based.",
        (
            f"A group combines {unit} for whom these data do not show that they answer this "
            "question differently, or who were assumed to answer it alike. They may differ all "
            "the same: the smaller n, the larger a difference that would go unnoticed. Rare "
            "answers are given per 1,000 or 10,000."
        ),
        "This report shows what goes together, not what causes what.",
    ]
    staging = report.staging
    settings = staging["settings"] if isinstance(staging["settings"], dict) else {}
    if settings.get("weighting", "none") != "none":
        sentences.append(
            f"Not all {unit} in the survey count equally: each has a weight, so that together "
            "they represent the population. Numbers per 100 are weighted; n is not."
        )
    elif report.survey["summary"].get("weights"):
        sentences.append(
            "The survey has weights that are not used here: the numbers describe only those in "
            "the data."
        )
    if report.min_n is not None:
        sentences.append(
            f"Counts of fewer than {report.min_n:,} {unit} are not shown, nor are numbers from "
            "which they could be calculated."
        )
    return sentences
