"""Phrases of the report for everybody: who is meant, and how many of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cegdb.report.words.situation_words import Group

    #: Variable -> label -> what such people do or are, a verb first: "are not treated".
    Words: TypeAlias = Mapping[str, Mapping[str, str]]

_BASES: Final = (100, 1_000, 10_000)
_SMALLEST: Final = 1.5
_ROUNDING: Final = 1e-12
_MOST_LABELS: Final = 6
_ISOLATES: Final = dict.fromkeys(range(0x2066, 0x206A), "\N{REPLACEMENT CHARACTER}")


def quoted(label: str) -> str:
    """Return a label between quotes, so that its direction of writing stays its own.

    Examples
    --------
    >>> quoted("High Risk")
    '“High Risk”'
    """
    if label.isascii():
        return f"“{label}”"
    return f"“\N{FIRST STRONG ISOLATE}{label.translate(_ISOLATES)}\N{POP DIRECTIONAL ISOLATE}”"


def joined(parts: Sequence[str], word: str = "and") -> str:
    """Return parts as a list in a sentence.

    Examples
    --------
    >>> joined(["a", "b", "c"]), joined(["a", "b"], "or")
    ('a, b and c', 'a or b')
    """
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {word} {parts[-1]}"


def people(group: Group, unit: str, words: Words) -> str:
    """Return who is of a group.

    Parameters
    ----------
    group
        A stage in words.
    unit
        What is counted, in the plural.
    words
        What to say of labels.

    Examples
    --------
    >>> from cegdb.report.words.situation_words import Group, Rule
    >>> rule = Rule((("Risk", ("High Risk",)), ("Treatment", ("None", "Advice"))))
    >>> people(Group((rule,), 0), "people", {})
    'people with Risk “High Risk” and Treatment “None” or “Advice”'
    >>> people(Group((rule,), 0), "residents", {"Risk": {"High Risk": "are at high risk"}})
    'residents who have Treatment “None” or “Advice” and are at high risk'
    """
    rules = [dict(rule.answers) for rule in group.rules]
    is_verbal = any(_are_known(x, words) for rule in rules for x in rule.items())
    link = "who" if is_verbal else "with"
    say = _verbs if is_verbal else _nouns
    if not group.n_left_out and len(rules) == 1:
        return f"{unit} {link} {say(rules[0], words)}" if rules[0] else unit
    common = {
        name: labels
        for name, labels in (rules[0].items() if not group.n_left_out else ())
        if all(rule.get(name) == labels for rule in rules)
    }
    again = "" if is_verbal else "with "
    parts = [
        again + say({k: v for k, v in rule.items() if k not in common}, words) for rule in rules
    ]
    if group.n_left_out:
        of_answers = (
            "one further combination of answers"
            if group.n_left_out == 1
            else f"any of {group.n_left_out:,} further combinations of answers"
        )
        parts.append(f"{'have' if is_verbal else 'with'} {of_answers}")
    either = "; or ".join(parts) if len(parts) > 2 else ", or ".join(parts)
    if common:
        who = "who " if is_verbal else ""
        return f"{unit} {link} {say(common, words)}, and {who}either {either}"
    return f"{unit} {'who ' if is_verbal else ''}either {either}"


def _are_known(answers: tuple[str, Sequence[str | None]], words: Words) -> bool:
    """Return whether there are words for all of a variable's labels."""
    name, labels = answers
    return all(label in words.get(name, {}) for label in labels)


def _nouns(answers: Mapping[str, Sequence[str | None]], words: Words) -> str:
    """Return answers as what people have: quoted labels."""
    del words
    one: list[str] = []
    several: list[str] = []
    for name, labels in answers.items():
        if None in labels:
            one.append(f"no question about {name}")
            continue
        given = [quoted(str(label)) for label in labels]
        if len(given) > _MOST_LABELS:
            more = len(given) - _MOST_LABELS + 1
            given = [*given[: _MOST_LABELS - 1], f"one of {more:,} further answers"]
        (one if len(given) == 1 else several).append(f"{name} {joined(given, 'or')}")
    return joined([*one, *several])


def _verbs(answers: Mapping[str, Sequence[str | None]], words: Words) -> str:
    """Return answers as what people do or are, or have where there are no words."""
    does = [
        joined([words[name][str(label)] for label in labels], "or")
        for name, labels in answers.items()
        if _are_known((name, labels), words)
    ]
    has = {k: v for k, v in answers.items() if not _are_known((k, v), words)}
    return joined([*([f"have {_nouns(has, words)}"] if has else []), *does])


def so_many(n: int, unit: str) -> str:
    """Return how many of a unit, which is in the plural.

    Examples
    --------
    >>> so_many(1200, "residents"), so_many(1, "people"), so_many(1, "residents")
    ('1,200 residents', '1 person', '1 of the residents')
    """
    if n != 1:
        return f"{n:,} {unit}"
    return "1 person" if unit == "people" else f"1 of the {unit}"


def base_of(
    probabilities: Iterable[float], intervals: Iterable[tuple[float, float]] = ()
) -> int:
    """Return of how many people to speak.

    Parameters
    ----------
    probabilities
        Each counts some people, down to 1 of 10,000.
    intervals
        Each has two ends, if 1,000 people are enough for that.

    Examples
    --------
    >>> base_of([0.3, 0.7]), base_of([0.004, 0.996]), base_of([1e-6, 1])
    (100, 1000, 10000)
    >>> base_of([0.12, 0.88], [(0.116, 0.122)])
    1000
    """
    least = min((p for p in probabilities if p > 0), default=1.0)
    base = next((base for base in _BASES if base * least >= _SMALLEST), _BASES[-1])
    if any(_plain(low, base) == _plain(high, base) for low, high in intervals):
        return max(base, _BASES[1])
    return base


def number(probability: float, base: int) -> str:
    """Return how many of ``base`` people a probability is; halves are rounded up.

    Examples
    --------
    >>> number(0.3049, 100), number(0.0004, 1000), number(0.9999, 1000)
    ('30', 'fewer than 1', 'more than 999')
    >>> number(0.0, 100), number(1.0, 100)
    ('0', '100')
    """
    found = math.floor(base * probability + 0.5)
    if not found and probability > 0:
        return "fewer than 1"
    if found == base and probability < 1 - _ROUNDING:
        return f"more than {base - 1:,}"
    return f"{found:,}"


def of_whom(name: str, label: str, words: Words, *, is_first: bool = True) -> str:
    """Return what people answer, after how many of them.

    Examples
    --------
    >>> of_whom("Fall", "Yes", {}), of_whom("Fall", "Yes", {"Fall": {"Yes": "fall"}})
    ('have Fall “Yes”', 'fall')
    """
    known = words.get(name, {}).get(label)
    if known is not None:
        return known
    return f"have {name} {quoted(label)}" if is_first else quoted(label)


def between(low: float | None, high: float | None, base: int) -> str:
    """Return an interval in parentheses; nothing where there is none.

    Examples
    --------
    >>> between(0.2891, 0.3312, 100), between(0.0, 0.0001, 1000), between(0.9999, 1.0, 1000)
    (' (29 to 33)', ' (0 to fewer than 1)', ' (more than 999 to 1,000)')
    """
    if low is None or high is None:
        return ""
    least, most = _plain(low, base), _plain(high, base)
    if least == most:
        least = number(low, base) if most != "0" else least
        most = number(high, base) if most == "0" else most
    return f" ({least} to {most})"


def _plain(probability: float, base: int) -> str:
    return f"{math.floor(base * probability + 0.5):,}"


def most_labels() -> int:
    """Return how many answers of a question are told."""
    return _MOST_LABELS
