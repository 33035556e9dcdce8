"""Chains that are pinned at their full length: constraints hold them by their curvature, and they stay there."""

import copy
import re

import numpy as np
import pytest
import sympy as sp
from chart_cases import energy

import recursive_dyn as rd
from recursive_dyn.dynamics.projection import _missed
from recursive_dyn.dynamics.taut import tautened
from scene import Body, Scene, joints

RULES = ["linearly_implicit_rk4", "semi_implicit_euler", "rk4", "implicit_midpoint", "variational_midpoint"]


def chain(count: int, kind: str, slack: float = 0.0, gravity: float = -9.81) -> Scene:
    """Links of 1 kg, 1 m together, between pins on a line."""
    scene, length = Scene(gravity=(0, 0, gravity)), 1.0 / count
    on = scene.world
    for k in range(count):
        link = Body(f"link {k}", mass=1.0, center_of_mass=(length / 2, 0, 0), inertia=np.diag([0.002, 0.01, 0.01]))
        joint = joints.revolute("y") if kind == "hinge" else joints.ball()
        on = on.attach(link, joint, at=rd.pose((length if k else 0, 0, 0)))
    axis = {"axis": (0, 1, 0)} if kind == "hinge" else {}
    scene.pin(on, scene.world, point_a=(length, 0, 0), point_b=(1 - slack, 0, 0), **axis)
    return scene


def moved(sim: rd.Simulation, start: np.ndarray) -> float:
    return float(np.abs(sim.dynamics.poses(sim.q) - start)[:, :3, 3].max())


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", ["hinge", "ball"])
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize("slack", [0.0, 1e-12])
def test_a_taut_chain_carries_its_weight_and_a_push(rule, kind, count, h, slack):
    sim = rd.Simulation(chain(count, kind, slack).compile(), h, rule)
    start, before = sim.dynamics.poses(sim.q), energy(sim)
    sim.apply_force("link 0", (0, 0, 5.0), (1 / count, 0, 0))
    sim.step(3)
    sim.step(round(0.25 / h))
    assert moved(sim, start) < 1e-5
    assert np.abs(sim.v).max() < 1e-3
    assert energy(sim) == pytest.approx(before, abs=1e-3)
    assert sim.report.unexplained_energy < 0.1


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("how", ["push", "tau", "control"])
@pytest.mark.parametrize("weights", [10, 100])
def test_a_taut_chain_carries_what_pushes_it_many_times_its_weight(rule, how, weights):
    """At 1/60 s, with some more halves in the steps in which it is found out."""
    sim, force = rd.Simulation(chain(3, "hinge").compile(), 1 / 60, rule), weights * 3 * 9.81
    start, before = sim.dynamics.poses(sim.q), energy(sim)
    if how == "tau":
        sim.tau[0] = force / 3
    elif how == "control":
        sim.control = lambda q, v, t: np.array([force / 3, 0.0, 0.0])
    halvings = []
    for _ in range(20):
        if how == "push":
            sim.apply_force("link 0", (0, 0, force), (1 / 3, 0, 0))
        sim.step()
        halvings.append(sim.report.halvings)
    assert moved(sim, start) < 1e-5 and np.abs(sim.v).max() < 1e-3
    assert energy(sim) == pytest.approx(before, abs=2e-3)
    assert halvings[-1] - halvings[3] <= 8 * 16  # eight parts, where a step is taken by the rule for such positions


def test_once_it_is_known_to_be_taut_a_step_is_one_step():
    sim = rd.Simulation(chain(5, "hinge").compile(), 1 / 60)
    sim.step(3)
    known = sim.report
    sim.step(60)
    assert sim.report == known
    twin = copy.deepcopy(sim)
    sim.step(10)
    twin.step(10)
    np.testing.assert_array_equal(twin.q, sim.q)


@pytest.mark.parametrize("count, gravity, near", [(2, 0.0, 1e-12), (5, 0.0, 1e-12), (2, -9.81, 4e-3), (3, -9.81, 4e-3)])
def test_links_of_a_taut_chain_spin_on(count, gravity, near):
    """Of 3 n directions it is stuck in 2 (n - 1), two bending ones are the pin's; spins about the line are free."""
    sim = rd.Simulation(chain(count, "ball", gravity=gravity).compile(), 1 / 240)
    *_, stuck = tautened(sim.dynamics, sim.q, sim.v)
    assert np.linalg.matrix_rank(stuck.rows) == 2 * (count - 1)
    sim.v[0] = 3.0  # about the line: the first link, and all that hang on it
    before = energy(sim)
    sim.step(120)
    assert energy(sim) == pytest.approx(before, rel=near)
    assert sim.dynamics.velocities(sim.q, sim.v)[:, 0] == pytest.approx(3.0, rel=near)


