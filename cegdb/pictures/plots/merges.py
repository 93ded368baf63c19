"""What AHC gained by each merge, with the cut at 0."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Final

from cegdb.pictures.merge_data import final_stages
from cegdb.pictures.plots.merge_axis import BEST, GAINS, beyond, hidden_merges, signed, ticks_of
from cegdb.pictures.plots.sheet import (
    FAINT,
    INK,
    MARGIN,
    WIDTH,
    Sheet,
    empty_sheet,
    fitted,
    note_height,
    sentences,
    some,
    write_note,
)
from cegdb.pictures.plots.stage_marks import face, title
from cegdb.pictures.style import Picture, styled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from cegdb.pictures.merge_data import Joined, Merges
    from cegdb.pictures.plot_data import Stage

_NAMED: Final = 40
_MOST: Final = 4_000  # merges
_LEFT: Final = 20.0  # mm of names and ticks


def draw_trace(
    found: Merges,
    more: Sequence[Joined],
    why_not: str,
    score: str,
    *,
    is_flat: bool = True,
    width_mm: float = WIDTH,
) -> Picture:
    """Draw what each merge gained, and what the merges that were not made would.

    Parameters
    ----------
    found
        The merges made.
    more, why_not
        Those that would follow, and why there are not all of them.
    score
        What gains are gains of.
    is_flat
        Whether no number of stages was likelier than another before the data.
    width_mm
        In millimetres.

    Examples
    --------
    >>> from cegdb.pictures.merge_data import Joined, Merges
    >>> made = Merges([Joined(1, 3, 2.0)], [], {}, {}, 0)
    >>> draw_trace(made, [Joined(1, 2, -4.0)], "", "log_marginal_likelihood").caption[:40]
    'The gain of each merge of stages, in the'
    """
    made, gain = found.made, GAINS[score]
    note = hidden_merges(found)
    with styled(map(title, found.stages)):
        if made or more:
            sheet = _draw(found, more, gain, note, width_mm, is_flat=is_flat)
        else:
            sheet = empty_sheet("There are no merges to show.", note, width_mm)
    where = "where no pair of stages gains any more" if is_flat else BEST
    return Picture(
        sheet.figure,
        sentences(
            f"The gain of each merge of stages, in the order made ({gain}, natural "
            "logarithm), and their sum: the dashed line is the cut, after "
            f"{some(len(made), 'merge')}, {where}",
            beyond(more, why_not, found.n_hidden),
            "Dots have the colour of the stage that the merge is part of"
            + (", which is named" if len(made) + len(more) <= _NAMED else "")
            if made
            else "",
            "The upper scale is linear from -1 to 1 and logarithmic beyond",
            f"Of the merges made, one of {_every(made):,} is drawn" if _every(made) > 1 else "",
            note,
        ),
    )


def _draw(
    found: Merges,
    more: Sequence[Joined],
    gain: str,
    note: str,
    width: float,
    *,
    is_flat: bool,
) -> Sheet:
    """Draw the gains above their sums, with the cut between what was made and the rest."""
    from matplotlib.ticker import MaxNLocator

    sheet = Sheet(width, 112 + note_height(note, width))
    room = width - _LEFT - MARGIN - 2
    upper = sheet.axes(_LEFT, 6, room, 44)
    lower = sheet.axes(_LEFT, 57, room, 44)
    gains = [one.gain for one in found.made]
    after = [one.gain for one in more]
    span = len(gains) + len(after) + 1
    _steps(upper, gains, after, found.made, {stage.stage_id: stage for stage in found.stages})
    _sums(lower, gains, after)
    for axes in (upper, lower):
        axes.set_xlim(0, span)
        axes.axvline(len(gains) + 0.5, color=INK, linewidth=0.9, linestyle="--", zorder=2)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.yaxis.set_label_coords(-15 / room, 0.5)
    upper.tick_params(labelbottom=False)
    upper.set_ylabel(fitted(gain, 44, 8), fontsize=8)
    lower.set_ylabel("sum since the start", fontsize=8)
    lower.set_xlabel("step", fontsize=8, labelpad=1)
    last = len(gains) + 0.5
    side, away = ("right", -1) if last > span / 2 else ("left", 1)
    text = "cut at 0: no pair gains" if is_flat else "cut: the best score"
    sheet.text(_LEFT + room * last / span + away, 2, text, 8, ha=side)
    write_note(sheet, note)
    return sheet


def _every(gains: Sequence[object]) -> int:
    """Return of how many merges one is drawn."""
    return -(-len(gains) // _MOST) or 1


def _sums(axes: Axes, gains: Sequence[float], after: Sequence[float]) -> None:
    """Draw the sum of the gains; what falls far below the start leaves the axes."""
    sums = [0.0, *accumulate(gains)]
    total = sums[-1]
    lows = [total + value for value in accumulate(after, initial=0.0)]
    span = len(gains) + len(after)
    shown = sorted({*range(0, len(sums), _every(gains)), len(sums) - 1})
    axes.plot(shown, [sums[at] for at in shown], color=INK, linewidth=1.2, zorder=3)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.9g}".replace("-", "\u2212"))
    axes.plot(
        range(len(gains), span + 1), lows, color=INK, linewidth=1, linestyle=":", zorder=3
    )
    floor = max(min(*sums, *lows), -max(total, 1.0))
    ceiling = max(sums)
    axes.set_ylim(floor - 0.06 * (ceiling - floor) - 1e-9, ceiling * 1.12 + 1e-9)
    if lows[-1] < floor:
        at = (len(gains) + 0.2) / (span + 1)
        where = (at, 0.05) if at > 0.4 else (0.995, 0.93)
        axes.text(
            *where, f"down to {signed(lows[-1], 1)} at step {span}", fontsize=8,
            ha="right", transform=axes.transAxes, color=INK, zorder=5,
        )  # fmt: skip


def _steps(
    axes: Axes,
    gains: Sequence[float],
    after: Sequence[float],
    made: Sequence[Joined],
    stages: Mapping[int, Stage],
) -> None:
    """Draw the gain of each step."""
    final = final_stages(made)
    axes.axhline(0, color=INK, linewidth=0.7)
    axes.set_yscale("symlog", linthresh=1, linscale=0.8)
    every = _every(gains)
    many = len(gains) + len(after) > 150
    size = 2.5 if many else 5
    if not many:
        axes.vlines(range(1, len(gains) + 1), 0, gains, color=FAINT, linewidth=0.7, zorder=1)
        later = range(len(gains) + 1, len(gains) + len(after) + 1)
        axes.vlines(later, 0, after, color=FAINT, linewidth=0.7, linestyle=":", zorder=1)
    by_colour: dict[str, list[int]] = {}
    for place, one in enumerate(made):
        if place % every and place < len(made) - 1:
            continue
        stage = stages.get(final[one.kept_id])
        by_colour.setdefault("#ffffff" if stage is None else face(stage), []).append(place)
        if stage is not None and len(gains) + len(after) <= _NAMED:
            axes.annotate(
                stage.stage, (place + 1, gains[place]), (0, 4), textcoords="offset points",
                fontsize=6.5, ha="center", parse_math=False,
            )  # fmt: skip
    for colour, places in sorted(by_colour.items()):
        axes.plot(
            [place + 1 for place in places], [gains[place] for place in places], "o",
            markersize=size, markerfacecolor=colour, markeredgecolor=INK,
            markeredgewidth=0 if len(gains) > 600 else 0.3 if many else 0.7, zorder=3,
        )  # fmt: skip
    axes.plot(
        range(len(gains) + 1, len(gains) + len(after) + 1), after, "D", markersize=size - 1,
        markerfacecolor="white", markeredgecolor=INK, markeredgewidth=0.6, zorder=3,
    )  # fmt: skip
    reach = [0.0, *gains, *after]
    axes.set_ylim(min(reach) * 1.6 - 0.5, max(reach) * 1.6 + 0.5)
    ticks = ticks_of(min(reach), max(reach))
    axes.set_yticks(ticks)
    axes.set_yticklabels([signed(tick) for tick in ticks])
    axes.minorticks_off()
