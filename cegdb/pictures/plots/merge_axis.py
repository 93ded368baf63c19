"""The scale of the gains of merges."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axis import Axis


def signed(value: float, digits: int = 0) -> str:
    """Return a number with a minus sign."""
    return f"{value:,.{digits}f}".replace("-", "\u2212")


def label_gains(axis: Axis, low: float, high: float) -> None:
    """Write the ticks of gains on a logarithmic axis."""
    ticks = ticks_of(low, high)
    axis.set_ticks(ticks, labels=[signed(tick) for tick in ticks])
    axis.axes.minorticks_off()


def ticks_of(low: float, high: float) -> list[float]:
    """Return 0 and, on both sides, powers of ten, or 1, 2, 5 and 10 where these are few."""
    ticks = [0.0]
    for sign, reach in ((1, high), (-1, -low)):
        if reach < 20:
            ticks += [sign * tick for tick in (1.0, 2.0, 5.0, 10.0) if tick <= reach]
            continue
        power, step = 0, 1 if reach < 10**4 else 2
        while 10**power <= reach:
            ticks.append(sign * 10.0**power)
            power += step
    return sorted(ticks)
