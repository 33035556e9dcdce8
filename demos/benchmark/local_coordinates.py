"""The chain of pendulums on a cart once more, in angles, derived by SymPy's LagrangesMethod."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import sympy as sp
from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

from demos.benchmark.manifold import derivation_times
from demos.benchmark.report import print_table
from demos.manifolds.gallery import system
from recursive_dyn.codegen.making.progress import each

LINKS = range(1, 7)


def method(n: int) -> LagrangesMethod:
    """The chain of ``demos.manifolds.chain`` in x and two angles a link; SymPy's parameters m0 ... ln, g."""
    t = dynamicsymbols._t
    masses, lengths, g = sp.symbols(f"m:{n + 1}"), sp.symbols(f"l1:{n + 1}"), sp.Symbol("g")
    x, polar, azimuth = dynamicsymbols("x"), dynamicsymbols(f"a1:{n + 1}"), dynamicsymbols(f"b1:{n + 1}")
    place = sp.Matrix([x, 0, 0])
    L = masses[0] * x.diff(t) ** 2 / 2
    for m, l, a, b in zip(masses[1:], lengths, polar, azimuth, strict=True):
        place = place + l * sp.Matrix([sp.sin(a) * sp.cos(b), sp.sin(a) * sp.sin(b), sp.cos(a)])
        velocity = place.diff(t)
        L += m * velocity.dot(velocity) / 2 - m * g * place[2]
    return LagrangesMethod(L, [x, *polar, *azimuth])


def beside_sympy() -> None:
    """Derivation of chains: time, and operations of what is solved for accelerations, and of what SymPy writes down."""
    rows = []
    for n in each(LINKS, "SymPy"):
        lagranges = method(n)
        start = perf_counter()
        theirs = lagranges.form_lagranges_equations()
        seconds = perf_counter() - start
        derivation, _, _ = derivation_times(lambda n=n: system("chain", n))
        ours = system("chain", n).derive().compile().operation_count("accelerations").total
        rows.append(
            [str(n), f"{derivation * 1e3:.2f}", f"{seconds * 1e3:.0f} ({_rounded(seconds / derivation)})", str(ours),
             str(sp.count_ops(theirs))]
        )  # fmt: skip
    head = ["n", "derivation ms", "SymPy, in angles, ms (ratio)", "operations, solved", "SymPy's, as written"]
    print_table("Chains beside SymPy's LagrangesMethod in local coordinates", head, rows)


def _rounded(ratio: Any) -> str:
    return f"{float(f'{ratio:.2g}'):.0f}"
