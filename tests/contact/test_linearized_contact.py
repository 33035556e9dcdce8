"""Linear models of steps in contact against closed forms, and that to ask for them changes nothing.

Differences are over 2e-6 of solves that end at 1e-13 m/s: 1e-7; free bodies have [omega; v], turned by nothing here.
"""

import numpy as np
import pytest
from contact_scenes import INTEGRATORS, G, at, bullet, bullet_ball, bullet_position, mirror, put, set_twist
from test_articulated import doll
from trees import random_scene

import recursive_dyn as rd
from recursive_dyn.contact.settings import Settings
from scene import Body, Scene, joints, shapes

H = 1 / 240
DIFFERENCES = 1e-7


def ground(friction: float = 0.5) -> Scene:
    scene = Scene(gravity=(0.0, 0.0, -G))
    scene.world.shapes.append(shapes.Plane(material=rd.Material(friction)))
    return scene


def close(a, b, tolerance: float = DIFFERENCES) -> None:
    np.testing.assert_allclose(a, b, rtol=0.0, atol=tolerance)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_ball_at_rest_rolls_if_pushed(integrator):
    """It neither rises nor sinks; of a velocity v along the ground 5/7 stay, of a spin 2/7 (as for billiards)."""
    scene, r, m = ground(), 0.1, 2.0
    put(scene, "ball", shapes.Sphere(r), at(z=r), mass=m)
    with mirror(scene, H, integrator, ground=False) as shown:
        shown.step(60)
        A, B = shown.sim.linearize()
    V, dv = A[6:, 6:], B[6:]
    close(V[5], np.zeros(6))
    close(V[3], [0, 2 * r / 7, 0, 5 / 7, 0, 0])
    close(V[1], [0, 2 / 7, 0, 5 / (7 * r), 0, 0])
    close(A[5, :5], np.zeros(5))
    assert -DIFFERENCES < A[5, 5] < 1 + DIFFERENCES  # its overlap is kept, or goes if it is deeper than the slop
    close(dv[5], np.zeros(6))
    close(dv[3] / H, [0, 1 / (m * r) * 5 / 7, 0, 5 / (7 * m), 0, 0], 1e-5)


def test_a_block_that_slides_keeps_what_is_added_to_its_velocity():
    """v' = v - mu N h / m along v, N = m g - m v_z / h - tau_z, and friction turns with v."""
    mu, speed = 0.3, 2.0
    scene = ground(mu)
    sliding = joints.prismatic("x") @ joints.prismatic("y") @ joints.prismatic("z")
    block = shapes.Box((0.2, 0.2, 0.1), material=rd.Material(mu))
    put(scene, "block", block, at(z=0.05), joint=sliding)
    with mirror(scene, H, "semi_implicit_euler", ground=False) as shown:
        shown.sim.v[0] = speed
        shown.step(20)
        v = shown.sim.v[0]
        A, B = shown.sim.linearize()
    turned = 1.0 - mu * G * H / v
    expected = [[1.0, 0.0, mu], [0.0, turned, 0.0], [0.0, 0.0, 0.0]]
    close(A[3:, 3:], expected)
    close(B[3:] / H, expected, 1e-5)
    close(A[:3, 3:] / H, expected, 1e-4)


def test_a_cart_against_a_wall_stays_and_leaves():
    """Pushed against a wall it stays, pulled away it is free: there it is the exact model."""
    scene = Scene(gravity=(0, 0, 0))
    scene.world.shapes.append(shapes.Box((0.2, 1, 1), at=at(0.2)))
    put(scene, "cart", shapes.Sphere(0.1), at(), mass=4.0, joint=joints.prismatic("x"))
    with mirror(scene, H, "semi_implicit_euler", ground=False) as shown:
        sim = shown.sim
        sim.tau[0] = 5.0
        shown.step(10)
        A, B = sim.linearize()
        close(A[1, 1], 0.0)
        close(B, np.zeros((2, 1)))
        sim.tau[0] = -5.0
        A, B = sim.linearize()
        np.testing.assert_array_equal(A, [[1.0, H], [0.0, 1.0]])
        np.testing.assert_allclose(B, [[H * H / 4.0], [H / 4.0]], rtol=1e-14)


def test_a_limit_holds():
    scene = Scene(gravity=(0, 0, 0))
    body = Body("cart", mass=2.0, inertia=np.eye(3))
    scene.world.attach(body, joints.prismatic("x", limits=(-1.0, 1.0)))
    sim = rd.Simulation(scene.compile(), H)
    sim.q[0], sim.tau[0] = 1.0, 3.0
    sim.step()
    A, B = sim.linearize()
    close(A[1, 1], 0.0)
    close(B, np.zeros((2, 1)))
    sim.q[0] = 0.5
    close(sim.linearize()[0], [[1.0, H], [0.0, 1.0]], 1e-15)


