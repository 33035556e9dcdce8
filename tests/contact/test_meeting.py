"""Two bodies that fly into each other: no angular momentum comes or goes, and balls part as on a billiard table."""

from dataclasses import replace

import numpy as np
import pytest
from contact_scenes import mirror, position, put, twist

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints, shapes

BALL, BOX, CAPSULE = shapes.Sphere(0.1), shapes.Box((0.2, 0.16, 0.12)), shapes.Capsule(0.05, 0.2)
SLOP = 2e-4  # of the angular momentum: what collides comes to rest half a hundredth of a millimetre deep


def lost(shown: PyBulletMirror, h: float) -> float:
    """The share of the angular momentum that comes or goes in 0.6 s with a collision; NaN if there is none."""
    sim, struck = shown.sim, False
    start = sim.dynamics.momentum(sim.q, sim.v)[:3]
    for _ in range(round(0.6 / h)):
        shown.step()
        struck = struck or any(np.any(c.impulse) for c in shown.contacts)
    change = sim.dynamics.momentum(sim.q, sim.v)[:3] - start
    return float(np.linalg.norm(change) / np.linalg.norm(start)) if struck else np.nan


def collided(shape: shapes.Shape, h: float, seed: int, material: rd.Material) -> float:
    """What is ``lost`` where two bodies fly past each other, or into each other."""
    rng, scene = np.random.default_rng(seed), Scene(gravity=(0, 0, 0))
    aside = 0.04 * rng.normal(size=2)
    for k, side in enumerate((1.0, -1.0)):
        turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = turn * np.linalg.det(turn), side * np.array((0.35, *aside))
        put(scene, f"b{k}", replace(shape, material=material), pose, 1.0 + k)
    with mirror(scene, h, ground=False) as shown:
        sim = shown.sim
        for k, side in enumerate((1.0, -1.0)):
            sim.place(f"b{k}", velocity=(*0.5 * rng.normal(size=3), -1.3 * side, 0, 0))
        return lost(shown, h)


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize("friction", [0.0, 0.5])
@pytest.mark.parametrize("restitution", [0.5, 1.0])
def test_balls_keep_their_angular_momentum(h, friction, restitution):
    """Each step moves them on by a fifth of their radius, or a twentieth."""
    material = rd.Material(friction, restitution=restitution)
    assert np.nanmax([collided(BALL, h, seed, material) for seed in range(6)]) < SLOP


@pytest.mark.parametrize("shape", [BOX, CAPSULE], ids=["boxes", "capsules"])
@pytest.mark.parametrize(("h", "most"), [(1 / 60, 2.4e-2), (1 / 240, 4e-3)])
def test_others_do_as_well_as_steps_resolve_it(shape, h, most):
    material = rd.Material(0.5, restitution=1.0)
    assert np.nanmedian([collided(shape, h, seed, material) for seed in range(8)]) < most


def struck_limb(h: float, seed: int, material: rd.Material) -> float:
    """``collided`` of a ball and a chain of three limbs that floats."""
    rng, scene = np.random.default_rng(seed), Scene(gravity=(0, 0, 0))
    limb, pose = shapes.Capsule(0.05, 0.1, material=material), np.eye(4)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    pose[:3, :3], pose[:3, 3] = turn * np.linalg.det(turn), (0.35, *0.04 * rng.normal(size=2))
    parent = put(scene, "limb 0", limb, pose)
    for k, axis in ((1, "y"), (2, "x")):
        parent.attach(own := Body(f"limb {k}", [limb], mass=1.0), joints.revolute(axis), at=rd.pose((0, 0, 0.22)))
        parent = own
    put(scene, "ball", replace(BALL, material=material), rd.pose((-0.35, 0, 0)), 2.0)
    with mirror(scene, h, ground=False) as shown:
        sim = shown.sim
        for name, speed in (("limb 0", -1.3), ("ball", 1.3)):
            sim.place(name, velocity=(*0.3 * rng.normal(size=3), speed, 0, 0))
        return lost(shown, h)


