"""Derivatives of accelerations and multipliers under constraints: the analytic ones are those along directions."""

import numpy as np
import pytest
import sympy as sp
from constraint_cases import bound
from trees import assert_close

from demos.benchmark.cases import random_state, robots
from demos.benchmark.held import HELD, OursHeld
from demos.benchmark.peers.pinocchio_held import PinocchioHeld
from demos.benchmark.peers.pinocchio_peer import PinocchioPeer
from recursive_dyn.codegen.making import jit
from recursive_dyn.dynamics.derivatives.jacobians import Jacobians
from recursive_dyn.dynamics.derivatives.tree_derivatives import TreeDerivatives
from scene import Body, Scene, joints

FUNCTIONS = ("forward_dynamics", "multipliers")
EXACT = 1e-9  # of the largest entry: M's and C M^-1 C^T's conditions, some 1e5, times rounding


def along(d, function, *arrays):
    """The same by directional derivatives."""
    made = Jacobians(d)
    return [made.by_argument(function, arrays, k) for k in range(3)]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("seed", [3, pytest.param(5, marks=pytest.mark.slow)])
def test_one_constraint_of_every_sort_on_a_random_tree(seed, function):
    """Of one state and of batches that broadcast; off the constraints as well."""
    case = bound(seed, seed)
    d, (q, v, tau) = case.dynamics(), case.states(6, 1)
    q, v, tau = q.reshape(2, 3, -1), v.reshape(2, 3, -1)[:, :1], tau[0]
    expected = along(d, function, q, v, tau)
    for mine, other in zip(d.derivatives(function, q, v, tau), expected, strict=True):
        assert_close(mine, other, EXACT)
    for mine, other in zip(d.derivatives(function, q[1, 2], v[1, 0], tau), expected, strict=True):
        assert_close(mine, other[1, 2], EXACT, np.abs(other).max())


@pytest.mark.parametrize("width", [2, 8])
def test_machine_code_of_any_registers(width, monkeypatch):
    case = bound(3, 3)
    d, state = case.dynamics(), [x[0] for x in case.states(1, 1)]
    expected = along(d, "multipliers", *state)
    monkeypatch.setattr(jit, "vector_width", lambda: width)
    found = TreeDerivatives(d.model).single(d, "multipliers", state, d.parameters.values_array)
    for mine, other in zip(found, expected, strict=True):
        assert_close(mine, other, EXACT)


def test_forces_do_no_work_and_balance():
    """C da / dtau = 0, M da / dtau - C^T dlambda / dtau = 1."""
    case = bound(3, 3)
    d, state = case.dynamics(), [x[0] for x in case.states(1, 2)]
    moved, forces = (d.derivatives(function, *state)[2] for function in FUNCTIONS)
    C = d.constraint_jacobian(state[0])
    assert_close(C @ moved, np.zeros((len(C), d.nv)), 1e-10, np.abs(C).max() * np.abs(moved).max())
    assert_close(d.mass_matrix(state[0]) @ moved - C.T @ forces, np.eye(d.nv), 1e-10)


def test_rows_that_depend_on_others_here_are_left_out():
    """A tip's x, and its distance from the base, whose gradients are parallel where it is on the axis."""
    scene = Scene()
    node = scene.world
    for name in ("upper", "lower", "hand"):
        at = np.eye(4)
        at[0, 3] = 0.0 if name == "upper" else 0.5
        node = node.attach(Body(name, mass=1.0, inertia=0.02 * np.eye(3)), joints.revolute("y"), at=at)
    tip = node.point((0.5, 0, 0))
    scene.constrain(tip[0] - 0.9, name="x")
    scene.constrain(sp.sqrt(tip.dot(tip)) - 0.95, name="reach")
    d = scene.compile()
    bent = np.array([0.5, -1.0, 0.5])  # its tip is on the axis
    q, v, tau = bent, np.array([0.3, -0.2, 0.4]), np.ones(3)
    assert (d.multipliers(q, v, tau) == 0.0).any()
    for function in FUNCTIONS:
        for mine, other in zip(d.derivatives(function, q, v, tau), along(d, function, q, v, tau), strict=True):
            assert_close(mine, other, EXACT, np.abs(other).max() or 1.0)


@pytest.mark.parametrize("name", HELD)
def test_robots_held_at_points_are_as_in_pinocchio(name):
    """The hinges' block; velocities of a free base have another order there."""
    case = robots()[name]
    peer = PinocchioPeer(case, *random_state(case))
    assert peer.loaded, peer.reason
    held, ours = PinocchioHeld(peer, HELD[name]), OursHeld(case, HELD[name])
    slots = [link.slots[0] for link in ours.dynamics.model.links if link.joint.nv == 1]
    assert_close(ours.a[slots], held.found[peer.slots], 1e-9)
    held.derivatives()(1)
    found, data = ours.dynamics.derivatives("forward_dynamics", ours.q, ours.v, ours.tau), peer.data
    for mine, other in zip(found, (data.ddq_dq, data.ddq_dv, data.ddq_dtau), strict=True):
        assert_close(mine[np.ix_(slots, slots)], other[np.ix_(peer.slots, peer.slots)], EXACT, np.abs(mine).max())
