"""Nothing passes through anything: fast balls, thin walls, rods and each other."""

import numpy as np
import pybullet
import pytest
from contact_scenes import (
    INTEGRATORS,
    at,
    bullet,
    bullet_ball,
    bullet_box,
    bullet_position,
    energy,
    mirror,
    position,
    put,
    set_twist,
    twist,
)

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes

ELASTIC = rd.Material(0.0, restitution=1.0)
DIRECTIONS = {
    "ahead": (1.0, 0.0, 0.0),
    "back": (-1.0, 0.0, 0.0),
    "aslant": (1.0, 0.5, 0.2),
    "grazing": (0.3, 0.9, 0.0),
}


def thrown_at_a_wall(direction, speed, integrator, material=None):
    """A ball of 0.1 m (across), 1 m before a wall of 0.1 m, flying at its middle."""
    d = np.array(direction) / np.linalg.norm(direction)
    start = -d / abs(d[0])
    scene = Scene(gravity=(0, 0, 0))
    scene.world.shapes.append(shapes.Box((0.1, 8.0, 8.0), material=material))
    put(scene, "ball", shapes.Sphere(0.05, material=material), at(*start))
    shown = mirror(scene, 1 / 240, integrator, ground=False)
    set_twist(shown.sim, "ball", velocity=speed * d)
    return shown, start, d


@pytest.mark.parametrize("speed", [50.0, 200.0])
@pytest.mark.parametrize("direction", DIRECTIONS.values(), ids=DIRECTIONS)
def test_a_ball_does_not_pass_a_wall(direction, speed):
    """With e = 1 it comes back as fast as it went, with e = 0 it stays at the surface; never is it inside by 2 mm."""
    for material in (ELASTIC, rd.Material(0.0)):
        shown, start, d = thrown_at_a_wall(direction, speed, "rk4", material)
        with shown:
            side = np.sign(start[0])
            for _ in range(int(2.5 * 240 / abs(d[0]) / speed) + 3):
                shown.step()
                assert side * position(shown.sim)[0] > 0.1 - 2e-3
            back = speed * d * ((-1.0 if material is ELASTIC else 0.0), 1.0, 1.0)
            np.testing.assert_allclose(twist(shown.sim)[3:], back, atol=1e-6 * speed)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_every_integrator_stops_it(integrator):
    shown, _, _ = thrown_at_a_wall((1.0, 0.0, 0.0), 50.0, integrator)
    with shown:
        shown.step(20)
        assert shown.sim.solution.substeps == 1, "at rest no step is cut"
        assert position(shown.sim)[0] == pytest.approx(-0.1, abs=1e-3)
        assert twist(shown.sim)[3] == pytest.approx(0.0, abs=1e-6)


FASTER = [80.0, 250.0, 900.0]


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize("speed", FASTER)
def test_no_speed_and_no_place_to_start_from_leads_through(speed, h):
    """A ball of 20 mm, 15 m a step: there is no room for as many parts of one length as it takes."""
    for gap in np.linspace(0.5, 4.0, 8):
        scene = Scene(gravity=(0, 0, 0))
        scene.world.shapes.append(shapes.Box((0.1, 2, 2), at=at(gap)))
        put(scene, "ball", shapes.Sphere(0.01), at(0.0))
        with mirror(scene, h, ground=False) as shown:
            set_twist(shown.sim, "ball", velocity=(speed, 0, 0))
            shown.step(int((gap + 1.0) / speed / h) + 2)
            assert position(shown.sim)[0] < gap - 0.058
            assert shown.sim.report.parts_hurried == 0


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize("gap, speed", [(0.3, 0.0), (0.0, 10.0), (0.1, 20.0)])
def test_a_press_is_held_up_by_what_it_meets(gap, speed, h):
    """1e5 N on 100 kg, from a gap or thrown, on 10 g of 10 mm: it went through. An eighth at most is pressed in."""
    scene = Scene()
    scene.world.shapes.append(shapes.Plane())
    put(scene, "small", shapes.Box((0.01, 0.01, 0.01)), at(0, 0, 0.005), 0.01)
    put(scene, "press", shapes.Box((0.5, 0.5, 0.1)), at(0, 0, 0.06 + gap), 100.0, joints.prismatic("z"))
    with mirror(scene, h, "linearly_implicit_rk4", ground=False) as shown:
        shown.sim.v[6] = -speed
        for _ in range(round(0.5 / h)):
            shown.sim.apply_force("press", (0, 0, -1e5))
            shown.step()
            assert position(shown.sim, "press")[2] > 0.05 + 0.00875


