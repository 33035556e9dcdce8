"""Formulas in normal form, written as a person would."""

from recursive_dyn.manifold import cross, dot, dt, equal, hat, rotations, scalars, simplify, unit_vectors, vectors


def test_derivatives_of_a_point_of_a_body():
    R, x = rotations("R"), vectors("x")
    rho = vectors("rho", constant=True)
    point = x + R * rho
    assert str(simplify(dt(point))) == "x' + R (Omega x rho)"
    acceleration = simplify(dt(point, 2))
    assert str(acceleration) == "x'' + R (Omega' x rho) + R (Omega x (Omega x rho))"
    assert equal(acceleration, dt(point, 2))


def test_rules_of_the_manifolds():
    R, q, x = rotations("R"), unit_vectors("q"), vectors("x")
    assert str(simplify(R.T * R * x)) == "x"
    assert str(simplify(dot(R * x, R * q))) == "q.x"
    assert str(simplify(dot(q, dt(q, 2)))) == "-|q'|^2"
    assert str(simplify(hat(x) * q + cross(q, x))) == "0"


def test_what_is_shared_stands_in_front():
    m, M, l = scalars("m M l", constant=True)
    q = unit_vectors("q")
    assert str(simplify(m * l * dt(q) + M * l * dt(q))) == "(m + M) l q'"
    assert str(simplify((m + l) ** 2 - m**2)) == "(2 m + l) l"
