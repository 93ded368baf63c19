"""Passes over a graph in a semiring: each edge once, by height; paths are never listed."""

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
    """How values join where paths meet, and along a path; ``one`` is an empty path's."""

    add: np.ufunc
    multiply: np.ufunc
    zero: Any
    one: Any


SUM = Semiring(np.add, np.multiply, 0.0, 1.0)
"""Probabilities."""
MOST = Semiring(np.maximum, np.multiply, 0.0, 1.0)
"""The most probable path."""
NUMBER = Semiring(np.add, np.multiply, 0, 1)
"""How many paths; of Python integers (dtype object), which do not overflow."""


class Ring(NamedTuple):
    """How values that are carried along paths are calculated with.

    Parameters
    ----------
    one
        An empty path's.
    multiply
        Of two arrays.
    total
        Of an array and the starts of its runs: the sum of each run.
    """

    one: Any
    multiply: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]
    total: Callable[[NDArray[Any], Ints], NDArray[Any]]


def _total(value: NDArray[Any], starts: Ints) -> NDArray[Any]:
    found: NDArray[Any] = np.add.reduceat(value, starts, axis=0)
    return found


REAL: Final = Ring(1.0, np.multiply, _total)
"""Doubles."""


@dataclass(frozen=True)
class Graph:
    """A rooted graph without cycles and with one sink.

    Node 0 is the root, the last one the sink; edges lead to higher nodes, which lie lower.

    Parameters
    ----------
    height
        Of each node, never growing with its number; an edge leads to a smaller height.
    source, target
        Nodes of each edge; edges are sorted by source.
    """

    height: Ints
    source: Ints
    target: Ints

    @property
    def n_nodes(self) -> int:
        """Number of nodes, the sink included."""
        return len(self.height)

    @cached_property
    def _out(self) -> list[tuple[slice, Ints, Ints]]:
        return list(self._layers(self.source))

    @cached_property
    def _into(self) -> tuple[Ints, list[tuple[slice, Ints, Ints]]]:
        order = np.argsort(self.target, kind="stable")
        return order, list(self._layers(self.target[order]))

    def layers(self) -> list[slice]:
        """Return the edges of each height of their source, the highest first."""
        return [part for part, _, _ in self._out]

    def _layers(self, nodes: Ints) -> Iterator[tuple[slice, Ints, Ints]]:
        """Give, for each height, its edges, where each node's start, and these nodes."""
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

    def forward(self, value: NDArray[Any], semiring: Semiring = SUM) -> NDArray[Any]:
        """Return what reaches each node from the root.

        Parameters
        ----------
        value
            Of each edge; further axes are passes of their own.
        semiring
            How values are joined.

        Returns
        -------
        ndarray
            Of each node; the last is that of all paths.

        Notes
        -----
        O(edges): ``docs/theory.md``, section 8. Sums are taken in the order of the edges, so
        they do not change from run to run.

        Examples
        --------
        >>> chain = Graph(np.array([2, 1, 0]), np.array([0, 0, 1, 1]), np.array([1, 1, 2, 2]))
        >>> chain.forward(np.array([0.25, 0.75, 0.5, 0.25]))
        array([1.  , 1.  , 0.75])
        """
        found = np.full((self.n_nodes, *value.shape[1:]), semiring.zero, value.dtype)
        found[0] = semiring.one
        order, layers = self._into
        source = self.source[order]
        ordered = value[order]
        for part, starts, nodes in layers:
            passed = semiring.multiply(found[source[part]], ordered[part])
            found[nodes] = semiring.add.reduceat(passed, starts, axis=0)
        return found

    def backward(self, value: NDArray[Any], semiring: Semiring = SUM) -> NDArray[Any]:
        """Return what lies between each node and the sink; the first is that of all paths.

        Arguments as `forward`.

        Examples
        --------
        >>> chain = Graph(np.array([2, 1, 0]), np.array([0, 0, 1, 1]), np.array([1, 1, 2, 2]))
        >>> chain.backward(np.array([1, 1, 1, 1], object), NUMBER)
        array([4, 2, 1], dtype=object)
        """
        found = np.full((self.n_nodes, *value.shape[1:]), semiring.zero, value.dtype)
        found[-1] = semiring.one
        for part, starts, nodes in reversed(self._out):
            passed = semiring.multiply(value[part], found[self.target[part]])
            found[nodes] = semiring.add.reduceat(passed, starts, axis=0)
        return found
