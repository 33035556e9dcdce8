"""Springs, cones and twists of balls between free bodies: laws, statics, and what joint coordinates make of them."""

import numpy as np
import pytest

import recursive_dyn as rd
from recursive_dyn.dynamics.turn_rows import turn_gaps
from recursive_dyn.maximal.kinds.springs_found import pull
from recursive_dyn.spatial.rotations import quaternion_exp
from scene import Body, Scene, joints

G = 9.81
INERTIA = np.diag([0.02, 0.03, 0.01])
WAYS = [("velocity_constraints", None), ("penalty", "implicit_euler"), ("penalty", "semi_implicit_euler")]
EACH = pytest.mark.parametrize("method, integrator", WAYS)


def sprung() -> Scene:
    """A ball and a free joint with springs of three stiffnesses, away from where they rest."""
    scene = Scene(gravity=(0, 0, 0))
    arm = scene.world.attach(Body("arm", mass=1.0, inertia=INERTIA, center_of_mass=(0, 0, -0.2)),
                             joints.ball(stiffness=[2.0, 3.0, 4.0], rest=[0.5, -0.2, 0.9]))  # fmt: skip
    free = joints.free(stiffness=[2.0, 3.0, 4.0, 50.0, 60.0, 70.0], rest=[-0.1, 0.2, 0.3, 0.1, 0.2, -0.1])
    arm.attach(Body("kite", mass=0.5, inertia=INERTIA), free, at=rd.pose((0.1, 0.2, -0.3), (0.4, 0.5, 0.6)))
    return scene


def hung(**options) -> Scene:
    scene = Scene()
    bob = Body("bob", mass=1.5, center_of_mass=(0, 0, -0.4), inertia=INERTIA)
    scene.world.attach(bob, joints.ball(**options))
    return scene


def energy(sim: rd.Simulation, near=None) -> float:
    d = sim.dynamics
    q, v = d.to_reduced(sim.q, sim.v, near)
    return float(d.reduced.kinetic_energy(q, v) + d.reduced.potential_energy(q) + d.reduced.elastic_energy(q))


def test_what_springs_take_is_what_joint_coordinates_have() -> None:
    d, rng = sprung().compile(), np.random.default_rng(1)
    for _ in range(50):
        q = d.random(rng)
        np.testing.assert_allclose(pull(d.model, q), -d.passive_forces(q, np.zeros(d.nv)), rtol=1e-11, atol=1e-11)
    rest = d.neutral()
    rest[:4], rest[4:7], rest[7:] = (
        quaternion_exp([0.5, -0.2, 0.9]),
        (0.1, 0.2, -0.1),
        (quaternion_exp([-0.1, 0.2, 0.3])),
    )
    np.testing.assert_allclose(pull(d.model, rest), 0.0, atol=1e-12)


@EACH
def test_springs_swing_bodies_as_in_joint_coordinates(method, integrator) -> None:
    """The difference is of the order of the timestep, and halves with it."""
    missed = []
    for h in (1e-3, 5e-4):
        scene = sprung()
        settings = {"stiffness": (2e3, 2e5), "damping": (2.0, 200.0)} if method == "penalty" else {}
        sim, exact = rd.Simulation(scene.compile(method, **settings), h, integrator), rd.Simulation(scene.compile(), h)
        sim.step(round(0.5 / h)), exact.step(round(0.5 / h))
        apart = sim.dynamics.poses(sim.q) - exact.dynamics.poses(exact.q)
        missed.append(np.abs(apart).max())
    assert missed[0] < 3e-2 and missed[1] < 0.55 * missed[0]


@pytest.mark.parametrize("stiffness", [1e3, 1e6])
@pytest.mark.parametrize("method, integrator", WAYS[:2])
def test_stiff_springs_hold_weight_without_ringing_at_a_thirtieth(method, integrator, stiffness) -> None:
    """A bob held out level by a spring about all axes: it sags by m g l / k, and stays."""
    rest = [0.0, -np.pi / 2, 0.0]
    sim = rd.Simulation(hung(stiffness=stiffness, rest=rest).compile(method), 1 / 30, integrator)
    q = np.array(quaternion_exp(rest), dtype=float)
    sim.q, _ = sim.dynamics.from_reduced(q)
    ways = []
    for _ in range(300):
        sim.step()
        ways.append(sim.dynamics.poses(sim.q)[0, :3, :3] @ [0, 0, -1])
    sag = 1.5 * G * 0.4 / stiffness
    assert np.arcsin(-ways[-1][2]) == pytest.approx(sag, rel=2e-2) and np.abs(sim.v).max() < 1e-4
    assert max(np.arcsin(-way[2]) for way in ways) < 2.1 * sag


