"""Situations in words: which answers make up a stage, said as briefly as is true."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Codes: TypeAlias = NDArray[np.int32]
    Flags: TypeAlias = NDArray[np.bool_]

_MOST_RULES: Final = 4
_ABSENT: Final = 0


class Place(NamedTuple):
    """A vertex, the answers that lead to it, and its stage, None if it passes a question by."""

    vertex_id: int
    stage_id: int | None
    n: int
    answers: Mapping[str, str]


class Rule(NamedTuple):
    """Answers that are enough to be of a stage: a variable's may be any of several.

    The label None stands for a question that was not asked.
    """

    answers: tuple[tuple[str, tuple[str | None, ...]], ...]


class Group(NamedTuple):
    """A stage in words: any of the rules, and how many further situations they leave out."""

    rules: tuple[Rule, ...]
    n_left_out: int


class Places:
    """The places of one question, ready to be described.

    Parameters
    ----------
    places
        Every situation that asks it, and where each other path passes it by.
    variables
        In the order of the tree.
    levels
        Variable -> its labels in level order.

    Examples
    --------
    Whoever is ill has the same chances, treated or not:

    >>> asked = [
    ...     Place(3, 3, 40, {"State": "ill", "Drug": "no"}),
    ...     Place(4, 3, 10, {"State": "ill", "Drug": "yes"}),
    ...     Place(5, 5, 50, {"State": "well", "Drug": "no"}),
    ... ]
    >>> Places(asked, ["State", "Drug"], {}).group(3)
    Group(rules=(Rule(answers=(('State', ('ill',)),)),), n_left_out=0)
    """

    def __init__(
        self,
        places: Sequence[Place],
        variables: Sequence[str],
        levels: Mapping[str, Sequence[str]],
    ) -> None:
        self._variables = variables
        self._labels: list[list[str | None]] = []
        columns = []
        for name in variables:
            met = dict.fromkeys(p.answers[name] for p in places if name in p.answers)
            known = [label for label in levels.get(name, ()) if label in met]
            labels = [*known, *(label for label in met if label not in set(known))]
            number = {label: i for i, label in enumerate(labels, start=1)}
            columns.append([number.get(p.answers.get(name, ""), _ABSENT) for p in places])
            self._labels.append([None, *labels])
        self._codes = np.array(columns, np.int32).reshape(len(variables), len(places))
        self._stage = np.array([-1 if p.stage_id is None else p.stage_id for p in places])
        self._n = np.array([p.n for p in places])

    def group(self, stage_id: int) -> Group:
        """Return the situations of a stage as rules, those of most people first."""
        inside = self._stage == stage_id
        left = inside.copy()
        rules: list[Rule] = []
        while left.any() and len(rules) < _MOST_RULES:
            first = int(np.argmax(np.where(left, self._n, -1)))
            allowed = self._widest(first, inside, left)
            left &= ~self._matching(allowed)
            rules.append(self._rule(allowed))
        return Group(tuple(rules), int(left.sum()))

    def _fits(self, variable: int, codes: frozenset[int]) -> Flags:
        """Return which places have one of these labels of a variable."""
        allowed = np.zeros(len(self._labels[variable]), dtype=np.bool_)
        allowed[list(codes)] = True
        fits: Flags = allowed[self._codes[variable]]
        return fits

    def _matching(self, allowed: Mapping[int, frozenset[int]]) -> Flags:
        found = np.ones(self._codes.shape[1], dtype=np.bool_)
        for variable, codes in allowed.items():
            found &= self._fits(variable, codes)
        return found

    def _widest(self, place: int, inside: Flags, left: Flags) -> dict[int, frozenset[int]]:
        """Return answers of one place, relaxed as long as all who have them are inside.

        Two ways to relax are tried, and the one that covers more of those left is taken.
        """
        exact = {
            variable: frozenset({int(codes[place])})
            for variable, codes in enumerate(self._codes)
            if (codes != codes[place]).any()
        }
        asked = self._fewer(exact, inside, left, only=_ABSENT)
        found = (
            self._more(self._fewer(asked, inside, left), inside, left),
            self._fewer(self._more(asked, inside, left), inside, left),
        )
        return max(found, key=lambda x: (self._n[self._matching(x) & left].sum(), -len(x)))

    def _fewer(
        self,
        allowed: Mapping[int, frozenset[int]],
        inside: Flags,
        left: Flags,
        only: int | None = None,
    ) -> dict[int, frozenset[int]]:
        """Leave out the variables that do not matter, the most people won first."""
        found = dict(allowed)
        missed = {v: ~self._fits(v, codes) for v, codes in found.items()}
        n_missed = sum(missed.values(), np.zeros(self._codes.shape[1], np.int64))
        while True:
            best: tuple[int, int] | None = None
            for variable, codes in found.items():
                if only is not None and codes != {only}:
                    continue
                match = n_missed == missed[variable]
                if not (match & ~inside).any():
                    won = (int(self._n[match & left].sum()), -variable)
                    best = max(best, won) if best else won
            if best is None:
                return found
            del found[-best[1]]
            n_missed = n_missed - missed.pop(-best[1])

    def _more(
        self, allowed: Mapping[int, frozenset[int]], inside: Flags, left: Flags
    ) -> dict[int, frozenset[int]]:
        """Add further labels of each variable that change nothing."""
        found = dict(allowed)
        for variable, codes in allowed.items():
            if codes == {_ABSENT}:
                continue
            others = self._matching({v: c for v, c in found.items() if v != variable})
            for code in range(1, len(self._labels[variable])):
                match = others & (self._codes[variable] == code)
                if (match & left).any() and not (match & ~inside).any():
                    found[variable] |= {code}
        return found

    def _rule(self, allowed: Mapping[int, frozenset[int]]) -> Rule:
        return Rule(
            tuple(
                (self._variables[v], tuple(self._labels[v][code] for code in sorted(codes)))
                for v, codes in sorted(allowed.items())
            )
        )


def examples(places: Sequence[Place], n_situations: int) -> Group:
    """Return some situations of a stage as they are, where there are too many to compare."""
    rules = tuple(
        Rule(tuple((name, (label,)) for name, label in place.answers.items()))
        for place in places[:_MOST_RULES]
    )
    return Group(rules, n_situations - len(rules))
