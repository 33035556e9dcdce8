"""Bodies that nothing holds are accelerated as joints would have them, by what the joints transmit."""

import numpy as np
import pytest
from bullet_twins import bullets, simulation
from constraint_cases import bound
from hypothesis import given, settings
from hypothesis import strategies as st
from maximal import DIFFERENCED, at_centers
from trees import SAMPLED, assert_close, curve, derivative, named, random_scene

from bridge import ForceTwin


def parts(scene, fixed):
    """By the name of each moving part's first body, (numbers, masses) of what is fixed together in it."""
    owner, result = {}, {}
    for k, body in enumerate(scene.bodies):
        owner[body.name] = owner.get(body.parent.name) if fixed[k] else body.name
        if owner[body.name]:
            numbers, masses = result.setdefault(owner[body.name], ([], []))
            numbers.append(k)
            masses.append(body.mass)
    return result


def check_accelerations(scene, dynamics, fixed, q, v):
    """Nothing holds the bodies, and each is accelerated as the joints would have it: no constraint has a force left."""
    tau, h = np.random.default_rng(2).normal(size=dynamics.nv), 1e-3
    a = dynamics.forward_dynamics(q, v, tau + dynamics.passive_forces(q, v))
    if not dynamics.constraints:  # springs and dampers act as at the step's end
        damping, stiffness = np.array([(c.damping, c.stiffness) for c in dynamics.model.coordinates]).T
        needed = tau + dynamics.passive_forces(q, v) - h * stiffness * v - dynamics.bias(q, v)
        a = np.linalg.solve(dynamics.mass_matrix(q) + np.diag(h * damping + h * h * stiffness), needed)
    expected = derivative(lambda t: at_centers(dynamics, scene, *curve(dynamics, q, v, a, t)))
    with ForceTwin(scene, simulation(dynamics, q, v, h), constrained=False) as twin:
        before = bullets(twin)
        twin.step(tau)
        change = (bullets(twin) - before) / h
        names = list(twin.bullet_bodies)
    for (numbers, masses), found in zip((parts(scene, fixed)[name] for name in names), change, strict=True):
        assert_close(found[1], expected[numbers[0], :3], 10 * DIFFERENCED, np.abs(expected).max())
        center = np.average(expected[numbers, 3:], axis=0, weights=masses)
        assert_close(found[0], center, 10 * DIFFERENCED, np.abs(expected).max())


LARGE = {"tree of 20", "tree of 40"}  # which smaller ones stand for, a minute sooner


@pytest.mark.parametrize("name", [x for x in SAMPLED if not LARGE & {*getattr(x, "values", (x,))}])
def test_bodies_that_nothing_holds_are_accelerated_as_by_any_joint(name):
    m = named(name)
    (q,), (v,) = m.states(1, 3)
    check_accelerations(m.scene, m.dynamics(), [not case.nq for case in m.cases], q, v)


@settings(max_examples=2)
@given(seed=st.integers(0, 10**6), bodies=st.integers(1, 5))
def test_so_they_are_on_any_tree(seed, bodies):
    """With rotors, springs, dampers and followers."""
    m = random_scene(seed, bodies, couplings=True, springs=True)
    (q,), (v,) = m.states(1, 3)
    check_accelerations(m.scene, m.dynamics(), [not case.nq for case in m.cases], q, v)


def test_so_they_are_in_a_loop():
    m = bound(1, 3, ("revolute", "prismatic", "screw", "universal", "planar", "ball", "free"))
    d = m.dynamics()
    q, v = d.project(m.home, np.random.default_rng(4).normal(size=d.nv))
    check_accelerations(m.scene, d, [False] * 3, q, v)
