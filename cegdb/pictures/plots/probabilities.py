"""Probabilities of stages: a dot and an interval for each stage and label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from cegdb.inference.mean_scores import score_ends
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
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from cegdb.pictures.plot_data import Stage, Stages

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
        sheet = _draw(stages, _panels(rows, labels), note, width_mm)
    return Picture(sheet.figure, probabilities_caption(rows, variable, note))


def _labels(rows: Stages, kept: set[int]) -> tuple[list[tuple[int, str]], int]:
    """Return the labels to draw, in order, and how many others there are."""
    n_of: dict[tuple[int, str], int] = {}
    for answer in rows.answers:
        if answer.stage_id in kept:
            label = (answer.label_id, answer.label)
            n_of[label] = n_of.get(label, 0) + (answer.n or 0)
    names = dict(list(n_of))
    in_order = [(one, names[one]) for one in rows.in_order_of_scores(list(names))]
    shown, others = largest(in_order, MOST_LABELS, lambda label: n_of[label])
    return shown, len(others)


class _Mark(NamedTuple):
    """A number of a stage, None if it is hidden, and its interval."""

    value: float | None
    low: float | None
    high: float | None


class _Panel(NamedTuple):
    """Numbers of stages on an axis from ``least`` to ``most``; a stage may have none."""

    head: str
    unit: str
    least: float
    most: float
    marks: Mapping[int, _Mark]


def _panels(rows: Stages, labels: Sequence[tuple[int, str]]) -> list[_Panel]:
    """Return a panel for each label, after that of the mean score of ordered answers."""
    known = [a.high or a.probability for a in rows.answers if a.probability is not None]
    highest = max(known, default=1.0)
    limit = 1.0 if highest > 0.5 else _round_up(highest)
    panels = []
    if rows.scores:
        hidden = {stage.stage_id: _Mark(None, None, None) for stage in rows.stages}
        means = {stage_id: _Mark(*mean) for stage_id, mean in rows.means.items()}
        (least, _), (most, _) = score_ends(rows.scores)
        panels.append(_Panel("mean score", "score", least, most, hidden | means))
    for label_id, label in labels:
        marks = {
            one.stage_id: _Mark(one.probability, one.low, one.high)
            for one in rows.answers
            if one.label_id == label_id
        }
        panels.append(_Panel(label, "probability", 0.0, limit, marks))
    return panels


def _draw(
    stages: list[Stage],
    panels: Sequence[_Panel],
    note: str,
    width: float,
) -> Sheet:
    rows = StageRows(stages, [4.8] * len(stages))
    right = max(width_of(format_count(stage.n)) for stage in stages) + 2 + MARGIN
    room = width - rows.left - right
    columns = min(len(panels), max(1, int((room + _GAP) / (_NARROWEST + _GAP))))
    panel_width = (room - _GAP * (columns - 1)) / columns
    heads = [fit_text(panel.head, panel_width) for panel in panels]
    lines = [
        range(first, min(first + columns, len(panels)))
        for first in range(0, len(panels), columns)
    ]
    tops, y = [], MARGIN
    for line in lines:
        y += max(height_of(heads[index]) for index in line) + 1.5
        tops.append(y)
        y += rows.edges[-1] + 9
    sheet = Sheet(width, y + 1, note)
    for line, top in zip(lines, tops, strict=True):
        rows.label(sheet, top, 2)
        for column, index in enumerate(line):
            panel, before = panels[index], panels[line[column - 1]] if column else None
            start = rows.left + column * (panel_width + _GAP)
            sheet.text(start, top - 1, heads[index], va="bottom")
            axes = sheet.axes(start, top, panel_width, rows.edges[-1])
            length = panel.most - panel.least
            axes.set_xlim(panel.least - 0.02 * length, panel.most + 0.02 * length)
            axes.set_ylim(rows.edges[-1], 0)
            plain_axis(axes)
            ticks = [panel.least, panel.least + length / 2, panel.most]
            axes.set_xticks(ticks)
            axes.set_xticklabels([f"{tick:.3g}" for tick in ticks])
            if before is None or before.unit != panel.unit:
                axes.set_xlabel(panel.unit, fontsize=8, labelpad=1)
            rows.shade(axes)
            for stage, middle in zip(stages, rows.middles, strict=True):
                mark = panel.marks.get(stage.stage_id)
                if mark is not None:
                    _draw_mark(axes, stage, mark, middle, ticks[1])
    return sheet


def _draw_mark(axes: Axes, stage: Stage, mark: _Mark, y: float, centre: float) -> None:
    """Draw the interval and the dot of a stage, or that they are hidden."""
    if mark.value is None:
        axes.text(centre, y, "…", ha="center", va="center", fontsize=9, color=BLACK)
        return
    if mark.low is not None and mark.high is not None:
        axes.plot(
            [mark.low, mark.high], [y, y], color=BLACK, linewidth=1.1, clip_on=False, zorder=2
        )
    axes.plot(
        [mark.value], [y], marker=_MARKERS.get(stage.kind, "o"), markersize=5.2,
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