def test_dry_friction_holds_until_it_slides():
    scene = Scene(gravity=(0, 0, 0))
    body = Body("cart", mass=2.0, inertia=np.eye(3))
    scene.world.attach(body, joints.prismatic("x", friction=4.0))
    sim = rd.Simulation(scene.compile(), H)
    sim.tau[0] = 3.0
    A, B = sim.linearize()
    close(A[1, 1], 0.0)
    close(B, np.zeros((2, 1)))
    sim.v[0] = 1.0
    A, B = sim.linearize()
    close(A[1, 1], 1.0)
    close(B[1, 0] / H, 0.5, 1e-6)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_where_nothing_touches_it_is_the_integrators(integrator):
    """To the bit, and what differences make of it is the same."""
    d = random_scene(1, 4, kinds=("revolute", "prismatic", "ball"), springs=True).dynamics()
    sim, rng = rd.Simulation(d, H, integrator), np.random.default_rng(0)
    sim.q, sim.v, sim.tau = d.random(0), rng.normal(size=d.nv), rng.normal(size=d.nv)
    A, B = sim.linearize()
    exact = d.linearize(sim.q, sim.v, sim.tau, H, integrator)
    np.testing.assert_array_equal(A, exact[0])
    np.testing.assert_array_equal(B, exact[1])
    sim.sensors.imu("eye", d.bodies[-1])
    A, B, C, D = sim.linearize(sensors=True)
    close(A, exact[0], 1e-8)
    close(B, exact[1], 1e-8 * np.abs(B).max())
    assert C.shape == (6, 2 * d.nv) and D.shape == (6, d.nv)


def test_motors_in_closed_form():
    """m (v' - v) = h kp (p - q') - h kd v', q' = q + h v'; a bound of the force that is reached holds it."""
    scene, m, kp, kd = Scene(gravity=(0, 0, 0)), 2.0, 300.0, 7.0
    scene.world.attach(Body("cart", mass=m, inertia=np.eye(3)), joints.prismatic("x"))
    sim = rd.Simulation(scene.compile(), H, "semi_implicit_euler")
    (name,) = sim.dynamics.velocity_coordinates
    sim.motors[name] = rd.Motor(position=0.3, kp=kp, kd=kd)
    A, B = sim.linearize(inputs="motors")
    whole = m + H * kd + H * H * kp
    v = np.array([-H * kp, m, H * kp]) / whole
    close(np.hstack([A, B]), [np.array([1.0, 0.0, 0.0]) + H * v, v])
    sim.motors[name] = rd.Motor(position=0.3, kp=kp, kd=kd, max_force=1.0)
    A, B = sim.linearize(inputs="motors")
    close(A, [[1.0, H], [0.0, 1.0]])
    close(B, np.zeros((2, 1)))
    sim.motors[name] = rd.Motor(velocity=0.3)
    close(sim.linearize(inputs="motors")[1], [[H], [1.0]], 1e-5)  # it is a million times as heavy as the cart


def test_where_motors_of_a_ball_aim():
    """Target and body turned alike, the motion turns with them: at rest B = -A by q, in the axes of both."""
    scene = Scene(gravity=(0, 0, 0))
    scene.world.attach(Body("ball", mass=1.0, inertia=np.diag([0.1, 0.2, 0.25])), joints.ball())
    sim = rd.Simulation(scene.compile(), H)
    sim.q = sim.dynamics.random(3)
    sim.motors["ball"] = rd.Motor(position=sim.q, kp=3.0, kd=0.1)
    A, B = sim.linearize(inputs="motors")
    close(B[3:], -A[3:, :3])
    assert np.abs(np.diag(B[3:])).min() > 0.01


def test_sensors_of_a_ball_that_rests():
    """The ground carries m (g - v_z / h) - tau_z."""
    scene, m = ground(), 2.0
    put(scene, "ball", shapes.Sphere(0.1), at(z=0.1), mass=m)
    with mirror(scene, H, "semi_implicit_euler", ground=False) as shown:
        shown.sim.sensors.touch("sole", "ball")
        shown.step(60)
        _, _, C, D = shown.sim.linearize(sensors=True)
    assert C.shape == (6, 12) and D.shape == (6, 6)
    close(C[5, 6:], [0, 0, 0, 0, 0, -m / H], 1e-4)
    close(D[5], [0, 0, 0, 0, 0, -1.0], 1e-6)


def test_nothing_is_changed():
    """What follows is what follows a snapshot, to the bit, forces that wait and events included."""
    with mirror(doll(0.6), H) as shown:
        sim = shown.sim
        sim.tau[:] = 0.01
        sim.motors[sim.dynamics.velocity_coordinates[-1]] = rd.Motor(position=0.1)
        shown.step(120)
        sim.apply_force(sim.dynamics.bodies[0], (0.0, 1.0, 0.0))
        snapshot = sim.snapshot()
        told, contacts = sim.contact_events, sim.contacts
        states = []
        for asked in (False, True):
            sim.restore(snapshot)
            if asked:
                for inputs in ("tau", "motors"):
                    sim.linearize(inputs=inputs)
                assert sim.time == snapshot.time and sim.contact.tolerance == Settings().tolerance
                for name in ("q", "v", "tau"):
                    np.testing.assert_array_equal(getattr(sim, name), getattr(snapshot, name))
            after = []
            for _ in range(20):
                shown.step()
                after.append((sim.q.tobytes(), sim.v.tobytes(), sim.time, repr(sim.contact_events)))
            states.append(after)
        assert states[0] == states[1]
        assert len(contacts) and told


