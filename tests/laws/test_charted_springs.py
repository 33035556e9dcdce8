"""Springs, dampers and turn limits of surfaces that touch: the same in all charts, smooth over poles, energy kept."""

import numpy as np
import pytest

import recursive_dyn as rd
from scene import Body, Scene, joints
from scene.joints import surfaces

INERTIA = np.diag([0.02, 0.03, 0.025])
BIG, EGG = surfaces.ellipsoid(1.0, 0.8, 0.7), surfaces.ellipsoid(0.3, 0.2, 0.1, poles="y")
STIFFNESS, DAMPING = np.array([3.0, 2.0, 1.0, 2.5, 0.7]), np.array([0.1, 0.2, 0.3, 0.4, 0.5])


def touching(first=BIG, second=EGG, afloat=False, gravity=(0.0, 0.0, 0.0), **settings):
    """(scene, the upper body) of a body on the world, or on one that floats."""
    scene = Scene(gravity=gravity)
    node = scene.world
    if afloat:
        node = node.attach(Body("table", mass=1.0, inertia=0.3 * np.eye(3)), joints.free())
    joint = joints.surface_on_surface(first, second, spin=True, **settings)
    place = rd.pose((0.1, 0.2, 0.3), (0.3, 0.4, 0.5)) if afloat else np.eye(4)
    return scene, node.attach(Body("stone", mass=1.0, inertia=INERTIA), joint, at=place)


def energy(sim):
    d, q, v = sim.dynamics, sim.q, sim.v
    return float(d.kinetic_energy(q, v) + d.potential_energy(q) + d.elastic_energy(q))


@pytest.mark.parametrize("rest", [(0.2, 0.0, 0.4, 0.0, 0.6), (0.2, 0.3, 0.4, -0.5, 0.6)])
def test_near_rest_they_are_those_of_the_coordinates(rest):
    """k (q - rest)^2 / 2 and -c v, to second order; the spin's where both rest on their equators."""
    d = touching(stiffness=STIFFNESS, rest=rest, damping=DAMPING)[0].compile()
    q, count = np.array(rest), 5 if rest[1] == 0.0 else 4
    assert float(d.elastic_energy(q)) < 1e-30
    h = 1e-3 * np.eye(5)
    bent = [float(d.elastic_energy(q + x) + d.elastic_energy(q - x)) / 1e-6 for x in h]
    if count == 5:
        np.testing.assert_allclose(bent, STIFFNESS, rtol=1e-5)
        for i in range(5):
            np.testing.assert_allclose(d.passive_forces(q, np.eye(5)[i])[i], -DAMPING[i], rtol=1e-12)
    north = [1, 3]
    np.testing.assert_allclose(np.array(bent)[north], STIFFNESS[north], rtol=1e-5)


@pytest.mark.parametrize("pair", [(BIG, EGG), (surfaces.plane(), EGG), (BIG, surfaces.torus(0.2, 0.05))])
def test_they_are_the_same_in_all_charts(pair):
    """Energy, what dampers take, and the power of both at a state, whatever chart it is told in; power is -dU/dt."""
    scene, _ = touching(*pair, stiffness=STIFFNESS, rest=(0.2, 0.3, 0.4, -0.5, 0.6), damping=DAMPING)
    sim, rng = rd.Simulation(scene.compile(), timestep=1e-3), np.random.default_rng(4)
    count = len(scene["stone"].joint.charts)
    for _ in range(4):
        sim.rechart("stone", 0)
        sim.q, sim.v = rng.uniform(-1.2, 1.2, 5), rng.normal(size=5)
        told = []
        for chart in range(count):
            sim.rechart("stone", chart)
            d, q, v = sim.dynamics, sim.q, sim.v
            power, lost = float(v @ d.passive_forces(q, v)), float(v @ d.passive_forces(q, 0 * v))
            rate = (d.elastic_energy(q + 1e-5 * v) - d.elastic_energy(q - 1e-5 * v)) / 2e-5
            assert lost == pytest.approx(-float(rate), rel=1e-5, abs=1e-6)
            told.append([float(d.elastic_energy(q)), power, lost])
        np.testing.assert_allclose(told, [told[0]] * count, atol=1e-10)
        assert told[0][1] < told[0][2]


def test_equal_springs_are_one_of_the_chord():
    """k (1 - cos(way)) on a sphere, over its poles and on to the other side."""
    d = touching(surfaces.plane(), surfaces.sphere(0.2), stiffness=(0, 0, 3.0, 3.0, 0))[0].compile()
    for v in (0.0, 0.7, np.pi / 2, 2.0, np.pi):
        assert float(d.elastic_energy([0, 0, 0.0, v, 0])) == pytest.approx(3.0 * (1.0 - np.cos(v)))
        assert float(d.elastic_energy([0, 0, v, 0.0, 0])) == pytest.approx(3.0 * (1.0 - np.cos(v)))