@pytest.mark.parametrize("rule", ["linearly_implicit_rk4", "semi_implicit_euler"])
@pytest.mark.parametrize("speed", [30.0, 120.0, 600.0])
def test_nor_does_a_motor_lead_anything_through(speed, rule):
    """A hand of 0.1 m that is brought to a speed within a step, and a wall of 50 mm: at 120 m/s it went through."""
    for gap in np.linspace(0.2, 1.0, 5):
        scene = Scene(gravity=(0, 0, 0))
        scene.world.shapes.append(shapes.Box((0.05, 1, 1), at=at(gap + 0.075)))
        put(scene, "hand", shapes.Sphere(0.05), at(), 1.0, joints.prismatic("x"))
        with mirror(scene, 1 / 60, rule, ground=False) as shown:
            shown.sim.motors["hand.distance"] = rd.Motor(velocity=speed, max_force=1e6)
            shown.step(4)
            assert shown.sim.q[0] == pytest.approx(gap, abs=1e-3)
            assert shown.sim.report.parts_hurried == 0


def test_nor_does_it_lead_an_arm_through():
    """Of 1 m, at 60 rad/s within a step: the parts before the wall took all room, and three of twelve went through."""
    for angle in np.linspace(0.3, 2.5, 12):
        scene = Scene(gravity=(0, 0, 0))
        scene.world.shapes.append(shapes.Box((1, 0.05, 1), at=at(rpy=(0, 0, angle)) @ at(1.0, 0.08)))
        hand = shapes.Capsule(0.05, 0.8, at=at(0.6, rpy=(0, np.pi / 2, 0)))
        put(scene, "arm", hand, at(), 1.0, joints.revolute("z"))
        with mirror(scene, 1 / 60, "linearly_implicit_rk4", ground=False) as shown:
            shown.sim.motors["arm.angle"] = rd.Motor(velocity=60.0, max_force=1e6)
            shown.step(4)
            assert shown.sim.q[0] == pytest.approx(angle, abs=0.01)


def test_what_a_motor_leads_through_for_want_of_room_is_told():
    scene = Scene(gravity=(0, 0, 0))
    scene.world.shapes.append(shapes.Box((0.05, 1, 1), at=at(0.45)))
    put(scene, "hand", shapes.Sphere(0.05), at(), 1.0, joints.prismatic("x"))
    with mirror(scene, 1 / 60, ground=False) as shown:
        shown.sim.contact.substeps = 2
        shown.sim.motors["hand.distance"] = rd.Motor(velocity=120.0, max_force=1e6)
        shown.step(2)
        assert shown.sim.q[0] > 1.0 and shown.sim.report.parts_hurried > 0


def test_what_there_is_no_room_for_is_told():
    shown, _, _ = thrown_at_a_wall((1.0, 0.0, 0.0), 200.0, "rk4")
    with shown:
        shown.sim.contact.substeps = 3
        shown.step(10)
        assert shown.sim.report.parts_hurried > 0


def test_only_steps_near_something_are_cut():
    shown, _, _ = thrown_at_a_wall((1.0, 0.0, 0.0), 50.0, "rk4")
    with shown:
        parts = []
        for _ in range(10):
            shown.step()
            parts.append(shown.sim.solution.substeps)
        assert parts[0] == 1 and max(parts) > 1 and parts[-1] == 1
        assert shown.sim.time == pytest.approx(10 / 240, rel=1e-12)


def test_cutting_can_be_switched_off():
    shown, _, _ = thrown_at_a_wall((1.0, 0.0, 0.0), 200.0, "rk4")
    with shown:
        shown.sim.contact.substeps = 1
        shown.step(10)
        assert position(shown.sim)[0] > 1.0, "0.83 m a step: it never was inside"


def test_a_parameter_of_substeps_is_the_most_there_are():
    shown, _, _ = thrown_at_a_wall((1.0, 0.0, 0.0), 200.0, "rk4")
    with shown:
        shown.sim.contact.substeps = 3
        shown.step()
        shown.step()
        assert shown.sim.solution.substeps <= 3


