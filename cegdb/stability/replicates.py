"""Replicates of the rows of a tree: drawn again from them, or simulated from its stages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from cegdb.options import WeightChoice
    from cegdb.stages.effective_counts import Weighting

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int64]


class Replicate(NamedTuple):
    """Rows of a tree by vertex: how many reach it, and their effective number.

    ``size`` is that number on the edge that leads to the vertex; 0 for the root.
    """

    n: Numbers
    size: Floats


@dataclass(frozen=True)
class TreeRows:
    """The rows of a tree that replicates are made of, by vertex (ids from 0, by depth).

    Attributes
    ----------
    parent
        Shape (vertices,), ascending; -1 for the root.
    depth_starts
        The first vertex of each depth, and last the number of vertices.
    n_ended
        Rows that end at each: all of a leaf, those that stop at a situation.
    size
        The effective number of rows on the edge to each.
    effect
        The design effect of that edge's variable.
    share
        The share of that edge in its stage, by effective numbers; the posterior mean in stages
        that no row reached.
    weight, weight_sq
        The mean weight and mean squared weight of the rows that end at each; None if weights
        do not count.
    choice
        How they count.
    factor
        Respondents per unit of weight; None if each situation has its own.
    """

    parent: Numbers
    depth_starts: Numbers
    n_ended: Numbers
    size: Floats
    effect: Floats
    share: Floats
    weight: Floats | None = None
    weight_sq: Floats | None = None
    choice: WeightChoice = "none"
    factor: float | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.n_ended.sum())

    def sum_towards_root(self, ended: NDArray[Any]) -> NDArray[Any]:
        """Return how much reaches each vertex, given how much ends at each."""
        total = ended.copy()
        for low, high in zip(self.depth_starts[-2:0:-1], self.depth_starts[:1:-1], strict=True):
            np.add.at(total, self.parent[low:high], total[low:high])
        return total

    def draw(self, random: np.random.Generator) -> Replicate:
        """Draw as many rows from the rows there are, with replacement.

        Rows that end at one vertex are alike, so how many of them are drawn is multinomial.
        Each of them has their mean weight and mean squared weight.
        """
        ended = np.zeros_like(self.n_ended)
        ends = np.flatnonzero(self.n_ended)
        if len(ends):
            ended[ends] = random.multinomial(self.n_rows, self.n_ended[ends] / self.n_rows)
        return self.replicate(ended)

    def replicate(self, ended: Numbers) -> Replicate:
        """Return the rows that reach each vertex, and their effective number."""
        n = self.sum_towards_root(ended)
        if self.weight is None or self.weight_sq is None:
            size = n / self.effect
            size[0] = 0
            return Replicate(n, size)
        weight = self.sum_towards_root(ended * self.weight)
        weight_sq = self.sum_towards_root(ended * self.weight_sq)
        inner = self.parent[1:]
        if self.factor is not None:
            factor = np.full(
                len(inner), self.factor * self._factor_change(weight[0], weight_sq[0])
            )
        else:
            total = np.bincount(inner, weight[1:], len(n))
            squares = np.bincount(inner, weight_sq[1:], len(n))
            ratio = np.divide(total, squares, out=np.zeros(len(n)), where=squares > 0)
            factor = ratio[inner]
        size = np.zeros(len(n))
        size[1:] = weight[1:] * factor / self.effect[1:]
        return Replicate(n, size)

    def _factor_change(self, weight: float, weight_sq: float) -> float:
        """Return how the respondents per unit of weight change in a replicate."""
        total, squares = self._totals
        if weight <= 0 or weight_sq <= 0:
            return 0.0
        if self.choice == "total":
            return total / weight
        return (weight / weight_sq) / (total / squares)

    @cached_property
    def _totals(self) -> tuple[float, float]:
        assert self.weight is not None  # noqa: S101
        assert self.weight_sq is not None  # noqa: S101
        return float(self.n_ended @ self.weight), float(self.n_ended @ self.weight_sq)

    def simulate(self, random: np.random.Generator) -> Replicate:
        """Send as many rows down the tree, by the shares of the stage of each situation.

        Rows stop at a situation with the share that stops there. A row on an edge counts what a
        row of its situation counts on average.
        """
        n = np.zeros_like(self.n_ended)
        n[0] = self.n_rows
        for situation, children, share in self._florets:
            n[children] = random.multinomial(n[situation], share)[:, :-1]
        size = np.zeros(len(n))
        size[1:] = n[1:] * self._row_size[self.parent[1:]]
        return Replicate(n, size)

    @cached_property
    def _row_size(self) -> Floats:
        """What a row of each situation counts; if it has no rows, the mean over all."""
        if len(self.parent) == 1:
            return np.ones(1)
        n = self.sum_towards_root(self.n_ended)
        size = np.bincount(self.parent[1:], self.size[1:], len(n))
        rows = np.bincount(self.parent[1:], n[1:].astype(np.float64), len(n))
        mean = size.sum() / max(rows.sum(), 1.0)
        row_size: Floats = np.divide(size, rows, out=np.full(len(n), mean), where=rows > 0)
        return row_size

    @cached_property
    def _florets(self) -> list[tuple[Numbers, Numbers, Floats]]:
        """Situations, children and shares (stopping last), by depth and number of edges."""
        n = self.sum_towards_root(self.n_ended)
        stops = np.divide(self.n_ended, n, out=np.zeros(len(n)), where=n > 0)
        n_edges = np.bincount(self.parent[1:], minlength=len(n))
        first = np.searchsorted(self.parent, np.arange(len(n)))
        florets = []
        for low, high in zip(self.depth_starts[:-1], self.depth_starts[1:], strict=True):
            for width in np.unique(n_edges[low:high]):
                if width == 0:
                    continue
                situation = low + np.flatnonzero(n_edges[low:high] == width)
                children = first[situation][:, None] + np.arange(width)
                share = np.empty((len(situation), width + 1))
                share[:, :-1] = self.share[children]
                share[:, :-1] /= share[:, :-1].sum(axis=1, keepdims=True)
                share[:, :-1] *= 1 - stops[situation][:, None]
                share[:, -1] = stops[situation]
                florets.append((situation, children, share))
        return florets


def read_rows(
    ends: Mapping[str, NDArray[Any]], weighting: Weighting, factor: float | None
) -> TreeRows:
    """Return the rows of a tree from the columns of ``vertex_end``, by vertex.

    ``factor`` is the number of respondents per unit of weight; None if each situation has its
    own.
    """
    depth, ended = ends["depth"], ends["n_ended"].astype(np.int64)
    starts = np.searchsorted(depth, np.arange(int(depth[-1]) + 2))
    effect = np.ones(len(depth))
    for name, value in weighting.effects.items():
        effect[ends["variable_id"] == weighting.variable_ids[name]] = value
    rows = TreeRows(
        parent=ends["parent_id"].astype(np.int64),
        depth_starts=starts,
        n_ended=ended,
        size=ends["size"],
        effect=effect,
        share=_shares(ends),
    )
    if not weighting.uses_weights:
        return rows
    mean = {
        name: np.divide(
            np.ma.filled(ends[f"{name}_ended"], 0.0),
            ended,
            out=np.zeros(len(ended)),
            where=ended > 0,
        )
        for name in ("weight", "weight_sq")
    }
    return replace(rows, **mean, choice=weighting.choice, factor=factor)


def _shares(ends: Mapping[str, NDArray[Any]]) -> Floats:
    """Return the share of each edge in its stage; the root's is 1."""
    label = ends["label_id"].astype(np.int64)
    label -= label.min()
    stage = ends["stage_id"].astype(np.int64) + 1
    size = ends["size"]
    _, answer = np.unique(stage * (label.max() + 1) + label, return_inverse=True)
    _, stage = np.unique(stage, return_inverse=True)
    total = np.bincount(stage, size)[stage]
    share = ends["probability"].astype(np.float64)
    np.divide(np.bincount(answer, size)[answer], total, out=share, where=total > 0)
    share[0] = 1.0
    return share
