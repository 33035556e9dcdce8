"""Free bodies of Bullet's own in the same solve as the scene's: momentum, collisions, rest, and who pushes whom."""

import numpy as np
import pybullet
import pybullet_data
import pytest
from contact_scenes import (
    INTEGRATORS,
    G,
    at,
    bullet,
    bullet_ball,
    bullet_body,
    bullet_box,
    bullet_position,
    bullet_twist,
    mirror,
    position,
    put,
    set_twist,
    twist,
)  # fmt: skip

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes

H = 1 / 240


def momentum(shown, masses: dict, client: int, balls: dict) -> np.ndarray:
    ours = sum(m * twist(shown.sim, name)[3:] for name, m in masses.items())
    return ours + sum(m * bullet_twist(client, body)[3:] for body, m in balls.items())


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(("m", "M"), [(1.0, 3.0), (0.01, 10.0), (10.0, 0.01)])
def test_two_balls_on_one_line(m, M, e, integrator):
    """Ours of mass m against Bullet's of mass M: Newton's law of impact, whatever their ratio."""
    u, U = 2.0, -0.5
    material = rd.Material(0.0, restitution=e)
    with bullet(gravity=0.0) as client:
        ball = bullet_ball(client, (0.4, 0, 0), M, 0.1, material)
        scene = Scene(gravity=(0, 0, 0))
        put(scene, "ours", shapes.Sphere(0.1, material=material), at(-0.1), m)
        with mirror(scene, H, integrator, client=client, ground=False) as shown:
            set_twist(shown.sim, "ours", velocity=(u, 0, 0))
            pybullet.resetBaseVelocity(ball, (U, 0, 0), (0, 0, 0), client)
            shown.step(60)
            common = (m * u + M * U) / (m + M)
            scale = 1e-12 * (1 + max(m / M, M / m))
            expected = (common - e * M * (u - U) / (m + M), common + e * m * (u - U) / (m + M))
            assert twist(shown.sim)[3] == pytest.approx(expected[0], abs=scale)
            assert bullet_twist(client, ball)[3] == pytest.approx(expected[1], abs=scale)


def test_momentum_of_many_bodies_is_kept():
    """Oblique, rough, bouncing collisions of ours with Bullet's balls: the sum changes by rounding only."""
    rng = np.random.default_rng(3)
    material = rd.Material(0.4, restitution=0.5)
    with bullet(gravity=0.0) as client:
        balls = {
            bullet_ball(client, (0.45 * k, rng.uniform(-0.6, -0.4), 0.05 * k), 0.5 + k, 0.2, material): 0.5 + k
            for k in range(5)
        }
        scene = Scene(gravity=(0, 0, 0))
        masses = {}
        for k in range(3):
            form = shapes.Capsule(0.15, 0.5, material=material)
            put(scene, f"ours{k}", form, at(0.9 * k, 0.5, 0.0, rng.uniform(-1, 1, 3)), 1.0 + k)
            masses[f"ours{k}"] = 1.0 + k
        with mirror(scene, H, "rk4", client=client, ground=False) as shown:
            for name in masses:
                set_twist(shown.sim, name, rng.normal(size=3), (0.0, -1.0, 0.0) + 0.3 * rng.normal(size=3))
            for ball in balls:
                velocity = ((0.0, 1.0, 0.0) + 0.3 * rng.normal(size=3)).tolist()
                pybullet.resetBaseVelocity(ball, velocity, rng.normal(size=3).tolist(), client)
            before, touched = momentum(shown, masses, client, balls), 0
            for _ in range(480):
                shown.step()
                touched += any("bullet" in c.body_b and np.any(c.impulse) for c in shown.contacts)
            assert touched > 3
            np.testing.assert_allclose(momentum(shown, masses, client, balls), before, atol=1e-9)


