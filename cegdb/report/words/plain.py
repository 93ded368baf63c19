"""The report for everybody: how many of 100 people, without a word of stages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cegdb.errors import agreeing, counted
from cegdb.render.document import Heading, Items, Note, Paragraph
from cegdb.report.words import phrases
from cegdb.report.words.report_data import agreed, respondents

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cegdb.render.document import Block
    from cegdb.report.words.phrases import Words
    from cegdb.report.words.report_data import Answer, Stage, Told

#: Numbers that rest on fewer people are marked as uncertain.
FEW: Final = 30


def plain(told: Told, *, unit: str = "people", words: Words | None = None) -> list[Block]:
    """Return the report for a reader who knows no stages.

    Parameters
    ----------
    told
        What the tables say.
    unit
        What was counted, in the plural.
    words
        What to say of labels.
    """
    known = words or {}
    variables = [name for name in told.variables if name in told.stages]
    blocks: list[Block] = [Heading(_title(told, unit), 1), *_opening(told, unit)]
    if None in told.stages:
        n = told.sizes[None]
        blocks.append(
            Note(
                f"{counted(n, 'group')} {agreeing(n, 'are')} taken to answer several questions "
                "alike, as if they were one; these are left out here."
            )
        )
    for name in reversed(variables[-1:]):
        blocks += _question(told, name, unit, known)
    for name in variables[:-1]:
        blocks += _question(told, name, unit, known)
    return [*blocks, Heading("How to read this"), *_reading(told, unit)]


def few(n: int, min_n: int | None) -> str:
    """Return a count, or that it is a small one, where these are hidden.

    Examples
    --------
    >>> few(1200, 10), few(3, 10), few(3, None)
    ('1,200', 'Fewer than 10', '3')
    """
    return f"Fewer than {min_n:,}" if min_n is not None and 0 < n < min_n else f"{n:,}"


def _title(told: Told, unit: str) -> str:
    n = told.tree["n"]
    return f"What the answers of {phrases.so_many(n, unit)} say: {told.ceg['name']}"


def _opening(told: Told, unit: str) -> list[Block]:
    tree, n = told.tree, respondents(told)
    details = tree["summary"] if isinstance(tree["summary"], dict) else {}
    said = [f"The data have the answers of {phrases.so_many(n, unit)}."]
    left_out = n - tree["n"]
    if left_out:
        are = agreeing(left_out, "are")
        said.append(f"{left_out:,} of them {are} left out for want of an answer.")
    stopped = details.get("rows_stopped_at_a_situation", 0)
    if stopped:
        said.append(
            f"{few(stopped, told.min_n)} of them {agreed(stopped, 'do', told)} not answer "
            "every question put to them, and count as far as they answered."
        )
    blocks: list[Block] = [Paragraph(" ".join(said))]
    if told.is_conditioned:
        evidence = told.ceg["summary"].get("evidence")
        blocks.append(Note(f"All of this is about those of whom this is known: {evidence}."))
    if told.ceg["is_stale"]:
        blocks.append(Note("The data have changed since this was calculated."))
    asked = []
    for name, question in told.variables.items():
        labels = [phrases.quoted(label) for label in told.labels.get(name, ())]
        most = phrases.most_labels()
        more = f" and {len(labels) - most:,} more" if len(labels) > most else ""
        told_labels = (
            f"{', '.join(labels[:most])}{more}" if more else phrases.joined(labels, "or")
        )
        asked.append(f"{name}: {f'{question} ' if question else ''}{told_labels}")
    return [*blocks, Paragraph("The questions, in the order they are put:"), Items(asked)]


def _question(told: Told, name: str, unit: str, words: Words) -> list[Block]:
    stages = told.stages[name]
    blocks: list[Block] = [Heading(name)]
    if told.variables[name]:
        blocks.append(Paragraph(str(told.variables[name])))
    asked = [stage.n for stage in stages]
    left_out = told.left_out[name]
    if None not in asked and left_out.n is not None and not told.is_conditioned:
        n = sum(n for n in asked if n is not None) + left_out.n
        if n < told.tree["n"]:
            blocks.append(
                Paragraph(f"This question reached {n:,} of the {told.tree['n']:,} {unit}.")
            )
    focus = _focus(stages)
    ordered = sorted(stages, key=lambda s: -_rate(s, focus))
    base = _base(ordered, focus)
    said = [
        sentence(stage, unit, words, focus, base, is_conditioned=told.is_conditioned)
        for stage in ordered
    ]
    blocks.append(Items(said))
    if left_out.n_stages:
        of_all = "" if left_out.n is None else f", of {left_out.n:,} {unit} in all"
        blocks.append(
            Note(
                f"{counted(left_out.n_stages, 'smaller group')} "
                f"{agreeing(left_out.n_stages, 'are')} left out here{of_all}."
            )
        )
    return blocks


def _focus(stages: Sequence[Stage]) -> str | None:
    """Return the rarer of two answers, which is told; None if there are more than two."""
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
    """Return of how many people to speak at one question, the same for all of its groups."""
    answers = [
        answer
        for stage in stages
        for answer in _told(stage.answers)
        if answer.probability is not None
    ]
    seen = [a.probability for a in answers if a.n != 0 and a.probability is not None]
    return phrases.base_of(
        seen,
        (
            (a.low, a.high)
            for a in answers
            if focus == a.label and a.low is not None and a.high is not None
        ),
    )


def sentence(
    stage: Stage,
    unit: str,
    words: Words,
    focus: str | None = None,
    base: int = 100,
    *,
    is_conditioned: bool = False,
) -> str:
    """Return what people of a stage answer, as natural frequencies.

    Given evidence others are not spoken of, such as those whose answers it rules out.

    Examples
    --------
    >>> from cegdb.report.words.situation_words import Group, Rule
    >>> from cegdb.report.words.report_data import Answer, Stage
    >>> yes = Answer("Yes", 31, 0.31, 0.3098, 0.2891, 0.3312)
    >>> no = Answer("No", 69, 0.69, 0.6902, 0.6688, 0.7109)
    >>> group = Group((Rule((("Risk", ("High",)),)),), 0)
    >>> of = Stage(5, "u2", None, "learnt", "Fall", 1, 1, 100, (yes, no), group)
    >>> first, last = sentence(of, "people", {}, "Yes").split(". ")
    >>> first
    'Of 100 people with Risk “High”, about 31 have Fall “Yes” (29 to 33) and the other 69 “No”'
    >>> last
    'This rests on the answers of 100 people.'
    """
    who = phrases.people(stage.group, unit, words)
    name = str(stage.variable)
    if stage.is_hidden:
        return (
            f"Of {who}, no numbers are shown, since they, or others that they would reveal, "
            f"are of too few {unit}."
        )
    n = stage.n_answered
    if stage.kind == "unobserved" or n == 0:
        return f"Of {who}, nobody is in the data, so nothing is said of {name}."
    rests = _rests(n, unit)
    answers = stage.answers
    if len(answers) == 1:
        (answer,) = answers
        what = phrases.of_whom(name, answer.label, words)
        comma = "," if len(stage.group.rules) > 1 else ""
        others = "" if is_conditioned else "; nobody in the data answers otherwise"
        return f"All {who}{comma} {what}{others}. {rests}"
    two = focus is not None and len(answers) == 2
    if two:
        told, other = sorted(answers, key=lambda a: a.label != focus)
        rest = base - _count(told, base)
        is_first = told.label in words.get(name, {})
        what = phrases.of_whom(name, other.label, words, is_first=is_first)
        also = f"and the other {rest:,} {what}" if 0 < rest < base else f"and the others {what}"
        return f"Of {base:,} {who}, {_about(told, name, words, base)} {also}. {rests}"
    ordered = _told(answers)
    parts = [
        _about(answer, name, words, base, is_first=not i) for i, answer in enumerate(ordered)
    ]
    more = len(answers) - len(ordered)
    if more:
        parts.append(f"the others one of {counted(more, 'further answer')}")
    return f"Of {base:,} {who}, {phrases.joined(parts)}. {rests}"


def _told(answers: Sequence[Answer]) -> list[Answer]:
    """Return the most probable answers, which are told, in that order."""
    ordered = sorted(answers, key=lambda a: -(a.probability or 0.0))
    return ordered[: phrases.most_labels()]


def _count(answer: Answer, base: int) -> int:
    return int(base * (answer.probability or 0.0) + 0.5)


def _about(answer: Answer, name: str, words: Words, base: int, *, is_first: bool = True) -> str:
    found = phrases.number(answer.probability or 0.0, base)
    about = "about " if is_first and found[0].isdigit() else ""
    what = phrases.of_whom(name, answer.label, words, is_first=is_first)
    seen = "; nobody in the data" if answer.n == 0 else ""
    interval = phrases.between(answer.low, answer.high, base)
    interval = f"{interval[:-1]}{seen})" if interval else f" ({seen[2:]})" if seen else ""
    return f"{about}{found} {what}{interval}"


def _rests(n: int | None, unit: str) -> str:
    if n is None:
        return "On how many this rests is not shown."
    if n >= FEW:
        return f"This rests on the answers of {n:,} {unit}."
    return f"This rests on the answers of only {phrases.so_many(n, unit)}: read it with care."


def _reading(told: Told, unit: str) -> list[Block]:
    means = (
        f"“Of 100 {unit}, about 31 (29 to 33)”: if 100 such {unit} were met, some 31 of them "
        "are expected to be so. The numbers in parentheses say how sure that is: with a "
        "chance of 95 in 100 the true number lies between them, if the groups are right."
    )
    if told.is_conditioned:
        means = (
            f"“Of 100 {unit}, about 31”: if 100 such {unit} were met, some 31 of them are "
            "expected to be so. How sure that is, is not told here."
        )
    groups = (
        "A group puts together those whose answers to this question cannot be told apart in "
        "these data, or were taken to be alike. Where answers are rare, numbers are of 1,000 "
        "or 10,000."
    )
    said = [means, groups, "This tells what goes together, not what causes what."]
    staging = told.staging
    settings = staging["settings"] if isinstance(staging["settings"], dict) else {}
    if settings.get("weighting", "none") != "none":
        said.append(
            f"The {unit} of the survey do not all count alike: each has a weight, so that "
            "together they stand for the population. Numbers of 100 are weighted; how many "
            f"{unit} they rest on is not."
        )
    elif told.survey["summary"].get("weights"):
        said.append(
            "The survey has weights that are not used here: numbers tell of those in the data."
        )
    if told.min_n is not None:
        said.append(
            f"Numbers of fewer than {told.min_n:,} {unit} are not shown, nor others from which "
            "they could be calculated."
        )
    return [Items(said)]
