"""The scale of the gains of merges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from cegdb.pictures.style import POINTS_PER_INCH

if TYPE_CHECKING:
    from matplotlib.axis import Axis

_APART: Final = 8.0  # points between two ticks: the height of their numbers


def format_signed(value: float, digits: int = 0) -> str:
    """Return a number with a minus sign."""
    return f"{value:,.{digits}f}".replace("-", "\u2212")


def label_gains(axis: Axis, low: float, high: float) -> None:
    """Write the ticks of gains on a logarithmic axis whose limits are set.

    A tick too close to one nearer to 0 is left out: their numbers would overlap.
    """
    along = 1 if axis is axis.axes.yaxis else 0
    ends = axis.axes.transAxes.transform([(0, 0), (1, 1)])[:, along]
    points = float(abs(ends[1] - ends[0]) * POINTS_PER_INCH / axis.axes.figure.dpi)
    scale = axis.get_transform()
    limits = axis.get_view_interval()
    length = float(np.ptp(scale.transform(limits)))

    def spot(tick: float) -> float:
        return float(scale.transform(np.array([tick]))[0]) / length * points

    shown: list[float] = []
    for tick in sorted(ticks_of(low, high), key=abs):
        if all(abs(spot(tick) - spot(other)) >= _APART for other in shown):
            shown.append(tick)
    shown.sort()
    axis.set_ticks(shown, labels=[format_signed(tick) for tick in shown])
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
