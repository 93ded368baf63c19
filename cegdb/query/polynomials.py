"""Probabilities as polynomials in the parameters of stages, at random points modulo a prime."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from cegdb.query.propagation import Semiring

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cegdb.query.compiled import Compiled

    Residues: TypeAlias = NDArray[np.uint64]

MODULUS: Final = 2**61 - 1

_P: Final = np.uint64(MODULUS)
_BITS: Final = {n: np.uint64(n) for n in (1, 30, 31, 32, 61)}
_LOW: Final = {n: np.uint64(2**n - 1) for n in (30, 31, 32)}


def _reduced(value: Any) -> Any:
    """Return numbers below 2^64 modulo the prime: 2^61 is 1."""
    value = (value & _P) + (value >> _BITS[61])
    return value - _P * (value >= _P)


def multiply(one: Any, other: Any) -> Any:
    """Return products modulo 2^61 - 1, in halves of 31 bits so that none overflows.

    Examples
    --------
    >>> int(multiply(np.uint64(2**60), np.uint64(2**60 + 1))) == 2**60 * (2**60 + 1) % MODULUS
    True
    """
    one, other = np.asarray(one, np.uint64), np.asarray(other, np.uint64)
    high, low = one >> _BITS[31], one & _LOW[31]
    of_high, of_low = other >> _BITS[31], other & _LOW[31]
    cross = high * of_low + low * of_high
    # high * of_high * 2^62, where 2^62 is 2; cross * 2^31, where 2^61 is 1
    total = (high * of_high) * np.uint64(2) + (cross >> _BITS[30])
    total = _reduced(total + ((cross & _LOW[30]) << _BITS[31]))
    return _reduced(total + _reduced(low * of_low))


class _Sum:
    """Sums modulo the prime."""

    def reduceat(self, array: Any, /, indices: Any, axis: int = 0) -> Any:
        """Return the sums of the parts that start at some indices; of halves of 32 bits."""
        low = np.add.reduceat(array & _LOW[32], indices, axis=axis)
        high = np.add.reduceat(array >> _BITS[32], indices, axis=axis)
        return _reduced(_reduced(low) + multiply(_reduced(high), np.uint64(2**32)))


MODULAR: Final = Semiring(_Sum(), multiply, np.uint64(0), np.uint64(1))
"""Integers modulo 2^61 - 1."""


def random_parameters(ceg: Compiled, seed: int) -> Residues:
    """Return a random parameter of each edge, the same for edges of a stage and label.

    Parameters
    ----------
    ceg
        The CEG; its probabilities do not matter.
    seed
        Of the random numbers.

    Returns
    -------
    ndarray
        Integers from 1 to 2^61 - 2; the parameters of a stage sum to 1, modulo the prime.

    Notes
    -----
    SPEC 9.3: a polynomial that is not zero is zero at such a point with a probability of at
    most its degree / 2^61.

    Examples
    --------
    >>> from cegdb.query.compiled import Compiled, Variable
    >>> from cegdb.query.propagation import Graph
    >>> coin = Compiled("coin", Graph(np.array([1, 0]), np.array([0, 0]), np.array([1, 1])),
    ...     np.arange(2), np.array([0, -1]), ("w0", "w_inf"), np.array([0, -1]),
    ...     np.array([0, 1]), ("h", "t"), np.full(2, 0.5), (Variable("c", ("h", "t"), {}),))
    >>> sum(map(int, random_parameters(coin, 1))) % MODULUS
    1
    """
    random = np.random.Generator(np.random.PCG64(seed))
    stages = ceg.stage_id[ceg.graph.source].tolist()
    keys = sorted(set(zip(stages, ceg.texts, strict=True)))
    drawn = random.integers(1, MODULUS, len(keys)).tolist()
    of = dict(zip(keys, drawn, strict=True))
    rest: dict[int, int] = {}
    for stage, label in keys:
        rest[stage] = rest.get(stage, 1) - of[stage, label]
    last = dict(keys)
    for stage, label in last.items():
        of[stage, label] = (of[stage, label] + rest[stage]) % MODULUS
    return np.array([of[key] for key in zip(stages, ceg.texts, strict=True)], np.uint64)
