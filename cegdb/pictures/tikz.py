"""Graphs as TikZ, with styles to edit by name, in a LaTeX file that compiles as it is."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from cegdb.graphs.label_text import text_colour, text_lines
from cegdb.graphs.layout import MAX_DRAWN_EDGES, layout
from cegdb.options import PictureOptions
from cegdb.pictures.captions import graph_caption
from cegdb.pictures.style import (
    MM_PER_INCH,
    POINTS_PER_INCH,
    check_sizes,
    has_glyph,
    need_matplotlib,
    text_size,
)
from cegdb.render.markup import LATEX, directed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cegdb.graphs.graphviz import Point
    from cegdb.graphs.layout import Box, Curve, Layout
    from cegdb.graphs.networkx_graphs import Graph
    from cegdb.options import EdgeInfo

_SPECIAL: Final = {
    **LATEX,
    '"': r"\textquotedbl{}",
    "-": "{-}",
    ",": "{,}",
    "\xa0": "~",
    "\xad": "{-}",
    "∞": r"\ensuremath{\infty}",
    "…": r"\ldots{}",
    "\ufffd": r"\symbol{65533}",
}
_BORDER: Final = 6  # points
_HEAD: Final = r"""
\documentclass[tikz,border=6bp]{standalone}
\usepackage{iftex}
\ifTUTeX
  \usepackage{fontspec}
  \let\cegarabic\relax
  \IfFontExistsTF{DejaVu Sans}{%
    \ifLuaTeX
      \setsansfont{DejaVu Sans}[RawFeature={-tlig;-liga}]
      \newfontfamily\cegarabic{DejaVu Sans}[Renderer=HarfBuzz, Script=Arabic]
    \else
      \setsansfont{DejaVu Sans}[Ligatures={TeXReset, NoCommon}]
      \newfontfamily\cegarabic{DejaVu Sans}[Script=Arabic]
    \fi}{}
\else
  \usepackage[T1]{fontenc}
  \usepackage{textcomp}
  \usepackage{lmodern}
