"""Plots of stagings and CEGs: rows in, a figure with its caption out."""

from __future__ import annotations

from cegdb.pictures.plots.costaging import draw_costaging, shares_of_pairs, shares_of_stagings
from cegdb.pictures.plots.dendrogram import draw_dendrogram
from cegdb.pictures.plots.difference import StagingPair, draw_difference
from cegdb.pictures.plots.flow import draw_flow
from cegdb.pictures.plots.merges import draw_merges
from cegdb.pictures.plots.probabilities import draw_probabilities
from cegdb.pictures.plots.sheet import check_figure, check_width
from cegdb.pictures.plots.situations import draw_situations

__all__ = [
    "StagingPair",
    "check_figure",
    "check_width",
    "draw_costaging",
    "draw_dendrogram",
    "draw_difference",
    "draw_flow",
    "draw_merges",
    "draw_probabilities",
    "draw_situations",
    "shares_of_pairs",
    "shares_of_stagings",
]
