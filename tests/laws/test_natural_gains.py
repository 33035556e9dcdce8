"""Gains from inertia: what a coordinate carries, whichever end of it is held, and what follows for springs on it."""

import numpy as np
import pytest
from constraint_cases import bound
from trees import mechanism

from recursive_dyn import pose
from recursive_dyn.dynamics.natural_gains import carried_inertia, natural_gains
from recursive_dyn.errors import StateError
from recursive_dyn.simulation.simulation import Simulation
from scene import Body, Scene, joints

INERTIA, CENTER = np.diag([0.05, 0.04, 0.02]), np.array([0.02, 0.01, -0.15])
MASSES = {"trunk": 8.0, "thigh": 2.0, "shank": 1.0}


def arm():
    """Four links on a hinge, with rotors: its base holds nothing in place that another joint moves."""
    scene = Scene()
    parent = scene.world
    for k in range(4):
        body = Body(f"link {k}", mass=1.0 + k, center_of_mass=(0.1, 0.02, -0.2), inertia=INERTIA)
        parent = parent.attach(body, joints.revolute("xyzx"[k], armature=0.03 * k), at=pose((0.05, 0, -0.4)))
    return scene.compile()


def test_fixed_robots_carry_the_diagonal_of_their_mass_matrix():
    dynamics = arm()
    q = dynamics.random(3)
    found = carried_inertia(dynamics, q, range(4))
    np.testing.assert_allclose(found, np.diag(dynamics.mass_matrix(q)), rtol=1e-12)
    np.testing.assert_allclose(carried_inertia(dynamics, q, [2, 0]), found[[2, 0]], rtol=1e-12)


@pytest.mark.parametrize("root", [joints.free(), joints.planar("y")], ids=["free", "planar"])
def test_a_knee_carries_the_body_if_its_foot_may_stand(root):
    """Whichever part is held, the other one turns about the hinge: the greater of both moments of inertia."""
    scene = Scene()
    parent = scene.world
    for name, mass in MASSES.items():
        body = Body(name, mass=mass, center_of_mass=CENTER, inertia=INERTIA)
        joint = root if parent is scene.world else joints.revolute("y")
        parent = parent.attach(body, joint, at=pose((0, 0, -0.4)))
    dynamics = scene.compile()
    q = dynamics.neutral()
    q[-2:] = 0.4, -0.7
    X, names = dynamics.poses(q), list(MASSES)

    def about(hinge: int, part: list[int]) -> float:
        arms = [X[k, :3, :3] @ CENTER + X[k, :3, 3] - X[hinge, :3, 3] for k in part]
        return sum(INERTIA[1, 1] + MASSES[names[k]] * (r[0] ** 2 + r[2] ** 2) for k, r in zip(part, arms, strict=True))

    expected = [max(about(1, [0]), about(1, [1, 2])), max(about(2, [0, 1]), about(2, [2]))]
    slots = [dynamics.nv - 2, dynamics.nv - 1]
    np.testing.assert_allclose(carried_inertia(dynamics, q, slots), expected, rtol=1e-10)
    assert expected[1] > 5 * dynamics.mass_matrix(q)[-1, -1], "as the body is heavier than the shank"


@pytest.mark.parametrize("seed", range(4))
def test_it_is_never_less_than_what_hangs_on_a_coordinate(seed):
    found = mechanism(seed, 6)
    dynamics = found.dynamics()
    q = found.states(1, seed)[0][0]
    carried = carried_inertia(dynamics, q, range(dynamics.nv))
    assert (carried >= np.diag(dynamics.mass_matrix(q)) * (1 - 1e-9)).all()


def test_in_a_loop_it_is_never_less_than_what_the_constraints_let_move():
    """The least energy of all motions that the constraints allow at unit speed of a coordinate."""
    case = bound(3, 5)
    dynamics, q = case.dynamics(), case.home
    M, C = dynamics.mass_matrix(q), dynamics.constraint_jacobian(q)
    m, nv = len(C), dynamics.nv
    carried = carried_inertia(dynamics, q, range(nv))
    for slot in range(nv):
        rows = np.vstack([C, np.eye(nv)[slot]])
        system = np.block([[M, rows.T], [rows, np.zeros((m + 1, m + 1))]])
        motion = np.linalg.solve(system, np.eye(nv + m + 1)[-1])[:nv]
        assert motion @ M @ motion <= carried[slot] * (1 + 1e-6)


@pytest.mark.parametrize("timed", ["a force", "a table", "a prescribed motion"])
def test_in_a_loop_time_and_what_it_leads_carry_nothing(timed):
    """A slider crank carries what it carries without them: M has no inverse for what no force moves."""

    def machine() -> Scene:
        scene = Scene()
        crank = scene.world.attach(Body("crank", mass=1.0, inertia=INERTIA), joints.revolute("y"))
        rod = crank.attach(Body("rod", mass=2.0, inertia=INERTIA), joints.revolute("y"), at=pose((0, 0, -0.6)))
        scene.constrain(rod.point((0, 0, -0.7))[0])
        return scene

    scene, fan = machine(), Body("fan", mass=1.0, inertia=INERTIA)
    if timed == "a force":
        scene.force(scene["crank"].q[0], scene.time)
    else:
        scene.world.attach(fan, joints.revolute("x").driven(scene.time) if timed == "a table" else joints.revolute("x"))
    sim, alone = Simulation(scene.compile()), machine().compile()
    if timed == "a prescribed motion":
        sim.prescribe("fan.angle", 3 * scene.time)
    q = [0.3, 0.4]
    found = carried_inertia(sim.dynamics, np.concatenate((q, np.zeros(sim.dynamics.nq - 2))), [0, 1])
    np.testing.assert_allclose(found, carried_inertia(alone, q, [0, 1]), rtol=1e-12)
    assert found[0] > 1.001 * alone.mass_matrix(q)[0, 0], "by way of the constraint"


def test_a_coordinate_on_such_a_spring_swings_at_the_frequency_and_dies_out_at_the_ratio():
    """I s^2 + kd s + kp = 0 has the roots omega (-zeta +- i sqrt(1 - zeta^2))."""
    dynamics = arm()
    q, frequency, ratio = dynamics.random(1), np.array([0.5, 2.0, 3.0, 11.0]), np.array([0.1, 0.4, 0.7, 0.9])
    kp, kd = natural_gains(dynamics, q, frequency, ratio)
    for k, inertia in enumerate(np.diag(dynamics.mass_matrix(q))):
        root = np.roots([inertia, kd[k], kp[k]])[0]
        assert abs(root) == pytest.approx(2 * np.pi * frequency[k])
        assert -root.real == pytest.approx(2 * np.pi * frequency[k] * ratio[k])


@pytest.mark.parametrize(
    "given, message",
    [
        ({"frequency": 0.0}, "frequency must be above 0"),
        ({"frequency": [1.0, 2.0]}, "frequency must be a number, or 4 numbers"),
        ({"frequency": "fast"}, "frequency must be a number"),
        ({"damping_ratio": -0.1}, "damping_ratio must be at least 0"),
        ({"damping_ratio": np.nan}, "damping_ratio must be at least 0 and finite"),
    ],
)
def test_what_is_no_frequency_or_ratio(given, message):
    dynamics = arm()
    with pytest.raises(StateError, match=message):
        natural_gains(dynamics, dynamics.neutral(), **given)
