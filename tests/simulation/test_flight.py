"""Runs of compiled steps: they end before a step beyond a limit, and whatever is raised leaves the state as it was."""

import numpy as np
import pytest
from trees import random_body

import recursive_dyn as rd
from recursive_dyn.codegen.emitting import drivers
from recursive_dyn.integrators.registry import INTEGRATORS
from recursive_dyn.simulation.flying.flight import Flight
from scene import Scene, joints

H = 2e-3
COUNT = 11  # coordinates: more than a register holds


def chain(limits: dict[int, tuple[float, float]]) -> rd.Dynamics:
    """Hinges about changing axes; limits by number."""
    scene, rng = Scene(), np.random.default_rng(1)
    node = scene.world
    for i in range(COUNT):
        joint = joints.revolute("xyz"[i % 3], damping=0.3, limits=limits.get(i))
        node = node.attach(random_body(rng, f"b{i}"), joint, at=rd.pose((0.1, 0.2, -0.4)))
    return scene.compile()


def begin(d: rd.Dynamics) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.zeros(d.nq), np.linspace(2.0, -1.5, d.nv), np.linspace(-3.0, 3.0, d.nv)


def fly(flight, q, v, tau, count, limits):
    """All of the steps, or as many as there are before a limit; (steps, stopped)."""
    done, stopped = 0, False
    while done < count and not stopped:
        steps, stopped = flight.advance(q, v, tau, H, count - done, 0.0, limits)
        done += steps
    return done, stopped


@pytest.mark.parametrize("limited", [0, 8, COUNT - 1])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_run_ends_before_the_step_that_would_pass_a_limit(integrator, limited):
    free = chain({})
    flight = Flight(free, integrator)
    q, v, tau = begin(free)
    way = []
    for _ in range(150):
        fly(flight, q, v, tau, 1, False)
        way.append((q.copy(), v.copy()))
    place = np.array([q[limited] for q, _ in way])
    for low, high in ((-np.inf, np.sort(place)[-20]), (np.sort(place)[20], np.inf)):
        outside = int(np.argmax((place < low) | (place > high)))  # the first step that would end there
        flight = Flight(chain({limited: (low, high)}), integrator)
        q, v, tau = begin(free)
        if low > 0.0 or high < 0.0:
            continue  # it begins beyond
        assert fly(flight, q, v, tau, 150, True) == (outside, True)
        expected = way[outside - 1] if outside else begin(free)[:2]
        np.testing.assert_array_equal(q, expected[0])
        np.testing.assert_array_equal(v, expected[1])
        assert fly(flight, q, v, tau, 5, True) == (0, True), "and there it stays"
        assert fly(flight, q, v, tau, 150 - outside, False) == (150 - outside, False)
        np.testing.assert_array_equal(q, way[-1][0])
        np.testing.assert_array_equal(v, way[-1][1])


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_at_a_limit_is_within_and_beyond_is_not(integrator):
    """A coordinate that stands still on its limit is not stopped; one that comes back from beyond it is, until it is
    back."""
    d = chain({4: (-0.5, 0.25)})
    flight = Flight(d, integrator)
    tau = np.zeros(d.nv)
    at = 0.25 - (1e-15 if integrator == "variational_midpoint" else 0.0)  # the rounding of its momenta, times a step
    for start, speed, stopped in ((at, 0.0, False), (0.25, 1.0, True), (0.3, -1.0, True), (0.2505, -2.0, False)):
        q, v = np.zeros(d.nq), np.zeros(d.nv)
        q[4], v[4] = start, speed
        tau[:] = d.inverse_dynamics(q, v, tau * 0.0) - d.passive_forces(q, v)  # no acceleration
        assert fly(flight, q, v, tau, 1, True) == (0 if stopped else 1, stopped)
        assert q[4] == pytest.approx(start if stopped else start + H * speed, abs=1e-6)


def test_a_run_whose_sweeps_are_many_ends_early_and_goes_on():
    """The implicit midpoint rule takes as many steps at a time as four sweeps each allow, or more if they are fewer."""
    d = chain({})
    one, other = (Flight(d, "implicit_midpoint") for _ in range(2))
    q, v, tau = begin(d)
    h, v = 35 * H, 2.0 * v  # some five sweeps a step
    ends = [(q.copy(), v.copy()) for _ in range(2)]
    one._loop._spell = other._loop._spell = 1000
    counts = []
    while sum(counts) < 40:
        counts.append(one.advance(*ends[0], tau, h, 40 - sum(counts), 0.0, False)[0])
    assert sum(counts) == 40 and len(counts) > 1 and min(counts) > 0
    for _ in range(40):
        other.advance(*ends[1], tau, h, 1, 0.0, False)
    np.testing.assert_array_equal(ends[0][0], ends[1][0])
    np.testing.assert_array_equal(ends[0][1], ends[1][1])


@pytest.mark.parametrize("runs", range(1, 8))
def test_an_interrupt_among_the_halves_of_a_step_leaves_the_state(runs, monkeypatch):
    """A midpoint step that does not converge is halved, and halved again: nothing of that shows before it is done."""
    d = chain({})
    flight = Flight(d, "implicit_midpoint")
    q, v, tau = begin(d)
    before, made, run = (q.copy(), v.copy()), [], flight._loop.run

    def failing(h, *arguments):
        made.append(h)
        if len(made) == runs:
            raise KeyboardInterrupt
        told = run(h, *arguments)
        return (0, drivers.NOT_CONVERGED) if h > H / 5 else told

    monkeypatch.setattr(flight._loop, "run", failing)
    with pytest.raises(KeyboardInterrupt):
        flight.advance(q, v, tau, H, 1, 0.0, False)
    assert len(made) == runs
    np.testing.assert_array_equal(q, before[0])
    np.testing.assert_array_equal(v, before[1])
