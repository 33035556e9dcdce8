"""Gaussian elimination in fractions."""

from fractions import Fraction

from recursive_dyn.manifold.comparison.elimination import reduced, remainder


def test_reduced_rows_are_the_span():
    rows = [[Fraction(2), Fraction(4), Fraction(1, 3)], [Fraction(1), Fraction(2), Fraction(0)]]
    assert reduced(rows) == ((1, 2, 0), (0, 0, 1)) == reduced([[-x for x in row] for row in reversed(rows)])
    assert reduced([[Fraction(0)] * 3]) == () == reduced([])
    basis = reduced([[Fraction(0), Fraction(-3), Fraction(6)]])
    assert basis == ((0, 1, -2),)
    assert not any(remainder([Fraction(0), Fraction(1, 2), Fraction(-1)], basis))
    assert any(remainder([Fraction(1), Fraction(1), Fraction(-2)], basis))