@pytest.mark.parametrize("speed", [20.0, 50.0, 100.0])
def test_two_fast_balls_hit_each_other(speed):
    """Head on and elastic: they exchange their velocities."""
    scene = Scene(gravity=(0, 0, 0))
    for name, x in (("left", -1.0), ("right", 1.0)):
        put(scene, name, shapes.Sphere(0.05, material=ELASTIC), at(x))
    with mirror(scene, ground=False) as shown:
        set_twist(shown.sim, "left", velocity=(speed, 0, 0))
        set_twist(shown.sim, "right", velocity=(-speed, 0, 0))
        for _ in range(int(240 * 1.5 / speed) + 2):
            shown.step()
            assert position(shown.sim, "left")[0] < position(shown.sim, "right")[0] - 0.098
        assert twist(shown.sim, "left")[3] == pytest.approx(-speed, rel=1e-9)
        assert twist(shown.sim, "right")[3] == pytest.approx(speed, rel=1e-9)


@pytest.mark.parametrize("gap", [0.43, 0.47, 0.93, 0.98])
def test_two_balls_that_would_change_places_in_a_step_hit_each_other(gap):
    """In a step each goes as far as 0.25 m: what is near is what the other may reach."""
    scene = Scene(gravity=(0, 0, 0))
    for name, side in (("left", -0.5), ("right", 0.5)):
        put(scene, name, shapes.Sphere(0.05, material=ELASTIC), at(side * gap))
    with mirror(scene, ground=False) as shown:
        set_twist(shown.sim, "left", velocity=(60.0, 0, 0))
        set_twist(shown.sim, "right", velocity=(-60.0, 0, 0))
        shown.step(4)
        assert twist(shown.sim, "left")[3] == pytest.approx(-60.0, rel=1e-9)
        assert twist(shown.sim, "right")[3] == pytest.approx(60.0, rel=1e-9)


@pytest.mark.parametrize("turned", [False, True])
def test_what_gets_no_deeper_is_not_cut(turned):
    """Boxes side by side at the same speed, close over the floor; one that goes in by a third of its inner radius is
    not cut either, one that goes in by two thirds is."""
    scene, rpy = Scene(gravity=(0, 0, 0)), (0.0, 0.0, 0.7 if turned else 0.0)
    scene.world.shapes.append(shapes.Box((40.0, 40.0, 1.0), at=at(0, 0, -0.5)))
    for k in range(3):
        put(scene, f"box{k}", shapes.Box((0.1, 0.1, 0.1), material=rd.Material(0.0)), at(0.15 * k, 0, 0.06, rpy=rpy))
    for down, cut in ((0.0, False), (6.0, False), (12.0, True)):
        with mirror(scene, ground=False) as shown:
            for k in range(3):
                set_twist(shown.sim, f"box{k}", velocity=(20.0, 0, -down))
            shown.step()
            assert (shown.sim.solution.substeps > 1) is cut


def test_a_fast_ball_hits_a_body_on_a_joint():
    """The gate of 5 cm on a hinge is pushed open, and not passed through."""
    scene = Scene(gravity=(0, 0, 0))
    gate = Body("gate", [shapes.Box((0.05, 1.0, 1.0), at=at(0, 0.5, 0))], mass=2.0)
    scene.world.attach(gate, joints.revolute("z"))
    put(scene, "ball", shapes.Sphere(0.05, material=rd.Material(0.0)), at(-1.0, 0.7, 0.0), 0.3)
    with mirror(scene, ground=False) as shown:
        set_twist(shown.sim, "ball", velocity=(60.0, 0, 0))
        for _ in range(10):
            shown.step()
            X = shown.sim.frames()[0]
            inside = np.linalg.inv(X[0]) @ np.append(position(shown.sim, "ball"), 1.0)
            assert inside[0] < -0.073
        # about the hinge, inelastic: (I + m d^2) w = m d v
        inertia = 2.0 * (0.05**2 + 1.0) / 12 + 2.0 * 0.25
        w = 0.3 * 0.7 * 60.0 / (inertia + 0.3 * 0.7**2)
        assert twist(shown.sim, "gate")[2] == pytest.approx(-w, rel=0.02)


@pytest.mark.parametrize("speed", [10.0, 40.0])
def test_a_thin_rod_is_caught_by_a_thin_rod(speed):
    """Crossed rods of 2 cm."""
    scene = Scene(gravity=(0, 0, 0))
    scene.world.shapes.append(shapes.Capsule(0.01, 1.0, at=at(rpy=(np.pi / 2, 0, 0))))
    put(scene, "rod", shapes.Capsule(0.01, 1.0), at(0.0, 0.0, 0.3, rpy=(0, np.pi / 2, 0)))
    with mirror(scene, ground=False) as shown:
        set_twist(shown.sim, "rod", velocity=(0, 0, -speed))
        shown.step(int(240 / speed) + 2)
        assert position(shown.sim)[2] > 0.018


