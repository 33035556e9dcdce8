"""The coordinate-free equations against Euler and Lagrange in local coordinates.

Here a mechanism is nothing but point masses: where they are follows from the directions, rotations and places, these
from latitudes, longitudes and Euler angles, and d/dt dT/dv - d(T - U)/dtheta = Q is evaluated by differences in 60
digits. No kinetic energy, no angular velocity and no rule of the symbolic derivation enters. What differs is then the
rounding of the compiled equations.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import cycle
from typing import Any

import numpy as np
import pytest
from euler_lagrange import Chart, EulerLagrange, high
from scenes import ABSOLUTE
from scipy.integrate import solve_ivp
from trees import assert_close
from twins import GRAVITY, UP, about, random_frame

from demos.manifolds import pendulums
from recursive_dyn.manifold.motion.motion import Motion

Z = np.array([0.0, 0.0, 1.0])
Masses = list[tuple[Any, np.ndarray]]


@dataclass(frozen=True)
class Mechanism:
    """Point masses and virtual work.

    masses(p, s): (mass, position) of each for parameters p and variables s by name; work(p, s, d, f): work of forces f
    on variations d: those of directions, scalars and places, and the turning (body axes) of rotations.
    """

    masses: Callable[[dict, dict], Masses]
    work: Callable[[dict, dict, dict, dict], Any]


def rigid(mass, center, R, inertia) -> Masses:
    """Six equal masses that have this mass, this centre and, about it in body axes, this inertia."""
    second = np.trace(inertia) / 2 * np.eye(3) - inertia  # sum of m r r^T
    sizes, axes = np.linalg.eigh(second)
    arms = [R @ (np.sqrt(3 * size / mass) * axis) for size, axis in zip(sizes, axes.T, strict=True)]
    return [(mass / 6, center + sign * arm) for arm in arms for sign in (1, -1)]


def on_pivot(p, number, R):
    mass, rho, J = p[f"m{number}"], p[f"rho{number}"], p[f"J{number}"]
    return rigid(mass, R @ rho, R, J - about(mass, rho, np.zeros((3, 3))))


def walker(p, s):
    foot = s.get("x", np.zeros(3))
    hip = foot + p["l"] * s["q1"]
    return [
        (p["m"], foot + p["l"] / 2 * s["q1"]),
        (p["mH"], hip),
        (p["m"], hip + p["l"] / 2 * s["q2"]),
        (p["mT"], hip + p["L"] * s["q3"]),
    ]


def chain(p, s):
    place = s["x"] * p["e1"]
    result = [(p["m0"], place)]
    for i in range(1, len(s)):
        place = place + p[f"l{i}"] * s[f"q{i}"]
        result.append((p[f"m{i}"], place))
    return result


def reaction_mass(p, s):
    hip = s["rho"] * (s["RL"] @ p["e3"])
    own = p["m"] - 2 * (p["m1"] + p["m2"] + p["m3"])
    result = rigid(1.0, np.zeros(3), s["RL"], p["JL"]) + rigid(own, hip, s["RP"], p["JP"])
    for i in (1, 2, 3):
        arm = s[f"s{i}"] * (s["RP"] @ p[f"a{i}"])
        result += [(p[f"m{i}"], hip + arm), (p[f"m{i}"], hip - arm)]
    return result


def reaction_work(p, s, d, f):
    relative = d["RP"] - s["RP"].T @ s["RL"] @ d["RL"]
    return f["tau"] @ relative + f["f"] * d["rho"] + sum(f[f"u{i}"] * d[f"s{i}"] for i in (1, 2, 3))


_walking = Mechanism(walker, lambda p, s, d, f: f["u2"] @ d["q2"] + f["u3"] @ d["q3"])
_chain = Mechanism(chain, lambda p, s, d, f: f["u"] * d["x"])
MECHANISMS = {
    "spherical": Mechanism(lambda p, s: [(p["m"], p["l"] * s["q"])], lambda p, s, d, f: f["tau"] @ d["q"]),
    "three_dimensional": Mechanism(lambda p, s: on_pivot(p, "", s["R"]), lambda p, s, d, f: f["M"] @ d["R"]),
    "double_spherical": Mechanism(
        lambda p, s: [(p["m1"], p["l1"] * s["q1"]), (p["m2"], p["l1"] * s["q1"] + p["l2"] * s["q2"])],
        lambda p, s, d, f: f["tau1"] @ d["q1"] + f["tau2"] @ d["q2"],
    ),
    "double_three_dimensional": Mechanism(
        lambda p, s: (
            on_pivot(p, 1, s["R1"]) + rigid(p["m2"], s["R1"] @ p["lam"] + s["R2"] @ p["rho2"], s["R2"], p["J2"])
        ),
        lambda p, s, d, f: f["M1"] @ d["R1"] + f["M2"] @ d["R2"],
    ),
    "stance": _walking,
    "flight": _walking,
    "quadrotor_with_load": Mechanism(
        lambda p, s: [(p["mL"], s["xL"]), *rigid(p["mQ"], s["xL"] - p["l"] * s["q"], s["R"], p["J"])],
        lambda p, s, d, f: f["M"] @ d["R"] + f["f"] * (s["R"] @ p["e3"]) @ (d["xL"] - p["l"] * d["q"]),
    ),
    "reaction_mass_pendulum": Mechanism(reaction_mass, reaction_work),
} | {f"chain_of_{n}": _chain for n in (1, 2, 3, 6)}
names = pytest.mark.parametrize("name", MECHANISMS)


@cache
def system(name):
    """Compiled equations, parameters that bodies can have, and forces."""
    case = ABSOLUTE[name](np.random.default_rng(8))
    return case.system.derive().compile(), case.parameters, case.forces


def rounded(values):
    return {key: np.array(x, dtype=float) for key, x in values.items()}


def compare(name, up, frames, angles, flat, v):
    """The accelerations and the energy of the compiled equations at one state against those in coordinates.

    angles, flat: the local coordinates of directions and rotations, and of the other variables, drawn from by turns.
    """
    manifold, parameters, forces = system(name)
    parameters = parameters | {"e3": up}
    if "e1" in parameters:  # the cart's axis is level
        parameters["e1"] = np.cross(up, (0.8, 0.6, 0.0))
    manifold.parameters.update(parameters)
    chart = Chart(manifold.variables, frames)
    theta = high(np.where(chart.curved, np.resize(angles, chart.size), np.resize(flat, chart.size)))
    v = high(np.resize(v, chart.size))
    expected = EulerLagrange(MECHANISMS[name], parameters, chart, forces)
    a = expected.acceleration(theta, v)
    positions, rates, accelerations = map(rounded, chart.rates(theta, v, a))
    motion = Motion(manifold)
    for key, x in positions.items():
        motion.place(key, x, rates[key])
    motion.forces.update(forces)
    size = max(np.abs(x).max() for x in accelerations.values())
    for key, x in accelerations.items():
        assert_close(motion.acceleration(key), x, 1e-12, size)  # rounding and the mass matrix's condition
    kinetic, potential = float(expected.kinetic(theta, v)), float(expected.potential(theta))
    assert_close(motion.energy, kinetic + potential, 1e-13, kinetic + abs(potential))
    return motion


@names
@pytest.mark.parametrize("seed", range(3))
def test_accelerations_and_energies_are_those_of_euler_and_lagrange(name, seed):
    rng = np.random.default_rng(seed)
    frames = [random_frame(rng) for _ in system(name)[0].variables]
    compare(name, UP, frames, rng.uniform(-0.8, 0.8, 20), rng.uniform(0.5, 1.5, 20), rng.normal(size=20))


# Frames whose first column is +-e3, which are quarter turns of what rotates, and half a turn.
TOP = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
BOTTOM = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]])
HALF_TURN = np.diag([-1.0, 1.0, -1.0])
POLES = {"top": [TOP], "bottom": [BOTTOM], "alternating": [TOP, BOTTOM], "upright": [np.eye(3)], "over": [HALF_TURN]}


@names
@pytest.mark.parametrize("where", POLES)
def test_at_the_poles_there_is_nothing_special(name, where):
    """Directions exactly along +-e3, where latitude and longitude would end; rotations by quarter and half turns."""
    manifold, *_ = system(name)
    frames = [frame for frame, _ in zip(cycle(POLES[where]), manifold.variables, strict=False)]
    motion = compare(name, Z, frames, [0.0], [0.7, 0.9, 1.1], np.random.default_rng(9).normal(size=20))
    directions = [p.symbol for p in manifold.variables if p.symbol.base.is_unit]
    if where in ("top", "bottom"):
        assert all((motion[q] == (Z if where == "top" else -Z)).all() for q in directions)


def test_a_pendulum_runs_over_both_poles_like_one_in_a_plane():
    """In the plane through e3 the angle phi from the bottom obeys phi'' = -g / l sin(phi)."""
    motion = Motion(pendulums.spherical().derive().compile(), 1e-4)
    motion.parameters.update(m=1.3, g=GRAVITY, l=0.5, e3=Z)
    level = np.array([0.6, 0.8, 0.0])
    motion.place("q", -Z, 12.0 * level)  # from the bottom, fast enough to go over the top several times
    times = np.linspace(0.05, 1.0, 20)
    plane = solve_ivp(
        lambda _, x: [x[1], -GRAVITY / 0.5 * np.sin(x[0])], (0, 1), [0.0, 12.0], "DOP853", times, rtol=1e-13, atol=1e-13
    )
    assert plane.y[0, -1] > 2 * np.pi
    for time, (phi, rate) in zip(times, plane.y.T, strict=True):
        motion.step(round((time - motion.time) / motion.timestep))
        along, outward = -np.cos(phi) * Z + np.sin(phi) * level, np.sin(phi) * Z + np.cos(phi) * level
        assert_close(motion["q"], along, 1e-10, 1.0)
        assert_close(motion.rate("q"), rate * outward, 1e-10, 12.0)


@pytest.mark.parametrize("pole", [Z, -Z], ids=["top", "bottom"])
def test_at_rest_on_a_pole_it_stays(pole):
    motion = Motion(pendulums.double_spherical().derive().compile(), 1e-2)
    motion.parameters.update(m1=1.0, m2=0.7, g=GRAVITY, l1=0.5, l2=0.8, e3=Z)
    motion.place("q1", pole)
    motion.place("q2", pole)
    assert not motion.acceleration("q1").any() and not motion.acceleration("q2").any()
    motion.step(100)
    assert (motion["q1"] == pole).all() and (motion["q2"] == pole).all()
