"""Situations of many labels, on parallel axes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from cegdb.pictures.plots.sheet import (
    BLACK,
    GREY,
    MARGIN,
    Sheet,
    fit_text,
    height_of,
    width_of,
)
from cegdb.pictures.plots.stage_marks import fill_colour, stage_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cegdb.pictures.plots.points import Points


_LINE: Final = 3.4  # mm
_DASHES: Final = ("-", "--", "-.", ":")


def draw_parallel(points: Points, note: str, width: float) -> Sheet:
    """Draw one axis per label and one line per situation."""
    names = {
        stage.stage_id: fit_text(stage_title(stage), 30, 8, most=1) for stage in points.stages
    }
    right = max([width_of(name, 8) for name in names.values()], default=0) + 8
    left = MARGIN + 9
    step = (width - left - right) / max(len(points.labels) - 1, 1)
    heads = [
        fit_text(points.names[label], min(0.8 * step, 40), 8, most=12)
        for label in points.labels
    ]
    below = max(height_of(head, 8) for head in heads)
    high = max(70.0, _LINE * len(points.stages) + 4)
    top = MARGIN + 2
    sheet = Sheet(width, top + high + below + 5, note)
    axes = sheet.axes(left, top, step * (len(points.labels) - 1), high)
    axes.set_xlim(0, len(points.labels) - 1)
    axes.set_ylim(0, 1)
    axes.set_xticks([])
    axes.spines["left"].set_visible(False)
    axes.spines["bottom"].set_visible(False)
    axes.set_ylabel("share", fontsize=8, labelpad=1)
    for column, head in enumerate(heads):
        axes.axvline(column, color="#b0b0b0", linewidth=0.8, zorder=1)
        half = width_of(head, 8) / 2 + MARGIN
        x = min(max(left + step * column, half), width - half)
        sheet.text(x, top + high + 2, head, 8, ha="center")
    ends = []
    for order, stage in enumerate(points.stages):
        dashes = _DASHES[order % len(_DASHES)]
        colour = fill_colour(stage) if stage.n_situations > 1 else GREY
        for one in points.of_stage(stage):
            shares = [points.share(one, label) for label in points.labels]
            thick = 0.4 + 1.6 * math.sqrt((one.n or 0) / points.most)
            axes.plot(
                range(len(shares)), shares, color=colour, linewidth=thick, alpha=0.6, zorder=2,
                linestyle=dashes, clip_on=False,
            )  # fmt: skip
        if means := points.means(stage):
            axes.plot(
                range(len(means)), means, color=BLACK, linewidth=0.9, linestyle=dashes,
                zorder=4, marker="o", markersize=4, markerfacecolor=fill_colour(stage),
                clip_on=False,
            )  # fmt: skip
            ends.append((means[-1], names[stage.stage_id]))
    _write_line_ends(sheet, ends, left + step * (len(points.labels) - 1), top, high)
    return sheet


def _write_line_ends(
    sheet: Sheet, ends: Sequence[tuple[float, str]], x: float, top: float, high: float
) -> None:
    """Write names at the ends of lines, one below the other, joined to them."""
    drawing = sheet.drawing(x, top, 6, high)
    sorted_ends = sorted(ends, key=lambda end: (-end[0], end[1]))
    heights: list[float] = []
    for share, _ in sorted_ends:
        above = heights[-1] + _LINE if heights else 0.0
        heights.append(max(high * (1 - share), above))
    below = high + _LINE
    for index in range(len(heights) - 1, -1, -1):
        below = heights[index] = min(heights[index], below - _LINE)
    for (share, name), spot in zip(sorted_ends, heights, strict=True):
        drawing.plot(
            [1, 4.5], [high * (1 - share), spot], color=GREY, linewidth=0.5, clip_on=False
        )
        sheet.text(x + 5, top + spot, name, 8, va="center")