@pytest.mark.parametrize("limits", [
    joints.TurnLimits(swing=0.7, twist=(-0.3, 0.5)),
    joints.TurnLimits(swing=(0.5, 1.1), twist=(-0.3, 0.5), axis="x", center=(0.1, 0.2, -0.1)),
])  # fmt: skip
@EACH
def test_balls_stay_within_their_limits_and_gain_nothing(method, integrator, limits) -> None:
    """A chain of two whirls against its cones and twists: from one step to the next energy does not rise by more than
    flights without limits change it by; of springs of no length that is not all there is."""
    worst, rises = np.inf, []
    for bound in (limits, None):
        scene = hung(limits=bound)
        more = Body("more", mass=0.5, center_of_mass=(0, 0.05, -0.3), inertia=INERTIA)
        scene["bob"].attach(more, joints.ball(limits=bound), at=rd.pose((0, 0, -0.8)))
        sim = rd.Simulation(scene.compile(method), 1 / 480, integrator)
        speed = 4.0 * np.random.default_rng(2).normal(size=6)
        sim.q, sim.v = sim.dynamics.from_reduced(sim.dynamics.reduced.neutral(), speed)
        pushed, before, rise = set(), energy(sim), 0.0
        for _ in range(480):
            sim.step()
            near = sim.joint_coordinates
            q, after = sim.dynamics.to_reduced(sim.q, None, near)[0], energy(sim, near)
            rise, before = max(rise, after - before), after
            if bound:
                worst = min(worst, *(gap for _, gap, _ in turn_gaps(sim.dynamics.reduced, q).values()))
            pushed |= {name for name, impulse in sim.coordinate_impulses.items() if impulse and "limit of" in name}
        rises.append(rise)
        assert {name.split(" limit")[0].split()[-1] for name in pushed} >= ({"swing", "twist"} if bound else set())
    assert worst > (-0.03 if method == "penalty" else -0.01)
    assert rises[0] < 2.0 * rises[1] + 1e-3 or method == "penalty"


@EACH
def test_a_bob_leans_on_its_cone_as_statics_says(method, integrator) -> None:
    """Under gravity across the axis of its cone, the limit pushes with what the weight turns: m g l cos(swing)."""
    swing = 0.6
    scene = hung(limits=joints.TurnLimits(swing=swing), damping=0.5)
    scene.gravity = (G, 0, 0)
    sim = rd.Simulation(scene.compile(method), 1 / 240, integrator)
    sim.step(1200)
    angle = np.arccos(sim.dynamics.poses(sim.q)[0, 2, 2])
    assert angle == pytest.approx(swing, abs=2e-3) and np.abs(sim.v).max() < 1e-3
    pushes = {name: impulse * 240 for name, impulse in sim.coordinate_impulses.items() if "swing limit" in name}
    assert list(pushes.values()) == [pytest.approx(1.5 * G * 0.4 * np.cos(angle), rel=5e-3)]


def test_a_snapshot_on_its_limits_goes_on_to_the_last_bit() -> None:
    scene = hung(limits=joints.TurnLimits(swing=0.4, twist=(-0.2, 0.2)))
    sim = rd.Simulation(scene.compile("velocity_constraints"), 1 / 240)
    sim.q, sim.v = sim.dynamics.from_reduced(sim.dynamics.reduced.neutral(), [2.0, 3.0, 4.0])
    sim.step(60)
    snapshot = sim.snapshot()
    sim.step(100)
    state = np.concatenate([sim.q, sim.v])
    sim.restore(snapshot)
    sim.step(100)
    np.testing.assert_array_equal(np.concatenate([sim.q, sim.v]), state)
