"""Sliding, rolling, spinning and dragging against their closed forms.

A solve stops at 1e-7 m/s and slips are measured to that; positions come to rest half the slop (1e-5 m) deep, the time
for which costs a share 1e-5 m / (g h^2 / 2) of one step's friction.
"""

import numpy as np
import pybullet
import pytest
from contact_scenes import (
    INTEGRATORS,
    G,
    at,
    bullet,
    bullet_box,
    mirror,
    position,
    put,
    set_twist,
    twist,
)  # fmt: skip

import recursive_dyn as rd
from scene import Scene, joints, shapes

H = 1 / 240
SETTLING = 3e-5  # m/s: friction's share of the speed that a body has left when it is half the slop deep


def inclined(angle: float, material: rd.Material | None = None) -> Scene:
    """The ground is inclined along x: gravity is turned instead."""
    return grounded(material, (G * np.sin(angle), 0.0, -G * np.cos(angle)))


def grounded(material: rd.Material | None = None, gravity=(0.0, 0.0, -G)) -> Scene:
    scene = Scene(gravity=gravity)
    scene.world.shapes.append(shapes.Plane(material=material))
    return scene


HELD = {  # of the last two the engine does not carry the momentum from step to step
    "floating": joints.free(),
    "damped": joints.free(damping=1e-12),
    "by hand": joints.prismatic("x") @ joints.prismatic("y") @ joints.prismatic("z") @ joints.ball(),
}


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("joint", HELD.values(), ids=HELD)
def test_a_sphere_with_backspin_slides_and_then_rolls(joint, integrator):
    """v0 - mu g t until t = 2 (v0 + r w0) / (7 mu g), from then on (5 v0 - 2 r w0) / 7: here it comes back."""
    material, r, v0, w0 = rd.Material(0.3), 0.1, 2.0, 60.0
    scene = grounded(material)
    put(scene, "ball", shapes.Sphere(r, material=material), at(z=r), joint=joint)
    with mirror(scene, H, integrator) as shown:
        set_twist(shown.sim, "ball", (0.0, -w0, 0.0), (v0, 0.0, 0.0))
        deceleration = 0.3 * G
        steps = int(2 * (v0 + r * w0) / (7 * deceleration) / H)
        twists = []
        for _ in range(steps + 50):
            shown.step()
            twists.append(twist(shown.sim))
        V, times = np.array(twists), H * np.arange(1, steps + 1)
        np.testing.assert_allclose(V[:steps, 3], v0 - deceleration * times, atol=2e-4)
        np.testing.assert_allclose(r * V[:steps, 1], -r * w0 + 2.5 * deceleration * times, atol=5e-4)
        assert V[steps - 1, 3] - r * V[steps - 1, 1] > 1e-3, "it slides until then"
        np.testing.assert_allclose(V[steps + 2 :, 3], (5 * v0 - 2 * r * w0) / 7, atol=1e-4)
        np.testing.assert_allclose(r * V[steps + 2 :, 1], V[steps + 2 :, 3], atol=1e-6)


def test_what_carries_a_spinning_ball_does_not_drag_it():
    """Its position in its own turning frame: smooth ground changes neither velocity nor spin."""
    smooth = rd.Material(0.0)
    scene = grounded(smooth)
    turning = joints.ball() @ joints.prismatic("x") @ joints.prismatic("y") @ joints.prismatic("z")
    put(scene, "ball", shapes.Sphere(0.1, material=smooth), at(z=0.1), joint=turning)
    with mirror(scene, H, "rk4") as shown:
        set_twist(shown.sim, "ball", (0.0, -60.0, 0.0), (2.0, 0.0, 0.0))
        shown.step(10)
        # rk4's own error there, without ground, is 3e-5 m/s
        np.testing.assert_allclose(twist(shown.sim), (0, -60, 0, 2, 0, 0), atol=1e-3)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("mu", [0.05, 0.6], ids=["sliding", "rolling"])
