"""How often two situations share a stage, as a map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from cegdb.graphs.label_text import ink
from cegdb.pictures.plots.sheet import (
    INK,
    MARGIN,
    WIDTH,
    Sheet,
    empty_sheet,
    fitted,
    note_height,
    sentences,
    some,
    width_of,
    write_note,
)
from cegdb.pictures.plots.stage_marks import COLOURS, face, title
from cegdb.pictures.style import Picture, styled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.patches import Rectangle
    from numpy.typing import NDArray

    from cegdb.pictures.plot_data import Situations, Stage

_SHADES: Final = ("#ffffff", "#d4e4f2", "#9cc3e0", "#5b97c8", "#2766a5", "#0b2e5c")
_NAMED: Final = 60
_VALUED: Final = 16
_VALUE_SIZE: Final = 6.5


class Shares(NamedTuple):
    """The share of stagings in which two situations are together.

    Attributes
    ----------
    share
        A row and a column a situation; nan where no staging has both.
    of
        What the shares are of, in words, such as ``"100 bootstrap replicates"``.
    """

    share: NDArray[np.float64]
    of: str


def shares_of_pairs(
    vertex_ids: Sequence[int], pairs: Sequence[tuple[int, int, int, int]], of: str
) -> Shares:
    """Return the shares of runs that staged two situations together.

    Examples
    --------
    >>> shares_of_pairs([3, 4], [(3, 4, 10, 5)], "10 runs").share.tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    place = {vertex_id: at for at, vertex_id in enumerate(vertex_ids)}
    share = np.full((len(place), len(place)), np.nan)
    np.fill_diagonal(share, 1.0)
    for one, other, n_runs, n_together in pairs:
        if n_runs:
            at, to = place[one], place[other]
            share[at, to] = share[to, at] = n_together / n_runs
    return Shares(share, of)


