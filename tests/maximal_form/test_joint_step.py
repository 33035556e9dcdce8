"""Joints over a step in machine code: what the definition in arrays says, for any joint, and wherever joints go."""

import copy
from functools import partial

import numpy as np
import pytest
import sympy as sp

import recursive_dyn as rd
from recursive_dyn.maximal.acting.joint_action import JointAction
from recursive_dyn.maximal.acting.joint_step import JointStep
from recursive_dyn.maximal.joint_rows.held_joints import CoordinateDrives
from scene import Body, Scene, joints

u = sp.Symbol("u", real=True)
MADE = {
    "hinges with dampers, springs and rotors": lambda: [
        joints.revolute("y", damping=0.3),
        joints.prismatic((1, 1, 0), stiffness=20.0, rest=0.2, armature=0.3),
        joints.revolute("y", stiffness=3.0, damping=0.1, limits=(-1.0, 0.31), friction=0.2),
        joints.revolute("z"),
    ],
    "of several axes": lambda: [joints.ball(), joints.universal("x", "y"), joints.planar(), joints.euler("xyz")],
    "balls with springs and limits": lambda: [
        joints.ball(stiffness=[3.0, 4.0, 5.0], rest=[0.2, -0.3, 0.4], damping=0.1),
        joints.ball(limits=joints.TurnLimits(swing=(0.3, 0.6), twist=(-0.3, 0.2), axis="x")),
        joints.free(stiffness=[2.0, 3.0, 4.0, 50.0, 60.0, 70.0], rest=[-0.1, 0.2, 0.3, 0.1, 0.0, -0.1]),
    ],
    "along a curve, and free": lambda: [
        joints.curve([sp.cos(u), sp.sin(2 * u), u / 5], u, damping=0.2),
        joints.free(),
        joints.revolute("x"),
    ],
}


def scene_of(made: list[joints.Joint], long: float | sp.Symbol = 0.4) -> Scene:
    """A chain of these joints, and a second body on each."""
    scene = Scene()
    node: Body | object = scene.world
    R = scene.parameter("R", long)
    inertia = np.diag([0.01, 0.02, 0.025]) + 0.002
    for i, joint in enumerate(made):
        body = Body(f"link{i}", mass=1.0 + i, center_of_mass=(0.2, 0, 0.1), inertia=inertia)
        node = node.attach(body, joint, at=rd.pose(xyz=(R, 0.1, 0), rpy=(0.1, 0.2, 0.3)))
        node.attach(Body(f"leaf{i}", mass=0.5, inertia=inertia), joints.revolute("z"), at=rd.pose((0, 0.2, 0)))
    return scene


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if k else ()) for k, name in enumerate(MADE)]
)
def test_forces_are_those_of_the_definition(name: str) -> None:
    """Along a fast motion at 1/60 s, with joints that have come apart, and a parameter that jumps."""
    dynamics = scene_of(MADE[name]()).compile("velocity_constraints")
    rng, h = np.random.default_rng(2), 1 / 60
    simulation = rd.Simulation(dynamics, h)
    simulation.q, simulation.v = dynamics.from_reduced(
        dynamics.reduced.neutral() + 0.3, 3 * rng.normal(size=dynamics.reduced.nv)
    )
    definition, step = JointAction(dynamics, False), JointStep(dynamics, False)
    for k in range(12):
        q = simulation.q.reshape(-1, 7) + 1e-4 * rng.normal(size=(len(dynamics.joints), 7))
        q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1)[:, None]
        if k == 6:
            dynamics.parameters["R"] = 0.41
        tau = rng.normal(size=dynamics.nv)
        want = definition.over_step(q.ravel(), simulation.v, tau, h)
        found = step.over_step(q.ravel(), simulation.v, tau, h)
        assert np.abs(found - want).max() < 1e-6 * np.abs(want).max()
        assert np.abs(step.coordinates - definition.coordinates).max() < 1e-6
        assert step.asked == definition.asked
        simulation.step()


