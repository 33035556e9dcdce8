"""Coordinates that no joint shows by itself, or none everywhere, found from all joints that they drive together."""

import numpy as np
import pytest
import sympy as sp
from formulations import EACH, WAYS, rod, runs_beside
from test_joint_step import compared
from timed_scenes import pose
from trees import assert_close, random_body

import recursive_dyn as rd
from scene import Scene, joints

HERE = rd.pose((0.1, 0.2, 0.3), (0.1, 0.2, 0.3))


def differential(timed: bool = True) -> Scene:
    """Two wheels that a pair of coordinates turns only together, a screw that both and time move, and what hangs on
    these; rotors, dampers, springs, limits and friction of the pair, a force and a constraint that know of it."""
    scene = Scene()
    R, time = scene.parameter("R", 0.3), scene.time if timed else sp.Float(0.2)
    s = scene.coordinate("s", damping=0.1, armature=0.02, limits=(-2.0, 2.0))
    t = scene.coordinate("t", stiffness=2.0, rest=0.3, friction=0.01)
    left = scene.world.attach(rod("left"), joints.revolute("y").driven(s + t))
    right = scene.world.attach(rod("right", 1), joints.revolute("x").driven(s - t), at=rd.pose((0, 1, 0)))
    left.attach(rod("arm", 2), joints.universal("x", "y"), at=rd.pose((0.5, 0, 0)))
    slide = joints.prismatic((1, 0, 1)).driven(R * sp.sin(s) * t + time / 5)
    right.attach(rod("slide"), slide, at=rd.pose((0.5, 0, 0)))
    both = joints.universal("y", "z").driven(s**2 / 4, R * t + left.children[0].q[0])
    scene.world.attach(rod("both"), both, at=rd.pose((0, 2, 0)))
    scene.force(left.rotation[0, 0] * s, -t)
    scene.potential((s - t / 2) ** 2)
    return scene


def yokes(gravity: float = -9.81, **settings: object) -> Scene:
    """Two slides of one crank at right angles: at each one's dead centre the other shows where the crank is."""
    scene = Scene(gravity=(0, 0, gravity))
    s = scene.coordinate("s", **settings or {"damping": 0.01, "armature": 0.01})
    first = scene.world.attach(rod("first"), joints.prismatic("x").driven(0.3 * sp.sin(s)))
    scene.world.attach(rod("second", 1), joints.prismatic("z").driven(0.3 * sp.cos(s)), at=rd.pose((0, 1, 0)))
    first.attach(rod("bob"), joints.revolute("y"), at=rd.pose((0.5, 0, 0)))
    return scene


def cams() -> Scene:
    """The same crank in transforms of joints, one on the other, with coordinates of their own, and time in one; and two
    cams of a slide that shows where it is by itself."""
    scene, u = Scene(), sp.Symbol("u", real=True)
    s, slid = scene.coordinate("s", damping=0.01, armature=0.01), scene.coordinate("slid", stiffness=3.0)
    R, t = scene.parameter("R", 0.3), scene.time
    first = scene.world.attach(rod("first"), joints.Joint(pose(R * sp.sin(s), 0.1, u / 5, u), u, limits=[(-1, 1)]))
    first.attach(rod("second", 1), joints.Joint(pose(sp.cos(t) / 9, 0, 0.3 * sp.cos(s), 0), ()), at=HERE)
    slide = scene.world.attach(rod("slide"), joints.prismatic("x").driven(slid), at=rd.pose((0, 2, 0)))
    slide.attach(rod("third"), joints.Joint(pose(0, 0, 0.3 * sp.cos(slid), 0), ()), at=HERE)
    turned = joints.Joint(pose(0.2 * sp.cos(slid), 0, 0, u), u, damping=0.1)
    scene.world.attach(rod("fourth", 2), turned, at=HERE)
    scene.force(first.q[0] * s, -slid)
    return scene


@pytest.mark.parametrize("build", [differential, yokes, cams])
def test_bodies_accelerate_as_in_joint_coordinates(build) -> None:
    scene = build()
    reduced, d = scene.compile(), scene.compile("velocity_constraints")
    if "R" in reduced.parameters:
        reduced.parameters["R"] = d.parameters["R"] = 0.35
    rng = np.random.default_rng(1)
    q, v = rng.uniform(-1.2, 1.2, (3, reduced.nq)), rng.normal(size=(3, reduced.nv))
    if reduced.model.clock is not None:
        v[:, -1] = 1.0
    Q, V = d.from_reduced(q, v)
    assert_close(d.poses(Q), reduced.poses(q), 1e-12)
    assert_close(d.velocities(Q, V), reduced.velocities(q, v), 1e-12)
    for found in (*d.joint_errors(Q, V), *d.joint_errors(Q[0], V[0], near=q[0])):
        assert np.abs(found).max() < 1e-12
    back, rates = d.to_reduced(Q, V, q)
    assert_close(back, q, 1e-11)
    assert_close(rates, v, 1e-11)
    tau = np.random.default_rng(2).normal(size=v.shape)
    a = reduced.forward_dynamics(q, v, tau)
    A = d.forward_dynamics(Q, V, d.forces_from_reduced(Q, tau, near=q))
    assert_close(d.accelerations(Q, V, A), reduced.accelerations(q, v, a), 1e-10)


