"""What AHC merged: the gain of each step, and the tree of the merges, cut at 0."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Final

from cegdb.figures.plots.sheet import (
    FAINT,
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
from cegdb.figures.plots.stagemarks import COLOURS, face, title
from cegdb.figures.style import Picture, styled
from cegdb.query.plottedmerges import final_stages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from cegdb.figures.plots.forest import Node
    from cegdb.query.plotted import Stage
    from cegdb.query.plottedmerges import Joined, Merges, Tip

GAINS: Final = {
    "log_marginal_likelihood": "log Bayes factor",
    "bic": "half the fall of BIC",
    "aic": "half the fall of AIC",
    "log_likelihood": "log likelihood gained",
}
_NAMED: Final = 40
_ROW: Final = 4.4


def draw_trace(
    found: Merges, more: Sequence[Joined], why_not: str, score: str, *, width_mm: float = WIDTH
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
    width_mm
        In millimetres.

    Examples
    --------
    >>> from cegdb.query.plottedmerges import Joined, Merges
    >>> made = Merges([Joined(1, 3, 2.0)], [], {}, {}, 0)
    >>> draw_trace(made, [Joined(1, 2, -4.0)], "", "log_marginal_likelihood").caption[:40]
    'The gain of each merge of stages, in the'
    """
    gain = GAINS[score]
    made = found.made
    stages = {stage.stage_id: stage for stage in found.stages}
    note = _hidden(found)
    with styled(map(title, found.stages)):
        sheet = Sheet(width_mm, 112 + note_height(note, width_mm))
        left = 20.0
        room = width_mm - left - MARGIN - 2
        upper = sheet.axes(left, 6, room, 44)
        lower = sheet.axes(left, 57, room, 44)
        gains = [one.gain for one in made]
        after = [one.gain for one in more]
        steps = range(1, len(gains) + 1)
        later = range(len(gains) + 1, len(gains) + len(after) + 1)
        _steps(upper, gains, after, made, stages)
        sums = list(accumulate(gains))
        lower.plot([0, *steps], [0, *sums], color=INK, linewidth=1.2, zorder=3)
        total = sums[-1] if sums else 0.0
        lows = [total + value for value in accumulate(after)]
        lower.plot(
            [len(gains), *later], [total, *lows], color=INK, linewidth=1, linestyle=":", zorder=3
        )
        floor = max(min([0.0, total, *lows]), -max(total, 1.0))
        ceiling = max([total, 0.0, *sums])
        lower.set_ylim(floor - 0.06 * (ceiling - floor) - 1e-9, ceiling * 1.12 + 1e-9)
        span = len(gains) + len(after) + 1
        if lows and lows[-1] < floor:
            at = (len(gains) + 0.2) / span
            where = (at, 0.05) if at > 0.4 else (0.995, 0.93)
            lower.text(
                *where, f"down to {_signed(lows[-1], 1)} at step {span - 1}", fontsize=8,
                ha="right", transform=lower.transAxes, color=INK, zorder=5,
            )  # fmt: skip
        for axes in (upper, lower):
            axes.set_xlim(0, span)
            axes.axvline(len(gains) + 0.5, color=INK, linewidth=0.9, linestyle="--", zorder=2)
            axes.xaxis.get_major_locator().set_params(integer=True)
        upper.tick_params(labelbottom=False)
        upper.set_ylabel(fitted(gain, 44, 8), fontsize=8)
        lower.set_ylabel("sum since the start", fontsize=8)
        lower.set_xlabel("step", fontsize=8, labelpad=1)
        for axes in (upper, lower):
            axes.yaxis.set_label_coords(-15 / room, 0.5)
        last = len(gains) + 0.5
        side = "right" if last > span / 2 else "left"
        dx = -1 if side == "right" else 1
        x = left + room * last / span + dx
        sheet.text(x, 2, "cut at 0: no pair gains", 8, ha=side)
        write_note(sheet, note)
    return Picture(
        sheet.figure,
        sentences(
            [
                f"The gain of each merge of stages, in the order made ({gain}, natural "
                "logarithm), and their sum: the dashed line is the cut, after "
                f"{some(len(made), 'merge')}, where no pair of stages gains any more",
                _continuation(more, why_not),
                "Dots have the colour of the stage that the merge is part of"
                + (", which is named" if len(made) + len(more) <= _NAMED else "")
                if made
                else "",
                "The upper scale is linear from -1 to 1 and logarithmic beyond",
                note,
            ]
        ),
    )


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
    many = len(gains) + len(after) > 150
    size = 2.5 if many else 5
    if not many:
        axes.vlines(range(1, len(gains) + 1), 0, gains, color=FAINT, linewidth=0.7, zorder=1)
        later = range(len(gains) + 1, len(gains) + len(after) + 1)
        axes.vlines(later, 0, after, color=FAINT, linewidth=0.7, linestyle=":", zorder=1)
    by_colour: dict[str, list[int]] = {}
    for place, one in enumerate(made):
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
            markeredgewidth=0.3 if many else 0.7, zorder=3,
        )  # fmt: skip
    axes.plot(
        range(len(gains) + 1, len(gains) + len(after) + 1), after, "D", markersize=size - 1,
        markerfacecolor="white", markeredgecolor=INK, markeredgewidth=0.6, zorder=3,
    )  # fmt: skip
    every = [0.0, *gains, *after]
    axes.set_ylim(min(every) * 1.6 - 0.5, max(every) * 1.6 + 0.5)
    ticks = _ticks(min(every), max(every))
    axes.set_yticks(ticks)
    axes.set_yticklabels([_signed(tick) for tick in ticks])
    axes.minorticks_off()