def test_events_and_contacts_are_told_as_before():
    with mirror(doll(0.6), H) as shown:
        shown.step(120)
        told = repr((shown.sim.contact_events, shown.sim.contacts, shown.sim.solution, shown.sim.coordinate_impulses))
        shown.sim.linearize()
        now = repr((shown.sim.contact_events, shown.sim.contacts, shown.sim.solution, shown.sim.coordinate_impulses))
        assert now == told


def test_solves_that_end_early_are_told():
    with mirror(doll(0.6), H) as shown:
        shown.step(120)
        shown.sim.contact.iterations = 1
        with pytest.warns(UserWarning, match="from convergence, which over an epsilon of 1e-06"):
            shown.sim.linearize()


def test_bullets_own_bodies_stay_where_they_are():
    """A ball of ours on one of Bullet's: both yield, the lower one as the model has it at its present state."""
    with bullet() as client:
        below = bullet_ball(client, (0, 0, 0.1))
        scene = ground()
        put(scene, "above", shapes.Sphere(0.1), at(z=0.3 - 1e-6))
        with mirror(scene, H, "semi_implicit_euler", client=client, ground=False) as shown:
            shown.step(2)
            place = bullet_position(client, below)
            A, _ = shown.sim.linearize()
            np.testing.assert_array_equal(bullet_position(client, below), place)
            close(A[11, 6:], np.zeros(6), 1e-5)  # a column of two at rest


def test_a_regulator_of_a_pole_on_a_rolling_wheel():
    """Driven between wheel and pole, A and B of steps in contact alone: what falls without it stays up."""
    scene = ground(1.0)
    planar = joints.prismatic("x") @ joints.prismatic("z") @ joints.revolute("y")
    wheel = put(scene, "wheel", shapes.Sphere(0.2, material=rd.Material(1.0)), at(z=0.2), mass=3.0, joint=planar)
    pole = Body("pole", mass=1.0, center_of_mass=(0, 0, 0.5), inertia=np.eye(3) * 0.02)
    wheel.attach(pole, joints.revolute("y"))
    with mirror(scene, H, "semi_implicit_euler", ground=False) as shown:
        sim = shown.sim
        shown.step(20)
        q = sim.q.copy()
        A, B = sim.linearize()
        kept = [2, 3, 4, 6, 7]  # turns of wheel and pole, and all speeds along the ground; place and height follow
        P, A, B = np.eye(5), A[np.ix_(kept, kept)], B[kept, 3:]
        for _ in range(4000):
            K = np.linalg.solve(0.1 + B.T @ P @ B, B.T @ P @ A)
            P = np.eye(5) + A.T @ P @ (A - B @ K)
        for regulated in (True, False):
            sim.q, sim.v = q, np.zeros(4)
            sim.q[3] += 0.05
            for _ in range(720):
                x = np.concatenate([sim.q - q, sim.v])[kept]
                sim.tau[3] = -(K @ x)[0] if regulated else 0.0
                shown.step()
            lean = abs(sim.q[2] + sim.q[3])
            assert lean < 0.01 if regulated else lean > 0.5


def test_what_does_not_fit_is_told():
    scene = Scene()
    scene.world.attach(Body("cart", mass=1.0, inertia=np.eye(3)), joints.prismatic("x"))
    sim = rd.Simulation(scene.compile(), H)
    for epsilon in (0.0, -1.0, np.nan, "small", True):
        with pytest.raises(rd.StateError, match="epsilon above 0"):
            sim.linearize(epsilon)
    with pytest.raises(rd.StateError, match="inputs of linearize are 'tau' or 'motors'"):
        sim.linearize(inputs="force")
    with pytest.raises(rd.StateError, match="no sensors"):
        sim.linearize(sensors=True)
    close(sim.linearize()[0], [[1.0, H], [0.0, 1.0]], 1e-15)
    for inputs in ("tau", "motors"):
        assert [J.shape for J in rd.Simulation(Scene().compile()).linearize(inputs=inputs)] == [(0, 0)] * 2


def test_it_fails_where_a_step_does_and_leaves_all_as_it_was():
    def broken(simulation):
        raise ValueError("no contacts today")

    scene = Scene()
    put(scene, "ball", shapes.Sphere(0.1), at(z=1.0))
    sim = rd.Simulation(scene.compile(), H)
    sim.detect = broken
    sim.v[:] = 1.0
    with pytest.raises(ValueError, match="no contacts today"):
        sim.linearize()
    np.testing.assert_array_equal(sim.v, np.ones(6))
    assert sim.contact.detect == "step" and sim.time == 0.0
    set_twist(sim, "ball")
