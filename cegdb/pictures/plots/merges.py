"""What each merge of stages gained, with the cut at 0."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Final

from cegdb.graphs.label_text import WHITE
from cegdb.pictures.captions import GAINS, hidden_note, merges_caption
from cegdb.pictures.merge_trees import final_stages
from cegdb.pictures.plots.merge_axis import format_signed, label_gains
from cegdb.pictures.plots.sheet import (
    BLACK,
    GREY,
    MARGIN,
    WIDTH,
    Sheet,
    empty_sheet,
    fit_text,
)
from cegdb.pictures.plots.stage_marks import fill_colour, stage_title
from cegdb.pictures.style import Picture, figure_style

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from cegdb.pictures.merge_data import MergeCriterion, Merges

_NAMED: Final = 40
_MOST: Final = 4_000  # merges
_LEFT: Final = 20.0  # mm of names and ticks
_CUTS: Final[Mapping[MergeCriterion, str]] = {
    "score": "cut at 0: no merge improves the score",
    "size": "cut: the best score",
    "test": "cut: stages that tests tell apart",
}


def draw_merges(merges: Merges, *, width_mm: float = WIDTH) -> Picture:
    """Draw what each merge gained, and what the merges that were not made would."""
    made, n = merges.made, len(merges.made) + len(merges.further)
    note = hidden_note(merges)
    with figure_style(map(stage_title, merges.stages)):
        if n:
            sheet = _draw(merges, note, width_mm)
        else:
            sheet = empty_sheet("There are no merges to show.", note, width_mm)
    caption = merges_caption(merges, is_named=n <= _NAMED, every=_every(made))
    return Picture(sheet.figure, caption)


def _draw(merges: Merges, note: str, width: float) -> Sheet:
    """Draw the gains above their sums, with the cut between what was made and the rest."""
    from matplotlib.ticker import MaxNLocator

    sheet = Sheet(width, 112, note)
    room = width - _LEFT - MARGIN - 2
    upper = sheet.axes(_LEFT, 6, room, 44)
    lower = sheet.axes(_LEFT, 57, room, 44)
    gains = [one.log_bayes_factor for one in merges.made]
    after = [one.log_bayes_factor for one in merges.further]
    span = len(gains) + len(after) + 1
    _draw_gains(upper, gains, after, merges)
    _draw_sums(lower, gains, after)
    for axes in (upper, lower):
        axes.set_xlim(0, span)
        axes.axvline(len(gains) + 0.5, color=BLACK, linewidth=0.9, linestyle="--", zorder=2)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.yaxis.set_label_coords(-15 / room, 0.5)
    upper.tick_params(labelbottom=False)
    upper.set_ylabel(fit_text(GAINS[merges.score], 44, 8), fontsize=8)
    lower.set_ylabel("sum of gains", fontsize=8)
    lower.set_xlabel("step", fontsize=8, labelpad=1)
    last = len(gains) + 0.5
    side, away = ("right", -1) if last > span / 2 else ("left", 1)
    sheet.text(_LEFT + room * last / span + away, 2, _CUTS[merges.criterion], 8, ha=side)
    return sheet


def _every(gains: Sequence[object]) -> int:
    """Return of how many merges one is drawn."""
    return -(-len(gains) // _MOST) or 1


def _draw_sums(axes: Axes, gains: Sequence[float], after: Sequence[float]) -> None:
    """Draw the sum of the gains; what falls far below the start leaves the axes."""
    sums = [0.0, *accumulate(gains)]
    total = sums[-1]
    lows = [total + value for value in accumulate(after, initial=0.0)]
    span = len(gains) + len(after)
    shown = sorted({*range(0, len(sums), _every(gains)), len(sums) - 1})
    axes.plot(shown, [sums[step] for step in shown], color=BLACK, linewidth=1.2, zorder=3)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.9g}".replace("-", "\u2212"))
    axes.plot(
        range(len(gains), span + 1), lows, color=BLACK, linewidth=1, linestyle=":", zorder=3
    )
    floor = max(min(*sums, *lows), -max(total, 1.0))
    ceiling = max(sums)
    axes.set_ylim(floor - 0.06 * (ceiling - floor) - 1e-9, ceiling * 1.12 + 1e-9)
    if lows[-1] < floor:
        right = (len(gains) + 0.2) / (span + 1)
        where = (right, 0.05) if right > 0.4 else (0.995, 0.93)
        axes.text(
            *where, f"down to {format_signed(lows[-1], 1)} at step {span}", fontsize=8,
            ha="right", transform=axes.transAxes, color=BLACK, zorder=5,
        )  # fmt: skip


def _draw_gains(
    axes: Axes, gains: Sequence[float], after: Sequence[float], merges: Merges
) -> None:
    """Draw the gain of each step."""
    made, stages = merges.made, {stage.stage_id: stage for stage in merges.stages}
    final = final_stages(made)
    axes.axhline(0, color=BLACK, linewidth=0.7)
    axes.set_yscale("symlog", linthresh=1, linscale=0.8)
    every = _every(gains)
    many = len(gains) + len(after) > 150
    size = 2.5 if many else 5
    if not many:
        axes.vlines(range(1, len(gains) + 1), 0, gains, color=GREY, linewidth=0.7, zorder=1)
        later = range(len(gains) + 1, len(gains) + len(after) + 1)
        axes.vlines(later, 0, after, color=GREY, linewidth=0.7, linestyle=":", zorder=1)
    by_colour: dict[str, list[int]] = {}
    for index, one in enumerate(made):
        if index % every and index < len(made) - 1:
            continue
        stage = stages.get(final[one.kept_id])
        colour = WHITE if stage is None else fill_colour(stage)
        by_colour.setdefault(colour, []).append(index)
        if stage is not None and len(gains) + len(after) <= _NAMED:
            axes.annotate(
                stage.stage, (index + 1, gains[index]), (0, 4), textcoords="offset points",
                fontsize=6.5, ha="center", parse_math=False,
            )  # fmt: skip
    for colour, indexes in sorted(by_colour.items()):
        axes.plot(
            [index + 1 for index in indexes], [gains[index] for index in indexes], "o",
            markersize=size, markerfacecolor=colour, markeredgecolor=BLACK,
            markeredgewidth=0 if len(gains) > 600 else 0.3 if many else 0.7, zorder=3,
        )  # fmt: skip
    axes.plot(
        range(len(gains) + 1, len(gains) + len(after) + 1), after, "D", markersize=size - 1,
        markerfacecolor="white", markeredgecolor=BLACK, markeredgewidth=0.6, zorder=3,
    )  # fmt: skip
    reach = [0.0, *gains, *after]
    axes.set_ylim(min(reach) * 1.6 - 0.5, max(reach) * 1.6 + 0.5)
    label_gains(axes.yaxis, min(reach), max(reach))
