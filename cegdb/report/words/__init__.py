"""A CEG in words: for analysts, for a paper, and for non-technical readers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from cegdb.errors import QueryError, is_one_of, is_whole, listed
from cegdb.names import available, did_you_mean
from cegdb.render.writers import TEXT_FILES
from cegdb.small_cells import check_min_n

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from cegdb.report.words.phrases import Words

__all__ = ["FORMS", "SUFFIXES", "Form", "check_settings", "check_words"]

Form: TypeAlias = Literal["plain", "paper", "analyst"]

#: Form -> the most stages of a variable that it reports, unless a limit is given.
FORMS: Final[Mapping[str, int]] = {"plain": 20, "paper": 40, "analyst": 200}
SUFFIXES: Final = tuple(TEXT_FILES)

_WORDS_HINT: Final = (
    "give variable -> label -> words that begin with a verb, such as "
    "{'Fall': {'Yes': 'fall', 'No': 'do not fall'}}"
)


def check_settings(form: object, unit: object, limit: object, min_n: object) -> int:
    """Check the settings of a report; return the most stages of a variable to report.

    Raises
    ------
    QueryError
        One of them is invalid.

    Examples
    --------
    >>> check_settings("plain", "people", None, None)
    20
    """
    if not is_one_of(form, FORMS):
        raise QueryError(f"form is {form!r}", hint=f"choose {listed(FORMS)}")
    if not isinstance(unit, str) or not unit.strip():
        raise QueryError(
            f"unit is {unit!r}, expected words", hint="say what was counted: unit='residents'"
        )
    if limit is not None and not (is_whole(limit) and limit > 0):
        raise QueryError(
            f"limit is {limit!r}, expected a whole number of at least 1",
            hint="it is the most groups reported of a variable",
        )
    check_min_n(min_n)
    return FORMS[str(form)] if limit is None else int(str(limit))


def check_words(
    words: object, variables: Collection[str], labels: Mapping[str, Collection[str]]
) -> Words:
    """Return what to say of labels; refuse an unknown variable or label.

    Parameters
    ----------
    words
        Variable -> label -> what to say.
    variables, labels
        Those there are.

    Raises
    ------
    QueryError
        ``words`` is not such a mapping, or a variable or label is unknown.
    """
    if words is None:
        return {}
    if not isinstance(words, dict):
        raise QueryError(f"words are {words!r}", hint=_WORDS_HINT)
    for name, known in words.items():
        if name not in variables:
            raise QueryError(
                f"words are given for {name!r}, which is not a variable of the tree; "
                f"{available(variables)}",
                hint=did_you_mean(str(name), variables),
            )
        if not isinstance(known, dict):
            raise QueryError(f"words of {name!r} are {known!r}", hint=_WORDS_HINT)
        labels_of_name = labels.get(name, ())
        for label, phrase in known.items():
            if label not in labels_of_name:
                raise QueryError(
                    f"words are given for {label!r}, which is not a label of {name!r}; "
                    f"{available(labels_of_name)}",
                    hint=did_you_mean(str(label), labels_of_name),
                )
            if not isinstance(phrase, str) or not phrase.strip():
                raise QueryError(f"words of {name} = {label} are {phrase!r}", hint=_WORDS_HINT)
    return words
