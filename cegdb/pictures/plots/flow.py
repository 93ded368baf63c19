"""People through stages or positions: blocks in columns, ribbons between them."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from cegdb.graphs.label_text import WHITE
from cegdb.pictures.captions import block_text, flow_caption, flow_note
from cegdb.pictures.plot_data import END, REST
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
from cegdb.pictures.plots.sheet import (
    BLACK,
    MARGIN,
    WIDTH,
    Sheet,
    fit_text,
    height_of,
    shrink,
    width_of,
)
from cegdb.pictures.style import Picture, figure_style

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cegdb.pictures.plot_data import Block, Flow, Ribbon

_GAP: Final = 3.4  # between blocks, in mm: a name fits in
_PEOPLE_HEIGHT: Final = 75.0  # mm high for all people
_PASSING_ID: Final = -3  # the block of those who only pass a column
_TEXT: Final = 7  # points

Key = tuple[int, int]


class _Lane(NamedTuple):
    """A part of a ribbon between neighbouring columns."""

    source: Key
    target: Key
    ribbon: Ribbon


def draw_flow(flow: Flow, word: str, *, given: str = "", width_mm: float = WIDTH) -> Picture:
    """Draw the people who go from block to block, given some evidence.

    ``word`` says what blocks are, ``"stage"`` or ``"position"``. More columns than fit are
    scaled down, and the caption says so.
    """
    texts = [*flow.columns, *(ribbon.label for ribbon in flow.ribbons)]
    texts += [block.name for block in flow.blocks]
    note = flow_note(flow, word)
    with figure_style(texts):
        needed = max(width_mm, 26.0 * len(flow.columns) + 20)
        sheet = _Drawing(flow, note, needed).sheet
        scale = shrink(sheet, width_mm)
    text_size = _TEXT * scale if scale < 1 else None
    caption = flow_caption(flow, word, note, given, stops=_stops(flow), text_size=text_size)
    return Picture(sheet.figure, caption)


class _Layout:
    """The blocks of each column from the top to the bottom, and how tall they are."""

    def __init__(self, flow: Flow) -> None:
        self.blocks = {(block.block_id, block.column): block for block in flow.blocks}
        self.lanes, self.passing = _lanes(flow)
        columns = range(len(flow.columns) + 1)
        people = [
            sum(block.n for block in flow.blocks if block.column == column)
            + sum(n for (_, passed), n in self.passing.items() if passed == column)
            for column in columns
        ]
        self.scale = _PEOPLE_HEIGHT / max(*people, 1)
        self.columns = [self._by_id(column) for column in columns]
        self._untangle()

    @property
    def height(self) -> float:
        """The height of the tallest column."""
        return max(
            sum(map(self.height_of, keys)) + _GAP * (len(keys) + 1) for keys in self.columns
        )

    def height_of(self, key: Key) -> float:
        """Return the height of a block."""
        n = self.blocks[key].n if key in self.blocks else self.passing[key]
        return max(n * self.scale, 0.4)

    def tops(self) -> dict[Key, float]:
        """Return the upper edge of each block; columns are centred."""
        tops: dict[Key, float] = {}
        for keys in self.columns:
            free = self.height - sum(map(self.height_of, keys))
            gap = min(free / (len(keys) + 1), _GAP * 3) if keys else 0.0
            y = (free - gap * (len(keys) - 1)) / 2
            for key in keys:
                tops[key] = y
                y += self.height_of(key) + gap
        return tops

    def placed_lanes(self, tops: Mapping[Key, float]) -> Iterator[tuple[_Lane, float, float]]:
        """Yield each lane with its upper edge at the source and at the target."""
        order = {key: i for keys in self.columns for i, key in enumerate(keys)}
        lanes = sorted(
            self.lanes, key=lambda one: (one.source[1], order[one.source], order[one.target])
        )
        arriving = sorted(
            range(len(lanes)),
            key=lambda i: (
                lanes[i].target[1],
                order[lanes[i].target],
                order[lanes[i].source],
                i,
            ),
        )
        free_at_target, end = dict(tops), [0.0] * len(lanes)
        for index in arriving:
            lane = lanes[index]
            end[index] = free_at_target[lane.target]
            free_at_target[lane.target] += lane.ribbon.n * self.scale
        free_at_source = dict(tops)
        for index, lane in enumerate(lanes):
            yield lane, free_at_source[lane.source], end[index]
            free_at_source[lane.source] += lane.ribbon.n * self.scale

    def _mean(self, key: Key) -> float:
        """Return the mean score of a block; if it has none, it stands after those that have."""
        mean = self.blocks[key].mean if key in self.blocks else None
        return math.inf if mean is None else mean

    def _by_id(self, column: int) -> list[Key]:
        keys = [key for key in self.blocks if key[1] == column]
        keys.sort(key=lambda key: (key[0] == REST, key[0]))
        return keys + sorted(key for key in self.passing if key[1] == column)

    def _untangle(self) -> None:
        """Order the blocks of each column by their mean scores, or where people come from."""
        for column in range(1, len(self.columns)):
            rank = {key: index for index, key in enumerate(self.columns[column - 1])}
            pull: dict[Key, list[float]] = defaultdict(lambda: [0.0, 0.0])
            for lane in self.lanes:
                if lane.target[1] == column:
                    weight = lane.ribbon.n + 1e-6
                    pull[lane.target][0] += weight * rank[lane.source]
                    pull[lane.target][1] += weight
            self.columns[column].sort(
                key=lambda key: (
                    key not in self.blocks,
                    key[0] == REST,
                    self._mean(key),
                    pull[key][0] / pull[key][1] if pull[key][1] else 0.0,
                    key[0],
                )
            )


class _Drawing:
    """The blocks and ribbons of a layout on a sheet."""

    def __init__(self, flow: Flow, note: str, width: float) -> None:
        self.layout = layout = _Layout(flow)
        n_columns = len(flow.columns)
        widest = max(width_of(f"{block.n:,}", _TEXT) for block in flow.blocks)
        self.block_width = max(9.0, widest + 1.5)
        self.step = (width - 2 * MARGIN - self.block_width) / n_columns
        heads = [
            fit_text(name, (width - 2 * MARGIN) / (n_columns + 0.5) - 3)
            for name in flow.columns
        ]
        top = MARGIN + max(map(height_of, heads), default=0) + 2
        height = layout.height
        self.sheet = Sheet(width, top + height + 3, note)
        self.axes = self.sheet.drawing(MARGIN, top, width - 2 * MARGIN, height)
        for column, head in enumerate(heads):
            self.sheet.text(MARGIN + column * self.step, top - 2, head, va="bottom")
        end = MARGIN + n_columns * self.step
        self.sheet.text(end, top - 2, "end", va="bottom", style="italic")
        tops = layout.tops()
        for lane, source_top, target_top in layout.placed_lanes(tops):
            is_block = lane.source in layout.blocks
            left = lane.source[1] * self.step + (self.block_width if is_block else 0.0)
            start, finish = (left, source_top), (lane.target[1] * self.step, target_top)
            self._draw_lane(lane, start, finish, lane.ribbon.n * layout.scale)
        for key, y in tops.items():
            x, tall = key[1] * self.step, layout.height_of(key)
            if key in layout.blocks:
                self._draw_block(layout.blocks[key], x, y, tall)
            else:
                self._draw_passing(x, y, tall)

    def _draw_lane(
        self, lane: _Lane, start: tuple[float, float], end: tuple[float, float], height: float
    ) -> None:
        source = self.layout.blocks[(lane.ribbon.source_id, lane.ribbon.source_column)]
        colour = PLAIN if source.colour == WHITE else lighten(source.colour)
        if lane.ribbon.n_hidden and not lane.ribbon.n:
            draw_hidden(self.axes, start, end)
            return
        draw_ribbon(self.axes, start, end, height, colour)
        if lane.source in self.layout.blocks:
            room = (self.step - self.block_width - 3, height)
            x, y = start[0] + 1.5, start[1] + height / 2
            slope = abs(end[1] - start[1])
            if slope > height * 0.8:
                room = (room[0] * 0.45, height)
            write_in(
                self.axes, x, y, room, lane.ribbon.label, colour, ha="left", fontsize=_TEXT
            )

    def _draw_passing(self, x: float, y: float, height: float) -> None:
        draw_block(self.axes, x, y, self.block_width, height, "#eeeeee", linewidth=0)
        write_in(
            self.axes, x + self.block_width / 2, y + height / 2, (self.block_width, height),
            "not asked", "#eeeeee", fontsize=6, style="italic",
        )  # fmt: skip

    def _draw_block(self, block: Block, x: float, y: float, height: float) -> None:
        is_rest = block.block_id == REST
        colour = REST_COLOUR if is_rest else block.colour
        style = REST_STYLE if is_rest else {}
        draw_block(self.axes, x, y, self.block_width, height, colour, **style)
        name, n = block_text(block)
        text = f"{name}\n{n}" if name else n
        room = (self.block_width - 0.6, height)
        middle = (x + self.block_width / 2, y + height / 2)
        if not is_rest and height > 7 and width_of(text, _TEXT) <= room[0]:
            write_in(self.axes, *middle, room, text, colour, fontsize=_TEXT)
            return
        short = fit_text(f"{name} {n}".strip(), self.step - 2, _TEXT, most=1)
        self.axes.text(
            x, y - 0.3, short, fontsize=_TEXT, va="bottom", parse_math=False, zorder=5,
            color=BLACK,
            bbox={"facecolor": "white", "alpha": 0.6, "pad": 0.2, "linewidth": 0},
        )  # fmt: skip


def _lanes(flow: Flow) -> tuple[list[_Lane], dict[Key, int]]:
    """Return parts of ribbons between neighbouring columns, and who only passes a column."""
    lanes: list[_Lane] = []
    passing: dict[Key, int] = defaultdict(int)
    for ribbon in flow.ribbons:
        source = (ribbon.source_id, ribbon.source_column)
        target = (ribbon.target_id, ribbon.target_column)
        for column in range(ribbon.source_column + 1, ribbon.target_column):
            through = (_PASSING_ID, column)
            passing[through] += ribbon.n
            lanes.append(_Lane(source, through, ribbon))
            source = through
        lanes.append(_Lane(source, target, ribbon))
    return lanes, dict(passing)


def _stops(flow: Flow) -> bool:
    """Return whether fewer people leave some block than reach it."""
    leaving: dict[Key, int] = defaultdict(int)
    for ribbon in flow.ribbons:
        leaving[(ribbon.source_id, ribbon.source_column)] += ribbon.n
    return any(
        block.n > leaving[(block.block_id, block.column)]
        for block in flow.blocks
        if block.block_id != END
    )
