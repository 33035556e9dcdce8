"""Steps of both midpoint rules that would make energy of nothing: halved, told, or refused, never silent."""

import numpy as np
import pytest
import sympy as sp

import recursive_dyn as rd
from demos.benchmark.integrators import SLENDER, energy, links
from recursive_dyn.integrators.explained_steps import GROSS
from scene import Body, Scene, joints

RULE = "implicit_midpoint"


def drawn(stiffness: float, by: float, h: float, rule: str = RULE) -> rd.Simulation:
    """1 kg that floats on a spring from above, drawn out and thrown aside."""
    scene = Scene()
    body = scene.world.attach(Body("body", mass=1.0, inertia=np.eye(3) * 0.01), joints.free())
    scene.spring(body, scene.world, stiffness, rest=1.0 - by, point_b=(0, 0, 1), name="spring")
    sim = rd.Simulation(scene.compile(), h, rule)
    sim.v[3:] = 0.3, 0.2, 0.0
    return sim


@pytest.mark.parametrize(
    "stiffness, by, h", [(1e6, 0.15, 1 / 60), (1e5, 0.3, 1 / 60), (1e6, 0.5, 1 / 240), (1e8, 0.1, 1 / 60)]
)
def test_no_step_makes_more_than_is_told(stiffness, by, h):
    """Of 11 kJ one step made 1.3 MJ, and told nothing: energies of this scene are never below 0."""
    sim = drawn(stiffness, by, h)
    for _ in range(30):
        before, told = energy(sim), sim.report.unexplained_energy
        sim.step()
        made = abs(energy(sim) - before)
        assert made <= GROSS * before * 1.02 + sim.report.unexplained_energy - told
    assert sim.report.halvings >= sim.report.steps_halved > 0
    assert sim.report.unexplained_energy == 0.0


def test_what_steps_add_up_to_is_told():
    """Slender links that whip by more than steps of 1/60 s resolve: whatever energy is off by, beyond 1 % of motion."""
    start = links(SLENDER, True)
    sim, moving = rd.Simulation(start.dynamics, 1 / 60, RULE), 0.0
    sim.q = start.q
    first = energy(sim)
    for _ in range(600):
        sim.step()
        moving = max(moving, float(start.dynamics.kinetic_energy(sim.q, sim.v)))
        assert abs(energy(sim) - first) <= 1.02 * GROSS * moving + sim.report.unexplained_energy
    assert sim.report.unexplained_energy > 0.0


def test_the_variational_rule_tells_what_its_shortest_parts_are_off_by():
    """The same, of h w of 4: 13 times its energy, and only that it went in eight parts was told."""
    sim = drawn(1e6, 0.5, 1 / 240, "variational_midpoint")
    first, off = energy(sim), 0.0
    for _ in range(240):
        sim.step()
        off = max(off, abs(energy(sim) - first))
        assert off <= 2.0 * GROSS * (first + off) + sim.report.unexplained_energy
    assert off > 0.1 * first


def test_halved_steps_are_the_same_from_a_snapshot_on():
    sim = drawn(1e6, 0.15, 1 / 60)
    sim.step(3)
    kept, halvings = sim.snapshot(), sim.report.halvings
    ends = []
    for _ in range(2):
        sim.restore(kept)
        sim.step(20)
        ends.append(sim.q.tobytes() + sim.v.tobytes())
    assert ends[0] == ends[1] and sim.report.halvings > halvings


def driven() -> rd.Simulation:
    """What forces, dampers, pushes and prescribed motion all give energy to, or take it from, and springs carry it."""
    scene, rng = Scene(), np.random.default_rng(3)
    hung = Body("hung", mass=1.0, center_of_mass=(0, 0, -0.3), inertia=np.eye(3) * 0.02)
    node = scene.world.attach(hung, joints.revolute("y", damping=0.5, stiffness=3e4))
    node = node.attach(
        Body("ball", mass=0.5, inertia=np.eye(3) * 0.01), joints.ball(damping=0.1), at=rd.pose((0, 0, -1))
    )
    slider = scene.world.attach(Body("slider", mass=2.0, inertia=np.eye(3)), joints.prismatic("x", damping=1e3))
    cart = scene.world.attach(Body("cart", mass=1.0, inertia=np.eye(3)), joints.prismatic("y"))
    cart.attach(Body("pole", mass=0.3, center_of_mass=(0, 0.1, 0.4), inertia=np.eye(3) * 0.01), joints.revolute("x"))
    floating = scene.world.attach(Body("floating", mass=1.0, inertia=np.diag([0.1, 0.2, 0.25])), joints.free())
    scene.force(slider.q[0], -3.0 * slider.v[0], name="drag")
    scene.spring(node, floating, 20.0, damping=0.5, rest=0.5)
    sim = rd.Simulation(scene.compile(), 1 / 60, RULE)
    sim.prescribe("cart.distance", lambda t: 0.2 * np.sin(6.0 * t))
    sim.tau = rng.normal(size=sim.dynamics.nv) * 1.5
    return sim


def test_what_forces_dampers_and_motions_do_is_explained():
    sim = driven()
    for _ in range(120):
        sim.apply_force("floating", (0.0, 3.0, 12.0), (0.1, 0.0, 0.0))
        sim.step()
    assert sim.report.halvings <= 2 and sim.report.unexplained_energy == 0.0


@pytest.mark.parametrize("stiffness", [1e2, 1e5, 1e9])
def test_a_joints_spring_of_any_stiffness_is_never_halved(stiffness):
    """Quadratic energies are kept in steps of any length."""
    scene = Scene()
    scene.world.attach(Body("body", mass=1.0, inertia=np.eye(3)), joints.prismatic("z", stiffness=stiffness))
    sim = rd.Simulation(scene.compile(), 1 / 60, RULE)
    sim.q[0] = 0.3
    first = energy(sim)
    sim.step(200)
    assert sim.report.halvings == 0 and energy(sim) == pytest.approx(first, rel=1e-9)


def test_energy_that_no_step_resolves_is_refused_by_name():
    """A cliff of 50 J, of which no step sees the force."""
    scene = Scene(gravity=(0, 0, 0))
    body = scene.world.attach(Body("body", mass=1.0, inertia=np.eye(3)), joints.prismatic("x"))
    scene.potential(sp.Piecewise((50.0, body.q[0] > 0.05), (0.0, True)), name="cliff")
    sim = rd.Simulation(scene.compile(), 1 / 60, RULE)
    sim.v[0] = 1.0
    with pytest.raises(rd.StateError, match=r"implicit_midpoint step makes more energy of nothing.*'body.distance'"):
        sim.step(60)
    assert sim.v[0] == 1.0 and sim.report.halvings == sim.report.unexplained_energy == 0
