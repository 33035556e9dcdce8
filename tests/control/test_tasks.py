"""Errors of tasks: their closed forms, and rates and Jacobians that are the derivatives along any motion."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import assert_close, curve, derivative, mechanism

import recursive_dyn as rd
from recursive_dyn import control
from recursive_dyn.control.tasks import formulas, task_rows
from recursive_dyn.control.tasks.task_stack import TaskStack
from recursive_dyn.spatial.rotations import rotation_exp
from scene import Body, Scene, joints

TREES = {
    "every joint": mechanism(13, 13),
    "curved": mechanism(6, 6, kinds=("ball", "free", "revolute"), root="free"),
    "shared": mechanism(9, 9, couplings=True),
}


def tasks(dynamics, q, rng):
    """One of each kind, its target within half a turn, moving where targets may."""
    names, X = dynamics.bodies, dynamics.poses(q)
    near = dynamics.integrate(q, rng.uniform(-0.5, 0.5, dynamics.nv), 1.0)
    turned = rotation_exp(rng.uniform(-1, 1, 3)) @ X[-2, :3, :3]
    v, a = rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    return [
        control.Position(names[-1], rng.normal(size=3), point=(0.1, 0.2, 0.3), velocity=v[0], acceleration=a[0]),
        control.Orientation(names[-2], turned, velocity=v[1], acceleration=a[1]),
        control.Pose(names[-3], X[-3] @ rd.pose(rng.normal(size=3), rng.uniform(-1, 1, 3)), point=(0.2, 0.1, 0)),
        control.LookAt(names[-1], X[-1, :3, 3] + rng.normal(size=3), axis=(1, 2, 3), point=(0.1, 0, 0), velocity=v[0]),
        control.CenterOfMass(rng.normal(size=3), velocity=v[1], acceleration=a[0]),
        control.AngularMomentum(v[0], velocity=a[1]),
        control.Posture(dynamics, near),
        control.Posture(dynamics, near, coordinates=dynamics.velocity_coordinates[1:3]),
    ]


@pytest.mark.parametrize("name", TREES)
def test_rates_are_derivatives_along_any_motion(name):
    """e' and, with the Jacobian, e'' = drift - J a: targets stand still, as their motion is added by its own number."""
    d, (q, v) = TREES[name].dynamics(), TREES[name].states(1, 3)
    q, v, rng = q[0], v[0], np.random.default_rng(5)
    stack, a = TaskStack(d, tasks(d, q, rng)), rng.normal(size=d.nv)
    for task in stack.tasks:
        task.velocity = task.acceleration = None
    spin = stack.spans[5]

    def seen(t):
        rows = []
        for at, rate in zip(*curve(d, q, v, a, t), strict=True):
            stack.look(at, rate, 0.0)
            rows.append(np.concatenate([stack.e, stack.rate]))
        return np.array(rows)

    slopes = derivative(seen).reshape(2, -1)
    stack.look(q, v, 0.0)
    slopes[0, spin] = stack.rate[spin]  # momentum has no position
    assert_close(stack.rate, slopes[0], 1e-9)
    assert_close(stack.drift - stack.J @ a, slopes[1], 1e-8)
    still = stack.e.copy(), stack.J.copy()
    stack.look(q, None, 0.0)
    assert_close(stack.e, still[0], 0.0)
    assert_close(stack.J, still[1], 0.0)


@pytest.mark.parametrize("name", TREES)
def test_a_moving_target_adds_its_own_rates(name):
    """e of a target on its way at time t, differentiated with the body held still."""
    d, (states, _) = TREES[name].dynamics(), TREES[name].states(1, 3)
    q, rng = states[0], np.random.default_rng(6)
    still, moving = tasks(d, q, rng), tasks(d, q, np.random.default_rng(6))
    place, turn, way, spin = (rng.normal(size=(2, n)) for n in (3, 3, 3, d.nv))

    def at(k, t):
        start, along = still[k].target, {0: place, 1: turn, 3: way, 4: place, 6: spin}[k]
        move = along[0] * t + along[1] * t * t / 2
        return rotation_exp(move) @ start if k == 1 else d.integrate(start, move, 1.0) if k == 6 else start + move

    v = 0.0 * spin[0]
    for k in (0, 1, 3, 4, 6):
        moving[k].target, moving[k].velocity, moving[k].acceleration = (lambda t, k=k: at(k, t)), None, None
        stack = TaskStack(d, [moving[k]])
        slope = derivative(lambda t, it=stack: np.array([it.look(q, v, s).e.copy() for s in t]))
        stack.look(q, v, 0.0)
        assert_close(stack.rate, slope, 1e-6, 1.0 + np.abs(slope).max())  # differences in time: 4e-8 of motions of 1/s
        rate = derivative(lambda t, it=stack: np.array([it.look(q, v, s).rate.copy() for s in t]))
        stack.look(q, v, 0.0)
        assert_close(stack.drift, rate, 1e-5, 1.0 + np.abs(rate).max())