@pytest.mark.parametrize("restitution", [0.5, 1.0])
def test_what_floats_with_limbs_does_too(restitution):
    material = rd.Material(0.5, restitution=restitution)
    assert np.nanmedian([struck_limb(1 / 60, seed, material) for seed in range(8)]) < 2e-3
    assert np.nanmedian([struck_limb(1 / 240, seed, material) for seed in range(8)]) < 5e-4


@pytest.mark.parametrize("h", [1 / 60, 1 / 240, 1 / 1000])
@pytest.mark.parametrize("aside", [0.0, 0.05, 0.1, 0.17])
def test_a_billiard_ball_leaves_along_the_line_of_middles(h, aside):
    """One at rest, smooth and of the same mass, gets what the other has along that line; neither spins."""
    material, scene = rd.Material(0.0, restitution=1.0), Scene(gravity=(0, 0, 0))
    put(scene, "cue", shapes.Sphere(0.1, material=material), rd.pose((-0.5, 0, 0)))
    put(scene, "other", shapes.Sphere(0.1, material=material), rd.pose((0, aside, 0)))
    line = np.array((np.sqrt(0.04 - aside**2), aside, 0.0)) / 0.2
    with mirror(scene, h, ground=False) as shown:
        shown.sim.place("cue", velocity=(0, 0, 0, 2.0, 0, 0))
        shown.step(round(0.5 / h))
        went = 2.0 * line[0] * line
        np.testing.assert_allclose(twist(shown.sim, "other")[3:], went, atol=1e-12)
        np.testing.assert_allclose(twist(shown.sim, "cue")[3:], (2.0, 0, 0) - went, atol=1e-12)
        np.testing.assert_allclose(shown.sim.frames()[1][-2:, :3], 0.0, atol=1e-12)
        met = (0.5 - 0.2 * line[0]) / 2.0
        np.testing.assert_allclose(position(shown.sim, "other"), (0, aside, 0) + went * (0.5 - met), atol=1e-5)


def test_what_does_not_press_is_told_where_its_surfaces_are():
    """Two balls that overlap by 8 um part."""
    scene, speed = Scene(gravity=(0, 0, 0)), 1e-4
    for k, side in enumerate((-1, 1)):
        put(scene, f"b{k}", shapes.Sphere(0.1), rd.pose((side * (0.1 - 4e-6), 0, 0)))
    with mirror(scene, 1 / 240, ground=False) as shown:
        shown.sim.place("b1", velocity=(0, 0, 0, speed, 0, 0))
        shown.step()
        (contact,) = shown.contacts
        apart = (8e-6 - speed / 240, 0, 0)
        np.testing.assert_allclose(np.subtract(contact.point_on_a, contact.point_on_b), apart, atol=1e-12)
        assert contact.impulse == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize("gap", [0.0, -1e-12, -5e-6])
