"""What all figures share: fonts, sizes, literal texts, reproducible files."""

from __future__ import annotations

import html
import io
import logging
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from cegdb.atomic_files import atomic_write, check_folder, suffix_of
from cegdb.errors import GraphError, MissingExtraError, path_of
from cegdb.graphs.label_text import text_lines, xml_text

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure
    from matplotlib.ft2font import FT2Font

FIGURE_FILES: Final = (".svg", ".pdf", ".png")
FONT: Final = "DejaVu Sans"  # matplotlib brings it
LINE_SPACING: Final = 1.2
MM_PER_INCH: Final = 25.4
POINTS_PER_INCH: Final = 72
_DOTS_PER_INCH: Final = 200
_MOST_DOTS: Final = 30_000  # a side of a PNG
MOST_INCHES: Final = 200  # a side of a PDF that readers open
_STYLE: Final[Any] = {
    "axes.edgecolor": "#404040",
    "axes.formatter.use_mathtext": False,
    "axes.labelsize": 9,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 9,
    "figure.facecolor": "white",
    "font.family": ["sans-serif"],
    "font.sans-serif": [FONT, "Verdana"],  # of the same widths, where an SVG is looked at
    "font.size": 9,
    "hatch.linewidth": 0.6,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "path.simplify": False,
    "pdf.fonttype": 42,
    "savefig.facecolor": "white",
    "svg.fonttype": "none",
    "svg.hashsalt": "cegdb",
    "text.parse_math": False,
    "text.usetex": False,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}


def need_matplotlib() -> None:
    """Refuse to make a figure where matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            "a figure needs matplotlib, which is not installed",
            hint='pip install "cegdb[draw]"',
        ) from error


@contextmanager
def figure_style(texts: Iterable[str] = ()) -> Iterator[None]:
    """Set fonts and lines of the figures made inside; nothing is changed outside.

    Fonts of the machine are added only for characters of ``texts``, all that the figure will
    show, which the font of the figures lacks.
    """
    need_matplotlib()
    import matplotlib as mpl

    with mpl.rc_context(_STYLE), _no_font_messages():
        mpl.rcParams["font.family"] = [
            "sans-serif",
            *_more_fonts(frozenset(xml_text("".join(texts)))),
        ]
        yield


def check_sizes(font_size: float, width_mm: float | None) -> None:
    """Refuse sizes that no figure has, before any work."""
    if not 1 <= font_size <= 100:
        raise GraphError(f"font_size must be 1 to 100 points, not {font_size!r}")
    if width_mm is not None and not 10 <= width_mm <= 5_000:
        raise GraphError(
            f"the width must be 10 to 5,000 mm, not {width_mm!r}",
            hint="an A4 page has room for 170 mm, one of two columns for 85",
        )


def new_figure(width_mm: float, height_mm: float) -> Figure:
    """Return an empty figure of that size, tied to no window."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width_mm / MM_PER_INCH, height_mm / MM_PER_INCH))


