"""What can be known of a person's path through a CEG, and be asked of it."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias

from cegdb.errors import QueryError, is_number, is_whole, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = [
    "Evidence",
    "after",
    "answers",
    "at_least",
    "at_most",
    "avoids",
    "before",
    "exactly",
    "likelihood",
    "takes",
    "visits",
]


class Evidence:
    """Something known of a path; made by the functions of this module.

    ``a & b`` is both.
    """

    kind: ClassVar[str]

    def __and__(self, other: Evidence) -> All:
        """Return the evidence that both hold."""
        return All((*items(self), *items(other)))

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values, as kept in the catalog."""
        return {"kind": self.kind, **asdict(self)}  # type: ignore[call-overload]


@dataclass(frozen=True)
class All(Evidence):
    """Every part holds."""

    kind: ClassVar = "all"
    of: tuple[Evidence, ...]

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "of": [part.to_json() for part in self.of]}

    def __str__(self) -> str:
        """Return it in words."""
        return " and ".join(map(str, self.of)) or "nothing"


@dataclass(frozen=True)
class Answer(Evidence):
    """A variable has one of some labels."""

    kind: ClassVar = "answer"
    variable: str
    labels: tuple[str, ...]

    def __str__(self) -> str:
        """Return it in words."""
        if len(self.labels) == 1:
            return f"{self.variable} = {self.labels[0]}"
        return f"{self.variable} in ({', '.join(self.labels)})"


@dataclass(frozen=True)
class Visit(Evidence):
    """A position is passed, or not."""

    kind: ClassVar = "visit"
    position: str | int
    is_passed: bool

    def __str__(self) -> str:
        """Return it in words."""
        return f"{'visits' if self.is_passed else 'avoids'} {self.position}"


@dataclass(frozen=True)
class Take(Evidence):
    """An edge is taken, or not."""

    kind: ClassVar = "take"
    position: str | int
    label: str
    is_taken: bool

    def __str__(self) -> str:
        """Return it in words."""
        return f"{'takes' if self.is_taken else 'does not take'} {self.position} {self.label}"


@dataclass(frozen=True)
class Likelihood(Evidence):
    """How likely what was seen is, given each answer."""

    kind: ClassVar = "likelihood"
    variable: str
    weights: tuple[tuple[str, float], ...]

    def __str__(self) -> str:
        """Return it in words."""
        each = ", ".join(f"{label}: {weight:g}" for label, weight in self.weights)
        return f"likelihood of {self.variable} ({each})"


@dataclass(frozen=True)
class Count(Evidence):
    """How many of some events occur."""

    kind: ClassVar = "count"
    least: int
    most: int
    of: tuple[Evidence, ...]

    def to_json(self) -> dict[str, Any]:
        of = [part.to_json() for part in self.of]
        return {"kind": self.kind, "least": self.least, "most": self.most, "of": of}

    def __str__(self) -> str:
        """Return it in words."""
        if self.least == self.most:
            amount = f"exactly {self.least}"
        elif self.most >= len(self.of):
            amount = f"at least {self.least}"
        else:
            amount = f"at most {self.most}"
        return f"{amount} of ({'; '.join(map(str, self.of))})"


@dataclass(frozen=True)
class Order(Evidence):
    """Two events occur, one before the other."""

    kind: ClassVar = "order"
    first: Evidence
    second: Evidence

    def to_json(self) -> dict[str, Any]:
        pair = {"first": self.first.to_json(), "second": self.second.to_json()}
        return {"kind": self.kind, **pair}

    def __str__(self) -> str:
        """Return it in words."""
        return f"{self.first} before {self.second}"


EvidenceLike: TypeAlias = "Evidence | Mapping[str, object]"

_LABELS: Final = "give a label, or a list of labels, for each variable"


