"""Situations of many labels, on parallel axes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from cegdb.pictures.plots.sheet import (
    FAINT,
    INK,
    MARGIN,
    Sheet,
    fitted,
    height_of,
    note_height,
    width_of,
    write_note,
)
from cegdb.pictures.plots.stage_marks import face, title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cegdb.pictures.plots.points import Points


_LINE: Final = 3.4  # mm
_DASHES: Final = ("-", "--", "-.", ":")


def draw_parallel(points: Points, note: str, width: float) -> tuple[Sheet, str]:
    """Draw an axis a label and a line a situation."""
    names = {stage.stage_id: fitted(title(stage), 30, 8, most=1) for stage in points.stages}
    right = max([width_of(name, 8) for name in names.values()], default=0) + 8
    left = MARGIN + 9
    step = (width - left - right) / max(len(points.labels) - 1, 1)
    heads = [
        fitted(points.names[label], min(0.8 * step, 40), 8, most=12) for label in points.labels
    ]
    below = max(height_of(head, 8) for head in heads)
    high = max(70.0, _LINE * len(points.stages) + 4)
    top = MARGIN + 2
    sheet = Sheet(width, top + high + below + 5 + note_height(note, width))
    axes = sheet.axes(left, top, step * (len(points.labels) - 1), high)
    axes.set_xlim(0, len(points.labels) - 1)
    axes.set_ylim(0, 1)
    axes.set_xticks([])
    axes.spines["left"].set_visible(False)
    axes.spines["bottom"].set_visible(False)
    axes.set_ylabel("share", fontsize=8, labelpad=1)
    for place, head in enumerate(heads):
        axes.axvline(place, color="#b0b0b0", linewidth=0.8, zorder=1)
        half = width_of(head, 8) / 2 + MARGIN
        x = min(max(left + step * place, half), width - half)
        sheet.text(x, top + high + 2, head, 8, ha="center")
    ends = []
    for order, stage in enumerate(points.stages):
        dashes = _DASHES[order % len(_DASHES)]
        row = [one for one in points.situations if one.stage_id == stage.stage_id]
        colour = face(stage) if stage.n_situations > 1 else FAINT
        for one in row:
            shares = [points.share(one, label) for label in points.labels]
            thick = 0.4 + 1.6 * math.sqrt((one.n or 0) / points.most)
            axes.plot(
                range(len(shares)),
                shares,
                color=colour,
                linewidth=thick,
                alpha=0.6,
                zorder=2,
                linestyle=dashes,
                clip_on=False,
            )
        known = [points.mean(stage, label) for label in points.labels]
        means = [mean for mean in known if mean is not None]
        if len(means) == len(known):
            axes.plot(
                range(len(means)),
                means,
                color=INK,
                linewidth=0.9,
                linestyle=dashes,
                zorder=4,
                marker="o",
                markersize=4,
                markerfacecolor=face(stage),
                clip_on=False,
            )
            ends.append((means[-1], names[stage.stage_id]))
    _name_ends(sheet, ends, left + step * (len(points.labels) - 1), top, high)
    write_note(sheet, note)
    return sheet, (
        "an axis a label and a line a situation at its shares of people (wider with more "
        "people); black lines with dots are the posterior means of the stages, named at their "
        "end; lines of neighbouring stages differ in their dashes"
    )


def _name_ends(
    sheet: Sheet, ends: Sequence[tuple[float, str]], x: float, top: float, high: float
) -> None:
    """Write names at the ends of lines, one below the other, joined to them."""
    drawing = sheet.drawing(x, top, 6, high)
    sorted_ends = sorted(ends, key=lambda end: (-end[0], end[1]))
    places: list[float] = []
    for share, _ in sorted_ends:
        above = places[-1] + _LINE if places else 0.0
        places.append(max(high * (1 - share), above))
    below = high + _LINE
    for at in range(len(places) - 1, -1, -1):
        below = places[at] = min(places[at], below - _LINE)
    for (share, name), spot in zip(sorted_ends, places, strict=True):
        drawing.plot(
            [1, 4.5], [high * (1 - share), spot], color=FAINT, linewidth=0.5, clip_on=False
        )
        sheet.text(x + 5, top + spot, name, 8, va="center")
