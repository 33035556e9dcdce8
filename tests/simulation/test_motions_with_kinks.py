"""Prescribed motions whose rate jumps: what hangs on them keeps its momenta; recordings lead as what they are of."""

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

import recursive_dyn as rd
from recursive_dyn.integrators.registry import INTEGRATORS
from scene import Body, Scene, joints

INERTIA, LENGTH, CENTER, G = 0.02, 0.5, 0.25, 9.81


def crank_and_rod(h: float, integrator: str) -> rd.Simulation:
    """A crank of 0.5 m about y with a rod of 1 kg hung on its end."""
    scene = Scene(gravity=(0, 0, -G))
    at, inertia = (0, 0, -CENTER), INERTIA * np.eye(3)
    crank, rod = (Body(name, mass=1.0, inertia=inertia, center_of_mass=at) for name in ("crank", "rod"))
    scene.world.attach(crank, joints.revolute("y"))
    crank.attach(rod, joints.revolute("y"), at=rd.pose((0, 0, -LENGTH)))
    return rd.Simulation(scene.compile(), h, integrator)


def struck(start: float, end: float, rate: float = 1.0) -> tuple[float, float]:
    """Angle and rate of the rod against a crank that turns at once from a time on: its moment about its end stays."""
    J = INERTIA + CENTER**2

    def turning(t, y):
        crank = rate * (t - start)
        return [y[1], -(LENGTH * CENTER * np.sin(y[0] - crank) * rate**2 + G * CENTER * np.sin(y[0])) / J]

    found = solve_ivp(turning, (start, end), [0.0, -LENGTH * CENTER * rate / J], rtol=1e-11, atol=1e-12).y[:, -1]
    return found[0] - rate * (end - start), found[1] - rate


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("kink", [0.05, 0.0512], ids=["at a step's end", "within one"])
def test_what_hangs_on_a_function_that_kinks_is_struck(integrator, kink):
    sim = crank_and_rod(1 / 240, integrator)
    sim.prescribe("crank.angle", lambda t: max(0.0, t - kink))
    sim.step(48)
    share = 1e-2 if integrator == "semi_implicit_euler" else 3e-4  # which is of first order
    np.testing.assert_allclose((sim.q[1], sim.v[1]), struck(kink, 0.2), rtol=share)


@pytest.mark.parametrize("integrator", [name for name, rule in INTEGRATORS.items() if not rule.kinks])
@pytest.mark.parametrize("written", ["Max", "Piecewise"])
def test_so_is_what_hangs_on_an_expression_to_first_order(integrator, written):
    """It is struck as the step begins in which it kinks."""
    time, errors = Scene().time, []
    for h in (1 / 240, 1 / 960):
        sim = crank_and_rod(h, integrator)
        kinks = {"Max": sp.Max(0, time - 0.0512), "Piecewise": sp.Piecewise((0, time < 0.0512), (time - 0.0512, True))}
        sim.prescribe("crank.angle", kinks[written])
        sim.step(round(0.2 / h))
        errors.append(abs(sim.v[1] - struck(0.0512, 0.2)[1]))
    assert errors[0] < 2e-2 and errors[1] < 8e-3


@pytest.mark.parametrize("rate", [30, 100, 240, 1000])
@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
def test_a_recording_leads_as_what_was_recorded(rate, h):
    """Played back by lines between samples, whose kinks lie anywhere in a step."""
    times = np.arange(rate + 1) / rate
    samples, found = 0.5 * np.sin(7.0 * times), []
    for motion in (lambda t: 0.5 * np.sin(7.0 * t), lambda t: float(np.interp(t, times, samples))):
        sim = crank_and_rod(h, "linearly_implicit_rk4")
        sim.prescribe("crank.angle", motion)
        sim.step(round(0.5 / h))
        found.append((sim.q[1], sim.v[1]))
    np.testing.assert_allclose(found[1], found[0], rtol=0.01 + 1.0 / rate)


def test_a_state_that_is_set_is_not_struck():
    """The rod's rate is what it was set to, whatever the crank's was."""
    sim = crank_and_rod(1 / 240, "linearly_implicit_rk4")
    sim.prescribe("crank.angle", lambda t: 0.3 * np.sin(5.0 * t))
    sim.step(10)
    sim.v[:2] = 0.0, 0.7
    sim.step()
    assert abs(sim.v[1] - 0.7) < 0.2