@pytest.mark.parametrize("rolls", [False, True])
@pytest.mark.parametrize("damping", [0.0, 0.05])
def test_energy_and_momentum_are_kept_over_poles(rolls, damping):
    scene, stone = touching(afloat=True, stiffness=STIFFNESS, damping=damping)
    if rolls:
        scene.roll(stone)
    sim, rng = rd.Simulation(scene.compile(), timestep=1 / 240), np.random.default_rng(3)
    d = sim.dynamics
    q = d.neutral()
    q[7:] = 0.3
    sim.q, sim.v = d.project(q, 3.0 * rng.normal(size=d.nv))
    energies, charts, momentum = [energy(sim)], set(), d.momentum(sim.q, sim.v)
    for _ in range(120):
        sim.step(4)
        energies.append(energy(sim))
        charts.add(sim.charts["stone"])
    assert len(charts) > 1
    scale = max(1.0, np.abs(momentum).max())
    np.testing.assert_allclose(d.momentum(sim.q, sim.v), momentum, atol=2e-3 * scale)
    if damping:
        assert np.diff(energies).max() < 1e-4 * energies[0] and energies[-1] < 0.95 * energies[0]
    else:
        np.testing.assert_allclose(energies, energies[0], rtol=1e-3)


def test_a_stone_on_springs_rolls_on_for_long():
    """Over poles and past where it is opposite to rest."""
    scene, stone = touching(surfaces.plane(), gravity=(0, 0, -9.81), stiffness=1e-3)
    scene.roll(stone)
    sim, rng = rd.Simulation(scene.compile(), timestep=1 / 240), np.random.default_rng(8)
    d = sim.dynamics
    for _ in range(4):
        sim.rechart("stone", 0)
        q = np.array([0.0, 0.0, rng.uniform(-3, 3), rng.uniform(-1.3, 1.3), rng.uniform(-3, 3)])
        sim.q, sim.v = d.project(q, 2.0 * rng.normal(size=5))
        start = energy(sim)
        sim.step(1200)
        assert energy(sim) == pytest.approx(start, rel=2e-3)


def test_turn_limits_hold_in_all_charts():
    """An egg that stands on a pole of its first chart falls over, up to the edge of its cone, and not beyond."""
    cone = joints.TurnLimits(swing=0.5, axis="y", center=(np.pi / 2, 0, 0))
    scene, _ = touching(surfaces.plane(), gravity=(0, 0, -9.81), limits=cone)
    sim = rd.Simulation(scene.compile(), timestep=1 / 240)
    upright = rd.pose((0, 0, 0.2), (np.pi / 2, 0, 0))
    with pytest.raises(rd.StateError, match=r"chart 1 of the joint of 'stone' is singular"):
        sim.rechart("stone", 1)
    sim.q[:] = 0.3
    sim.rechart("stone", 1)
    sim.place("stone", upright, velocity=(0.1, 3.0, 0.2, np.nan, np.nan, 0.0))
    tilts, charts, pushed = [], set(), set()
    for _ in range(480):
        sim.step()
        charts.add(sim.charts["stone"])
        pushed |= {name for name, impulse in sim.coordinate_impulses.items() if impulse}
        tilts.append(np.arccos(min(1.0, sim.dynamics.poses(sim.q)[0][:3, 1] @ np.asarray(upright)[:3, 1])))
    assert charts == {1} and pushed == {"swing limit of stone.u1"}
    assert 0.49 < max(tilts) < 0.501


def test_a_plane_keeps_what_its_coordinates_have():
    """Limits hold while the stone's charts change; rotors add to M and take energy, as in one chart."""
    walls = [(-0.3, 0.3), (-0.3, 0.3), *[(-np.inf, np.inf)] * 3]
    scene, _ = touching(surfaces.plane(), gravity=(0, 0, -9.81), limits=walls, armature=(0.5, 0.4, 0, 0, 0))
    d = scene.compile()
    bare = touching(surfaces.plane())[0].compile()
    q = np.array([0.0, 0.0, 0.3, 0.2, 0.1])
    added = d.mass_matrix(q) - bare.mass_matrix(q)
    np.testing.assert_allclose(added, np.diag([0.5, 0.4, 0, 0, 0]), atol=1e-12)
    sim = rd.Simulation(d, timestep=1 / 240)
    sim.q, sim.v = q, [2.0, -1.4, 1.0, 0.8, 0.6]
    charts, far = set(), []
    for _ in range(300):
        sim.step()
        charts.add(sim.charts["stone"])
        far.append(np.abs(sim.q[:2]).max())
    assert len(charts) > 1 and 0.299 < max(far) < 0.3005


def test_what_cannot_be_is_refused_by_name(tmp_path):
    scene, _ = touching(stiffness=1.0, rest=(0, np.pi / 2, 0, 0, 0))
    with pytest.raises(rd.ModelError, match=r"'stone'.*'u1' has a spring .*'v1' rests at a pole.*scene.bushing"):
        scene.compile()
    scene, stone = touching(limits=joints.TurnLimits(swing=1.0))
    scene.constrain(stone.q[0] - 0.1, name="held")
    with pytest.raises(rd.ModelError, match=r"joint of 'stone'.*one chart.*TurnLimits"):
        scene.compile()
    scene, stone = touching(stiffness=2.0, damping=0.1)
    scene.constrain(stone.q[0] - 0.1, name="held")  # in one chart they are the coordinates' own
    assert [c.stiffness for c in scene.compile().model.coordinates] == [2.0] * 5
    scene, _ = touching(stiffness=STIFFNESS, damping=DAMPING)
    scene.save(tmp_path / "scene.json")
    assert Scene.load(tmp_path / "scene.json").model().key == scene.model().key