@pytest.mark.parametrize(("shape", "share"), [("sphere", 2 / 5), ("cylinder", 1 / 2)])
def test_what_rolls_down_an_incline(shape, share, mu, integrator):
    """With I = share m r^2: g sin / (1 + share) if mu >= tan share / (1 + share), else g (sin - mu cos)."""
    angle, r, material = 0.4, 0.1, rd.Material(mu)
    scene = inclined(angle, material)
    if shape == "sphere":
        put(scene, "round", shapes.Sphere(r, material=material), at(z=r))
    else:  # in its plane: Bullet finds one point of the line where a cylinder touches
        turned = at(rpy=(np.pi / 2, 0, 0))
        form = shapes.Cylinder(r, 0.2, at=turned, material=material)
        joint = joints.prismatic("x") @ joints.prismatic("z") @ joints.revolute("y")
        put(scene, "round", form, at(z=r), joint=joint)
    rolls = mu >= np.tan(angle) * share / (1 + share)
    a = G * np.sin(angle) / (1 + share) if rolls else G * (np.sin(angle) - mu * np.cos(angle))
    with mirror(scene, H, integrator) as shown:
        shown.step(120)
        V, t = twist(shown.sim), 120 * H
        assert V[3] == pytest.approx(a * t, rel=1e-4)
        turning = a / r if rolls else mu * G * np.cos(angle) / (share * r)
        assert V[1] == pytest.approx(turning * t, rel=1e-4)
        first_order = a * t * H / 2 if integrator == "semi_implicit_euler" else 0.0
        assert position(shown.sim)[0] == pytest.approx(a * t**2 / 2 + first_order, abs=2e-5)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_block_on_an_incline_slides_or_stays(integrator):
    """g (sin - mu cos) where tan > mu; else it does not creep: over 0.5 s less than a micrometre."""
    scene = inclined(0.4, rd.Material(1.0))
    for y, mu in ((0.0, 0.3**2), (1.0, 0.45**2)):  # geometric mean with the ground's 1: 0.3 and 0.45; tan is 0.423
        put(scene, f"block {mu:.2f}", shapes.Box((0.3, 0.2, 0.1), material=rd.Material(mu)), at(0, y, 0.05), 2.5)
    with mirror(scene, H, integrator) as shown:
        shown.step(120)
        a, t = G * (np.sin(0.4) - 0.3 * np.cos(0.4)), 120 * H
        sliding, resting = twist(shown.sim, 0), twist(shown.sim, 1)
        assert sliding[3] == pytest.approx(a * t, abs=SETTLING)
        np.testing.assert_allclose(np.delete(sliding, 3), 0.0, atol=1e-6)
        first_order = a * t * H / 2 if integrator == "semi_implicit_euler" else 0.0
        assert position(shown.sim, 0)[0] == pytest.approx(a * t**2 / 2 + first_order, abs=2e-5)
        np.testing.assert_allclose(resting, 0.0, atol=1e-6)
        start = position(shown.sim, 1)
        shown.step(120)
        np.testing.assert_allclose(position(shown.sim, 1), start, atol=1e-6)


