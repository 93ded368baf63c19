"""Blocks and the ribbons between them, as flows and differences are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from cegdb.graphs.label_text import text_colour
from cegdb.pictures.plots.sheet import BLACK, fit_text, height_of, width_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_THIN: Final = 0.8  # mm; an outline would cover the colour
PLAIN: Final = "#d0d0d0"  # a ribbon that leaves a white block
REST_STYLE: Final = {"hatch": "////", "edgecolor": BLACK}
REST_COLOUR: Final = "#a8a8a8"


def draw_block(
    axes: Axes, x: float, y: float, width: float, height: float, colour: str, **style: Any
) -> None:
    """Draw a block whose upper left corner is at ``x``, ``y``."""
    from matplotlib.patches import Rectangle

    style = {"edgecolor": BLACK, "linewidth": 0.6, "zorder": 3, **style}
    axes.add_patch(Rectangle((x, y), width, height, facecolor=colour, clip_on=False, **style))


def draw_ribbon(
    axes: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    height: float,
    colour: str,
    **style: Any,
) -> None:
    """Draw a ribbon between two upper corners."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    (x, y), (to_x, to_y) = start, end
    middle = (x + to_x) / 2
    points = [
        (x, y), (middle, y), (middle, to_y), (to_x, to_y),
        (to_x, to_y + height), (middle, to_y + height), (middle, y + height), (x, y + height),
        (x, y),
    ]  # fmt: skip
    kinds = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3, Path.CLOSEPOLY]
    is_thin = height < _THIN
    outline = {"linewidth": 0.15, "edgecolor": colour} if is_thin else {"linewidth": 0.3}
    style = {"edgecolor": "#707070", "zorder": 0.9 if is_thin else 1, **outline, **style}
    axes.add_patch(PathPatch(Path(points, kinds), facecolor=colour, clip_on=False, **style))


def write_in(
    axes: Axes,
    x: float,
    y: float,
    room: tuple[float, float],
    text: str,
    colour: str,
    **style: Any,
) -> bool:
    """Write a text in the middle of a room of that width and height, if it fits."""
    size = style.get("fontsize", 8)
    shown = fit_text(text, room[0], size, most=max(1, int(room[1] / (size * 0.43))))
    if height_of(shown, size) > room[1] + 0.6 or width_of(shown, size) > room[0] + 0.1:
        return False
    centred = {"ha": "center", "va": "center", "color": text_colour(colour), "zorder": 4}
    style = {**centred, "fontsize": size, **style}
    axes.text(x, y, shown, parse_math=False, linespacing=1.15, **style)
    return True


def lighten(colour: str, share: float = 0.55) -> str:
    """Return a colour mixed with white."""
    parts = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    mixed = (round(part + (255 - part) * share) for part in parts)
    return "#" + "".join(f"{part:02x}" for part in mixed)


def draw_hidden(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Draw the dotted line of people whose number is hidden."""
    xs, ys = (start[0], end[0]), (start[1], end[1])
    axes.plot(xs, ys, color=BLACK, linewidth=0.5, linestyle=":", zorder=2, clip_on=False)
