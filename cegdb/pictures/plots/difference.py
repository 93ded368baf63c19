"""Two stagings of one tree, side by side: matched stages have one colour."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from cegdb.pictures.plots.ribbons import draw_block, draw_ribbon, lighter, write_in
from cegdb.pictures.plots.sheet import (
    INK,
    MARGIN,
    WIDTH,
    Sheet,
    fitted,
    height_of,
    note_height,
    sentences,
    some,
    write_note,
)
from cegdb.pictures.plots.stage_marks import WHITE, largest, title
from cegdb.pictures.style import Picture, styled

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from cegdb.pictures.plot_data import Overlap, Stage

_BAR: Final = 9.0
_HIGH: Final = 62.0  # mm that all people of a variable take
_GAP: Final = 3.6
_PLAIN: Final = "#d0d0d0"
_MOST_PANELS: Final = 12

Pair = tuple[int, int]


class Compared(NamedTuple):
    """Two stagings of one tree.

    Attributes
    ----------
    names
        Of both.
    stages, others
        The stages of both, by id.
    overlaps
        What they have in common, by variable.
    matched
        Pairs of stages matched one to one.
    """

    names: tuple[str, str]
    stages: Mapping[int, Stage]
    others: Mapping[int, Stage]
    overlaps: Sequence[Overlap]
    matched: Collection[Pair]


def draw_difference(
    found: Compared,
    variables: Sequence[str],
    palette: Sequence[str],
    *,
    width_mm: float = WIDTH,
    most: int = 10,
) -> Picture:
    """Draw how the stages of one staging lie in those of another, by variable.

    Parameters
    ----------
    found
        The stagings compared.
    variables
        In the order of the tree.
    palette
        Colours for stages of the second staging that match none of the first.
    width_mm
        In millimetres.
    most
        The most stages a variable and staging; the others are drawn together.

    Examples
    --------
    >>> from cegdb.pictures.plot_data import Overlap, Stage
    >>> a = {1: Stage(1, "u1", None, "given", "#E69F00", 2, 9)}
    >>> b = {s: Stage(s, f"u{s}", None, "given", "#ffffff", 1, n) for s, n in ((1, 5), (2, 4))}
    >>> rows = [Overlap("y", 1, 1, 5, 0, 1), Overlap("y", 1, 2, 4, 0, 1)]
    >>> found = Compared(("a", "b"), a, b, rows, {(1, 1)})
    >>> draw_difference(found, ["y"], ["#56B4E9"]).caption[:38]
    'Stages of a (left) and b (right), by v'
    """
    by_variable: dict[str, list[Overlap]] = defaultdict(list)
    for one in found.overlaps:
        by_variable[one.variable].append(one)
    differing = [
        name
        for name in variables
        if any((one.stage_id, one.other_id) not in found.matched for one in by_variable[name])
    ]
    equal = [name for name in variables if name in by_variable and name not in differing]
    shown = differing[:_MOST_PANELS]
    colours = _colours(found, palette)
    said = []
    if equal:
        said.append(f"No difference: {', '.join(equal)}")
    if len(differing) > len(shown):
        more = len(differing) - len(shown)
        said.append(f"Not shown: {some(more, 'further variable')} with differences")
    panels = [_Panel(found, by_variable[name], name, most) for name in shown]
    said += [panel.said for panel in panels if panel.said]
    note = ". ".join(said)
    texts = [*found.names, *variables]
    texts += [title(one) for one in (*found.stages.values(), *found.others.values())]
    with styled(texts):
        sheet = _draw(found, panels, colours, note, width_mm)
    apart = [one for one in found.overlaps if (one.stage_id, one.other_id) not in found.matched]
    n_apart = sum(one.n_situations for one in apart)
    n_people = sum(one.n for one in apart)
    hidden = sum(one.n_hidden for one in found.overlaps)
    first, second = found.names
    return Picture(
        sheet.figure,
        sentences(
            f"Stages of {first} (left) and {second} (right), by variable: a ribbon is as "
            "wide as the people in both stages. Stages are matched one to one so that they "
            "share as many people as can be; matched ones have one colour and are joined "
            "in it, hatched ribbons are people whose stages do not match",
            f"{some(n_apart, 'situation')} of {some(n_people, 'person', 'people')}"
            f"{' (and hidden ones)' if any(o.n_hidden for o in apart) else ''} "
            f"{'is' if n_apart == 1 else 'are'} staged differently",
            "Stages of a single situation that match none are white",
            f"{some(hidden, 'situation')} with hidden small counts have dotted lines"
            if hidden
            else "",
            *said,
        ),
    )


def _colours(found: Compared, palette: Sequence[str]) -> tuple[dict[int, str], dict[int, str]]:
    """Return the colours of the stages of both: matched ones alike."""
    left = {
        stage_id: stage.colour if stage.n_situations > 1 else WHITE
        for stage_id, stage in found.stages.items()
    }
    right: dict[int, str] = {}
    free = [colour for colour in palette if colour not in left.values()] or list(palette)
    turn = 0
    partner = dict(found.matched)
    for stage_id, other_id in sorted(partner.items()):
        colour = left[stage_id]
        if colour == WHITE and found.others[other_id].n_situations > 1:
            colour = left[stage_id] = free[turn % len(free)]
            turn += 1
        right[other_id] = colour
    for other_id, stage in sorted(found.others.items()):
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
        self, found: Compared, overlaps: Sequence[Overlap], name: str, most: int
    ) -> None:
        self.name = name
        left: dict[int, int] = defaultdict(int)
        right: dict[int, int] = defaultdict(int)
        for one in overlaps:
            left[one.stage_id] += one.n
            right[one.other_id] += one.n
        kept, self.rest = largest(sorted(left), most, lambda key: left[key])
        kept_right, self.rest_right = largest(sorted(right), most, lambda key: right[key])
        self.left, self.right = kept, kept_right
        if self.rest:
            self.left = [*kept, -2]
        if self.rest_right:
            self.right = [*kept_right, -2]
        self.ribbons: dict[tuple[int, int, bool], list[int]] = defaultdict(lambda: [0, 0])
        for one in overlaps:
            source = one.stage_id if one.stage_id in left and one.stage_id in kept else -2
            target = one.other_id if one.other_id in kept_right else -2
            is_match = (one.stage_id, one.other_id) in found.matched
            ribbon = self.ribbons[(source, target, is_match)]
            ribbon[0] += one.n
            ribbon[1] += one.n_hidden
        self.n_left = self._sums(0)
        self.n_right = self._sums(1)
        partner = {other: stage for stage, other in found.matched}
        rank = {key: at for at, key in enumerate(self.left)}
        self.right.sort(
            key=lambda key: (
                key == -2, rank.get(partner.get(key, -1), self._middle(key, rank)), key
            )
        )  # fmt: skip
        parts = [
            f"{some(len(rest), 'stage')} of {staging}"
            for rest, staging in zip((self.rest, self.rest_right), found.names, strict=True)
            if rest
        ]
        self.said = f"{name}: one grey block for {' and for '.join(parts)}" if parts else ""

    def _sums(self, end: int) -> dict[int, int]:
        found: dict[int, int] = defaultdict(int)
        for key, (n, _) in self.ribbons.items():
            found[key[end]] += n
        return found

    def _middle(self, key: int, rank: Mapping[int, int]) -> float:
        weights = [
            (rank[source], n)
            for (source, target, _), (n, _) in self.ribbons.items()
            if target == key
        ]
        total = sum(n for _, n in weights)
        return sum(at * n for at, n in weights) / total if total else len(rank)


def _draw(
    found: Compared,
    panels: Sequence[_Panel],
    colours: tuple[dict[int, str], dict[int, str]],
    note: str,
    width: float,
) -> Sheet:
    columns = min(max(len(panels), 1), max(1, int(width // 52)))
    step = (width - 2 * MARGIN + 6) / columns
    panel_width = min(step - 6, 80.0)
    heads = [fitted(panel.name, panel_width, 9, most=3, bold=True) for panel in panels]
    highs = [
        _HIGH + _GAP * (max(len(panel.left), len(panel.right), 1) - 1) + 4 for panel in panels
    ]
    lines = [range(at, min(at + columns, len(panels))) for at in range(0, len(panels), columns)]
    tops, y = [], MARGIN
    for line in lines:
        tops.append(y)
        y += max(height_of(heads[at]) for at in line) + 6 + max(highs[at] for at in line) + 3
    if not panels:
        y += 8
    sheet = Sheet(width, y + note_height(note, width) + 1)
    if not panels:
        sheet.text(MARGIN, MARGIN + 2, "The stagings are equal, up to the names of stages.")
    for line, top in zip(lines, tops, strict=True):
        start = top + max(height_of(heads[at]) for at in line) + 6
        for column, at in enumerate(line):
            x = MARGIN + column * step
            sheet.text(x, top, heads[at], weight="bold")
            names = [fitted(name, panel_width / 2 - 2, 8, most=1) for name in found.names]
            sheet.text(x, start - 1.5, names[0], 8, va="bottom", style="italic")
            sheet.text(
                x + panel_width,
                start - 1.5,
                names[1],
                8,
                va="bottom",
                ha="right",
                style="italic",
            )
            _draw_panel(sheet, found, panels[at], colours, (x, start, panel_width, highs[at]))
    write_note(sheet, note)
    return sheet


def _draw_panel(
    sheet: Sheet,
    found: Compared,
    panel: _Panel,
    colours: tuple[dict[int, str], dict[int, str]],
    place: tuple[float, float, float, float],
) -> None:
    x, top, width, high = place
    axes = sheet.drawing(x, top, width, high)
    scale = _HIGH / max(sum(panel.n_left.values()), 1)
    columns = (
        (panel.left, panel.n_left, found.stages, colours[0], 0.0, len(panel.rest)),
        (
            panel.right,
            panel.n_right,
            found.others,
            colours[1],
            width - _BAR,
            len(panel.rest_right),
        ),
    )
    starts: list[dict[int, float]] = []
    for keys, sizes, stages, colour, left, n_rest in columns:
        y, tops = 3.0, {}
        gap = (high - 4 - _HIGH) / max(len(keys) - 1, 1) if len(keys) > 1 else 0.0
        gap = max(gap, _GAP)
        for key in keys:
            height = max(sizes[key] * scale, 0.4)
            tops[key] = y
            is_rest = key == -2
            face = "#a8a8a8" if is_rest else colour[key]
            look = {"hatch": "////"} if is_rest else {}
            draw_block(axes, left, y, _BAR, height, face, **look)
            name = f"{n_rest:,} others" if is_rest else title(stages[key])
            room = (_BAR - 0.6, height)
            written = (
                not is_rest
                and height > 3.4
                and write_in(
                    axes, left + _BAR / 2, y + height / 2, room, name, face, fontsize=7
                )
            )
            if not written:
                shown = fitted(name, width / 2 - 2, 7, most=1)
                ha = "left" if left == 0 else "right"
                axes.text(
                    left if left == 0 else width, y - 0.2, shown, fontsize=7, va="bottom",
                    ha=ha, parse_math=False, zorder=6, color=INK,
                )  # fmt: skip
            y += height + gap
        starts.append(tops)
    order = [{key: at for at, key in enumerate(keys)} for keys in (panel.left, panel.right)]
    reach = dict(starts[1])
    ends: dict[tuple[int, int, bool], float] = {}
    for pair in sorted(panel.ribbons, key=lambda k: (order[1][k[1]], order[0][k[0]], not k[2])):
        ends[pair] = reach[pair[1]]
        reach[pair[1]] += panel.ribbons[pair][0] * scale
    down = dict(starts[0])
    for pair in sorted(panel.ribbons, key=lambda k: (order[0][k[0]], order[1][k[1]], not k[2])):
        n, n_hidden = panel.ribbons[pair]
        start, end = (_BAR, down[pair[0]]), (width - _BAR, ends[pair])
        down[pair[0]] += n * scale
        if n_hidden and not n:
            axes.plot(
                [start[0], end[0]], [start[1], end[1]], color=INK, linewidth=0.5, linestyle=":",
                zorder=2, clip_on=False,
            )  # fmt: skip
            continue
        face = _PLAIN if pair[0] == -2 else colours[0][pair[0]]
        face = _PLAIN if face == WHITE else face
        if pair[2]:
            draw_ribbon(axes, start, end, n * scale, lighter(face, 0.35))
        else:
            draw_ribbon(
                axes, start, end, n * scale, "#f4f4f4", hatch="////", edgecolor="#505050",
                linewidth=0.5, zorder=2,
            )  # fmt: skip
        if n * scale > 3.0:
            axes.text(
                _BAR + 2, start[1] + n * scale / 2, _shown(n, n_hidden), fontsize=7,
                va="center", color=INK, zorder=7,
                bbox={"facecolor": "white", "alpha": 0.7, "pad": 0.4, "linewidth": 0},
            )  # fmt: skip


def _shown(n: int, n_hidden: int) -> str:
    """Return the people of a ribbon; those of hidden situations come on top."""
    return f"{n:,}+…" if n_hidden else f"{n:,}"