def test_an_inclined_plane_is_inclined_gravity():
    angle, material = 0.4, rd.Material(0.6)
    tilt = at(rpy=(0.0, angle, 0.0))
    scene = Scene()
    scene.world.shapes.append(shapes.Plane(at=tilt, material=material))
    put(scene, "ball", shapes.Sphere(0.1, material=material), at(*(tilt[:3, :3] @ (0, 0, 0.1))))
    with mirror(scene, H, "rk4") as shown:
        shown.step(120)
        downhill = tilt[:3, 0]
        np.testing.assert_allclose(twist(shown.sim)[3:], downhill * 5 / 7 * G * np.sin(angle) * 120 * H, atol=1e-4)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_the_dragged_cube(integrator):
    """Le Lidec et al. 2023: a force growing by 20 N/s moves the cube from mu m g on, with what is left of it."""
    mu, rate = 0.4, 20.0
    material = rd.Material(mu)
    scene = grounded(material)
    put(scene, "cube", shapes.Box((0.2,) * 3, material=material), at(z=0.1))
    threshold = mu * G
    with mirror(scene, H, integrator) as shown:
        sim = shown.sim
        shown.step(5)
        start = sim.time
        for k in range(240):
            sim.apply_force("cube", ((k + 0.5) * H * rate, 0.0, 0.0))  # the step's mean
            shown.step()
            t = sim.time - start
            force = max(0.0, rate * t - threshold)
            # v = force^2 / (2 rate), up to the step in which it starts
            assert twist(sim)[3] == pytest.approx(force**2 / (2 * rate), abs=rate * H**2)
            np.testing.assert_allclose(twist(sim)[[0, 1, 2, 4, 5]], 0.0, atol=1e-5)
        assert threshold / rate < 1.0 and twist(sim)[3] > 6.0


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_what_sticks_starts_to_slide_at_static_friction_and_then_feels_less(integrator):
    """Static friction 0.6, dynamic 0.3: at rest under 0.59 m g, with (0.62 - 0.3) g under 0.62 m g."""
    material = rd.Material(0.3, static_friction=0.6)
    for share in (0.59, 0.62):
        scene = grounded(material)
        put(scene, "block", shapes.Box((0.4, 0.4, 0.1), material=material), at(z=0.05), 3.0)
        with mirror(scene, H, integrator) as shown:
            shown.step(10)
            for _ in range(60):
                shown.sim.apply_force("block", (share * 3.0 * G, 0.0, 0.0))
                shown.step()
            expected = 0.0 if share < 0.6 else (share - 0.3) * G * 60 * H
            assert twist(shown.sim)[3] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_spinning_friction_stops_a_top(integrator):
    """Its moment is s m g: a ball that spins upright stops after I w / (s m g)."""
    r, s, w = 0.2, 0.004, 10.0
    material = rd.Material(0.5, spinning_friction=s)
    scene = grounded(material)
    put(scene, "ball", shapes.Sphere(r, material=material), at(z=r), 2.0)
    with mirror(scene, H, integrator) as shown:
        set_twist(shown.sim, "ball", (0.0, 0.0, w))
        slowing = s * G / (0.4 * r**2)
        steps = int(w / slowing / H)
        for k in range(1, steps + 4):
            shown.step()
            rest = max(0.0, w - slowing * k * H)
            assert twist(shown.sim)[2] == pytest.approx(rest, abs=1e-3)
            np.testing.assert_allclose(twist(shown.sim)[[0, 1, 3, 4, 5]], 0.0, atol=1e-4)
        assert twist(shown.sim)[2] == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_rolling_friction_stops_a_ball(integrator):
    """A moment c m g slows a rolling ball by (5/7) c g / r: it stops after v^2 / (2 a)."""
    r, c, v = 0.1, 0.005, 0.7
    material = rd.Material(0.5, rolling_friction=c)
    scene = grounded(material)
    put(scene, "ball", shapes.Sphere(r, material=material), at(z=r), 2.0)
    with mirror(scene, H, integrator) as shown:
        set_twist(shown.sim, "ball", (0.0, v / r, 0.0), (v, 0.0, 0.0))
        a = 5 / 7 * c * G / r
        shown.step(int(v / a / H) + 3)
        first_order = v * H / 2 if integrator == "semi_implicit_euler" else 0.0
        assert position(shown.sim)[0] == pytest.approx(v**2 / (2 * a) - first_order, abs=1e-4)
        np.testing.assert_allclose(twist(shown.sim), 0.0, atol=1e-6)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_conveyor_takes_a_box_along(integrator):
    """A Bullet box without mass that says it moves is a belt: mu g until the box has its speed."""
    mu, speed = 0.25, 0.8
    material = rd.Material(mu)
    with bullet() as client:
        belt = bullet_box(client, (0, 0, -0.5), (50, 50, 0.5), material=material)
        pybullet.resetBaseVelocity(belt, (speed, 0, 0), (0, 0, 0), client)
        scene = Scene()
        put(scene, "box", shapes.Box((0.3, 0.2, 0.1), material=material), at(z=0.05))
        with mirror(scene, H, integrator, client=client, ground=False) as shown:
            for k in range(1, 120):
                shown.step()
                assert twist(shown.sim)[3] == pytest.approx(min(speed, mu * G * k * H), abs=SETTLING)


def test_a_ball_on_a_turntable_goes_in_circles():
    """A rolling ball on a table turning at W runs in a circle, once in 7/2 turns of the table, round any centre."""
    material, r, W = rd.Material(1.0), 0.1, 3.0
    with bullet() as client:
        table = bullet_box(client, (0, 0, -0.5), (20, 20, 0.5), material=material)
        pybullet.resetBaseVelocity(table, (0, 0, 0), (0, 0, W), client)
        scene = Scene()
        put(scene, "ball", shapes.Sphere(r, material=material), at(0.4, 0.0, r))
        with mirror(scene, 1 / 1000, "rk4", client=client, ground=False) as shown:
            # rolling: v = W x p + r omega x z at v = (0, 0.5), p = (0.4, 0)
            v = np.array([0.0, 0.5])
            slip = v - W * np.array([0.0, 0.4])
            set_twist(shown.sim, "ball", (-slip[1] / r, slip[0] / r, W), (*v, 0.0))
            rate = 2 / 7 * W
            center = np.array([0.4, 0.0]) - np.array([v[1], -v[0]]) / rate
            for _ in range(4):
                shown.step(250)
                turned = rate * shown.sim.time
                expected = center + (0.4 - center[0]) * np.array([np.cos(turned), np.sin(turned)])
                np.testing.assert_allclose(position(shown.sim)[:2], expected, atol=2e-4)
