"""Situations of three labels, in a triangle."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from cegdb.pictures.plots.points import LARGEST, Points, draw_circle, draw_sizes
from cegdb.pictures.plots.sheet import (
    BLACK,
    GREY,
    MARGIN,
    Sheet,
    fit_text,
    height_of,
    width_of,
)
from cegdb.pictures.plots.stage_marks import stage_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes


_HEIGHT: Final = math.sqrt(3) / 2


def draw_triangle(points: Points, note: str, width: float) -> Sheet:
    """Draw a triangle: at each corner everybody gives one answer."""
    side = min(width - 50, 110.0)
    heads = [fit_text(points.names[label], 44, most=4) for label in points.labels]
    above = height_of(heads[2])
    below = max(height_of(heads[0]), height_of(heads[1]))
    top = MARGIN + above + 2
    high = side * _HEIGHT
    foot = top + high + below + 6
    names = [stage_title(stage) for stage in points.stages]
    sheet = Sheet(width, foot + 2 * LARGEST + 2, note)
    start = (width - side) / 2
    axes = sheet.drawing(start, top, side, high)
    for tenth in (0.2, 0.4, 0.6, 0.8):
        for a, b in (
            ((1 - tenth, tenth, 0), (1 - tenth, 0, tenth)),
            ((tenth, 1 - tenth, 0), (0, 1 - tenth, tenth)),
            ((tenth, 0, 1 - tenth), (0, tenth, 1 - tenth)),
        ):
            axes.plot(*_at(a, b, side=side), color="#dddddd", linewidth=0.6, zorder=1)
        for x, y, style in _scale(tenth, side):
            axes.text(x, y, f"{tenth:.1f}", fontsize=7, color=GREY, **style)
    corners = _at((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0), side=side)
    axes.plot(*corners, color=BLACK, linewidth=0.9, clip_on=False)
    sheet.text(start, top + high + 5, heads[0], ha="center")
    sheet.text(start + side, top + high + 5, heads[1], ha="center")
    sheet.text(start + side / 2, top - 2, heads[2], ha="center", va="bottom")
    middles: list[tuple[float, float, str]] = []
    for stage, name in zip(points.stages, names, strict=True):
        means = points.means(stage)
        middle = None
        if means:
            (mx,), (my,) = _at(means, side=side)
            middle = (mx, my)
            middles.append((mx, my, name))
        for one in points.largest_first(stage):
            (x,), (y,) = _at([points.share(one, label) for label in points.labels], side=side)
            if middle is not None:
                axes.plot([middle[0], x], [middle[1], y], color=GREY, linewidth=0.5, zorder=2)
            draw_circle(axes, x, y, points.radius(one.n), stage)
        if middle is not None:
            axes.plot(
                *[[value] for value in middle], marker="+", markersize=6, color=BLACK,
                markeredgewidth=1.1, linestyle="", zorder=5, clip_on=False,
            )  # fmt: skip
    _write_names(axes, middles, side, high)
    draw_sizes(sheet, points, MARGIN, foot)
    return sheet


def _at(*shares: Sequence[float], side: float) -> tuple[list[float], list[float]]:
    """Return points of a triangle (left, right, upper corner) in mm, downwards."""
    high = side * _HEIGHT
    return (
        [side * (b + c / 2) for _, b, c in shares],
        [high * (1 - c) for _, _, c in shares],
    )


def _scale(share: float, side: float) -> list[tuple[float, float, dict[str, Any]]]:
    """Return where a share is written at each side: of left, right and upper corner."""
    of_left = _at((share, 1 - share, 0), side=side)
    of_right = _at((0, share, 1 - share), side=side)
    of_upper = _at((1 - share, 0, share), side=side)
    return [
        (of_left[0][0], of_left[1][0] + 1, {"ha": "center", "va": "top"}),
        (of_right[0][0] + 1, of_right[1][0], {"ha": "left", "va": "center"}),
        (of_upper[0][0] - 1, of_upper[1][0], {"ha": "right", "va": "center"}),
    ]


def _write_names(
    axes: Axes, middles: Sequence[tuple[float, float, str]], side: float, high: float
) -> None:
    """Write names beside points, where no name is yet; one further away has a line."""
    taken: list[tuple[float, float, float, float]] = []
    for x, y, name in sorted(middles, key=lambda one: (one[1], one[0])):
        text = fit_text(name, 30, 8, most=1)
        wide, tall = width_of(text, 8), 3.2
        for radius in (2.2, 5, 8, 11, 15, 20, 26):
            spots = [
                (x + radius * math.cos(turn), y + radius * math.sin(turn))
                for turn in (0, math.pi, math.pi / 2, -math.pi / 2, 0.8, -0.8, 2.35, -2.35)
            ]
            boxes = [(px if px >= x - 0.01 else px - wide, py - tall / 2) for px, py in spots]
            free = [
                (bx, by)
                for bx, by in boxes
                if not any(
                    bx < tx + tw and tx < bx + wide and by < ty + th and ty < by + tall
                    for tx, ty, tw, th in taken
                )
                and -20 < bx < side + 20 - wide
                and -3 < by < high
            ]
            if free:
                break
        bx, by = free[0] if free else boxes[0]
        taken.append((bx, by, wide, tall))
        if radius > 3:
            axes.plot(
                [x, bx + wide / 2], [y, by + tall / 2], color=BLACK, linewidth=0.4, zorder=4
            )
        axes.text(
            bx, by + tall / 2, text, fontsize=8, va="center", zorder=6, parse_math=False,
            bbox={"facecolor": "white", "alpha": 0.75, "pad": 0.4, "linewidth": 0},
        )  # fmt: skip
