"""The algebraic Riccati equation, and what a linear system must be so that it has the solution that stabilises.

    A^T S + S A - S B R^-1 B^T S + Q = 0                       K = R^-1 B^T S           (x-dot = A x + B u)
    A^T S A - S - A^T S B (R + B^T S B)^-1 B^T S A + Q = 0      K = (R + B^T S B)^-1 B^T S A   (x' = A x + B u)

There is one exactly where B reaches every mode that does not decay, and Q sees every mode that neither grows nor decays
(Kucera 1972, A contribution to matrix quadratic equations, IEEE Transactions on Automatic Control 17); each is told by
the rank of [A - s 1, B] (Hautus 1969).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recursive_dyn.errors import StateError

Array = np.ndarray
_RANK = 1e-9  # share of the largest singular value that counts as none
_BORDER = 1e-7  # a share of the fastest mode by which one may seem to decay and yet not do so: of double eigenvalues


def solve(A: Array, B: Array, Q: Array, R: Array, discrete: bool, labels: Sequence[str], scale: Array) -> Array:
    """S (n, n), the stabilising solution. labels (n): names of the states; scale (n,): their natural sizes.

    StateError names the state that cannot be stabilised, or that Q has to see.
    """
    import scipy.linalg  # a third of a second, which only those wait for who ask for this

    grown = A / scale[:, None] * scale
    _require(grown, B / scale[:, None] @ _inverse_root(R), discrete, growing=True, labels=labels)
    seen = _root(Q * scale[:, None] * scale)
    _require(grown.T, seen, discrete, growing=False, labels=labels)
    find = scipy.linalg.solve_discrete_are if discrete else scipy.linalg.solve_continuous_are
    try:
        S = find(grown, B / scale[:, None], Q * scale[:, None] * scale, R)
    except (np.linalg.LinAlgError, ValueError) as error:
        raise StateError(
            f"no solution of the Riccati equation was found ({error}); choose Q and R less far apart"
        ) from None
    S = S / scale[:, None] / scale
    return (S + S.T) / 2


def gain(A: Array, B: Array, S: Array, R: Array, discrete: bool) -> Array:
    """K (m, n) of u = -K x."""
    if not discrete:
        return np.asarray(np.linalg.solve(R, B.T @ S))
    return np.asarray(np.linalg.solve(R + B.T @ S @ B, B.T @ S @ A))


def _require(A: Array, B: Array, discrete: bool, growing: bool, labels: Sequence[str]) -> None:
    """B reaches every mode of A that does not decay (growing), or that neither grows nor decays."""
    modes = np.linalg.eigvals(A)
    decay = 1.0 - np.abs(modes) if discrete else -modes.real
    border = _BORDER * (1.0 if discrete else max(1.0, np.abs(modes).max(initial=0.0)))
    for mode in modes[decay <= border if growing else np.abs(decay) <= border]:
        left, sizes, _ = np.linalg.svd(np.hstack([A - mode * np.eye(len(A)), B]))
        if sizes[-1] <= _RANK * sizes[0]:
            state = labels[int(np.argmax(np.abs(left[:, -1])))]
            if growing:
                raise StateError(
                    f"'{state}' cannot be stabilised: what is driven does not reach it; drive more coordinates"
                )
            raise StateError(f"Q does not see '{state}', which neither grows nor decays by itself; give it a weight")


def _root(X: Array) -> Array:
    """A matrix whose product with its transpose is X."""
    values, vectors = np.linalg.eigh(X)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _inverse_root(X: Array) -> Array:
    values, vectors = np.linalg.eigh(X)
    return np.asarray(vectors / np.sqrt(values))
