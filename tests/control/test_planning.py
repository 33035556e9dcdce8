"""Planned motions are the least: of linear systems at once, within limits by Kuhn and Tucker's conditions; kept to."""

from functools import cache

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import assert_close

import recursive_dyn as rd
from recursive_dyn import control
from recursive_dyn.control.optimal.box_qp import least_in_box
from scene import Body, Scene, joints

ROD = {"mass": 1.0, "center_of_mass": (0, 0, 0.5), "inertia": np.diag([0.1, 0.1, 0.01])}
STEP = 1 / 50


@cache
def carts():
    """Two carts, the first held by a spring and a damper, the second on the first: a linear system."""
    scene = Scene()
    first = scene.world.attach(Body("first", **ROD), joints.prismatic("x", stiffness=3.0, damping=0.4))
    first.attach(Body("second", **ROD), joints.prismatic("x"))
    return scene.compile()


@cache
def pendulum():
    """Upright at q = 0; its weight pulls with 4.9 N m at most."""
    scene = Scene()
    scene.world.attach(Body("rod", **ROD), joints.revolute("y"))
    return scene.compile()


@cache
def spacecraft():
    """A lopsided body that turns, with a hinge."""
    scene = Scene(gravity=(0, 0, 0))
    hull = scene.world.attach(Body("hull", mass=1.0, inertia=np.diag([0.1, 0.2, 0.25])), joints.ball())
    hull.attach(Body("wing", **ROD), joints.revolute("x"), at=rd.pose((0, 0, 0.2)))
    return scene.compile()


@cache
def bead():
    """A bead on a wave, a joint of one's own."""
    scene, s = Scene(), sp.Symbol("s", real=True)
    scene.world.attach(Body("bead", mass=1.0, inertia=np.eye(3) * 0.01), joints.curve([s, 0, sp.cos(2 * s) / 2], s))
    return scene.compile()


@cache
def four_bar():
    scene = Scene()
    crank = scene.world.attach(Body("crank", **ROD), joints.revolute("y"))
    rod = crank.attach(Body("rod", **ROD), joints.revolute("y"), at=rd.pose((0, 0, 1)))
    rocker = scene.world.attach(Body("rocker", **ROD), joints.revolute("y"), at=rd.pose((0.8, 0, 0)))
    scene.constrain([rod.point((0, 0, 1))[i] - rocker.point((0, 0, 1))[i] for i in (0, 2)], name="pin")
    return scene.compile()


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 6), width=st.floats(0.0, 3.0))
def test_the_least_point_in_a_box_meets_kuhn_and_tucker(seed, n, width):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    H, g = root @ root.T + 0.01 * np.eye(n), rng.normal(size=n) * 3
    low = rng.normal(size=n) - width
    high = low + 2 * width * rng.random(n)
    x, free = least_in_box(H, g, low, high, rng.normal(size=n))
    slope = H @ x + g
    assert ((low <= x) & (x <= high)).all()
    tolerance = 1e-9 * (np.abs(H).max() * np.abs(x).max() + np.abs(g).max())
    assert (np.abs(slope[free]) <= tolerance).all()
    assert (slope[(x == low) & ~free & (low < high)] > -tolerance).all()
    assert (slope[(x == high) & ~free & (low < high)] < tolerance).all()


def test_a_linear_system_is_solved_at_once_by_riccatis_law():
    d = carts()
    planner = control.ILQR(d, [0.5, 0.2], timestep=STEP)
    plan = planner.solve([0.0, 0.0], [1.0, -2.0], steps=60, tau=np.zeros(2))
    law = planner.regulator
    assert plan.converged and len(plan.costs) == 2
    assert plan.cost == pytest.approx(law.cost_to_go(plan.q[0], plan.v[0]), rel=1e-9)
    assert_close(plan.gains, np.broadcast_to(law.K, plan.gains.shape), 1e-8)
    for q, v, tau in zip(plan.q, plan.v, plan.tau, strict=False):
        assert_close(tau, law(q, v), 1e-7, scale=np.abs(plan.tau).max())


def dense(planner, q, v, steps):
    """The slopes of the cost by forces (N, n): of sums over all steps at once, from a step's A and B."""
    d, n = planner.dynamics, len(planner.drives.slots)
    A, B = d.linearize(d.neutral(), np.zeros(d.nv), timestep=STEP)
    B = B[:, planner.drives.slots]
    powers = [np.eye(2 * d.nv)]
    for _ in range(steps):
        powers.append(A @ powers[-1])

    def slopes(plan):
        result = np.zeros((steps, n))
        x = np.hstack([plan.q, plan.v])
        for i in range(steps):
            result[i] = 2 * planner.R @ plan.tau[i, planner.drives.slots]
            for j in range(i + 1, steps + 1):
                weight = plan.final if j == steps else planner.Q
                result[i] += 2 * B.T @ powers[j - i - 1].T @ weight @ x[j]
        return result

    return slopes


