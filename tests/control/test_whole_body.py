"""Whole-body inverse dynamics: its programs are solved, its plans are motions that bodies can do."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import mechanism

import recursive_dyn as rd
from bridge import PyBulletMirror
from recursive_dyn import control
from recursive_dyn.control import quadratic_program
from recursive_dyn.control.conflicts import Demand, conflict
from recursive_dyn.control.quadratic_program import QuadraticProgram, fault, solve
from scene import Body, Scene, joints, shapes

FLOATING = mechanism(7, 7, kinds=("ball", "revolute"), root="free")
CORNERS = [(x, y) for x in (-0.3, 0.3) for y in (-0.2, 0.2)]
FEET = [f"shank {k}" for k in range(4)]
THIGH, SHANK = 0.25, 0.25


def quadruped():
    """A trunk on four legs of three hinges, with balls for feet, on a plane."""
    scene = Scene()
    rough = rd.Material(friction=0.8)
    scene.world.shapes.append(shapes.Plane(material=rough))
    trunk = scene.world.attach(Body("trunk", [shapes.Box((0.6, 0.3, 0.12))], mass=12.0), joints.free())
    for k, (x, y) in enumerate(CORNERS):
        hip = trunk.attach(
            Body(f"hip {k}", mass=0.5, inertia=1e-3 * np.eye(3)), joints.revolute("x"), at=rd.pose((x, y, 0))
        )
        thigh = hip.attach(Body(f"thigh {k}", mass=1.0, center_of_mass=(0, 0, -THIGH / 2), inertia=5e-3 * np.eye(3)),
                           joints.revolute("y"))  # fmt: skip
        foot = [shapes.Sphere(0.02, at=rd.pose((0, 0, -SHANK)), material=rough)]
        thigh.attach(Body(f"shank {k}", foot, mass=0.4, center_of_mass=(0, 0, -SHANK / 2), inertia=2e-3 * np.eye(3)),
                     joints.revolute("y", limits=(-2.5, -0.1)), at=rd.pose((0, 0, -THIGH)))  # fmt: skip
    return scene


def standing():
    """(scene, simulation): knees bent, feet on the plane, at rest."""
    scene = quadruped()
    simulation = rd.Simulation(scene.compile(), 1 / 200)
    q = simulation.dynamics.neutral()
    q[7:] = np.tile([0.0, 0.5, -1.0], 4)
    q[2] = 2 * THIGH * np.cos(0.5) + 0.02
    simulation.q = q
    return scene, simulation


def whole_body(dynamics, q, **settings):
    """Keep the centre of mass, the trunk's attitude and, weakly, the posture; on four feet."""
    tasks = [
        control.CenterOfMass(dynamics.center_of_mass(q), frequency=1.5),
        control.Orientation("trunk", np.eye(3), frequency=2.0),
        control.Posture(dynamics, q, coordinates=dynamics.velocity_coordinates[6:], weight=1e-2, frequency=1.5),
    ]
    footholds = [control.Foothold(foot, (0, 0, -SHANK - 0.02), friction=0.6) for foot in FEET]
    return control.WholeBodyQP(dynamics, tasks, footholds, **settings)


def moved(dynamics, controller, q, v):
    """Accelerations that follow from a plan's torques and forces."""
    plan = controller.plan
    pushes = sum(
        dynamics.jacobian(q, s.body, s.point)[3:].T @ f for s, f in zip(controller.footholds, plan.forces, strict=True)
    )
    return dynamics.forward_dynamics(q, v, plan.tau + dynamics.passive_forces(q, v) + pushes)


@given(st.integers(0, 2**32 - 1))
def test_plans_are_motions_that_meet_all_conditions(seed):
    """Forces and torques give the accelerations that are planned, in cones, optimal; on random trees and footholds."""
    rng, d = np.random.default_rng(seed), FLOATING.dynamics()
    q, v = (x[0] for x in FLOATING.states(1, seed % 1000))
    tasks = [control.CenterOfMass(rng.normal(size=3)), control.Posture(d, weight=0.1)]
    footholds = [
        control.Foothold(b, rng.normal(size=3), rng.normal(size=3), 0.7) for b in rng.choice(d.bodies, 2, False)
    ]
    it = control.WholeBodyQP(d, tasks, footholds)
    tau = it(q, v, 0.0)
    if not it.feasible:  # a random body on random points need not be able to stay there
        assert it.plan is None and not tau.any()
        return
    plan = it.plan
    assert fault(plan.program, plan.answer) < 1e-6
    assert not plan.tau[~it.drives.mask].any()
    np.testing.assert_allclose(moved(d, it, q, v), plan.a, atol=1e-6 * (1 + np.abs(plan.a).max()))
    for foothold, force in zip(it.footholds, plan.forces, strict=True):
        normal = np.array(foothold.normal) / np.linalg.norm(foothold.normal)
        push = force @ normal
        assert np.linalg.norm(force - push * normal) <= 0.7 * push + 1e-6 * (1 + np.abs(force).max())


