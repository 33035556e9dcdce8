"""Truncated Taylor series in time: coefficients x, x', x''/2, ... (ORDER + 1,) of scalars, (ORDER + 1, 3) of vectors.

Coefficient k of a result depends on coefficients up to k of what it is made from, so that the solution of a
differential equation is found by substitution, one more coefficient each time (Griewank & Walther 2008, section 13.2).
"""

from __future__ import annotations

from math import factorial

import numpy as np

Array = np.ndarray
ORDER = 4
_N = ORDER + 1
_COUNT = np.arange(1, _N)
_SCALE = np.array([1.0 / factorial(k) for k in range(_N)])
# Cauchy's product: (a b)_k is the sum of a_i b_j with i + j = k.
_SUM = np.equal.outer(np.arange(_N), np.add.outer(np.arange(_N), np.arange(_N))).astype(float)
_LAG = np.where(np.tri(_N, dtype=bool), np.subtract.outer(np.arange(_N), np.arange(_N)), ORDER + 1)
_CROSS = np.einsum("kij,cde->kcidje", _SUM, np.cross(np.eye(3)[:, None], np.eye(3)[None]).transpose(2, 0, 1))
_CROSS = _CROSS.reshape(3 * _N, -1)
_SUM = _SUM.reshape(_N, -1)


def constant(value: Array) -> Array:
    """The series of a vector (3,) at rest."""
    result = np.zeros((_N, 3))
    result[0] = value
    return result


def from_derivatives(values: Array) -> Array:
    """The series of x, x', x'', ... (ORDER + 1, 3)."""
    return values * _SCALE[:, None]


def rate(a: Array) -> Array:
    """a'; its last coefficient is unknown and left zero."""
    result = np.zeros_like(a)
    result[:-1] = a[1:] * _COUNT[:, None]
    return result


def integral(a: Array, start: Array) -> Array:
    """The series that begins with ``start`` and whose rate is a."""
    result = np.empty_like(a)
    result[0] = start
    result[1:] = a[:-1] / _COUNT[:, None]
    return result


def dot(a: Array, b: Array) -> Array:
    """a . b of vectors."""
    return _SUM @ (a @ b.T).ravel()


def times(s: Array, a: Array) -> Array:
    """s a, a scalar times a vector."""
    return np.append(s, 0.0)[_LAG] @ a


def cross(a: Array, b: Array) -> Array:
    """a x b."""
    return (_CROSS @ np.multiply.outer(a, b).ravel()).reshape(_N, 3)


def unit(a: Array) -> Array:
    """a / |a|."""
    return times(_power(dot(a, a), -0.5), a)


def _power(s: Array, exponent: float) -> Array:
    """s^exponent: r' s = exponent s' r, coefficient by coefficient."""
    r = np.empty(_N)
    r[0] = s[0] ** exponent
    for k in range(1, _N):
        i = np.arange(1, k + 1)
        r[k] = ((exponent + 1) * i - k) * s[1 : k + 1] @ r[k - 1 :: -1][:k] / (k * s[0])
    return r