def answers(given: Mapping[str, object] | None = None, /, **others: object) -> Evidence:
    """Return the evidence that variables have labels.

    Parameters
    ----------
    given, others
        Variable -> label, or a list of labels of which one holds; ``"not applicable"``
        where the variable does not occur. Names that are no identifiers go in ``given``.

    Raises
    ------
    QueryError
        A variable is given twice, or has no label.

    Examples
    --------
    >>> print(answers({"Risk level": "High"}, Fall=["Fall", "Died"]))
    Risk level = High and Fall in (Fall, Died)
    """
    if given is not None and not isinstance(given, Mapping):
        raise QueryError(f"an event is {given!r}", hint='give a mapping: {"Fall": "Fall"}')
    found: dict[str, object] = dict(given or {})
    if twice := sorted(set(found) & set(others)):
        raise QueryError(f"{twice[0]!r} is given twice")
    found |= others
    parts = tuple(Answer(str(name), _labels(name, label)) for name, label in found.items())
    return parts[0] if len(parts) == 1 else All(parts)


def _labels(variable: str, label: object) -> tuple[str, ...]:
    if label is None:
        raise QueryError(
            f"{variable!r} has the label None",
            hint='leave it out if it is not asked; "not applicable" where it does not occur',
        )
    if isinstance(label, Mapping):
        raise QueryError(f"the label of {variable!r} is a mapping", hint=_LABELS)
    several = isinstance(label, (list, tuple, Set)) or (
        hasattr(label, "tolist") and getattr(label, "ndim", 0) == 1
    )
    if not several:
        return (text_of(label),)
    labels = tuple(text_of(one) for one in label)  # type: ignore[attr-defined]
    if not labels:
        raise QueryError(f"{variable!r} has an empty list of labels", hint=_LABELS)
    return tuple(sorted(labels)) if isinstance(label, Set) else labels


def text_of(label: object) -> str:
    """Return a label as text, numbers as ingest writes them.

    Examples
    --------
    >>> text_of(2.0), text_of(True), text_of("01")
    ('2', 'True', '01')
    """
    item = getattr(label, "item", None)
    if callable(item) and getattr(label, "ndim", 1) == 0:
        label = item()
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    return str(label)


def visits(position: str | int) -> Evidence:
    """Return the evidence that a position (name or id) is passed.

    Examples
    --------
    >>> print(visits("w3"))
    visits w3
    """
    return Visit(_position(position), is_passed=True)


def avoids(position: str | int) -> Evidence:
    """Return the evidence that a position (name or id) is not passed.

    Examples
    --------
    >>> print(avoids("w3"))
    avoids w3
    """
    return Visit(_position(position), is_passed=False)


def takes(position: str | int, label: object, *, is_taken: bool = True) -> Evidence:
    """Return the evidence that the edge of a position with a label is taken, or not.

    Examples
    --------
    >>> print(takes("w1", "High"), "|", takes("w1", "High", is_taken=False))
    takes w1 High | does not take w1 High
    """
    return Take(_position(position), text_of(label), is_taken=bool(is_taken))


def _position(position: object) -> str | int:
    if isinstance(position, str):
        return position
    if is_whole(position):
        return int(position)
    raise QueryError(f"a position is {position!r}", hint='give its name, such as "w3"')


def likelihood(variable: str, weights: Mapping[object, float]) -> Evidence:
    """Return soft evidence: how likely what was seen is, given each answer to a variable.

    Parameters
    ----------
    variable
        What it tells of.
    weights
        Label -> 0 or more; only their ratios matter. Each label that the CEG has must be
        there, ``"not applicable"`` too where paths lack the variable.

    Raises
    ------
    QueryError
        A weight is negative or no number, or all are 0; a label is given twice.

    Examples
    --------
    >>> print(likelihood("Fall", {"Fall": 0.9, "No fall": 0.2}))
    likelihood of Fall (Fall: 0.9, No fall: 0.2)
    """
    given: object = weights
    if not (isinstance(given, Mapping) and given):
        raise QueryError(
            f"the likelihood of {variable!r} is {weights!r}",
            hint="give a mapping of each label to a number",
        )
    return likelihood_of(str(variable), list(weights.items()))


def likelihood_of(variable: str, weights: Sequence[tuple[object, object]]) -> Likelihood:
    """Return soft evidence from pairs of a label and its weight: see `likelihood`."""
    found: dict[str, float] = {}
    for label, weight in weights:
        text = text_of(label)
        if not is_number(weight) or weight < 0:
            raise QueryError(
                f"the likelihood of {variable} = {text} is {weight!r}",
                hint="give a number from 0 on",
            )
        if text in found:
            raise QueryError(f"the likelihood of {variable} = {text} is given twice")
        found[text] = float(weight)
    if not any(found.values()):
        raise QueryError(f"the likelihood of {variable!r} is 0 for every label")
    return Likelihood(variable, tuple(found.items()))


