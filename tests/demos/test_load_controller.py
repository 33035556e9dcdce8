"""The quadrotor's controller: the load converges to its path, and what is wanted is a motion of the machine."""

from functools import partial

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from demos import quadrotor_load as demo
from demos.manifolds import taylor
from demos.manifolds.load_controller import CraftState, Gains, LoadController

STEPS = 240  # a second, where a finer step shows nothing else
CRAFT = demo.CRAFT


def late(h: float) -> float:
    """Distance that a hold of h leaves: forces late by h / 2, e'' + kv e' + kx e = x_d^(3) h / 2 in each frequency."""
    path, (kx, kv) = demo.FigureEight(), Gains().of(Gains().load)
    w = 2 * np.pi / path.period * np.array([1, 2, 1])
    return float(np.linalg.norm(path.size * w**3 * h / 2 / np.abs(kx - w**2 + 1j * kv * w)))


def fly(flight: demo.LoadFlight, seconds: float) -> np.ndarray:
    """The load's distance from its place at each step."""
    for _ in range(round(seconds / flight.timestep)):
        flight.control(flight.motion)
        flight.motion.step()
    return np.array(flight.errors)


def disturbed(start: CraftState, rng: np.random.Generator, turn: float) -> CraftState:
    """Turned by ``turn`` about a horizontal axis, spinning, the load 0.8 m off at another velocity, the rod aslant."""
    axis, off = rng.normal(size=(2, 3))
    axis[2] = 0.0
    rotated = Rotation.from_rotvec(turn * axis / np.linalg.norm(axis)).as_matrix() @ start.R
    leaning = Rotation.from_rotvec(0.5 * rng.normal(size=3)).as_matrix() @ start.q
    x = start.x + 0.8 * off / np.linalg.norm(off)
    swing = np.cross(0.5 * rng.normal(size=3), leaning)
    return CraftState(x, start.v * rng.uniform(0, 1), leaning, swing, rotated, 2.0 * rng.normal(size=3))


def test_the_demo_recovers_and_stays_on_its_path() -> None:
    flight = demo.LoadFlight()
    flight.state = demo.upset(flight.state)
    assert (demo.build().simulation.q == flight.motion.q).all()
    assert flight.state.R[2, 2] < -0.95  # upside down
    worst = fly(flight, 9.0).reshape(9, -1).max(axis=1)
    assert worst[0] > 0.8
    assert (worst[3:7] < 0.5 * worst[2:6]).all()  # the slowest loop decays by exp(-1.5) a second
    assert worst[6:].max() < late(demo.TIMESTEP)


@pytest.mark.parametrize("seed", [0, 3, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 4, 5))])
def test_it_recovers_from_almost_any_attitude(seed: int) -> None:
    rng = np.random.default_rng(seed)
    flight = demo.LoadFlight(timestep=1 / STEPS)
    turn = np.radians(179.0) if seed < 3 else rng.uniform(0.6 * np.pi, np.pi)
    flight.state = disturbed(flight.state, rng, turn)
    errors = fly(flight, 8.0)
    assert errors[0] > 0.79
    assert errors[7 * STEPS :].max() < late(1 / STEPS)


def test_a_matched_start_leaves_what_sampling_leaves() -> None:
    """The feed-forward is exact: held over a step h, thrust and moment are late by h / 2; errors are of order h."""
    coarse, middle, fine = (fly(demo.LoadFlight(timestep=1 / n), 2.5).max() for n in (120, 240, 480))
    assert coarse < late(1 / 120) and fine < late(1 / 480)
    assert coarse / middle == pytest.approx(2.0, abs=0.25)
    assert middle / fine == pytest.approx(2.0, abs=0.15)


def test_wanted_rates_are_those_of_the_wanted_motion() -> None:
    """On the path and off it, along the motion of an attitude that follows at once; differences of order h^2."""
    controller, h, rng = demo.LoadFlight().controller, 1e-4, np.random.default_rng(0)
    for t in np.linspace(0.0, 5.0, 7):
        for start in (controller.matched(t), disturbed(controller.matched(t), rng, 0.0)):
            before, now, after = (controller.command(t + dt, obeyed(controller, t, start, dt)) for dt in (-h, 0.0, h))
            turned = Rotation.from_matrix(before.R.T @ after.R).as_rotvec() / (2 * h)
            np.testing.assert_allclose(turned, now.Omega, rtol=1e-5, atol=1e-5)
            np.testing.assert_allclose((after.Omega - before.Omega) / (2 * h), now.dOmega, rtol=1e-4, atol=1e-4)


def obeyed(controller: LoadController, t: float, s: CraftState, h: float) -> CraftState:
    """One Runge-Kutta step of load and rod under the wanted force."""

    def slope(late: float, y: np.ndarray) -> np.ndarray:
        x, v, q, dq = y
        F = controller.command(t + late, CraftState(x, v, q, dq, s.R, s.Omega)).F
        along = (q @ F - CRAFT.mQ * CRAFT.l * dq @ dq) * q / (CRAFT.mQ + CRAFT.mL)
        across = np.cross(q, np.cross(q, F)) / (CRAFT.mQ * CRAFT.l)
        return np.array([v, along - CRAFT.g * demo.E3, dq, across - dq @ dq * q])

    y = np.array([s.x, s.v, s.q, s.dq])
    k1 = slope(0.0, y)
    k2 = slope(h / 2, y + h / 2 * k1)
    k3 = slope(h / 2, y + h / 2 * k2)
    k4 = slope(h, y + h * k3)
    return CraftState(*(y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)), s.R, s.Omega)


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
