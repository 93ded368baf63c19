"""How often two situations share a stage, as a map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from cegdb.graphs.label_text import text_colour
from cegdb.pictures.captions import costaging_caption, situations_note, unlearnt_note
from cegdb.pictures.plots.sheet import (
    BLACK,
    MARGIN,
    WIDTH,
    Sheet,
    empty_sheet,
    fit_text,
    width_of,
)
from cegdb.pictures.plots.stage_marks import fill_colour, stage_title
from cegdb.pictures.style import Picture, figure_style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle
    from numpy.typing import NDArray

    from cegdb.pictures.plot_data import Situations, Stage

_SHADES: Final = ("#ffffff", "#d4e4f2", "#9cc3e0", "#5b97c8", "#2766a5", "#0b2e5c")
_SCALE: Final = 16.0  # mm that the scale of shades takes
_MOST_NAMED: Final = 60  # situations, of which each is named
_MOST_VALUED: Final = 16  # situations, of which each pair shows its share
_VALUE_SIZE: Final = 6.5


class Shares(NamedTuple):
    """The share of stagings in which two situations are together.

    A row and a column per situation, nan where no staging has both; ``source`` names the
    stagings, such as ``"100 bootstrap replicates"``.
    """

    share: NDArray[np.float64]
    source: str


def shares_of_pairs(
    vertex_ids: Sequence[int], pairs: Sequence[tuple[int, int, int, int]], source: str
) -> Shares:
    """Return the shares of runs that staged two situations together."""
    index_of = {vertex_id: index for index, vertex_id in enumerate(vertex_ids)}
    share = np.full((len(index_of), len(index_of)), np.nan)
    np.fill_diagonal(share, 1.0)
    for one, other, n_runs, n_together in pairs:
        if n_runs:
            i, j = index_of[one], index_of[other]
            share[i, j] = share[j, i] = n_together / n_runs
    return Shares(share, source)


def shares_of_stagings(
    vertex_ids: Sequence[int], members: Sequence[dict[int, int]], source: str
) -> Shares:
    """Return the shares of stagings in which two situations have one stage."""
    stages = np.array([[one[vertex_id] for vertex_id in vertex_ids] for one in members])
    together = (stages[:, :, None] == stages[:, None, :]).mean(axis=0)
    return Shares(together, source)


def draw_costaging(
    rows: Situations, shares: Shares, variable: str, *, width_mm: float = WIDTH
) -> Picture:
    """Draw the situations of a variable against each other, by stage."""
    situations = rows.situations
    place = {stage.stage_id: index for index, stage in enumerate(rows.stages.stages)}
    order = sorted(
        range(len(situations)),
        key=lambda i: (place[situations[i].stage_id], situations[i].vertex_id),
    )
    notes = (
        unlearnt_note(rows.n_unlearnt),
        situations_note(rows.omitted),
    )
    note = ". ".join(filter(None, notes))
    texts = [label for one in situations for label in one.path]
    with figure_style([*texts, *map(stage_title, rows.stages.stages)]):
        sheet = _draw(rows, shares.share[np.ix_(order, order)], order, note, width_mm)
    caption = costaging_caption(
        len(order),
        variable,
        shares.source,
        note,
        has_unknown=bool(np.isnan(shares.share).any()),
        is_one=shares.source == "this staging",
    )
    return Picture(sheet.figure, caption)


def _draw(
    rows: Situations,
    share: NDArray[np.float64],
    order: Sequence[int],
    note: str,
    width: float,
) -> Sheet:
    """Draw the map with its stages at the left, its situations at the right, and a scale."""
    situations = [rows.situations[index] for index in order]
    n = len(situations)
    if not n:
        return empty_sheet("There are no situations to show.", note, width)
    names = [" \u203a ".join(one.path) or "the root" for one in situations]
    stages = {stage.stage_id: stage for stage in rows.stages.stages}
    spans = _spans([one.stage_id for one in situations])
    strip = max([width_of(stage_title(stages[s]), 7.5) for s, _, _ in spans], default=0) + 2
    strip = min(max(strip, 6.0), 28.0)
    room = 0.0
    if n <= _MOST_NAMED:
        room = min(max(width_of(name, 7.5) for name in names) + 2, width * 0.4)
    side = min(width - MARGIN * 2 - strip - room - _SCALE, 6.5 * n, 150.0)
    side = max(side, 20.0)
    left, top = MARGIN + strip, MARGIN + 2
    cell = side / n
    sheet = Sheet(width, top + max(side, 34.0) + 4, note)
    axes = sheet.axes(left, top, side, side)
    _draw_cells(axes, share, cell)
    for stage_id, first, end in spans:
        axes.add_patch(_frame(first, end))
        height = (end - first) * cell
        strip_axes = sheet.drawing(MARGIN, top + first * cell, strip - 1, height)
        _stage_strip(strip_axes, stages[stage_id], strip - 1, height)
    if n <= _MOST_NAMED:
        _write_names(sheet, names, (left + side + 1.5, top), room - 2, cell)
    _draw_scale(sheet, width - MARGIN - _SCALE + 4, top)
    return sheet


def _shades() -> LinearSegmentedColormap:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("shares", _SHADES)


def _draw_cells(axes: Axes, share: NDArray[np.float64], cell: float) -> None:
    """Shade the cells by their share, which is written in them where there is room."""
    n = len(share)
    axes.set_facecolor("white")
    axes.imshow(
        np.ma.masked_invalid(share), cmap=_shades(), vmin=0, vmax=1, interpolation="none",
        extent=(0, n, n, 0), aspect="auto",
    )  # fmt: skip
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_color("#808080")
    _cross_out(axes, share)
    values = {_share_text(one) for one in share[~np.isnan(share)]}
    if n <= _MOST_VALUED and max(width_of(value, _VALUE_SIZE) for value in values) < cell:
        for row in range(n):
            for column in range(n):
                _value(axes, row, column, share[row, column])


def _write_names(
    sheet: Sheet, names: Sequence[str], corner: tuple[float, float], width: float, cell: float
) -> None:
    """Write the names of situations beside their rows, smaller where they are long."""
    left, top = corner
    for index, name in enumerate(names):
        for largest in (7.5, 6.5, 5.8):
            size = min(largest, cell * 2.5)
            most = max(1, int(cell / (largest * 0.43)))
            text = fit_text(name, width, size, most=most)
            if not text.endswith("\u2026"):
                break
        sheet.text(left, top + (index + 0.5) * cell, text, size, va="center")


def _draw_scale(sheet: Sheet, left: float, top: float) -> None:
    """Draw which shade stands for which share."""
    bar = sheet.axes(left, top + 6, 4, 28)
    bar.imshow(
        np.linspace(1, 0, 64)[:, None], cmap=_shades(), vmin=0, vmax=1, extent=(0, 1, 0, 1),
        aspect="auto", interpolation="none",
    )  # fmt: skip
    bar.set_xticks([])
    bar.yaxis.tick_right()
    bar.set_yticks([0, 0.5, 1])
    bar.set_yticklabels(["0", "0.5", "1"])
    sheet.text(left, top, "share", 8)


def _spans(stage_ids: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return each stage with its first index and the one after its last."""
    spans: list[tuple[int, int, int]] = []
    for index, stage_id in enumerate(stage_ids):
        if spans and spans[-1][0] == stage_id:
            spans[-1] = (stage_id, spans[-1][1], index + 1)
        else:
            spans.append((stage_id, index, index + 1))
    return spans


