"""Constraints that break: the load at which they do, what goes on then, files, errors."""

import time

import numpy as np
import pytest

import recursive_dyn as rd
from bridge import Plugin
from scene import Body, Scene, joints, shapes

H, G = 1 / 240, 9.81


def portal(force=np.inf, pinned=True):
    """A beam of 2 kg on two hung posts of 1 kg, the second one held by a pin, which bears 2 g."""
    scene, inertia = Scene(), np.eye(3) * 0.1
    post = Body("post", mass=1.0, inertia=inertia, center_of_mass=(0, 0, -0.5))
    beam = Body("beam", mass=2.0, inertia=inertia, center_of_mass=(0.5, 0, 0))
    other = Body("other", mass=1.0, inertia=inertia, center_of_mass=(0, 0, 0.5))
    scene.world.attach(post, joints.revolute("y"))
    post.attach(beam, joints.revolute("y"), rd.pose((0, 0, -1)))
    beam.attach(other, joints.revolute("y"), rd.pose((1, 0, 0)))
    end = other.point((0, 0, 1))
    if pinned:
        scene.constrain(end[0] - 1, end[2], name="pin", breaks_at=force)
    return scene


@pytest.mark.parametrize("share", [0.999, 1.001])
def test_a_pin_bears_its_share_of_the_weight_and_no_more(share):
    scene = portal(2 * G * share)
    sim = rd.Simulation(scene.compile(), H)
    sim.step()
    told = sim.broken_constraints
    assert len(told) == (share < 1.0) and len(scene.constraints) == (share > 1.0)
    if told:
        assert told[0].constraint == "pin" and told[0].force == pytest.approx(2 * G, rel=1e-9)
        free = rd.Simulation(portal(pinned=False).compile(), H)
        free.q, free.v = sim.q, sim.v
        sim.step(30), free.step(30)
        np.testing.assert_array_equal(sim.q, free.q)
        np.testing.assert_array_equal(sim.v, free.v)


def test_what_a_motor_takes_over_is_not_the_pins():
    """A push along x turns the second post by its pin; where a motor holds the first one, the pin bears weight only."""
    scene = portal(1e6)
    sim = rd.Simulation(scene.compile(), H)
    sim.motors["post.angle"] = rd.Motor(velocity=0.0, max_force=100.0)
    sim.apply_force("beam", (50.0, 0, 0))
    sim.step()
    assert sim._timesteps.loads.constraints.sizes["pin"] == pytest.approx(2 * G, rel=1e-3)
    sim.motors.clear()
    sim.step()
    assert sim._timesteps.loads.constraints.sizes["pin"] == pytest.approx(2 * G, rel=1e-3)


def test_motion_and_momentum_go_on_at_the_break():
    """Right after it bodies are where they are with an unbreakable pin, and move as they do there."""
    sims = [rd.Simulation(portal(force).compile(), H) for force in (2 * G * 1.02, np.inf)]
    for sim in sims:
        sim.v = np.linalg.svd(sim.dynamics.constraint_jacobian(sim.q))[2][-1]
    breaks, holds = sims
    while not breaks.broken_constraints:
        assert breaks.time < 3.0
        breaks.step(), holds.step()
    for ours, theirs in zip(breaks.frames(), holds.frames(), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)
    energies = [sim.dynamics.kinetic_energy(sim.q, sim.v) for sim in sims]
    assert energies[0] == pytest.approx(energies[1], rel=1e-12)


@pytest.mark.parametrize("share", [0.99, 1.01])
@pytest.mark.parametrize("prompt", [True, False])
def test_a_rod_without_mass_breaks_under_its_load_in_a_game(share, prompt):
    """A distance bears the weight of a box that hangs on it, which falls as freely as it may when it broke."""
    scene = Scene()
    scene.world.attach(Body("box", [shapes.Box((0.2, 0.2, 0.2))], mass=2.0), joints.free(), rd.pose((0, 0, 2.0)))
    scene.distance("world", "box", 1.0, (0, 0, 3.0), name="rod", breaks_at=2 * G * share)
    with Plugin(scene, H, prompt=prompt) as game:
        told, end = [], time.monotonic() + 60.0
        while game.simulation.time < 0.1 or (share < 1.0 and len(scene.constraints)) or game.updating:
            game.on_frame(1 / 60)
            told += [event for event in game.events if event.kind == "broken"]
            assert time.monotonic() < end
        before, at = game.simulation.v[5], game.simulation.time
        game.step(10)
        assert [event.constraint for event in told] == ["rod"] * (share < 1.0)
        assert all(event.force == pytest.approx(2 * G, rel=1e-6) for event in told)
        fallen = game.simulation.v[5] - before
        assert fallen == pytest.approx(-G * (game.simulation.time - at) if share < 1.0 else 0.0, abs=1e-9)


