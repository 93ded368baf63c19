"""Find the name that a person means among the known ones."""

from __future__ import annotations

import difflib
import re
import unicodedata
from typing import TYPE_CHECKING, Final

from cegdb.errors import CegdbError, joined, listed

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable
    from typing import TypeVar

    Item = TypeVar("Item", bound=Hashable)

_SHORTEST_PART: Final = 3  # letters: fewer begin too many words
WILDCARD: Final = "*"
"""Stands for any label in a path that a user writes."""


_INVISIBLE: Final = (
    "\u00ad\u115f\u1160\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\u2800\u3164\ufeff\uffa0"
)
"""Characters without ink that are not white space, such as a byte order mark."""
_NAMES: Final = {"\ufeff": "byte order mark"}
_WHITE: Final = "".join(filter(str.isspace, map(chr, range(0x3001))))
_BLANK: Final = _WHITE + _INVISIBLE


def trimmed(name: str) -> str:
    r"""Return a name without what cannot be seen at its ends.

    Examples
    --------
    >>> trimmed("\ufeffsex"), trimmed(" a b\u200b ")
    ('sex', 'a b')
    """
    return name.strip(_BLANK)


def invisible_ends(name: str) -> str:
    r"""Return in words the characters at the ends of a name that cannot be seen.

    Spaces and line ends, which show in quotes, are not named.

    Examples
    --------
    >>> invisible_ends("\ufeffsex"), invisible_ends(" sex")
    ('U+FEFF (byte order mark)', '')
    """
    from_left, from_right = name.lstrip(_BLANK), name.rstrip(_BLANK)
    ends = name[: len(name) - len(from_left)] + name[len(from_right) :]
    return ", ".join(
        f"U+{ord(one):04X} ({_NAMES.get(one) or unicodedata.name(one, 'unnamed').lower()})"
        for one in dict.fromkeys(ends)
        if not one.isascii()
    )


def folded(name: str) -> str:
    """Return a name without what cannot be seen at its ends, in one case."""
    return trimmed(name).casefold()


def matching(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names that are meant: exactly, else trimmed, else case-folded.

    The looser rules hold only where the stricter ones find nothing. More than one name
    means that the name is ambiguous. Trimmed names have neither white space nor invisible
    characters at their ends.

    Examples
    --------
    >>> matching("vote", ["Vote", " vote "]), matching("VOTE", ["Vote", " vote "])
    ([' vote '], ['Vote', ' vote '])
    """
    names = list(known)
    exact = [other for other in names if other == name]
    if exact:
        return exact
    like = [other for other in names if trimmed(other) == trimmed(name)]
    return like or [other for other in names if folded(other) == folded(name)]


def find_name(name: str, known: Iterable[str]) -> str | None:
    """Return the one known name that is meant, None if no name or several match.

    Examples
    --------
    >>> find_name(" high", ["High", "Low"]), find_name("a", ["A", "A "]), find_name("x", ["y"])
    ('High', None, None)
    """
    matches = matching(name, known)
    return matches[0] if len(matches) == 1 else None


def close_names(name: str, known: Collection[str]) -> list[str]:
    """Return known names with a similar spelling, best first, without regard to case.

    Where no spelling is similar, those of which the name is the beginning of a word.

    Examples
    --------
    >>> close_names("Hihg", ["High", "Low"]), close_names("x", ["High", "Low"])
    (['High'], [])
    >>> close_names("low", ["High Risk", "Low Risk"])
    ['Low Risk']
    """
    written = folded(name)
    spelled: dict[str, list[str]] = {}
    for other in known:
        spelled.setdefault(folded(other), []).append(other)
    near = difflib.get_close_matches(written, spelled, n=3)
    if not near and len(written) >= _SHORTEST_PART:
        part = re.compile(rf"(?:^|[\W_]){re.escape(written)}")
        near = [other for other in spelled if part.search(other)][:3]
    return [other for one in near for other in spelled[one]]


def did_you_mean(name: str, known: Collection[str]) -> str | None:
    """Return the hint that names close matches, None if there are none.

    Examples
    --------
    >>> did_you_mean("Hihg", ["High", "Low"])
    "did you mean 'High'?"
    """
    near = close_names(name, known)
    return f"did you mean {joined([repr(one) for one in near], 'or')}?" if near else None


def only_match(name: str, known: Collection[str], unknown: str, error: type[CegdbError]) -> str:
    """Return the one known name that is meant.

    Raises
    ------
    CegdbError
        Of the class ``error``: no name matches, which ``unknown`` says, or several do.

    Examples
    --------
    >>> only_match("low ", ["High", "Low"], "no such risk", CegdbError)
    'Low'
    >>> only_match("Hihg", ["High", "Low"], "no such risk", CegdbError)
    Traceback (most recent call last):
    ...
    cegdb.errors.CegdbError: no such risk; available: 'High', 'Low'
    hint: did you mean 'High'?
    """
    matches = matching(name, known)
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise error(
            f"{name!r} may be any of {listed(map(repr, matches))}", hint="write it exactly"
        )
    raise error(f"{unknown}; {available(known)}", hint=did_you_mean(name, known))


def available(known: Collection[str]) -> str:
    """Return the end of a message about an unknown name: the known ones.

    Examples
    --------
    >>> available(["High", "Low"]), available([])
    ("available: 'High', 'Low'", 'there are none yet')
    """
    return f"available: {listed(map(repr, known))}" if known else "there are none yet"


def first_repeated(items: Iterable[Item]) -> Item | None:
    """Return the first item that occurs a second time, None if there is none.

    Examples
    --------
    >>> first_repeated(["a", "b", "a"]), first_repeated(["a", "b"])
    ('a', None)
    """
    seen: set[Item] = set()
    for item in items:
        if item in seen:
            return item
        seen.add(item)
    return None