\fi
REQUIRED\ifLuaTeX
  \newcommand\cegrtl[1]{{\textdir TRT\cegarabic #1}}
  \newcommand\cegltr[1]{{\textdir TLT #1}}
\else\ifXeTeX
  \TeXXeTstate=1
  \newcommand\cegrtl[1]{\beginR{\cegarabic #1}\endR}
  \newcommand\cegltr[1]{\beginL #1\endL}
\fi\fi
\newcommand\cegchar[1]{\iffontchar\font"#1 \char"#1\else\fbox{\tiny#1}\fi}
\usetikzlibrary{arrows.meta}
""".lstrip()
_STYLES: Final = r"""
% Edit these styles; vertices, edges and labels below only name them.
\tikzset{
  ceg/vertex/.style={draw=black!75, fill=white, rounded corners=3bp, line width=0.6bp,
    inner sep=1bp, align=center},
  ceg/situation/.style={ceg/vertex},
  ceg/position/.style={ceg/vertex},
  ceg/leaf/.style={ceg/vertex, draw=black!30},
  ceg/sink/.style={ceg/vertex, line width=1.4bp},
  ceg/collapsed/.style={ceg/vertex, dashed},
  ceg/edge/.style={draw=black!40, -{Stealth[length=4bp, width=4bp]}},
  ceg/edge label/.style={fill=white, fill opacity=0.75, text opacity=1, inner sep=0.4bp,
    align=center},
  ceg/variable/.style={font=\bfseries, align=center},
""".lstrip()


def to_tikz(
    graph: Graph,
    *,
    edge_info: EdgeInfo = PictureOptions.edge_info,
    font_size: float = PictureOptions.font_size,
    width_mm: float | None = None,
    most_edges: int = MAX_DRAWN_EDGES,
) -> str:
    r"""Return the graph as a LaTeX document with one TikZ picture, laid out as figures are.

    It compiles by itself, and a paper that uses the package ``standalone`` takes it by
    ``\input``. With letters that pdfLaTeX lacks it asks for LuaLaTeX or XeLaTeX.
    """
    need_matplotlib()
    check_sizes(font_size, width_mm)
    wanted = (
        None if width_mm is None else width_mm / MM_PER_INCH * POINTS_PER_INCH - 2 * _BORDER
    )
    placed = layout(
        graph,
        partial(text_size, font_size=font_size),
        edge_info=edge_info,
        width=wanted,
        most_edges=most_edges,
    )
    scale = 1.0 if wanted is None else min(1.0, wanted / placed.width)
    text_height = font_size * scale if scale < 0.99 else None
    caption = graph_caption(graph, edge_info=edge_info, text_size=text_height)
    body = "\n".join(_picture_lines(placed, font_size))
    comment = "\n".join(f"% {line}" for line in text_lines([caption], 88))
    needs_unicode = any(ord(c) >= 0x180 or c in "\x7f" for c in body)
    required = (
        "\\RequireTUTeX % its letters need LuaLaTeX or XeLaTeX\n" if needs_unicode else ""
    )
    numbers = _stage_numbers(placed.boxes)
    stages = "".join(
        f"  ceg/stage {numbers[box.stage]}/.style={{fill={{rgb,255:{_rgb(box.colour)}}}, "
        f"text={'white' if text_colour(box.colour) == '#ffffff' else 'black'}}},\n"
        for box in _first_of_stages(placed.boxes)
    )
    return (
        f"{comment}\n{_HEAD.replace('REQUIRED', required)}{_STYLES}{stages}}}\n"
        "\\begin{document}\n\\begin{tikzpicture}[x=1bp, y=-1bp, "
        f"{f'scale={scale:.4g}, transform shape, ' if scale < 1 else ''}"
        f"node font=\\sffamily\\fontsize{{{font_size:g}bp}}{{{font_size * 1.2:g}bp}}"
        "\\selectfont]\n"
        f"{body}\n\\end{{tikzpicture}}\n\\end{{document}}\n"
    )


def latex_line(text: str) -> str:
    """Return a line of text as LaTeX source that shows it literally."""
    spaced = text.expandtabs(4).replace("  ", "\xa0 ").replace("  ", "\xa0 ")
    if spaced.startswith(" "):
        spaced = "\xa0" + spaced[1:]
    return "".join(
        _SPECIAL.get(c) or (c if has_glyph(c) else _glyph_or_code(c)) for c in spaced
    )


def _glyph_or_code(character: str) -> str:
    """Return a character that LaTeX's font may lack; then it shows as its number in a box."""
    return rf"\cegchar{{{ord(character):04X}}}"


def _picture_lines(placed: Layout, font_size: float) -> Iterator[str]:
    numbers = _stage_numbers(placed.boxes)
    for column in placed.columns:
        where = _at((column.x, text_size(column.lines, font_size)[1] / 2))
        yield f"\\node[ceg/variable] at {where} {{{_node_text(column.lines)}}};"
    for curve in placed.curves:
        yield _edge_command(curve)
    for curve in placed.curves:
        where = _at((curve.x, curve.y))
        yield f"\\node[ceg/edge label] at {where} {{{_node_text(curve.lines)}}};"
    for box in placed.boxes:
        stage = f", ceg/stage {numbers[box.stage]}" if box.is_shared else ""
        size = f"minimum width={box.width:.4g}bp, minimum height={box.height:.4g}bp"
        yield (
            f"\\node[ceg/{box.kind}{stage}, {size}] at {_at((box.x, box.y))} "
            f"{{{_node_text(box.lines)}}};"
        )


def _edge_command(curve: Curve) -> str:
    first, *rest = curve.points
    threes = (
        f" .. controls {_at(a)} and {_at(b)} .. {_at(c)}"
        for a, b, c in zip(rest[::3], rest[1::3], rest[2::3], strict=True)
    )
    return (
        f"\\draw[ceg/edge, line width={curve.line_width:.3g}bp] {_at(first)}{''.join(threes)};"
    )


def _at(point: Point) -> str:
    return "({:.7g}, {:.7g})".format(*(round(number, 2) for number in point))


def _rgb(colour: str) -> str:
    red, green, blue = bytes.fromhex(colour[1:])
    return f"red,{red};green,{green};blue,{blue}"


def _first_of_stages(boxes: Iterable[Box]) -> list[Box]:
    return list({box.stage: box for box in boxes if box.is_shared}.values())


def _stage_numbers(boxes: Iterable[Box]) -> dict[str | None, int]:
    """Return a number of each shared stage: its name may hold what a style's cannot."""
    return {box.stage: i for i, box in enumerate(_first_of_stages(boxes))}


def _node_text(lines: Iterable[str]) -> str:
    return r"\\".join(directed(line, latex_line) or "~" for line in lines)
