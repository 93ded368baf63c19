"""Figures for papers and screens, the same in SVG, PDF and PNG (the extra ``draw``).

The layout of a graph comes from `cegdb.graphs.layout`; matplotlib paints it
and the plots, without any global state.
"""

from __future__ import annotations

from cegdb.pictures.painting import graph_figure
from cegdb.pictures.picture_files import check_picture, draw, summary_and_picture, svg
from cegdb.pictures.style import FIGURE_FILES, Picture
from cegdb.pictures.tikz import to_tikz

__all__ = [
    "FIGURE_FILES",
    "Picture",
    "check_picture",
    "draw",
    "graph_figure",
    "summary_and_picture",
    "svg",
    "to_tikz",
]
