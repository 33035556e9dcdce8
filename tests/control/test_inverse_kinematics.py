"""Inverse kinematics: targets are met where they can be, else the nearest are found, within limits to the last bit."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.optimize import least_squares
from trees import assert_close, mechanism

import recursive_dyn as rd
from recursive_dyn import control
from recursive_dyn.control.inverse_kinematics import search_of
from recursive_dyn.control.least_squares_search import nearest
from recursive_dyn.control.tasks.task_stack import TaskStack
from scene import Body, Scene, joints

TREES = {
    "30 hinges and slides": mechanism(30, 30, kinds=("revolute", "prismatic")),
    "every joint": mechanism(13, 13),
    "curved": mechanism(10, 10, kinds=("ball", "revolute", "universal"), root="free"),
}


def tips(dynamics):
    """The four bodies that are farthest from the world."""
    depths = [len(dynamics.model.chain(body.link)) for body in dynamics.model.bodies]
    return [dynamics.bodies[i] for i in np.argsort(depths)[-4:]]


def reachable(dynamics, q):
    """Several targets that this configuration meets."""
    X = dict(zip(dynamics.bodies, dynamics.poses(q), strict=True))
    _, second, third, fourth = tips(dynamics)
    return [
        control.Pose(fourth, X[fourth]),
        control.Position(third, X[third][:3, 3] + X[third][:3, :3] @ [0.1, 0.2, 0.3], point=(0.1, 0.2, 0.3)),
        control.LookAt(second, X[second][:3, 3] + 2.0 * X[second][:3, 1], axis=(0, 1, 0)),
        control.CenterOfMass(dynamics.center_of_mass(q)),
    ]


def planar(limits=None, links=2):
    """Hinges about z, links of 1 m along x; the tip is the last one's point (1, 0, 0)."""
    scene = Scene()
    node = scene.world
    for k in range(links):
        body = Body(f"link {k}", mass=1.0, center_of_mass=(0.5, 0, 0), inertia=0.1 * np.eye(3))
        node = node.attach(body, joints.revolute("z", limits=limits), at=rd.pose((1.0 if k else 0.0, 0, 0)))
    return scene.compile()


def tip(target, links=2, **settings):
    return control.Position(f"link {links - 1}", target, point=(1, 0, 0), **settings)


@pytest.mark.parametrize("name", TREES)
def test_targets_that_can_be_met_are_met(name):
    """From configurations some way off, with as many as four targets of twelve rows."""
    d = TREES[name].dynamics()
    goals, _ = TREES[name].states(8, 1)
    rng, met = np.random.default_rng(2), 0
    for q in goals:
        targets = reachable(d, q)
        found = control.inverse_kinematics(d, targets, d.integrate(q, rng.uniform(-0.4, 0.4, d.nv), 1.0))
        X, Y = dict(zip(d.bodies, d.poses(found.q), strict=True)), dict(zip(d.bodies, d.poses(q), strict=True))
        _, second, third, fourth = tips(d)
        met += found.converged
        if found.converged:
            assert found.residual < 4e-8 and found.binding == ()
            assert_close(X[fourth], Y[fourth], 3e-8)
            assert_close(X[third] @ [0.1, 0.2, 0.3, 1], Y[third] @ [0.1, 0.2, 0.3, 1], 2e-8)
            assert_close(d.center_of_mass(found.q), d.center_of_mass(q), 2e-8)
            way = Y[second][:3, 3] + 2.0 * Y[second][:3, 1] - X[second][:3, 3]
            assert_close(X[second][:3, 1], way / np.linalg.norm(way), 3e-8)
    assert met == len(goals)


@pytest.mark.parametrize("name", TREES)
def test_what_is_met_already_stays_as_it_is(name):
    d = TREES[name].dynamics()
    q = TREES[name].states(1, 1)[0][0]
    found = control.inverse_kinematics(d, reachable(d, q), q)
    assert found.converged and found.iterations == 0
    np.testing.assert_array_equal(found.q, q)


