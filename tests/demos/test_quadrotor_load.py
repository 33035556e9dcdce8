"""The quadrotor with a load: it converges, moves as the same scene with joints does, and its work adds up."""

from functools import partial

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import recursive_dyn as rd
from bridge import quaternion
from demos import quadrotor_load as demo
from demos.manifolds import taylor
from demos.manifolds.load_controller import LoadController, State
from demos.puppets import Puppets
from demos.stage import total_energy
from scene import Body, Scene, joints

STEPS = 240  # a second, where a finer step shows nothing else
CRAFT = demo.CRAFT


def fly(flight: demo.Flight, seconds: float) -> np.ndarray:
    """The load's distance from its place at each step."""
    for _ in range(round(seconds / flight.timestep)):
        flight.control(flight.motion)
        flight.motion.step()
    return np.array(flight.errors)


def disturbed(start: State, rng: np.random.Generator, turn: float) -> State:
    """Turned by ``turn`` about a horizontal axis, spinning, the load 0.8 m off at another velocity, the rod aslant."""
    axis, off = rng.normal(size=(2, 3))
    axis[2] = 0.0
    rotated = Rotation.from_rotvec(turn * axis / np.linalg.norm(axis)).as_matrix() @ start.R
    leaning = Rotation.from_rotvec(0.5 * rng.normal(size=3)).as_matrix() @ start.q
    x = start.x + 0.8 * off / np.linalg.norm(off)
    swing = np.cross(0.5 * rng.normal(size=3), leaning)
    return State(x, start.v * rng.uniform(0, 1), leaning, swing, rotated, 2.0 * rng.normal(size=3))


# --------------------------------------------------------------------------------------------------------- controller


def test_the_demo_recovers_and_stays_on_its_path() -> None:
    flight = demo.Flight()
    flight.state = demo.upset(flight.state)
    assert (demo.build().simulation.motion.q == flight.motion.q).all()
    assert flight.state.R[2, 2] < -0.95  # upside down
    worst = fly(flight, 9.0).reshape(9, -1).max(axis=1)
    assert worst[0] > 0.8
    assert (worst[3:7] < 0.5 * worst[2:6]).all()  # the slowest loop decays by exp(-1.5) a second
    assert worst[6:].max() < 2e-3


@pytest.mark.parametrize("seed", range(6))
def test_it_recovers_from_almost_any_attitude(seed: int) -> None:
    rng = np.random.default_rng(seed)
    flight = demo.Flight(timestep=1 / STEPS)
    turn = np.radians(179.0) if seed < 3 else rng.uniform(0.6 * np.pi, np.pi)
    flight.state = disturbed(flight.state, rng, turn)
    errors = fly(flight, 8.0)
    assert errors[0] > 0.79
    assert errors[7 * STEPS :].max() < 6e-3  # what a hold of 1/240 s leaves is 2e-3


def test_a_matched_start_leaves_what_sampling_leaves() -> None:
    """The feed-forward is exact: held over a step h, thrust and moment are late by h / 2; errors are of order h."""
    coarse, middle, fine = (fly(demo.Flight(timestep=1 / n), 2.5).max() for n in (120, 240, 480))
    assert coarse < 6e-3 and fine < 1.5e-3
    assert coarse / middle == pytest.approx(2.0, abs=0.25)
    assert middle / fine == pytest.approx(2.0, abs=0.15)


def test_wanted_rates_are_those_of_the_wanted_motion() -> None:
    """On the path and off it, along the motion of an attitude that follows at once; differences of order h^2."""
    controller, h, rng = demo.Flight().controller, 1e-4, np.random.default_rng(0)
    for t in np.linspace(0.0, 5.0, 7):
        for start in (controller.matched(t), disturbed(controller.matched(t), rng, 0.0)):
            before, now, after = (controller.command(t + dt, obeyed(controller, t, start, dt)) for dt in (-h, 0.0, h))
            turned = Rotation.from_matrix(before.R.T @ after.R).as_rotvec() / (2 * h)
            np.testing.assert_allclose(turned, now.Omega, rtol=1e-5, atol=1e-5)
            np.testing.assert_allclose((after.Omega - before.Omega) / (2 * h), now.dOmega, rtol=1e-4, atol=1e-4)


