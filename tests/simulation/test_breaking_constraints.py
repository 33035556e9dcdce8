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
    assert sim._timesteps.loads.constraints.peaks["pin"] == pytest.approx(2 * G, rel=1e-3)
    sim.motors.clear()
    sim.step()
    assert sim._timesteps.loads.constraints.peaks["pin"] == pytest.approx(2 * G, rel=1e-3)


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
        assert sim._timesteps.loads.constraints.peaks["pin"] == pytest.approx(2.5 * G, rel=1e-2)


def test_files_and_errors(tmp_path):
    portal(30.5).save(tmp_path / "scene.json")
    assert Scene.load(tmp_path / "scene.json").constraints[0].strength == 30.5
    for force in (0.0, -1.0, np.nan, "much", None):
        with pytest.raises(rd.ModelError, match=r"pin.*force above 0"):
            portal(force)
    with pytest.raises(rd.ModelError, match=r"constraint 'pin' may break.*recursive"):
        portal(1.0).compile("velocity_constraints")