def test_out_of_reach_the_arm_is_stretched_towards_it():
    d, target = planar(), np.array([3.0, 4.0, 0.5])
    found = control.inverse_kinematics(d, tip(target), [0.3, 0.2])
    angle = np.arctan2(4.0, 3.0)
    assert not found.converged and found.stuck and found.binding == ()
    assert_close(found.q, np.array([angle, 0.0]), 1e-5)
    assert found.residual == pytest.approx(np.hypot(3.0, 0.5), rel=1e-9)
    assert_close(found.errors["position of 'link 1'"], target - 2.0 * np.array([0.6, 0.8, 0.0]), 1e-5)
    assert found.shortfall == (
        "the position of 'link 1' is left 3.04 (m, rad) from its target, and no way leads nearer; move the target,"
        " ask for fewer tasks, or give more starts"
    )
    hurried = control.inverse_kinematics(d, tip(target), [0.3, 0.2], iterations=1, starts=1)
    assert "after 1 iterations; allow more of them" in hurried.shortfall


def test_limits_are_kept_to_the_last_bit_and_those_that_hold_are_named():
    d, low, high = planar((-0.7, 0.3)), -0.7, 0.3
    found = control.inverse_kinematics(d, tip((0.0, 1.9, 0.0)), [0.0, 0.0])
    np.testing.assert_array_equal(found.q, [high, high])
    assert found.binding == ("high limit of link 0.angle", "high limit of link 1.angle")
    assert "with the high limit of link 0.angle, the high limit of link 1.angle in the way; widen" in found.shortfall
    found = control.inverse_kinematics(d, tip((2 * np.cos(low), 2 * np.sin(low), 0.0)), [0.1, 0.2])
    assert (
        found.converged and not found.shortfall and found.binding == () and (found.q >= low).all()
    )  # it need not go beyond
    found = control.inverse_kinematics(d, tip((1.0, 0.2, 0.0)), [2.0, -5.0])  # a start that is beyond them
    assert ((found.q >= low) & (found.q <= high)).all()


@pytest.mark.parametrize("name", TREES)
def test_what_is_nearest_has_no_way_that_leads_nearer(name):
    """Two places for one body: the gradient vanishes but where a limit holds, and SciPy finds nothing better."""
    d = TREES[name].dynamics()
    places = {slot: place for place, slot in d.model.plain_slots}
    for q in TREES[name].states(3, 4)[0]:
        targets = reachable(d, q)
        targets.append(
            control.Position(tips(d)[-1], targets[0].target[:3, 3] + [0.6, 0.4, -0.2], weight=(3.0, 1.0, 0.5))
        )
        found = control.inverse_kinematics(d, targets, q, iterations=1000, starts=1)
        assert not found.converged and found.stuck
        stack = TaskStack(d, targets).look(found.q, None, 0.0)
        w = stack.weights
        gradient, size = stack.J.T @ (w * w * stack.e), np.abs(stack.J).T @ (w * w * np.abs(stack.e))
        at = np.array([found.q[places[s]] if s in places else 0.0 for s in range(d.nv)])
        lows, highs = d.limits.T - at
        assert (lows <= 0.0).all() and (highs >= 0.0).all()
        press = np.where(highs == 0.0, np.minimum(gradient, 0.0), gradient)
        press = np.where(lows == 0.0, np.maximum(gradient, 0.0), press)
        assert (np.abs(press) <= 1e-4 * size.max()).all()

        def residuals(x, start=found.q, stack=stack, w=w):
            return w * stack.look(d.integrate(start, x, 1.0), None, 0.0).e

        other = least_squares(residuals, np.zeros(d.nv), bounds=(lows - 1e-12, highs + 1e-12))
        assert 2 * other.cost >= found.residual**2 * (1 - 1e-6)


@pytest.mark.parametrize("reach", [0.3, 1.0, 1.99])
def test_a_stretched_arm_finds_its_way_back(reach):
    """At the start every way towards the target is at right angles to what the hinges can do."""
    found = control.inverse_kinematics(planar(), tip((reach, 0, 0)), [0.0, 0.0])
    assert found.converged
    assert abs(found.q[1]) == pytest.approx(2 * np.arccos(reach / 2), rel=1e-6)
    alone = control.inverse_kinematics(planar(), tip((reach, 0, 0)), [0.0, 0.0], starts=1)
    assert not alone.converged and alone.stuck


