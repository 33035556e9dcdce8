"""Springs of ball and free joints that no step resolves: as stable as those of hinges, which they are about an axis."""

import numpy as np
import pytest

import recursive_dyn as rd
from scene import Body, Scene, joints

STIFF = [(1e6, 0.0), (1e6, 1e3), (1e8, 0.0), (1e10, 1e3)]
RULES = ["linearly_implicit_rk4", "semi_implicit_euler"]


def struck(joint: joints.Joint, h: float, rule: str) -> rd.Simulation:
    """A body of 1 kg m^2, at rest where its spring rests, struck about z."""
    scene = Scene(gravity=(0, 0, 0))
    scene.world.attach(Body("wheel", mass=1.0, inertia=np.eye(3)), joint)
    sim = rd.Simulation(scene.compile(), h, rule)
    speeds = np.zeros(sim.dynamics.nv)
    speeds[2 if len(speeds) > 1 else 0] = 1.0
    sim.v = speeds
    return sim


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("stiffness, damping", STIFF)
def test_they_answer_as_a_hinges_does(stiffness, damping, rule):
    for joint in (joints.ball, joints.free):
        hinge = struck(joints.revolute("z", stiffness=stiffness, damping=damping), 1 / 30, rule)
        sim = struck(joint(stiffness=stiffness, damping=damping), 1 / 30, rule)
        for _ in range(20):
            sim.step()
            hinge.step()
            assert sim.v[2] == pytest.approx(hinge.v[0], rel=1e-5, abs=1e-9)
        assert abs(sim.v[2]) < 1e-3 and sim.report.halvings == 0


@pytest.mark.parametrize("h", [1 / 60, 1 / 1000])
def test_soft_ones_keep_their_energy(h):
    """What a step resolves is watched for energy, and not implicit."""
    sim = struck(joints.ball(stiffness=300.0), h, "linearly_implicit_rk4")
    sim.v = [0.3, -0.5, 4.0]
    d = sim.dynamics
    first = float(d.kinetic_energy(sim.q, sim.v) + d.elastic_energy(sim.q))
    sim.step(round(20 / h))
    assert float(d.kinetic_energy(sim.q, sim.v) + d.elastic_energy(sim.q)) == pytest.approx(first, rel=0.01)


@pytest.mark.parametrize("stiffness, h", [(1e7, 1 / 60), (3e7, 1 / 60), (1e8, 1 / 240)])
def test_in_a_chain_too(stiffness, h):
    """Five links hang straight down from springs as from welds, and gain nothing on the way there, in whole steps: not
    where the M_ii of the first are a hundred times those of the last, between which half of them were explicit."""
    scene = Scene()
    node = scene.world
    for k in range(5):
        link = Body(f"link{k}", mass=1.0, center_of_mass=(0, 0, -0.25), inertia=np.diag([0.02, 0.02, 0.001]))
        node = node.attach(link, joints.ball(stiffness=stiffness), at=rd.pose((0, 0, -0.5 if k else 0.0)))
    sim = rd.Simulation(scene.compile(), h)
    d = sim.dynamics
    sim.v = np.random.default_rng(0).normal(size=d.nv)
    energies = []
    for _ in range(240):
        energies.append(float(d.kinetic_energy(sim.q, sim.v) + d.potential_energy(sim.q) + d.elastic_energy(sim.q)))
        sim.step()
    assert np.diff(energies).max() < 1e-3 * (energies[0] - energies[-1])
    assert np.abs(sim.v).max() < 1e-4 and sim.report.unexplained_energy == 0.0 and sim.report.halvings == 0


@pytest.mark.parametrize("joint", [joints.ball, joints.free])
def test_light_links_between_what_is_heavy(joint):
    """All of them move the end as well, by M_ii, and can swing a hundred times as fast."""
    scene = Scene(gravity=(0, 0, 0))
    node = scene.world
    for k in range(3):
        heavy = k == 2
        link = Body(f"link{k}", mass=10.0 if heavy else 0.05, inertia=np.eye(3) * (10.0 if heavy else 1e-3))
        node = node.attach(link, (joints.ball if k else joint)(stiffness=1e6), at=rd.pose((0, 0, -0.1 if k else 0.0)))
    sim = rd.Simulation(scene.compile(), 1 / 60)
    sim.v = np.random.default_rng(0).normal(size=sim.dynamics.nv)
    start = float(sim.dynamics.kinetic_energy(sim.q, sim.v))
    sim.step(60)
    left = float(sim.dynamics.kinetic_energy(sim.q, sim.v) + sim.dynamics.elastic_energy(sim.q))
    assert left < start and sim.report.unexplained_energy == 0.0 and sim.report.halvings < 60