def test_what_hangs_beside_swings_as_alone():
    def with_pendulum(scene: Scene) -> rd.Simulation:
        bar = Body("bar", mass=1.0, center_of_mass=(0, 0, -0.25), inertia=np.eye(3) / 50)
        scene.world.attach(bar, joints.revolute("y"), at=rd.pose((0, 2, 0)))
        sim = rd.Simulation(scene.compile(), 1 / 240)
        sim.q[-1] = 1.0
        return sim

    alone, beside = with_pendulum(Scene()), with_pendulum(chain(3, "hinge"))
    alone.step(240)
    beside.step(240)
    assert abs(alone.v[-1]) > 0.1
    assert beside.q[-1] == pytest.approx(alone.q[-1], abs=1e-7)
    assert beside.v[-1] == pytest.approx(alone.v[-1], abs=1e-7)


def test_a_chain_with_slack_is_not_stuck():
    """1 mm of 1 m: it falls by some 13 mm, as its two links are long, and swings."""
    sim = rd.Simulation(chain(3, "hinge", 1e-3).compile(), 1 / 240)
    start, before = sim.dynamics.poses(sim.q), energy(sim)
    farthest = 0.0
    for _ in range(60):
        sim.step()
        farthest = max(farthest, moved(sim, start))
    assert farthest > 5e-3
    assert energy(sim) == pytest.approx(before, abs=1e-3)


def test_a_parallelogram_that_lies_flat_is_not_stuck():
    """Its curvature has both signs: it can go on in two ways, and does."""
    scene = Scene(gravity=(0, 0, 0))
    bar = {"mass": 1.0, "inertia": np.eye(3) / 50}
    left = scene.world.attach(Body("left", **bar), joints.revolute("y"))
    right = scene.world.attach(Body("right", **bar), joints.revolute("y"), at=rd.pose((1, 0, 0)))
    top = left.attach(Body("top", **bar), joints.revolute("y"), at=rd.pose((0.5, 0, 0)))
    scene.pin(top, right, point_a=(1, 0, 0), point_b=(0.5, 0, 0), axis=(0, 1, 0))
    dynamics = scene.compile()
    sim = rd.Simulation(dynamics, 1 / 60)
    sim.q, sim.v = np.zeros(3), (1.0, 1.0, -1.0)
    assert tautened(dynamics, sim.q, sim.v) is None
    before = energy(sim)
    sim.step(60)
    assert energy(sim) == pytest.approx(before, rel=1e-4)
    assert abs(sim.q[0]) > 0.9


def test_a_row_without_gradient_says_that_a_chain_may_be_meant():
    scene = Scene()
    on = scene.world
    for k in range(2):
        on = on.attach(Body(f"link {k}", mass=1.0, inertia=np.eye(3)), joints.revolute("y"), at=rd.pose((k / 2, 0, 0)))
    gap = on.point((0.5, 0, 0)) - sp.Matrix([1.0, 0, 0])
    scene.constrain(gap[0], gap[2], name="end")
    with pytest.raises(rd.ModelError, match=r"'end\[0\]' has no gradient.*full length needs some slack.*scene.pin"):
        scene.compile()


def led_parallelogram(h: float, motion) -> rd.Simulation:
    """Bars of 0.5, 1, 0.5 m and 1 kg with their centres in their middles; the left one is led, flat at angle 0."""
    scene, inertia = Scene(), np.eye(3) / 50
    left = Body("left", mass=1.0, center_of_mass=(0.25, 0, 0), inertia=inertia)
    left = scene.world.attach(left, joints.revolute("y"))
    right = Body("right", mass=1.0, center_of_mass=(0.25, 0, 0), inertia=inertia)
    right = scene.world.attach(right, joints.revolute("y"), at=rd.pose((1, 0, 0)))
    top = Body("top", mass=1.0, center_of_mass=(0.5, 0, 0), inertia=inertia)
    top = left.attach(top, joints.revolute("y"), at=rd.pose((0.5, 0, 0)))
    scene.pin(top, right, point_a=(1, 0, 0), point_b=(0.5, 0, 0), axis=(0, 1, 0))
    sim = rd.Simulation(scene.compile(), h)
    sim.q = np.array([1.0, 1.0, -1.0]) * motion(0.0)
    sim.prescribe("left.angle", motion)
    return sim


