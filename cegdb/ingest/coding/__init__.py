"""Cells to coded levels, counts and weights."""