@pytest.mark.parametrize("limit", [np.inf, 1.5, 1.0])
def test_limits_hold_by_kuhn_and_tucker(limit):
    d, steps = carts(), 30
    planner = control.ILQR(d, [0, 0], timestep=STEP, tau=np.zeros(2), Q=[1, 2, 0, 0.1], R=0.01, final=50.0,
                           limits=limit, actuated=["second.distance"] if limit == 1.0 else None)  # fmt: skip
    plan = planner.solve([0.6, -0.3], [0.5, 0.0], steps=steps)
    assert plan.converged
    slopes, tau = dense(planner, plan.q[0], plan.v[0], steps)(plan), plan.tau[:, planner.drives.slots]
    scale = np.abs(2 * tau @ planner.R).max() + np.abs(slopes).max()
    low, high = tau <= -limit, tau >= limit
    assert np.abs(slopes[~low & ~high]).max() < 1e-4 * scale  # the root of the saving that counts as none
    assert (slopes[low] > 0).all() and (slopes[high] < 0).all()
    assert (low | high).any() == (limit < np.inf)
    assert np.abs(plan.tau).max() <= limit
    assert not plan.gains[:, planner.drives.slots][low | high].any()


def cost(planner, plan, tau):
    """Of forces, by simulation."""
    d = planner.dynamics
    sim, total = rd.Simulation(d, planner.timestep), 0.0
    sim.q, sim.v = plan.q[0], plan.v[0]
    goal = planner.regulator
    for one in tau:
        x, u = goal.deviation(sim.q, sim.v), (one - goal.tau)[planner.drives.slots]
        total += x @ planner.Q @ x + u @ planner.R @ u
        sim.tau = one
        sim.step()
    x = goal.deviation(sim.q, sim.v)
    return total + x @ plan.final @ x


PLANS = {
    "pendulum": (pendulum, lambda d: ([0.0], [np.pi]), 200, {"limits": 2.5, "frequency": 0.5}),
    "spacecraft": (spacecraft, lambda d: (d.neutral(), d.integrate(d.neutral(), [1.5, 1.0, -0.8, 0.5], 1)), 100,
                   {"limits": 5.0}),
    "bead": (bead, lambda d: ([np.pi], [0.0]), 150, {"limits": 4.0}),
    "four-bar": (four_bar, lambda d: (d.project([-0.3, 1.5, 0.0])[0], d.project([0.6, 1.0, 0.5])[0]), 80,
                 {"actuated": ["crank.angle"]}),
}  # fmt: skip


@cache
def planned(case):
    make, states, steps, settings_ = PLANS[case]
    d = make()
    goal, start = states(d)
    planner = control.ILQR(d, goal, timestep=STEP, **settings_)
    return planner, planner.solve(start, steps=steps, iterations=150)


@pytest.mark.parametrize("case", PLANS)
def test_motions_reach_their_goals_at_falling_cost(case):
    """A pendulum swings up with less than its weight; a body turns by two radians; a bead crosses a hill."""
    planner, plan = planned(case)
    law = planner.regulator
    assert (np.diff(plan.costs) < 0).all()
    assert np.abs(law.deviation(plan.q[-1], plan.v[-1])).max() < 0.1
    assert plan.cost == pytest.approx(cost(planner, plan, plan.tau), rel=1e-9)
    sim = rd.Simulation(planner.dynamics, STEP)
    sim.q, sim.v, sim.control = plan.q[0], plan.v[0], plan.tracker()
    sim.step(len(plan.tau))
    assert_close(sim.q, plan.q[-1], 1e-6)
    sim.step(600)
    assert_close(law.deviation(sim.q, sim.v), np.zeros(2 * sim.v.size), 1e-6, scale=1.0)


@pytest.mark.parametrize("case", ["pendulum", "spacecraft"])
def test_no_force_could_be_changed_to_advantage(case):
    """Differences of the simulated cost: none where a force is free, uphill where it is at its limit.

    They are small, as a pendulum that balances multiplies what the first forces change by ten thousand.
    """
    planner, plan = planned(case)
    limit, slots = planner.drives.highs[0], planner.drives.slots
    slopes = []
    for i in range(0, len(plan.tau), 7):
        ends = []
        for sign in (1, -1):
            tau = plan.tau.copy()
            tau[i, slots[-1]] += sign * 1e-6
            ends.append(cost(planner, plan, tau))
        slopes.append((ends[0] - ends[1]) / 2e-6)
        force = plan.tau[i, slots[-1]]
        bound = np.sign(force) if abs(force) >= limit else 0
        assert bound * slopes[-1] <= 0 if bound else abs(slopes[-1]) < 1e-3 * plan.cost
    assert plan.converged


