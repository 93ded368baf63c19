"""People through stages or positions: blocks in columns, ribbons between them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from cegdb.pictures.plot_data import END, REST
from cegdb.pictures.plots.ribbons import draw_block, draw_ribbon, lighter, write_in
from cegdb.pictures.plots.sheet import (
    INK,
    MARGIN,
    WIDTH,
    Sheet,
    fitted,
    height_of,
    note_height,
    people,
    sentences,
    shrunk,
    some,
    width_of,
    write_note,
)
from cegdb.pictures.style import Picture, styled

if TYPE_CHECKING:
    from cegdb.pictures.plot_data import Block, Flow, Ribbon

_PLAIN: Final = "#d0d0d0"
_GAP: Final = 3.4  # between blocks, in mm: a name fits in
_PEOPLE: Final = 75.0  # mm that all people take
_SINGLE: Final = "#ffffff"
_TEXT: Final = 7  # points

Key = tuple[int, int]


class _Lane(NamedTuple):
    """A part of a ribbon between neighbouring columns."""

    source: Key
    target: Key
    ribbon: Ribbon


def draw_flow(found: Flow, what: str, *, given: str = "", width_mm: float = WIDTH) -> Picture:
    """Draw the people who go from block to block.

    Parameters
    ----------
    found
        Columns, blocks and ribbons.
    what
        What blocks are: ``"stage"`` or ``"position"``.
    given
        What is known of all of them, in words.
    width_mm
        In millimetres; more columns than fit are scaled down, and the caption says so.

    Examples
    --------
    >>> from cegdb.pictures.plot_data import Block, Flow, Ribbon
    >>> blocks = [Block(0, 0, "u0", "#ffffff", 9, 0, 1), Block(-1, 1, "", "#ffffff", 9, 0, 1)]
    >>> flow = Flow(["Fall"], blocks, [Ribbon(0, 0, -1, 1, "yes", 9, 0)])
    >>> draw_flow(flow, "stage").caption[:30]
    'People through stages: a colum'
    """
    texts = [*found.columns, *(ribbon.label for ribbon in found.ribbons)]
    texts += [block.name for block in found.blocks]
    note = _note(found, what)
    with styled(texts):
        needed = max(width_mm, 26.0 * len(found.columns) + 20)
        sheet = _Drawing(found, what, note, needed).sheet
        scale = shrunk(sheet, width_mm)
    return Picture(sheet.figure, _caption(found, what, note, given, scale))


class _Drawing:
    """The blocks and ribbons, placed and drawn."""

    def __init__(self, found: Flow, what: str, note: str, width: float) -> None:
        self.what = what
        self.blocks = {(block.block_id, block.place): block for block in found.blocks}
        self.lanes, self.passing = _lanes(found)
        columns = len(found.columns)
        total = max(
            [sum(b.n for b in found.blocks if b.place == place) + sum(
                n for (_, at), n in self.passing.items() if at == place)
             for place in range(columns + 1)], default=1
        )  # fmt: skip
        self.scale = _PEOPLE / max(total, 1)
        self.columns = [self._ordered(place) for place in range(columns + 1)]
        self._untangle()
        high = max(
            sum(self._height(key) for key in keys) + _GAP * (len(keys) + 1)
            for keys in self.columns
        )
        heads = [
            fitted(name, (width - 2 * MARGIN) / (columns + 0.5) - 3) for name in found.columns
        ]
        top = MARGIN + max([height_of(head) for head in heads], default=0) + 2
        widest = max(width_of(f"{block.n:,}", _TEXT) for block in found.blocks)
        self.block_width = max(9.0, widest + 1.5)
        self.step = (width - 2 * MARGIN - self.block_width) / columns
        self.sheet = Sheet(width, top + high + 3 + note_height(note, width))
        self.axes = self.sheet.drawing(MARGIN, top, width - 2 * MARGIN, high)
        for place, head in enumerate(heads):
            self.sheet.text(MARGIN + place * self.step, top - 2, head, va="bottom")
        self.sheet.text(
            MARGIN + columns * self.step, top - 2, "end", va="bottom", style="italic"
        )
        self.top: dict[Key, float] = {}
        for keys in self.columns:
            free = high - sum(self._height(key) for key in keys)
            gap = min(free / (len(keys) + 1), _GAP * 3) if keys else 0.0
            y = (free - gap * (len(keys) - 1)) / 2
            for key in keys:
                self.top[key] = y
                y += self._height(key) + gap
        self._draw_ribbons()
        self._draw_blocks()
        write_note(self.sheet, note)

    def _n(self, key: Key) -> int:
        return self.blocks[key].n if key in self.blocks else self.passing[key]

    def _height(self, key: Key) -> float:
        return max(self._n(key) * self.scale, 0.4)

    def _ordered(self, place: int) -> list[Key]:
        keys = [key for key in self.blocks if key[1] == place]
        keys.sort(key=lambda key: (key[0] == REST, key[0]))
        return keys + sorted(key for key in self.passing if key[1] == place)

    def _untangle(self) -> None:
        """Order the blocks of each column by the middle of where their people come from."""
        for place in range(1, len(self.columns)):
            rank = {key: at for at, key in enumerate(self.columns[place - 1])}
            pull: dict[Key, list[float]] = defaultdict(lambda: [0.0, 0.0])
            for lane in self.lanes:
                if lane.target[1] == place:
                    weight = lane.ribbon.n + 1e-6
                    pull[lane.target][0] += weight * rank[lane.source]
                    pull[lane.target][1] += weight
            self.columns[place].sort(
                key=lambda key: (
                    key not in self.blocks,
                    key[0] == REST,
                    pull[key][0] / pull[key][1] if pull[key][1] else 0.0,
                    key[0],
                )
            )

    def _draw_ribbons(self) -> None:
        down = {key: self.top[key] for key in self.top}
        reach = dict(down)
        order = {key: at for keys in self.columns for at, key in enumerate(keys)}
        lanes = sorted(
            self.lanes, key=lambda one: (one.source[1], order[one.source], order[one.target])
        )
        ends: dict[int, float] = {}
        for place in sorted(
            range(len(lanes)),
            key=lambda at: (
                lanes[at].target[1], order[lanes[at].target], order[lanes[at].source], at,
            ),
        ):  # fmt: skip
            lane = lanes[place]
            ends[place] = reach[lane.target]
            reach[lane.target] += lane.ribbon.n * self.scale
        for place, lane in enumerate(lanes):
            height = lane.ribbon.n * self.scale
            start = (lane.source[1] * self.step + self.block_width, down[lane.source])
            if lane.source not in self.blocks:
                start = (lane.source[1] * self.step, down[lane.source])
            end = (lane.target[1] * self.step, ends[place])
            down[lane.source] += height
            self._draw_lane(lane, start, end, height)

    def _draw_lane(
        self, lane: _Lane, start: tuple[float, float], end: tuple[float, float], height: float
    ) -> None:
        origin = self.blocks[(lane.ribbon.source_id, lane.ribbon.source_place)]
        colour = _PLAIN if origin.colour == _SINGLE else lighter(origin.colour)
        if lane.ribbon.n_hidden and not lane.ribbon.n:
            self.axes.plot(
                [start[0], end[0]], [start[1], end[1]], color=INK, linewidth=0.5, linestyle=":",
                zorder=2, clip_on=False,
            )  # fmt: skip
            return
        draw_ribbon(self.axes, start, end, height, colour)
        if lane.source in self.blocks:
            room = (self.step - self.block_width - 3, height)
            x, y = start[0] + 1.5, start[1] + height / 2
            slope = abs(end[1] - start[1])
            if slope > height * 0.8:
                room = (room[0] * 0.45, height)
            write_in(
                self.axes, x, y, room, lane.ribbon.label, colour, ha="left", fontsize=_TEXT
            )

    def _draw_blocks(self) -> None:
        for key, y in self.top.items():
            if key not in self.blocks:
                x, height = key[1] * self.step, self._height(key)
                draw_block(self.axes, x, y, self.block_width, height, "#eeeeee", linewidth=0)
                self._pass(x, y, height)
                continue
            self._draw_block(self.blocks[key], key[1] * self.step, y, self._height(key))

    def _pass(self, x: float, y: float, height: float) -> None:
        write_in(
            self.axes, x + self.block_width / 2, y + height / 2, (self.block_width, height),
            "not asked", "#eeeeee", fontsize=6, style="italic",
        )  # fmt: skip

    def _draw_block(self, block: Block, x: float, y: float, height: float) -> None:
        colour = "#a8a8a8" if block.block_id == REST else block.colour
        hatch = {"hatch": "////", "edgecolor": INK} if block.block_id == REST else {}
        draw_block(self.axes, x, y, self.block_width, height, colour, **hatch)
        name = f"{block.n_nodes:,} others" if block.block_id == REST else block.name
        n = people(block.n) if not block.n_hidden else (f"{block.n:,}+…" if block.n else "…")
        if block.block_id == END:
            name = ""
        text = f"{name}\n{n}" if name else n
        room = (self.block_width - 0.6, height)
        middle = (x + self.block_width / 2, y + height / 2)
        is_plain = block.block_id != REST
        if is_plain and height > 7 and width_of(text, _TEXT) <= room[0]:
            write_in(self.axes, *middle, room, text, colour, fontsize=_TEXT)
            return
        short = fitted(f"{name} {n}".strip(), self.step - 2, _TEXT, most=1)
        self.axes.text(
            x, y - 0.3, short, fontsize=_TEXT, va="bottom", parse_math=False, zorder=5,
            color=INK,
            bbox={"facecolor": "white", "alpha": 0.6, "pad": 0.2, "linewidth": 0},
        )  # fmt: skip


def _lanes(found: Flow) -> tuple[list[_Lane], dict[Key, int]]:
    """Return parts of ribbons between neighbouring columns, and who only passes a column."""
    lanes: list[_Lane] = []
    passing: dict[Key, int] = defaultdict(int)
    for ribbon in found.ribbons:
        source = (ribbon.source_id, ribbon.source_place)
        target = (ribbon.target_id, ribbon.target_place)
        for place in range(ribbon.source_place + 1, ribbon.target_place):
            through = (-3, place)
            passing[through] += ribbon.n
            lanes.append(_Lane(source, through, ribbon))
            source = through
        lanes.append(_Lane(source, target, ribbon))
    return lanes, dict(passing)


def _shown_people(block: Block) -> str:
    if block.n_hidden:
        return f"{block.n:,} and hidden people" if block.n else "hidden people"
    return some(block.n, "person", "people")


def _note(found: Flow, what: str) -> str:
    said = [
        f"{some(block.n_nodes, what)} with {_shown_people(block)} at "
        f"{found.columns[block.place] if block.place < len(found.columns) else 'the end'}"
        for block in found.blocks
        if block.block_id == REST
    ]
    if not said:
        return ""
    more = f"; and so at {len(said) - 4} further columns" if len(said) > 4 else ""
    return f"Drawn as one block of others: {'; '.join(said[:4])}{more}"


def _stops(found: Flow) -> bool:
    """Return whether fewer people leave some block than reach it."""
    leaving: dict[Key, int] = defaultdict(int)
    for ribbon in found.ribbons:
        leaving[(ribbon.source_id, ribbon.source_place)] += ribbon.n
    return any(
        block.n > leaving[(block.block_id, block.place)]
        for block in found.blocks
        if block.block_id != END
    )


def _caption(found: Flow, what: str, note: str, given: str, scale: float) -> str:
    passes = any(ribbon.target_place > ribbon.source_place + 1 for ribbon in found.ribbons)
    hidden = sum(ribbon.n_hidden for ribbon in found.ribbons)
    colours = (
        "Stages of several situations"
        if what == "stage"
        else "Positions of stages that several situations share"
    )
    return sentences(
        f"People through {what}s{f' given {given}' if given else ''}: a column a variable, "
        f"a block a {what} with its name and the people who reach it, and a ribbon as wide as "
        "the people who gave the answer written in it (a long answer ends in …, a narrow "
        "ribbon has no room for it)",
        f"{colours} have colours, and so have the ribbons that leave them; others are white",
        "Grey blocks without a frame: people who are not asked that variable" if passes else "",
        f"{some(hidden, 'number')} hidden as small counts (dotted lines)" if hidden else "",
        "Where fewer people leave a block than reach it, the others stopped there, or gave an "
        "answer that is not part of the graph"
        if not hidden and _stops(found)
        else "",
        note,
        f"To fit, its text is {_TEXT * scale:.1f} points high" if scale < 1 else "",
    )
