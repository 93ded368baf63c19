"""Context-specific independence: where a variable does not depend on one of its parents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cegdb.errors import NetworkError, counted, listed
from cegdb.networks.parents import group_by_others

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from cegdb.networks.parents import EdgeKind, Family

_MAX_CELLS: Final = 50_000_000
_SENTENCES: Final[Mapping[str, str]] = {
    "total": "{0} depends on {1} in every context: no two answers to {1} lead to the same "
    "stage",
    "local": "{0} depends on {1} in every context: no two answers to {1} lead to the same "
    "stage, but some stages recur from one context to another",
    "context": "{0} depends on {1} in some contexts only",
    "partial": "{0} depends on {1} in every context, but in some of them several answers to "
    "{1} lead to the same stage",
    "context/partial": "{0} depends on {1} in some contexts only, and in some of these several "
    "answers to {1} lead to the same stage",
}


@dataclass(frozen=True)
class Statement:
    """A variable is independent of others given the rest, wherever a context holds.

    Attributes
    ----------
    context
        Variable -> label; empty: everywhere.
    n
        Rows to which the variable applies in this context.
    share
        The probability of the context among those to whom the variable applies.
    """

    variable: str
    independent_of: list[str]
    given: list[str]
    context: dict[str, str]
    n: int
    share: float

    @property
    def sentence(self) -> str:
        """The statement in words.

        Examples
        --------
        >>> Statement("Fall", ["Age"], ["Risk"], {"Home": "own"}, 0, 0.25).sentence
        'Fall is independent of Age given Risk, when Home = own (25 %)'
        >>> Statement("Fall", ["Age", "Sex"], [], {}, 1200, 1.0).sentence
        'Fall is independent of Age, Sex (n = 1,200)'
        """
        given = f" given {', '.join(self.given)}" if self.given else ""
        context = ", ".join(f"{name} = {label}" for name, label in self.context.items())
        when = f", when {context}" if context else ""
        covered = f"n = {self.n:,}" if self.n else f"{100 * self.share:.0f} %"
        return (
            f"{self.variable} is independent of {', '.join(self.independent_of)}{given}{when} "
            f"({covered})"
        )


def dependence_sentence(variable: str, parent: str, kind: EdgeKind) -> str:
    """Return in words how a variable depends on a parent."""
    return _SENTENCES[kind].format(variable, parent)


def statements(families: Sequence[Family]) -> list[Statement]:
    """Return what a staged tree says of independence, what covers most people first.

    For each variable: that it is independent of the earlier ones that are not parents, given
    its parents; and the contexts (labels of other parents) in which it is independent of one
    parent given the rest, except those implied by a statement with fewer conditions.
    """
    index = {family.variable: i for i, family in enumerate(families)}
    result = [one for family in families for one in _of_family(family)]
    result.sort(
        key=lambda one: (-one.n, -round(one.share, 12), len(one.context), index[one.variable])
    )
    return result


def _of_family(family: Family) -> Iterator[Statement]:
    n_family, total = int(family.n.sum()), float(family.mass.sum())
    others = [name for name in family.before if name not in family.parents]
    if others and total > 0:
        yield Statement(family.variable, others, list(family.parents), {}, n_family, 1.0)
    for column in range(len(family.parents)):
        rest = [name for i, name in enumerate(family.parents) if i != column]
        labels = [of for i, of in enumerate(family.levels) if i != column]
        for context in _contexts(family, column):
            is_in_context = _in_context(family, column, context)
            n, mass = (
                int(family.n[is_in_context].sum()),
                float(family.mass[is_in_context].sum()),
            )
            if mass <= 0:
                continue  # the variable does not apply there
            fixed = {
                name: of[answer]
                for name, of, answer in zip(rest, labels, context, strict=True)
                if answer >= 0
            }
            yield Statement(
                family.variable,
                [family.parents[column]],
                [name for name in rest if name not in fixed],
                fixed,
                n,
                mass / total,
            )


def _in_context(family: Family, column: int, context: Sequence[int]) -> NDArray[np.bool_]:
    import numpy as np

    others = np.delete(family.answers, column, axis=1)
    wanted = np.array(context, dtype=np.int64)
    is_in_context: NDArray[np.bool_] = ((others == wanted) | (wanted < 0)).all(axis=1)
    return is_in_context


def _contexts(family: Family, column: int) -> list[list[int]]:
    """Return the largest contexts in which one parent makes no difference.

    Each has the index of a label for each of the other parents; -1 leaves it free. All are
    decided at once, in an array with one more index for each parent, "free".
    """
    import numpy as np

    sizes = [len(of) for i, of in enumerate(family.levels) if i != column]
    if np.prod([float(size + 1) for size in sizes]) > _MAX_CELLS:
        raise NetworkError(
            f"{family.variable!r} has {counted(len(family.parents), 'parent')} "
            f"({listed(family.parents)}): too many contexts to check",
            hint="a staging with fewer stages has fewer parents",
        )
    others, n_answers, n_stages = group_by_others(family.answers, family.stage, column)
    is_alike = np.ones(sizes, dtype=bool)
    has_several = np.zeros(sizes, dtype=bool)
    cell = tuple(others.T)
    is_alike[cell] = n_stages <= 1
    has_several[cell] = n_answers > 1
    # Index 0 of each axis is "free": alike if all labels are, of interest if any is.
    for axis in range(len(sizes)):
        whole = is_alike.all(axis=axis, keepdims=True)
        is_alike = np.concatenate([whole, is_alike], axis=axis)
        some = has_several.any(axis=axis, keepdims=True)
        has_several = np.concatenate([some, has_several], axis=axis)
    # A context is the largest if freeing none of the fixed labels leaves it alike.
    is_largest = is_alike & has_several
    for axis in range(len(sizes)):
        freed = np.take(is_alike, [0], axis=axis)
        is_fixed = np.arange(sizes[axis] + 1) > 0
        shape = [1] * len(sizes)
        shape[axis] = -1
        is_largest &= ~(freed & is_fixed.reshape(shape))
    contexts: list[list[int]] = (np.argwhere(is_largest) - 1).tolist()
    return contexts
