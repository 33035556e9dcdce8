"""What overlaps at the start is pushed apart at a bounded speed, at once where that allows it, and gains no speed."""

from contextlib import nullcontext

import numpy as np
import pybullet
import pytest
from contact_scenes import INTEGRATORS, at, bullet, bullet_box, bullet_position, mirror, position, put

import recursive_dyn as rd
from bridge import PyBulletMirror
from recursive_dyn.contact.tuning import PUSH_ARM, PUSH_SPEED
from recursive_dyn.spatial.rotations import rotation_log
from scene import Body, Scene, joints, shapes

pytestmark = pytest.mark.filterwarnings("ignore:bodies overlap at the start")

H = 1 / 240
SLOP = 2e-5
LEFT = SLOP / 20  # what sweeps over the corners of a box may leave
LINEAR = 1e-3  # share by which a way of a finite turn differs from that of a twist, and more than rounding


def weightless() -> Scene:
    return Scene(gravity=(0, 0, 0))


def buried(depth: float) -> Scene:
    scene = weightless()
    put(scene, "box", shapes.Box((0.4, 0.4, 0.4)), at(z=0.2 - depth))
    return scene


def moves(sim: rd.Simulation, before: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far every body's origin went from poses before, and how far it turned."""
    now = sim.frames()[0]
    turns = [np.linalg.norm(rotation_log(b[:3, :3].T @ a[:3, :3])) for a, b in zip(now, before, strict=True)]
    return np.linalg.norm(now[:, :3, 3] - before[:, :3, 3], axis=1), np.array(turns)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("speed", [PUSH_SPEED, 0.25])
def test_a_buried_box_comes_out_at_the_push_speed(integrator, speed):
    """50 mm deep and at rest it rises by push_speed h a step, the last step by what is left, and then rests."""
    depth, way = 0.05, speed * H
    with mirror(buried(depth), H, integrator) as shown:
        sim = shown.sim
        assert sim.contact.push_speed == PUSH_SPEED
        sim.contact.push_speed = speed
        for k in range(1, int(depth / way) + 1):
            shown.step()
            assert position(sim, "box")[2] == pytest.approx(min(0.2 - depth + k * way, 0.2 - SLOP / 2), abs=k * LEFT)
            assert sim.solution.penetration == pytest.approx(max(depth - k * way, SLOP / 2), abs=k * LEFT)
        for _ in range(3):
            shown.step()
        assert position(sim, "box")[2] == pytest.approx(0.2 - SLOP / 2, abs=LEFT)
        np.testing.assert_allclose(sim.v, 0.0, atol=1e-12)


def test_what_the_speed_allows_is_removed_in_one_step():
    with mirror(buried(0.9 * PUSH_SPEED * H), H) as shown:
        shown.step()
        assert position(shown.sim, "box")[2] == pytest.approx(0.2 - SLOP / 2, abs=LEFT)


def test_nothing_is_pushed_at_no_speed():
    with mirror(buried(0.05), H) as shown:
        shown.sim.contact.push_speed = 0.0
        for _ in range(5):
            shown.step()
        assert position(shown.sim, "box")[2] == pytest.approx(0.15, abs=1e-15)


def test_a_fast_impact_ends_where_the_true_path_does():
    """The bound is on what pushes apart: a ball of 30 m/s that a step takes 100 mm deep ends at the surface."""
    scene = weightless()
    put(scene, "ball", shapes.Sphere(0.5), at(z=0.52))
    for integrator in INTEGRATORS:
        with mirror(scene, H, integrator) as shown:
            shown.sim.v[5] = -30.0
            shown.step()
            assert position(shown.sim, "ball")[2] == pytest.approx(0.5 - SLOP / 2, abs=1e-9)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_what_falls_as_it_is_put_deep_into_others_comes_out_at_the_push_speed(integrator):
    """A box put half a metre into the ground at 2 m/s downwards, 8 mm a step, was not above it as the step began: it is
    stopped, and rises by push_speed h."""
    with mirror(buried(0.5), H, integrator) as shown:
        shown.sim.v[5] = -2.0
        for k in range(1, 4):
            shown.step()
            assert position(shown.sim, "box")[2] == pytest.approx(-0.3 + k * PUSH_SPEED * H, abs=1e-3 * H)
        np.testing.assert_allclose(shown.sim.v, 0.0, atol=shown.sim.contact.tolerance)


def squeezed() -> Scene:
    """A bar on a hinge between two balls that nothing moves, from which no turn frees it, and a box apart from it."""
    scene = weightless()
    scene.world.shapes += [shapes.Sphere(0.05, at=at(x, 0.0, z)) for x, z in ((0.3, 1.05), (0.31, 0.95))]
    bar = shapes.Box((1.0, 0.1, 0.08), at=at(0.5))
    scene.world.attach(Body("bar", [bar], mass=1.0), joints.revolute("y"), at=at(z=1.0))
    put(scene, "box", shapes.Box((0.4, 0.4, 0.4)), at(3.0, 3.0, 0.15))
    return scene


def test_what_cannot_be_resolved_stays_within_the_bound_and_slows_nothing_else():
    with mirror(squeezed(), H) as shown:
        sim = shown.sim
        for k in range(1, 11):
            before = sim.frames()[0].copy()
            shown.step()
            far, turned = moves(sim, before)
            assert far.max() < PUSH_SPEED * H * (1 + LINEAR)
            assert turned.max() < PUSH_SPEED * H / PUSH_ARM * (1 + LINEAR)
            assert position(sim, "box")[2] == pytest.approx(0.15 + k * PUSH_SPEED * H, abs=k * LEFT)
        np.testing.assert_allclose(sim.v, 0.0, atol=1e-9)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_an_impact_is_not_held_back_by_an_overlap_beside_it(integrator):
    """A ball of 20 m/s ends on the squeezed bar's surface, though the bar itself comes free no faster than it may."""
    scene = squeezed()
    put(scene, "ball", shapes.Sphere(0.1), at(0.8, 0.0, 1.15))
    with mirror(scene, H, integrator) as shown:
        sim = shown.sim
        sim.v[-1] = -20.0
        shown.step()
        bar = sim.frames()[0][sim.dynamics.bodies.index("bar")]
        assert bar[:3, 2] @ (position(sim, "ball") - bar[:3, 3]) - 0.04 - 0.1 > -10.0 * SLOP


@pytest.mark.parametrize("arm", [0.01, 0.05, 0.5])
def test_a_short_lever_turns_no_faster_than_a_wheel_would(arm):
    """A ball on a hinge, 10 mm deep in another at ``arm`` from the axis: its turn is bounded where the arm is short."""
    scene = weightless()
    scene.world.shapes.append(shapes.Sphere(0.05, at=at(arm, 0.0, 1.09)))
    ball = Body("ball", [shapes.Sphere(0.05, at=at(arm))], mass=1.0)
    scene.world.attach(ball, joints.revolute("y"), at=at(z=1.0))
    way = PUSH_SPEED * H
    with mirror(scene, H) as shown:
        shown.step()
        expected = min(way / arm, way / PUSH_ARM)
        assert abs(shown.sim.q[0]) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("joint, speed", [(joints.revolute, PUSH_SPEED / PUSH_ARM), (joints.prismatic, PUSH_SPEED)])
@pytest.mark.parametrize("mirrored", [False, True])
def test_a_limit_that_is_left_far_behind_is_returned_to_at_the_speed(joint, speed, mirrored):
    scene = weightless()
    arm = Body("arm", [shapes.Sphere(0.05)], mass=1.0)
    scene.world.attach(arm, joint("y", limits=(0.5, 1.0)), at=at(z=1.0))
    sim = rd.Simulation(scene.compile(), H)
    sim.q = [0.0]
    with PyBulletMirror(scene, sim, gui=False) if mirrored else nullcontext():
        for k in range(1, 10):
            sim.step()
            assert sim.q[0] == pytest.approx(k * speed * H, rel=1e-9)
        sim.step(120)
    assert sim.q[0] == pytest.approx(0.5, abs=SLOP)
    assert sim.v[0] == 0.0


def test_bodies_of_bullets_own_are_pushed_as_fast():
    with bullet(0.0) as client:
        crate = bullet_box(client, (0.0, 0.0, 1.35), (0.2, 0.2, 0.2), mass=1.0)
        pybullet.changeDynamics(crate, -1, contactProcessingThreshold=0.0, physicsClientId=client)
        scene = weightless()
        put(scene, "slab", shapes.Box((1.0, 1.0, 0.4)), at(z=1.0), joint=joints.prismatic("x"))
        with mirror(scene, H, client=client, ground=False) as shown:
            before = bullet_position(client, crate)
            shown.step()
            assert bullet_position(client, crate)[2] - before[2] == pytest.approx(PUSH_SPEED * H, rel=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_a_heap_thrown_together_comes_apart_without_a_jump(seed):
    """Random boxes and balls, chains of them among these, deep in each other: every way and turn is bounded."""
    rng, scene = np.random.default_rng(seed), weightless()
    for k in range(6):
        form = shapes.Box(rng.uniform(0.05, 0.3, 3)) if k % 2 else shapes.Sphere(rng.uniform(0.03, 0.15))
        place = rd.pose(rng.uniform((-0.15, -0.15, 0.05), (0.15, 0.15, 0.35)), rng.uniform(-3, 3, 3))
        first = put(scene, f"body{k}", form, place)
        second = Body(f"next{k}", [shapes.Box(rng.uniform(0.05, 0.2, 3))], mass=0.1)
        first.attach(second, joints.revolute("xyz"[k % 3]), at=rd.pose(rng.uniform(-0.2, 0.2, 3)))
    with mirror(scene, H) as shown:
        sim = shown.sim
        for _ in range(20):
            before = sim.frames()[0].copy()
            shown.step()
            speed = np.abs(sim.frames()[1]).max()
            far, turned = moves(sim, before)
            assert far.max() < PUSH_SPEED * H * (1 + LINEAR) + H * speed
            assert turned.max() < PUSH_SPEED * H / PUSH_ARM * (1 + LINEAR) + H * speed
            assert speed < 1e-6, "nobody moved, and pushing apart gives no speed"


def test_what_is_put_into_the_ground_comes_out_by_one_sweep_a_step_as_it_bounces():
    """A box with a limb, and another on it, 0.15 m in the ground, which would throw it back: it was forgotten that it
    had not sunk, and it stayed there."""
    scene, lively, h = Scene(), rd.Material(0.5, restitution=1.0), 1 / 60
    scene.world.shapes.append(shapes.Plane(material=lively))
    box = put(scene, "box", shapes.Box((0.4, 0.4, 0.4), material=lively), at(z=0.05))
    put(scene, "top", shapes.Box((0.4, 0.4, 0.4), material=lively), at(z=0.45))
    inner = Body("inner", mass=0.3, center_of_mass=(0.05, 0, 0), inertia=1e-3 * np.eye(3))
    box.attach(inner, joints.revolute("x"))
    with mirror(scene, h, "linearly_implicit_rk4", ground=False) as shown:
        shown.sim.contact.iterations = 1
        shown.sim.place("box", velocity=(0, 0, 0, 0, 0, -0.5))
        for k in range(1, 9):
            shown.step()
            assert position(shown.sim, "box")[2] == pytest.approx(0.05 + k * PUSH_SPEED * h, abs=5e-4)
