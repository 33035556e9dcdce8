"""Twins in maximal coordinates: Bullet's free bodies move as the reduced equations say, under forces made Cartesian."""

import numpy as np
import pybullet
import pytest
import sympy as sp
from constraint_cases import bound
from hypothesis import given, settings
from hypothesis import strategies as st
from maximal import DIFFERENCED, at_centers
from trees import SAMPLED, assert_close, curve, derivative, named, random_scene

import recursive_dyn as rd
from bridge import ForceTwin
from scene import Body, Scene, joints, shapes


def simulation(dynamics, q, v, timestep=1e-3):
    sim = rd.Simulation(dynamics, timestep)
    sim.q, sim.v = q, v
    return sim


def parts(scene, fixed):
    """By the name of each moving part's first body, (numbers, masses) of what is fixed together in it."""
    owner, result = {}, {}
    for k, body in enumerate(scene.bodies):
        owner[body.name] = owner.get(body.parent.name) if fixed[k] else body.name
        if owner[body.name]:
            numbers, masses = result.setdefault(owner[body.name], ([], []))
            numbers.append(k)
            masses.append(body.mass)
    return result


def check_accelerations(scene, dynamics, fixed, q, v):
    """Nothing holds the bodies, and each is accelerated as the joints would have it: no constraint has a force left."""
    tau, h = np.random.default_rng(2).normal(size=dynamics.nv), 1e-3
    a = dynamics.forward_dynamics(q, v, tau + dynamics.passive_forces(q, v))
    if not dynamics.constraints:  # springs and dampers act as at the step's end
        damping, stiffness = np.array([(c.damping, c.stiffness) for c in dynamics.model.coordinates]).T
        needed = tau + dynamics.passive_forces(q, v) - h * stiffness * v - dynamics.bias(q, v)
        a = np.linalg.solve(dynamics.mass_matrix(q) + np.diag(h * damping + h * h * stiffness), needed)
    expected = derivative(lambda t: at_centers(dynamics, scene, *curve(dynamics, q, v, a, t)))
    with ForceTwin(scene, simulation(dynamics, q, v, h), constrained=False) as twin:
        before = bullets(twin)
        twin.step(tau)
        change = (bullets(twin) - before) / h
        names = list(twin.bullet_bodies)
    for (numbers, masses), found in zip((parts(scene, fixed)[name] for name in names), change, strict=True):
        assert_close(found[1], expected[numbers[0], :3], 10 * DIFFERENCED, np.abs(expected).max())
        center = np.average(expected[numbers, 3:], axis=0, weights=masses)
        assert_close(found[0], center, 10 * DIFFERENCED, np.abs(expected).max())


def bullets(twin):
    """[v; omega] (parts, 2, 3) of the centres of mass as Bullet tells them."""
    return np.array([pybullet.getBaseVelocity(body, twin.client) for body in twin.bullet_bodies.values()])


@pytest.mark.parametrize("name", SAMPLED)
def test_bodies_that_nothing_holds_are_accelerated_as_by_any_joint(name):
    m = named(name)
    (q,), (v,) = m.states(1, 3)
    check_accelerations(m.scene, m.dynamics(), [not case.nq for case in m.cases], q, v)


@settings(max_examples=2)
@given(seed=st.integers(0, 10**6), bodies=st.integers(1, 5))
def test_so_they_are_on_any_tree(seed, bodies):
    """With rotors, springs, dampers and followers."""
    m = random_scene(seed, bodies, couplings=True, springs=True)
    (q,), (v,) = m.states(1, 3)
    check_accelerations(m.scene, m.dynamics(), [not case.nq for case in m.cases], q, v)


def test_so_they_are_in_a_loop():
    m = bound(1, 3, ("revolute", "prismatic", "screw", "universal", "planar", "ball", "free"))
    d = m.dynamics()
    q, v = d.project(m.home, np.random.default_rng(4).normal(size=d.nv))
    check_accelerations(m.scene, d, [False] * 3, q, v)