@EACH
@pytest.mark.parametrize(
    "build", [pytest.param(differential, marks=pytest.mark.slow), yokes, pytest.param(cams, marks=pytest.mark.slow)]
)
def test_bodies_move_as_in_joint_coordinates(build, method: str, integrator: str) -> None:
    """To the first order of the timestep."""
    exact, sims, off = runs_beside(build(), method, integrator)
    for sim in sims:
        assert sim.joint_coordinates.shape == exact.q.shape
    explicit = method == "penalty" and integrator == "semi_implicit_euler"  # springs as soft as the step asks for
    assert off[1] < 0.7 * off[0] < (0.04 if explicit else 0.002)


@pytest.mark.parametrize("build", [differential, cams])
@pytest.mark.parametrize("method, integrator", WAYS)
def test_steps_are_those_of_the_definition(build, method: str, integrator: str) -> None:
    compared(build(), method, integrator, 1e-6 if method == "velocity_constraints" else 1e-5)


def random_scene(rng: np.random.Generator) -> Scene:
    """A tree of which about half of the joints are driven by three coordinates at once, by whatever it is."""
    scene, nodes = Scene(), []
    s = [scene.coordinate(name, armature=0.1 * k) for k, name in enumerate("abc")]
    for k in range(7):
        parent = nodes[rng.integers(len(nodes))] if nodes and rng.random() < 0.7 else scene.world
        joint = [joints.revolute("y"), joints.prismatic((1, 2, 1)), joints.universal("x", "z"), joints.ball()][k % 4]
        if k % 4 != 3:
            mixed = [sum(rng.normal() * x + 0.3 * sp.sin(rng.normal() * x) for x in s) for _ in range(1 + k % 4 // 2)]
            joint = joint.driven(*mixed)
        place = rd.pose(rng.normal(size=3), rng.normal(size=3))
        nodes.append(parent.attach(random_body(rng, f"body{k}"), joint, at=place))
    return scene


@pytest.mark.parametrize("seed", range(3))
def test_random_trees_accelerate_as_in_joint_coordinates(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scene = random_scene(rng)
    reduced, d = scene.compile(), scene.compile("velocity_constraints")
    q, v = reduced.neutral(), rng.normal(size=reduced.nv)
    q[:3] = rng.uniform(-0.4, 0.4, 3)  # within half a turn of all that they drive
    Q, V = d.from_reduced(q, v)
    A = d.forward_dynamics(Q, V)
    assert_close(d.accelerations(Q, V, A), reduced.accelerations(q, v, reduced.forward_dynamics(q, v)), 1e-12)


def transforms() -> Scene:
    """The crank of ``yokes`` in transforms."""
    scene = Scene()
    s = scene.coordinate("s", damping=0.01)
    first = scene.world.attach(rod("first"), joints.Joint(pose(0.3 * sp.sin(s), 0, 0, 0), ()))
    scene.world.attach(rod("second", 1), joints.Joint(pose(0, 0, 0.3 * sp.cos(s), 0), ()), at=rd.pose((0, 1, 0)))
    first.attach(rod("bob"), joints.revolute("y"), at=rd.pose((0.5, 0, 0)))
    return scene


@pytest.mark.parametrize("build", [yokes, transforms])
@pytest.mark.parametrize("angle", [0.0, np.pi / 2, 1e-6])
def test_a_dead_centre_of_one_joint_is_none(build, angle: float) -> None:
    """Where one slide stands still whatever the crank does, the other one shows what it does."""
    scene = build()
    reduced, d = scene.compile(), scene.compile("velocity_constraints")
    q, v, tau = np.array([angle, 0.3]), np.array([2.0, 1.0]), np.array([0.7, 0.0])
    Q, V = d.from_reduced(q, v)
    back, rates = d.to_reduced(Q, V)
    assert_close(back, q, 1e-13)
    assert_close(rates, v, 1e-13)
    A = d.forward_dynamics(Q, V, d.forces_from_reduced(Q, tau))
    assert_close(d.accelerations(Q, V, A), reduced.accelerations(q, v, reduced.forward_dynamics(q, v, tau)), 1e-12)


def test_a_crank_turns_over_dead_centres() -> None:
    """Five turns, with nothing to brake it: all energy stays, to the first order of the step."""
    d, off = yokes(0.0, limits=(-1e3, 1e3)).compile("velocity_constraints"), []
    for rate in (120, 240):
        sim = rd.Simulation(d, 1 / rate)
        sim.q, sim.v = d.from_reduced(np.array([0.1, 0.0]), np.array([12.0, 0.0]))
        energies = []
        for _ in range(180):
            sim.step(rate // 60)
            energies.append(float(d.kinetic_energy(sim.q, sim.v)))
        assert sim.joint_coordinates[0] > 5 * 2 * np.pi
        assert np.abs(d.joint_errors(sim.q, near=sim.joint_coordinates)[0]).max() < 1e-5
        off.append(np.ptp(energies) / energies[0])
    assert off[1] < 0.6 * off[0] < 0.1, off


@EACH
def test_motors_limits_motions_and_constraints_act_on_them(method: str, integrator: str) -> None:
    """As in joint coordinates, at a limit that is one slide's dead centre."""
    scene = Scene()
    s = scene.coordinate("s", damping=0.5, limits=(-1.0, np.pi / 2))
    first = scene.world.attach(rod("first"), joints.prismatic("x").driven(0.3 * sp.sin(s)))
    scene.world.attach(rod("second", 1), joints.prismatic("z").driven(0.3 * sp.cos(s)), at=rd.pose((0, 1, 0)))
    bob = first.attach(rod("bob"), joints.revolute("y"), at=rd.pose((0.5, 0, 0)))
    scene.constrain(bob.q[0] - s / 2, name="gear")
    sims = [rd.Simulation(scene.compile(m), 1 / 500, i) for m, i in ((method, integrator), ("recursive", None))]
    for sim in sims:
        sim.q, sim.v = at_angle(sim.dynamics, 0.4)
        sim.step(500)
    loose = 0.02 if integrator == "semi_implicit_euler" and method == "penalty" else 2e-3
    here = [coordinates(sim) for sim in sims]
    assert_close(here[1][0], np.pi / 2, 1e-3)
    assert np.abs(here[0] - here[1]).max() < loose
    for sim in sims:
        sim.motors["s"] = rd.Motor(position=0.9, kp=400.0, kd=80.0)
        sim.step(500)
    here = [coordinates(sim) for sim in sims]
    assert np.abs(here[0] - here[1]).max() < loose
    forces = [sim.motor_forces["s"].force for sim in sims]
    near = 0.05 if loose > 0.01 else 0.02
    assert forces[0] == pytest.approx(forces[1], rel=near)
    for sim in sims:
        del sim.motors["s"]
        sim.prescribe("s", float(coordinates(sim)[0]))
        sim.step(250)
    held = [sim.prescribed["s"].force for sim in sims]
    assert held[0] == pytest.approx(held[1], rel=near)


def at_angle(dynamics: rd.Dynamics, s: float) -> tuple[np.ndarray, np.ndarray]:
    q = np.array([s, s / 2])
    return (q, np.zeros(2)) if dynamics.nq == 2 else dynamics.from_reduced(q)


def coordinates(sim: rd.Simulation) -> np.ndarray:
    if sim.dynamics.nq == 2:
        return sim.q.copy()
    return sim.dynamics.to_reduced(sim.q, near=sim.joint_coordinates)[0]


def test_edits_and_copies_keep_them() -> None:
    scene = differential(False)
    sim = rd.Simulation(scene.compile("velocity_constraints"), 1 / 240)
    sim.step(10)
    kept = sim.snapshot()
    sim.step(5)
    want = sim.q.copy()
    sim.restore(kept)
    sim.step(5)
    assert np.array_equal(sim.q, want)
    poses, names = sim.dynamics.poses(sim.q), sim.dynamics.bodies
    scene["slide"].attach(rod("more"), joints.revolute("z"), at=rd.pose((0.5, 0, 0)))
    sim.update(scene.compile("velocity_constraints"))
    assert_close(sim.dynamics.poses(sim.q)[: len(names)], poses, 1e-13)
    sim.step(10)
    assert np.abs(sim.dynamics.joint_errors(sim.q, near=sim.joint_coordinates)[0]).max() < 1e-6
    sim.place("left", pose=rd.pose(rpy=(0, 0.4, 0)))
    s, t = sim.joint_coordinates[:2]
    assert s + t == pytest.approx(0.4, abs=1e-8)


def test_what_joints_do_not_tell_apart_is_refused_by_name() -> None:
    scene = Scene()
    s, t, u = (scene.coordinate(name, armature=1.0) for name in "stu")
    scene.world.attach(rod("a"), joints.revolute("y").driven(s + sp.sin(t + 2 * u)))
    scene.world.attach(rod("b"), joints.universal("y", "z").driven(s - t - 2 * u, t + 2 * u))
    with pytest.raises(rd.ModelError, match=r"coordinate '[tu]' drives joints together with others"):
        scene.compile("velocity_constraints")
