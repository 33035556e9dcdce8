"""What depends on time between free bodies: the same forces, constraints and motion as in joint coordinates."""

import numpy as np
import pytest
import sympy as sp
from formulations import EACH, rod, runs_beside
from trees import assert_close

import recursive_dyn as rd
from scene import Scene, joints


def pushed() -> Scene:
    """Time in forces on a body and along a coordinate, in an energy, and in constraints of places and of rates."""
    scene, node = Scene(), None
    t = scene.time
    for k in range(3):
        joint = joints.ball() if k == 1 else joints.revolute("y", damping=0.1)
        node = (node or scene.world).attach(rod(f"rod{k}"), joint, at=rd.pose((0.5 if k else 0, 0, 0)))
    a, b, c = (scene[f"rod{k}"] for k in range(3))
    scene.force(c, force=(sp.sin(3 * t), t * b.position[2], 1))
    scene.force(a.q[0], sp.cos(5 * t))
    scene.potential((1 + t / 2) * a.q[0] ** 2)
    scene.constrain(c.q[0] - sp.sin(2 * t) / 5, name="belt")
    scene.constrain(b.spin[1] - sp.cos(t) / 3, name="drive")
    return scene


def begun(d: rd.Dynamics, seed: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """A state in joint coordinates that meets the constraints; of a seed at some time, and in some motion."""
    q, v = d.neutral(), np.zeros(d.nv)
    if seed is not None:
        rng = np.random.default_rng(seed)
        q, v = d.random(rng), rng.normal(size=d.nv)
        q[-1] = rng.uniform(-1, 1)
    return d.project(q, v)


def test_bodies_accelerate_as_in_joint_coordinates_at_any_time() -> None:
    scene = pushed()
    reduced, d = scene.compile(), scene.compile("velocity_constraints")
    q, v = (np.array(x) for x in zip(*(begun(reduced, k) for k in range(3)), strict=True))
    tau = np.random.default_rng(1).normal(size=v.shape)
    Q, V = d.from_reduced(q, v)
    assert d.coordinates[-1] == "time" and np.array_equal(Q[:, -1], q[:, -1]) and np.array_equal(V[:, -1], [1, 1, 1])
    phi, psi = d.constraint_errors(Q, V, near=None)
    assert max(np.abs(phi).max(), np.abs(psi).max()) < 1e-8
    pushes = d.passive_forces(Q, V, near=q) + d.forces_from_reduced(Q, tau, near=q)
    a = reduced.forward_dynamics(q, v, tau + reduced.passive_forces(q, v))
    assert_close(d.accelerations(Q, V, d.forward_dynamics(Q, V, pushes)), reduced.accelerations(q, v, a), 1e-9)
    assert_close(d.elastic_energy(Q, near=q), reduced.elastic_energy(q), 1e-12)
    back, rates = d.to_reduced(Q[0], V[0], near=q[0])
    assert_close(back, q[0], 1e-9)
    assert_close(rates, v[0], 1e-9)


@EACH
def test_bodies_move_in_time_as_in_joint_coordinates(method: str, integrator: str) -> None:
    """The same to the first order of the timestep, from a time that is not 0."""
    scene = pushed()
    _, sims, off = runs_beside(scene, method, integrator, start=begun(scene.compile()))
    for sim in sims:
        assert sim.q[-1] == sim.time == pytest.approx(0.1) and sim.v[-1] == 1.0
        assert np.abs(sim.dynamics.constraint_errors(sim.q)[0]).max() < 1e-2
    assert off[1] < 0.7 * off[0] and off[1] < 0.01