@pytest.mark.parametrize("ours", [1.0, 100.0])
@pytest.mark.parametrize("mass", [0.1, 50.0])
def test_a_bullet_ball_rests_on_our_box(ours, mass):
    """The box carries its weight, the ground both; nothing moves or sinks, whatever they weigh."""
    with bullet() as client:
        ball = bullet_ball(client, (0, 0, 0.3), mass)
        scene = Scene()
        put(scene, "box", shapes.Box((0.6, 0.6, 0.2)), at(z=0.1), ours)
        with mirror(scene, client=client) as shown:
            shown.step(240)
            assert bullet_position(client, ball)[2] == pytest.approx(0.3, abs=1e-4)
            np.testing.assert_allclose(bullet_twist(client, ball), 0.0, atol=2e-4)
            forces: dict = {}
            for c in shown.contacts:
                forces[c.body_b] = forces.get(c.body_b, 0.0) + c.impulse[2] / H
            assert forces[f"bullet:{ball}"] == pytest.approx(-mass * G, rel=1e-5)
            assert forces["world"] == pytest.approx((mass + ours) * G, rel=1e-5)


def test_our_ball_rests_on_a_bullet_box_on_bullets_ground():
    """The box lies on what is Bullet's alone: it is solved with ours, not pushed twice."""
    with bullet() as client:
        bullet_box(client, (0, 0, -0.5), (5, 5, 0.5))
        box = bullet_box(client, (0, 0, 0.1), (0.3, 0.3, 0.1), 2.0)
        scene = Scene()
        put(scene, "ball", shapes.Sphere(0.1), at(z=0.3), 5.0)
        with mirror(scene, client=client, ground=False) as shown:
            shown.step(240)
            assert bullet_position(client, box)[2] == pytest.approx(0.1, abs=1e-3)
            np.testing.assert_allclose(bullet_twist(client, box), 0.0, atol=1e-4)
            assert position(shown.sim)[2] == pytest.approx(0.3, abs=1e-3)
            carried = sum(c.impulse[2] for c in shown.contacts if c.body_a == "ball") / H
            assert carried == pytest.approx(5.0 * G, rel=1e-4)


def test_a_bullet_tower_stands_on_our_box():
    with bullet() as client:
        boxes = [bullet_box(client, (0, 0, 0.3 + 0.2 * k), (0.1,) * 3, 1.0) for k in range(3)]
        scene = Scene()
        put(scene, "base", shapes.Box((0.4, 0.4, 0.2)), at(z=0.1), 1.0)
        with mirror(scene, client=client) as shown:
            shown.step(480)
            for k, box in enumerate(boxes):
                assert bullet_position(client, box)[2] == pytest.approx(0.3 + 0.2 * k, abs=2e-3)
                assert np.abs(bullet_position(client, box)[:2]).max() < 2e-3


def test_a_bullet_ball_rolls_down_our_incline():
    """Friction acts on Bullet's spin as well: 5/7 g sin."""
    angle, material = 0.3, rd.Material(0.8)
    with bullet() as client:
        tilt = at(rpy=(0.0, angle, 0.0))
        ball = bullet_ball(client, tilt[:3, :3] @ (-1.0, 0.0, 0.1), material=material)
        scene = Scene()
        plank = Body("plank", [shapes.Box((6, 1, 0.2), at=at(z=-0.1), material=material)], mass=1.0)
        scene.world.attach(plank, joints.prismatic("y"), at=tilt)
        with mirror(scene, 1 / 1000, client=client, ground=False) as shown:
            shown.step(500)
            V, a = bullet_twist(client, ball), 5 / 7 * G * np.sin(angle)
            np.testing.assert_allclose(V[3:], tilt[:3, 0] * a * 0.5, atol=2e-3)
            assert V[1] == pytest.approx(a * 0.5 / 0.1, rel=1e-3)