def test_joints_that_jump_are_found_again() -> None:
    """A hinge that another state has half a turn away, and one whose velocity says nothing of where it goes."""
    dynamics = scene_of([joints.revolute("y"), joints.universal("x", "y")]).compile("velocity_constraints")
    definition, step, rng = JointAction(dynamics, False), JointStep(dynamics, False), np.random.default_rng(0)
    for _ in range(6):
        q, v = dynamics.from_reduced(dynamics.reduced.random(rng), rng.normal(size=dynamics.reduced.nv))
        want, found = (of.over_step(q, v, np.zeros(dynamics.nv), 1 / 240) for of in (definition, step))
        assert np.abs(found - want).max() < 1e-6 * np.abs(want).max()


WAYS = [
    ("velocity_constraints", "semi_implicit_euler"),
    ("penalty", "semi_implicit_euler"),
    ("penalty", "implicit_euler"),
]


def looped(timed: bool = False) -> Scene:
    """A tree closed by rows of positions and of rates: a pin between bodies, a pull on one, a drive of a joint, beside
    force elements of their coordinates."""
    scene = scene_of(MADE["hinges with dampers, springs and rotors"]())
    a, b = scene["leaf2"], scene["link3"]
    gap = a.point((0.1, 0, 0)) - b.point((0, 0, 0.1))
    scene.constrain(gap[0] + 0.17, gap[2] - 0.28, name="pin")
    t = scene.time if timed else sp.Integer(0)
    scene.constrain(scene["leaf1"].position[1] - 0.77 - sp.sin(t) / 20, name="held")
    scene.constrain(scene["link1"].v[0] - 0.5 * scene["link0"].spin[1] - t, name="drive")
    if timed:
        scene.force(scene["link0"].q[0], sp.cos(3 * t) * scene["leaf1"].position[2])
        scene.force(scene["leaf2"], force=(t, 0, sp.sin(t)))
    scene.potential(scene["link1"].q[0] ** 2 * scene["leaf1"].position[2] ** 2, name="coil")
    scene.force(scene["link2"].q[0] - scene["link0"].q[0], -0.1 * scene["link2"].spin[1], name="rub")
    return scene


def driven(dynamics: rd.Dynamics, q: np.ndarray) -> CoordinateDrives:
    """Motors of the last two coordinates with places, one of them to a velocity, and one that moves several of a joint
    of these, if it has some."""
    model = dynamics.reduced.model
    (_, first), (place, second) = [own for own in model.plain_slots if own != model.clock][-2:]
    home = next(link.slots for link in model.links if second in link.slots)
    several = second + 1 - home[0] if model.clock is None or model.clock[1] not in home else 1
    firsts, sizes = np.array([first, second + 1 - several]), np.array([1, several])
    along = np.zeros((2, 6))
    along[0, 0], along[1, :several] = 1.0, np.linspace(1.0, 0.4, several)
    numbers = np.array([[0.0, 3.0], [2.0, 0.5], [2.0, 0.6], [np.inf, 0.1]])
    ways, velocity = np.array([0.0, 0.4 - q[place]]), np.array([1.0, 0.0])
    return CoordinateDrives(np.array([first, second]), firsts, sizes, along, ways, velocity, *numbers)


def compared(scene: Scene, method: str, integrator: str, tolerance: float) -> None:
    """Forces, landings and rows for contacts, of both, along a motion of bodies that have come apart."""
    dynamics, rng, h = scene.compile(method), np.random.default_rng(3), 1 / 60
    step, definition = (of(dynamics, integrator == "implicit_euler") for of in (JointStep, JointAction))
    start = dynamics.reduced.neutral() + 0.3
    if dynamics.reduced.constraints:
        start = dynamics.reduced.project(start)[0]
    q, v = dynamics.from_reduced(start, rng.normal(size=dynamics.reduced.nv))
    for k in range(4):
        bodies = q[: 7 * dynamics.model.nl].reshape(-1, 7)
        bodies += 1e-3 * rng.normal(size=bodies.shape)
        bodies[:, 3:] /= np.linalg.norm(bodies[:, 3:], axis=1)[:, None]
        tau = rng.normal(size=dynamics.nv)
        if k == 2:
            dynamics.parameters["R"] = 0.41
        want, found = (of.over_step(q, v, tau, h) for of in (definition, step))
        assert np.abs(found - want).max() < tolerance * np.abs(want).max()
        assert step.asked == definition.asked
        given = np.array([1]), partial(driven, dynamics)
        (want, astray), (found, other) = (of.held(q, v, h, *given) for of in (definition, step))
        assert np.abs(other - astray).max() < tolerance * np.abs(v).max()
        assert np.array_equal(want.number, found.number) and np.array_equal(want.slots, found.slots)
        for name in ("values", "offsets", "gaps", "low", "high", "compliance"):
            here, there = getattr(found, name), getattr(want, name)
            bound = np.isfinite(there)
            assert np.array_equal(bound, np.isfinite(here))
            assert np.abs(here[bound] - there[bound]).max(initial=0.0) < tolerance * (
                1.0 + np.abs(there[bound]).max(initial=0.0)
            )
        if method == "velocity_constraints":
            want, found = (np.concatenate(of.landed(q, v)) for of in (definition, step))
            assert np.abs(found - want).max() < tolerance
        q, v = np.split(dynamics.call("step", q, v, tau + step.over_step(q, v, tau, h), np.array([h])), [dynamics.nq])


