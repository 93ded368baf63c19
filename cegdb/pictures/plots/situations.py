"""Situations of a variable by the answers given there, coloured by stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cegdb.pictures.plots.parallel import draw_parallel
from cegdb.pictures.plots.points import LARGEST, Points, draw_circle, draw_sizes
from cegdb.pictures.plots.sheet import (
    BAND,
    INK,
    MARGIN,
    WIDTH,
    Sheet,
    empty_sheet,
    fitted,
    height_of,
    note_height,
    people,
    sentences,
    some,
    width_of,
    write_note,
)
from cegdb.pictures.plots.stage_marks import COLOURS, title
from cegdb.pictures.plots.triangle import draw_triangle
from cegdb.pictures.style import Picture, styled

if TYPE_CHECKING:
    from cegdb.pictures.plot_data import Situations

_ROWS: Final = 40
_MANY: Final = 12  # stages on parallel axes


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
    >>> from cegdb.pictures.plot_data import Answer, Left, Situation, Situations, Stage, Stages
    >>> stages = [Stage(0, "u0", None, "learnt", "#ffffff", 1, 9)]
    >>> answers = [Answer(0, 1, "yes", 3, 0.3, 0.1, 0.6), Answer(0, 2, "no", 6, 0.7, 0.4, 0.9)]
    >>> situations = Situations(
    ...     [Situation(0, "s0", 0, 9, ())], Stages(stages, answers), {0: {1: 1/3, 2: 2/3}},
    ...     Left(0, 1, 0),
    ... )
    >>> draw_situations(situations, "Fall").caption[:28]
    'The situation that asks Fall'
    """
    points = Points(found)
    more = points.keep(_MANY if len(points.labels) > 3 else _ROWS)
    note = "; ".join(part for part in (_note(points), more) if part)
    texts = [variable, *points.names.values(), *map(title, points.stages)]
    with styled(texts):
        if not points.situations:
            sheet = empty_sheet("There are no situations to show.", note, width_mm)
            shown = "of which none can be shown"
        elif len(points.labels) <= 2:
            sheet, shown = _line(points, note, width_mm)
        elif len(points.labels) == 3:
            sheet, shown = draw_triangle(points, note, width_mm)
        else:
            sheet, shown = draw_parallel(points, note, width_mm)
    n = len(points.situations)
    which = "The situation that asks" if n == 1 else f"The {n:,} situations that ask"
    caption = sentences(f"{which} {variable}, {shown}", COLOURS, note)
    return Picture(sheet.figure, caption)


def _note(points: Points) -> str:
    left, found = points.found.left, points.found.situations
    n_unknown = points.n_unknown
    n_shown = len(points.situations)
    people = left.people + sum(one.n or 0 for one in found)
    people -= sum(one.n or 0 for one in points.situations)
    said = []
    if n_shown < left.n_all:
        said.append(
            f"Shown: {n_shown:,} of {some(left.n_all, 'situation')}, those with most people; "
            f"{some(people, 'person', 'people')} in the others"
            f"{', without those of hidden counts' if left.n_hidden else ''}"
        )
    if n_unknown:
        said.append(
            f"{some(n_unknown, 'further situation')} left out as no one answered there or "
            "small counts are hidden"
        )
    if points.rare:
        n = len(points.labels) + len(points.rare)
        said.append(f"Shown: the {len(points.labels)} labels given most of {n}")
    return "; ".join(said)


def _line(points: Points, note: str, width: float) -> tuple[Sheet, str]:
    """Draw a row a stage: two labels, or one, need one dimension only."""
    stages = points.stages
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
    legend = 2 * LARGEST + 2
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
            draw_circle(axes, points.share(one, label), y, points.radius(one.n), stage)
    draw_sizes(sheet, points, left, foot + 1)
    write_note(sheet, note)
    return sheet, (
        "a row a stage: circles are situations at their share of people, their area the people "
        "(small ones drawn larger); the upright line is the stage's posterior mean, n the "
        "people who reach the stage"
    )
