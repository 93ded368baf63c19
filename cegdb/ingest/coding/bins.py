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
from cegdb.ingest.files.cell_labels import label_of, shown

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

    def found(self, counts: Mapping[str, int], decimal: str = ".") -> Bins:
        """Return it with the cut points of quantiles of numbers with these counts."""
        if self.cuts is not None:
            return self
        numbers = [(n, number_of(text, decimal)) for text, n in counts.items()]
        values = [(number, n) for n, number in numbers if number is not None]
        return replace(self, cuts=_quantiles(self.quantiles, values))


def number_of(text: str, decimal: str = ".") -> Decimal | None:
    """Return the number a text writes, None if it is none or not finite.

    Examples
    --------
    >>> number_of(" 1e2 "), number_of("12a"), number_of("inf")
    (Decimal('1E+2'), None, None)
    >>> number_of("1,5"), number_of("1,5", ","), number_of("1.5", ",")
    (None, Decimal('1.5'), None)
    """
    if decimal != ".":
        text = text.replace(".", "_").replace(decimal, ".")
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() and "_" not in text else None


def plain(number: Decimal) -> str:
    """Return a number as text, without an exponent or zeros at the end.

    Examples
    --------
    >>> plain(Decimal("1E+2")), plain(Decimal("2.50"))
    ('100', '2.5')
    """
    return label_of(number) or "0"


def bins_of(value: object, where: str) -> Bins:
    """Return the bins that a list of cut points or a text like ``q4`` stands for.

    Raises
    ------
    SurveyError
        It is neither, or the points do not ascend.

    Examples
    --------
    >>> bins_of("18,35,65", "age").as_text(), bins_of("q4", "age").quantiles
    ('18,35,65', 4)
    """
    if isinstance(value, str):
        found = _QUANTILES.match(value.strip().casefold())
        if found:
            if int(found[1]) < 2:
                raise SurveyError(f"{where}: bins is {value!r}", hint="q2 is the least")
            return Bins(quantiles=int(found[1]))
        value = value.split(",")
    if isinstance(value, Bins):
        return value
    if not isinstance(value, Sequence) or not value:
        raise SurveyError(f"{where}: bins is {shown(repr(value))}", hint=_HINT)
    cuts = [number_of(label_of(item) or "") for item in value]
    found_cuts = [cut for cut in cuts if cut is not None]
    if len(found_cuts) < len(cuts):
        raise SurveyError(f"{where}: bins is {listed(map(str, value))}", hint=_HINT)
    if any(a >= b for a, b in itertools.pairwise(found_cuts)):
        raise SurveyError(
            f"{where}: the cut points {listed(map(str, value))} do not ascend", hint=_HINT
        )
    return Bins(tuple(found_cuts))


def binned(
    bins: Bins, counts: Mapping[str, int], decimal: str = "."
) -> tuple[dict[str, str], list[str]]:
    """Return the interval of each number, and all intervals in order.

    Parameters
    ----------
    bins
        Where to cut. At points, an interval holds its lower end: ``[18, 35)``. Of
        quantiles, its upper end, a number that occurs: ``(12, 20]``; numbers that occur
        too often to be cut give fewer intervals.
    counts
        The numbers as written, with how many respondents gave each; texts that are no
        numbers are left out of the result.
    decimal
        Their decimal sign.

    Examples
    --------
    >>> binned(Bins((Decimal(18), Decimal(65))), {"18": 1, "70": 1, "9": 2})
    ({'18': '[18, 65)', '70': '>=65', '9': '<18'}, ['<18', '[18, 65)', '>=65'])
    >>> binned(Bins(quantiles=2), {"1": 5, "2": 3, "x": 9, "7": 2})
    ({'1': '<=1', '2': '>1', '7': '>1'}, ['<=1', '>1'])
    """
    numbers = {
        text: number for text in counts if (number := number_of(text, decimal)) is not None
    }
    cuts = bins.found(counts, decimal).cuts or ()
    ends = [plain(cut) for cut in cuts]
    low, between, high = ("<=", "({}, {}]", ">") if bins.quantiles else ("<", "[{}, {})", ">=")
    labels = (
        [low + ends[0]]
        + [between.format(a, b) for a, b in itertools.pairwise(ends)]
        + [high + ends[-1]]
        if ends
        else ["all"]
    )
    place = bisect_left if bins.quantiles else bisect_right
    return {text: labels[place(cuts, number)] for text, number in numbers.items()}, labels


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
