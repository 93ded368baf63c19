"""Situations of a variable by the answers given there, coloured by stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cegdb.pictures.captions import (
    NO_MARKS,
    PARALLEL_MARKS,
    ROW_MARKS,
    TRIANGLE_MARKS,
    omission_note,
    situations_caption,
    situations_note,
)
from cegdb.pictures.plots.parallel import draw_parallel
from cegdb.pictures.plots.points import LARGEST, Points, draw_circle, draw_sizes
from cegdb.pictures.plots.sheet import (
    BLACK,
    MARGIN,
    WIDTH,
    Sheet,
    empty_sheet,
    fit_text,
    height_of,
    plain_axis,
    width_of,
)
from cegdb.pictures.plots.stage_marks import StageRows, stage_title
from cegdb.pictures.plots.triangle import draw_triangle
from cegdb.pictures.style import Picture, figure_style
from cegdb.render.writers import format_count

if TYPE_CHECKING:
    from cegdb.pictures.plot_data import Situations

_ROWS: Final = 40
_MANY: Final = 12  # stages on parallel axes


def draw_situations(rows: Situations, variable: str, *, width_mm: float = WIDTH) -> Picture:
    """Draw the situations of a variable by the shares of their answers.

    Two labels make a line (one row per stage), three a triangle, more parallel axes.
    """
    points = Points(rows)
    n_stages_omitted = points.keep_largest_stages(_MANY if len(points.labels) > 3 else _ROWS)
    note = _note(points, n_stages_omitted)
    with figure_style([variable, *points.names.values(), *map(stage_title, points.stages)]):
        if not points.situations:
            sheet, marks = (
                empty_sheet("There are no situations to show.", note, width_mm),
                NO_MARKS,
            )
        elif len(points.labels) <= 2:
            sheet, marks = _draw_rows(points, note, width_mm), ROW_MARKS
        elif len(points.labels) == 3:
            sheet, marks = draw_triangle(points, note, width_mm), TRIANGLE_MARKS
        else:
            sheet, marks = draw_parallel(points, note, width_mm), PARALLEL_MARKS
    caption = situations_caption(len(points.situations), variable, marks, note)
    return Picture(sheet.figure, caption)


def _note(points: Points, n_stages_omitted: int) -> str:
    """Return what was left out: situations, labels and stages."""
    omitted, n_shown = points.rows.omitted, len(points.situations)
    people = omitted.n_people + sum(one.n or 0 for one in points.rows.situations)
    people -= sum(one.n or 0 for one in points.situations)
    left_out = omitted._replace(n_omitted=omitted.n_all - n_shown, n_people=people)
    notes = (
        situations_note(left_out, points.n_unknown),
        omission_note(len(points.labels), points.n_rare, "label"),
        omission_note(len(points.stages), n_stages_omitted, "stage"),
    )
    return ". ".join(filter(None, notes))


def _draw_rows(points: Points, note: str, width: float) -> Sheet:
    """Draw one row per stage: two labels, or one, need one dimension only."""
    stages = points.stages
    label = points.labels[-1] if points.labels else 0
    rows = StageRows(
        stages,
        [
            max(5.0, 2 * max(points.radius(one.n) for one in points.of_stage(stage)) + 1)
            for stage in stages
        ],
    )
    right = max([width_of(format_count(stage.n), 8) for stage in stages], default=0.0) + 8
    panel = width - rows.left - right
    head = fit_text(f"share of {points.names.get(label, '')}", panel)
    top, high = MARGIN + 5, rows.edges[-1]
    foot = top + high + 5 + height_of(head)
    sheet = Sheet(width, foot + 2 * LARGEST + 4, note)
    axes = sheet.axes(rows.left, top, panel, high)
    axes.set_xlim(0, 1)
    axes.set_ylim(high, 0)
    plain_axis(axes)
    rows.shade(axes)
    sheet.text(rows.left + panel / 2, top + high + 4.5, head, ha="center")
    rows.label(sheet, top, 2.5)
    for index, (stage, y) in enumerate(zip(stages, rows.middles, strict=True)):
        mean = points.mean(stage, label)
        if mean is not None:
            ends = rows.edges[index : index + 2]
            axes.plot([mean] * 2, ends, color=BLACK, linewidth=1.2, zorder=2)
        for one in points.largest_first(stage):
            draw_circle(axes, points.share(one, label), y, points.radius(one.n), stage)
    draw_sizes(sheet, points, rows.left, foot + 1)
    return sheet
