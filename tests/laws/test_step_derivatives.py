"""Derivatives of timesteps and of Jacobians against the complex step, for every joint, to 1e-10.

Each integrator's rule is written once more over complex numbers, from the rates or the sweep that it is made of.
"""

import complex_step
import numpy as np
import pytest
import sympy as sp
from chart_cases import bead
from constraint_cases import bound, driven
from forest_cases import grove
from joint_cases import MOVING
from trees import assert_close, mechanism, random_body, random_scene, single

from recursive_dyn.dynamics.derivatives.tangents import velocities_of
from recursive_dyn.integrators.watched_loop import OWN, REACH, WEIGHTS
from scene import Body, Scene, joints

INTEGRATORS = ("semi_implicit_euler", "rk4", "implicit_midpoint", "linearly_implicit_rk4", "variational_midpoint")
H, SHORT, EXACT = 0.01, 1e-3, 1e-10  # s; short for springs and dampers, which are halved beyond it
QUICK = ("ball", "free", "ellipsoid_on_ellipsoid", "gibbs_six", "helix", "telescope")


def semi_implicit_euler(d, x, run):
    return run("step", x)


def runge_kutta(d, x, run):
    nq, h = d.nq, x["dt"]
    start = np.concatenate([x["q"], x["v"]], axis=1)

    def rates(state):
        return run("rates", x | {"q": state[:, :nq], "v": state[:, nq:]})

    k1 = rates(start)
    k2 = rates(start + h / 2 * k1)
    k3 = rates(start + h / 2 * k2)
    k4 = rates(start + h * k3)
    end = start + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    for first, last in d.model.units:
        end[:, first:last] /= np.sqrt((end[:, first:last] ** 2).sum(axis=1, keepdims=True))
    return end


def midpoint(d, x, run, sweep="midpoint"):
    middle, at = x["v"], d.nq + d.nv
    for _ in range(60):
        found, before = run(sweep, x | {"v_middle": middle}), middle
        middle = found[:, at : at + d.nv]
        change = np.abs((middle - before).real).max(), np.abs((middle - before).imag).max() / complex_step.STEP
        if max(change) < 1e-13 * np.abs(middle).max():
            break
    return found


def linearly_implicit(d, x, run):
    nq, end, h = d.nq, d.nq + d.nv, x["dt"]
    start = np.concatenate([x["q"], x["v"]], axis=1)
    stages, state, way = [], start, 0.0
    for reach, weight, row in zip((*REACH, 0.0), WEIGHTS, OWN.before, strict=True):
        before = sum((h * g * k for g, k in zip(row, stages, strict=False)), np.zeros((len(h), end + d.nv)))
        given = {"q": state[:, :nq], "v": state[:, nq:], "a_before": before[:, nq:end], "v_before": before[:, end:]}
        given |= {**dict.fromkeys(("dt", "ahead"), OWN.gamma * h), "whole": h}
        stages.append(run("stage", x | given)[:, : end + d.nv])
        way, state = way + weight / 6 * stages[-1][:, :end], start + reach * h * stages[-1][:, :end]
    result = start + h * way
    for first, last in d.model.units:
        result[:, first:last] /= np.sqrt((result[:, first:last] ** 2).sum(axis=1, keepdims=True))
    return result


def variational(d, x, run):
    return midpoint(d, x, run, "variational")


RULES = dict(
    zip(INTEGRATORS, (semi_implicit_euler, runge_kutta, midpoint, linearly_implicit, variational), strict=True)
)


def expected(d, integrator, q, v, tau, h):
    """(2 nv, 3 nv + 1 + parameters): by q, v, tau, dt and the parameters."""
    given = {"q": q, "v": v, "tau": tau, "dt": np.array([h]), "parameters": d.parameters.values_array}
    moved = {name: value + 1j * complex_step.STEP * np.eye(len(value)) for name, value in given.items()}
    x = complex_step.apart(given, moved | {"q": complex_step.moved_configurations(d, q)})
    end = RULES[integrator](d, x, lambda f, inputs: complex_step.run(d.program(f), inputs))
    for _ in range(6 if d.model.constraints else 0):
        state = {"q": end[:, : d.nq], "v": end[:, d.nq : d.nq + d.nv], "parameters": x["parameters"]}
        end = complex_step.run(d.program("project"), state)
    rates = end.imag / complex_step.STEP
    ways = velocities_of(d.model, end[0, : d.nq].real, rates[:, : d.nq])
    return np.concatenate([ways, rates[:, d.nq : d.nq + d.nv]], axis=1).T


def check(d, q, v, integrators=INTEGRATORS, tolerance=EXACT, h=H):
    """Of steps that are not halved."""
    tau = np.random.default_rng(5).normal(size=d.nv)
    for integrator in integrators:
        found = d.derivatives("step", q, v, tau, h, parameters=bool(d.parameters), integrator=integrator)
        assert_close(np.concatenate(found, axis=1), expected(d, integrator, q, v, tau, h), tolerance)


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in MOVING])
def test_of_every_joint(name):
    case = single(name)
    d, (q, v) = case.dynamics(), (x[0] for x in case.states(1, 3))
    check(d, q, 0.3 * v, INTEGRATORS if name in ("ball", "telescope") else INTEGRATORS[:1])


