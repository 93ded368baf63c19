"""The tree of the merges of stages, cut at 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cegdb.pictures.merge_data import final_stages
from cegdb.pictures.plots.merge_axis import BEST, GAINS, hidden_merges, signed, ticks_of
from cegdb.pictures.plots.sheet import (
    INK,
    MARGIN,
    WIDTH,
    Sheet,
    empty_sheet,
    fitted,
    height_of,
    note_height,
    people,
    sentences,
    width_of,
    write_note,
)
from cegdb.pictures.plots.stage_marks import COLOURS, face, title
from cegdb.pictures.style import Picture, styled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from cegdb.pictures.merge_data import Merges, Tip
    from cegdb.pictures.plot_data import Stage
    from cegdb.pictures.plots.merge_trees import Node

_ROW: Final = 4.4


def draw_dendrogram(
    found: Merges,
    roots: Sequence[Node],
    tips: Mapping[int, Tip],
    said: Sequence[str],
    score: str,
    *,
    is_flat: bool = True,
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
    is_flat
        Whether no number of stages was likelier than another before the data.
    width_mm
        In millimetres.

    Examples
    --------
    >>> from cegdb.pictures.plots.merge_trees import Node
    >>> from cegdb.pictures.plot_data import Situation
    >>> from cegdb.pictures.merge_data import Merges, Tip
    >>> tips = {3: Tip(Situation(3, "s3", 3, 9, ("yes",)), 1, 9)}
    >>> nothing = Merges([], [], {}, {}, 0)
    >>> draw_dendrogram(nothing, [Node(3)], tips, [], "bic").caption[:27]
    'Situations and the stages t'
    """
    gain = GAINS[score]
    stages = {stage.stage_id: stage for stage in found.stages}
    note = ". ".join(part for part in (*said[1:], hidden_merges(found)) if part)
    texts = [label for tip in tips.values() for label in tip.first.path]
    texts += [title(stage) for stage in found.stages]
    texts += [name for name in found.variable.values() if name]
    with styled(texts):
        sheet = _draw_trees(found, roots, tips, stages, gain, note, width_mm)
    cut = (
        "The dashed line is the cut at 0: merges to its left were made, and the branches that "
        "cross it are the stages, named there"
        if is_flat
        else f"The dashed line is 0; merges were made up to the stages that are named, {BEST}"
    )
    return Picture(
        sheet.figure,
        sentences(
            "Situations and the stages they were merged to, by variable: two branches meet "
            f"at the {gain} of their merge (natural logarithm; scale linear from -1 to 1), "
            f"and not before their own parts met. {cut}; n are people",
            COLOURS,
            *said,
            hidden_merges(found),
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
        return empty_sheet("There are no merges to show.", note, width)
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
    ticks = ticks_of(low, top)
    axes.set_xticks(ticks)
    axes.set_xticklabels([signed(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_ylim(high, 0)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(gain, fontsize=8, labelpad=1)
    axes.axvline(0, color=INK, linewidth=0.9, linestyle="--", zorder=1)
    y = 0.0
    for name, trees in by_variable.items():
        head = fitted(name, width - 2 * MARGIN, 8.5, most=1, bold=True)
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
        return node.height if node.parts else min(node.start, start)

    def line(xs: Sequence[float], ys: Sequence[float], node: Node) -> None:
        stage = stages.get(stage_of.get(id(node), -1))
        colour = "#ffffff" if stage is None else face(stage)
        is_plain = colour == "#ffffff"
        axes.plot(
            xs,
            ys,
            color=INK,
            linewidth=0.8 if is_plain else 2.8,
            zorder=2,
            clip_on=False,
            solid_capstyle="butt",
        )
        if not is_plain:
            axes.plot(
                xs,
                ys,
                color=colour,
                linewidth=1.8,
                zorder=3,
                clip_on=False,
                solid_capstyle="butt",
            )

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
                _name_stage(axes, stages.get(stage_of[id(part)]), min(0.0, part.height), y)
        line([node.height] * 2, ys, node)
    y = place[id(root)]
    line([begin(root), finish], [y, y], root)
    if root.is_made:
        _name_stage(axes, stages.get(stage_of[id(root)]), min(0.0, root.height), y)


def _name_stage(axes: Axes, stage: Stage | None, x: float, y: float) -> None:
    if stage is None:
        return
    axes.text(
        x, y, fitted(title(stage), 30, 7.5, most=1), fontsize=7.5, ha="center", va="center",
        zorder=5, parse_math=False, weight="bold",
        bbox={"facecolor": "white", "edgecolor": INK, "linewidth": 0.5, "pad": 1.2},
    )  # fmt: skip
