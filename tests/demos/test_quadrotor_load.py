"""The quadrotor with a load moves as the same scene with joints does, and its work adds up."""

import numpy as np
import pytest

import recursive_dyn as rd
from demos import quadrotor_load as demo
from demos.manifolds.load_controller import CraftState, Gains
from recursive_dyn.spatial.rotations import matrix_to_quaternion
from scene import Body, Scene, joints

CRAFT = demo.CRAFT


def jointed() -> rd.Simulation:
    """The same machine as bodies on joints: the quadrotor free, the load on a universal joint in its middle."""
    scene = Scene()
    hull = Body("quadrotor", mass=CRAFT.mQ, center_of_mass=(0, 0, 0), inertia=CRAFT.J)
    load = Body("load", mass=CRAFT.mL, center_of_mass=(0, 0, -CRAFT.l), inertia=np.zeros((3, 3)))
    scene.world.attach(hull, joints.free()).attach(load, joints.universal("x", "y"))
    return rd.Simulation(scene.compile(), 1 / 960, "rk4")


def coordinates(s: CraftState) -> tuple[np.ndarray, np.ndarray]:
    """q (9,) and v (8,) of ``jointed``: along the rod R^T q = Rx(a) Ry(b) (-e3)."""
    p, dp = s.R.T @ s.q, s.R.T @ s.dq - np.cross(s.Omega, s.R.T @ s.q)
    a, b = np.arctan2(p[1], -p[2]), np.arcsin(-p[0])
    da, db = (-dp[1] * p[2] + p[1] * dp[2]) / (p[1] ** 2 + p[2] ** 2), -dp[0] / np.cos(b)
    turn = matrix_to_quaternion(s.R)
    velocity = s.R.T @ (s.v - CRAFT.l * s.dq)
    return np.r_[s.x - CRAFT.l * s.q, turn, a, b], np.r_[s.Omega, velocity, da, db]


def test_the_same_scene_with_joints_moves_equally() -> None:
    """Through the recovery; both integrators are of order 4, wrong by (w h)^5 / 120 a step where things turn at w."""
    flight, simulation = demo.LoadFlight(timestep=1 / 960), jointed()
    flight.state = demo.upset(flight.state)
    simulation.q, simulation.v = coordinates(flight.state)
    w, h, worst = Gains().attitude, 1 / 960, 0.0
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
    assert worst < w * (w * h) ** 4 / 120


def test_the_power_of_thrust_and_moment_is_the_energys_rate() -> None:
    """Simpson's rule over h = 1/480 s, forces held, is wrong by h (w h)^4 / 2880 of a power that changes at w."""
    flight = demo.LoadFlight(timestep=1 / 960)
    flight.state = demo.upset(flight.state)
    motion, h, w, largest = flight.motion, 1 / 480, Gains().attitude, 0.0
    for _ in range(480):
        flight.control(motion)
        energies, powers = [motion.energy], [power(flight)]
        for _ in range(2):
            motion.step()
            energies.append(motion.energy)
            powers.append(power(flight))
        work = h / 6 * (powers[0] + 4 * powers[1] + powers[2])
        largest = max(largest, *map(abs, powers))
        assert energies[2] - energies[0] == pytest.approx(work, abs=h * (w * h) ** 4 / 2880 * largest)


def power(flight: demo.LoadFlight) -> float:
    s, forces = flight.state, flight.motion.forces
    return float(forces["f"] * s.R[:, 2] @ (s.v - CRAFT.l * s.dq) + forces["M"] @ s.Omega)
