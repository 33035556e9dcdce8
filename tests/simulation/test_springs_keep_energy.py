"""Springs without dampers keep their energy, however coarse the step, and dampers that do little hide no loss."""

import numpy as np
import pytest
from chart_cases import energy

import recursive_dyn as rd
from scene import Body, Scene, joints

FALL = 71.3  # J, of five links from the horizontal


def sprung(kind: str, stiffness: float, h: float) -> rd.Simulation:
    """1 kg, or 1 kg m^2, on a spring that is stretched by 0.1, or as fast."""
    scene, body = Scene(gravity=(0, 0, 0)), Body("mass", mass=1.0, inertia=np.eye(3))
    if kind == "joint":
        scene.world.attach(body, joints.prismatic("x", stiffness=stiffness))
    elif kind == "ball":
        scene.world.attach(body, joints.ball(stiffness=stiffness))
    else:
        scene.world.attach(body, joints.prismatic("x"))
        scene.spring("world", body, stiffness=stiffness, rest=2.0, point_a=(-2, 0, 0))
    sim = rd.Simulation(scene.compile(), h)
    if kind == "ball":
        sim.v = 0.0, 0.1 * np.sqrt(stiffness), 0.0
    else:
        sim.q[0] = 0.1
    return sim


def whole(sim: rd.Simulation) -> float:
    return energy(sim) + float(sim.dynamics.elastic_energy(sim.q))


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize("resolved", [0.1, 0.4, 0.9, 2.9])
@pytest.mark.parametrize("kind", ["joint", "element", "ball"])
def test_a_spring_swings_for_a_minute(kind, resolved, h):
    """resolved: h sqrt(k / m)."""
    sim = sprung(kind, (resolved / h) ** 2, h)
    start = whole(sim)
    sim.step(round(60 / h))
    assert whole(sim) == pytest.approx(start, rel=1e-2)
    assert sim.report.unexplained_energy == 0.0


def chain(h: float, last: dict[str, float], all_others: dict[str, float] | None = None) -> rd.Simulation:
    """Five slender links from the horizontal."""
    scene = Scene()
    on = scene.world
    for k in range(5):
        link = Body(f"link {k}", mass=1.0, center_of_mass=(0, 0, -0.25), inertia=np.diag([0.02, 0.021, 0.001]))
        joint = joints.revolute("y", **(last if k == 4 else all_others or {}))
        on = on.attach(link, joint, at=rd.pose((0, 0, -0.5 if k else 0.0)))
    sim = rd.Simulation(scene.compile(), h)
    sim.q = 1.6, 0.1, 0.2, 0.0, 0.0
    return sim


@pytest.mark.parametrize("last", [{"damping": 1e-7}, {"stiffness": 1e-3}, {"damping": 1e-7, "stiffness": 1e-3}])
def test_a_joint_that_does_nothing_hides_no_loss(last):
    sim = chain(1 / 60, last)
    start = whole(sim)
    sim.step(20 * 60)
    assert abs(whole(sim) - start) < 0.01 * FALL


def test_dampers_take_what_they_take_at_any_step():
    damping = {"damping": 1e-4}
    lost = []
    for rate in (60, 1920):
        sim = chain(1 / rate, damping, damping)
        start = whole(sim)
        sim.step(10 * rate)
        lost.append(start - whole(sim))
    assert lost[0] == pytest.approx(lost[1], abs=0.004 * FALL) and lost[1] > 0.5
