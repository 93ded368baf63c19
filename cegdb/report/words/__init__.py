"""A CEG in words: for analysts, for a paper, and for non-technical readers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cegdb.errors import QueryError, is_whole
from cegdb.names import only_match
from cegdb.options import check_choice
from cegdb.render.writers import TEXT_FILES
from cegdb.small_cells import check_min_n

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from cegdb.report.words.phrases import Words

__all__ = ["FORMS", "SUFFIXES", "check_settings", "check_words"]

#: Form -> the most stages of a variable that it reports, unless a limit is given.
FORMS: Final[Mapping[str, int]] = {"plain": 20, "paper": 40, "analyst": 200}
SUFFIXES: Final = tuple(TEXT_FILES)

_WORDS_HINT: Final = (
    "give variable -> label -> words that begin with a verb, such as "
    "{'Fall': {'Yes': 'fall', 'No': 'do not fall'}}"
)


def check_settings(form: object, unit: object, limit: object, min_n: object) -> int:
    """Check the settings of a report; return the most stages of a variable to report.

    Examples
    --------
    >>> check_settings("plain", "people", None, None)
    20
    """
    check_choice("form", form, FORMS, QueryError)
    if not isinstance(unit, str) or not unit.strip():
        raise QueryError(
            f"unit must be a word or two, not {unit!r}",
            hint="name what was counted, such as unit='residents'",
        )
    if limit is not None and not (is_whole(limit) and limit > 0):
        raise QueryError(
            f"limit must be a whole number of 1 or more, not {limit!r}",
            hint="it is the largest number of groups to report for a variable",
        )
    check_min_n(min_n)
    return FORMS[str(form)] if limit is None else int(str(limit))


def check_words(
    words: object, variables: Collection[str], labels: Mapping[str, Collection[str]]
) -> Words:
    """Return the words for labels by variable and label, which are found like columns.

    Examples
    --------
    >>> check_words({"fall": {" yes": "fall"}}, ["Fall"], {"Fall": ["Yes", "No"]})
    {'Fall': {'Yes': 'fall'}}
    """
    if words is None:
        return {}
    if not isinstance(words, dict):
        raise QueryError(f"words must be a mapping, not {words!r}", hint=_WORDS_HINT)
    checked: dict[str, dict[str, str]] = {}
    for typed_name, phrases in words.items():
        unknown = f"words are given for {typed_name!r}, which is not a variable of the tree"
        name = only_match(str(typed_name), variables, unknown, QueryError)
        if not isinstance(phrases, dict):
            raise QueryError(
                f"words for {name!r} must be a mapping, not {phrases!r}", hint=_WORDS_HINT
            )
        for typed_label, phrase in phrases.items():
            unknown = f"words are given for {typed_label!r}, which is not a label of {name!r}"
            label = only_match(str(typed_label), labels.get(name, ()), unknown, QueryError)
            if not isinstance(phrase, str) or not phrase.strip():
                raise QueryError(
                    f"words for {name} = {label} must be a text, not {phrase!r}",
                    hint=_WORDS_HINT,
                )
            if label in checked.setdefault(name, {}):
                raise QueryError(f"words for {name} = {label} are given twice")
            checked[name][label] = phrase
    return checked