@pytest.mark.parametrize("h", [1 / 240, 1e-3, 1e-4])
def test_a_parallelogram_is_led_through_its_flat_position(h):
    """At 1 rad/s all angles go on as they came, and beside the flat position the drive has the weight's moment."""
    sim = led_parallelogram(h, lambda t: t - 0.1)
    for _ in range(round(0.2 / h)):
        sim.step()
        angle = sim.q[0]
        np.testing.assert_allclose(sim.q[:3], [angle, angle, -angle], atol=2e-5)
        if abs(angle) > 2e-4:
            np.testing.assert_allclose(sim.v[:3], [1.0, 1.0, -1.0], atol=1e-6)
        if abs(angle) > 2.5e-3:
            weight = -9.81 * (0.25 + 0.5 + 0.25) * np.cos(angle)
            assert sim.prescribed["left.angle"].force == pytest.approx(weight, rel=1e-5)
    assert sim.report.unexplained_energy == 0.0


def test_a_flat_parallelogram_whose_crank_stays_is_stuck():
    sim = led_parallelogram(1 / 240, lambda t: 0.0)
    sim.step(60)
    assert np.abs(sim.q[:3]).max() < 2e-5 and np.abs(sim.v[:3]).max() < 1e-3


def led_chain(rule: str, h: float, motion, slack: float = 0.0) -> rd.Simulation:
    """Two links of 0.5 m and 1 kg that hang from a pin and from a slider, slack short of their full length."""
    scene = Scene()
    slider = Body("slider", mass=1.0, inertia=np.eye(3) / 100)
    slider = scene.world.attach(slider, joints.prismatic("x"), at=rd.pose((1 - slack, 0, 0)))
    on = scene.world
    for k in range(2):
        link = Body(f"link {k}", mass=1.0, center_of_mass=(0.25, 0, 0), inertia=np.diag([0.002, 0.01, 0.01]))
        on = on.attach(link, joints.revolute("y"), at=rd.pose((0.5 if k else 0, 0, 0)))
    scene.pin(on, slider, point_a=(0.5, 0, 0), axis=(0, 1, 0))
    sim, sag = rd.Simulation(scene.compile(), h, rule), np.arccos(1 - slack)
    sim.q = 0.0, sag, -2 * sag
    sim.prescribe("slider.distance", motion)
    return sim


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize("speed", [0.1, 0.37, 2.0])
def test_a_slider_that_pulls_a_chain_beyond_its_length_is_told(rule, h, speed):
    """Nothing is accepted that moves as no chain does: 1.7 and 3.5 rad/s are those a step before, at 0.1 m/s."""
    sim = led_chain(rule, h, lambda t: speed * t, 0.02)
    with pytest.raises(rd.StateError, match=r"motion of 'slider.distance' leads to where constraint 'pin 1\[[02]\]' "):
        sim.step(round(0.5 / speed / h))
    assert 0.02 / speed - 2 * h <= sim.time <= 0.02 / speed + 1e-9
    left = 0.02 - speed * sim.time
    assert abs(sim.v[1]) < 2 * max(1.0, speed / np.sqrt(2 * max(left, 1e-3 * speed * h)))
    sim.prescribe("slider.distance", None)
    sim.step(2)


@pytest.mark.parametrize("rule", sorted({*RULES} - {"implicit_midpoint"}))  # this one may refuse it, by name
@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
def test_a_slider_that_stops_where_a_chain_is_taut_leaves_it_at_rest(rule, h):
    sim = led_chain(rule, h, lambda t: 0.02 * np.sin(min(5 * t, np.pi / 2)), 0.02)
    sim.step(round(1.0 / h))
    np.testing.assert_allclose(sim.q[:3], [0.02, 0.0, 0.0], atol=1e-4)
    assert np.abs(sim.v[:3]).max() < 1e-3
    assert sim.report.unexplained_energy < 20.0  # what the links had as they came to be taut, and rules that gain


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize("power", [1, 2])
def test_a_slider_that_moves_inward_lets_a_taut_chain_sag(rule, h, power):
    sim = led_chain(rule, h, lambda t: -0.05 * t**power)
    sim.step(round(1.0 / h))
    assert sim.q[0] == pytest.approx(-0.05)
    assert np.cos(sim.q[1]) == pytest.approx(0.95, abs=1e-6)  # up or down


