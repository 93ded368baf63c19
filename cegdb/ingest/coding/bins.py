"""Numbers into levels: cut points or quantiles, with interval labels."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Final

from cegdb.errors import SurveyError, listed
from cegdb.ingest.files.cell_labels import abbreviated, label_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_QUANTILES: Final = re.compile(r"q([0-9]{1,3})\Z")
_HINT: Final = "give cut points, such as 18,35,65, or quantiles, such as q4"


@dataclass(frozen=True)
class Bins:
    """How to cut a number into levels: at points, or into ``quantiles`` of equal size.

    Quantiles have ``cuts`` once they are found; later rows are cut at the same points.
    """

    cuts: tuple[Decimal, ...] | None = None
    quantiles: int = 0

    def as_text(self) -> str:
        """Return it as a codebook or the command line writes it."""
        return f"q{self.quantiles}" if self.quantiles else ",".join(map(plain, self.cuts or ()))

    def with_cuts(self, counts: Mapping[str, int], decimal: str = ".") -> Bins:
        """Return it with cut points, those of quantiles by numbers with these counts."""
        if self.cuts is not None:
            return self
        numbers = [(n, number_of(text, decimal)) for text, n in counts.items()]
        values = [(number, n) for n, number in numbers if number is not None]
        return replace(self, cuts=_quantiles(self.quantiles, values))


def number_of(text: str, decimal: str = ".") -> Decimal | None:
    """Return the number that a text writes, None if it is not a finite number."""
    if decimal != ".":
        text = text.replace(".", "_").replace(decimal, ".")
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() and "_" not in text else None


def plain(number: Decimal) -> str:
    """Return a number as text, without an exponent or zeros at the end."""
    return label_of(number) or "0"


def bins_of(value: object, where: str) -> Bins:
    """Return the bins that a list of cut points or a text like ``q4`` stands for."""
    if isinstance(value, str):
        quantiles = _QUANTILES.match(value.strip().casefold())
        if quantiles:
            if int(quantiles[1]) < 2:
                raise SurveyError(f"{where}: bins must be q2 or more, not {value!r}")
            return Bins(quantiles=int(quantiles[1]))
        value = value.split(",")
    if isinstance(value, Bins):
        return value
    if not isinstance(value, Sequence) or not value:
        raise SurveyError(f"{where}: bins cannot be {abbreviated(repr(value))}", hint=_HINT)
    cuts = [number_of(label_of(item) or "") for item in value]
    points = [cut for cut in cuts if cut is not None]
    if len(points) < len(cuts):
        raise SurveyError(
            f"{where}: bins must be numbers, not {listed(map(str, value))}", hint=_HINT
        )
    if any(a >= b for a, b in itertools.pairwise(points)):
        raise SurveyError(
            f"{where}: the cut points {listed(map(str, value))} do not ascend", hint=_HINT
        )
    return Bins(tuple(points))


def binned(
    bins: Bins, counts: Mapping[str, int], decimal: str = "."
) -> tuple[dict[str, str], list[str]]:
    """Return the interval of each number (texts that are none left out), and all in order.

    At points, an interval holds its lower end: ``[18, 35)``. Of quantiles, its upper end, a
    number that occurs: ``(12, 20]``; numbers that occur too often give fewer intervals.
    """
    numbers = {
        text: number for text in counts if (number := number_of(text, decimal)) is not None
    }
    cuts = bins.with_cuts(counts, decimal).cuts or ()
    ends = [plain(cut) for cut in cuts]
    low, between, high = ("<=", "({}, {}]", ">") if bins.quantiles else ("<", "[{}, {})", ">=")
    labels = (
        [low + ends[0]]
        + [between.format(a, b) for a, b in itertools.pairwise(ends)]
        + [high + ends[-1]]
        if ends
        else ["all"]
    )
    index = bisect_left if bins.quantiles else bisect_right
    return {text: labels[index(cuts, number)] for text, number in numbers.items()}, labels


def _quantiles(q: int, counted: Sequence[tuple[Decimal, int]]) -> tuple[Decimal, ...]:
    """Return the distinct quantiles below the largest number, by the inverse of the CDF."""
    values = sorted(counted)
    total = sum(n for _, n in values)
    cuts: list[Decimal] = []
    reached, k = 0, 1
    for number, n in values:
        reached += n
        while k < q and reached * q >= k * total:
            if (not cuts or cuts[-1] < number) and number < values[-1][0]:
                cuts.append(number)
            k += 1
    return tuple(cuts)
