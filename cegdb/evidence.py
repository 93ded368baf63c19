"""Evidence about a person's path: answers, positions and edges, soft evidence, counts."""

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
    """What is known about a path; made by the functions of this module.

    Mappings of variables to labels are evidence too.

    Examples
    --------
    Both are known:

    >>> print(answers(Fall="Fall") & visits("w3"))
    Fall = Fall and visits w3
    """

    kind: ClassVar[str]

    def __and__(self, other: Evidence) -> All:
        """Return the evidence that both are true."""
        return All((*items(self), *items(other)))

    def to_json(self) -> dict[str, Any]:
        """Return the evidence as JSON values, as the catalog stores them.

        Returns
        -------
        dict
            ``kind`` and the fields of that kind.

        Examples
        --------
        >>> visits("w3").to_json()
        {'kind': 'visit', 'position': 'w3', 'is_passed': True}
        """
        return {"kind": self.kind, **asdict(self)}  # type: ignore[call-overload]


@dataclass(frozen=True)
class All(Evidence):
    """All parts are true."""

    kind: ClassVar = "all"
    of: tuple[Evidence, ...]

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "of": [part.to_json() for part in self.of]}

    def __str__(self) -> str:
        """Return a short description."""
        return " and ".join(map(str, self.of)) or "nothing"


@dataclass(frozen=True)
class Answer(Evidence):
    """A variable has one of several labels."""

    kind: ClassVar = "answer"
    variable: str
    labels: tuple[str, ...]

    def __str__(self) -> str:
        """Return a short description."""
        if len(self.labels) == 1:
            return f"{self.variable} = {self.labels[0]}"
        return f"{self.variable} in ({', '.join(self.labels)})"


@dataclass(frozen=True)
class Visit(Evidence):
    """The path passes a position, or avoids it."""

    kind: ClassVar = "visit"
    position: str | int
    is_passed: bool

    def __str__(self) -> str:
        """Return a short description."""
        return f"{'visits' if self.is_passed else 'avoids'} {self.position}"


@dataclass(frozen=True)
class Take(Evidence):
    """The path takes an edge, or does not."""

    kind: ClassVar = "take"
    position: str | int
    label: str
    is_taken: bool

    def __str__(self) -> str:
        """Return a short description."""
        return f"{'takes' if self.is_taken else 'does not take'} {self.position} {self.label}"


@dataclass(frozen=True)
class Likelihood(Evidence):
    """Soft evidence: the likelihood of an observation given each answer."""

    kind: ClassVar = "likelihood"
    variable: str
    weights: tuple[tuple[str, float], ...]

    def __str__(self) -> str:
        """Return a short description."""
        each = ", ".join(f"{label}: {weight:g}" for label, weight in self.weights)
        return f"likelihood of {self.variable} ({each})"


@dataclass(frozen=True)
class Count(Evidence):
    """How many of several events occur."""

    kind: ClassVar = "count"
    least: int
    most: int
    of: tuple[Evidence, ...]

    def to_json(self) -> dict[str, Any]:
        of = [part.to_json() for part in self.of]
        return {"kind": self.kind, "least": self.least, "most": self.most, "of": of}

    def __str__(self) -> str:
        """Return a short description."""
        if self.least == self.most:
            amount = f"exactly {self.least}"
        elif self.most >= len(self.of):
            amount = f"at least {self.least}"
        else:
            amount = f"at most {self.most}"
        return f"{amount} of ({'; '.join(map(str, self.of))})"


@dataclass(frozen=True)
class Order(Evidence):
    """Two events occur, the first before the second."""

    kind: ClassVar = "order"
    first: Evidence
    second: Evidence

    def to_json(self) -> dict[str, Any]:
        pair = {"first": self.first.to_json(), "second": self.second.to_json()}
        return {"kind": self.kind, **pair}

    def __str__(self) -> str:
        """Return a short description."""
        return f"{self.first} before {self.second}"


EvidenceLike: TypeAlias = "Evidence | Mapping[str, object]"

_LABELS: Final = "give a label, or a list of labels, for each variable"