@pytest.mark.slow
def test_of_trees_with_springs_and_dampers():
    case = random_scene(3, 3, springs=True, root="free")
    d, (q, v) = case.dynamics(), (x[0] for x in case.states(1, 1))
    check(d, q, 0.3 * v, h=SHORT)


def test_of_shared_coordinates():
    case = random_scene(7, 6, kinds=("revolute", "prismatic", "helix", "ball"), couplings=True)
    assert case.coupled
    d, (q, v) = case.dynamics(), (x[0] for x in case.states(1, 1))
    check(d, q, 0.3 * v)


@pytest.mark.parametrize("chart", [0, 1])
def test_in_charts(chart):
    scene = Scene()
    scene.world.attach(random_body(np.random.default_rng(0), "b"), bead("z", "x"))
    d = scene.compile()
    (name,) = d.parameters
    d.parameters[name] = chart
    check(d, np.full(d.nq, 0.4), np.full(d.nv, 0.5))


def test_of_forests():
    trees = grove(2, trees=2, bodies=2, copies=3, kinds=("revolute", "ball"), scenery=1)
    d = trees.scene.compile()
    assert d.functions.forest.pays
    q, v = (x[0] for x in trees.states(d, 1, 1))
    check(d, q, 0.3 * v, h=SHORT)


def loops():
    return bound(1, 5, ("revolute", "prismatic", "ball"))


@pytest.mark.parametrize("make", [driven, pytest.param(loops, marks=pytest.mark.slow)])
def test_onto_constraints(make):
    """The way there is Newton's, carried on until nothing changes."""
    case = make()
    d, (q, v, _) = case.dynamics(), (x[0] for x in case.states(1, 1))
    q, v = d.project(q, 0.3 * v)
    check(d, q, v, INTEGRATORS[:-1], tolerance=1e-9)  # the last one takes none between velocities


def test_of_variational_steps_on_constraints():
    case = driven(velocities=False)
    d, (q, v, _) = case.dynamics(), (x[0] for x in case.states(1, 1))
    check(d, *d.project(q, 0.3 * v), INTEGRATORS[-1:], tolerance=1e-9)


def test_by_time_where_a_formula_of_time_places_a_joint():
    """A carriage at s(t) = a sin t, held still in it: what hangs there falls as if nothing moved, and its place moves
    with ds/dt."""
    scene = Scene()
    t = scene.parameter("t", 0.7)
    X = sp.eye(4)
    X[0, 3] = sp.Rational(1, 2) * sp.sin(t)
    carriage = Body("arm", mass=1.0, center_of_mass=(0, 0, -0.3), inertia=np.eye(3) * 0.01)
    scene.world.attach(carriage, joints.revolute("y"), at=X)
    d = scene.compile()
    _, by_t = d.derivatives("poses", [0.2], parameters=True)
    assert_close(by_t[0, 0, 3, 0], 0.5 * np.cos(0.7), 1e-14)
    *_, by_t = d.derivatives("step", [0.2], [0.1], [0.0], H, parameters=True)
    assert_close(by_t, np.zeros((2, 1)), 1e-15, scale=1.0)


@pytest.mark.parametrize("seed", [3, 5])
def test_jacobians_of_points(seed):
    """J e_k = [omega; v + omega x R p] of unit velocities, by q, the point, and the parameters."""
    case = mechanism(seed, seed)
    d, q = case.dynamics(), case.states(1, 2)[0][0]
    body, p = len(d.bodies) - 1, np.array([0.3, -0.2, 0.5])

    def jacobians(q, p, parameters):
        given = {"q": q, "parameters": parameters}
        X = complex_step.run(d.program("poses"), given)[:, 16 * body : 16 * body + 16].reshape(-1, 4, 4)
        arm, columns = np.einsum("nij,nj->ni", X[:, :3, :3], np.broadcast_to(p, (len(X), 3))), []
        for e in np.eye(d.nv):
            twist = complex_step.run(d.program("velocities"), given | {"v": e})[:, 6 * body : 6 * body + 6]
            columns.append(np.hstack([twist[:, :3], twist[:, 3:] + np.cross(twist[:, :3], arm)]))
        return np.moveaxis(np.stack(columns, axis=-1).imag / complex_step.STEP, 0, -1)

    values = d.parameters.values_array
    by_q, by_point, by_parameters = d.derivatives("jacobian", q, d.bodies[body], p, parameters=True)
    moved = [1j * complex_step.STEP * np.eye(n) for n in (3, len(values))]
    assert_close(by_q, jacobians(complex_step.moved_configurations(d, q), p, values), EXACT)
    assert_close(by_point, jacobians(np.tile(q, (3, 1)), p + moved[0], values), EXACT)
    if len(values):
        assert_close(by_parameters, jacobians(np.tile(q, (len(values), 1)), p, values + moved[1]), EXACT)
