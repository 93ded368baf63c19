"""Message passing over a graph in a semiring: one pass over the edges, no list of paths."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

Ints: TypeAlias = "NDArray[np.int64]"
Floats: TypeAlias = "NDArray[np.float64]"


class Semiring(NamedTuple):
    """Values multiply along a path and add up where paths meet; an empty path has ``one``."""

    add: np.ufunc
    multiply: np.ufunc
    zero: Any
    one: Any


SUM_PRODUCT = Semiring(np.add, np.multiply, 0.0, 1.0)
"""Probabilities."""
MAX_PRODUCT = Semiring(np.maximum, np.multiply, 0.0, 1.0)
"""The probability of the most probable path."""
MIN_SUM = Semiring(np.minimum, np.add, np.inf, 0.0)
"""The smallest sum over a path."""
MAX_SUM = Semiring(np.maximum, np.add, -np.inf, 0.0)
"""The largest sum over a path."""
PATH_COUNT = Semiring(np.add, np.multiply, 0, 1)
"""The number of paths, in Python integers (dtype object), which do not overflow."""


class Ring(NamedTuple):
    """Arithmetic for `path_sums`: ``total(values, starts)`` sums each run of values."""

    one: Any
    multiply: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]
    total: Callable[[NDArray[Any], Ints], NDArray[Any]]


def _total(value: NDArray[Any], starts: Ints) -> NDArray[Any]:
    sums: NDArray[Any] = np.add.reduceat(value, starts, axis=0)
    return sums


REAL: Final = Ring(1.0, np.multiply, _total)
"""Floating-point numbers."""


@dataclass(frozen=True)
class Graph:
    """A directed acyclic graph: node 0 is the root, the last node the only sink.

    Nodes are sorted by falling height, edges by source; an edge leads to a smaller height.
    """

    height: Ints
    source: Ints
    target: Ints

    @property
    def n_nodes(self) -> int:
        """Number of nodes, including the sink."""
        return len(self.height)

    @cached_property
    def _layers_by_source(self) -> list[tuple[slice, Ints, Ints]]:
        return list(self._layers(self.source))

    @cached_property
    def _layers_by_target(self) -> tuple[Ints, list[tuple[slice, Ints, Ints]]]:
        order = np.argsort(self.target, kind="stable")
        return order, list(self._layers(self.target[order]))

    def layers(self) -> list[slice]:
        """Return the edges in layers, by the height of their source, the highest first."""
        return [part for part, _, _ in self._layers_by_source]

    def _layers(self, nodes: Ints) -> Iterator[tuple[slice, Ints, Ints]]:
        """Yield, for each height, its edges, the start of each node's edges, and the nodes."""
        if not len(nodes):
            return
        starts = np.flatnonzero(np.diff(nodes, prepend=-1))
        heights = self.height[nodes[starts]]
        cuts = np.flatnonzero(np.diff(heights)) + 1
        ends = np.append(starts, len(nodes))
        for group in np.split(np.arange(len(starts)), cuts):
            first = starts[group[0]]
            part = slice(int(first), int(ends[group[-1] + 1]))
            yield part, starts[group] - first, nodes[starts[group]]

    def forward(self, value: NDArray[Any], semiring: Semiring = SUM_PRODUCT) -> NDArray[Any]:
        """Return the forward message at each node: from the root to there.

        ``value`` has one row per edge; further axes are independent passes. Sums are taken
        in the order of the edges, so they are the same in every run.

        Examples
        --------
        >>> chain = Graph(np.array([2, 1, 0]), np.array([0, 0, 1, 1]), np.array([1, 1, 2, 2]))
        >>> chain.forward(np.array([0.25, 0.75, 0.5, 0.25]))
        array([1.  , 1.  , 0.75])
        """
        message = np.full((self.n_nodes, *value.shape[1:]), semiring.zero, value.dtype)
        message[0] = semiring.one
        order, layers = self._layers_by_target
        source = self.source[order]
        ordered = value[order]
        for part, starts, nodes in layers:
            passed = semiring.multiply(message[source[part]], ordered[part])
            message[nodes] = semiring.add.reduceat(passed, starts, axis=0)
        return message

    def backward(self, value: NDArray[Any], semiring: Semiring = SUM_PRODUCT) -> NDArray[Any]:
        """Return the backward message at each node: from there to the sink.

        Examples
        --------
        >>> chain = Graph(np.array([2, 1, 0]), np.array([0, 0, 1, 1]), np.array([1, 1, 2, 2]))
        >>> chain.backward(np.array([1, 1, 1, 1], object), PATH_COUNT)
        array([4, 2, 1], dtype=object)
        """
        message = np.full((self.n_nodes, *value.shape[1:]), semiring.zero, value.dtype)
        message[-1] = semiring.one
        for part, starts, nodes in reversed(self._layers_by_source):
            passed = semiring.multiply(value[part], message[self.target[part]])
            message[nodes] = semiring.add.reduceat(passed, starts, axis=0)
        return message
