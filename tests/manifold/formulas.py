"""Random well-typed formulas: every kind of symbol, its derivatives and every operator, to a limited depth."""

from functools import cache

from hypothesis import strategies as st

from recursive_dyn.manifold.formula.calculus import dt
from recursive_dyn.manifold.formula.declare import (
    matrices,
    rotations,
    scalars,
    symmetric_matrices,
    unit_vectors,
    vectors,
)
from recursive_dyn.manifold.formula.operations import cross, dot, hat, number, transpose

m, l, g = scalars("m l g", constant=True)
s, u = scalars("s u")
rho, a = vectors("rho a", constant=True)
x, f = vectors("x f")
y = vectors("y", 2)
d = vectors("d", 2, constant=True)
e = unit_vectors("e", constant=True)
q, p = unit_vectors("q p")
R, S = rotations("R S")
C = rotations("C", constant=True)
J = symmetric_matrices("J", constant=True)
K = symmetric_matrices("K")
A = matrices("A", constant=True)
B = matrices("B")
G = matrices("G", (2, 3), constant=True)

_ORDERS = st.integers(0, 3)
numbers = st.sampled_from([-2, -1, 1, 2, 3, 0.5, 0]).map(number)
_SCALARS = (m, l, g, m**-1, l**-2, s, u, dt(s), dt(u), dt(s, 2))
_VECTORS = (rho, x, dt(x), dt(x, 2), e, q, dt(q), dt(q, 2), dt(q, 3), p, dt(p), R.rate, dt(R.rate), S.rate)
_PLANAR = (y, dt(y), dt(y, 2), d)
_ROTATIONS = st.sampled_from([R, R.T, S, C, C.T])
_MATRICES = (R, R.T, R, R.T, S, C, C.T, J, K, dt(K), A, A.T, B)
_VARIATIONS = (q.virtual, dt(p.virtual), R.virtual, dt(S.virtual), x.virtual, dt(f.virtual))
_SCALAR_VARIATIONS = st.sampled_from([s.virtual, dt(u.virtual)])


@cache
def scalar_formulas(depth=3):
    """Scalars; quotients by constant symbols only."""
    leaves = st.sampled_from(_SCALARS) | numbers
    if not depth:
        return leaves
    inner, vector, planar = scalar_formulas(depth - 1), vector_formulas(depth - 1), planar_formulas(depth - 1)
    return st.one_of(
        leaves,
        st.builds(lambda f, g: f + g, inner, inner),
        st.builds(lambda f, g: f - g, inner, inner),
        st.builds(lambda f, g: f * g, inner, inner),
        st.builds(lambda f, n: f**n, inner, st.sampled_from([0, 2])),
        st.builds(lambda f, g: f / g, inner, st.sampled_from([m, l, m * l**2, number(3)])),
        st.builds(dot, vector, vector),
        st.builds(dot, vector, vector),
        st.builds(lambda f, g, h: dot(f * g, f * h), _ROTATIONS, vector, vector),
        st.builds(lambda q, m, n: dot(dt(q, m), dt(q, n)), st.sampled_from([q, p]), _ORDERS, _ORDERS),
        st.builds(dot, planar, planar),
    )


@cache
def vector_formulas(depth=3):
    """Vectors of R^3."""
    leaves = st.sampled_from(_VECTORS)
    if not depth:
        return leaves
    inner, matrix = vector_formulas(depth - 1), matrix_formulas(depth - 1)
    return st.one_of(
        leaves,
        st.builds(lambda f, g: f + g, inner, inner),
        st.builds(lambda f, g: f - g, inner, inner),
        st.builds(lambda f, g: f * g, scalar_formulas(depth - 1), inner),
        st.builds(cross, inner, inner),
        st.builds(cross, inner, inner),
        st.builds(lambda f, g, h: cross(f * g, f * h), _ROTATIONS, inner, inner),
        st.builds(lambda f, g: f * (f.T * g), _ROTATIONS, inner),
        st.builds(lambda f, g: f * g, matrix, inner),
        st.builds(lambda f, g: f * g, matrix, inner),
        st.builds(lambda f: G.T * f, planar_formulas(depth - 1)),
    )


@cache
def planar_formulas(depth=3):
    """Vectors of R^2."""
    leaves = st.sampled_from(_PLANAR)
    if not depth:
        return leaves
    inner = planar_formulas(depth - 1)
    return st.one_of(
        leaves,
        st.builds(lambda f, g: f + g, inner, inner),
        st.builds(lambda f, g: f * g, inner, scalar_formulas(depth - 1)),
        st.builds(lambda f: G * f, vector_formulas(depth - 1)),
    )


@cache
def matrix_formulas(depth=3):
    """3 x 3 matrices."""
    leaves = st.sampled_from(_MATRICES)
    if not depth:
        return leaves
    inner = matrix_formulas(depth - 1)
    return st.one_of(
        leaves,
        st.builds(lambda f, g: f + g, inner, inner),
        st.builds(lambda f, g: f * g, inner, scalar_formulas(depth - 1)),
        st.builds(lambda f, g: f * g, inner, inner),
        st.builds(hat, vector_formulas(depth - 1)),
        st.builds(transpose, inner),
        st.builds(lambda f: (f * G.T) * G, inner),
    )


def simple_vectors():
    """Sums and multiples of symbols, and of matrices applied to symbols."""
    symbols, matrices = st.sampled_from(_VECTORS), st.sampled_from(_MATRICES)
    terms = (
        symbols | st.builds(lambda f, g: f * g, matrices, symbols) | st.builds(lambda f: G.T * f, planar_formulas(0))
    )
    return st.one_of(
        terms,
        st.builds(lambda f, g: f + g, terms, terms),
        st.builds(lambda f, g, h: f * (g - h), scalar_formulas(1), terms, terms),
    )


def simple_matrices():
    """Matrix symbols and their transposes."""
    return st.sampled_from(_MATRICES)


@cache
def varied_vectors(depth=2):
    """Vectors linear in virtual displacements and their derivatives."""
    leaves = st.sampled_from(_VARIATIONS)
    if not depth:
        return leaves
    inner, vector, matrix = varied_vectors(depth - 1), vector_formulas(1), matrix_formulas(1)
    return st.one_of(
        leaves,
        st.builds(lambda f, g: f + g, inner, inner),
        st.builds(lambda f, g: f * g, scalar_formulas(1), inner),
        st.builds(cross, inner, vector),
        st.builds(cross, vector, inner),
        st.builds(lambda f, g: f * g, matrix, inner),
        st.builds(lambda f, g, h: f * hat(g) * h, matrix, inner, vector),
        st.builds(lambda f, g: transpose(hat(f)) * g, inner, vector),
    )


def varied_scalars():
    """Scalars linear in virtual displacements and in variations of scalars."""
    return st.one_of(
        st.builds(dot, varied_vectors(), vector_formulas(2)),
        st.builds(dot, vector_formulas(2), varied_vectors()),
        st.builds(
            lambda f, g: f * g + dot(d, y.virtual) * f, scalar_formulas(2), st.sampled_from([s.virtual, dt(u.virtual)])
        ),
    )


def formulas(depth=3):
    """Formulas of any shape."""
    return st.one_of(scalar_formulas(depth), vector_formulas(depth), planar_formulas(depth), matrix_formulas(depth))
