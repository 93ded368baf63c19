"""Exact arithmetic modulo the prime 2^61 - 1, on arrays.

A polynomial that is not zero is rarely zero at random parameters modulo a large prime.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from cegdb.inference.propagation import Ring

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cegdb.inference.compiled_model import CompiledModel
    from cegdb.inference.propagation import Ints

Residues: TypeAlias = "NDArray[np.uint64]"

PRIME: Final = 2**61 - 1
_P: Final = np.uint64(PRIME)
_LOW_30, _LOW_31, _LOW_32 = (np.uint64((1 << bits) - 1) for bits in (30, 31, 32))
_30, _31, _32, _61 = (np.uint64(bits) for bits in (30, 31, 32, 61))
_TWO: Final = np.uint64(2)


def _reduced(value: Residues) -> Residues:
    """Return numbers below 2^64 modulo the prime."""
    value = (value & _P) + (value >> _61)
    return np.where(value >= _P, value - _P, value)


def multiply(a: Residues, b: Residues) -> Residues:
    """Return products modulo the prime of numbers below it.

    Examples
    --------
    >>> a = np.array([PRIME - 1, 3], np.uint64)
    >>> multiply(a, a).tolist()
    [1, 9]
    """
    a_high, a_low, b_high, b_low = a >> _31, a & _LOW_31, b >> _31, b & _LOW_31
    middle = a_high * b_low + a_low * b_high
    # Modulo the prime 2^61 is 1: a_high b_high 2^62 counts twice, and the bits of the middle
    # part from 30 on wrap around to the lowest.
    return _reduced(
        _TWO * (a_high * b_high) + (middle >> _30) + ((middle & _LOW_30) << _31) + a_low * b_low
    )


def sum_runs(value: Residues, starts: Ints) -> Residues:
    """Return the sums of runs modulo the prime, each from one start to the next.

    Examples
    --------
    >>> sum_runs(np.array([PRIME - 1, 3, 5], np.uint64), np.array([0, 2])).tolist()
    [2, 5]
    """
    low = np.add.reduceat(value & _LOW_32, starts, axis=0)
    high = np.add.reduceat(value >> _32, starts, axis=0)
    shifted = multiply(_reduced(high), np.full_like(high, 1 << 32))
    return _reduced(shifted + _reduced(low))


def subtract(a: Residues, b: Residues) -> Residues:
    """Return differences modulo the prime.

    Examples
    --------
    >>> subtract(np.array([1], np.uint64), np.array([2], np.uint64)).tolist() == [PRIME - 1]
    True
    """
    return _reduced(a + (_P - b))


MODULAR: Final = Ring(np.uint64(1), multiply, sum_runs)
"""Numbers modulo the prime."""


def random_parameters(ceg: CompiledModel, n_draws: int, seed: int) -> Residues:
    """Return random stage parameters at each edge (rows), ``n_draws`` times (columns).

    Edges of one stage and label share a parameter; the last label of a stage has 1 minus the
    sum of the others.
    """
    graph = ceg.graph
    labels: dict[str, int] = {}
    label = np.array(
        [labels.setdefault(text, len(labels)) for text in ceg.edge_labels], np.int64
    )
    own = np.where(ceg.stage_id >= 0, ceg.stage_id, ceg.stage_id.max() + 1 + ceg.position_id)
    stage = np.unique(own, return_inverse=True)[1].astype(np.int64)[graph.source]
    keys, of_edge = np.unique(stage * (len(labels) + 1) + label, return_inverse=True)
    generator = np.random.default_rng(seed)
    value = generator.integers(0, PRIME, (len(keys), n_draws), np.uint64)
    starts = np.flatnonzero(np.diff(keys // (len(labels) + 1), prepend=-1))
    last = np.append(starts[1:], len(keys)) - 1
    value[last] = 0
    one = np.ones((len(last), n_draws), np.uint64)
    value[last] = subtract(one, sum_runs(value, starts))
    parameters: NDArray[Any] = value[of_edge.ravel()]
    return parameters