def test_our_arm_bats_a_bullet_ball():
    """An arm on a hinge: about it, I w + m d v is kept; elastic, so that energy is as well."""
    material = rd.Material(0.0, restitution=1.0)
    inertia, m, d, w = 0.3, 0.5, 0.8, 3.0
    with bullet(gravity=0.0) as client:
        ball = bullet_ball(client, (d, 0.3, 0), m, 0.1, material)
        scene = Scene(gravity=(0, 0, 0))
        arm = Body("arm", [shapes.Box((1.0, 0.1, 0.2), at=at(0.5), material=material)], mass=1.0,
                   center_of_mass=(0, 0, 0), inertia=np.eye(3) * inertia)  # fmt: skip
        scene.world.attach(arm, joints.revolute("z"), at=at(rpy=(0, 0, -0.1)))
        with mirror(scene, 1 / 2000, client=client, ground=False) as shown:
            shown.sim.v[0] = w
            for _ in range(400):
                shown.step()
            V, x = bullet_twist(client, ball), bullet_position(client, ball)
            assert V[4] > 0.5
            spin = inertia * shown.sim.v[0] + m * np.cross(x, V[3:])[2]
            assert spin == pytest.approx(inertia * w, rel=2e-3)
            assert inertia * shown.sim.v[0] ** 2 + m * V[3:] @ V[3:] == pytest.approx(inertia * w**2, rel=2e-3)


def test_a_motor_leads_near_bullet_balls_that_its_flight_was_far_from():
    """And finds nothing new there: the step raised, as others were answered than it was solved for."""
    scene = Scene(gravity=(0, 0, 0))
    hand = shapes.Sphere(0.05, at=at(0.4))
    scene.world.attach(Body("arm", [hand], mass=1.0, inertia=0.1 * np.eye(3)), joints.revolute("z"))
    with bullet(gravity=0.0) as client:
        balls = [bullet_ball(client, (0.4, 0.23, z)) for z in (0.02, 0.25)]
        with mirror(scene, 1 / 60, client=client, ground=False) as shown:
            shown.sim.motors["arm.angle"] = rd.Motor(velocity=3.0, max_force=1e4)
            shown.step()
            assert shown.sim.v[0] == pytest.approx(3.0)
            assert not any(bullet_twist(client, ball).any() for ball in balls)


def test_a_motor_that_leads_away_pushes_a_bullet_ball_once():
    """By what its contact tells. As nothing new was found where the motor led, the ball was given that twice."""
    scene = Scene(gravity=(0, 0, 0))
    hand = put(scene, "hand", shapes.Sphere(0.1), at(), 1.0, joints.prismatic("x"))
    with bullet(gravity=0.0) as client:
        ball = bullet_ball(client, (0.1999, 0, 0), 1.0, 0.1)
        with mirror(scene, 1 / 60, "semi_implicit_euler", client=client, ground=False) as shown:
            shown.sim.motors[f"{hand.name}.distance"] = rd.Motor(velocity=3.0, max_force=1e4)
            shown.step()
            pushed = -shown.sim.contacts.impulse.sum(axis=0)
            assert pushed[0] > 1.0
            np.testing.assert_allclose(bullet_twist(client, ball)[3:], pushed, rtol=1e-12, atol=1e-12)


def test_a_bullet_ball_between_our_press_and_the_ground():
    """A motor presses with 50 N: the ball neither flees nor sinks in by 1 mm, and the ground feels press and ball."""
    with bullet() as client:
        bullet_box(client, (0, 0, -0.5), (5, 5, 0.5))
        ball = bullet_ball(client, (0, 0, 0.1), 0.2)
        scene = Scene(gravity=(0, 0, -G))
        press = Body("press", [shapes.Box((0.4, 0.4, 0.1))], mass=1.0)
        scene.world.attach(press, joints.prismatic("z"), at=at(z=0.3))
        with mirror(scene, client=client, ground=False) as shown:
            (name,) = shown.sim.dynamics.velocity_coordinates
            shown.sim.motors[name] = rd.Motor(velocity=-0.2, max_force=50.0)
            shown.step(480)
            assert bullet_position(client, ball)[2] == pytest.approx(0.1, abs=1e-3)
            np.testing.assert_allclose(bullet_position(client, ball)[:2], 0.0, atol=1e-3)
            np.testing.assert_allclose(shown.sim.v, 0.0, atol=1e-4)
            c, ours = shown.sim.contacts, len(shown.sim.dynamics.bodies)
            pressed, carried = (
                abs(c.impulse[(c.a == a) & (c.b == b), 2].sum()) / H for a, b in ((0, ours), (ours, -1))
            )
            assert pressed == pytest.approx(50.0 + G, rel=1e-3)
            assert carried == pytest.approx(50.0 + 1.2 * G, rel=1e-3)


