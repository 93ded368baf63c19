"""How plots show stages: their colour, their name, and which there is room for."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, TypeVar

from cegdb.graphs.label_text import WHITE
from cegdb.pictures.plots.sheet import BAND, MARGIN, fit_text, height_of, width_of
from cegdb.render.writers import format_count

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes

    from cegdb.pictures.plot_data import Stage
    from cegdb.pictures.plots.sheet import Sheet

Item = TypeVar("Item")


def fill_colour(stage: Stage) -> str:
    """Return the colour that marks of a stage are filled with."""
    return stage.colour if stage.n_situations > 1 else WHITE


def stage_title(stage: Stage) -> str:
    """Return the name of a stage, and the one it was given."""
    return stage.stage if stage.name is None else f"{stage.stage} {stage.name}"


def largest(
    items: Sequence[Item], most: int, size: Callable[[Item], float]
) -> tuple[list[Item], list[Item]]:
    """Return the items of largest size there is room for, in their order, and the others."""
    order = sorted(range(len(items)), key=lambda index: (-size(items[index]), index))
    kept = set(order[:most])
    return (
        [item for index, item in enumerate(items) if index in kept],
        [item for index, item in enumerate(items) if index not in kept],
    )


class StageRows:
    """One row per stage: its name at the left, its people at the right."""

    def __init__(self, stages: Sequence[Stage], least_heights: Sequence[float]) -> None:
        self.stages = stages
        self.names = [fit_text(stage_title(stage), 32, most=2) for stage in stages]
        self.left = MARGIN + max([width_of(name) for name in self.names], default=0.0) + 3
        heights = [
            max(least, height_of(name) + 1)
            for least, name in zip(least_heights, self.names, strict=True)
        ]
        self.edges = list(accumulate(heights, initial=0.0))
        self.middles = [
            (low + high) / 2 for low, high in zip(self.edges, self.edges[1:], strict=False)
        ]

    def label(self, sheet: Sheet, top: float, gap: float) -> None:
        """Write the names and the people beside axes at ``top``."""
        right = sheet.width - MARGIN
        sheet.text(right, top - 1, "n", ha="right", va="bottom", style="italic")
        for stage, name, middle in zip(self.stages, self.names, self.middles, strict=True):
            sheet.text(self.left - gap, top + middle, name, ha="right", va="center")
            n = format_count(stage.n)
            sheet.text(right, top + middle, n, 8, ha="right", va="center")

    def shade(self, axes: Axes) -> None:
        """Shade every other row, behind vertical lines at the ticks."""
        axes.grid(axis="x", color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
        for low, high in zip(self.edges[::2], self.edges[1::2], strict=False):
            axes.axhspan(low, high, color=BAND, linewidth=0, zorder=0)