def shares_of_stagings(
    vertex_ids: Sequence[int], members: Sequence[dict[int, int]], of: str
) -> Shares:
    """Return the shares of stagings in which two situations have one stage.

    Examples
    --------
    >>> shares_of_stagings([3, 4], [{3: 3, 4: 3}, {3: 3, 4: 4}], "2 stagings").share.tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    stages = np.array([[one[vertex_id] for vertex_id in vertex_ids] for one in members])
    together = (stages[:, :, None] == stages[:, None, :]).mean(axis=0)
    return Shares(together, of)


def draw_costaging(
    found: Situations,
    shares: Shares,
    variable: str,
    *,
    width_mm: float = WIDTH,
) -> Picture:
    """Draw the situations of a variable against each other, by stage.

    Parameters
    ----------
    found
        The situations and their stages.
    shares
        How often two of them are together, in the same order.
    variable
        What they ask.
    width_mm
        In millimetres.

    Examples
    --------
    >>> from cegdb.pictures.plot_data import Left, Situation, Situations, Stage, Stages
    >>> stages = [Stage(3, "u3", None, "learnt", "#009E73", 2, 9)]
    >>> situations = [Situation(3, "s3", 3, 4, ("a",)), Situation(4, "s4", 3, 5, ("b",))]
    >>> found = Situations(situations, Stages(stages, []), {}, Left(0, 2, 0))
    >>> shares = Shares(np.ones((2, 2)), "this staging")
    >>> draw_costaging(found, shares, "Fall").caption[:42]
    'Whether two of the 2 situations that ask F'
    """
    order = sorted(
        range(len(found.situations)),
        key=lambda at: (found.situations[at].stage_id, found.situations[at].vertex_id),
    )
    left = found.left
    note = ""
    if found.n_unlearnt:
        note = (
            f"{some(found.n_unlearnt, 'situation')} left out whose stage is not learnt: a "
            "single answer, no people, or given"
        )
    if left.n_left:
        note = f"{note}. " if note else ""
        note += (
            f"Shown: {len(order):,} of {some(left.n_all, 'situation')}, those with most "
            f"people; {some(left.people, 'person', 'people')} in the others"
            f"{', without those of hidden counts' if left.n_hidden else ''}"
        )
    texts = [label for one in found.situations for label in one.path]
    texts += [title(stage) for stage in found.stages.stages]
    with styled(texts):
        sheet = _draw(found, shares.share[np.ix_(order, order)], order, note, width_mm)
    is_one = shares.of == "this staging"
    asked = f"two of the {some(len(order), 'situation')} that ask {variable}"
    unknown = bool(np.isnan(shares.share).any())
    return Picture(
        sheet.figure,
        sentences(
            f"Whether {asked} share a stage in this staging: dark if they do"
            if is_one
            else f"In what share of {shares.of} {asked} share a stage: the darker, the more",
            "Situations are sorted by their stage here; black frames are its stages, whose "
            "names are at the left where there is room",
            COLOURS,
            "Crossed out: no replicate has people in both, or they can never share a stage"
            if unknown
            else "",
            note,
        ),
    )


def _draw(
    found: Situations,
    share: NDArray[np.float64],
    order: Sequence[int],
    note: str,
    width: float,
) -> Sheet:
    from matplotlib.colors import LinearSegmentedColormap

    situations = [found.situations[at] for at in order]
    n = len(situations)
    if not n:
        return empty_sheet("There are no situations to show.", note, width)
    names = [" \u203a ".join(one.path) or "the root" for one in situations]
    is_named = n <= _NAMED
    stages = {stage.stage_id: stage for stage in found.stages.stages}
    spans = _spans([one.stage_id for one in situations])
    strip = max([width_of(title(stages[s]), 7.5) for s, _, _ in spans], default=0) + 2
    strip = min(max(strip, 6.0), 28.0)
    labels = min(max(width_of(name, 7.5) for name in names) + 2, width * 0.4)
    labels = labels if is_named else 0.0
    scale = 16.0
    side = min(width - MARGIN * 2 - strip - labels - scale, 6.5 * n, 150.0)
    side = max(side, 20.0)
    left, top = MARGIN + strip, MARGIN + 2
    sheet = Sheet(width, top + max(side, 34.0) + 4 + note_height(note, width))
    axes = sheet.axes(left, top, side, side)
    shades = LinearSegmentedColormap.from_list("shares", _SHADES)
    axes.set_facecolor("white")
    axes.imshow(
        np.ma.masked_invalid(share), cmap=shades, vmin=0, vmax=1, interpolation="none",
        extent=(0, n, n, 0), aspect="auto",
    )  # fmt: skip
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_color("#808080")
    _cross_out(axes, share)
    cell = side / n
    values = {_told(one) for one in share[~np.isnan(share)]}
    if n <= _VALUED and max(width_of(value, _VALUE_SIZE) for value in values) < cell:
        for row in range(n):
            for column in range(n):
                _value(axes, row, column, share[row, column])
    for stage_id, first, end in spans:
        axes.add_patch(_frame(first, end))
        stage = stages[stage_id]
        place = sheet.drawing(MARGIN, top + first * cell, strip - 1, (end - first) * cell)
        _stage_strip(place, stage, strip - 1, (end - first) * cell)
    if is_named:
        for at, name in enumerate(names):
            for size in (7.5, 6.5, 5.8):
                rows = max(1, int(cell / (size * 0.43)))
                shown = fitted(name, labels - 2, min(size, cell * 2.5), most=rows)
                if not shown.endswith("\u2026"):
                    break
            look = min(size, cell * 2.5)
            sheet.text(left + side + 1.5, top + (at + 0.5) * cell, shown, look, va="center")
    bar = sheet.axes(width - MARGIN - scale + 4, top + 6, 4, 28)
    bar.imshow(
        np.linspace(1, 0, 64)[:, None], cmap=shades, vmin=0, vmax=1, extent=(0, 1, 0, 1),
        aspect="auto", interpolation="none",
    )  # fmt: skip
    bar.set_xticks([])
    bar.yaxis.tick_right()
    bar.set_yticks([0, 0.5, 1])
    bar.set_yticklabels(["0", "0.5", "1"])
    sheet.text(width - MARGIN - scale + 4, top, "share", 8)
    write_note(sheet, note)
    return sheet


def _spans(stage_ids: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return each stage with its first place and the one after its last."""
    spans: list[tuple[int, int, int]] = []
    for place, stage_id in enumerate(stage_ids):
        if spans and spans[-1][0] == stage_id:
            spans[-1] = (stage_id, spans[-1][1], place + 1)
        else:
            spans.append((stage_id, place, place + 1))
    return spans


def _frame(first: int, end: int) -> Rectangle:
    from matplotlib.patches import Rectangle

    size = end - first
    return Rectangle(
        (first, first), size, size, fill=False, edgecolor="black", linewidth=1.0, clip_on=False
    )


def _stage_strip(axes: Axes, stage: Stage, width: float, height: float) -> None:
    from matplotlib.patches import Rectangle

    colour = face(stage)
    axes.add_patch(
        Rectangle((0, 0), width, height, facecolor=colour, edgecolor=INK, linewidth=0.4)
    )
    size = min(7.5, height * 2.5)
    if size >= 4:
        rows = max(1, int(height / (size * 0.43)))
        axes.text(
            width / 2, height / 2, fitted(title(stage), width - 0.6, size, most=rows),
            fontsize=size, ha="center", va="center", color=ink(colour), parse_math=False,
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


def _told(share: float) -> str:
    return f"{share:.2f}".rstrip("0").rstrip(".")


def _value(axes: Axes, row: int, column: int, share: float) -> None:
    if np.isnan(share):
        return
    colour = "white" if share > 0.55 else INK
    axes.text(
        column + 0.5, row + 0.5, _told(share), fontsize=_VALUE_SIZE, ha="center", va="center",
        color=colour,
    )  # fmt: skip
