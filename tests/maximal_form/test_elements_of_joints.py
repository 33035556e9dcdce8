"""Force elements of joints' coordinates between free bodies: the same forces, energies and motion as in these."""

import numpy as np
from formulations import EACH, runs_beside
from trees import assert_close

import recursive_dyn as rd
from scene import Body, Scene, joints


def elastic() -> Scene:
    """Three rods; a spring between two angles that a height stiffens, drag by a third body's, a friction on a ball."""
    scene, node = Scene(), None
    stiffness = scene.parameter("k", 4.0)
    for k in range(3):
        rod = Body(f"rod{k}", mass=1.0, center_of_mass=(0.25, 0, 0), inertia=np.diag([0.01, 0.03, 0.03]))
        joint = joints.ball(stiffness=2.0, damping=0.1) if k == 1 else joints.revolute("y", stiffness=1.0, rest=0.2)
        node = (node or scene.world).attach(rod, joint, at=rd.pose((0.5 if k else 0, 0, 0)))
    a, b, c = (scene[f"rod{k}"] for k in range(3))
    scene.potential(stiffness * (a.q[0] - c.q[0]) ** 2 * (1 + a.position[2] ** 2 + c.position[2] ** 2), name="coil")
    scene.force(c.position[2], -3 * c.v[0], name="drag")
    scene.force(b.v[0] + b.v[1], -0.5 * b.v[0], name="rub")
    return scene


def test_forces_of_joint_coordinates_are_those_that_these_have() -> None:
    """Accelerations under them, at several states at once and at another value of a parameter."""
    scene, rng = elastic(), np.random.default_rng(1)
    reduced, d = scene.compile(), scene.compile("velocity_constraints")
    reduced.parameters["k"] = d.parameters["k"] = 7.0
    q = np.array([reduced.random(rng) for _ in range(3)])
    v = rng.normal(size=(3, reduced.nv))
    Q, V = d.from_reduced(q, v)
    pushes = d.passive_forces(Q, V, near=q)
    a = reduced.forward_dynamics(q, v, reduced.passive_forces(q, v))
    assert_close(d.accelerations(Q, V, d.forward_dynamics(Q, V, pushes)), reduced.accelerations(q, v, a), 1e-10)
    assert_close(d.elastic_energy(Q, near=q), reduced.elastic_energy(q), 1e-12)
    assert_close(d.passive_forces(Q[1], V[1], near=q[1]), pushes[1], 1e-12)


@EACH
def test_bodies_move_under_them_as_in_joint_coordinates(method: str, integrator: str) -> None:
    """The same to the first order of the timestep."""
    _, _, off = runs_beside(elastic(), method, integrator, (500, 1000))
    assert off[1] < 0.7 * off[0] and off[1] < 0.01


def test_the_energy_of_a_scene_is_kept_with_that_of_its_elements() -> None:
    """Without dampers the loss shrinks with the timestep; without the elements' energy it does not."""
    scene = Scene()
    rod = Body("rod", mass=1.0, center_of_mass=(0.25, 0, 0), inertia=np.diag([0.01, 0.03, 0.03]))
    bar = scene.world.attach(rod, joints.revolute("y", stiffness=3.0, rest=1.0))
    scene.potential(2 * (bar.q[0] - 0.5) ** 4)
    d, lost = scene.compile("velocity_constraints"), []
    for rate in (500, 1000):
        sim = rd.Simulation(d, 1 / rate)
        total = [_energy(sim)]
        for _ in range(4):
            sim.step(rate // 10)
            total.append(_energy(sim))
        lost.append(np.abs(np.diff(total)).max())
    exchanged = np.ptp([d.elastic_energy(x) for x in (d.neutral(), sim.q)])
    assert lost[1] < 0.6 * lost[0] < 0.1 * exchanged
    assert f"energy {total[-1]:.6g} J" in repr(sim)


def _energy(sim: rd.Simulation) -> float:
    d = sim.dynamics
    near = sim.joint_coordinates if np.isfinite(sim.joint_coordinates).all() else None
    parts = d.kinetic_energy(sim.q, sim.v), d.potential_energy(sim.q), d.elastic_energy(sim.q, near)
    return float(sum(parts))
