"""A step that is refused leaves all as it was: numbers, what a snapshot tells, and every bit of what follows."""

import numpy as np
import pytest
import sympy as sp

import recursive_dyn as rd
from scene import Body, Scene, joints


def body(name: str) -> Body:
    return Body(name, mass=1.0, center_of_mass=(0.03, -0.02, 0.05), inertia=np.diag([0.02, 0.025, 0.03]))


def linkage() -> Scene:
    """Three hinges and a rod."""
    scene = Scene()
    first = scene.world.attach(body("first"), joints.revolute("y"))
    second = first.attach(body("second"), joints.revolute("y"), at=rd.pose((0.4, 0, 0)))
    third = scene.world.attach(body("third"), joints.revolute("y"), at=rd.pose((0.4, 0, -0.4)))
    scene.distance(second, third, 0.5, point_a=(0.2, 0, 0), point_b=(0.2, 0, 0))
    return scene


def tumbling() -> Scene:
    scene = Scene()
    base = scene.world.attach(body("base"), joints.free())
    base.attach(body("arm"), joints.revolute("y", damping=0.1), at=rd.pose((0.3, 0, 0)))
    return scene


def led() -> Scene:
    """A slider that is prescribed, and a pendulum on it."""
    scene = Scene()
    cart = scene.world.attach(body("cart"), joints.prismatic("x"))
    cart.attach(body("bob"), joints.revolute("y"), at=rd.pose((0.1, 0, 0)))
    return scene


CASES = {
    "constrained": (linkage, "linearly_implicit_rk4", "recursive"),
    "variational": (tumbling, "variational_midpoint", "recursive"),
    "between free bodies": (linkage, None, "velocity_constraints"),
    "led": (led, "linearly_implicit_rk4", "recursive"),
}

_USUAL = "constrained", "variational"


def running(case: str) -> rd.Simulation:
    make, integrator, method = CASES[case]
    scene = make()
    simulation = rd.Simulation(scene.compile(method=method), 1 / 60, integrator)
    if make is led:
        simulation.prescribe("cart.distance", 0.1 * sp.sin(3 * scene.time))
    if make is tumbling:
        simulation.v = np.linspace(0.5, -0.5, simulation.dynamics.nv)
    simulation.step(10)
    return simulation


def told(simulation: rd.Simulation) -> list:
    multipliers = simulation.multipliers if simulation.dynamics.constraints else None
    return [
        simulation.q.tobytes(), simulation.v.tobytes(), simulation.tau.tobytes(), simulation.time,
        simulation.snapshot_bytes(), repr(multipliers), simulation.report.rates_met, simulation.report.gaps_closed,
    ]  # fmt: skip


def pull_absurdly(simulation: rd.Simulation) -> None:
    simulation.tau[1] = 1e305


def fail_to_command(simulation: rd.Simulation) -> None:
    """At a later stage, where the rule has more than one."""
    begun, staged = simulation.time, simulation.integrator != "semi_implicit_euler"

    def control(q: np.ndarray, v: np.ndarray, time: float) -> np.ndarray:
        if time > begun or not staged:
            raise rd.StateError("no answer")
        return np.full(len(v), 0.1)

    simulation.control = control


@pytest.mark.parametrize("written", [False, True])
@pytest.mark.parametrize("refuse", [pull_absurdly, fail_to_command])
@pytest.mark.parametrize("case", [c if c in _USUAL else pytest.param(c, marks=pytest.mark.slow) for c in CASES])
def test_all_is_as_before(case, refuse, written):
    """written: velocities that constraints do not allow, and what the first rule to see them makes of these."""
    simulation, twin = running(case), running(case)
    if written:
        simulation.v[1] += 0.3
        twin.v[1] += 0.3
    tau = simulation.tau.copy()
    refuse(simulation)
    before = told(simulation)
    with pytest.raises(rd.StateError):
        simulation.step()
    assert told(simulation) == before
    simulation.control = None
    simulation.tau = tau
    simulation.step(3), twin.step(3)
    np.testing.assert_array_equal(simulation.q, twin.q)
    np.testing.assert_array_equal(simulation.v, twin.v)
