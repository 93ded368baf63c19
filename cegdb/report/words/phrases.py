"""Phrases of the plain report: which people are meant, and how many of them."""

from __future__ import annotations

import math
import unicodedata
from typing import TYPE_CHECKING, Final, TypeAlias

from cegdb.errors import joined
from cegdb.inference.mean_scores import mean_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cegdb.inference.mean_scores import MeanScore
    from cegdb.report.words.situation_words import Group

    #: Variable -> label -> what such people do or are, a verb first: "are not treated".
    Words: TypeAlias = Mapping[str, Mapping[str, str]]
    Answers: TypeAlias = Mapping[str, Sequence[str | None]]

#: The most answers of a variable that a sentence lists.
MOST_LABELS: Final = 6
_BASES: Final = (100, 1_000, 10_000)
_SMALLEST: Final = 1.5
_ROUNDING: Final = 1e-12
_RIGHT_TO_LEFT: Final = ("R", "AL", "AN")
_ISOLATES: Final = dict.fromkeys(range(0x2066, 0x206A), "\N{REPLACEMENT CHARACTER}")


def quoted(label: str) -> str:
    """Return a label between quotes; one from right to left is isolated from what follows.

    Examples
    --------
    >>> quoted("High Risk"), quoted("sì"), len(quoted("נ")) - len(quoted("n"))
    ('“High Risk”', '“sì”', 2)
    """
    shown = label.translate(_ISOLATES)
    if not any(unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in shown):
        return f"“{shown}”"
    return f"“\N{FIRST STRONG ISOLATE}{shown}\N{POP DIRECTIONAL ISOLATE}”"


def group_phrase(group: Group, unit: str, words: Words) -> str:
    """Return who is in a group, of a unit in the plural.

    Examples
    --------
    >>> from cegdb.report.words.situation_words import Group, Rule
    >>> rule = Rule((("Risk", ("High Risk",)), ("Treatment", ("None", "Advice"))))
    >>> group_phrase(Group((rule,), 0), "people", {})
    'people with Risk “High Risk” and Treatment “None” or “Advice”'
    >>> group_phrase(Group((rule,), 0), "people", {"Risk": {"High Risk": "are at high risk"}})
    'people with Treatment “None” or “Advice” who are at high risk'
    >>> alike = [Rule((("Risk", ("High",)), (name, ("No",)))) for name in ("Help", "Drugs")]
    >>> group_phrase(Group(tuple(alike), 0), "people", {})
    'people with Risk “High” who also have Help “No”, or Drugs “No”'
    >>> other = Rule((("Risk", ("Low Risk",)),))
    >>> group_phrase(Group((rule, other), 0), "people", {})
    'people with Risk “High Risk” and Treatment “None” or “Advice”, or with Risk “Low Risk”'
    """
    rules = [dict(rule.answers) for rule in group.rules]
    if not group.n_left_out and len(rules) == 1:
        return f"{unit} {_rule_phrase(rules[0], words)}".rstrip()
    common = {
        name: labels
        for name, labels in (rules[0].items() if not group.n_left_out else ())
        if all(rule.get(name) == labels for rule in rules)
    }
    own = [{k: v for k, v in rule.items() if k not in common} for rule in rules]
    parts = [_rule_phrase(rule, words) for rule in own]
    if group.n_left_out:
        parts.append(
            "with one other combination of answers"
            if group.n_left_out == 1
            else f"with any of {group.n_left_out:,} other combinations of answers"
        )
    if common:
        also = [_have_phrase(rule, words) for rule in own]
        if all(one.startswith("have ") for one in also):
            also[1:] = [one.removeprefix("have ") for one in also[1:]]
        _, common_verbs = _nouns_and_verbs(common, words)
        who = ", and who" if common_verbs else " who"
        return f"{unit} {_rule_phrase(common, words)}{who} also {_alternatives(also)}"
    is_short = len(parts) == 2 and all(len(rule) == 1 for rule in own)
    if is_short and all(len(labels) == 1 for rule in own for labels in rule.values()):
        first, second = parts
        is_alike = first.startswith("with ") and second.startswith("with ")
        return f"{unit} {first} or {second.removeprefix('with ') if is_alike else second}"
    return f"{unit} {_alternatives(parts)}"


def _alternatives(parts: Sequence[str]) -> str:
    return ("; or " if len(parts) > 2 else ", or ").join(parts)


def _rule_phrase(answers: Answers, words: Words) -> str:
    """Return answers as what people are "with", and, where there are words, what they do."""
    nouns, verbs = _nouns_and_verbs(answers, words)
    return " ".join(
        [*([f"with {nouns}"] if nouns else []), *([f"who {verbs}"] if verbs else [])]
    )


def _have_phrase(answers: Answers, words: Words) -> str:
    """Return answers as what people "have", and, where there are words, what they do."""
    nouns, verbs = _nouns_and_verbs(answers, words)
    return joined([*([f"have {nouns}"] if nouns else []), *([verbs] if verbs else [])])


def _nouns_and_verbs(answers: Answers, words: Words) -> tuple[str, str]:
    """Return the answers of a rule without words, as nouns, and the words of the others."""
    nouns: list[str] = []
    lists: list[str] = []
    verbs: list[str] = []
    for name, labels in answers.items():
        known = words.get(name, {})
        if None in labels:
            nouns.append(f"no question about {name}")
        elif all(label in known for label in labels):
            verbs.append(joined([known[str(label)] for label in labels], "or"))
        else:
            shown = [quoted(str(label)) for label in labels]
            if len(shown) > MOST_LABELS:
                more = len(shown) - MOST_LABELS + 1
                shown = [*shown[: MOST_LABELS - 1], f"one of {more:,} other answers"]
            (nouns if len(shown) == 1 else lists).append(f"{name} {joined(shown, 'or')}")
    return joined([*nouns, *lists]), joined(verbs)