@dataclass(frozen=True, slots=True, repr=False)
class Picture:
    """A figure and its caption; a notebook shows both.

    Attributes
    ----------
    figure
        A ``matplotlib.figure.Figure``, which can be changed before it is saved.
    caption
        What colours, names and numbers mean, and what was left out.

    Examples
    --------
    >>> import tempfile
    >>> with figure_style():
    ...     picture = Picture(new_figure(50, 50), "Nothing.")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     picture.save(folder + "/nothing.svg").name
    'nothing.svg'
    """

    figure: Figure
    caption: str

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it into a file, whole or not at all, and return the file's path.

        Parameters
        ----------
        path
            Ends in ``.svg``, ``.pdf`` or ``.png`` (200 dots per inch). The same figure gives
            the same bytes: no dates, no random ids. The caption becomes the file's
            description.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        GraphError
            The suffix is unknown, or the file cannot be written.

        Examples
        --------
        >>> import cegdb, tempfile
        >>> picture = cegdb.open().demo("chds").plot.flow()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     picture.save(f"{folder}/flow.svg").name
        'flow.svg'
        """
        target = path_of(path)
        suffix = suffix_of(target, FIGURE_FILES, "a figure")
        check_folder(target)
        return atomic_write(target, render_figure(self.figure, suffix[1:], self.caption))

    def __repr__(self) -> str:
        """Return the caption."""
        return f"Picture: {self.caption}"

    def _repr_svg_(self) -> str:
        return svg_element(self.figure)

    def _repr_html_(self) -> str:
        return (
            f"<figure>{svg_element(self.figure)}"
            f"<figcaption>{html.escape(self.caption)}</figcaption></figure>"
        )


def render_figure(figure: Figure, form: str, caption: str = "") -> bytes:
    """Return a figure as the bytes of an ``svg``, ``pdf`` or ``png`` file."""
    import warnings

    import matplotlib as mpl

    inches = float(max(figure.get_size_inches()))
    if form == "pdf" and inches > MOST_INCHES:
        raise GraphError(
            f"the figure is {inches * MM_PER_INCH:,.0f} mm long, more than the "
            f"{MOST_INCHES * MM_PER_INCH:,.0f} mm of the largest PDF page",
            hint="write an .svg file, or draw less",
        )
    description = xml_text(caption) or None
    metadata: dict[str, dict[str, Any]] = {
        "svg": {"Date": None, "Creator": None, "Description": description},
        "pdf": {
            "CreationDate": None,
            "Creator": None,
            "Producer": None,
            "Subject": description,
        },
        "png": {"Software": None, **({"Description": description} if description else {})},
    }
    stream = io.BytesIO()
    # A font that lacks a glyph shows a box, and the SVG has the text itself.
    with mpl.rc_context(_STYLE), warnings.catch_warnings(), _no_font_messages():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(
            stream,
            format=form,
            dpi=min(_DOTS_PER_INCH, int(_MOST_DOTS / inches)),
            metadata=metadata[form],
        )
    return stream.getvalue()


def svg_element(figure: Figure) -> str:
    """Return a figure as an ``<svg>`` element, for a notebook or a web page."""
    document = render_figure(figure, "svg").decode()
    return document[document.index("<svg ") :]


def wrap_text(text: str, width: int) -> str:
    """Return a text as a figure shows it: control characters as symbols, long lines wrapped.

    Pass it to matplotlib with ``parse_math=False``, so that ``$`` is a dollar.
    """
    return "\n".join(text_lines([text.expandtabs(4)], width))


def text_size(
    lines: Sequence[str], font_size: float, *, bold: bool = False
) -> tuple[float, float]:
    """Return width and height in points of lines of text, one below the other."""
    widest = max((_width(line, bold=bold) for line in lines), default=0.0)
    return widest * font_size, len(lines) * LINE_SPACING * font_size


@contextmanager
def _no_font_messages() -> Iterator[None]:
    """Keep matplotlib from logging which font stood in for which."""
    logger = logging.getLogger("matplotlib.font_manager")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


@cache
def _width(line: str, *, bold: bool) -> float:
    """Return the width of a line in units of the font size."""
    line = line.expandtabs(4)
    font = _font(bold=bold)
    if all(font.get_char_index(ord(character)) for character in line):
        font.set_text(line)
        return float(font.get_width_height()[0]) / 64 / 100
    known = "".join(c if font.get_char_index(ord(c)) else "漢" for c in line)
    return sum(1.0 if c == "漢" else _width(c, bold=bold) for c in known)


def has_glyph(character: str) -> bool:
    """Return whether the font of the figures has a character."""
    return bool(_font(bold=False).get_char_index(ord(character)))


@cache
def _font(*, bold: bool) -> FT2Font:
    from matplotlib.font_manager import FontProperties, findfont
    from matplotlib.ft2font import FT2Font

    path = findfont(FontProperties(family=FONT, weight="bold" if bold else "normal"))
    font = FT2Font(path)  # get_font would share it, and its size, with the painting
    font.set_size(100, 72)
    return font


@cache
def _more_fonts(characters: frozenset[str]) -> tuple[str, ...]:
    """Return the fonts of the machine that have what the font of the figures lacks."""
    lacking = {ord(c) for c in characters if c.isprintable()} - set(
        _font(bold=False).get_charmap()
    )
    if not lacking:
        return ()
    from matplotlib.font_manager import fontManager, get_font

    chosen: list[str] = []
    for entry in sorted(fontManager.ttflist, key=lambda e: (e.name, e.fname)):
        if not lacking:
            break
        is_plain = entry.style == "normal" and entry.weight == 400
        if not is_plain or entry.name in chosen or entry.name.startswith("Last Resort"):
            continue
        had = lacking & set(get_font(entry.fname).get_charmap())
        if had:
            chosen.append(entry.name)
            lacking -= had
    return tuple(chosen)