def test_standing_forces_carry_the_weight():
    """At rest over its feet: their forces sum to the weight, their moments about the centre of mass to nothing."""
    _, simulation = standing()
    d, q = simulation.dynamics, simulation.q
    it = whole_body(d, q, force_weight=1e-10)
    it(q, np.zeros(d.nv), 0.0)
    weight, center, X = 12.0 + 4 * 1.9, d.center_of_mass(q), d.poses(q)
    np.testing.assert_allclose(it.plan.forces.sum(axis=0), [0, 0, 9.81 * weight], atol=1e-3)
    points = [X[d.bodies.index(s.body)] @ [*s.point, 1.0] for s in it.footholds]
    moment = sum(np.cross(p[:3] - center, f) for p, f in zip(points, it.plan.forces, strict=True))
    np.testing.assert_allclose(moment, 0.0, atol=1e-3)
    np.testing.assert_allclose(it.plan.a, 0.0, atol=1e-4)


def test_without_footholds_it_is_computed_torque():
    """One task of all coordinates of an arm: nothing is left to choose."""
    arm = mechanism(5, 5, kinds=("revolute", "ball"))
    d, (q, v) = arm.dynamics(), (x[0] for x in arm.states(1, 2))
    target = d.integrate(q, 0.3 * np.ones(d.nv), 1.0)
    qp = control.WholeBodyQP(d, [control.Posture(d, target, frequency=2.0)], horizon=0.0)
    other = control.ComputedTorque(d, target, frequency=2.0)
    np.testing.assert_allclose(qp(q, v, 0.0), other(q, v, 0.0), rtol=1e-6, atol=1e-6)


def test_a_pushed_quadruped_comes_back():
    """In contact, with the footholds that it has: after a push of 20 N s it stands where it stood."""
    scene, simulation = standing()
    d, start = simulation.dynamics, simulation.q.copy()
    it = whole_body(d, start, limits=60.0)
    center = d.center_of_mass(start)

    def drive(q, v, time):
        it.footholds = control.touching(simulation, FEET) or it.footholds
        return it(q, v, time)

    simulation.control = drive
    with PyBulletMirror(scene, simulation, gui=False) as mirror:
        for _ in range(20):
            simulation.apply_force("trunk", (0, 200, 0))
            mirror.step()
        away = np.linalg.norm(d.center_of_mass(simulation.q) - center)
        mirror.step(500)
        foothold = sum(simulation.contact_wrench(foot)[3:] for foot in FEET)
    assert away > 5e-3
    assert np.linalg.norm(d.center_of_mass(simulation.q) - center) < min(4e-3, away / 3)
    np.testing.assert_allclose(foothold, [0, 0, 9.81 * 19.6], rtol=0, atol=0.5)


def test_torques_and_positions_stay_within_their_limits():
    _, simulation = standing()
    d, q = simulation.dynamics, simulation.q.copy()
    names = d.velocity_coordinates
    it = whole_body(d, q, limits=8.0)
    it.tasks[0].target = d.center_of_mass(q) + np.array([0, 0, 0.3])
    tau = it(q, np.zeros(d.nv), 0.0)
    assert it.feasible and np.abs(tau[6:]).max() <= 8.0 + 1e-6 and not it.saturated
    free = control.WholeBodyQP(d, [control.Posture(d, q, kp=0.0, kd=0.0)], horizon=0.05)
    v = np.zeros(d.nv)
    knee = names.index("shank 0.angle")
    v[knee], q[knee + 1] = 4.0, -0.2
    free(q, v, 0.0)
    assert q[knee + 1] + 0.05 * v[knee] + 0.05**2 / 2 * free.plan.a[knee] <= -0.1 + 1e-9