def test_so_does_one_that_touches_as_the_step_begins(h, gap):
    """It comes 60 degrees off the line of middles."""
    for angle in np.linspace(0.0, 6.0, 7):
        material, scene = rd.Material(0.0, restitution=1.0), Scene(gravity=(0, 0, 0))
        line, way = (
            np.array((np.cos(angle), np.sin(angle), 0)),
            2.0 * np.array((np.cos(angle + 1), np.sin(angle + 1), 0)),
        )
        put(scene, "cue", shapes.Sphere(0.1, material=material), rd.pose((0, 0, 0)))
        put(scene, "other", shapes.Sphere(0.1, material=material), rd.pose(tuple((0.2 + gap) * line)))
        with mirror(scene, h, ground=False) as shown:
            shown.sim.place("cue", velocity=(0, 0, 0, *way))
            shown.step(6)
            np.testing.assert_allclose(twist(shown.sim, "other")[3:], (way @ line) * line, atol=1e-12)


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize("gap", [0.0, 1e-6])
def test_a_row_passes_on_what_a_ball_gives_its_first(h, gap):
    """It hits that 0.6 rad off the row: of what it gives along their line the last one gets what goes along the row."""
    material, scene = rd.Material(0.0, restitution=1.0), Scene(gravity=(0, 0, 0))
    for k in range(3):
        put(scene, f"b{k}", shapes.Sphere(0.1, material=material), rd.pose(((0.2 + gap) * k, 0, 0)))
    cue = rd.pose((-0.2 * np.cos(0.6) - 0.31, -0.2 * np.sin(0.6), 0))
    put(scene, "cue", shapes.Sphere(0.1, material=material), cue)
    with mirror(scene, h, ground=False) as shown:
        shown.sim.place("cue", velocity=(0, 0, 0, 3.0, 0, 0))
        shown.step(round(0.4 / h))
        given = 3.0 * np.cos(0.6)
        np.testing.assert_allclose(twist(shown.sim, "b2")[3:], (given * np.cos(0.6), 0, 0), atol=1e-4)
        np.testing.assert_allclose(twist(shown.sim, "b0")[3:], (0, given * np.sin(0.6), 0), atol=1e-4)
        np.testing.assert_allclose(twist(shown.sim, "b1")[3:], 0.0, atol=1e-4)


@pytest.mark.parametrize(("h", "most"), [(1 / 60, 6e-2), (1 / 240, 2e-3), (1 / 1000, 2e-4)])
def test_what_glides_round_something_without_spin_keeps_its_speed(h, most):
    """A ball without friction, round a cylinder to which a force holds it: 2.5 rad/s, 3 s."""
    material, scene = rd.Material(0.0), Scene(gravity=(0, 0, 0))
    scene.world.shapes.append(shapes.Cylinder(0.3, 1.0, material=material))
    ball = put(scene, "ball", shapes.Sphere(0.1, material=material), rd.pose((0.4, 0, 0)))
    scene.force(ball, force=(-100 * ball.position[0], -100 * ball.position[1], 0))
    with mirror(scene, h, "linearly_implicit_rk4", ground=False) as shown:
        shown.sim.place("ball", velocity=(0, 0, 0, 0, 1.0, 0))
        shown.step(round(3 / h))
        assert abs(np.linalg.norm(twist(shown.sim, "ball")[3:]) - 1.0) < most


def billiards(h: float, count: int, struck: int) -> np.ndarray:
    """Where two balls are, and how they move, after so many steps in which they collide, beside an arm whose motor is
    asked, in one of the steps, for more than it may give."""
    scene, rough = Scene(gravity=(0, 0, 0)), rd.Material(0.5, restitution=0.5)
    for k, side in enumerate((1.0, -1.0)):
        at = rd.pose((0.35 * side, 0.05 * side, 0.02 * side))
        put(scene, f"b{k}", replace(BALL, material=rough), at, 1.0 + k)
    scene.world.attach(Body("arm", [shapes.Sphere(0.05)], mass=1.0), joints.revolute("y"), at=rd.pose((3, 3, 3)))
    with mirror(scene, h, ground=False) as shown:
        sim = shown.sim
        for k, side in enumerate((1.0, -1.0)):
            sim.place(f"b{k}", velocity=(0.1 * side, 0.2, 0.3 * side, -1.3 * side, 0, 0))
        for step in range(count):
            sim.motors["arm.angle"] = rd.Motor(velocity=5.0 * (step == struck), max_force=0.01)
            shown.step()
        poses, twists = sim.frames()
    return np.concatenate([poses[:2, :3, 3].ravel(), twists[:2].ravel()])


def test_what_a_motor_asks_for_elsewhere_changes_nothing():
    """A motor that turns out to be at its bound has a step solved again, from contacts as they were found: balls that
    meet in that step were turned to where they touched twice, and parted by 0.5 m/s and rad/s otherwise."""
    h, count = 1 / 60, 16
    alone = billiards(h, count, -1)
    assert max(abs(billiards(h, count, step) - alone).max() for step in range(9, count)) < 1e-12
