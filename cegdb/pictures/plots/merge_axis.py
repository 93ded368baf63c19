"""What plots of merges share: the scale of gains, and what captions say of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cegdb.pictures.plots.sheet import some

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cegdb.pictures.merge_data import Joined, Merges

GAINS: Final = {
    "log_marginal_likelihood": "log Bayes factor",
    "bic": "half the fall of BIC",
    "aic": "half the fall of AIC",
    "log_likelihood": "log likelihood gained",
}

BEST: Final = "where the score is best, the prior of the number of stages included"


def signed(value: float, digits: int = 0) -> str:
    """Return a number with a minus sign.

    Examples
    --------
    >>> signed(-1000)
    '\u22121,000'
    """
    return f"{value:,.{digits}f}".replace("-", "\u2212")


def ticks_of(low: float, high: float) -> list[float]:
    """Return 0 and, on both sides, powers of ten, or 1, 2, 5 and 10 where these are few.

    Examples
    --------
    >>> ticks_of(-300, 3)
    [-100.0, -10.0, -1.0, 0.0, 1.0, 2.0]
    """
    found = [0.0]
    for sign, reach in ((1, high), (-1, -low)):
        if reach < 20:
            found += [sign * tick for tick in (1.0, 2.0, 5.0, 10.0) if tick <= reach]
            continue
        power, step = 0, 1 if reach < 10**4 else 2
        while 10**power <= reach:
            found.append(sign * 10.0**power)
            power += step
    return sorted(found)


def beyond(more: Sequence[Joined], why_not: str, n_hidden: int = 0) -> str:
    """Return the sentence that says what is drawn beyond the cut.

    Examples
    --------
    >>> beyond([], "")
    'Beyond the cut nothing is left to merge'
    """
    if why_not:
        return f"What would follow beyond the cut is not all shown: {why_not}"
    if not more:
        return "" if n_hidden else "Beyond the cut nothing is left to merge"
    return (
        f"Beyond the cut {'is' if len(more) == 1 else 'are'} the {some(len(more), 'merge')} "
        "that would follow if the pair that loses least were merged on: calculated for this "
        "figure, not part of the staging"
    )


def hidden_merges(found: Merges) -> str:
    """Return the sentence that says how many merges were left out, if any were.

    Examples
    --------
    >>> from cegdb.pictures.merge_data import Merges
    >>> hidden_merges(Merges([], [], {}, {}, 0))
    ''
    """
    if not found.n_hidden:
        return ""
    return (
        f"{some(found.n_hidden, 'merge')} of hyperstages with hidden small counts left out, as "
        "these could be calculated from them"
    )