@pytest.mark.parametrize(("lower", "seconds", "frequency"), [(1.0, 3.0, 0.3), (2.0, 3.0, 0.5)])
def test_an_acrobot_swings_up_by_its_elbow(lower, seconds, frequency):
    """Slender rods of 1 kg, the upper of 1 m: the regulator of the goal cannot, and its cost to go misjudges it."""
    scene, h = Scene(), 1 / 60

    def rod(name, length):
        inertia = np.diag([length**2 / 12, length**2 / 12, 1e-3])
        return Body(name, mass=1.0, center_of_mass=(0, 0, length / 2), inertia=inertia)

    upper = scene.world.attach(rod("upper", 1.0), joints.revolute("y"))
    upper.attach(rod("lower", lower), joints.revolute("y"), at=rd.pose((0, 0, 1.0)))
    d = scene.compile()
    planner = control.ILQR(d, [0, 0], timestep=h, actuated=["lower.angle"], limits=15.0, frequency=frequency)
    plan = planner.solve([np.pi, 0.0], steps=round(seconds / h), iterations=30)
    assert (np.diff(plan.costs) < 0).all() and np.abs(plan.tau).max() <= 15.0 and not plan.tau[:, 0].any()
    assert np.abs(planner.regulator.deviation(plan.q[-1], plan.v[-1])).max() < 0.3
    sim = rd.Simulation(d, h)  # which halves steps of such a swing
    sim.q, sim.control = plan.q[0] + 0.01, plan.tracker()
    sim.step(len(plan.tau) + 600)
    assert np.abs(d.difference([0.0, 0.0], sim.q)).max() < 1e-6


def test_the_tracker_forgives_what_the_forces_alone_do_not():
    planner, plan = planned("pendulum")
    ends = []
    for law in (plan.tracker(), lambda q, v, t: plan.tau[min(round(t / STEP), len(plan.tau) - 1)]):
        sim = rd.Simulation(planner.dynamics, STEP)
        sim.q, sim.v, sim.control = plan.q[0] + 0.01, plan.v[0] - 0.03, law
        sim.step(len(plan.tau) + 300)
        ends.append(np.abs(sim.q).max())
    assert ends[0] < 1e-6 and ends[1] > 0.1


def test_along_an_equilibrium_the_law_does_not_change():
    d = spacecraft()
    law = control.LQR(d, d.neutral(), timestep=STEP)
    steps = 20
    along = control.TimeVaryingLQR(d, law.q, law.v, np.zeros((steps, d.nv)), STEP, final=law, start=1.0)
    assert_close(along.K, np.broadcast_to(law.K, along.K.shape), 1e-8)
    assert_close(along.S, np.broadcast_to(law.S, along.S.shape), 1e-8)
    q, v = d.integrate(law.q, [0.3, 0.1, -0.2, 0.4], 1), np.ones(d.nv)
    for time in (0.0, 1.0 + 3.5 * STEP, along.end, 100.0):
        assert_close(along(q, v, time), law(q, v), 1e-8)


def test_a_path_is_followed_step_by_step():
    """Of a goal in rows: a spin that the start does not have is caught up with."""
    d, steps = spacecraft(), 80
    rate = np.array([0.0, 0.0, 0.8, 0.0])
    path = np.array([d.integrate(d.neutral(), rate, STEP * i) for i in range(steps + 1)])
    planner = control.ILQR(d, path, rate, timestep=STEP, frequency=2.0)
    plan = planner.solve(d.neutral(), steps=steps)
    assert plan.converged and planner.regulator is None
    assert np.abs(d.difference(path[-1], plan.q[-1])).max() < 0.02
    assert np.abs(plan.v[steps // 2 :] - rate).max() < 0.1


def ilqr(**given):
    return control.ILQR(pendulum(), **{"q": [0.0], "timestep": STEP, **given})


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: ilqr(timestep=0.0), rd.StateError, "timestep must be a positive number"),
        (lambda: ilqr(q=[0.0, 1.0]), rd.StateError, r"q must be real numbers, \(1,\) or \(steps, 1\)"),
        (lambda: ilqr(q=[np.nan]), rd.StateError, "q is not finite in row 0"),
        (lambda: ilqr(final=-1.0), rd.StateError, "final must be at least zero"),
        (lambda: ilqr(final=control.LQR(carts(), [0, 0])), rd.StateError, "of another scene"),
        (lambda: ilqr(actuated=["motor"]), rd.ModelError, "unknown velocity coordinate 'motor'"),
        (lambda: ilqr(integrator="euler").solve([1.0]), rd.StateError, "unknown integrator 'euler'"),
        (lambda: ilqr().solve([1.0], steps=0), rd.StateError, "one step or more"),
        (lambda: ilqr().solve([1.0], steps=2.5), rd.StateError, "whole number"),
        (lambda: ilqr().solve([1.0], [1.0, 2.0]), rd.StateError, "'v' has shape"),
        (lambda: ilqr().solve([1.0], steps=10, tau=np.zeros((9, 1))), rd.StateError, "tau has 9 rows, but .*10"),
        (lambda: ilqr(q=np.zeros((5, 1))).solve([1.0], steps=10), rd.StateError, "q of the goal has 5 rows"),
        (lambda: control.ILQR(Scene(), [0.0], timestep=STEP), rd.StateError, "compiled dynamics"),
        (lambda: control.TimeVaryingLQR(pendulum(), np.zeros((3, 1)), [0], [[0.0]], STEP), rd.StateError, "q has 3"),
    ],
)  # fmt: skip
def test_bad_input_is_told(make, error, message):
    with pytest.raises(error, match=message):
        make()