def exactly(n: int, of: Iterable[EvidenceLike]) -> Evidence:
    """Return the evidence that exactly so many of some events occur.

    Examples
    --------
    >>> print(exactly(1, [{"X1": "t"}, {"X3": "p"}]))
    exactly 1 of (X1 = t; X3 = p)
    """
    return _counted(n, n, of)


def at_least(n: int, of: Iterable[EvidenceLike]) -> Evidence:
    """Return the evidence that so many of some events occur, or more.

    Examples
    --------
    >>> print(at_least(2, [{"X1": "t"}, {"X3": "p"}, visits("w4")]))
    at least 2 of (X1 = t; X3 = p; visits w4)
    """
    return _counted(n, None, of)


def at_most(n: int, of: Iterable[EvidenceLike]) -> Evidence:
    """Return the evidence that so many of some events occur, or fewer.

    Examples
    --------
    >>> print(at_most(1, [{"X1": "t"}, {"X3": "p"}]))
    at most 1 of (X1 = t; X3 = p)
    """
    return _counted(0, n, of)


def _counted(least: object, most: object, of: Iterable[EvidenceLike]) -> Count:
    parts = tuple(_event(part) for part in of)
    most = len(parts) if most is None else most
    found = Count(_bound(least, len(parts)), _bound(most, len(parts)), parts)
    if found.least > found.most:
        raise QueryError(
            f"no number of events is {least!r} or more and {most!r} or fewer",
            hint="give least no larger than most",
        )
    return found


def _bound(n: object, n_events: int) -> int:
    if is_whole(n) and 0 <= n <= n_events:
        return int(n)
    raise QueryError(f"{n!r} of {n_events} events", hint=f"give a number from 0 to {n_events}")


def before(first: EvidenceLike, second: EvidenceLike) -> Evidence:
    """Return the evidence that two events occur, the first before the second.

    Examples
    --------
    >>> print(before({"X3": "p"}, {"X5": "q"}))
    X3 = p before X5 = q
    """
    return Order(_event(first), _event(second))


def after(first: EvidenceLike, second: EvidenceLike) -> Evidence:
    """Return the evidence that two events occur, the first after the second.

    Examples
    --------
    >>> print(after({"X3": "p"}, {"X5": "q"}))
    X5 = q before X3 = p
    """
    return Order(_event(second), _event(first))


def _event(asked: EvidenceLike) -> Evidence:
    """Return an event that one edge or position decides."""
    found = evidence_of(asked)
    if isinstance(found, (Answer, Visit, Take)):
        return found
    raise QueryError(
        f"{found} cannot be counted or put in order",
        hint="count answers to one variable, visits and edges",
    )


def evidence_of(asked: object) -> Evidence:
    """Return what is asked, given as evidence or as a mapping of variables to labels.

    Examples
    --------
    >>> print(evidence_of({"Fall": "Fall"}))
    Fall = Fall
    """
    if isinstance(asked, Evidence):
        return asked
    if isinstance(asked, Mapping):
        return answers(asked)
    raise QueryError(
        f"evidence is {asked!r}",
        hint='give {"variable": "label"}, or what cegdb.evidence makes: visits("w3")',
    )


def items(evidence: Evidence) -> tuple[Evidence, ...]:
    """Return the parts that must all hold."""
    if isinstance(evidence, All):
        return tuple(item for part in evidence.of for item in items(part))
    return (evidence,)


_KINDS: Final[Mapping[str, type[Evidence]]] = {
    kind.kind: kind for kind in (All, Answer, Visit, Take, Likelihood, Count, Order)
}


