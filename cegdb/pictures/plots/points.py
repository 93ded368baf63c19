"""Situations as points: where they are, and circles as large as their people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from cegdb.pictures.plots.sheet import BLACK, Sheet, width_of
from cegdb.pictures.plots.stage_marks import fill_colour, largest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cegdb.pictures.plot_data import Situation, Situations, Stage

MOST_LABELS: Final = 12
LARGEST: Final = 4.4  # radius of the largest circle, in mm
_SMALLEST: Final = 0.55


class Points:
    """The situations that can be placed, since all their shares are known."""

    def __init__(self, rows: Situations) -> None:
        self.rows = rows
        self.situations = [
            one
            for one in rows.situations
            if one.n and None not in rows.shares.get(one.vertex_id, {}).values()
        ]
        self.n_unknown = len(rows.situations) - len(self.situations)
        kept = {one.stage_id for one in self.situations}
        self.stages = [one for one in rows.stages.stages if one.stage_id in kept]
        self.names: dict[int, str] = {}
        n_of: dict[int, int] = {}
        for answer in rows.stages.answers:
            if answer.stage_id in kept:
                self.names[answer.label_id] = answer.label
                n_of[answer.label_id] = n_of.get(answer.label_id, 0) + (answer.n or 0)
        in_order = rows.stages.in_order_of_scores(list(n_of))
        self.labels, rare = largest(in_order, MOST_LABELS, lambda one: n_of[one])
        self.n_rare = len(rare)
        self._answers = {(one.stage_id, one.label_id): one for one in rows.stages.answers}
        self.most = max((one.n or 0 for one in self.situations), default=1)

    def keep_largest_stages(self, most: int) -> int:
        """Leave out stages there is no room for; return how many."""
        self.stages, others = largest(self.stages, most, lambda stage: stage.n or 0)
        kept = {one.stage_id for one in self.stages}
        self.situations = [one for one in self.situations if one.stage_id in kept]
        return len(others)

    def of_stage(self, stage: Stage) -> list[Situation]:
        """Return the situations of a stage."""
        return [one for one in self.situations if one.stage_id == stage.stage_id]

    def largest_first(self, stage: Stage) -> list[Situation]:
        """Return the situations of a stage, those with most people first."""
        return sorted(self.of_stage(stage), key=lambda one: -(one.n or 0))

    def share(self, one: Situation, label: int) -> float:
        """Return the share of a label in a situation."""
        return self.rows.shares[one.vertex_id].get(label) or 0.0

    def mean(self, stage: Stage, label: int) -> float | None:
        """Return the probability of a label in a stage; None if it is hidden."""
        answer = self._answers.get((stage.stage_id, label))
        return 0.0 if answer is None else answer.probability

    def means(self, stage: Stage) -> list[float] | None:
        """Return the probabilities of all labels in a stage; None if one is hidden."""
        known = [self.mean(stage, label) for label in self.labels]
        means = [mean for mean in known if mean is not None]
        return means if len(means) == len(known) else None

    def radius(self, n: int | None) -> float:
        """Return the radius in millimetres of a circle for that many people."""
        return max(_SMALLEST, LARGEST * math.sqrt((n or 0) / self.most))


def draw_circle(axes: Axes, x: float, y: float, radius: float, stage: Stage) -> None:
    """Draw a circle of a radius in millimetres; smaller ones on top."""
    _draw_disc(
        axes, x, y, radius, markerfacecolor=fill_colour(stage), alpha=0.85,
        zorder=3 + 1 / (1 + radius),
    )  # fmt: skip


def draw_sizes(sheet: Sheet, points: Points, left: float, top: float) -> None:
    """Write which area stands for how many people."""
    drawing = sheet.drawing(0, top, sheet.width, 2 * LARGEST)
    x = left
    for n in sorted({points.most, *_round_sizes(points.most)}):
        radius = points.radius(n)
        x += radius
        _draw_disc(drawing, x, LARGEST, radius, color="white")
        text = f"{n:,}"
        x += radius + 1
        sheet.text(x, top + LARGEST, text, 8, va="center")
        x += width_of(text, 8) + 4
    sheet.text(x, top + LARGEST, "people", 8, va="center")


def _draw_disc(axes: Axes, x: float, y: float, radius: float, **style: Any) -> None:
    axes.plot(
        [x], [y], marker="o", markersize=2 * radius * 72 / 25.4, markeredgecolor=BLACK,
        markeredgewidth=0.6, linestyle="", clip_on=False, **style,
    )  # fmt: skip


def _round_sizes(most: int) -> list[int]:
    """Return about two round numbers below the most people of a situation."""
    power = 10 ** max(0, int(math.log10(most)) - 1) if most > 1 else 1
    return [n for n in (power, 4 * power) if n < most * 0.7]
