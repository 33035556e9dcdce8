"""Bounces of what hangs on hinges: forces that grow, and inertia that changes, along the way after an impact."""

import numpy as np
import pytest

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints, shapes

ELASTIC = rd.Material(friction=0.0, restitution=1.0)


def arm(links: int, stiffness: float, integrator: str, h: float) -> tuple[rd.Simulation, PyBulletMirror]:
    """Balls on rods of 0.5 m, hung on each other, over a floor and beside a wall."""
    scene = Scene()
    scene.world.shapes.append(shapes.Box((10, 10, 1), at=rd.pose((0, 0, -0.9)), material=ELASTIC))
    scene.world.shapes.append(shapes.Box((1, 10, 10), at=rd.pose((-1.0, 0, 0)), material=ELASTIC))
    below, at = scene.world, (0.0, 0.0, 0.3)
    for k in range(links):
        ball = shapes.Sphere(0.1, at=rd.pose((0.5, 0, 0)), material=ELASTIC)
        link = Body(f"link{k}", [ball], mass=1.0, center_of_mass=(0.4, 0, 0), inertia=0.02 * np.eye(3))
        below.attach(link, joints.revolute("y", stiffness=stiffness), at=rd.pose(at))
        below, at = link, (0.5, 0.0, 0.0)
    simulation = rd.Simulation(scene.compile(), h, integrator)
    simulation.contact.restitution_threshold = 0.0
    return simulation, PyBulletMirror(scene, simulation, gui=False, ground=False)


@pytest.mark.parametrize("integrator", ["rk4", "implicit_midpoint"])
@pytest.mark.parametrize(
    ("links", "stiffness", "h", "lost"), [(1, 0.0, 1 / 240, 2e-5), (2, 0.0, 1e-3, 1e-3), (2, 20.0, 1e-3, 3e-4)]
)
@pytest.mark.parametrize("seed", range(2))
def test_elastic_bounces_keep_their_energy(links, stiffness, h, lost, integrator, seed):
    """As a share of the weight of the links times 1 m; what is left is of the third order in the step."""
    simulation, mirror = arm(links, stiffness, integrator, h)
    d, rng, struck = simulation.dynamics, np.random.default_rng(seed), 0
    simulation.q = -0.6 + 0.3 * rng.normal(size=links)

    def energy():
        q, v = simulation.q, simulation.v
        return float(d.kinetic_energy(q, v) + d.potential_energy(q) + d.elastic_energy(q))

    start = energy()
    with mirror:
        for _ in range(round(2.0 / h)):
            mirror.step()
            struck += bool(len(simulation.contacts)) and np.abs(simulation.contacts.impulse).max() > 0.0
            assert energy() == pytest.approx(start, abs=lost * 9.81 * links)
    assert struck > 1