def test_what_nothing_meets_is_told_and_the_last_command_held():
    _, simulation = standing()
    d, q, v = simulation.dynamics, simulation.q, np.zeros(simulation.dynamics.nv)
    it = whole_body(d, q, limits=1e3)
    held = it(q, v, 0.0).copy()
    slip = [control.Foothold(foot, (0, 0, -SHANK - 0.02), friction=0.6) for foot in FEET]
    it.footholds = [s._replace(normal=(0, 0, 1), friction=0.0) for s in slip[:1]]  # one foot on ice, and no strength
    it.drives.lows[:], it.drives.highs[:] = -0.1, 0.1
    np.testing.assert_array_equal(it(q, v, 0.0), np.clip(held, -0.1, 0.1) * it.drives.mask)
    assert not it.feasible and it.plan is None
    assert re.match(
        r"no plan keeps the limits of torques of '.*(thigh|hip|shank).*'.* beside all else; raise", it.conflict
    )
    it.drives.lows[:], it.drives.highs[:] = -1e3, 1e3
    it.footholds = slip
    np.testing.assert_allclose(it(q, v, 0.0), held, atol=1e-9)
    assert it.feasible and not it.conflict


def test_the_demand_without_which_there_is_a_plan_is_named_with_whose_it_is():
    """x <= 1 and y <= 1 of one kind, x >= 2 of another, then z above 1 and below 0 as well, of a third and a fourth."""
    rows = np.array([[1.0, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1]])
    far = np.inf
    program = QuadraticProgram(
        np.eye(3), np.zeros(3), rows, np.array([-far, -far, 2, 1, -far]), np.array([1, 1, far, far, far])
    )
    demands = [
        Demand("ceilings", np.array([0, 1]), ("left", "right"), "raise them"),
        Demand("floor", np.array([2]), ("below",), "lower it"),
        Demand("hall", np.array([3]), ("z",), "leave it"),
        Demand("roof", np.array([4]), ("z",), "leave it"),
    ]
    assert conflict(program, demands) == "no plan keeps the ceilings of 'left' beside all else; raise them"
    assert conflict(program, demands[1:]) == "no plan keeps the floor of 'below' beside all else; lower it"
    both = program._replace(upper=np.array([1.0, 1, far, far, 0]))
    assert conflict(both, demands).startswith("no plan keeps even all but one kind of ceilings, floor, hall, roof; ask")


@given(st.integers(0, 2**32 - 1))
def test_solvers_agree_on_random_programs(seed):
    rng = np.random.default_rng(seed)
    n, equal, m = 12, 4, 20
    root, A, inside = rng.normal(size=(n, n)), rng.normal(size=(m, n)), rng.normal(size=n)
    lower, upper = A @ inside - rng.uniform(0, 1, m), A @ inside + rng.uniform(0, 1, m)
    lower[:equal] = upper[:equal] = (A @ inside)[:equal]
    lower[equal : equal + 3] = -np.inf
    program = QuadraticProgram(root @ root.T + 0.1 * np.eye(n), 5 * rng.normal(size=n), A, lower, upper)
    first, second = quadratic_program._daqp(program), quadratic_program._piqp(program)
    assert fault(program, first) < 1e-9 and fault(program, second) < 1e-6
    costs = [z @ program.hessian @ z / 2 + program.gradient @ z for z in (first.z, second.z)]
    np.testing.assert_allclose(costs[0], costs[1], rtol=1e-6, atol=1e-6)
    contrary = program._replace(
        rows=np.vstack([A, A[:1]]), lower=np.append(lower, upper[0] + 1), upper=np.append(upper, 9e9)
    )
    assert solve(contrary) is None


def test_bad_footholds_are_refused_by_name():
    d = quadruped().compile()
    q = d.neutral()
    for foothold, error, message in (
        (control.Foothold("tail"), rd.ModelError, "unknown body 'tail'"),
        (control.Foothold("shank 0", normal=(0, 0, 0)), rd.StateError, "the normal of the foothold of 'shank 0'"),
        (control.Foothold("shank 0", normal=(0, np.nan, 1)), rd.StateError, "the normal of the foothold of 'shank 0'"),
        (control.Foothold("shank 0", (1, 2)), rd.StateError, "the point of the foothold of 'shank 0'"),
        (control.Foothold("shank 0", friction=-1), rd.StateError, "the friction of the foothold of 'shank 0'"),
        ("shank 0", rd.StateError, "footholds are control.Foothold"),
    ):
        with pytest.raises(error, match=message):
            control.WholeBodyQP(d, [control.CenterOfMass((0, 0, 1))], [foothold])
    with pytest.raises(rd.StateError, match="horizon"):
        whole_body(d, q, horizon=-1.0)
