"""Frames that steps leave behind: those of the state, whoever wrote it last."""

import copy

import numpy as np
import pytest

import recursive_dyn as rd
from recursive_dyn.contact.contacts import STATIC, Contacts
from scene import Body, Scene, joints

INERTIA = np.diag([0.02, 0.03, 0.04])
ROUNDING = 1e-12


def swimmers() -> rd.Dynamics:
    """Two floating trees of three bodies, and an arm on the world whose length is a parameter."""
    scene = Scene()
    length = scene.parameter("length", 0.7)
    for k in range(2):
        hull = Body(f"hull{k}", mass=2.0, center_of_mass=(0.1, -0.05, 0.02), inertia=INERTIA)
        scene.world.attach(hull, joints.free(), at=rd.pose(xyz=(3.0 * k, 0, 0.5)))
        for side, axis in (("left", "y"), ("right", "z")):
            fin = Body(f"{side}{k}", mass=0.5, center_of_mass=(0.2, 0, 0), inertia=INERTIA)
            hull.attach(fin, joints.revolute(axis, damping=0.1), at=rd.pose(xyz=(0.2, 0.1, 0)))
    arm = Body("arm", mass=1.0, center_of_mass=(0, 0, -length), inertia=INERTIA)
    scene.world.attach(arm, joints.revolute("y"), at=rd.pose(xyz=(0, 3, 0)))
    hand = Body("hand", mass=0.3, center_of_mass=(0, 0, 0), inertia=INERTIA)
    arm.attach(hand, joints.ball(), at=rd.pose(xyz=(0, 0, -0.7)))
    return scene.compile()


@pytest.fixture(scope="module")
def dynamics() -> rd.Dynamics:
    return swimmers()


def ground(sim: rd.Simulation) -> Contacts:
    """A point of each hull on a rough floor at z = 0.45."""
    X, _ = sim.frames()
    own = np.array([sim.dynamics.bodies.index(f"hull{k}") for k in range(2)])
    points = X[own, :3, 3] - (0.0, 0.0, 0.05)
    floor = points * (1.0, 1.0, 0.0) + (0.0, 0.0, 0.45)
    n = len(own)
    return Contacts(
        own, np.full(n, STATIC), points, floor, np.tile([0.0, 0.0, 1.0], (n, 1)), points[:, 2] - 0.45,
        np.tile([0.6, 0.5, 0.0, 0.0, 0.2], (n, 1)), own,
    )  # fmt: skip


def assert_present(sim: rd.Simulation) -> None:
    """Frames are what the dynamics say of the state, to the bit whichever way it was come to, and are copies."""
    other = rd.Simulation(sim.dynamics)
    other.q, other.v = sim.q, sim.v
    poses, twists = sim.frames()
    for own, fresh in zip((poses, twists), other.frames(), strict=True):
        np.testing.assert_array_equal(own, fresh)
    np.testing.assert_allclose(poses, sim.dynamics.poses(sim.q), rtol=0.0, atol=ROUNDING)
    np.testing.assert_allclose(twists, sim.dynamics.velocities(sim.q, sim.v), rtol=0.0, atol=ROUNDING)
    poses[:], twists[:] = np.nan, np.nan
    assert all(np.isfinite(x).all() for x in sim.frames())


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4", "implicit_midpoint"])
@pytest.mark.parametrize("detector", [None, ground])
def test_frames_are_those_of_the_state_after_every_step(dynamics, integrator, detector):
    """Also where floating trees were given the momentum that they are owed."""
    sim = rd.Simulation(dynamics, 1 / 240, integrator)
    sim.detect = detector
    rng = np.random.default_rng(5)
    sim.v = rng.normal(size=dynamics.nv)
    sim.motors["left0.angle"] = rd.Motor(velocity=1.0, max_force=2.0)
    for _ in range(25):
        sim.step()
        assert_present(sim)


def test_frames_follow_whatever_is_written(dynamics):
    sim = rd.Simulation(dynamics, 1 / 240)
    sim.detect = ground
    sim.step(3)
    before, _ = sim.frames()
    sim.q[-5] += 0.3
    assert_present(sim)
    sim.v[:] = 0.5
    assert_present(sim)
    sim.parameters["length"] = 0.9
    assert_present(sim)
    after, _ = sim.frames()
    assert np.abs(after - before).max() > 0.1
    snapshot = sim.snapshot()
    sim.step()
    sim.restore(snapshot)
    assert_present(sim)
    other = copy.deepcopy(sim)
    other.step()
    assert_present(other)
    assert_present(sim)


def test_momentum_is_measured_anew_where_the_state_was_written(dynamics):
    """In free fall linear momentum grows by m g h a step to rounding, whatever was written to v in between."""
    sim = rd.Simulation(dynamics, 1 / 240, "semi_implicit_euler")
    sim.motors["left0.angle"] = rd.Motor(velocity=1.0, max_force=2.0)
    rng, own = np.random.default_rng(7), np.arange(16)  # of the two floating trees
    arm = np.arange(16, dynamics.nv)
    mass = 2.0 + 2 * 0.5
    for turn in range(4):
        sim.v[own] = rng.normal(size=len(own))
        sim.q[-5], sim.v[arm] = 0.0, 0.0
        for _ in range(3):
            before = floating_momentum(sim)
            sim.step()
            grown = floating_momentum(sim) - before
            np.testing.assert_allclose(grown, [0.0, 0.0, -2 * mass * 9.81 / 240], rtol=0.0, atol=1e-12)
        if turn == 1:
            sim.restore(sim.snapshot())


def floating_momentum(sim: rd.Simulation) -> np.ndarray:
    """Linear momentum (3,) of the two floating trees: of all bodies, less that of what hangs on the world."""
    d, q, v = sim.dynamics, sim.q, sim.v.copy()
    v[16:] = 0.0
    return np.asarray(d.momentum(q, v))[3:]
