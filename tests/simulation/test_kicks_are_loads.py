"""What a step begins with, where somebody wrote velocities that constraints do not allow: joints and constraints bear
that impulse, laws are asked after it, and what is rolled back knows nothing of it."""

import numpy as np
import pytest

import recursive_dyn as rd
from recursive_dyn import control
from scene import Body, Scene, joints

H = 1 / 240
INERTIA = 0.05 * np.eye(3)


def stopped_short(strength):
    """A pinned body, and 5 kg in a slide on it across the way that both are kicked along at 4 m/s, and slow to."""
    scene = Scene(gravity=(0, 0, 0))
    a = scene.world.attach(Body("a", mass=1.0, inertia=INERTIA), joints.free())
    b = a.attach(Body("b", mass=5.0, inertia=INERTIA), joints.prismatic("y"), at=rd.pose((1, 0, 0)))
    b.breaks_at(force=strength)
    scene.pin(a, scene.world, (0, 0, 0), (0, 0, 0))
    sim = rd.Simulation(scene.compile(), H)
    sim.v = [0, 0, 0, 4.0, 0, 0, 0]
    return sim


@pytest.mark.parametrize("strength", [100.0, 4799.0])
def test_joints_break_by_the_impulse_that_constraints_give(strength):
    """m v / h, as a mean over the step."""
    sim = stopped_short(strength)
    sim.step()
    (broken,) = sim.broken
    assert broken.body == "b" and broken.force == pytest.approx(5 * 4 / H)


def test_stronger_joints_hold():
    sim = stopped_short(4801.0)
    sim.step(3)
    assert not sim.broken
    np.testing.assert_allclose(sim.v, 0.0, atol=1e-12)


@pytest.mark.parametrize(("strength", "breaks"), [(199.0, True), (201.0, False)])
def test_constraints_break_by_their_own_impulse(strength, breaks):
    """1 kg at 1 m/s meets 5 kg at rest: 5 / 6 N s within the step."""
    scene = Scene(gravity=(0, 0, 0))
    a, b = (
        scene.world.attach(Body(n, mass=m, inertia=INERTIA), joints.prismatic("x")) for n, m in (("a", 1.0), ("b", 5.0))
    )
    scene.constrain(a.q[0] - b.q[0], name="rod", breaks_at=strength)
    sim = rd.Simulation(scene.compile(), H)
    sim.v = [1.0, 0.0]
    sim.step()
    assert bool(sim.broken_constraints) == breaks
    if breaks:
        assert sim.broken_constraints[0].force == pytest.approx(5 / 6 / H)


def test_laws_are_asked_after_the_impulse():
    """Before it, one would brake 1 kg at 10 m/s, where 100 kg go at 0.1 m/s: 836 J from half a joule."""
    scene = Scene(gravity=(0, 0, 0))
    for name, mass in (("a", 1.0), ("b", 99.0)):
        scene.world.attach(Body(name, mass=mass, inertia=INERTIA), joints.prismatic("x"))
    sim = rd.Simulation(scene.compile(), 1 / 60)
    sim.v = [10.0, 0.0]
    scene.constrain(scene["a"].q[0] - scene["b"].q[0], name="coupling")
    sim.update(scene.compile())
    sim.control = control.ComputedTorque(sim.dynamics, [0.0, 0.0], frequency=4.0)
    sim.step()
    assert 0.0 < sim.v[0] < 0.1 and sim.v[0] == pytest.approx(sim.v[1], rel=1e-9)


def test_a_rollback_across_a_break_goes_as_it_went():
    """50 m away, where what is moved by rounding shows."""
    scene = Scene()
    a, b = (
        scene.world.attach(Body(n, mass=1.0, inertia=INERTIA), joints.free(), at=rd.pose((50 + x, 0, 1.2)))
        for n, x in (("a", 0.0), ("b", 0.5))
    )
    c = b.attach(Body("c", mass=1.0, inertia=INERTIA), joints.revolute("y", damping=0.1), at=rd.pose((0.3, 0, 0)))
    scene.distance(a, c, 0.7, point_a=(0, 0.2, 0), name="rod")
    scene.pin(a, b, (0.25, 0, 0), (-0.25, 0, 0), name="pin", breaks_at=12.0)
    scene.spring(b, scene.world, 20.0, point_b=(50, 0, 2.0), rest=0.5)
    sim, whole = rd.Simulation(scene.compile(), 1 / 120), list(scene.constraints)
    sim.q, sim.v = sim.dynamics.project(sim.q, [1.0, 2.0, 3.0, *(10 * [0.0])])
    before, went = [], []
    while not sim.broken_constraints:
        assert sim.time < 2.0
        before.append(sim.snapshot_bytes())
        sim.step()
        went.append(sim.q.tobytes() + sim.v.tobytes())
    sim.step(5)
    for back in (1, 10, 30):
        scene.constraints[:] = whole
        sim.update(scene.compile())
        sim.restore(before[-back])
        sim.step()
        assert sim.q.tobytes() + sim.v.tobytes() == went[-back]
        sim.step(back + 5)