def count_of(n: int, unit: str) -> str:
    """Return how many of a unit, which is in the plural.

    Examples
    --------
    >>> count_of(1200, "residents"), count_of(1, "people"), count_of(1, "residents")
    ('1,200 residents', '1 person', '1 of the residents')
    """
    if n != 1:
        return f"{n:,} {unit}"
    return "1 person" if unit == "people" else f"1 of the {unit}"


def frequency_base(
    probabilities: Iterable[float], intervals: Iterable[tuple[float, float]] = ()
) -> int:
    """Return out of how many people to give frequencies.

    Each probability is at least one person, down to 1 in 10,000; the ends of an interval
    differ, if 1,000 people are enough for that.

    Examples
    --------
    >>> frequency_base([0.3, 0.7]), frequency_base([0.004, 0.996]), frequency_base([1e-6, 1])
    (100, 1000, 10000)
    >>> frequency_base([0.12, 0.88], [(0.116, 0.122)])
    1000
    """
    least = min((p for p in probabilities if p > 0), default=1.0)
    base = next((base for base in _BASES if base * least >= _SMALLEST), _BASES[-1])
    if any(_rounded(low, base) == _rounded(high, base) for low, high in intervals):
        return max(base, _BASES[1])
    return base


def frequency(probability: float, base: int) -> str:
    """Return how many of ``base`` people a probability is; halves are rounded up.

    Examples
    --------
    >>> frequency(0.3049, 100), frequency(0.0004, 1000), frequency(0.9999, 1000)
    ('30', 'fewer than 1', 'more than 999')
    >>> frequency(0.0, 100), frequency(1.0, 100)
    ('0', '100')
    """
    n = math.floor(base * probability + 0.5)
    if not n and probability > 0:
        return "fewer than 1"
    if n == base and probability < 1 - _ROUNDING:
        return f"more than {base - 1:,}"
    return f"{n:,}"


def rounding_note(probabilities: Sequence[float], base: int, *, has_rest: bool = False) -> str:
    """Return a note on frequencies that do not add up to ``base`` because each is rounded.

    With ``has_rest`` there are other answers without a number, and only too large a sum shows.

    Examples
    --------
    >>> rounding_note([0.335, 0.335, 0.33], 100), rounding_note([0.334, 0.333, 0.333], 100)
    ('; the numbers are rounded', '; the numbers are rounded')
    >>> rounding_note([0.5, 0.3, 0.2], 100), rounding_note([0.5, 0.3], 100, has_rest=True)
    ('', '')
    """
    numbers = [frequency(one, base) for one in probabilities]
    total = sum(math.floor(base * one + 0.5) for one in probabilities)
    is_exact = all(number[0].isdigit() for number in numbers)
    if total > base or (total < base and is_exact and not has_rest):
        return "; the numbers are rounded"
    return ""


def answer_phrase(name: str, label: str, words: Words, *, is_first: bool = True) -> str:
    """Return what people answered, after how many of them.

    Examples
    --------
    >>> answer_phrase("Fall", "Yes", {})
    'answered “Yes” to Fall'
    >>> answer_phrase("Fall", "Yes", {"Fall": {"Yes": "fall"}})
    'fall'
    """
    known = words.get(name, {}).get(label)
    if known is not None:
        return known
    return f"answered {quoted(label)} to {name}" if is_first else quoted(label)


def at_least(n: int) -> str:
    """Return the smallest share that all of n people are compatible with, at 95 %.

    Examples
    --------
    >>> at_least(15), at_least(75), at_least(1_566)
    ('81 %', '96 %', '99.8 %')
    """
    share = 100 * 0.05 ** (1 / n)
    digits = max(0, math.ceil(-math.log10(100 - share)))
    return f"{math.floor(share * 10**digits) / 10**digits:g} %"


def interval_phrase(low: float | None, high: float | None, base: int) -> str:
    """Return an interval in parentheses; nothing where there is none.

    Examples
    --------
    >>> interval_phrase(0.2891, 0.3312, 100), interval_phrase(0.0, 0.0001, 1000)
    (' (29 to 33)', ' (0 to fewer than 1)')
    >>> interval_phrase(0.9999, 1.0, 1000)
    ' (more than 999 to 1,000)'
    """
    if low is None or high is None:
        return ""
    least, most = _rounded(low, base), _rounded(high, base)
    if least == most:
        least = frequency(low, base) if most != "0" else least
        most = frequency(high, base) if most == "0" else most
    return f" ({least} to {most})"


def mean_phrase(mean: MeanScore, n: int | None) -> str:
    """Return a mean score with its interval and the people it rests on.

    Examples
    --------
    >>> from cegdb.inference.mean_scores import MeanScore
    >>> mean_phrase(MeanScore(2.4012, 2.2101, 2.5803), 123), mean_phrase(MeanScore(2.0), None)
    ('2.4 (2.2 to 2.6; n = 123)', '2.0 (n is not shown)')
    >>> mean_phrase(MeanScore(0.0312, 0.0291, 0.0332), 40_000)
    '0.031 (0.029 to 0.033; n = 40,000)'
    """
    middle, interval = mean_numbers(mean)
    based_on = "n is not shown" if n is None else f"n = {n:,}"
    return f"{middle} ({'; '.join(filter(None, (interval, based_on)))})"


def _rounded(probability: float, base: int) -> str:
    return f"{math.floor(base * probability + 0.5):,}"