def test_what_touches_nothing_of_ours_is_bullets_own():
    """A ball that falls far away moves exactly as Bullet alone moves it."""
    paths = []
    for ours in (True, False):
        with bullet() as client:
            bullet_box(client, (0, 0, -0.5), (5, 5, 0.5))
            ball = bullet_ball(client, (2.0, 0, 0.5), material=rd.Material(0.5, restitution=0.5))
            pybullet.resetBaseVelocity(ball, (0.5, 0, 0), (0, 3, 0), client)
            if ours:
                scene = Scene()
                put(scene, "box", shapes.Box((0.2,) * 3), at(z=0.1))
                with mirror(scene, client=client, ground=False) as shown:
                    shown.step(200)
                    paths.append([*bullet_position(client, ball), *bullet_twist(client, ball)])
            else:
                for _ in range(200):
                    pybullet.stepSimulation(client)
                paths.append([*bullet_position(client, ball), *bullet_twist(client, ball)])
    np.testing.assert_allclose(paths[0], paths[1], atol=1e-6)


def test_the_time_step_of_bullet_is_given_back():
    with bullet() as client:
        pybullet.setTimeStep(1 / 333, client)
        ball = bullet_ball(client, (0, 0, 5.0))
        scene = Scene()
        put(scene, "box", shapes.Box((0.2,) * 3), at(z=0.1))
        with mirror(scene, H, client=client) as shown:
            shown.step(24)
            assert pybullet.getPhysicsEngineParameters(client)["fixedTimeStep"] == 1 / 333
            assert bullet_twist(client, ball)[5] == pytest.approx(-G * 24 * H, rel=1e-9)


@pytest.mark.parametrize("file", ["r2d2.urdf", "racecar/racecar.urdf", "cartpole.urdf"])
def test_articulated_bodies_of_bullets_are_no_harm(file):
    """They are Bullet's alone; ours meets them and all stays finite."""
    with bullet() as client:
        pybullet.setAdditionalSearchPath(pybullet_data.getDataPath(), client)
        robot = pybullet.loadURDF(file, [0, 0, 0.6], physicsClientId=client)
        scene = Scene()
        put(scene, "ball", shapes.Sphere(0.2), at(0.05, 0.0, 2.0), 1.0)
        with mirror(scene, client=client) as shown:
            met = 0
            for _ in range(240):
                shown.step()
                met += any(c.body_b == f"bullet:{robot}" and np.any(c.impulse) for c in shown.contacts)
                assert np.isfinite(shown.sim.q).all() and np.abs(shown.sim.v).max() < 50.0
                assert np.abs(bullet_position(client, robot)).max() < 10.0
            assert position(shown.sim)[2] > 0.19
            assert met, "they met"


@pytest.mark.parametrize("speed", [0.0, 0.5])
def test_a_moving_platform_of_bullets(speed):
    """A body without mass, moved by hand: ours rides up on it."""
    with bullet() as client:
        lift = bullet_body(client, pybullet.GEOM_BOX, (0, 0, 0), 0.0, halfExtents=[0.5, 0.5, 0.1])
        scene = Scene()
        put(scene, "box", shapes.Box((0.2,) * 3), at(z=0.2))
        with mirror(scene, H, client=client, ground=False) as shown:
            for k in range(120):
                pybullet.resetBasePositionAndOrientation(lift, (0, 0, speed * (k + 1) * H), (0, 0, 0, 1), client)
                pybullet.resetBaseVelocity(lift, (0, 0, speed), (0, 0, 0), client)
                shown.step()
            assert position(shown.sim)[2] == pytest.approx(0.2 + speed * 120 * H, abs=1e-3)
            assert twist(shown.sim)[5] == pytest.approx(speed, abs=1e-3)