_REFUSED = pytest.mark.xfail(raises=rd.StateError, strict=True, reason="refused at 0.98 to 0.996 s, before it is taut")


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize(
    "rule",
    ["linearly_implicit_rk4", "rk4", "semi_implicit_euler", pytest.param("variational_midpoint", marks=_REFUSED)],
)
def test_a_chain_of_three_links_that_was_led_taut_sags_when_its_end_comes_back(rule, h):
    """After a rest: which of its links moves how, no row says there."""
    scene = Scene()
    slider = Body("slider", mass=1.0, inertia=np.eye(3) / 100)
    slider = scene.world.attach(slider, joints.prismatic("x"), at=rd.pose((1, 0, 0)))
    on = scene.world
    for k in range(3):
        link = Body(f"link {k}", mass=1 / 3, center_of_mass=(1 / 6, 0, 0), inertia=np.diag([0.001, 0.003, 0.003]))
        on = on.attach(link, joints.revolute("y"), at=rd.pose((1 / 3 if k else 0, 0, 0)))
    scene.pin(on, slider, point_a=(1 / 3, 0, 0), axis=(0, 1, 0))

    def motion(t: float) -> float:
        return -0.1 * (1 + np.cos(np.pi * min(t, 1.0))) if t < 1.25 else -0.1 * (1 - np.cos(np.pi * (t - 1.25)))

    sim, sag = rd.Simulation(scene.compile(), h, rule), np.arccos(0.7)  # the middle link level: 1 / 3 + 2 / 3 * 0.7
    sim.q = -0.2, sag, -sag, -sag
    sim.prescribe("slider.distance", motion)
    sim.step(round(1.2 / h))
    assert np.abs(sim.q[1:4]).max() < 1e-3 and np.abs(sim.v[1:4]).max() < 1e-3
    sim.step(round(0.8 / h))
    assert sim.q[0] == pytest.approx(motion(sim.time))
    assert np.cos(np.cumsum(sim.q[1:4])).sum() / 3 == pytest.approx(1 + sim.q[0], abs=1e-6)
    assert np.abs(sim.v[1:4]).max() < 20.0 and sim.report.unexplained_energy < 5.0


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
def test_slack_balls_that_whirl_are_given_no_energy(h):
    """At up to 260 rad/s, halved hundreds of times a step: by the rule for singular positions they came to 2e5 J."""
    scene = Scene(gravity=(0, 0, -9.81))
    on = scene.world
    for k in range(5):
        link = Body(f"link {k}", mass=0.2, center_of_mass=(0.1, 0, 0), inertia=np.diag([3.3e-4, 6.7e-4, 6.7e-4]))
        on = on.attach(link, joints.ball(), at=rd.pose((0.2 if k else 0, 0, 0)))
    scene.pin(on, scene.world, point_a=(0.2, 0, 0), point_b=(0, 0, 0.8))
    d, rng = scene.compile(), np.random.default_rng(4)
    q, v = d.project(d.neutral(), 5.0 * rng.normal(size=d.nv))
    sim = rd.Simulation(d, h)
    sim.q, sim.v = q, v * 60.0 / np.abs(v).max()
    before = energy(sim)
    sim.step(round(0.5 / h))
    assert energy(sim) == pytest.approx(before, rel=0.05)


@pytest.mark.parametrize("slack", [0.0, 0.1])
def test_what_cannot_be_met_where_a_chain_is_taut_says_so(slack):
    """Rows of the pin, as their balance is what keeps a straight chain; of one that hangs none depend on each other."""
    dynamics = chain(4, "hinge", slack).compile()
    q = dynamics.neutral()
    told = str(_missed(dynamics, dynamics.integrate(q, np.full(dynamics.nv, 1e-5), 1.0), np.zeros(dynamics.nv), True))
    if slack:
        assert "start nearer" in told and "taut" not in told
    else:
        assert re.search(
            r"'pin 1\[\d\]' cannot be met.*rows of 'pin 1' depend on each other.*taut.*slack.*fewer rows", told
        )
