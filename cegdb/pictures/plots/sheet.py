"""A sheet of paper in millimetres, on which plots are placed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from cegdb.atomic_files import check_folder, suffix_of
from cegdb.errors import GraphError, is_number
from cegdb.options import PlotOptions
from cegdb.pictures.style import (
    FIGURE_FILES,
    MM_PER_INCH,
    POINTS_PER_INCH,
    need_matplotlib,
    new_figure,
    text_size,
    wrap_text,
)

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

MARGIN: Final = 2.0
BLACK: Final = "#202020"
GREY: Final = "#8a8a8a"
BAND: Final = "#f3f3f3"
WIDTH: Final = PlotOptions.width_mm
_NOTE_SIZE: Final = 7.5  # points
_MM: Final = MM_PER_INCH / POINTS_PER_INCH
_NARROWEST: Final = 80
_WIDEST: Final = 1000


class Sheet:
    """An empty figure; positions are millimetres from its upper left corner.

    A note at its foot, which says what was left out, adds to the height.
    """

    def __init__(self, width: float, height: float, note: str = "") -> None:
        text = fit_text(note, width - 2 * MARGIN, _NOTE_SIZE)
        room = height_of(text, _NOTE_SIZE) + MARGIN if note else 0.0
        self.width, self.height = width, height + room
        self.figure = new_figure(self.width, self.height)
        if note:
            top = self.height - MARGIN - height_of(text, _NOTE_SIZE)
            self.text(MARGIN, top, text, _NOTE_SIZE, color="#505050")

    def axes(self, left: float, top: float, width: float, height: float) -> Axes:
        """Return axes that have no frame but for the line below."""
        axes = self.figure.add_axes(
            (
                left / self.width,
                1 - (top + height) / self.height,
                width / self.width,
                height / self.height,
            )
        )
        axes.tick_params(length=2, width=0.6, color=GREY)
        return axes

    def drawing(self, left: float, top: float, width: float, height: float) -> Axes:
        """Return invisible axes whose units are millimetres, downwards."""
        axes = self.axes(left, top, width, height)
        axes.set_axis_off()
        axes.set_xlim(0, width)
        axes.set_ylim(height, 0)
        return axes

    def text(self, x: float, y: float, text: str, size: float = 9, **style: Any) -> None:
        """Write a text; ``y`` is where its first line begins unless ``va`` says otherwise."""
        style = {"va": "top", "color": BLACK, "linespacing": 1.2, **style}
        self.figure.text(
            x / self.width, 1 - y / self.height, text, fontsize=size, parse_math=False, **style
        )


def shrink(sheet: Sheet, width: float) -> float:
    """Make a sheet as narrow as asked, its texts and lines too; return by how much."""
    scale = min(1.0, width / sheet.width)
    if scale == 1:
        return scale
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.text import Text

    figure = sheet.figure
    figure.set_size_inches(*(figure.get_size_inches() * scale))
    for artist in figure.findobj():
        if isinstance(artist, Text):
            artist.set_fontsize(float(artist.get_fontsize()) * scale)
        elif isinstance(artist, Line2D | Patch):
            artist.set_linewidth(artist.get_linewidth() * scale)
    return scale


def check_width(width: object) -> float:
    """Return a width in millimetres, refusing what no paper or screen has."""
    if not is_number(width) or not _NARROWEST <= width <= _WIDEST:
        raise GraphError(f"width must be {_NARROWEST} to {_WIDEST:,} mm, not {width!r}")
    return float(width)


def check_figure(path: Path) -> None:
    """Refuse a file that no plot can be written to, before it is made."""
    suffix_of(path, FIGURE_FILES, "a figure")
    check_folder(path)
    need_matplotlib()


def height_of(text: str, size: float = 9) -> float:
    """Return the height in millimetres of lines of text."""
    return text_size(text.split("\n"), size)[1] * _MM


def width_of(text: str, size: float = 9, *, bold: bool = False) -> float:
    """Return the width in millimetres of the widest line of a text."""
    return text_size(text.split("\n"), size, bold=bold)[0] * _MM


def fit_text(
    text: str, width: float, size: float = 9, most: int | None = None, *, bold: bool = False
) -> str:
    """Return a text in lines no wider than ``width`` millimetres.

    A text cut short to ``most`` lines ends in ``…``.
    """
    lines, characters = _lines(text, width, size, bold=bold)
    if most is not None and len(lines) > most:
        lines, characters = _lines(" ".join(text.splitlines()), width, size, bold=bold)
    if most is not None and len(lines) > most:
        last = "".join(lines[most - 1 :])[: 2 * characters + 4]
        while len(last) > 1 and width_of(last.rstrip() + "…", size, bold=bold) > width:
            last = last[:-1]
        lines = [*lines[: most - 1], last.rstrip() + "…"]
    return "\n".join(line.rstrip(" ") for line in lines)


def _lines(text: str, width: float, size: float, *, bold: bool) -> tuple[list[str], int]:
    """Return lines that are not too wide, and how many characters they may have."""
    characters = max(3, len(text))
    lines = wrap_text(text, characters).split("\n")
    while characters > 3 and max(width_of(one, size, bold=bold) for one in lines) > width:
        characters -= max(1, characters // 12)
        lines = wrap_text(text, max(3, characters)).split("\n")
    return lines, characters


def empty_sheet(text: str, note: str, width: float) -> Sheet:
    """Return a sheet that says that there is nothing to show, and what was left out."""
    sheet = Sheet(width, 12, note)
    sheet.text(MARGIN, MARGIN + 1, text)
    return sheet


def plain_axis(axes: Axes) -> None:
    """Take away the ticks and the line at the left of axes."""
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
