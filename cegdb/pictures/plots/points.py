"""Situations as points: where they are, and circles as large as their people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from cegdb.pictures.plots.sheet import INK, Sheet, width_of
from cegdb.pictures.plots.stage_marks import face, largest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cegdb.pictures.plot_data import Situation, Situations, Stage

MOST_LABELS: Final = 12
LARGEST: Final = 4.4  # radius of the largest circle, in mm
_SMALLEST: Final = 0.55


class Points:
    """The situations that can be placed: all their shares are known."""

    def __init__(self, found: Situations) -> None:
        self.situations = [
            one
            for one in found.situations
            if one.n and None not in found.shares.get(one.vertex_id, {}).values()
        ]
        self.found = found
        self.n_unknown = len(found.situations) - len(self.situations)
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

    def keep(self, most: int) -> str:
        """Leave out stages there is no room for, and say so."""
        self.stages, others = largest(self.stages, most, lambda stage: stage.n or 0)
        self.stage = {one.stage_id: one for one in self.stages}
        self.situations = [one for one in self.situations if one.stage_id in self.stage]
        if not others:
            return ""
        n_stages = len(self.stages) + len(others)
        return f"of {n_stages:,} stages the {len(self.stages)} with most people"

    def share(self, one: Situation, label: int) -> float:
        """Return the share of a label in a situation."""
        return self.found.shares[one.vertex_id].get(label) or 0.0

    def mean(self, stage: Stage, label: int) -> float | None:
        """Return the probability of a label in a stage; None if it is hidden."""
        answer = self.means.get((stage.stage_id, label))
        if answer is None:
            return 0.0
        return answer.probability

    def radius(self, n: int | None) -> float:
        """Return the radius in millimetres of a circle for that many people."""
        return max(_SMALLEST, LARGEST * math.sqrt((n or 0) / self.most))


def draw_circle(axes: Axes, x: float, y: float, radius: float, stage: Stage) -> None:
    """Draw a circle of a radius in millimetres; smaller ones on top."""
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
        zorder=3 + 1 / (1 + radius),
    )


def draw_sizes(sheet: Sheet, points: Points, left: float, top: float) -> None:
    """Write which area stands for how many people."""
    sizes = sorted({points.most, *_round_sizes(points.most)})
    drawing = sheet.drawing(0, top, sheet.width, 2 * LARGEST)
    x = left
    for n in sizes:
        radius = points.radius(n)
        x += radius
        drawing.plot(
            [x], [LARGEST], marker="o", markersize=2 * radius * 72 / 25.4, color="white",
            markeredgecolor=INK, markeredgewidth=0.6, linestyle="", clip_on=False,
        )  # fmt: skip
        text = f"{n:,}"
        x += radius + 1
        sheet.text(x, top + LARGEST, text, 8, va="center")
        x += width_of(text, 8) + 4
    sheet.text(x, top + LARGEST, "people", 8, va="center")


def _round_sizes(most: int) -> list[int]:
    """Return about two round numbers below the most people of a situation."""
    power = 10 ** max(0, int(math.log10(most)) - 1) if most > 1 else 1
    return [n for n in (power, 4 * power) if n < most * 0.7]
