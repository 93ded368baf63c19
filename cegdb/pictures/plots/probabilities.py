"""Probabilities of stages: a dot and an interval for each stage and label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cegdb.pictures.plots.sheet import (
    BAND,
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
from cegdb.pictures.plots.stage_marks import COLOURS, face, largest, left_out, title
from cegdb.pictures.style import Picture, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cegdb.pictures.plot_data import Answer, Stage, Stages

MOST_LABELS: Final = 12
_NARROWEST: Final = 30.0  # a panel, in mm
_GAP: Final = 4.0
_MARKERS: Final = {"unobserved": "D", "single_edge": "s"}


def draw_probabilities(
    found: Stages, variable: str, *, width_mm: float = WIDTH, most: int = 40
) -> Picture:
    """Draw the probabilities of a variable's stages with their intervals and people.

    Parameters
    ----------
    found
        The stages and the answers given in them.
    variable
        What the stages ask, for the caption.
    width_mm
        In millimetres.
    most
        The most stages; those with most people are drawn.

    Examples
    --------
    >>> from cegdb.pictures.plot_data import Answer, Stage, Stages
    >>> stages = [Stage(0, "u0", None, "learnt", "#ffffff", 1, 9)]
    >>> answers = [Answer(0, 1, "yes", 3, 0.3, 0.1, 0.6), Answer(0, 2, "no", 6, 0.7, 0.4, 0.9)]
    >>> draw_probabilities(Stages(stages, answers), "Fall").caption[:35]
    'Probabilities of Fall in its 1 stag'
    """
    stages, others = largest(found.stages, most, lambda stage: stage.n or 0)
    labels, rare = _labels(found, {stage.stage_id for stage in stages})
    note = "; ".join(
        part
        for part in (
            left_out(len(stages), len(others), sum(s.n or 0 for s in others), "stage"),
            left_out(len(labels), rare, 0, "label").split(";")[0],
        )
        if part
    )
    texts = [variable, *(label for _, label in labels), *map(title, stages)]
    with styled(texts):
        figure = _draw(stages, found.answers, labels, note, width_mm)
    return Picture(figure.figure, _caption(found, variable, note))


def _labels(found: Stages, kept: set[int]) -> tuple[list[tuple[int, str]], int]:
    """Return the labels to draw, in order, and how many others there are."""
    given: dict[tuple[int, str], int] = {}
    for answer in found.answers:
        if answer.stage_id in kept:
            label = (answer.label_id, answer.label)
            given[label] = given.get(label, 0) + (answer.n or 0)
    shown, others = largest(sorted(given), MOST_LABELS, lambda label: given[label])
    return shown, len(others)


def _draw(
    stages: list[Stage],
    answers: list[Answer],
    labels: list[tuple[int, str]],
    note: str,
    width: float,
) -> Sheet:
    names = [fitted(title(stage), 32, most=2) for stage in stages]
    left = MARGIN + max([width_of(name) for name in names], default=0.0) + 3
    right = max(width_of(people(stage.n)) for stage in stages) + 2 + MARGIN
    room = width - left - right
    columns = min(len(labels), max(1, int((room + _GAP) / (_NARROWEST + _GAP))))
    panel = (room - _GAP * (columns - 1)) / columns
    heads = [fitted(label, panel) for _, label in labels]
    heights = [max(4.8, height_of(name) + 1) for name in names]
    edges = [sum(heights[:place]) for place in range(len(heights) + 1)]
    lines = [
        range(first, min(first + columns, len(labels)))
        for first in range(0, len(labels), columns)
    ]
    tops, y = [], MARGIN
    for line in lines:
        y += max(height_of(heads[place]) for place in line) + 1.5
        tops.append(y)
        y += edges[-1] + 9
    sheet = Sheet(width, y + 1 + note_height(note, width))
    by_key = {(answer.stage_id, answer.label_id): answer for answer in answers}
    known = [a.high or a.probability for a in answers if a.probability is not None]
    highest = max(known, default=1.0)
    limit = 1.0 if highest > 0.5 else _round_up(highest)
    for line, top in zip(lines, tops, strict=True):
        sheet.text(width - MARGIN, top - 1, "n", ha="right", va="bottom", style="italic")
        for name, stage, low, high in zip(names, stages, edges, edges[1:], strict=False):
            middle = top + (low + high) / 2
            sheet.text(left - 2, middle, name, ha="right", va="center")
            shown = people(stage.n)
            sheet.text(width - MARGIN, middle, shown, 8, ha="right", va="center")
        for column, place in enumerate(line):
            start = left + column * (panel + _GAP)
            sheet.text(start, top - 1, heads[place], va="bottom")
            axes = sheet.axes(start, top, panel, edges[-1])
            axes.set_xlim(-0.02 * limit, 1.02 * limit)
            axes.set_ylim(edges[-1], 0)
            axes.set_yticks([])
            axes.spines["left"].set_visible(False)
            axes.set_xticks([0, limit / 2, limit])
            axes.set_xticklabels([f"{share:.3g}" for share in (0, limit / 2, limit)])
            if column == 0:
                axes.set_xlabel("probability", fontsize=8, labelpad=1)
            axes.grid(axis="x", color="#dddddd", linewidth=0.6)
            axes.set_axisbelow(True)
            for row, stage in enumerate(stages):
                if row % 2 == 0:
                    axes.axhspan(edges[row], edges[row + 1], color=BAND, linewidth=0, zorder=0)
                answer = by_key.get((stage.stage_id, labels[place][0]))
                if answer is not None:
                    _mark(axes, stage, answer, (edges[row] + edges[row + 1]) / 2, limit)
    write_note(sheet, note)
    return sheet


def _mark(axes: Axes, stage: Stage, answer: Answer, y: float, limit: float) -> None:
    """Draw the interval and the dot of a stage, or that they are hidden."""
    if answer.probability is None:
        axes.text(limit / 2, y, "…", ha="center", va="center", fontsize=9, color=INK)
        return
    if answer.low is not None and answer.high is not None:
        axes.plot(
            [answer.low, answer.high], [y, y], color=INK, linewidth=1.1, clip_on=False, zorder=2
        )
    axes.plot(
        [answer.probability],
        [y],
        marker=_MARKERS.get(stage.kind, "o"),
        markersize=5.2,
        markerfacecolor=face(stage),
        markeredgecolor=INK,
        markeredgewidth=0.8,
        clip_on=False,
        zorder=3,
    )


def _round_up(value: float) -> float:
    """Return the next of 0.1, 0.2, 0.5, 0.01, ... from a value on."""
    for power in range(-6, 1):
        for digit in (1, 2, 5):
            if digit * 10.0**power >= value:
                return float(digit * 10.0**power)
    return 1.0


def _caption(found: Stages, variable: str, note: str) -> str:
    kinds = {stage.kind for stage in found.stages}
    hidden = sum(answer.probability is None for answer in found.answers)
    return sentences(
        f"Probabilities of {variable} in its {some(len(found.stages), 'stage')}, one panel a "
        "label: dots are posterior means, lines the 95 % credible interval given the "
        "staging; n are the people who reach the stage",
        COLOURS,
        "Squares: the only answer there is, probability 1" if "single_edge" in kinds else "",
        "Diamonds: no one reached the stage, the prior alone" if "unobserved" in kinds else "",
        f"…: {some(hidden, 'number')} hidden, as small counts could be calculated from "
        f"{'it' if hidden == 1 else 'them'}"
        if hidden
        else "",
        note,
    )
