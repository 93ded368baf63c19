"""The tree of the merges of stages, cut at 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cegdb.graphs.label_text import WHITE
from cegdb.pictures.captions import GAINS, dendrogram_caption, dendrogram_notes
from cegdb.pictures.merge_trees import final_stages
from cegdb.pictures.plots.merge_axis import label_gains
from cegdb.pictures.plots.sheet import (
    BLACK,
    MARGIN,
    WIDTH,
    Sheet,
    empty_sheet,
    fit_text,
    height_of,
    plain_axis,
    width_of,
)
from cegdb.pictures.plots.stage_marks import fill_colour, stage_title
from cegdb.pictures.style import Picture, figure_style
from cegdb.render.writers import format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from cegdb.pictures.merge_data import Dendrogram, Leaf, Merges
    from cegdb.pictures.merge_trees import MergeNode
    from cegdb.pictures.plot_data import Stage

_ROW: Final = 4.4  # mm, at least
_HEADING: Final = 6.5  # mm
_TOP: Final = 4.0  # mm


def draw_dendrogram(dendrogram: Dendrogram, *, width_mm: float = WIDTH) -> Picture:
    """Draw the tree of merges of each hyperstage, cut at 0 into stages."""
    merges = dendrogram.merges
    texts = [label for leaf in dendrogram.leaves.values() for label in leaf.first.path]
    texts += [stage_title(stage) for stage in merges.stages]
    texts += [name for name in merges.variable.values() if name]
    note = ". ".join(filter(None, dendrogram_notes(dendrogram)))
    with figure_style(texts):
        sheet = _draw_trees(dendrogram, note, width_mm)
    return Picture(sheet.figure, dendrogram_caption(dendrogram))


def _draw_trees(dendrogram: Dendrogram, note: str, width: float) -> Sheet:
    merges, roots, leaves = dendrogram.merges, dendrogram.roots, dendrogram.leaves
    if not roots:
        return empty_sheet("There are no merges to show.", note, width)
    trees_of = _trees_by_variable(roots, merges)
    texts = {stage_id: _leaf_text(leaf) for stage_id, leaf in leaves.items()}
    label_room = min(max(width_of(text, 8) for text in texts.values()) + 1, width * 0.42)
    texts = {key: fit_text(text, label_room, 8, most=3) for key, text in texts.items()}
    row_height = {key: max(_ROW, height_of(text, 8) + 0.9) for key, text in texts.items()}
    n_room = max(width_of(format_count(leaf.n), 8) for leaf in leaves.values()) + 3
    left = MARGIN + label_room + n_room
    leaf_ids = [node.stage_id for root in roots for node in root.leaves()]
    height = sum(row_height[stage_id] for stage_id in leaf_ids) + len(trees_of) * _HEADING
    sheet = Sheet(width, height + 16, note)
    axes = sheet.axes(left, _TOP, width - left - MARGIN - 2, height)
    axes.set_ylim(height, 0)
    across = _gain_axis(axes, roots, GAINS[merges.score])
    y = 0.0
    for name, trees in trees_of.items():
        head = fit_text(name, width - 2 * MARGIN, 8.5, most=1, bold=True)
        sheet.text(MARGIN, _TOP + y + 5.2, head, 8.5, va="bottom", weight="bold")
        y += _HEADING
        for root in trees:
            y_of = {}
            for node in root.leaves():
                key = node.stage_id
                y_of[id(node)] = middle = y + row_height[key] / 2
                sheet.text(MARGIN, _TOP + middle, texts[key], 8, va="center")
                n = format_count(leaves[key].n)
                sheet.text(left - 2, _TOP + middle, n, 8, va="center", ha="right")
                y += row_height[key]
            _draw_tree(axes, root, y_of, merges, across)
    return sheet


def _trees_by_variable(
    roots: Sequence[MergeNode], merges: Merges
) -> dict[str, list[MergeNode]]:
    """Return the trees below the heading of each variable."""
    trees_of: dict[str, list[MergeNode]] = {}
    for root in roots:
        hyperstage = merges.hyperstage.get(_stage_of(root, merges), -1)
        name = merges.variable.get(hyperstage) or "several variables"
        trees_of.setdefault(name, []).append(root)
    return trees_of


def _gain_axis(axes: Axes, roots: Sequence[MergeNode], title: str) -> tuple[float, float]:
    """Draw the axis of gains, largest first, and the cut; return its ends."""
    gains = [node.height for root in roots for node in _inner_nodes(root)]
    least, most = min([0.0, *gains]), max([0.0, *gains])
    start, finish = most * 1.5 + 0.5, least * 1.5 - 0.5
    axes.set_xscale("symlog", linthresh=1, linscale=0.8)
    axes.set_xlim(start, finish)
    label_gains(axes.xaxis, least, most)
    plain_axis(axes)
    axes.set_xlabel(title, fontsize=8, labelpad=1)
    axes.axvline(0, color=BLACK, linewidth=0.9, linestyle="--", zorder=1)
    return start, finish


def _stage_of(node: MergeNode, merges: Merges) -> int:
    """Return a stage of the staging that is in a tree: the one of its smallest situation."""
    if node.stage_id in merges.hyperstage:
        return node.stage_id
    return final_stages(merges.made).get(node.stage_id, node.stage_id)


def _leaf_text(leaf: Leaf) -> str:
    """Return the situation of a leaf and the answers that lead there, and how many more."""
    path = " \u203a ".join(leaf.first.path) or "the root"
    more = f" and {leaf.n_situations - 1:,} more" if leaf.n_situations > 1 else ""
    return f"{leaf.first.situation}{more}  {path}"


def _inner_nodes(root: MergeNode) -> list[MergeNode]:
    """Return the merges of a tree, its parts before it."""
    inner, stack = [], [root]
    while stack:
        node = stack.pop()
        if node.parts:
            inner.append(node)
            stack.extend(node.parts)
    return inner[::-1]


def _draw_tree(
    axes: Axes,
    root: MergeNode,
    y_of: dict[int, float],
    merges: Merges,
    across: tuple[float, float],
) -> None:
    """Draw a tree whose leaves have their y; stages are named where they cross the cut."""
    start, finish = across
    stages = {stage.stage_id: stage for stage in merges.stages}
    stage_of: dict[int, int] = {}

    def begin(node: MergeNode) -> float:
        return node.height if node.parts else min(node.start, start)

    def line(xs: Sequence[float], ys: Sequence[float], node: MergeNode) -> None:
        stage = stages.get(stage_of.get(id(node), -1))
        colour = WHITE if stage is None else fill_colour(stage)
        strokes = [(BLACK, 0.8)] if colour == WHITE else [(BLACK, 2.8), (colour, 1.8)]
        for zorder, (stroke, width) in enumerate(strokes, start=2):
            axes.plot(
                xs, ys, color=stroke, linewidth=width, zorder=zorder, clip_on=False,
                solid_capstyle="butt",
            )  # fmt: skip

    final = final_stages(merges.made)
    inner = _inner_nodes(root)
    for node in [*root.leaves(), *inner]:
        if node.is_made:
            stage_of[id(node)] = final.get(node.stage_id, node.stage_id)
    for node in inner:
        ys = [y_of[id(part)] for part in node.parts]
        y_of[id(node)] = sum(ys) / len(ys)
        for part, y in zip(node.parts, ys, strict=True):
            line([begin(part), node.height], [y, y], part)
            if part.is_made and not node.is_made:
                _name_stage(axes, stages.get(stage_of[id(part)]), min(0.0, part.height), y)
        line([node.height] * 2, ys, node)
    y = y_of[id(root)]
    line([begin(root), finish], [y, y], root)
    if root.is_made:
        _name_stage(axes, stages.get(stage_of[id(root)]), min(0.0, root.height), y)


def _name_stage(axes: Axes, stage: Stage | None, x: float, y: float) -> None:
    if stage is None:
        return
    axes.text(
        x, y, fit_text(stage_title(stage), 30, 7.5, most=1), fontsize=7.5, ha="center",
        va="center", zorder=5, parse_math=False, weight="bold",
        bbox={"facecolor": "white", "edgecolor": BLACK, "linewidth": 0.5, "pad": 1.2},
    )  # fmt: skip
