"""Bodies in maximal coordinates, bound by Lagrange multipliers, move as the reduced equations say under our wrenches.

Masses are those of the scene, the constraints whatever the Jacobians of all bodies leave out; the linear system is
NumPy's. Nothing of the recursions enters but poses, velocities and Jacobians.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joint_cases import MOVING
from maximal import DIFFERENCED, Bodies, at_centers, rotors, somewhere
from trees import SAMPLED, assert_close, curve, derivative, named, random_scene


def in_maximal_coordinates(m, q, v, wrenches):
    """Accelerations (nb, 6) of the bodies' centres of mass under gravity, wrenches (nb, 6) and joints' constraints."""
    d, scene, bodies = m.dynamics(), m.scene, Bodies(m)
    X, V, n = d.poses(q), at_centers(d, scene, q[None], v[None])[0], len(d.bodies)
    M, force = np.zeros((6 * n, 6 * n)), wrenches.astype(float).copy()
    for k in range(n):
        R = X[k, :3, :3]
        I = R @ bodies.inertia[k] @ R.T
        M[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = I
        M[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = bodies.mass[k] * np.eye(3)
        force[k, :3] -= np.cross(V[k, :3], I @ V[k, :3])
        force[k, 3:] += bodies.mass[k] * np.array(scene.gravity)
    J = np.concatenate([d.jacobian(q, body, bodies.center[k]) for k, body in enumerate(d.bodies)])
    N = np.linalg.svd(J)[0][:, d.nv :]
    along = bare_accelerations(m, q, v, np.zeros(d.nv)).ravel()
    size = N.shape[1]
    system = np.block([[M, N], [N.T, np.zeros((size, size))]])
    solution = np.linalg.solve(system, np.concatenate([force.ravel(), N.T @ along]))
    return solution[: 6 * n].reshape(n, 6)


def bare_accelerations(m, q, v, a):
    """Rates (nb, 6) of the velocities of the centres of mass on the motion through q, v, a."""
    d = m.dynamics()
    return derivative(lambda t: at_centers(d, m.scene, *curve(d, q, v, a, t)))


def check(m, choice, seed):
    d = m.dynamics()
    (q,), (v,) = m.states(1, seed)
    tau = np.random.default_rng(seed).normal(size=d.nv)
    a = d.forward_dynamics(q, v, tau)
    through = tau - rotors(m) * a  # the rotors take the rest
    wrenches = d.cartesian_forces(q, through, choice=choice, length=0.6, points=somewhere(d))
    expected = bare_accelerations(m, q, v, a)
    assert_close(in_maximal_coordinates(m, q, v, wrenches), expected, 10 * DIFFERENCED)


@pytest.mark.parametrize("choice", ["couple", "minimum", "force", "tree"])
@pytest.mark.parametrize("name", SAMPLED)
def test_under_every_choice_of_wrenches_maximal_coordinates_move_as_reduced_ones(name, choice):
    check(named(name), choice, 1)


@settings(max_examples=2)
@given(
    seed=st.integers(0, 10**6),
    bodies=st.integers(1, 6),
    choice=st.sampled_from(["couple", "minimum", "force", "tree"]),
)
def test_so_they_do_on_any_tree(seed, bodies, choice):
    kinds = (*(k for k in MOVING if k != "euler"), "fixed")  # at random configurations far from singular ones
    check(random_scene(seed, bodies, kinds, couplings=True), choice, seed)


@pytest.mark.parametrize("name", SAMPLED)
def test_under_the_full_wrenches_of_the_joints_no_constraint_is_needed(name):
    """M dV = the wrench by its own joint less those of its children, body by body."""
    m = named(name)
    d, bodies = m.dynamics(), Bodies(m)
    (q,), (v,) = m.states(1, 2)
    a = d.forward_dynamics(q, v, np.random.default_rng(3).normal(size=d.nv))
    X, V = d.poses(q), at_centers(d, m.scene, q[None], v[None])[0]
    by_joints, place = d.joint_wrenches(q, v, a), bodies.centers(d.poses(q))
    force = np.zeros_like(by_joints)
    for k, body in enumerate(d.model.bodies):
        for host, sign in ((k, 1.0), (body.parent, -1.0)):
            if host >= 0:
                force[host, 3:] += sign * by_joints[k, 3:]
                force[host, :3] += sign * (by_joints[k, :3] + np.cross(X[k, :3, 3] - place[host], by_joints[k, 3:]))
    R = X[:, :3, :3]
    I = R @ bodies.inertia @ np.swapaxes(R, 1, 2)
    spin = np.einsum("bij,bj->bi", I, V[:, :3])
    alpha = np.linalg.solve(I, (force[:, :3] - np.cross(V[:, :3], spin))[..., None])[..., 0]
    free = np.concatenate([alpha, force[:, 3:] / bodies.mass[:, None] + np.array(m.scene.gravity)], axis=1)
    still = [k for k, body in enumerate(d.model.bodies) if body.link < 0]
    assert_close(free[still], np.zeros((len(still), 6)), 1e-11, np.abs(free).max())
    assert_close(free, bare_accelerations(m, q, v, a), 10 * DIFFERENCED)
