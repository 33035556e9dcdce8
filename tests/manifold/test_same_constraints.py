"""Comparing equations of motion with constraints: multipliers are eliminated, constraints differentiated."""

from fractions import Fraction

import by_hand as h
import pytest

from recursive_dyn.errors import ModelError
from recursive_dyn.manifold import derive
from recursive_dyn.manifold.comparison.same_equations import difference, same_equations
from recursive_dyn.manifold.formula.calculus import dt
from recursive_dyn.manifold.formula.declare import scalars
from recursive_dyn.manifold.formula.evaluation import Evaluation
from recursive_dyn.manifold.formula.operations import cross, dot

s = scalars("s")


def rod(constraint, mass=h.m):
    """A point mass in space held by a constraint."""
    return derive(
        h.half * mass * dot(dt(h.x), dt(h.x)) - mass * h.g * dot(h.x, h.e3), None, [h.x], constraints=[constraint]
    )


def test_multipliers_are_eliminated_and_constraints_differentiated():
    held = rod(dot(h.x, dt(h.x)))
    free = derive(h.half * h.m * dot(dt(h.x), dt(h.x)) - h.m * h.g * dot(h.x, h.e3), None, [h.x])
    (multiplier,) = held.multipliers
    assert same_equations(held, rod(-3 * h.l * dot(h.x, dt(h.x))))
    assert same_equations(held, rod(dot(h.x, dt(h.x)), mass=h.m1))
    assert same_equations(held, {h.x: h.m * dt(h.x, 2) + h.m * h.g * h.e3 - multiplier * h.x})
    assert same_equations(held, {h.x: dt(h.x, 2) + h.g * h.e3 + 2 * multiplier * h.x})
    assert same_equations({h.x: dt(h.x, 2) + h.g * h.e3 + 2 * multiplier * h.x}, held)
    assert not same_equations(held, {h.x: dt(h.x, 2) + h.g * h.e3 + multiplier * h.e3})
    assert not same_equations(held, {h.x: dt(h.x, 2) - h.g * h.e3 + multiplier * h.x})
    assert not same_equations(held, free)
    assert not same_equations(held, rod(dot(h.e3, dt(h.x))))
    assert str(difference(held, free))


def test_what_holds_on_the_constraint_only_is_used():
    """Where x . x' = 0, terms with x . x' and its derivative may be added."""
    held = rod(dot(h.x, dt(h.x)))
    (multiplier,) = held.multipliers
    row = h.m * dt(h.x, 2) + h.m * h.g * h.e3 - multiplier * h.x
    assert same_equations(held, {h.x: row + s * dot(h.x, dt(h.x)) * h.e3})
    assert same_equations(held, {h.x: row + s * dt(dot(h.x, dt(h.x))) * h.e3})
    assert not same_equations(held, {h.x: row + s * dot(h.x, h.e3) * h.e3})
    assert not same_equations(held, {h.x: row + s * dot(h.x, dt(h.x, 2)) * h.e3})


def test_velocities_fulfil_constraints_on_spheres_too():
    constraints = [dot(h.e3, dt(h.q1) - dt(h.q2))]
    kinetic = h.half * h.m1 * dot(dt(h.q1), dt(h.q1)) + h.half * h.m2 * dot(dt(h.q2), dt(h.q2))
    linked = derive(kinetic, None, [h.q1, h.q2], constraints=constraints)
    (multiplier,) = linked.multipliers
    rows = {
        h.q1: cross(h.q1, h.m1 * dt(h.q1, 2) + multiplier * h.e3),
        h.q2: cross(h.q2, h.m2 * dt(h.q2, 2) - multiplier * h.e3),
    }
    assert same_equations(linked, rows)
    found = difference(linked, rows | {h.q2: cross(h.q2, h.m2 * dt(h.q2, 2) + multiplier * h.e3)})
    at = Evaluation(found.state, Fraction)
    assert at(constraints[0]) == 0 and at(dot(h.q1, dt(h.q1))) == 0 == at(dot(h.q2, dt(h.q2)))


def test_other_constraints_are_other_equations():
    assert not same_equations(rod(dot(h.e3, dt(h.x)) - h.m), rod(dot(h.e3, dt(h.x))))
    assert not same_equations(rod(dot(h.e3, dt(h.x)) - h.m), rod(dot(h.e3, dt(h.x)) - h.l))
    assert difference(rod(dot(h.e3, dt(h.x))), rod(dot(h.rho, dt(h.x)))).what == "the constraints"


def test_contradicting_constraints_are_told():
    stuck = derive(
        h.half * h.m * dot(dt(h.x), dt(h.x)), None, [h.x], constraints=[dot(h.e3, dt(h.x)) - h.m, dot(h.e3, dt(h.x))]
    )
    with pytest.raises(ModelError, match="contradict"):
        same_equations(stuck, stuck)