def obeyed(controller: LoadController, t: float, s: State, h: float) -> State:
    """One Runge-Kutta step of load and rod under the wanted force."""

    def slope(late: float, y: np.ndarray) -> np.ndarray:
        x, v, q, dq = y
        F = controller.command(t + late, State(x, v, q, dq, s.R, s.Omega)).F
        along = (q @ F - CRAFT.mQ * CRAFT.l * dq @ dq) * q / (CRAFT.mQ + CRAFT.mL)
        across = np.cross(q, np.cross(q, F)) / (CRAFT.mQ * CRAFT.l)
        return np.array([v, along - CRAFT.g * demo.E3, dq, across - dq @ dq * q])

    y = np.array([s.x, s.v, s.q, s.dq])
    k1 = slope(0.0, y)
    k2 = slope(h / 2, y + h / 2 * k1)
    k3 = slope(h / 2, y + h / 2 * k2)
    k4 = slope(h, y + h * k3)
    return State(*(y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)), s.R, s.Omega)


def test_series_are_those_of_functions() -> None:
    """A e^(a t) and B e^(b t), and a spiral, whose products and direction are known in closed form."""
    k = np.arange(taylor.ORDER + 1)[:, None]
    A, B, a, b = np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.4, -1.2]), 0.7, -1.3
    first, second = taylor.from_derivatives(A * a**k), taylor.from_derivatives(B * b**k)
    product = taylor.from_derivatives((a + b) ** k)
    close = partial(np.testing.assert_allclose, rtol=1e-13, atol=1e-14)
    close(taylor.cross(first, second), np.cross(A, B) * product)
    close(taylor.dot(first, second), A @ B * product[:, 0])
    close(taylor.times(taylor.from_derivatives(a**k)[:, 0], second), B * product)
    close(taylor.rate(first)[:-1], a * first[:-1])
    close(taylor.integral(taylor.rate(first), A), first)
    angle = np.pi / 2 * k
    circle = taylor.from_derivatives(np.hstack([np.cos(angle), np.sin(angle), 0 * angle]))
    close(taylor.unit(taylor.times(taylor.from_derivatives(a**k)[:, 0], circle)), circle)


# ------------------------------------------------------------------------------------------------------------- motion


def jointed() -> rd.Simulation:
    """The same machine as bodies on joints: the quadrotor free, the load on a universal joint in its middle."""
    scene = Scene()
    hull = Body("quadrotor", mass=CRAFT.mQ, center_of_mass=(0, 0, 0), inertia=CRAFT.J)
    load = Body("load", mass=CRAFT.mL, center_of_mass=(0, 0, -CRAFT.l), inertia=np.zeros((3, 3)))
    scene.world.attach(hull, joints.free()).attach(load, joints.universal("x", "y"))
    return rd.Simulation(scene.compile(), 1 / 960, "rk4")


def coordinates(s: State) -> tuple[np.ndarray, np.ndarray]:
    """q (9,) and v (8,) of ``jointed``: along the rod R^T q = Rx(a) Ry(b) (-e3)."""
    p, dp = s.R.T @ s.q, s.R.T @ s.dq - np.cross(s.Omega, s.R.T @ s.q)
    a, b = np.arctan2(p[1], -p[2]), np.arcsin(-p[0])
    da, db = (-dp[1] * p[2] + p[1] * dp[2]) / (p[1] ** 2 + p[2] ** 2), -dp[0] / np.cos(b)
    turn = quaternion.from_rotations(s.R[None])[0]
    velocity = s.R.T @ (s.v - CRAFT.l * s.dq)
    return np.r_[s.x - CRAFT.l * s.q, turn, a, b], np.r_[s.Omega, velocity, da, db]