@pytest.mark.parametrize("method, integrator", WAYS)
def test_what_depends_on_time_is_that_of_the_definition(method: str, integrator: str) -> None:
    compared(looped(timed=True), method, integrator, 1e-6)


@pytest.mark.parametrize("method, integrator", WAYS)
def test_loops_and_springs_are_those_of_the_definition(method: str, integrator: str) -> None:
    compared(looped(), method, integrator, 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("method, integrator", WAYS)
@pytest.mark.parametrize("name", MADE)
def test_springs_of_any_joint_are_those_of_the_definition(name: str, method: str, integrator: str) -> None:
    compared(scene_of(MADE[name]()), method, integrator, 1e-6)


def hinged(n: int, base: joints.Joint | None = None) -> Scene:
    """Rods on hinges about one axis, in a chain, its first body on ``base``."""
    scene = Scene() if base is None else Scene(gravity=(0, 0, 0))
    node: Body | object = scene.world
    for i in range(n):
        body = Body(f"link{i}", mass=1.0, center_of_mass=(0.15, 0, 0), inertia=np.diag([0.001, 0.0075, 0.0075]))
        joint = joints.revolute("y") if i or base is None else base
        node = node.attach(body, joint, at=rd.pose((0.3 if i else 0.0, 0, 0)))
    return scene


def test_a_chain_that_whips_at_a_sixtieth_keeps_its_joints_together() -> None:
    """Ten rods let go level: their last one comes round at some 40 rad/s."""
    dynamics = hinged(10).compile("velocity_constraints")
    simulation, fastest = rd.Simulation(dynamics, 1 / 60), 0.0
    first = dynamics.potential_energy(simulation.q)
    for _ in range(60):
        simulation.step(3)
        assert np.abs(dynamics.joint_errors(simulation.q, near=simulation.joint_coordinates)[0]).max() < 1e-5
        energy = dynamics.kinetic_energy(simulation.q, simulation.v) + dynamics.potential_energy(simulation.q)
        assert energy - first < 0.15 * 10 * 9.81 * 1.5  # of what falls in all
        fastest = max(fastest, np.abs(simulation.v).max())
    assert fastest > 15.0


def test_what_floats_keeps_its_momentum_however_far_its_joints_were_open() -> None:
    """Displacements of bodies that move would turn what they carry about each other."""
    dynamics = hinged(5, joints.free()).compile("velocity_constraints")
    rng, simulation = np.random.default_rng(1), rd.Simulation(dynamics, 1 / 60)
    q, simulation.v = dynamics.from_reduced(dynamics.reduced.random(rng), 5.0 * rng.normal(size=dynamics.reduced.nv))
    simulation.q = q + np.tile([*(0.02 * rng.normal(size=3)), 0, 0, 0, 0], 5) * (np.arange(35) > 6)
    before = dynamics.momentum(simulation.q, simulation.v)
    simulation.step(30)
    assert np.abs(dynamics.joint_errors(simulation.q)[0]).max() < 1e-5
    assert np.abs(dynamics.momentum(simulation.q, simulation.v) - before).max() < 1e-12 * np.abs(before).max() * 30


@pytest.mark.parametrize("count", [1, 2])
def test_what_whirls_keeps_its_energy(count: int) -> None:
    """Rods stretched out at 15 rad/s without gravity, a sixteenth of a radian a step."""
    scene, node = Scene(gravity=(0, 0, 0)), None
    for k in range(count):
        body = Body(f"rod{k}", mass=1.0, center_of_mass=(0.25, 0, 0), inertia=np.diag([0.01, 0.03, 0.03]))
        node = (node or scene.world).attach(body, joints.revolute("y"), at=rd.pose((0.5 * k, 0, 0)))
    dynamics = scene.compile("velocity_constraints")
    simulation = rd.Simulation(dynamics, 1 / 240)
    simulation.q, simulation.v = dynamics.from_reduced(np.zeros(count), np.array([15.0, 0.0])[:count])
    energy = dynamics.kinetic_energy(simulation.q, simulation.v)
    simulation.step(120)
    assert dynamics.kinetic_energy(simulation.q, simulation.v) == pytest.approx(energy, rel=1e-3)


def test_a_share_of_what_joints_miss_is_taken_back_in_a_step() -> None:
    dynamics = hinged(3).compile("velocity_constraints", stabilization=0.25)
    simulation = rd.Simulation(dynamics, 1e-4)
    simulation.q = dynamics.neutral() + 1e-3 * np.tile([1, 0, 1, 0, 0, 0, 0], 3) * np.repeat([0, 1, 0], 7)
    missed = []
    for _ in range(3):
        missed.append(np.abs(dynamics.joint_errors(simulation.q)[0]).max())
        simulation.step()
    assert np.allclose(np.array(missed[1:]) / missed[:-1], 0.75, atol=2e-3)


@pytest.mark.parametrize("method, integrator", WAYS)
def test_snapshots_and_copies_go_on_bit_by_bit(method: str, integrator: str) -> None:
    """Joint coordinates are found from where they were last: that is part of what a step starts from."""
    dynamics = looped().compile(method)
    simulation = rd.Simulation(dynamics, 1 / 120, integrator)
    start = dynamics.reduced.project(dynamics.reduced.neutral() + 0.3)[0]
    simulation.q = dynamics.from_reduced(start)[0]
    for _ in range(2):
        kept, sent = simulation.snapshot(), simulation.snapshot_bytes()
        others = [copy.copy(simulation), rd.Simulation(dynamics, 1 / 120, integrator)]
        others[1].restore(sent)
        simulation.step(5)
        want = simulation.q.copy(), simulation.v.copy()
        simulation.restore(kept)
        for one in (simulation, *others):
            one.step(5)
            assert np.array_equal(one.q, want[0]) and np.array_equal(one.v, want[1])


def test_bodies_of_joint_coordinates_are_where_the_recursion_has_them() -> None:
    """Poses and twists carried outward, one state or many, beside the recursion's."""
    made = [joint for name in MADE for joint in MADE[name]()]
    dynamics = scene_of(made).compile("velocity_constraints")
    reduced, rng = dynamics.reduced, np.random.default_rng(1)
    q, v = np.array([reduced.random(rng) for _ in range(3)]), rng.normal(size=(3, reduced.nv))
    places, twists = dynamics.from_reduced(q, v)
    X, V = dynamics.poses(places), dynamics.velocities(places, twists)
    assert np.abs(X - reduced.poses(q)).max() < 1e-12
    assert np.abs(V - reduced.velocities(q, v)).max() < 1e-11
    assert np.array_equal(dynamics.from_reduced(q[1], v[1])[0], places[1])


def test_a_long_chain_keeps_its_energy_and_its_joints() -> None:
    """Links let go level fall nearly freely, and lose the share of energy that the rule takes in free fall."""
    scene, n = Scene(), 300
    node: Body | object = scene.world
    for i in range(n):
        body = Body(f"link{i}", mass=1.0, center_of_mass=(0.2, 0, 0), inertia=np.diag([0.001, 0.02, 0.02]))
        node = node.attach(body, joints.revolute("yz"[i % 2]), at=rd.pose((0.4 if i else 0.0, 0, 0)))
    dynamics = scene.compile("velocity_constraints")
    simulation = rd.Simulation(dynamics, 1 / 240)
    first = dynamics.potential_energy(simulation.q)
    simulation.step(48)
    C, _ = dynamics.joint_errors(simulation.q, simulation.v)
    energy = dynamics.kinetic_energy(simulation.q, simulation.v) + dynamics.potential_energy(simulation.q)
    fallen = first - dynamics.potential_energy(simulation.q)
    assert np.abs(C).max() < 1e-3
    assert fallen > 100.0 and -1.1 / 49 * fallen < energy - first < 0.0