def _signed(value: float, digits: int = 0) -> str:
    return f"{value:,.{digits}f}".replace("-", "\u2212")


def _ticks(low: float, high: float) -> list[float]:
    """Return 0 and, on both sides, powers of ten, or 1, 2, 5 and 10 where these are few."""
    found = [0.0]
    for sign, reach in ((1, high), (-1, -low)):
        if reach < 20:
            found += [sign * tick for tick in (1.0, 2.0, 5.0, 10.0) if tick <= reach]
            continue
        power, step = 0, 1 if reach < 10**4 else 2
        while 10**power <= reach:
            found.append(sign * 10.0**power)
            power += step
    return sorted(found)


def draw_dendrogram(
    found: Merges,
    roots: Sequence[Node],
    tips: Mapping[int, Tip],
    said: Sequence[str],
    score: str,
    *,
    width_mm: float = WIDTH,
) -> Picture:
    """Draw the tree of merges of each hyperstage, cut at 0 into stages.

    Parameters
    ----------
    found
        The merges made.
    roots
        The trees, as many ends as there is room for.
    tips
        What their ends are.
    said
        Further sentences of the caption: what would follow, what was left out.
    score
        What gains are gains of.
    width_mm
        In millimetres.

    Examples
    --------
    >>> from cegdb.figures.plots.forest import Node
    >>> from cegdb.query.plotted import Situation
    >>> from cegdb.query.plottedmerges import Merges, Tip
    >>> tips = {3: Tip(Situation(3, "s3", 3, 9, ("yes",)), 1, 9)}
    >>> nothing = Merges([], [], {}, {}, 0)
    >>> draw_dendrogram(nothing, [Node(3)], tips, [], "bic").caption[:27]
    'Situations and the stages t'
    """
    gain = GAINS[score]
    stages = {stage.stage_id: stage for stage in found.stages}
    note = ". ".join(part for part in (*said[1:], _hidden(found)) if part)
    texts = [label for tip in tips.values() for label in tip.first.path]
    texts += [title(stage) for stage in found.stages]
    texts += [name for name in found.variable.values() if name]
    with styled(texts):
        sheet = _draw_trees(found, roots, tips, stages, gain, note, width_mm)
    return Picture(
        sheet.figure,
        sentences(
            [
                "Situations and the stages they were merged to, by variable: two branches meet "
                f"at the {gain} of their merge (natural logarithm; scale linear from -1 to 1), "
                "and not before their own parts met. The dashed line is the cut at 0: merges "
                "to its left were made, and the branches that cross it are the stages, "
                "named there; n are people",
                COLOURS,
                *said,
                _hidden(found),
            ]
        ),
    )