def machine(armature=0.0):
    """A hinge, a ball, a weld, a slide and a hinge, one after the other, off all axes."""
    scene, rng = Scene(), np.random.default_rng(0)

    def part(name):
        center = rng.uniform(-0.1, 0.1, 3) - np.array([0, 0, 0.2])
        return Body(name, [shapes.Sphere(0.05)], mass=1.0, center_of_mass=center, inertia=np.diag([0.03, 0.035, 0.02]))

    node = scene.world.attach(part("upper"), joints.revolute("y", damping=0.1, armature=armature))
    node = node.attach(part("lower"), joints.ball(), at=rd.pose((0, 0, -0.5)))
    node = node.attach(part("foot"), joints.fixed(), at=rd.pose((0.1, 0, -0.2)))
    node = node.attach(part("slide"), joints.prismatic((1, 1, 0)), at=rd.pose((0, 0, -0.2), (0.1, 0.2, 0.3)))
    node.attach(part("claw"), joints.revolute("x"), at=rd.pose((0, 0, -0.3)))
    return scene


@pytest.fixture(scope="module")
def compiled():
    scene = machine()
    return scene, scene.compile()


def start(d):
    rng = np.random.default_rng(1)
    return d.integrate(d.neutral(), 0.3 * rng.normal(size=d.nv), 1.0), rng.normal(size=d.nv)


def motors(t):
    return np.array([1.0, 0.5, -0.3, 0.2, 2 * np.cos(5 * t), -0.2])


SECONDS = 0.25


def reference(d):
    """Poses after SECONDS by the fourth-order rule."""
    q, v = start(d)
    sim = rd.Simulation(d, 1 / 3840, "rk4")
    sim.q, sim.v = q, v
    for k in range(round(SECONDS * 3840)):
        sim.tau = motors(k / 3840)
        sim.step()
    return d.poses(sim.q)


def error(scene, d, expected, rate, constrained, **choice):
    q, v = start(d)
    with ForceTwin(scene, simulation(d, q, v, 1 / rate), constrained=constrained) as twin:
        for k in range(round(SECONDS * rate)):
            twin.step(motors(k / rate), **choice)
        found = np.abs(twin.frames()[0] - expected).max()
        twin.state()
        return found, twin.gap


POINTS = {"points": np.tile([0.1, 0.2, 0.3], (5, 1))}
WAYS = {
    "held, couples": (True, {}),
    "held, least": (True, {"choice": "minimum", "length": 0.2}),
    "held, forces": (True, {"choice": "force", **POINTS}),
    "held, tree": (True, {"choice": "tree"}),
    "free": (False, {}),
}


@pytest.mark.parametrize("way", WAYS)
def test_twins_converge_to_the_reduced_motion_at_first_order(way, compiled):
    """Bullet steps by semi-implicit Euler: the error, centimetres at 1/120 s, falls as the step does."""
    scene, d = compiled
    constrained, choice = WAYS[way]
    expected = reference(d)
    coarse, fine = (error(scene, d, expected, rate, constrained, **choice) for rate in (120, 480))
    assert 3.4 < coarse[0] / fine[0] < 4.6 and fine[0] < 4e-3
    assert fine[1] < 2e-3  # m between what joints hold together


@pytest.mark.parametrize("constrained", [True, False])
def test_dampers_are_never_too_stiff_for_a_step(constrained):
    """A hinge whose damper would stop it in a hundredth of a step: it comes to rest as backward Euler says."""
    scene, h = Scene(gravity=(0, 0, 0)), 1 / 240
    body = Body("wheel", mass=1.0, inertia=np.eye(3) * 0.01)
    scene.world.attach(body, joints.revolute("y", damping=240.0, stiffness=5.0))
    d = scene.compile()
    with ForceTwin(scene, simulation(d, [0.1], [2.0], h), constrained=constrained) as twin:
        q, v = 0.1, 2.0
        for _ in range(20):
            v = (0.01 * v - h * 5.0 * q) / (0.01 + h * 240.0 + h * h * 5.0)
            q += h * v
            twin.step()
            assert_close(twin.state(), ([q], [v]), 1e-5, scale=1.0)


