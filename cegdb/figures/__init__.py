"""Figures for papers and screens, the same in SVG, PDF and PNG (the extra ``draw``).

The layout of a graph comes from Graphviz (`cegdb.graphs.layout`); matplotlib paints it
and the plots, without any global state.
"""

from __future__ import annotations

from cegdb.figures.style import FIGURE_FILES, save

__all__ = ["FIGURE_FILES", "save"]
