"""Situations of a variable by the answers given there, coloured by stage."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from cegdb.figures.plots.sheet import (
    BAND,
    FAINT,
    INK,
    MARGIN,
    WIDTH,
    Sheet,
    fitted,
    height_of,
    note_height,
    people,
    sentences,
    some,
    width_of,
    write_note,
)
from cegdb.figures.plots.stagemarks import COLOURS, face, largest, left_out, title
from cegdb.figures.style import Picture, styled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from cegdb.query.plotted import Situation, Situations, Stage

MOST_LABELS: Final = 12
_ROWS: Final = 40
_LARGEST: Final = 4.4  # radius of the largest circle, in mm
_SMALLEST: Final = 0.55
_HEIGHT: Final = math.sqrt(3) / 2
_DASHES: Final = ("-", "--", "-.", ":")


class _Points:
    """The situations that can be placed: all their shares are known."""

    def __init__(self, found: Situations) -> None:
        self.situations = [
            one
            for one in found.situations
            if one.n and None not in found.shares.get(one.vertex_id, {}).values()
        ]
        self.found = found
        kept = {one.stage_id for one in self.situations}
        self.stages = [one for one in found.stages.stages if one.stage_id in kept]
        self.stage = {one.stage_id: one for one in self.stages}
        names: dict[int, str] = {}
        given: dict[int, int] = {}
        for answer in found.stages.answers:
            if answer.stage_id in kept:
                names[answer.label_id] = answer.label
                given[answer.label_id] = given.get(answer.label_id, 0) + (answer.n or 0)
        self.labels, self.rare = largest(sorted(names), MOST_LABELS, lambda one: given[one])
        self.names = names
        self.means = {
            (answer.stage_id, answer.label_id): answer for answer in found.stages.answers
        }
        self.most = max((one.n or 0 for one in self.situations), default=1)

    def share(self, one: Situation, label: int) -> float:
        return self.found.shares[one.vertex_id].get(label) or 0.0

    def mean(self, stage: Stage, label: int) -> float | None:
        answer = self.means.get((stage.stage_id, label))
        if answer is None:
            return 0.0
        return answer.probability

    def radius(self, n: int | None) -> float:
        return max(_SMALLEST, _LARGEST * math.sqrt((n or 0) / self.most))


def draw_situations(found: Situations, variable: str, *, width_mm: float = WIDTH) -> Picture:
    """Draw the situations of a variable by the shares of their answers.

    Two labels make a line (a row a stage), three a triangle, more parallel axes.

    Parameters
    ----------
    found
        The situations with their shares and stages.
    variable
        What they ask.
    width_mm
        In millimetres.

    Examples
    --------
    >>> from cegdb.query.plotted import Answer, Left, Situation, Situations, Stage, Stages
    >>> stages = [Stage(0, "u0", None, "learnt", "#ffffff", 1, 9)]
    >>> answers = [Answer(0, 1, "yes", 3, 0.3, 0.1, 0.6), Answer(0, 2, "no", 6, 0.7, 0.4, 0.9)]
    >>> situations = Situations(
    ...     [Situation(0, "s0", 0, 9, ())], Stages(stages, answers), {0: {1: 1/3, 2: 2/3}},
    ...     Left(0, 1, 0),
    ... )
    >>> draw_situations(situations, "Fall").caption[:28]
    'The situation that asks Fall'
    """
    points = _Points(found)
    note = _note(points)
    texts = [variable, *points.names.values(), *map(title, points.stages)]
    with styled(texts):
        if len(points.labels) <= 2:
            sheet, shown = _line(points, note, width_mm)
        elif len(points.labels) == 3:
            sheet, shown = _triangle(points, note, width_mm)
        else:
            sheet, shown = _parallel(points, note, width_mm)
    n = len(points.situations)
    which = "The situation that asks" if n == 1 else f"The {n:,} situations that ask"
    caption = sentences([f"{which} {variable}, {shown}", COLOURS, note])
    return Picture(sheet.figure, caption)


def _note(points: _Points) -> str:
    left = points.found.left
    n_unknown = len(points.found.situations) - len(points.situations)
    said = []
    if left.n_left or n_unknown:
        said.append(
            f"Shown: {len(points.situations):,} of {some(left.n_all, 'situation')}, those with "
            f"most people; {some(left.people, 'person', 'people')} in the others"
        )
    if n_unknown:
        said.append(
            f"{some(n_unknown, 'situation')} left out as no one answered there or small counts "
            "are hidden"
        )
    if points.rare:
        n = len(points.labels) + len(points.rare)
        said.append(f"Shown: the {len(points.labels)} labels given most of {n}")
    return "; ".join(said)


def _line(points: _Points, note: str, width: float) -> tuple[Sheet, str]:
    """Draw a row a stage: two labels, or one, need one dimension only."""
    stages, others = largest(points.stages, _ROWS, lambda stage: stage.n or 0)
    more = left_out(len(stages), len(others), sum(stage.n or 0 for stage in others), "stage")
    note = "; ".join(part for part in (note, more) if part)
    label = points.labels[-1] if points.labels else 0
    rows = [[one for one in points.situations if one.stage_id == s.stage_id] for s in stages]
    names = [fitted(title(stage), 32, most=2) for stage in stages]
    heights = [
        max(5.0, height_of(name) + 1, 2 * max(points.radius(one.n) for one in row) + 1)
        for name, row in zip(names, rows, strict=True)
    ]
    edges = [sum(heights[:place]) for place in range(len(heights) + 1)]
    left = MARGIN + max([width_of(name) for name in names], default=0.0) + 3
    right = max([width_of(people(stage.n), 8) for stage in stages], default=0.0) + 8
    head = fitted(f"share of {points.names.get(label, '')}", width - left - right)
    top = MARGIN + 5
    foot = top + edges[-1] + 5 + height_of(head)
    legend = 2 * _LARGEST + 2
    sheet = Sheet(width, foot + legend + 2 + note_height(note, width))
    panel = width - left - right
    axes = sheet.axes(left, top, panel, edges[-1])
    axes.set_xlim(0, 1)
    axes.set_ylim(edges[-1], 0)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    sheet.text(left + panel / 2, top + edges[-1] + 4.5, head, ha="center")
    sheet.text(width - MARGIN, top - 1, "n", ha="right", va="bottom", style="italic")
    for place, (stage, row, name) in enumerate(zip(stages, rows, names, strict=True)):
        y = (edges[place] + edges[place + 1]) / 2
        if place % 2 == 0:
            axes.axhspan(edges[place], edges[place + 1], color=BAND, linewidth=0, zorder=0)
        sheet.text(left - 2.5, top + y, name, ha="right", va="center")
        shown = people(stage.n)
        sheet.text(width - MARGIN, top + y, shown, 8, ha="right", va="center")
        mean = points.mean(stage, label)
        if mean is not None:
            axes.plot([mean] * 2, edges[place : place + 2], color=INK, linewidth=1.2, zorder=2)
        for one in sorted(row, key=lambda one: -(one.n or 0)):
            _circle(axes, points.share(one, label), y, points.radius(one.n), stage, panel)
    _legend(sheet, points, left, foot + 1)
    write_note(sheet, note)
    return sheet, (
        "a row a stage: circles are situations at their share of people, their area the people "
        "(small ones drawn larger); the upright line is the stage's posterior mean, n the "
        "people who reach the stage"
    )


def _circle(
    axes: Axes, x: float, y: float, radius: float, stage: Stage, panel: float
) -> None:
    """Draw a circle in axes of 0 to 1 across ``panel`` mm, and mm downwards."""
    axes.plot(
        [x],
        [y],
        marker="o",
        markersize=2 * radius * 72 / 25.4,
        markerfacecolor=face(stage),
        markeredgecolor=INK,
        markeredgewidth=0.6,
        alpha=0.85,
        linestyle="",
        clip_on=False,
        zorder=3 + 1 / (1 + radius * panel),
    )


def _legend(sheet: Sheet, points: _Points, left: float, top: float) -> None:
    """Write which area stands for how many people."""
    sizes = sorted({points.most, *_round_sizes(points.most)})
    drawing = sheet.drawing(0, top, sheet.width, 2 * _LARGEST)
    x = left
    for n in sizes:
        radius = points.radius(n)
        x += radius
        drawing.plot(
            [x], [_LARGEST], marker="o", markersize=2 * radius * 72 / 25.4, color="white",
            markeredgecolor=INK, markeredgewidth=0.6, linestyle="", clip_on=False,
        )  # fmt: skip
        text = f"{n:,}"
        x += radius + 1
        sheet.text(x, top + _LARGEST, text, 8, va="center")
        x += width_of(text, 8) + 4
    sheet.text(x, top + _LARGEST, "people", 8, va="center")


def _round_sizes(most: int) -> list[int]:
    """Return about two round numbers below the most people of a situation."""
    power = 10 ** max(0, int(math.log10(most)) - 1) if most > 1 else 1
    return [n for n in (power, 4 * power) if n < most * 0.7]


def _triangle(points: _Points, note: str, width: float) -> tuple[Sheet, str]:
    """Draw a triangle: each corner is where all give one answer."""
    side = min(width - 50, 110.0)
    heads = [fitted(points.names[label], 44, most=4) for label in points.labels]
    above = height_of(heads[2])
    below = max(height_of(heads[0]), height_of(heads[1]))
    top = MARGIN + above + 2
    high = side * _HEIGHT
    foot = top + high + below + 6
    names = [title(stage) for stage in points.stages]
    sheet = Sheet(width, foot + 2 * _LARGEST + 2 + note_height(note, width))
    start = (width - side) / 2
    axes = sheet.drawing(start, top, side, high)
    for tenth in (0.2, 0.4, 0.6, 0.8):
        for a, b in (
            ((1 - tenth, tenth, 0), (1 - tenth, 0, tenth)),
            ((tenth, 1 - tenth, 0), (0, 1 - tenth, tenth)),
            ((tenth, 0, 1 - tenth), (0, tenth, 1 - tenth)),
        ):
            axes.plot(*_at(a, b, side=side), color="#dddddd", linewidth=0.6, zorder=1)
        for x, y, look in _scale(tenth, side):
            axes.text(x, y, f"{tenth:.1f}", fontsize=7, color=FAINT, **look)
    corners = _at((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0), side=side)
    axes.plot(*corners, color=INK, linewidth=0.9, clip_on=False)
    sheet.text(start, top + high + 5, heads[0], ha="center")
    sheet.text(start + side, top + high + 5, heads[1], ha="center")
    sheet.text(start + side / 2, top - 2, heads[2], ha="center", va="bottom")
    middles: list[tuple[float, float, str]] = []
    for stage, name in zip(points.stages, names, strict=True):
        means = [points.mean(stage, label) for label in points.labels]
        row = [one for one in points.situations if one.stage_id == stage.stage_id]
        if None in means:
            middle = None
        else:
            (mx,), (my,) = _at(tuple(means), side=side)  # type: ignore[arg-type]
            middle = (mx, my)
            middles.append((mx, my, name))
        for one in sorted(row, key=lambda one: -(one.n or 0)):
            (x,), (y,) = _at(tuple(points.share(one, label) for label in points.labels), side=side)
            if middle is not None:
                axes.plot([middle[0], x], [middle[1], y], color=FAINT, linewidth=0.5, zorder=2)
            _circle(axes, x, y, points.radius(one.n), stage, side)
        if middle is not None:
            axes.plot(*[[value] for value in middle], marker="+", markersize=6, color=INK, markeredgewidth=1.1, linestyle="", zorder=5, clip_on=False)
    _name(axes, middles, side, high)
    _legend(sheet, points, MARGIN, foot)
    write_note(sheet, note)
    return sheet, (
        "circles at their shares of people: each corner is where all give one answer, the "
        "opposite side where none does (shares of the left corner are written below, of the "
        "right one at the right, of the upper one at the left); areas are people (small ones drawn larger); + is the "
        "posterior mean of the stage that is named beside it, and thin lines lead from it to "
        "its situations"
    )


def _at(
    *shares: Sequence[float], side: float
) -> tuple[list[float], list[float]]:
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


def _name(axes: Axes, middles: Sequence[tuple[float, float, str]], side: float, high: float) -> None:
    """Write names beside points, where no name is yet; what finds no room has a line."""
    taken: list[tuple[float, float, float, float]] = []
    for x, y, name in sorted(middles, key=lambda one: (one[1], one[0])):
        text = fitted(name, 30, 8, most=1)
        wide, tall = width_of(text, 8), 3.2
        for radius in (2.2, 5, 8, 11, 15, 20, 26):
            spots = [
                (x + radius * math.cos(turn), y + radius * math.sin(turn))
                for turn in (0, math.pi, math.pi / 2, -math.pi / 2, 0.8, -0.8, 2.35, -2.35)
            ]
            boxes = [
                (px if px >= x - 0.01 else px - wide, py - tall / 2) for px, py in spots
            ]
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
            axes.plot([x, bx + wide / 2], [y, by + tall / 2], color=INK, linewidth=0.4, zorder=4)
        axes.text(
            bx, by + tall / 2, text, fontsize=8, va="center", zorder=6, parse_math=False,
            bbox={"facecolor": "white", "alpha": 0.75, "pad": 0.4, "linewidth": 0},
        )  # fmt: skip


def _parallel(points: _Points, note: str, width: float) -> tuple[Sheet, str]:
    """Draw an axis a label and a line a situation."""
    names = {stage.stage_id: fitted(title(stage), 30, 8, most=1) for stage in points.stages}
    right = max([width_of(name, 8) for name in names.values()], default=0) + 8
    left = MARGIN + 9
    step = (width - left - right) / max(len(points.labels) - 1, 1)
    heads = [fitted(points.names[label], min(0.8 * step, 40), 8) for label in points.labels]
    below = max(height_of(head, 8) for head in heads)
    high = max(70.0, 3.4 * len(points.stages) + 4)
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
            axes.plot(range(len(shares)), shares, color=colour, linewidth=thick, alpha=0.6, zorder=2, linestyle=dashes, clip_on=False)
        means = [points.mean(stage, label) for label in points.labels]
        if None not in means:
            axes.plot(range(len(means)), means, color=INK, linewidth=0.9, linestyle=dashes, zorder=4, marker="o", markersize=4, markerfacecolor=face(stage), clip_on=False)
            ends.append((means[-1] or 0.0, names[stage.stage_id]))
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
    y = -3.4
    placed = []
    for share, name in sorted(ends, key=lambda end: (-end[0], end[1])):
        y = max(high * (1 - share), y + 3.4)
        placed.append((share, name, y))
    over = max(0.0, y - high)
    for share, name, at in placed:
        spot = at - over
        drawing.plot([1, 4.5], [high * (1 - share), spot], color=FAINT, linewidth=0.5, clip_on=False)
        sheet.text(x + 5, top + spot, name, 8, va="center")
