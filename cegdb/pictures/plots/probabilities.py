"""Probabilities of stages: a dot and an interval for each stage and label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cegdb.pictures.captions import omission_note, probabilities_caption
from cegdb.pictures.plots.sheet import (
    BLACK,
    MARGIN,
    WIDTH,
    Sheet,
    fit_text,
    height_of,
    plain_axis,
    width_of,
)
from cegdb.pictures.plots.stage_marks import StageRows, fill_colour, largest, stage_title
from cegdb.pictures.style import Picture, figure_style
from cegdb.render.writers import format_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cegdb.pictures.plot_data import Answer, Stage, Stages

MOST_LABELS: Final = 12
_NARROWEST: Final = 30.0  # a panel, in mm
_GAP: Final = 4.0
_MARKERS: Final = {"unobserved": "D", "single_edge": "s"}


def draw_probabilities(
    rows: Stages, variable: str, *, width_mm: float = WIDTH, most: int = 40
) -> Picture:
    """Draw the probabilities of a variable's stages, those with most people."""
    stages, others = largest(rows.stages, most, lambda stage: stage.n or 0)
    labels, n_rare = _labels(rows, {stage.stage_id for stage in stages})
    n_people = sum(stage.n or 0 for stage in others)
    notes = (
        omission_note(len(stages), len(others), "stage", n_people),
        omission_note(len(labels), n_rare, "label"),
    )
    note = ". ".join(filter(None, notes))
    with figure_style([variable, *(label for _, label in labels), *map(stage_title, stages)]):
        sheet = _draw(stages, rows.answers, labels, note, width_mm)
    return Picture(sheet.figure, probabilities_caption(rows, variable, note))


def _labels(rows: Stages, kept: set[int]) -> tuple[list[tuple[int, str]], int]:
    """Return the labels to draw, in order, and how many others there are."""
    n_of: dict[tuple[int, str], int] = {}
    for answer in rows.answers:
        if answer.stage_id in kept:
            label = (answer.label_id, answer.label)
            n_of[label] = n_of.get(label, 0) + (answer.n or 0)
    shown, others = largest(sorted(n_of), MOST_LABELS, lambda label: n_of[label])
    return shown, len(others)


def _draw(
    stages: list[Stage],
    answers: list[Answer],
    labels: list[tuple[int, str]],
    note: str,
    width: float,
) -> Sheet:
    rows = StageRows(stages, [4.8] * len(stages))
    right = max(width_of(format_count(stage.n)) for stage in stages) + 2 + MARGIN
    room = width - rows.left - right
    columns = min(len(labels), max(1, int((room + _GAP) / (_NARROWEST + _GAP))))
    panel = (room - _GAP * (columns - 1)) / columns
    heads = [fit_text(label, panel) for _, label in labels]
    lines = [
        range(first, min(first + columns, len(labels)))
        for first in range(0, len(labels), columns)
    ]
    tops, y = [], MARGIN
    for line in lines:
        y += max(height_of(heads[index]) for index in line) + 1.5
        tops.append(y)
        y += rows.edges[-1] + 9
    sheet = Sheet(width, y + 1, note)
    by_key = {(answer.stage_id, answer.label_id): answer for answer in answers}
    known = [a.high or a.probability for a in answers if a.probability is not None]
    highest = max(known, default=1.0)
    limit = 1.0 if highest > 0.5 else _round_up(highest)
    for line, top in zip(lines, tops, strict=True):
        rows.label(sheet, top, 2)
        for column, index in enumerate(line):
            start = rows.left + column * (panel + _GAP)
            sheet.text(start, top - 1, heads[index], va="bottom")
            axes = sheet.axes(start, top, panel, rows.edges[-1])
            axes.set_xlim(-0.02 * limit, 1.02 * limit)
            axes.set_ylim(rows.edges[-1], 0)
            plain_axis(axes)
            axes.set_xticks([0, limit / 2, limit])
            axes.set_xticklabels([f"{share:.3g}" for share in (0, limit / 2, limit)])
            if column == 0:
                axes.set_xlabel("probability", fontsize=8, labelpad=1)
            rows.shade(axes)
            for stage, middle in zip(stages, rows.middles, strict=True):
                answer = by_key.get((stage.stage_id, labels[index][0]))
                if answer is not None:
                    _mark(axes, stage, answer, middle, limit)
    return sheet


def _mark(axes: Axes, stage: Stage, answer: Answer, y: float, limit: float) -> None:
    """Draw the interval and the dot of a stage, or that they are hidden."""
    if answer.probability is None:
        axes.text(limit / 2, y, "…", ha="center", va="center", fontsize=9, color=BLACK)
        return
    if answer.low is not None and answer.high is not None:
        axes.plot(
            [answer.low, answer.high], [y, y], color=BLACK, linewidth=1.1, clip_on=False,
            zorder=2,
        )  # fmt: skip
    axes.plot(
        [answer.probability], [y], marker=_MARKERS.get(stage.kind, "o"), markersize=5.2,
        markerfacecolor=fill_colour(stage), markeredgecolor=BLACK, markeredgewidth=0.8,
        clip_on=False, zorder=3,
    )  # fmt: skip


def _round_up(value: float) -> float:
    """Return the next of 0.1, 0.2, 0.5, 0.01, ... from a value on."""
    for power in range(-6, 1):
        for digit in (1, 2, 5):
            if digit * 10.0**power >= value:
                return float(digit * 10.0**power)
    return 1.0