def test_motors_change_no_momentum_of_what_floats():
    """Pairs of wrenches at the same points: Bullet's bodies as a whole keep theirs, but for the drift of a step."""
    scene = Scene(gravity=(0, 0, 0))
    node = scene.world.attach(Body("trunk", mass=2.0, inertia=np.diag([0.1, 0.12, 0.08])), joints.free())
    for side in (-1, 1):
        arm = node.attach(
            Body(f"arm{side}", mass=0.5, center_of_mass=(0, 0.2, 0), inertia=np.eye(3) * 0.01),
            joints.ball(), at=rd.pose((0.2 * side, 0, 0)),
        )  # fmt: skip
        arm.attach(
            Body(f"hand{side}", mass=0.2, center_of_mass=(0, 0.1, 0), inertia=np.eye(3) * 0.004),
            joints.revolute("z"), at=rd.pose((0, 0.4, 0)),
        )  # fmt: skip
    d = scene.compile()
    tau = np.array([0, 0, 0, 0, 0, 0, 0.3, -0.2, 0.1, 0.2, 0.1, 0.3, -0.1, -0.2])
    spins = []
    for rate in (240, 960):
        with ForceTwin(scene, simulation(d, d.neutral(), np.zeros(d.nv), 1 / rate)) as twin:
            twin.step(tau, count=rate // 4)
            momentum = d.momentum(*twin.state())
            own = np.array([2.0, 0.5, 0.2, 0.5, 0.2])
            linear = own @ bullets(twin)[:, 0]
        np.testing.assert_allclose(linear, 0.0, atol=1e-9)
        spins.append(np.abs(momentum).max())
    assert spins[1] < 0.35 * spins[0] < 0.01


def test_a_controller_of_coordinates_drives_bullets_bodies(compiled):
    """Computed torque from the twin's own state: the slide and the last hinge come to where they shall be."""
    scene, d = compiled
    goal = d.integrate(d.neutral(), [0.4, 0.2, -0.3, 0.1, 0.15, -0.5], 1.0)
    times = []

    def controller(q, v, time):
        times.append(time)
        return d.inverse_dynamics(q, v, 80.0 * d.difference(q, goal) - 18.0 * v) - d.passive_forces(q, v)

    with ForceTwin(scene, simulation(d, d.neutral(), np.zeros(d.nv), 1 / 240)) as twin:
        twin.step(controller, count=360)
        q, v = twin.state()
        assert_close(times, np.arange(360) / 240, 1e-12)
        assert twin.time == pytest.approx(1.5)
    np.testing.assert_allclose(d.difference(q, goal), 0.0, atol=2e-3)
    assert np.abs(v).max() < 2e-3


def test_it_coasts_as_fast_as_it_likes():
    """Neither damped, nor cut off at Bullet's 100 m/s, nor put to sleep."""
    scene = Scene(gravity=(0, 0, 0))
    scene.world.attach(Body("bullet", mass=0.01, inertia=np.eye(3) * 1e-5), joints.free())
    d = scene.compile()
    for speed in (900.0, 1e-4):
        v = [0, 0, 3 * speed, speed, 0, 0]
        with ForceTwin(scene, simulation(d, d.neutral(), v), constrained=True) as twin:
            twin.step(count=100)
            assert_close(bullets(twin)[0], [[speed, 0, 0], [0, 0, 3 * speed]], 1e-12)


def test_it_stands_where_it_is_told_and_leaves_a_connection_as_it_was(compiled):
    scene, d = compiled
    q, v = start(d)
    client = pybullet.connect(pybullet.DIRECT)
    try:
        own = pybullet.createMultiBody(1.0, physicsClientId=client)
        with ForceTwin(scene, simulation(d, q, v), client, at=(3, 2, 1)) as twin:
            assert list(twin.bullet_bodies) == ["upper", "lower", "slide", "claw"]
            X, V = twin.frames()
            assert_close(X, d.poses(q), 1e-12)
            assert_close(V, d.velocities(q, v), 1e-12)
            found = twin.state()
            assert_close(found[0], q, 1e-11)
            assert_close(found[1], v, 1e-11)
            place = pybullet.getBasePositionAndOrientation(twin.bullet_bodies["upper"], client)[0]
            assert_close(place, X[0, :3, 3] + X[0, :3, :3] @ scene["upper"].center_of_mass + [3, 2, 1], 1e-12)
            assert pybullet.getNumBodies(client) == 5
        assert pybullet.getNumBodies(client) == 1 and pybullet.getBodyUniqueId(0, client) == own
        twin.close()
        with pytest.raises(rd.StateError, match="closed"):
            twin.step()
    finally:
        pybullet.disconnect(client)


def test_two_in_one_connection_take_one_step_together(compiled):
    scene, d = compiled
    q, v = start(d)
    held = ForceTwin(scene, simulation(d, q, v))
    with held, ForceTwin(scene, simulation(d, q, v), held.client, constrained=False, at=(2, 0, 0)) as free:
        for _ in range(50):
            held.push(motors(0.0))
            free.push(motors(0.0))
            pybullet.stepSimulation(physicsClientId=held.client)
        together = held.frames()[0]
        assert_close(together, free.frames()[0], 2e-3)
    with ForceTwin(scene, simulation(d, q, v)) as alone:
        alone.step(motors(0.0), count=50)
        assert_close(alone.frames()[0], together, 1e-6)


def test_what_is_no_force_is_refused(compiled):
    scene, d = compiled
    with ForceTwin(scene, simulation(d, *start(d)), constrained=False) as twin:
        for tau in (1.0, [1.0, 2.0], np.zeros((2, d.nv)), [np.nan] * 6, ["1"] * 6):
            with pytest.raises(rd.StateError, match="'tau' must be 6 finite numbers"):
                twin.push(tau)
        with pytest.raises(rd.StateError, match="'choice' is for a twin whose joints are held"):
            twin.step(choice="force")
    for at in ((0, 0), (0, 0, np.inf), "here"):
        with pytest.raises(rd.StateError, match="'at' must be three finite numbers"):
            ForceTwin(scene, simulation(d, *start(d)), at=at)


def test_parameters_have_the_values_of_the_simulation():
    scene = Scene()
    load = scene.parameter("load", 1.0)
    scene.world.attach(Body("load", mass=load, inertia=np.eye(3)), joints.prismatic("x"))
    sim = rd.Simulation(scene.compile(), 1e-3)
    sim.parameters["load"] = 4.0
    with ForceTwin(scene, sim) as twin:
        body = twin.bullet_bodies["load"]
        assert pybullet.getDynamicsInfo(body, -1, twin.client)[0] == 4.0
        twin.step([8.0], count=10)
        assert_close(twin.state()[1], [0.02], 1e-6)


def test_a_joint_of_ones_own_that_is_a_hinge_is_held_as_one():
    """By what it does, not by its name: a rotation about an oblique axis beside the origin, by an angle's cube."""
    scene = Scene()
    q = sp.Symbol("q", real=True)
    turn = sp.eye(4)
    turn[:3, :3] = sp.rot_axis3(-(q + q**3 / 3))
    place = sp.Matrix([0.3, 0.1, 0.0])
    turn[:3, 3] = place - turn[:3, :3] * place
    body = Body("cam", mass=1.0, center_of_mass=(0.5, 0, 0.1), inertia=np.eye(3) * 0.05)
    scene.world.attach(body, joints.Joint(turn, q))
    d = scene.compile()
    with ForceTwin(scene, simulation(d, [0.3], [1.0], 1 / 960)) as twin:
        assert pybullet.getNumConstraints(twin.client) == 2
        twin.step([0.5], count=240)
        fine = simulation(d, [0.3], [1.0], 1 / 7680)
        fine.tau = [0.5]
        fine.step(1920)
        assert_close(twin.frames()[0], d.poses(fine.q), 5e-3)


def one(joint, **given):
    scene = Scene()
    arm = scene.world.attach(Body("arm", mass=1.0, inertia=np.eye(3)), joints.revolute("z"))
    arm.attach(Body("body", **{"mass": 1.0, "inertia": np.eye(3)} | given), joint, at=rd.pose((1, 0, 0)))
    return scene


s, u = sp.symbols("s u", real=True)
HELD = {
    "revolute": (joints.revolute("x"), 2),
    "prismatic": (joints.prismatic((1, 2, 3)), 1),
    "ball": (joints.ball(), 1),
    "angles": (joints.euler("xyz"), 1),
    "free": (joints.free(), 0),
    "fixed": (joints.fixed(), 0),
}
NOT_HELD = {
    "curve": (joints.curve([sp.cos(s), sp.sin(s), s / 5], s), "'body' with 'body.s' is none"),
    "universal": (joints.universal("x", "y"), "'body' with 'body.angle', 'body.angle_2' is none"),
    "cylindrical": (joints.cylindrical("x"), "'body' with .* is none that Bullet's constraints hold"),
    "screw": (joints.screw("x", 0.1), "'body' with .* is none"),
    "planar": (joints.planar("z"), "'body' with .* is none"),
    "follower": (joints.revolute("y").follow("arm", 2.0), "'arm' follows, or leads, coordinates of others"),
    "rotor": (joints.revolute("x", armature=0.1), "'body.angle' has a rotor's inertia"),
}


@pytest.mark.parametrize("name", HELD)
def test_balls_hinges_and_slides_are_held(name):
    joint, count = HELD[name]
    scene = one(joint)
    with ForceTwin(scene, rd.Simulation(scene.compile())) as twin:
        assert pybullet.getNumConstraints(twin.client) == 2 + count


@pytest.mark.parametrize("name", NOT_HELD)
def test_what_bullet_cannot_hold_is_named_and_led_all_the_same(name):
    joint, message = NOT_HELD[name]
    scene = one(joint)
    sim = rd.Simulation(scene.compile(), 1e-3)
    sim.q = sim.dynamics.integrate(sim.q, np.full(sim.dynamics.nv, 0.2), 1.0)
    with pytest.raises(rd.ModelError, match=message + ".*constrained=False"):
        ForceTwin(scene, sim)
    with ForceTwin(scene, sim, constrained=False) as twin:
        twin.step(count=20)
        sim.step(20)
        assert_close(twin.frames()[0], sim.dynamics.poses(sim.q), 1e-3)


def test_what_no_free_body_can_be_is_named():
    massless = Scene()
    frame = massless.world.attach(Body("frame"), joints.revolute("y"))
    frame.attach(Body("hand", mass=1.0, inertia=np.eye(3)), joints.revolute("x"))
    point = one(joints.revolute("y"), inertia=np.zeros((3, 3)), center_of_mass=(1, 0, 0))
    for scene, name in ((massless, "frame"), (point, "body")):
        with pytest.raises(rd.ModelError, match=f"'{name}' with what is fixed to it has no mass of its own, or no in"):
            ForceTwin(scene, rd.Simulation(scene.compile()), constrained=False)
    tied = one(joints.revolute("y"))
    tied.constrain(tied["body"].q[0] - tied["arm"].q[0], name="tie")
    with pytest.raises(rd.ModelError, match=r"constraint 'tie' is between coordinates.*constrained=False"):
        ForceTwin(tied, rd.Simulation(tied.compile()))
