"""A box between two fingers: it is held by what Coulomb's law allows an even pressure, and falls below that."""

import numpy as np
import pytest
from contact_scenes import G, mirror

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes

MU, MASS = 0.5, 1.0
NEEDED = MASS * G / (2.0 * MU)  # N of each finger


def gripped(
    height: float = 0.0, aside: float = 0.0, moves: bool = False, finger: float = 0.05, mu: float = MU,
    mass: float = MASS, tilt: float = 0.0,
) -> Scene:  # fmt: skip
    """The box hangs below the middle of the fingers by a height, and beside it; moves: whether the hand may; finger:
    how high fingers are, m; tilt: of all about y, rad, where the left finger is fixed."""
    material, scene = rd.Material(friction=mu), Scene(gravity=(0, 0, -G))
    hand = Body("hand", mass=1.0, inertia=0.01 * np.eye(3))
    scene.world.attach(
        hand, joints.prismatic("z") if moves else joints.fixed(), at=rd.pose((0, 0, 0.5), rpy=(0, tilt, 0))
    )
    for name, side in (("left", -1), ("right", 1)):
        body = Body(name, [shapes.Box((0.02, 0.6 * finger, finger), material=material)], mass=0.2)
        fixed = tilt != 0.0 and side < 0
        hand.attach(body, joints.fixed() if fixed else joints.prismatic("x"), at=rd.pose((0.04 * side, 0, 0)))
    box = Body("box", [shapes.Box((0.06, 0.06, 0.06), material=material)], mass=mass)
    scene.world.attach(box, joints.free(), at=rd.pose((0.0, aside, 0.5 - height), rpy=(0, tilt, 0)))
    return scene


def pressed(scene: Scene, force: float, h: float):
    """The mirror of a scene whose fingers press with a force, N."""
    shown = mirror(scene, h)
    names, tau = list(shown.sim.dynamics.velocity_coordinates), np.zeros(shown.sim.dynamics.nv)
    tau[names.index("right.distance")] = -force
    if "left.distance" in names:
        tau[names.index("left.distance")] = force
    shown.sim.tau = tau
    return shown


def place(sim: rd.Simulation, body: str) -> np.ndarray:
    return sim.dynamics.poses(sim.q)[list(sim.dynamics.bodies).index(body)]


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize(("height", "aside", "share"), [(0.0, 0.0, 1.01), (0.0, 0.01, 1.2), (0.02, 0.01, 1.2)])
def test_it_holds_by_little_more_than_it_needs(h, height, aside, share):
    """What hangs aside takes a moment too: 1.2 is above the ellipse of force and moment of four corners."""
    with pressed(gripped(height, aside), share * NEEDED, h) as shown:
        start = place(shown.sim, "box")
        shown.step(round(2 / h))
        np.testing.assert_allclose(place(shown.sim, "box"), start, atol=2e-5)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_below_that_it_falls_straight_as_the_closed_form(share):
    with pressed(gripped(), share * NEEDED, 1 / 240) as shown:
        shown.step(12)
        fall = 0.5 * G * (1.0 - share) * 0.05**2
        np.testing.assert_allclose(place(shown.sim, "box")[:3, 3], (0, 0, 0.5 - fall), atol=1e-3 * fall)
        np.testing.assert_allclose(place(shown.sim, "box")[:3, :3], np.eye(3), atol=1e-3)


def test_it_is_lifted_if_the_fingers_press_for_the_acceleration_too():
    """The hand goes up and down, with 3 m/s^2 at most."""
    for share, held in ((1.05, True), (0.9, False)):
        with pressed(gripped(moves=True), share * NEEDED * (1.0 + 3.0 / G), 1 / 240) as shown:
            shown.sim.prescribe("hand.distance", lambda t: 0.03 * (1.0 - np.cos(10.0 * t)))
            shown.step(480)
            away = place(shown.sim, "box")[:3, 3] - place(shown.sim, "hand")[:3, 3]
            assert (np.linalg.norm(away) < 1e-4) == held


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize("moves", [False, True])
@pytest.mark.parametrize(("mu", "mass"), [(0.3, 1.0), (0.5, 1.0), (0.5, 5.0), (0.8, 5.0)])
def test_larger_fingers_hold_it_by_little_more_than_it_needs(h, moves, mu, mass):
    """Its own corners touch; what carries all would lift a light hand faster than a heavy box falls."""
    with pressed(gripped(moves=moves, finger=0.1, mu=mu, mass=mass), 1.01 * mass * G / (2.0 * mu), h) as shown:
        if moves:
            tau = shown.sim.tau.copy()
            tau[list(shown.sim.dynamics.velocity_coordinates).index("hand.distance")] = (1.4 + mass) * G
            shown.sim.tau = tau
        start = place(shown.sim, "box")[:3, 3] - place(shown.sim, "hand")[:3, 3]
        shown.step(round(1 / h))
        away = place(shown.sim, "box")[:3, 3] - place(shown.sim, "hand")[:3, 3]
        np.testing.assert_allclose(away, start, atol=2e-5)
        np.testing.assert_allclose(place(shown.sim, "box")[:3, :3], np.eye(3), atol=1e-4)


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize("tilt", [-0.02, -0.1])
def test_a_tilted_grip_holds_what_leans_on_its_fixed_finger(h, tilt):
    mass = 5.0
    with pressed(gripped(finger=0.1, mass=mass, tilt=tilt), 1.2 * mass * G / (2.0 * MU), h) as shown:
        start = place(shown.sim, "box")
        shown.step(round(1 / h))
        np.testing.assert_allclose(place(shown.sim, "box"), start, atol=5e-5)
