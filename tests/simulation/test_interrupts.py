"""Ctrl-C: a KeyboardInterrupt within a tenth of a second, wherever it comes, and the state of a finished step."""

import signal
import threading
from contextlib import nullcontext
from functools import partial
from time import sleep

import numpy as np
import pytest
import sympy as sp
from interrupting import interrupted

import recursive_dyn as rd
from recursive_dyn.contact.contacts import Contacts
from recursive_dyn.simulation.interrupts import Held
from scene import Body, Scene, joints

INTEGRATORS = ["semi_implicit_euler", "rk4", "implicit_midpoint"]
H = 1 / 240

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer that interrupts")


def pendulum(integrator: str, **settings) -> rd.Simulation:
    scene = Scene()
    body = Body("arm", mass=1.0, center_of_mass=(0, 0, -1.0), inertia=np.eye(3) * 0.1)
    scene.world.attach(body, joints.revolute("y", **settings))
    sim = rd.Simulation(scene.compile(), H, integrator)
    sim.q = [1.0]
    return sim


def held_by_a_rod(integrator: str) -> rd.Simulation:
    """The bob of a pendulum on two sliders."""
    scene = Scene()
    bob = Body("bob", mass=1.0, center_of_mass=(0, 0, 0), inertia=np.eye(3))
    scene.world.attach(bob, joints.prismatic("x") @ joints.prismatic("z"))
    scene.constrain(sp.sqrt(bob.position.dot(bob.position)) - 1.0, name="rod")
    sim = rd.Simulation(scene.compile(), H, integrator)
    sim.q = [0.6, -0.8]
    return sim


SIMULATIONS = {
    **{integrator: (pendulum, integrator) for integrator in INTEGRATORS},
    "constrained": (held_by_a_rod, "rk4"),
    "against its stop": (partial(pendulum, limits=(-0.2, 2.0)), "implicit_midpoint"),
}


def finished(sim: rd.Simulation, start: rd.Simulation) -> int:
    """The number of steps that a simulation has made since ``start``; fails unless its state is that of them."""
    steps = round(sim.time / H)
    assert sim.time == pytest.approx(steps * H, rel=1e-9)
    start.step(steps - round(start.time / H))
    np.testing.assert_array_equal(sim.q, start.q)
    np.testing.assert_array_equal(sim.v, start.v)
    return steps


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_long_call_is_interrupted_soon_and_between_steps(integrator):
    sim, other = pendulum(integrator), pendulum(integrator)
    sim.step(1000)  # how fast steps are is known then
    late = []
    for _ in range(3):  # a busy machine may keep any one of them waiting
        late.append(interrupted(0.2, lambda: sim.step(100_000_000)))
        assert finished(sim, other) > 10_000
    assert min(late) < 0.1
    sim.step(10)
    assert finished(sim, other)


@pytest.mark.parametrize("kind", SIMULATIONS)
def test_wherever_an_interrupt_falls_the_state_is_that_of_a_finished_step(kind):
    make, integrator = SIMULATIONS[kind]
    sim, other, rng = make(integrator), make(integrator), np.random.default_rng(0)
    sim.step(200)  # all that is needed is compiled then
    counts, stopped = rng.integers(1, 4, 10_000).tolist(), set()

    def steps() -> None:
        for count in counts:
            sim.step(count)

    for _ in range(150):
        interrupted(rng.uniform(2e-5, 2e-3), steps)
        stopped.add(finished(sim, other))
    assert len(stopped) > 50


def test_threads_that_are_not_interrupted_finish():
    """An interrupt is the main thread's; a run in another one goes on."""
    sim, other = pendulum("rk4"), pendulum("rk4")
    sim.step(1000)
    thread = threading.Thread(target=lambda: sim.step(1_000_000))
    thread.start()
    interrupted(0.05, lambda: sleep(1.0))
    thread.join()
    assert finished(sim, other) == 1_001_000


def test_contexts_that_hold_interrupts_nest():
    """What is held waits for the outermost context, or for where that is opened; ``serve`` takes what waits there."""
    for opened, taken in ((True, ["held"]), (False, ["held", "served", "inner", "outer"])):
        seen: list[str] = []
        with pytest.raises(KeyboardInterrupt), Held() as outer, outer.opened() if opened else nullcontext():
            with Held() as inner:
                signal.raise_signal(signal.SIGINT)
                seen.append("held")
                inner.serve()
                seen.append("served")
            seen.append("inner")
            with Held(), Held():
                pass
            seen.append("outer")
        assert seen == taken
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_inner_context_opens_what_the_outer_one_opened():
    with pytest.raises(KeyboardInterrupt), Held() as outer, outer.opened(), Held() as inner, inner.opened():
        signal.raise_signal(signal.SIGINT)
        pytest.fail("it was open")
    with pytest.raises(KeyboardInterrupt), Held(), Held() as inner, inner.opened():
        signal.raise_signal(signal.SIGINT)
        waited = True
    assert waited


def test_a_call_of_many_steps_among_surroundings_ends_after_a_whole_step():
    """Interrupts come from the detector, in the middle of a step."""
    sim = pendulum("rk4")
    asked: list[float] = []

    def detector(simulation: rd.Simulation) -> Contacts:
        asked.append(simulation.time)
        if len(asked) == 3:
            signal.raise_signal(signal.SIGINT)
        return Contacts.none()

    sim.detect = detector
    with pytest.raises(KeyboardInterrupt):
        sim.step(10)
    assert len(asked) == 3 and sim.time == pytest.approx(3 * H)
