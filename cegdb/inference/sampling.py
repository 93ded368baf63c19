"""Rows drawn from a CEG, all at once, one height after the other."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from cegdb.errors import QueryError, is_whole
from cegdb.inference.compiled import NOT_APPLICABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from cegdb.inference.propagation import Floats, Graph, Ints
    from cegdb.inference.queries import Conditioned

MOST_CELLS: Final = 10_000_000_000


def checked_seed(seed: object) -> int:
    """Return a seed, drawn if it is None; refuse what is no whole number.

    Examples
    --------
    >>> checked_seed(7)
    7
    """
    if seed is None:
        return secrets.randbits(32)
    if not is_whole(seed) or not 0 <= seed < 2**63:
        raise QueryError(f"seed is {seed!r}", hint="give a whole number from 0 on, below 2^63")
    return int(seed)


def sample(given: Conditioned, n: int, seed: int) -> list[tuple[str, NDArray[Any], list[str]]]:
    """Draw rows from a CEG given evidence.

    Parameters
    ----------
    given
        The CEG and the evidence.
    n
        How many rows.
    seed
        Of the random numbers (PCG64): the same rows on any machine.

    Returns
    -------
    list of tuple
        Of each variable: its name, the place of each row's label (-1 where the variable does
        not occur), the labels.

    Raises
    ------
    QueryError
        ``n`` is not usable, or a position asks different variables.

    Notes
    -----
    Ancestral sampling (``docs/theory.md``, section 8): one random number a row and edge,
    O(n x edges of a path).
    """
    ceg = given.ceg
    if not is_whole(n) or n < 1:
        raise QueryError(f"n is {n!r}", hint="give how many rows, a whole number from 1 on")
    ceg.refuse_mixed()
    if not ceg.variables:
        raise QueryError(f"{ceg.shown} asks no variable", hint="build a tree with variables")
    if n * len(ceg.variables) > MOST_CELLS:
        raise QueryError(
            f"{n:,} rows of {len(ceg.variables):,} variables are too many",
            hint="draw fewer at a time, with another seed each",
        )
    random = np.random.Generator(np.random.PCG64(seed))
    codes = [
        np.full(n, -1, np.min_scalar_type(-1 - len(variable.labels)))
        for variable in ceg.variables
    ]
    edge = given.product.edge
    variable, labels = ceg.edge_variable[edge], ceg.label[edge]
    for rows, edges in _walks(given.graph, given.probability, int(n), random):
        asked, label = variable[edges], labels[edges]
        met = np.bincount(asked, minlength=len(codes))
        for place in np.flatnonzero(met).tolist():
            is_it = slice(None) if met[place] == len(rows) else asked == place
            codes[place][rows[is_it]] = label[is_it]
    return [
        (one.name, *_blanked(code, list(one.labels)))
        for one, code in zip(ceg.variables, codes, strict=True)
    ]


def _walks(
    graph: Graph, probability: Floats, n: int, random: np.random.Generator
) -> Iterator[tuple[Ints, Ints]]:
    """Give, for each height, which rows are there, and the edge each takes."""
    first = np.searchsorted(graph.source, np.arange(graph.n_nodes + 1))
    at = np.zeros(n, np.int64)
    for part in graph.layers():
        height = graph.height[graph.source[part.start]]
        rows = np.flatnonzero(graph.height[at] == height)
        edges = _taken(graph, probability, part, first, at[rows], random.random(len(rows)))
        at[rows] = graph.target[edges]
        yield rows, edges


def _taken(
    graph: Graph,
    probability: Floats,
    part: slice,
    first: Ints,
    node: Ints,
    random: Floats,
) -> Ints:
    """Return the edge each row takes: that whose share of 0 to 1 its number falls in."""
    source = graph.source[part] - graph.source[part.start]
    cumulated = np.cumsum(probability[part])
    start = np.append(0.0, cumulated)[first[graph.source[part]] - part.start]
    total = np.append(0.0, cumulated)[first[graph.source[part] + 1] - part.start] - start
    # Node i of the layer has the numbers from i to i + 1.
    upto = source + np.minimum((cumulated - start) / total, 1.0)
    can_be = np.flatnonzero(probability[part] > 0)
    is_last = np.diff(source[can_be], append=-1) != 0
    upto[can_be[is_last]] = source[can_be[is_last]] + 1
    own = node - graph.source[part.start]
    number = np.minimum(own + random, np.nextafter(own + 1.0, 0.0))
    place = np.searchsorted(upto[can_be], number, "right")
    return np.asarray(can_be[place] + part.start, np.int64)


def _blanked(code: NDArray[Any], labels: list[str]) -> tuple[NDArray[Any], list[str]]:
    """Return places and labels without the explicit label of what does not occur."""
    if NOT_APPLICABLE not in labels:
        return code, labels
    at = labels.index(NOT_APPLICABLE)
    left = np.where(code == at, -1, np.where(code > at, code - 1, code)).astype(code.dtype)
    return left, [*labels[:at], *labels[at + 1 :]]
