"""Two stagings of one tree, side by side: matched stages have one colour."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from cegdb.errors import counted
from cegdb.graphs.label_text import WHITE
from cegdb.pictures.captions import difference_caption
from cegdb.pictures.plot_data import REST
from cegdb.pictures.plots.ribbons import (
    PLAIN,
    REST_COLOUR,
    REST_STYLE,
    draw_block,
    draw_hidden,
    draw_ribbon,
    lighten,
    write_in,
)
from cegdb.pictures.plots.sheet import BLACK, MARGIN, WIDTH, Sheet, fit_text, height_of
from cegdb.pictures.plots.stage_marks import fill_colour, largest, stage_title
from cegdb.pictures.style import Picture, figure_style

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from matplotlib.axes import Axes

    from cegdb.pictures.plot_data import Overlap, Stage

_BAR_WIDTH: Final = 9.0
_PEOPLE_HEIGHT: Final = 62.0  # mm that all people of a variable take
_GAP: Final = 3.6
_MOST_PANELS: Final = 12

Pair = tuple[int, int]


class StagingPair(NamedTuple):
    """Two stagings of one tree: their stages by id, what they share, and matched pairs."""

    names: tuple[str, str]
    stages: Mapping[int, Stage]
    others: Mapping[int, Stage]
    overlaps: Sequence[Overlap]
    matched: Collection[Pair]

    def is_matched(self, overlap: Overlap) -> bool:
        """Return whether the two stages are matched."""
        return (overlap.stage_id, overlap.other_id) in self.matched


def draw_difference(
    compared: StagingPair,
    variables: Sequence[str],
    palette: Sequence[str],
    *,
    width_mm: float = WIDTH,
    most: int = 10,
) -> Picture:
    """Draw how the stages of one staging lie in those of another, by variable.

    ``palette`` colours stages of the second staging that match none of the first; of a variable
    and staging ``most`` stages are drawn, the others together.
    """
    by_variable: dict[str, list[Overlap]] = defaultdict(list)
    for one in compared.overlaps:
        by_variable[one.variable].append(one)
    unmatched = [one for one in compared.overlaps if not compared.is_matched(one)]
    with_differences = {one.variable for one in unmatched}
    differing = [name for name in variables if name in with_differences]
    equal = [name for name in variables if name in by_variable and name not in differing]
    notes = []
    if equal:
        notes.append(f"No difference: {', '.join(equal)}")
    if more := differing[_MOST_PANELS:]:
        notes.append(f"Not shown: {counted(len(more), 'further variable')} with differences")
    panels = [
        _Panel(compared, by_variable[name], name, most) for name in differing[:_MOST_PANELS]
    ]
    notes += [panel.note for panel in panels if panel.note]
    stages = (*compared.stages.values(), *compared.others.values())
    with figure_style([*compared.names, *variables, *map(stage_title, stages)]):
        sheet = _draw(compared, panels, _colours(compared, palette), ". ".join(notes), width_mm)
    caption = difference_caption(compared.names, compared.overlaps, unmatched, notes)
    return Picture(sheet.figure, caption)


def _colours(
    compared: StagingPair, palette: Sequence[str]
) -> tuple[dict[int, str], dict[int, str]]:
    """Return the colours of the stages of both: matched ones alike."""
    left = {stage_id: fill_colour(stage) for stage_id, stage in compared.stages.items()}
    right: dict[int, str] = {}
    free = [colour for colour in palette if colour not in left.values()] or list(palette)
    turn = 0
    partner = dict(compared.matched)
    for stage_id, other_id in sorted(partner.items()):
        colour = left[stage_id]
        if colour == WHITE and compared.others[other_id].n_situations > 1:
            colour = left[stage_id] = free[turn % len(free)]
            turn += 1
        right[other_id] = colour
    for other_id, stage in sorted(compared.others.items()):
        if other_id in right:
            continue
        right[other_id] = WHITE
        if stage.n_situations > 1:
            right[other_id] = free[turn % len(free)]
            turn += 1
    return left, right


class _Panel:
    """The stages of one variable there is room for, and what they share."""

    def __init__(
        self, compared: StagingPair, overlaps: Sequence[Overlap], name: str, most: int
    ) -> None:
        self.name = name
        left: dict[int, int] = defaultdict(int)
        right: dict[int, int] = defaultdict(int)
        for one in overlaps:
            left[one.stage_id] += one.n
            right[one.other_id] += one.n
        kept, self.rest = largest(_in_order(left, compared.stages), most, lambda key: left[key])
        kept_right, self.rest_right = largest(
            _in_order(right, compared.others), most, lambda key: right[key]
        )
        self.left, self.right = kept, kept_right
        if self.rest:
            self.left = [*kept, REST]
        if self.rest_right:
            self.right = [*kept_right, REST]
        self.ribbons: dict[tuple[int, int, bool], list[int]] = defaultdict(lambda: [0, 0])
        for one in overlaps:
            source = one.stage_id if one.stage_id in kept else REST
            target = one.other_id if one.other_id in kept_right else REST
            ribbon = self.ribbons[(source, target, compared.is_matched(one))]
            ribbon[0] += one.n
            ribbon[1] += one.n_hidden
        self.n_left = self._sums(0)
        self.n_right = self._sums(1)
        partner = {other: stage for stage, other in compared.matched}
        rank = {key: index for index, key in enumerate(self.left)}
        self.right.sort(
            key=lambda key: (
                key == REST, rank.get(partner.get(key, -1), self._middle(key, rank)), key
            )
        )  # fmt: skip
        parts = [
            f"{counted(len(rest), 'stage')} of {staging}"
            for rest, staging in zip((self.rest, self.rest_right), compared.names, strict=True)
            if rest
        ]
        self.note = f"{name}: one grey block for {' and for '.join(parts)}" if parts else ""

    def _sums(self, end: int) -> dict[int, int]:
        sums: dict[int, int] = defaultdict(int)
        for key, (n, _) in self.ribbons.items():
            sums[key[end]] += n
        return sums

    def _middle(self, key: int, rank: Mapping[int, int]) -> float:
        weights = [
            (rank[source], n)
            for (source, target, _), (n, _) in self.ribbons.items()
            if target == key
        ]
        total = sum(n for _, n in weights)
        return sum(index * n for index, n in weights) / total if total else len(rank)


def _in_order(stage_ids: Iterable[int], stages: Mapping[int, Stage]) -> list[int]:
    """Return stages in the order in which they were read."""
    place = {stage_id: index for index, stage_id in enumerate(stages)}
    return sorted(stage_ids, key=lambda stage_id: place[stage_id])


def _draw(
    compared: StagingPair,
    panels: Sequence[_Panel],
    colours: tuple[dict[int, str], dict[int, str]],
    note: str,
    width: float,
) -> Sheet:
    columns = min(max(len(panels), 1), max(1, int(width // 52)))
    step = (width - 2 * MARGIN + 6) / columns
    panel_width = min(step - 6, 80.0)
    heads = [fit_text(panel.name, panel_width, 9, most=3, bold=True) for panel in panels]
    heights = [
        _PEOPLE_HEIGHT + _GAP * (max(len(panel.left), len(panel.right), 1) - 1) + 4
        for panel in panels
    ]
    lines = [
        range(first, min(first + columns, len(panels)))
        for first in range(0, len(panels), columns)
    ]
    tops, y = [], MARGIN
    for line in lines:
        tops.append(y)
        y += max(height_of(heads[i]) for i in line) + 6 + max(heights[i] for i in line) + 3
    if not panels:
        y += 8
    sheet = Sheet(width, y + 1, note)
    if not panels:
        sheet.text(
            MARGIN, MARGIN + 2, "The stagings are equal, apart from the names of stages."
        )
    for line, top in zip(lines, tops, strict=True):
        start = top + max(height_of(heads[i]) for i in line) + 6
        for column, index in enumerate(line):
            x = MARGIN + column * step
            sheet.text(x, top, heads[index], weight="bold")
            names = [fit_text(name, panel_width / 2 - 2, 8, most=1) for name in compared.names]
            style = {"va": "bottom", "style": "italic"}
            sheet.text(x, start - 1.5, names[0], 8, **style)
            sheet.text(x + panel_width, start - 1.5, names[1], 8, ha="right", **style)
            _draw_panel(
                sheet, compared, panels[index], colours, (x, start, panel_width, heights[index])
            )
    return sheet


class _Side(NamedTuple):
    """One staging in a panel: its stages from top to bottom, and how they are drawn."""

    keys: Sequence[int]
    sizes: Mapping[int, int]
    stages: Mapping[int, Stage]
    colours: Mapping[int, str]
    n_rest: int
    left: float


def _draw_panel(
    sheet: Sheet,
    compared: StagingPair,
    panel: _Panel,
    colours: tuple[dict[int, str], dict[int, str]],
    area: tuple[float, float, float, float],
) -> None:
    """Draw the stages of both stagings of a variable, and the ribbons between them."""
    x, top, width, panel_height = area
    axes = sheet.drawing(x, top, width, panel_height)
    scale = _PEOPLE_HEIGHT / max(sum(panel.n_left.values()), 1)
    sides = (
        _Side(panel.left, panel.n_left, compared.stages, colours[0], len(panel.rest), 0.0),
        _Side(
            panel.right,
            panel.n_right,
            compared.others,
            colours[1],
            len(panel.rest_right),
            width - _BAR_WIDTH,
        ),
    )
    tops = [_draw_side(axes, side, scale, width, panel_height) for side in sides]
    _draw_ribbons(axes, panel, colours[0], (tops[0], tops[1]), scale, width)


def _draw_side(
    axes: Axes, side: _Side, scale: float, width: float, panel_height: float
) -> dict[int, float]:
    """Draw the stages of one staging as blocks; return where each begins."""
    gap = (
        (panel_height - 4 - _PEOPLE_HEIGHT) / max(len(side.keys) - 1, 1)
        if len(side.keys) > 1
        else 0.0
    )
    gap = max(gap, _GAP)
    y, tops = 3.0, {}
    for key in side.keys:
        height = max(side.sizes[key] * scale, 0.4)
        tops[key] = y
        is_rest = key == REST
        face = REST_COLOUR if is_rest else side.colours[key]
        style = {"hatch": REST_STYLE["hatch"]} if is_rest else {}
        draw_block(axes, side.left, y, _BAR_WIDTH, height, face, **style)
        name = counted(side.n_rest, "other") if is_rest else stage_title(side.stages[key])
        room = (_BAR_WIDTH - 0.6, height)
        middle = (side.left + _BAR_WIDTH / 2, y + height / 2)
        is_written = (
            not is_rest
            and height > 3.4
            and write_in(axes, *middle, room, name, face, fontsize=7)
        )
        if not is_written:
            is_left = side.left == 0
            axes.text(
                0 if is_left else width, y - 0.2, fit_text(name, width / 2 - 2, 7, most=1),
                fontsize=7, va="bottom", ha="left" if is_left else "right",
                parse_math=False, zorder=6, color=BLACK,
            )  # fmt: skip
        y += height + gap
    return tops


def _draw_ribbons(
    axes: Axes,
    panel: _Panel,
    colours: Mapping[int, str],
    tops: tuple[dict[int, float], dict[int, float]],
    scale: float,
    width: float,
) -> None:
    """Draw the people in a stage of each staging, in the order of the blocks on both sides."""
    order = [{key: i for i, key in enumerate(keys)} for keys in (panel.left, panel.right)]
    next_end = dict(tops[1])
    ends: dict[tuple[int, int, bool], float] = {}
    for pair in sorted(panel.ribbons, key=lambda k: (order[1][k[1]], order[0][k[0]], not k[2])):
        ends[pair] = next_end[pair[1]]
        next_end[pair[1]] += panel.ribbons[pair][0] * scale
    next_start = dict(tops[0])
    for pair in sorted(panel.ribbons, key=lambda k: (order[0][k[0]], order[1][k[1]], not k[2])):
        n, n_hidden = panel.ribbons[pair]
        start, end = (_BAR_WIDTH, next_start[pair[0]]), (width - _BAR_WIDTH, ends[pair])
        height = n * scale
        next_start[pair[0]] += height
        if n_hidden and not n:
            draw_hidden(axes, start, end)
            continue
        face = PLAIN if pair[0] == REST else colours[pair[0]]
        face = PLAIN if face == WHITE else face
        if pair[2]:
            draw_ribbon(axes, start, end, height, lighten(face, 0.35))
        else:
            draw_ribbon(
                axes, start, end, height, "#f4f4f4", hatch="////", edgecolor="#505050",
                linewidth=0.5, zorder=2,
            )  # fmt: skip
        if height > 3.0:
            axes.text(
                _BAR_WIDTH + 2, start[1] + height / 2, _people(n, n_hidden), fontsize=7,
                va="center", color=BLACK, zorder=7,
                bbox={"facecolor": "white", "alpha": 0.7, "pad": 0.4, "linewidth": 0},
            )  # fmt: skip


def _people(n: int, n_hidden: int) -> str:
    """Return the people of a ribbon; those of hidden situations come on top."""
    return f"{n:,}+…" if n_hidden else f"{n:,}"