def test_the_same_scene_with_joints_moves_equally() -> None:
    """Through the recovery, where everything turns fast; both integrators are of order 4, at 1/960 s."""
    flight, simulation = demo.Flight(timestep=1 / 960), jointed()
    flight.state = demo.upset(flight.state)
    simulation.q, simulation.v = coordinates(flight.state)
    worst = 0.0
    for _ in range(960):
        flight.control(flight.motion)
        forces = flight.motion.forces
        simulation.tau = np.r_[forces["M"], 0, 0, forces["f"], 0, 0]
        flight.motion.step()
        simulation.step()
        (hull, load), (twist, _) = simulation.frames()
        s = flight.state
        worst = max(worst, *(float(np.abs(d).max()) for d in (
            hull[:3, :3] - s.R, load[:3] @ [0, 0, -CRAFT.l, 1] - s.x, twist[:3] - s.R @ s.Omega,
            twist[3:] - (s.v - CRAFT.l * s.dq),
        )))  # fmt: skip
    assert worst < 1e-6


def test_the_power_of_thrust_and_moment_is_the_energys_rate() -> None:
    """Simpson's rule over half steps of 1/480 s with forces that are held: error of order h^5."""
    flight = demo.Flight(timestep=1 / 960)
    flight.state = demo.upset(flight.state)
    motion, h = flight.motion, 1 / 480
    for _ in range(480):
        flight.control(motion)
        energies, powers = [motion.energy], [power(flight)]
        for _ in range(2):
            motion.step()
            energies.append(motion.energy)
            powers.append(power(flight))
        work = h / 6 * (powers[0] + 4 * powers[1] + powers[2])
        assert energies[2] - energies[0] == pytest.approx(work, abs=1e-7)


def power(flight: demo.Flight) -> float:
    s, forces = flight.state, flight.motion.forces
    return float(forces["f"] * s.R[:, 2] @ (s.v - CRAFT.l * s.dq) + forces["M"] @ s.Omega)


# ------------------------------------------------------------------------------------------------------------ puppets


def puppets() -> Puppets:
    flight = demo.Flight()
    flight.state = demo.upset(flight.state)
    return Puppets([demo.craft_body(), demo.load_body()], flight.motion, flight.show, flight.control)


def test_puppets_have_the_motions_poses_velocities_and_energy() -> None:
    shown = puppets()
    motion, dynamics = shown.motion, shown.dynamics
    shown.step(200)
    assert shown.time == pytest.approx(200 * demo.TIMESTEP)
    # the load of the motion is a point; the puppet's inertia of 1e-9 kg m^2 is all that differs
    assert total_energy(shown) == pytest.approx(motion.energy, abs=1e-6)
    flight_q, h = shown.q.copy(), 1e-6
    hull, load = dynamics.poses(flight_q)
    np.testing.assert_allclose(load[:3] @ [0, 0, CRAFT.l, 1], hull[:3, 3], atol=1e-12)  # the rod reaches the quadrotor
    v = shown.v.copy()
    motion.timestep = h
    motion.step()
    shown.follow()
    moved = dynamics.difference(flight_q, shown.q) / h
    np.testing.assert_allclose(moved, v, atol=1e-3)  # h times accelerations up to some 100 / s^2


def test_puppets_return_to_a_snapshot() -> None:
    shown = puppets()
    shown.step(50)
    kept = shown.snapshot()
    shown.step(50)
    first = shown.q.copy(), shown.v.copy(), shown.time
    shown.restore(kept)
    shown.step(50)
    assert shown.time == first[2]
    assert (shown.q == first[0]).all() and (shown.v == first[1]).all()


def test_puppets_refuse_what_would_not_reach_them() -> None:
    shown = puppets()
    for push in (partial(shown.apply_force, "load", (0, 0, 1)), partial(shown.apply_torque, "load", (0, 0, 1))):
        with pytest.raises(rd.StateError, match=r"'load' is a puppet: set motion\.forces"):
            push()
    flight = demo.Flight()
    with pytest.raises(rd.ModelError, match="does not show body 'wing'"):
        Puppets([Body("wing", mass=1.0, inertia=np.eye(3))], flight.motion, flight.show)
