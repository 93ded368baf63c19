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


class History(NamedTuple):
    """A vertex, the answers that lead to it, and its stage; None: the question is skipped."""

    vertex_id: int
    stage_id: int | None
    n: int
    answers: Mapping[str, str]


class Rule(NamedTuple):
    """Answers that suffice to be in a stage, any of several for a variable; None: not asked."""

    answers: tuple[tuple[str, tuple[str | None, ...]], ...]


class Group(NamedTuple):
    """A stage in words: any of the rules, and how many other situations these leave out."""

    rules: tuple[Rule, ...]
    n_left_out: int


class StageDescriber:
    """Finds which answers make up the stages of one variable.

    ``histories`` are the situations of the variable, and where other paths skip it.

    Examples
    --------
    Those who are ill share a stage, treated or not:

    >>> histories = [
    ...     History(3, 3, 40, {"State": "ill", "Drug": "no"}),
    ...     History(4, 3, 10, {"State": "ill", "Drug": "yes"}),
    ...     History(5, 5, 50, {"State": "well", "Drug": "no"}),
    ... ]
    >>> StageDescriber(histories, ["State", "Drug"], {}).group(3)
    Group(rules=(Rule(answers=(('State', ('ill',)),)),), n_left_out=0)
    """

    def __init__(
        self,
        histories: Sequence[History],
        variables: Sequence[str],
        levels: Mapping[str, Sequence[str]],
    ) -> None:
        self._variables = variables
        self._labels: list[list[str | None]] = []
        columns = []
        for name in variables:
            met = dict.fromkeys(h.answers[name] for h in histories if name in h.answers)
            known = [label for label in levels.get(name, ()) if label in met]
            labels = [*known, *(label for label in met if label not in set(known))]
            code = {label: i for i, label in enumerate(labels, start=1)}
            columns.append([code.get(h.answers.get(name, ""), _ABSENT) for h in histories])
            self._labels.append([None, *labels])
        self._codes = np.array(columns, np.int32).reshape(len(variables), len(histories))
        self._stage = np.array([-1 if h.stage_id is None else h.stage_id for h in histories])
        self._n = np.array([h.n for h in histories])

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
        """Return which histories have one of these labels of a variable."""
        allowed = np.zeros(len(self._labels[variable]), dtype=np.bool_)
        allowed[list(codes)] = True
        fits: Flags = allowed[self._codes[variable]]
        return fits

    def _matching(self, allowed: Mapping[int, frozenset[int]]) -> Flags:
        matches = np.ones(self._codes.shape[1], dtype=np.bool_)
        for variable, codes in allowed.items():
            matches &= self._fits(variable, codes)
        return matches

    def _widest(self, index: int, inside: Flags, left: Flags) -> dict[int, frozenset[int]]:
        """Return answers of one history, relaxed as long as all who have them are inside.

        Variables are dropped, then labels added, or the other way round, whichever covers
        more of those left.
        """
        exact = {
            variable: frozenset({int(codes[index])})
            for variable, codes in enumerate(self._codes)
            if (codes != codes[index]).any()
        }
        narrowed = self._fewer(exact, inside, left, only=_ABSENT)
        relaxed = (
            self._more(self._fewer(narrowed, inside, left), inside, left),
            self._fewer(self._more(narrowed, inside, left), inside, left),
        )
        return max(relaxed, key=lambda x: (self._n[self._matching(x) & left].sum(), -len(x)))

    def _fewer(
        self,
        allowed: Mapping[int, frozenset[int]],
        inside: Flags,
        left: Flags,
        only: int | None = None,
    ) -> dict[int, frozenset[int]]:
        """Drop the variables that do not matter, those first whose loss wins most people."""
        relaxed = dict(allowed)
        missed = {v: ~self._fits(v, codes) for v, codes in relaxed.items()}
        n_missed = sum(missed.values(), np.zeros(self._codes.shape[1], np.int64))
        while True:
            best: tuple[int, int] | None = None
            for variable, codes in relaxed.items():
                if only is not None and codes != {only}:
                    continue
                match = n_missed == missed[variable]
                if not (match & ~inside).any():
                    won = (int(self._n[match & left].sum()), -variable)
                    best = max(best, won) if best else won
            if best is None:
                return relaxed
            del relaxed[-best[1]]
            n_missed = n_missed - missed.pop(-best[1])

    def _more(
        self, allowed: Mapping[int, frozenset[int]], inside: Flags, left: Flags
    ) -> dict[int, frozenset[int]]:
        """Add other labels of each variable that let in nobody from outside."""
        relaxed = dict(allowed)
        for variable, codes in allowed.items():
            if codes == {_ABSENT}:
                continue
            others = self._matching({v: c for v, c in relaxed.items() if v != variable})
            for code in range(1, len(self._labels[variable])):
                match = others & (self._codes[variable] == code)
                if (match & left).any() and not (match & ~inside).any():
                    relaxed[variable] |= {code}
        return relaxed

    def _rule(self, allowed: Mapping[int, frozenset[int]]) -> Rule:
        return Rule(
            tuple(
                (self._variables[v], tuple(self._labels[v][code] for code in sorted(codes)))
                for v, codes in sorted(allowed.items())
            )
        )


def examples(histories: Sequence[History], n_situations: int) -> Group:
    """Return a few situations of a stage as they are, where there are too many to compare."""
    rules = tuple(
        Rule(tuple((name, (label,)) for name, label in history.answers.items()))
        for history in histories[:_MOST_RULES]
    )
    return Group(rules, n_situations - len(rules))