def test_a_look_opposite_to_its_target_turns_round():
    d = planar(links=1)
    found = control.inverse_kinematics(d, control.LookAt("link 0", (-3.0, 0, 0)), [0.0])
    assert found.converged
    assert np.cos(found.q[0]) == pytest.approx(-1.0, abs=1e-12)


def test_weights_share_what_cannot_all_be_had():
    """A slide between two places: the mean, by the squares of the weights."""
    scene = Scene()
    scene.world.attach(Body("cart", mass=1.0), joints.prismatic("x"))
    places = [control.Position("cart", (x, 0, 0), weight=w) for x, w in ((1.0, 3.0), (2.0, 1.0))]
    found = control.inverse_kinematics(scene.compile(), places, [0.0])
    assert_close(found.q, np.array([(9.0 * 1.0 + 2.0) / 10.0]), 1e-6)
    assert_close(found.errors["position of 'cart' (2)"], np.array([0.9, 0, 0]), 1e-6)


@pytest.mark.parametrize("weight", [1e-1, 1e-2, 1e-4])
def test_a_posture_that_weighs_little_has_what_the_target_leaves(weight):
    """The nearest to it of all that reach the target: what is left of it is at right angles to what is free."""
    d, rest, target = planar(links=4), np.array([0.3, 0.3, -0.2, 0.1]), tip((2.0, 1.0, 0.0), 4)
    found = control.inverse_kinematics(d, [target, control.Posture(d, rest, weight=weight)], [0.5] * 4, starts=1)
    assert found.stuck and found.iterations < 40  # although the valley is curved, and its bottom flat
    assert np.abs(found.errors["position of 'link 3'"]).max() < 3.0 * weight**2
    free = np.linalg.svd(TaskStack(d, [target]).look(found.q, None, 0.0).J)[2][2:]
    assert np.abs(free @ (rest - found.q)).max() < 10.0 * weight**2 + 1e-4


def test_only_the_coordinates_that_are_named_move():
    d = TREES["30 hinges and slides"].dynamics()
    q, goal = TREES["30 hinges and slides"].states(2, 6)[0]
    chosen = d.velocity_coordinates[3:20:2]
    found = control.inverse_kinematics(d, reachable(d, goal), q, coordinates=chosen)
    moved = np.flatnonzero(found.q != q)
    assert len(moved) and set(moved) <= set(range(3, 20, 2))


def test_constraints_hold():
    """A four-bar whose crank is sought for a place of its coupler that only the whole linkage can reach."""
    scene = Scene()
    bar = {"mass": 1.0, "inertia": 0.05 * np.eye(3)}
    crank = scene.world.attach(Body("crank", **bar), joints.revolute("y"))
    coupler = crank.attach(Body("coupler", **bar), joints.revolute("y"), at=rd.pose((0.4, 0, 0)))
    rocker = scene.world.attach(Body("rocker", **bar), joints.revolute("y"), at=rd.pose((1.2, 0, 0)))
    gap = coupler.point((1.1, 0, 0)) - rocker.point((0.9, 0, 0))
    for axis in (0, 2):
        scene.constrain(gap[axis], name=f"pin {axis}")
    d = scene.compile()
    start = d.project(d.neutral() + np.array([0.3, -0.9, -1.2]))[0]
    goal = d.project(start + np.array([0.6, 0.1, 0.1]))[0]
    target = d.poses(goal)[1] @ [0.5, 0, 0, 1]
    found = control.inverse_kinematics(d, control.Position("coupler", target[:3], point=(0.5, 0, 0)), start)
    assert found.converged
    assert np.abs(d.constraint_errors(found.q, np.zeros(3))[0]).max() < 1e-8
    assert_close(d.poses(found.q)[1] @ [0.5, 0, 0, 1], target, 2e-8)
    away = control.inverse_kinematics(d, control.Position("coupler", (0, 0, 9.0), point=(0.5, 0, 0)), start)
    assert not away.converged and np.abs(d.constraint_errors(away.q, np.zeros(3))[0]).max() < 1e-6