def _frame(first: int, end: int) -> Rectangle:
    from matplotlib.patches import Rectangle

    size = end - first
    return Rectangle(
        (first, first), size, size, fill=False, edgecolor="black", linewidth=1.0, clip_on=False
    )


def _stage_strip(axes: Axes, stage: Stage, width: float, height: float) -> None:
    from matplotlib.patches import Rectangle

    colour = fill_colour(stage)
    axes.add_patch(
        Rectangle((0, 0), width, height, facecolor=colour, edgecolor=BLACK, linewidth=0.4)
    )
    size = min(7.5, height * 2.5)
    if size >= 4:
        rows = max(1, int(height / (size * 0.43)))
        axes.text(
            width / 2, height / 2, fit_text(stage_title(stage), width - 0.6, size, most=rows),
            fontsize=size, ha="center", va="center", color=text_colour(colour),
            parse_math=False,
        )  # fmt: skip


def _cross_out(axes: Axes, share: NDArray[np.float64]) -> None:
    """Draw a line through the cells without a share."""
    rows, columns = np.nonzero(np.isnan(share))
    if not len(rows):
        return
    from matplotlib.collections import LineCollection

    lines = np.stack(
        (np.stack((columns, rows + 1), axis=1), np.stack((columns + 1, rows), axis=1)), axis=1
    )
    axes.add_collection(
        LineCollection(list(lines.astype(float)), colors="#b0b0b0", linewidths=0.4)
    )


def _share_text(share: float) -> str:
    return f"{share:.2f}".rstrip("0").rstrip(".")


def _value(axes: Axes, row: int, column: int, share: float) -> None:
    if np.isnan(share):
        return
    colour = "white" if share > 0.55 else BLACK
    axes.text(
        column + 0.5, row + 0.5, _share_text(share), fontsize=_VALUE_SIZE, ha="center",
        va="center", color=colour,
    )  # fmt: skip
