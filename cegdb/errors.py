"""Everything cegdb raises on purpose: a few classes, one per kind of problem."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence, Set
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Final, TypeGuard, cast

__all__ = [
    "CegError",
    "CegdbError",
    "GraphError",
    "MigrationError",
    "MissingExtraError",
    "NameTakenError",
    "NetworkError",
    "QueryError",
    "SqlStepError",
    "StagingError",
    "StaleError",
    "StoreError",
    "SurveyError",
    "TreeError",
    "UnknownNameError",
]

LARGEST: Final = 1e100
"""Larger numbers are refused in settings: sums and products of them would overflow."""


class CegdbError(Exception):
    """Base class: catch this to catch everything cegdb raises on purpose.

    Parameters
    ----------
    message
        What was found, where, and what was expected.
    hint
        What to do about it.

    Examples
    --------
    >>> print(CegdbError("no rows", hint="check the file"))
    no rows
    hint: check the file
    """

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint

    def __str__(self) -> str:
        """Return the message and, on its own line, the hint."""
        message = super().__str__()
        return f"{message}\nhint: {self.hint}" if self.hint else message


class SurveyError(CegdbError, ValueError):
    """A survey source cannot be read, or a setting does not fit its columns.

    Examples
    --------
    >>> import cegdb
    >>> cegdb.open().demo("moon")
    Traceback (most recent call last):
    ...
    cegdb.errors.SurveyError: unknown value 'moon' for survey
    hint: available: 'titanic', 'chds', 'falls'
    """

    exit_code = 3


class TreeError(CegdbError, ValueError):
    """An event tree cannot be built with the given order or settings.

    Examples
    --------
    >>> import cegdb
    >>> survey = cegdb.open().ingest("select 1 as x", name="one")
    >>> survey.event_tree(blank="never")
    Traceback (most recent call last):
    ...
    cegdb.errors.TreeError: unknown value 'never' for blank
    hint: available: 'auto', 'structural', 'missing'
    """

    exit_code = 3


class StagingError(CegdbError, ValueError):
    """Stages, hyperstages or learning settings do not fit the event tree.

    Examples
    --------
    >>> import cegdb
    >>> cegdb.open().demo("chds").staging.join("u0")
    Traceback (most recent call last):
    ...
    cegdb.errors.StagingError: u0: this is one stage, with nothing to join
    hint: name two stages or more, such as 'u3', 'u5'
    """

    exit_code = 3


class CegError(CegdbError, ValueError):
    """A Chain Event Graph cannot be built or unrolled as requested.

    Examples
    --------
    >>> import cegdb
    >>> ceg = cegdb.open().demo("chds")
    >>> ceg.given(Admission="Yes").save("chds", replace=True)
    Traceback (most recent call last):
    ...
    cegdb.errors.CegError: CEG 'chds' cannot be replaced by a CEG made from it
    hint: choose another name
    """

    exit_code = 3


class GraphError(CegdbError, ValueError):
    """A graph cannot be drawn or written as requested.

    Examples
    --------
    >>> import cegdb
    >>> cegdb.open().demo("chds").draw("chds.gif")
    Traceback (most recent call last):
    ...
    cegdb.errors.GraphError: unknown file type '.gif' (chds.gif)
    hint: a picture is written as .svg, .pdf, .png, .dot or .tex
    """

    exit_code = 3


class NetworkError(CegdbError, ValueError):
    """A Bayesian network cannot be read, written, or laid out as a staged tree.

    Examples
    --------
    >>> import cegdb
    >>> cegdb.open().staged_tree("falls")
    Traceback (most recent call last):
    ...
    cegdb.errors.NetworkError: 'falls' is not a .bif file
    hint: ...
    """

    exit_code = 3


class QueryError(CegdbError, ValueError):
    """A query or evidence does not fit the object, or a user's own SQL failed.

    Examples
    --------
    >>> import cegdb
    >>> cegdb.open().demo("chds").probability(Admission="Perhaps")
    Traceback (most recent call last):
    ...
    cegdb.errors.QueryError: 'Admission' has no label 'Perhaps'; available: 'No', 'Yes'
    """

    exit_code = 3


class NameTakenError(CegdbError, ValueError):
    """An object of that kind and name exists already.

    Examples
    --------
    >>> import cegdb
    >>> db = cegdb.open()
    >>> ceg = db.demo("chds")
    >>> db.demo("chds")
    Traceback (most recent call last):
    ...
    cegdb.errors.NameTakenError: survey 'chds' already exists
    hint: choose another name, or replace it (replace=True, --replace)
    """

    exit_code = 3


class UnknownNameError(CegdbError, LookupError):
    """No object of that kind has that name.

    Examples
    --------
    >>> import cegdb
    >>> db = cegdb.open()
    >>> ceg = db.demo("chds")
    >>> db.cegs["falls"]
    Traceback (most recent call last):
    ...
    cegdb.errors.UnknownNameError: no CEG named 'falls'; available: 'chds'
    """

    exit_code = 3


class StaleError(CegdbError, ValueError):
    """The survey of an object has changed since the object was made.

    Examples
    --------
    >>> import cegdb
    >>> survey = cegdb.open().ingest("select 1 as x", name="one")
    >>> tree = survey.event_tree()
    >>> _ = survey.append("select 2 as x")
    >>> tree.learn_stages()
    Traceback (most recent call last):
    ...
    cegdb.errors.StaleError: event tree 'one' is stale: its survey has changed
    hint: rebuild what is built on its survey first: db.rebuild(), cegdb rebuild DB
    """

    exit_code = 3


class StoreError(CegdbError, OSError):
    """A database file cannot be opened, read or written as requested.

    Examples
    --------
    >>> import cegdb
    >>> cegdb.open("no-such-folder/falls.duckdb")
    Traceback (most recent call last):
    ...
    cegdb.errors.StoreError: there is no folder ...
    hint: make it first
    """

    exit_code = 1


class MigrationError(CegdbError, RuntimeError):
    """The file's cegdb schema is older, newer, or not ours.

    Examples
    --------
    >>> import cegdb
    >>> issubclass(cegdb.MigrationError, RuntimeError)
    True
    """

    exit_code = 1


class SqlStepError(CegdbError, RuntimeError):
    """An SQL step is malformed, or the database refused it.

    Examples
    --------
    >>> import cegdb
    >>> issubclass(cegdb.SqlStepError, RuntimeError)
    True
    """

    exit_code = 4


class MissingExtraError(CegdbError, ImportError):
    """An optional dependency is not installed.

    Examples
    --------
    >>> import cegdb
    >>> issubclass(cegdb.MissingExtraError, ImportError)
    True
    """

    exit_code = 1


def items_of(
    value: object,
    setting: str,
    error: type[CegdbError],
    *,
    hint: str,
    in_order: bool = False,
) -> list[object]:
    """Return the items of a setting that is a list, and refuse a text or a single value.

    With ``in_order`` a set is refused too, since it has no order.

    Examples
    --------
    >>> items_of(("a", "b"), "order", TreeError, hint="give a list of variables")
    ['a', 'b']
    >>> items_of(5, "order", TreeError, hint="give a list of variables")
    Traceback (most recent call last):
    ...
    cegdb.errors.TreeError: order must be a list, not 5
    hint: give a list of variables
    """
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        what = "the text " if isinstance(value, str) else ""
        raise error(f"{setting} must be a list, not {what}{value!r}", hint=hint)
    if in_order and isinstance(value, Set):
        raise error(f"{setting} must be a list, not a set, which has no order", hint=hint)
    return list(value)


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a setting is a finite number, and not a truth value.

    Examples
    --------
    >>> is_number(2), is_number(True), is_number(float("nan")), is_number(10**400)
    (True, False, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        number = float(cast("float", value))
    except OverflowError:
        return False
    return abs(number) <= LARGEST


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether a setting is a whole number, and not a truth value.

    Examples
    --------
    >>> is_whole(2), is_whole(2.0), is_whole(True)
    (True, False, False)
    """
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_one_of(value: object, choices: Collection[str]) -> bool:
    """Return whether a setting is one of the texts to choose from, whatever its type.

    Examples
    --------
    >>> is_one_of("bic", ("bic", "aic")), is_one_of(["bic"], ("bic", "aic"))
    (True, False)
    """
    return isinstance(value, str) and value in choices


