"""Truncated power series with exact coefficients: formulas evaluated on them are differentiated without any rule."""

from fractions import Fraction
from math import factorial

import numpy as np

from recursive_dyn.manifold.comparison.equality import point
from recursive_dyn.manifold.formula.symbol import Symbol


class Series:
    """c0 + c1 t + c2 t^2 + ..., cut off after as many terms as its operands have."""

    def __init__(self, *coefficients):
        self.coefficients = tuple(map(Fraction, coefficients))

    def _with(self, other):
        return other if isinstance(other, Series) else Series(other, *[0] * (len(self.coefficients) - 1))

    def __add__(self, other):
        if isinstance(other, np.ndarray):
            return NotImplemented
        return Series(*(x + y for x, y in zip(self.coefficients, self._with(other).coefficients, strict=True)))

    def __mul__(self, other):
        if isinstance(other, np.ndarray):
            return NotImplemented
        x, y = self.coefficients, self._with(other).coefficients
        return Series(*(sum(x[k] * y[n - k] for k in range(n + 1)) for n in range(len(x))))

    def __rtruediv__(self, other):
        assert not any(self.coefficients[1:]), "only constants divide"
        return self._with(other / self.coefficients[0])

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return -1 * self

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return -self + other


def coefficients(value, n):
    """The n-th coefficients of an array of series."""
    parts = [x.coefficients[n] if isinstance(x, Series) else Fraction(x) * (n == 0) for x in np.ravel(value)]
    return np.array(parts, dtype=object).reshape(np.shape(value))


def series(*arrays):
    """The array of series with these arrays as coefficients."""
    result = np.empty(np.shape(arrays[0]), dtype=object)
    for index in np.ndindex(*result.shape):
        result[index] = Series(*(np.asarray(x, dtype=object)[index] for x in arrays))
    return result if result.shape else result.item()


def motion(symbols, terms, seed=0):
    """Every symbol as a series in time, and every derivative of the Taylor expansions at the random point by symbol."""
    symbols = set(symbols)
    symbols |= {r.rate for r in symbols if r.base.rate is not None}
    derivatives = point(
        [Symbol(x.base, x.order + n) for x in symbols if x.base.rate is None for n in range(terms)], seed
    )
    values = point(symbols, seed) | derivatives
    result = {}
    for x in symbols:
        if x.base.is_rotation and not x.constant:
            taylor = _turning(values[x], [values[Symbol(x.rate.base, n)] for n in range(terms)])
        elif x.constant:
            taylor = [values[x]] + [0 * values[x]] * (terms - 1)
        else:
            taylor = [values[Symbol(x.base, x.order + n)] * Fraction(1, factorial(n)) for n in range(terms)]
        result[x] = series(*taylor)
    return result, values


def _turning(start, rates):
    """Taylor coefficients of the rotation with R' = R hat(Omega), from the derivatives of Omega."""
    zero = Fraction(0)
    hats = [
        np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]], dtype=object) / factorial(n)
        for n, (x, y, z) in enumerate(rates)
    ]
    result = [start]
    for n in range(len(rates) - 1):
        result.append(sum(result[n - k] @ hats[k] for k in range(n + 1)) / (n + 1))
    return result