def answers(given: Mapping[str, object] | None = None, /, **others: object) -> Evidence:
    """Return the evidence that variables have these labels.

    Parameters
    ----------
    given, **others
        Variable -> label, or a list of labels of which one is true; ``"not applicable"``
        where the variable does not occur. Names that are not Python identifiers go in
        ``given``.

    Returns
    -------
    Evidence
        To be passed to `ChainEventGraph.given`; ``str()`` puts it into words.

    Raises
    ------
    QueryError
        A variable is named twice, or has no label.

    Examples
    --------
    >>> print(answers({"Risk level": "High"}, Fall=["Fall", "Died"]))
    Risk level = High and Fall in (Fall, Died)
    """
    if given is not None and not isinstance(given, Mapping):
        raise QueryError(
            f"the answers must be a mapping, not {given!r}",
            hint='give {"variable": "label"}, or variable="label"',
        )
    labels: dict[str, object] = dict(given or {})
    if twice := sorted(set(labels) & set(others)):
        raise QueryError(f"variable {twice[0]!r} is named twice", hint="name it once")
    labels |= others
    parts = tuple(Answer(str(name), _labels(name, label)) for name, label in labels.items())
    return parts[0] if len(parts) == 1 else All(parts)


def _labels(variable: str, label: object) -> tuple[str, ...]:
    if label is None:
        raise QueryError(
            f"the label of {variable!r} is None",
            hint='leave the variable out if nothing is known about it; use "not applicable" '
            "where it does not occur",
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
        raise QueryError(f"the list of labels of {variable!r} is empty", hint=_LABELS)
    return tuple(sorted(labels)) if isinstance(label, Set) else labels


def text_of(label: object) -> str:
    """Return a label as text; numbers are written as ingest writes them.

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
    """Return the evidence that the path passes a position.

    Parameters
    ----------
    position
        Name, such as ``"w3"``, or id.

    Returns
    -------
    Evidence
        To be passed to `ChainEventGraph.given`; ``str()`` puts it into words.

    Raises
    ------
    QueryError
        It is neither a name nor an id. Whether the CEG has it is checked when it is queried.

    Examples
    --------
    >>> print(visits("w3"))
    visits w3
    """
    return Visit(_checked_position(position), is_passed=True)


def avoids(position: str | int) -> Evidence:
    """Return the evidence that the path avoids a position.

    Parameters
    ----------
    position
        Name, such as ``"w3"``, or id.

    Returns
    -------
    Evidence
        To be passed to `ChainEventGraph.given`; ``str()`` puts it into words.

    Raises
    ------
    QueryError
        It is neither a name nor an id. Whether the CEG has it is checked when it is queried.

    Examples
    --------
    >>> print(avoids("w3"))
    avoids w3
    """
    return Visit(_checked_position(position), is_passed=False)


def takes(position: str | int, label: object, *, is_taken: bool = True) -> Evidence:
    """Return the evidence that the path takes an edge, or does not.

    Parameters
    ----------
    position
        Name, such as ``"w3"``, or id of the position that the edge leaves.
    label
        Label of the edge.
    is_taken
        False: the path does not take it.

    Returns
    -------
    Evidence
        To be passed to `ChainEventGraph.given`; ``str()`` puts it into words.

    Raises
    ------
    QueryError
        The position is neither a name nor an id. Whether the CEG has the edge is checked when
        it is queried.

    Examples
    --------
    >>> print(takes("w1", "High"), "|", takes("w1", "High", is_taken=False))
    takes w1 High | does not take w1 High
    """
    return Take(_checked_position(position), text_of(label), is_taken=bool(is_taken))


def _checked_position(position: object) -> str | int:
    if isinstance(position, str):
        return position
    if is_whole(position):
        return int(position)
    raise QueryError(f"{position!r} is not a position", hint='give a name such as "w3"')


def likelihood(variable: str, weights: Mapping[object, float]) -> Evidence:
    """Return soft evidence: the likelihood of an observation given each answer.

    Parameters
    ----------
    variable
        The variable that was answered.
    weights
        Label -> likelihood, 0 or more; only the ratios matter. Every label of the CEG must
        be listed, also ``"not applicable"`` if some paths lack the variable.

    Returns
    -------
    Evidence
        To be passed to `ChainEventGraph.given`; ``str()`` puts it into words. It is not an
        event, and has no probability: see `ConditionedCeg.relative_likelihood`.

    Raises
    ------
    QueryError
        A likelihood is negative or not a number, all are 0, or a label is listed twice.

    Examples
    --------
    >>> print(likelihood("Fall", {"Fall": 0.9, "No fall": 0.2}))
    likelihood of Fall (Fall: 0.9, No fall: 0.2)
    """
    given: object = weights
    if not (isinstance(given, Mapping) and given):
        raise QueryError(
            f"the likelihood of {variable!r} must be a mapping, not {weights!r}",
            hint='map each label to a number: {"Fall": 0.9, "No fall": 0.2}',
        )
    return likelihood_of(str(variable), list(weights.items()))


def likelihood_of(variable: str, weights: Sequence[tuple[object, object]]) -> Likelihood:
    """Return soft evidence from pairs of a label and its weight: see `likelihood`."""
    by_label: dict[str, float] = {}
    for label, weight in weights:
        text = text_of(label)
        if not is_number(weight) or weight < 0:
            raise QueryError(
                f"the likelihood of {variable} = {text} must be a number of 0 or more, "
                f"not {weight!r}"
            )
        if text in by_label:
            raise QueryError(
                f"the likelihood of {variable} = {text} is listed twice",
                hint="list each label once",
            )
        by_label[text] = float(weight)
    if not any(by_label.values()):
        raise QueryError(
            f"the likelihood of {variable!r} is 0 for every label",
            hint="such an observation is impossible: check the numbers",
        )
    return Likelihood(variable, tuple(by_label.items()))


def exactly(n: int, of: Iterable[EvidenceLike]) -> Evidence:
    """Return the evidence that exactly ``n`` of the events occur.

    Parameters
    ----------
    n
        Number of events.
    of
        The events: mappings of one variable to its label or labels, positions visited or
        avoided, edges taken or not.

    Returns
    -------
    Evidence
        To be passed to `ChainEventGraph.given`; ``str()`` puts it into words.

    Raises
    ------
    QueryError
        ``n`` is not a whole number from 0 to the number of events, or an event is not one of
        these.

    Examples
    --------
    >>> print(exactly(1, [{"X1": "t"}, {"X3": "p"}]))
    exactly 1 of (X1 = t; X3 = p)
    """
    return _count(n, n, of)


def at_least(n: int, of: Iterable[EvidenceLike]) -> Evidence:
    """Return the evidence that at least ``n`` of the events occur.

    Parameters
    ----------
    n
        Number of events.
    of
        The events: mappings of one variable to its label or labels, positions visited or
        avoided, edges taken or not.

    Returns
    -------
    Evidence
        To be passed to `ChainEventGraph.given`; ``str()`` puts it into words.

    Raises
    ------
    QueryError
        ``n`` is not a whole number from 0 to the number of events, or an event is not one of
        these.

    Examples
    --------
    >>> print(at_least(2, [{"X1": "t"}, {"X3": "p"}, visits("w4")]))
    at least 2 of (X1 = t; X3 = p; visits w4)
    """
    return _count(n, None, of)


def at_most(n: int, of: Iterable[EvidenceLike]) -> Evidence:
    """Return the evidence that at most ``n`` of the events occur.

    Parameters
    ----------
    n
        Number of events.
    of
        The events: mappings of one variable to its label or labels, positions visited or
        avoided, edges taken or not.

    Returns
    -------
    Evidence
        To be passed to `ChainEventGraph.given`; ``str()`` puts it into words.

    Raises
    ------
    QueryError
        ``n`` is not a whole number from 0 to the number of events, or an event is not one of
        these.

    Examples
    --------
    >>> print(at_most(1, [{"X1": "t"}, {"X3": "p"}]))
    at most 1 of (X1 = t; X3 = p)
    """
    return _count(0, n, of)


def _count(least: object, most: object, of: Iterable[EvidenceLike]) -> Count:
    parts = tuple(_event(part) for part in of)
    most = len(parts) if most is None else most
    count = Count(_bound(least, len(parts)), _bound(most, len(parts)), parts)
    if count.least > count.most:
        raise QueryError(
            f"the number of events cannot be at least {least!r} and at most {most!r}",
            hint="least must not exceed most",
        )
    return count


def _bound(n: object, n_events: int) -> int:
    if is_whole(n) and 0 <= n <= n_events:
        return int(n)
    raise QueryError(
        f"the number of events must be a whole number from 0 to {n_events}, not {n!r}"
    )


def before(first: EvidenceLike, second: EvidenceLike) -> Evidence:
    """Return the evidence that two events occur, the first before the second.

    Parameters
    ----------
    first, second
        A mapping of one variable to its label or labels, a position visited or an edge taken.

    Returns
    -------
    Evidence
        To be passed to `ChainEventGraph.given`; ``str()`` puts it into words.

    Raises
    ------
    QueryError
        An event is not one of these.

    Examples
    --------
    >>> print(before({"X3": "p"}, {"X5": "q"}))
    X3 = p before X5 = q
    """
    return Order(_event(first), _event(second))


def after(first: EvidenceLike, second: EvidenceLike) -> Evidence:
    """Return the evidence that two events occur, the first after the second.

    Parameters
    ----------
    first, second
        A mapping of one variable to its label or labels, a position visited or an edge taken.

    Returns
    -------
    Evidence
        To be passed to `ChainEventGraph.given`; ``str()`` puts it into words.

    Raises
    ------
    QueryError
        An event is not one of these.

    Examples
    --------
    >>> print(after({"X3": "p"}, {"X5": "q"}))
    X5 = q before X3 = p
    """
    return Order(_event(second), _event(first))


def _event(evidence_like: EvidenceLike) -> Evidence:
    """Return an event that a single edge or position decides; refuse other evidence."""
    event = evidence_of(evidence_like, "event")
    if isinstance(event, (Answer, Visit, Take)):
        return event
    raise QueryError(
        f"{event} cannot be counted or ordered",
        hint="use answers to one variable, positions visited or edges taken",
    )


def evidence_of(evidence_like: object, name: str = "evidence") -> Evidence:
    """Return evidence, given as such or as a mapping of variables to labels.

    ``name`` is that of the argument, for the message.

    Examples
    --------
    >>> print(evidence_of({"Fall": "Fall"}))
    Fall = Fall
    >>> evidence_of("Fall", "outcome")
    Traceback (most recent call last):
    ...
    cegdb.errors.QueryError: outcome must be a mapping, not 'Fall'
    hint: give {"variable": "label"}, or use cegdb.evidence: visits("w3")
    """
    if isinstance(evidence_like, Evidence):
        return evidence_like
    if isinstance(evidence_like, Mapping):
        return answers(evidence_like)
    raise QueryError(
        f"{name} must be a mapping, not {evidence_like!r}",
        hint='give {"variable": "label"}, or use cegdb.evidence: visits("w3")',
    )


def items(evidence: Evidence) -> tuple[Evidence, ...]:
    """Return the parts that must all be true."""
    if isinstance(evidence, All):
        return tuple(item for part in evidence.of for item in items(part))
    return (evidence,)


def is_soft(evidence: Evidence) -> bool:
    """Return whether some part is soft, so that a likelihood, not a probability, measures it.

    Examples
    --------
    >>> is_soft(answers(Fall="Fall") & likelihood("Risk", {"Low": 1, "High": 3}))
    True
    """
    return any(isinstance(part, Likelihood) for part in items(evidence))


def refuse_soft_evidence(evidence: Evidence) -> None:
    """Refuse soft evidence, which is not an event."""
    for part in items(evidence):
        if isinstance(part, Likelihood):
            raise QueryError(f"{part} is not an event", hint="give answers, positions or edges")


def measure_text(
    probability: float | None, relative_likelihood: float | None, digits: int = 4
) -> str:
    """Return how probable evidence is, or how likely if it is soft.

    Examples
    --------
    >>> measure_text(0.19101, None), measure_text(None, 5.5)
    ('probability 0.191', 'relative likelihood 5.5')
    """
    if relative_likelihood is None:
        return f"probability {probability:.{digits}g}"
    return f"relative likelihood {relative_likelihood:.{digits}g}"


_KINDS: Final[Mapping[str, type[Evidence]]] = {
    kind.kind: kind for kind in (All, Answer, Visit, Take, Likelihood, Count, Order)
}


def from_json(value: object) -> Evidence:
    """Return evidence from its JSON values, or from a mapping of variables to labels.

    Raises
    ------
    QueryError
        The value is not evidence, or the function that makes such evidence refuses it.

    Examples
    --------
    >>> from_json(visits("w3").to_json()) == visits("w3")
    True
    """
    if not isinstance(value, Mapping):
        raise QueryError(
            f"evidence must be a mapping, not {value!r}", hint='give {"variable": "label"}'
        )
    kind = _KINDS.get(str(value.get("kind")))
    if kind is None:
        return answers(value)
    values: dict[str, Any] = {name: part for name, part in value.items() if name != "kind"}
    expected = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    if set(values) != expected:
        raise QueryError(
            f"evidence of kind {kind.kind!r} has the keys {listed(sorted(values)) or '(none)'}",
            hint=f"give the keys {listed(sorted(expected))}",
        )
    return _READERS[kind](values)


def _all_from(values: Mapping[str, Any]) -> All:
    return All(tuple(from_json(part) for part in _parts(values["of"])))


def _answer_from(values: Mapping[str, Any]) -> Answer:
    variable = str(values["variable"])
    return Answer(variable, _labels(variable, _parts(values["labels"])))


def _visit_from(values: Mapping[str, Any]) -> Visit:
    return Visit(_checked_position(values["position"]), is_passed=_flag(values, "is_passed"))


def _take_from(values: Mapping[str, Any]) -> Take:
    position, label = _checked_position(values["position"]), text_of(values["label"])
    return Take(position, label, is_taken=_flag(values, "is_taken"))


def _likelihood_from(values: Mapping[str, Any]) -> Evidence:
    pairs = [_parts(pair) for pair in _parts(values["weights"])]
    if any(len(pair) != 2 for pair in pairs):
        raise QueryError(
            f"the likelihood of {values['variable']!r} must be pairs, "
            f"not {values['weights']!r}",
            hint='give pairs of a label and a number: [["Fall", 0.9], ["No fall", 0.2]]',
        )
    return likelihood_of(str(values["variable"]), [(pair[0], pair[1]) for pair in pairs])


def _count_from(values: Mapping[str, Any]) -> Count:
    return _count(values["least"], values["most"], map(from_json, _parts(values["of"])))


def _order_from(values: Mapping[str, Any]) -> Order:
    return Order(_event(from_json(values["first"])), _event(from_json(values["second"])))


_READERS: Final[Mapping[type[Evidence], Callable[[Mapping[str, Any]], Evidence]]] = {
    All: _all_from,
    Answer: _answer_from,
    Visit: _visit_from,
    Take: _take_from,
    Likelihood: _likelihood_from,
    Count: _count_from,
    Order: _order_from,
}


def _flag(values: Mapping[str, Any], name: str) -> bool:
    if isinstance(values[name], bool):
        return bool(values[name])
    raise QueryError(f"{name} must be true or false, not {values[name]!r}")


def positions_of(evidence: Evidence) -> set[str | int]:
    """Return the positions that the evidence names.

    Examples
    --------
    >>> sorted(positions_of(visits("w3") & takes("w1", "High")))
    ['w1', 'w3']
    """
    if isinstance(evidence, (Visit, Take)):
        return {evidence.position}
    return {name for part in _within(evidence) for name in positions_of(part)}


def with_positions(evidence: Evidence, names: Mapping[str | int, str | int]) -> Evidence:
    """Return the evidence with positions renamed.

    Examples
    --------
    >>> print(with_positions(exactly(1, [visits("w3"), {"Fall": "Fall"}]), {"w3": "w4"}))
    exactly 1 of (visits w4; Fall = Fall)
    """
    if isinstance(evidence, (Visit, Take)):
        return replace(evidence, position=names.get(evidence.position, evidence.position))
    return with_parts(evidence, lambda part: with_positions(part, names))


def with_parts(evidence: Evidence, change: Callable[[Evidence], Evidence]) -> Evidence:
    """Return evidence with each part changed; itself if it has no parts."""
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
    raise QueryError(
        f"the evidence has {value!r} where a list is expected",
        hint="write the value in square brackets",
    )


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