def test_the_search_is_the_same_in_plain_python_and_in_every_thread():
    d = TREES["curved"].dynamics()
    q, goal = TREES["curved"].states(2, 6)[0]
    targets = reachable(d, goal)
    found = control.inverse_kinematics(d, targets, q, starts=1, iterations=8)
    search = search_of(d, targets, None)
    search.it.q[:], search.it.numbers[:2] = q, (8, 1)
    nearest.python(search.it)
    np.testing.assert_array_equal(search.it.q, found.q)
    with ThreadPoolExecutor(3) as pool:
        others = list(pool.map(lambda _: control.inverse_kinematics(d, targets, q, starts=1, iterations=8), range(9)))
    for other in others:
        np.testing.assert_array_equal(other.q, found.q)


def test_a_moving_target_is_taken_at_its_time():
    found = control.inverse_kinematics(planar(), tip(lambda t: (1.0 + t, 0.5, 0.0)), [0.3, 0.4], time=0.25)
    end = planar().poses(found.q)[1] @ [1, 0, 0, 1]
    assert_close(end[:3], np.array([1.25, 0.5, 0.0]), 2e-8)


PLANAR = planar()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (({}, tip((1, 0, 0)), [0, 0]), rd.StateError, "compiled dynamics"),
        ((PLANAR, tip((1, 0, 0)), [0, 0, 0]), rd.StateError, r"'q0' has shape \(3,\)"),
        ((PLANAR, tip((1, 0, 0)), [0, np.nan]), rd.StateError, "'q0' is not finite at coordinate 'link 1.angle'"),
        ((PLANAR, [], [0, 0]), rd.StateError, "at least one target"),
        ((PLANAR, ["tip"], [0, 0]), rd.StateError, "a target is a Position"),
        ((PLANAR, control.Position("hand", (0, 0, 0)), [0, 0]), rd.ModelError, "unknown body 'hand'"),
        ((PLANAR, control.AngularMomentum(), [0, 0]), rd.ModelError, "angular momentum is no matter of configurations"),
        ((PLANAR, tip(lambda t: (np.inf, 0, 0)), [0, 0]), rd.StateError, "is not finite"),
        ((PLANAR, control.LookAt("link 0", (0, 0, 0)), [0, 0]), rd.StateError, "look of 'link 0' has no finite error"),
    ],
)
def test_bad_input_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        control.inverse_kinematics(*arguments)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"coordinates": ["elbow"]}, rd.ModelError, "unknown velocity coordinate 'elbow'"),
        ({"coordinates": "link 0.angle"}, rd.ModelError, "names in a list"),
        ({"tolerance": 0.0}, rd.StateError, "tolerance must be a positive number"),
        ({"iterations": -1}, rd.StateError, "not negative"),
        ({"time": np.nan}, rd.StateError, "time must be a finite number"),
    ],
)
def test_bad_settings_are_refused(settings, error, message):
    with pytest.raises(error, match=message):
        control.inverse_kinematics(PLANAR, tip((1, 0, 0)), [0, 0], **settings)


def test_a_nearly_stretched_arm_does_not_go_round_and_round():
    """From where hardly any way leads to the target steps are long: they came to it 2 and 4 turns away."""
    d = planar()
    for q0 in ([-0.02, 0.023], [-0.0202, 0.0235], [6.0, 0.02]):
        found = control.inverse_kinematics(d, [tip((0.9, 0.8, 0))], q0)
        assert found.converged and np.abs(found.q - q0).max() <= np.pi + 1e-6
        X = d.poses(found.q)[-1]
        np.testing.assert_allclose(X[:3, 3] + X[:3, 0], (0.9, 0.8, 0), atol=1e-8)


def test_what_is_wanted_a_turn_away_is_a_turn_away():
    """A posture counts turns, and so does a screw: no turn is taken off these."""
    d = planar(links=1)
    found = control.inverse_kinematics(d, [control.Posture(d, [7.0])], [0.0])
    np.testing.assert_allclose(found.q, 7.0, atol=1e-8)
    scene = Scene()
    scene.world.attach(Body("nut", mass=1.0, inertia=np.eye(3)), joints.screw("z", 0.1))
    d = scene.compile()
    there = d.poses([9.0])[0][:3, 3]
    found = control.inverse_kinematics(d, [control.Position("nut", there)], [0.0])
    np.testing.assert_allclose(found.q, 9.0, atol=1e-6)