def path_of(path: object) -> Path:
    """Return the path of a file to write, and refuse what is not a path.

    Examples
    --------
    >>> path_of(5)
    Traceback (most recent call last):
    ...
    cegdb.errors.GraphError: a file to write must be a path, not 5
    """
    if not isinstance(path, (str, PathLike)):
        raise GraphError(f"a file to write must be a path, not {path!r}")
    return Path(path)


_PLURALS = {"vertex": "vertices", "leaf": "leaves", "person": "people"}
_SINGULARS = {"have": "has", "are": "is"}
_SIBILANT = re.compile(r".*(s|x|z|ch|sh|o)")
_CONSONANT_Y = re.compile(r".*[^aeiou]y")


def counted(n: int, word: str) -> str:
    """Return a number and the word for what it counts, in the plural unless it is one.

    Examples
    --------
    >>> counted(1, "leaf"), counted(1200, "leaf"), counted(0, "blank line")
    ('1 leaf', '1,200 leaves', '0 blank lines')
    >>> counted(2, "entry"), counted(2, "survey"), counted(2, "class")
    ('2 entries', '2 surveys', '2 classes')
    """
    return f"{n:,} {word if n == 1 else _PLURALS.get(word) or _with_s(word)}"


def agreeing(n: int, verb: str) -> str:
    """Return a verb that agrees with a number of things: in the plural unless it is one.

    Examples
    --------
    >>> agreeing(1, "have"), agreeing(2, "have"), agreeing(1, "violate")
    ('has', 'have', 'violates')
    """
    return _SINGULARS.get(verb) or _with_s(verb) if n == 1 else verb


def _with_s(word: str) -> str:
    """Return a word with the ending -s, as English spells it."""
    if _CONSONANT_Y.fullmatch(word):
        return f"{word[:-1]}ies"
    return f"{word}es" if _SIBILANT.fullmatch(word) else f"{word}s"


def listed(
    items: Iterable[object],
    *,
    most: int = 5,
    total: int | None = None,
    has_unseen: bool = False,
) -> str:
    """Return at most ``most`` items for a message, then how many more there are.

    ``total`` is how many there are in all, if ``items`` are only the first of them;
    ``has_unseen`` says that there may be more, which nobody counted.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    texts = [str(item) for item in items]
    n_more = (len(texts) if total is None else total) - most
    first = ", ".join(texts[:most])
    at_least = "at least " if has_unseen else ""
    return first if n_more <= 0 else f"{first} and {at_least}{n_more:,} more"


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


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