def incline(slope, force, wheel):
    """A ball of 1.3 kg on a plane, or a wheel of that mass by its radius, released on a slope, and its friction, N."""
    m, r = 1.3, 0.2
    scene = Scene(gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    inertia = np.eye(3) * 0.4 * m * r**2
    friction = m * G * np.sin(slope) / (1 + m * r**2 / inertia[0, 0])
    if wheel:
        body = scene.world.attach(Body("ball", mass=m, inertia=inertia), joints.free(), at=rd.pose((0, 0, r)))
        bears = np.hypot(friction, m * G * np.cos(slope))
        scene.roll(body, name="contact", radius=r, axis="y", breaks_at=force * bears)
    else:
        joint = joints.surface_on_surface(joints.surfaces.plane(), joints.surfaces.sphere(r), spin=True)
        body = scene.world.attach(Body("ball", mass=m, inertia=inertia), joint)
        bears = friction
        scene.roll(body, name="contact", breaks_at=force * bears)
    sim = rd.Simulation(scene.compile(), H)
    start = sim.dynamics.poses(sim.q)[0, :3, 3].copy()
    return scene, sim, start, bears


@pytest.mark.parametrize("wheel", [False, True], ids=["surfaces", "radius"])
def test_what_rolls_down_a_slope_slips_above_its_friction(wheel):
    """m g sin(a) / (1 + m r^2 / I), of a wheel with what carries it; then it slides, or falls, and keeps its spin."""
    slope = 0.3
    scene, sim, start, _ = incline(slope, 1.01, wheel)
    sim.step(240)
    assert sim.broken_constraints == () and len(scene.constraints) == 1
    moved = sim.dynamics.poses(sim.q)[0, :3, 3] - start
    assert moved == pytest.approx([5 / 7 * G * np.sin(slope) / 2, 0, 0], abs=1e-7)
    scene, sim, start, bears = incline(slope, 0.99, wheel)
    sim.step()
    (told,) = sim.broken_constraints
    assert told.constraint == "contact" and told.force == pytest.approx(bears, rel=1e-6)
    assert len(scene.constraints) == 0
    velocity, start = sim.dynamics.velocities(sim.q, sim.v)[0], sim.dynamics.poses(sim.q)[0, :3, 3]
    assert velocity[3] == pytest.approx(5 / 7 * G * np.sin(slope) * H, rel=1e-6)
    sim.step(60)
    after, moved = sim.dynamics.velocities(sim.q, sim.v)[0], sim.dynamics.poses(sim.q)[0, :3, 3] - start
    t, a = 60 * H, np.array([G * np.sin(slope), 0, -G * np.cos(slope) * wheel])
    assert after[:3] == pytest.approx(velocity[:3], abs=1e-9)
    assert after[3:] == pytest.approx(velocity[3:] + a * t, abs=1e-8)
    assert moved == pytest.approx(velocity[3:] * t + a * t**2 / 2, abs=1e-8)


def test_a_ball_that_is_pushed_harder_and_harder_slips_when_it_must():
    """Under a force F at its centre it takes a friction of F / (1 + m r^2 / I)."""
    scene = Scene()
    joint = joints.surface_on_surface(joints.surfaces.plane(), joints.surfaces.sphere(0.1), spin=True)
    ball = scene.world.attach(Body("ball", mass=1.0, inertia=np.eye(3) * 0.004), joint)
    scene.roll(ball, breaks_at=3.0)
    sim = rd.Simulation(scene.compile(), H)
    while not sim.broken_constraints:
        assert sim.time < 2.0
        sim.apply_force("ball", (10.0 * sim.time, 0, 0))
        sim.step()
    assert 10.0 * (sim.time - H) * 2 / 7 == pytest.approx(3.0, abs=10.0 * H)
    assert sim.broken_constraints[0].constraint == "rolling of ball"


def test_contact_loads_a_pin():
    """A ball that comes to lie on the middle of the beam adds half of its weight to what the pin bears."""
    scene = portal(1e6)
    scene["beam"].shapes.append(shapes.Box((1.2, 0.4, 0.1), at=rd.pose((0.5, 0, 0))))
    scene.world.attach(Body("ball", [shapes.Sphere(0.1)], mass=1.0), joints.free(), rd.pose((0.5, 0, -0.85)))
    with Plugin(scene, H) as game:
        sim = game.simulation
        sim.motors["post.angle"] = rd.Motor(velocity=0.0, max_force=100.0)
        game.step(480)
        assert ("ball", "beam") in sim.touching or ("beam", "ball") in sim.touching
        assert sim._timesteps.loads.constraints.sizes["pin"] == pytest.approx(2.5 * G, rel=1e-2)


def test_files_and_errors(tmp_path):
    portal(30.5).save(tmp_path / "scene.json")
    assert Scene.load(tmp_path / "scene.json").constraints[0].strength == 30.5
    for force in (0.0, -1.0, np.nan, "much", None):
        with pytest.raises(rd.ModelError, match=r"pin.*force above 0"):
            portal(force)