def from_json(value: object) -> Evidence:
    """Return evidence from its JSON values, or a mapping of variables to labels.

    Raises
    ------
    QueryError
        It is none, or the function that makes such evidence would refuse it.

    Examples
    --------
    >>> from_json(visits("w3").to_json()) == visits("w3")
    True
    """
    if not isinstance(value, Mapping):
        raise QueryError(f"evidence is {value!r}", hint='give {"variable": "label"}')
    kind = _KINDS.get(str(value.get("kind")))
    if kind is None:
        return answers(value)
    found: dict[str, Any] = {name: part for name, part in value.items() if name != "kind"}
    expected = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    if set(found) != expected:
        raise QueryError(
            f"evidence of kind {kind.kind!r} has {listed(sorted(found))}",
            hint=f"it takes {listed(sorted(expected))}",
        )
    return _READERS[kind](found)


def _all_from(found: Mapping[str, Any]) -> All:
    return All(tuple(from_json(part) for part in _parts(found["of"])))


def _answer_from(found: Mapping[str, Any]) -> Answer:
    variable = str(found["variable"])
    return Answer(variable, _labels(variable, _parts(found["labels"])))


def _visit_from(found: Mapping[str, Any]) -> Visit:
    return Visit(_position(found["position"]), is_passed=_flag(found, "is_passed"))


def _take_from(found: Mapping[str, Any]) -> Take:
    position, label = _position(found["position"]), text_of(found["label"])
    return Take(position, label, is_taken=_flag(found, "is_taken"))


def _likelihood_from(found: Mapping[str, Any]) -> Evidence:
    pairs = [_parts(pair) for pair in _parts(found["weights"])]
    if any(len(pair) != 2 for pair in pairs):
        raise QueryError(
            f"the likelihood of {found['variable']!r} is {found['weights']!r}",
            hint='give pairs of a label and a number: [["Fall", 0.9], ["No fall", 0.2]]',
        )
    return likelihood_of(str(found["variable"]), [(pair[0], pair[1]) for pair in pairs])


def _count_from(found: Mapping[str, Any]) -> Count:
    return _counted(found["least"], found["most"], map(from_json, _parts(found["of"])))


def _order_from(found: Mapping[str, Any]) -> Order:
    return Order(_event(from_json(found["first"])), _event(from_json(found["second"])))


_READERS: Final[Mapping[type[Evidence], Callable[[Mapping[str, Any]], Evidence]]] = {
    All: _all_from,
    Answer: _answer_from,
    Visit: _visit_from,
    Take: _take_from,
    Likelihood: _likelihood_from,
    Count: _count_from,
    Order: _order_from,
}


def _flag(found: Mapping[str, Any], name: str) -> bool:
    if isinstance(found[name], bool):
        return bool(found[name])
    raise QueryError(f"{name} is {found[name]!r}", hint="give true or false")


def positions_of(evidence: Evidence) -> set[str | int]:
    """Return the positions that evidence names.

    Examples
    --------
    >>> sorted(positions_of(visits("w3") & takes("w1", "High")))
    ['w1', 'w3']
    """
    if isinstance(evidence, (Visit, Take)):
        return {evidence.position}
    return {name for part in _within(evidence) for name in positions_of(part)}


def with_positions(evidence: Evidence, names: Mapping[str | int, str | int]) -> Evidence:
    """Return evidence with other names of positions.

    Examples
    --------
    >>> print(with_positions(exactly(1, [visits("w3"), {"Fall": "Fall"}]), {"w3": "w4"}))
    exactly 1 of (visits w4; Fall = Fall)
    """
    if isinstance(evidence, (Visit, Take)):
        return replace(evidence, position=names.get(evidence.position, evidence.position))
    return with_parts(evidence, lambda part: with_positions(part, names))


def with_parts(evidence: Evidence, change: Callable[[Evidence], Evidence]) -> Evidence:
    """Return evidence with what it is made of changed; itself if it has no parts."""
    if isinstance(evidence, Order):
        return Order(change(evidence.first), change(evidence.second))
    if isinstance(evidence, (All, Count)):
        return replace(evidence, of=tuple(map(change, evidence.of)))
    return evidence


def _within(evidence: Evidence) -> tuple[Evidence, ...]:
    if isinstance(evidence, Order):
        return (evidence.first, evidence.second)
    return evidence.of if isinstance(evidence, (All, Count)) else ()


def _parts(value: object) -> Sequence[object]:
    if isinstance(value, (list, tuple)):
        return value
    raise QueryError(f"evidence lists {value!r}", hint="give a list")