def test_errors_in_closed_form():
    """A crane of a slider and a hinge about z, its jib along x."""
    scene = Scene()
    mast = scene.world.attach(Body("mast", mass=2.0), joints.prismatic("z"))
    jib = mast.attach(Body("jib", mass=1.0, center_of_mass=(1.0, 0, 0)), joints.revolute("z"))
    d = scene.compile()
    q, v = np.array([0.5, 0.3]), np.array([0.2, 2.0])
    stack = TaskStack(d, [
        control.Position(jib, (0, 0, 0), point=(2, 0, 0)),
        control.Orientation("jib", [0, 0, np.sin(0.5), np.cos(0.5)]),
        control.LookAt("jib", (2 * np.cos(1.0), 2 * np.sin(1.0), 0.5)),
        control.CenterOfMass((0, 0, 1.0)),
        control.AngularMomentum((0, 0, 5.0)),
    ]).look(q, v, 0.0)  # fmt: skip
    place = np.array([2 * np.cos(0.3), 2 * np.sin(0.3), 0.5])
    assert_close(stack.e[:3], -place, 1e-15)
    assert_close(stack.rate[:3], -np.array([-2.0 * place[1], 2.0 * place[0], 0.2]), 1e-14)
    assert_close(stack.e[3:6], np.array([0, 0, 0.7]), 1e-14)
    assert np.linalg.norm(stack.e[6:8]) == pytest.approx(0.7, abs=1e-14)
    assert_close(stack.e[8:11], -np.array([np.cos(0.3) / 3, np.sin(0.3) / 3, -0.5]), 1e-14)
    assert_close(stack.e[11:14], np.zeros(3), 0.0, 1.0)
    # two point masses 1 m apart turn about their centre with m1 m2 / (m1 + m2) r^2
    assert_close(stack.rate[11:14], np.array([0, 0, 5.0 - 2.0 / 3.0 * 2.0]), 1e-14)


angles = st.one_of(st.floats(0.0, 3.1), st.sampled_from([0.0, 1e-160, 1e-12, 1e-8, 0.451, np.pi]))


@given(angles, st.integers(0, 2**32 - 1))
def test_a_look_turns_by_the_angle_between_ray_and_target(angle, seed):
    rng = np.random.default_rng(seed)
    axes, place = rotation_exp(rng.normal(size=3)), rng.normal(size=3)
    way = np.cos(angle) * axes[:, 0] + np.sin(angle) * (0.6 * axes[:, 1] + 0.8 * axes[:, 2])
    constants = np.concatenate([np.zeros(3), np.eye(3).ravel()])
    e = np.array(formulas.LOOK.error(axes, place, constants, place + 3.0 * way), dtype=float)
    assert np.linalg.norm(e) == pytest.approx(angle, abs=1e-7 if angle > 3 else 1e-15, rel=1e-14)
    if 1e-3 < angle < 3.0:
        turn = axes @ [0.0, *e]  # turns the ray onto the way
        assert_close(rotation_exp(turn) @ axes[:, 0], way, 1e-12)


def test_rows_are_the_same_in_plain_python():
    """The loop's one definition, interpreted."""
    m = TREES["curved"]
    d, (q, v) = m.dynamics(), m.states(1, 4)
    stack = TaskStack(d, tasks(d, q[0], np.random.default_rng(5))).look(q[0], v[0], 0.0)
    s = stack.arrays
    kept = [array.copy() for array in (s.e, s.rate, s.drift, s.J)]
    assert task_rows.task_rows.python(s, True)
    for array, before in zip((s.e, s.rate, s.drift, s.J), kept, strict=True):
        np.testing.assert_array_equal(array, before)


def test_stacks_are_copied_and_pickled_with_memory_of_their_own():
    m = TREES["curved"]
    d, (q, v) = m.dynamics(), m.states(2, 4)
    stack = TaskStack(d, tasks(d, q[0], np.random.default_rng(5))).look(q[0], v[0], 0.0)
    kept = stack.e.copy()
    for other in (copy.deepcopy(stack), pickle.loads(pickle.dumps(stack))):
        assert_close(other.look(q[0], v[0], 0.0).e, kept, 0.0)
        other.look(q[1], v[1], 0.0)
        assert_close(stack.e, kept, 0.0)


CURVED = TREES["curved"].dynamics()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: TaskStack(CURVED, [control.Position("hand", (0, 0, 0))]), rd.ModelError, "unknown body 'hand'"),
        (lambda: TaskStack(CURVED, ["b1"]), rd.StateError, "a task is a Position"),
        (lambda: control.Position("b1", (0, np.nan, 0)), rd.StateError, "position of 'b1' is not finite"),
        (lambda: control.Position("b1", (0, 0)), rd.StateError, "must be 3 numbers"),
        (
            lambda: control.Position("b1", (0, 0, 0), point="x"),
            rd.StateError,
            "point of the position of 'b1' must be 3",
        ),
        (lambda: control.Position("b1", (0, 0, 0), weight=0), rd.StateError, "position of 'b1' has a weight of 0"),
        (lambda: control.Position("b1", (0, 0, 0), weight=(1, 2)), rd.StateError, "weight is a number, or 3 numbers"),
        (lambda: control.Orientation("b1", 2 * np.eye(3)), rd.StateError, "orientation of 'b1' is no rotation"),
        (lambda: control.Orientation("b1", np.diag([1, 1, -1])), rd.StateError, "right-handed"),
        (lambda: control.Orientation("b1", [0, 0, 0, 0]), rd.StateError, "must be a rotation"),
        (lambda: control.Pose("b1", np.eye(3)), rd.StateError, "must be a pose"),
        (lambda: control.LookAt("b1", (1, 0, 0), axis=(0, 0, 0)), rd.StateError, "axis of the look of 'b1' is zero"),
        (lambda: control.Posture(CURVED, [1.0]), rd.StateError, "'q' has shape"),
        (lambda: control.Posture(CURVED, coordinates=["x"]), rd.ModelError, "unknown velocity coordinate 'x'"),
    ],
)
def test_bad_tasks_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_who_looks_for_what_is_in_its_eye_is_told():
    stack = TaskStack(CURVED, [control.LookAt("b1", CURVED.poses(CURVED.neutral())[1, :3, 3])])
    with pytest.raises(rd.StateError, match="the look of 'b1' has no finite error"):
        stack.look(CURVED.neutral(), np.zeros(CURVED.nv), 0.0)
