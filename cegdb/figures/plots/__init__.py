"""Plots of stagings and CEGs: rows in, a figure with its caption out."""

from __future__ import annotations

from cegdb.figures.plots.costaging import draw_costaging, shares_of_pairs, shares_of_stagings
from cegdb.figures.plots.dendrogram import draw_dendrogram
from cegdb.figures.plots.difference import Compared, draw_difference
from cegdb.figures.plots.flow import draw_flow
from cegdb.figures.plots.forest import choose_trees, cut_back, grow
from cegdb.figures.plots.gains import beyond
from cegdb.figures.plots.probabilities import draw_probabilities
from cegdb.figures.plots.sheet import check_figure, checked_width, some
from cegdb.figures.plots.situations import draw_situations
from cegdb.figures.plots.trace import draw_trace

__all__ = [
    "Compared",
    "beyond",
    "check_figure",
    "checked_width",
    "choose_trees",
    "cut_back",
    "draw_costaging",
    "draw_dendrogram",
    "draw_difference",
    "draw_flow",
    "draw_probabilities",
    "draw_situations",
    "draw_trace",
    "grow",
    "shares_of_pairs",
    "shares_of_stagings",
    "some",
]