def _draw_trees(
    found: Merges,
    roots: Sequence[Node],
    tips: Mapping[int, Tip],
    stages: Mapping[int, Stage],
    gain: str,
    note: str,
    width: float,
) -> Sheet:
    by_variable: dict[str, list[Node]] = {}
    for root in roots:
        stage_id = _stage_of(root, found)
        name = found.variable.get(found.hyperstage.get(stage_id, -1)) or "several variables"
        by_variable.setdefault(name, []).append(root)
    ends = [end for root in roots for end in root.ends()]
    if not ends:
        sheet = Sheet(width, 12 + note_height(note, width))
        sheet.text(MARGIN, MARGIN + 1, "There are no merges to show.")
        write_note(sheet, note)
        return sheet
    names = {end.stage_id: _end_name(tips[end.stage_id]) for end in ends}
    widest = max([width_of(name, 8) for name in names.values()], default=0.0)
    label_room = min(widest + 1, width * 0.42)
    names = {key: fitted(name, label_room, 8, most=3) for key, name in names.items()}
    tall = {key: max(_ROW, height_of(name, 8) + 0.9) for key, name in names.items()}
    n_room = max([width_of(people(tips[e.stage_id].n), 8) for e in ends], default=0) + 3
    left = MARGIN + label_room + n_room
    room = width - left - MARGIN - 2
    high = sum(tall[end.stage_id] for end in ends) + len(by_variable) * 6.5
    sheet = Sheet(width, high + 16 + note_height(note, width))
    axes = sheet.axes(left, 4, room, high)
    heights = [node.height for root in roots for node in _joins(root)]
    low, top = min([0.0, *heights]), max([0.0, *heights])
    axes.set_xscale("symlog", linthresh=1, linscale=0.8)
    start, finish = top * 1.5 + 0.5, low * 1.5 - 0.5
    axes.set_xlim(start, finish)
    ticks = _ticks(low, top)
    axes.set_xticks(ticks)
    axes.set_xticklabels([_signed(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_ylim(high, 0)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(gain, fontsize=8, labelpad=1)
    axes.axvline(0, color=INK, linewidth=0.9, linestyle="--", zorder=1)
    y = 0.0
    for name, trees in by_variable.items():
        head = fitted(name, width - 2 * MARGIN, 8.5, most=1)
        sheet.text(MARGIN, 4 + y + 5.2, head, 8.5, va="bottom", weight="bold")
        y += 6.5
        for root in trees:
            place = {}
            for end in root.ends():
                middle = y + tall[end.stage_id] / 2
                place[id(end)] = middle
                sheet.text(MARGIN, 4 + middle, names[end.stage_id], 8, va="center")
                n = people(tips[end.stage_id].n)
                sheet.text(left - 2, 4 + middle, n, 8, va="center", ha="right")
                y += tall[end.stage_id]
            _draw_tree(axes, root, place, found, stages, (start, finish))
    write_note(sheet, note)
    return sheet


def _stage_of(node: Node, found: Merges) -> int:
    """Return a stage of the staging that is in a tree: the one of its smallest situation."""
    if node.stage_id in found.hyperstage:
        return node.stage_id
    return final_stages(found.made).get(node.stage_id, node.stage_id)


def _end_name(tip: Tip) -> str:
    """Return the situation of an end in words, or how many there are."""
    path = " \u203a ".join(tip.first.path) or "the root"
    more = f" and {tip.n_situations - 1:,} more" if tip.n_situations > 1 else ""
    return f"{tip.first.situation}{more}  {path}"


def _joins(root: Node) -> list[Node]:
    """Return the joins of a tree, its parts before it."""
    found, stack = [], [root]
    while stack:
        node = stack.pop()
        if node.parts:
            found.append(node)
            stack.extend(node.parts)
    return found[::-1]


def _draw_tree(
    axes: Axes,
    root: Node,
    place: dict[int, float],
    found: Merges,
    stages: Mapping[int, Stage],
    across: tuple[float, float],
) -> None:
    """Draw a tree whose ends are placed; stages are named where they cross the cut."""
    start, finish = across
    stage_of: dict[int, int] = {}

    def begin(node: Node) -> float:
        return node.height if node.parts else start

    def line(xs: Sequence[float], ys: Sequence[float], node: Node) -> None:
        stage = stages.get(stage_of.get(id(node), -1))
        colour = "#ffffff" if stage is None else face(stage)
        is_plain = colour == "#ffffff"
        axes.plot(xs, ys, color=INK, linewidth=0.8 if is_plain else 2.8, zorder=2, clip_on=False, solid_capstyle="butt")
        if not is_plain:
            axes.plot(xs, ys, color=colour, linewidth=1.8, zorder=3, clip_on=False, solid_capstyle="butt")

    final = final_stages(found.made)
    joins = _joins(root)
    for node in [*root.ends(), *joins]:
        if node.is_made:
            stage_of[id(node)] = final.get(node.stage_id, node.stage_id)
    for node in joins:
        ys = [place[id(part)] for part in node.parts]
        place[id(node)] = sum(ys) / len(ys)
        for part, y in zip(node.parts, ys, strict=True):
            line([begin(part), node.height], [y, y], part)
            if part.is_made and not node.is_made:
                _name_stage(axes, stages.get(stage_of[id(part)]), y)
        line([node.height] * 2, ys, node)
    y = place[id(root)]
    line([begin(root), finish], [y, y], root)
    if root.is_made:
        _name_stage(axes, stages.get(stage_of[id(root)]), y)


def _name_stage(axes: Axes, stage: Stage | None, y: float) -> None:
    if stage is None:
        return
    axes.text(
        0, y, fitted(title(stage), 30, 7.5, most=1), fontsize=7.5, ha="center", va="center",
        zorder=5, parse_math=False, weight="bold",
        bbox={"facecolor": "white", "edgecolor": INK, "linewidth": 0.5, "pad": 1.2},
    )  # fmt: skip


def _continuation(more: Sequence[Joined], why_not: str) -> str:
    if why_not:
        return f"What would follow beyond the cut is not all shown: {why_not}"
    if not more:
        return "Beyond the cut nothing is left to merge"
    return (
        f"Beyond the cut {'is' if len(more) == 1 else 'are'} the {some(len(more), 'merge')} "
        "that would follow if the pair that loses least were merged on: calculated for this "
        "figure, not part of the staging"
    )


def _hidden(found: Merges) -> str:
    if not found.n_hidden:
        return ""
    return (
        f"{some(found.n_hidden, 'merge')} of hyperstages with hidden small counts left out, as "
        "these could be calculated from them"
    )


def beyond(more: Sequence[Joined], why_not: str) -> str:
    """Return the sentence that says what is drawn beyond the cut.

    Examples
    --------
    >>> beyond([], "")
    'Beyond the cut nothing is left to merge'
    """
    return _continuation(more, why_not)