def test_a_spinning_bar_does_not_pass_a_ball():
    """Its middle rests, its ends move at 60 m/s."""
    scene = Scene(gravity=(0, 0, 0))
    bar = Body("bar", [shapes.Box((1.2, 0.05, 0.05), material=rd.Material(0.0))], mass=2.0)
    scene.world.attach(bar, joints.revolute("z"))
    put(scene, "ball", shapes.Sphere(0.05, material=rd.Material(0.0)), at(0.0, 0.5, 0.0), 0.1)
    with mirror(scene, ground=False) as shown:
        shown.sim.v[0] = 100.0
        shown.step(6)
        inertia, place, V = 2.0 * (1.2**2 + 0.05**2) / 12, position(shown.sim, "ball"), twist(shown.sim, "ball")
        assert np.linalg.norm(V[3:]) > 0.9 * 0.5 * shown.sim.v[0], "it was hit"
        spin = inertia * shown.sim.v[0] + 0.1 * np.cross(place, V[3:])[2]
        assert spin == pytest.approx(100.0 * inertia, rel=5e-3)


@pytest.mark.parametrize("speed", [50.0, 150.0])
def test_a_fast_bullet_body_is_caught(speed):
    """A ball of Bullet's own against our plate, and our ball against Bullet's wall."""
    with bullet(gravity=0.0) as client:
        ball = bullet_ball(client, (-1.0, 0, 0), radius=0.05)
        bullet_box(client, (0.0, 5.0, 0.0), (0.05, 1.0, 1.0))
        scene = Scene(gravity=(0, 0, 0))
        scene.world.attach(Body("plate", [shapes.Box((0.1, 1.0, 1.0))], mass=1e6), joints.prismatic("y"))
        put(scene, "ours", shapes.Sphere(0.05), at(-1.0, 5.0, 0.0))
        with mirror(scene, client=client, ground=False) as shown:
            pybullet.resetBaseVelocity(ball, (speed, 0, 0), (0, 0, 0), client)
            set_twist(shown.sim, "ours", velocity=(speed, 0, 0))
            shown.step(12)
            assert bullet_position(client, ball)[0] == pytest.approx(-0.1, abs=2e-3)
            assert position(shown.sim, "ours")[0] == pytest.approx(-0.1, abs=2e-3)


@pytest.mark.parametrize(("steps", "hz"), [(1, 60), (1, 30), (4, 240), (4, 60)])
@pytest.mark.parametrize("speed", [2.0, 20.0, 60.0])
def test_contacts_found_once_a_call_hold_what_is_fast_too(steps, hz, speed):
    """They are looked for again in parts of a step, and where others may have come near since: through 0.3 m of floor
    things fell at 20 m/s by one step of 1/60 s a call, and at 2 m/s by four, and nothing was told."""
    scene, rng, steel = Scene(), np.random.default_rng(1), rd.Material(0.6, restitution=0.3)
    scene.world.shapes.append(shapes.Box((40, 40, 0.3), at=at(0, 0, -0.15), material=steel))
    kinds = shapes.Box((0.2, 0.15, 0.1)), shapes.Sphere(0.08), shapes.Capsule(0.06, 0.2), shapes.Cylinder(0.08, 0.1)
    for k in range(8):
        put(scene, f"b{k}", kinds[k % 4], at(0.5 * (k % 3), 0.5 * (k // 3), 0.8, rng.uniform(-2, 2, 3)))
    with mirror(scene, 1 / hz, "linearly_implicit_rk4", ground=False) as shown:
        shown.sim.contact.detect = "frame"
        for k in range(8):
            set_twist(shown.sim, f"b{k}", 4.0 * rng.normal(size=3), (0, 0, -speed))
        start, deepest = energy(shown.sim), 0.0
        for _ in range(round(hz / steps)):
            shown.step(steps)
            deepest = max(deepest, shown.sim.solution.penetration)
            assert energy(shown.sim) <= start * (1.0 + 1e-4)
        heights = [position(shown.sim, f"b{k}")[2] for k in range(8)]
    assert min(heights) > 0.03 and deepest < 1e-3
