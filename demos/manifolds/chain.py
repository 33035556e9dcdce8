"""A chain of n spherical pendulums on a cart that moves along a line (Lee, Leok & McClamroch 2012)."""

from __future__ import annotations

from types import SimpleNamespace

from demos.manifolds.system import System
from recursive_dyn.errors import ModelError
from recursive_dyn.manifold import Symbol, delta, dt, scalars, unit_vectors, vectors


def on_cart(n: int) -> System:
    """R x (S^2)^n: the cart m0 at x along e1, pushed by u; links of lengths li with masses mi at their ends."""
    if n < 1:
        raise ModelError(f"a chain needs a link at least, not {n}")
    m0, *masses = scalars(" ".join(f"m{i}" for i in range(n + 1)), constant=True)
    g = scalars("g", constant=True)
    lengths = _tuple(scalars(" ".join(f"l{i}" for i in range(1, n + 1)), constant=True))
    e1, e3 = vectors("e1 e3", constant=True)
    x, u = scalars("x u")
    directions = _tuple(unit_vectors(" ".join(f"q{i}" for i in range(1, n + 1))))
    below = [sum(masses[i:]) for i in range(n)]  # what hangs on link i
    T = (m0 + below[0]) * dt(x) ** 2 / 2
    U = 0
    for i in range(n):
        T = T + below[i] * lengths[i] * dt(x) * e1.dot(dt(directions[i]))
        T = T + below[i] * lengths[i] ** 2 * dt(directions[i]).dot(dt(directions[i])) / 2
        U = U + below[i] * g * lengths[i] * directions[i].dot(e3)
        for j in range(i):
            T = T + below[i] * lengths[i] * lengths[j] * dt(directions[i]).dot(dt(directions[j]))
    symbols = SimpleNamespace(
        m0=m0, masses=tuple(masses), g=g, lengths=lengths, e1=e1, e3=e3, x=x, u=u, directions=directions
    )  # fmt: skip
    manifold = "R x S^2" if n == 1 else f"R x (S^2)^{n}"
    return System(f"chain of {n} on a cart", manifold, T - U, u * delta(x), (x, *directions), symbols)


def _tuple(symbols: Symbol | tuple[Symbol, ...]) -> tuple[Symbol, ...]:
    return symbols if isinstance(symbols, tuple) else (symbols,)
