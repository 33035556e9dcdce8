"""The implicit midpoint rule by Newton's method: its factors are the derivative, steps those of the definition."""

import numpy as np
import pytest
from trees import assert_close, mechanism

import recursive_dyn as rd
from demos.benchmark.integrators import FAT, SLENDER, links
from recursive_dyn.integrators.converging_loop import CHANGES
from recursive_dyn.integrators.registry import rule
from scene import Body, Scene, joints

RULE, FRAME = "implicit_midpoint", 1 / 60
FREELY = ("free", "ball", "revolute", "helix")
TREES = {
    "any joints": {"seed": 5, "bodies": 5},
    "floating": {"seed": 4, "bodies": 6, "kinds": FREELY, "root": "free", "springs": True},
    "balls": {"seed": 7, "bodies": 5, "kinds": ("ball", "free"), "root": "ball"},
    "prismatic ends": {"seed": 3, "bodies": 7, "kinds": ("prismatic", "universal", "ball"), "springs": True},
}


def newtons_changes(d: rd.Dynamics, q, v, tau, h: float, calls: int = 3) -> list[float]:
    """Of calls of the function one after the other, by how much each changes the velocity of the middle."""
    found, middle, at = [], v, d.nq + d.nv
    for _ in range(calls):
        result = d.call("midpoint", q, v, tau, [h], middle)
        middle = result[at : at + d.nv]
        found.append(float(np.sqrt(result[-CHANGES])))
    return found


@pytest.mark.parametrize("name", TREES)
def test_newtons_method_converges_quadratically_on_any_joint(name):
    """A call squares what is left once, and takes one more step by its factors: more than a third power."""
    case = mechanism(**TREES[name])
    d, (q, v) = case.dynamics(), (x[0] for x in case.states(1, 2))
    first, second, third = newtons_changes(d, q, v, np.linspace(-1.0, 1.0, d.nv), FRAME)
    assert 1e-4 < first < 0.3 and second < first**3 and third < 1e-14


def test_coordinates_that_joints_share_are_exact_too():
    """Tongs of 32 bars on one coordinate, and what swings from them."""
    from demos import tong

    d = tong.tong(damping=0.0, swing=0.0).compile()
    q, v = np.array([0.6, 0.9, 0.25]), np.array([0.3, -2.0, 1.5])
    first, second, third = newtons_changes(d, q, v, np.zeros(d.nv), FRAME)
    assert 1e-4 < first < 0.3 and second < first**3 and third < 1e-14


@pytest.mark.parametrize("inertia, ball", [(SLENDER, False), (SLENDER, True), (FAT, True)])
def test_large_steps_are_those_of_the_definition(inertia, ball):
    """One step a frame of five links, which took nine to twelve sweeps, takes two or three: as swept densely."""
    start = links(inertia, ball)
    d, q = start.dynamics, start.q
    v, sim = np.zeros(d.nv), rd.Simulation(start.dynamics, FRAME, RULE)
    sim.q = q
    for _ in range(40):
        q, v = rule(RULE).definition(d, q, v, np.zeros(d.nv), FRAME)
        sim.step()
        assert_close(sim.q, q, 1e-10)
        assert_close(sim.v, v, 1e-10)
        sim.q, sim.v = q, v
    assert sim.report.sweeps <= 2.5 * 40 and sim.report.halvings == 0


def sprung(kind: str, stiffness: float) -> rd.Simulation:
    """Three links on balls, on springs in these or with their end on a spring; struck where all springs rest, so that
    links turn little in a step: by more the stiffest spring makes so much of nothing that steps are halved."""
    scene, inertia = Scene(gravity=(0, 0, 0)), np.diag([0.02, 0.021, 0.01])
    node = scene.world
    for i in range(3):
        joint = joints.ball(stiffness=stiffness) if kind == "balls" else joints.ball()
        body = Body(f"link{i}", mass=1.0, center_of_mass=(0, 0, -0.25), inertia=inertia)
        node = node.attach(body, joint, rd.pose((0, 0, -0.5 if i else 0)))
    if kind == "element":
        scene.spring(node, scene.world, stiffness, rest=0.5, point_a=(0, 0, -0.5), point_b=(0.5, 0, -1.5))
    sim = rd.Simulation(scene.compile(), FRAME, RULE)
    v = np.zeros(sim.dynamics.nv)
    v[[0, -2]] = 0.1, 0.05
    sim.v = v
    return sim


def missed(d: rd.Dynamics, q, v, v_end, h: float) -> np.ndarray:
    """What the rule's equations miss where balls alone move, in plain calls of dynamics (nv,)."""
    middle = (v + v_end) / 2
    q_middle = d.call("integrate", q, middle, [h / 2])
    return d.inverse_dynamics(q_middle, middle, (v_end - v) / h) - d.passive_forces(q_middle, middle)


@pytest.mark.parametrize("kind", ["balls", "element"])
@pytest.mark.parametrize("stiffness", [1e4, 1e6])
def test_stiff_springs_converge(kind, stiffness):
    """h sqrt(k / I) up to 100 and more, of springs that are no hinge's: whole steps of three calls, and true ones."""
    sim, h = sprung(kind, stiffness), FRAME
    for _ in range(60):
        q, v = sim.q.copy(), sim.v.copy()
        sim.step()
        size = np.abs(sim.dynamics.passive_forces(sim.q, sim.v)).max() + 1.0
        assert np.abs(missed(sim.dynamics, q, v, sim.v, h)).max() < 1e-8 * (size + stiffness * h * h)
    assert sim.report.halvings == 0 and sim.report.sweeps <= 3.5 * 60


def test_a_damper_of_any_stiffness_does_not_ring():
    """A ball's and a hinge's, which no step resolves, beside what turns fast: no coordinate comes back."""
    scene = Scene(gravity=(0, 0, 0))
    arm = scene.world.attach(Body("arm", mass=1.0, inertia=np.eye(3)), joints.revolute("z", damping=1e4))
    arm.attach(Body("top", mass=1.0, inertia=np.diag([0.1, 0.2, 0.3])), joints.ball(), rd.pose((0.3, 0, 0)))
    sim = rd.Simulation(scene.compile(), FRAME, RULE)
    sim.v = [1.0, 3.0, -2.0, 5.0]
    sim.step()
    assert abs(sim.v[0]) < 0.1
    sim.step(30)
    assert abs(sim.v[0]) < 1e-2 and sim.report.halvings == 0


@pytest.mark.slow
def test_where_newtons_method_does_not_contract_the_sweeps_go_on():
    """Thirty slender hinges at 60 Hz, that whip by half a radian a step: as sweeps alone have it, no step is halved but
    those that make more than 1 % of their motion of nothing."""
    start = links(SLENDER, False, 30)
    sim = rd.Simulation(start.dynamics, FRAME, RULE)
    sim.q = start.q
    sim.step(120)
    assert sim.report.halvings < 0.2 * 120 and sim.report.sweeps < 9 * 120
