"""A sheet of paper in millimetres, on which plots are placed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from cegdb.atomic_files import check_folder
from cegdb.errors import GraphError, is_number
from cegdb.graphs.graph_files import suffix_of
from cegdb.graphs.label_text import one_line
from cegdb.pictures.style import (
    FIGURE_FILES,
    MM_PER_INCH,
    POINTS_PER_INCH,
    literal,
    need_matplotlib,
    new_figure,
    text_size,
)

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

MARGIN: Final = 2.0
INK: Final = "#202020"
FAINT: Final = "#8a8a8a"
BAND: Final = "#f3f3f3"
WIDTH: Final = 170.0
_MM: Final = MM_PER_INCH / POINTS_PER_INCH
_NARROWEST: Final = 80
_WIDEST: Final = 1000


class Sheet:
    """An empty figure; places are millimetres from its upper left corner."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self.figure = new_figure(width, height)

    def axes(self, left: float, top: float, width: float, height: float) -> Axes:
        """Return axes at a place, without a frame but for the line below."""
        axes = self.figure.add_axes(
            (
                left / self.width,
                1 - (top + height) / self.height,
                width / self.width,
                height / self.height,
            )
        )
        axes.tick_params(length=2, width=0.6, color=FAINT)
        return axes

    def drawing(self, left: float, top: float, width: float, height: float) -> Axes:
        """Return invisible axes whose units are millimetres, downwards."""
        axes = self.axes(left, top, width, height)
        axes.set_axis_off()
        axes.set_xlim(0, width)
        axes.set_ylim(height, 0)
        return axes

    def text(self, x: float, y: float, text: str, size: float = 9, **look: Any) -> None:
        """Write a text; ``y`` is where its first line begins unless ``va`` says otherwise."""
        place = {"va": "top", "color": INK, "linespacing": 1.2, **look}
        self.figure.text(
            x / self.width, 1 - y / self.height, text, fontsize=size, parse_math=False, **place
        )


def shrunk(sheet: Sheet, width: float) -> float:
    """Make a sheet as narrow as asked, its texts and lines too; return by how much.

    Examples
    --------
    >>> from cegdb.pictures.style import styled
    >>> with styled():
    ...     shrunk(Sheet(340, 100), 170)
    0.5
    """
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


def checked_width(width: object) -> float:
    """Return a width in millimetres, refusing what no paper or screen has.

    Examples
    --------
    >>> checked_width(10)
    Traceback (most recent call last):
    ...
    cegdb.errors.GraphError: width is 10, expected millimetres from 80 to 1000
    """
    if not is_number(width) or not _NARROWEST <= width <= _WIDEST:
        raise GraphError(
            f"width is {width!r}, expected millimetres from {_NARROWEST} to {_WIDEST}"
        )
    return float(width)


def check_figure(path: Path) -> None:
    """Refuse a file that no plot can be written to, before it is made.

    Raises
    ------
    GraphError
        The suffix is unknown, or there is no such folder.
    MissingExtraError
        matplotlib is not installed.

    Examples
    --------
    >>> from pathlib import Path
    >>> check_figure(Path("fall.svg"))
    """
    suffix_of(path, FIGURE_FILES, "a figure")
    check_folder(path)
    need_matplotlib()


def height_of(text: str, size: float = 9) -> float:
    """Return the height in millimetres of lines of text.

    Examples
    --------
    >>> round(height_of("one"), 2)
    3.81
    """
    return text_size(text.split("\n"), size)[1] * _MM


def width_of(text: str, size: float = 9, *, bold: bool = False) -> float:
    """Return the width in millimetres of the widest line of a text.

    Examples
    --------
    >>> width_of("a") < width_of("aa")
    True
    """
    return text_size(text.split("\n"), size, bold=bold)[0] * _MM


def fitted(
    text: str, width: float, size: float = 9, most: int | None = None, *, bold: bool = False
) -> str:
    r"""Return a text in lines that are no wider than ``width`` millimetres.

    Parameters
    ----------
    text, width, size, bold
        What to write, where, and how.
    most
        The most lines; a text cut short ends in ``…``.

    Examples
    --------
    >>> fitted("assessed and not treated at home", 20, most=2)
    'assessed\nand not tr…'
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
    lines = literal(text, characters).split("\n")
    while characters > 3 and max(width_of(one, size, bold=bold) for one in lines) > width:
        characters -= max(1, characters // 12)
        lines = literal(text, max(3, characters)).split("\n")
    return lines, characters


def people(n: int | None) -> str:
    """Return a count as it is shown; a hidden one is ``…``.

    Examples
    --------
    >>> people(1234), people(None)
    ('1,234', '…')
    """
    return "…" if n is None else f"{n:,}"


def some(n: int, one: str, many: str | None = None) -> str:
    """Return a number of things in words.

    Examples
    --------
    >>> some(1, "stage"), some(1200, "stage"), some(2, "person", "people")
    ('1 stage', '1,200 stages', '2 people')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def sentences(*parts: str) -> str:
    """Return sentences as a paragraph, empty ones left out.

    Examples
    --------
    >>> sentences("One", "", "Two")
    'One. Two.'
    """
    return one_line(" ".join(f"{part}." for part in parts if part))


def write_note(sheet: Sheet, note: str) -> None:
    """Write what was left out at the foot of a sheet made with room for it."""
    if note:
        text = fitted(note, sheet.width - 2 * MARGIN, 7.5)
        top = sheet.height - MARGIN - height_of(text, 7.5)
        sheet.text(MARGIN, top, text, 7.5, color="#505050")


def note_height(note: str, width: float) -> float:
    """Return the room that a note takes at the foot of a sheet.

    Examples
    --------
    >>> note_height("", 170)
    0.0
    """
    if not note:
        return 0.0
    return height_of(fitted(note, width - 2 * MARGIN, 7.5), 7.5) + MARGIN


def empty_sheet(text: str, note: str, width: float) -> Sheet:
    """Return a sheet that says that there is nothing to show, and what was left out.

    Examples
    --------
    >>> empty_sheet("There are no merges to show.", "", 100).width
    100
    """
    sheet = Sheet(width, 12 + note_height(note, width))
    sheet.text(MARGIN, MARGIN + 1, text)
    write_note(sheet, note)
    return sheet
