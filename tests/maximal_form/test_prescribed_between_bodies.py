"""Prescribed motion of joints between free bodies: what is told moves as told, all else as in joint coordinates."""

import copy

import numpy as np
import pytest
import sympy as sp
from formulations import EACH
from trees import assert_close

import recursive_dyn as rd
from scene import Body, Scene, joints

W, TIME = 3.0, Scene().time


def bars(**settings) -> Scene:
    """A crank, and a rod on it."""
    scene, node = Scene(), None
    for name in ("crank", "rod"):
        bar = Body(name, mass=1.0, center_of_mass=(0.05, 0, -0.3), inertia=np.diag([0.05, 0.06, 0.02]))
        joint = joints.revolute("y", **(settings if node is None else {"damping": 0.1}))
        node = (node or scene.world).attach(bar, joint, at=rd.pose((0, 0, -0.6 if node else 0)))
    return scene


def swing(t: float) -> float:
    return float(0.4 * np.sin(W * t))


def joints_of(sim: rd.Simulation) -> tuple[np.ndarray, np.ndarray]:
    return sim.dynamics.to_reduced(sim.q, sim.v, sim.near)


@EACH
def test_a_prescribed_crank_moves_as_told_and_tells_what_that_takes(method: str, integrator: str) -> None:
    """Expressions and functions; the rod, and the crank's torque, to the first order of the timestep."""
    exact = rd.Simulation(bars(stiffness=2.0).compile(), 1 / 1000, "rk4")
    exact.prescribe("crank.angle", 0.4 * sp.sin(W * TIME))
    exact.step(200)
    want, off, missed = exact.prescribed["crank.angle"], [], []
    d = bars(stiffness=2.0).compile(method)
    for rate, motion in ((500, swing), (1000, 0.4 * sp.sin(W * TIME))):
        sim = rd.Simulation(d, 1 / rate, integrator)
        sim.prescribe("crank.angle", motion)
        sim.step(rate // 5)
        told = sim.prescribed["crank.angle"]
        assert abs(told.position - swing(0.2)) < 2e-6 and abs(told.velocity - want.velocity) < 3.0 / rate
        assert abs(told.acceleration - want.acceleration) < 1e-5
        off.append(np.abs(d.poses(sim.q[:-1]) - exact.dynamics.poses(exact.q)).max())
        missed.append(abs(told.force - want.force))
    assert off[1] < 0.7 * off[0] < 0.007 and missed[1] < 0.7 * missed[0] < 0.05


@EACH
def test_a_motion_begins_with_an_impulse_on_its_coordinate_alone(method: str, integrator: str) -> None:
    """Bodies at rest, and then as in joint coordinates; let go, they swing on as they moved."""
    sims = [rd.Simulation(bars().compile(m), 1 / 1000, i) for m, i in ((method, integrator), ("recursive", None))]
    for sim in sims:
        sim.prescribe("crank.angle", 2 * TIME)
    assert_close(joints_of(sims[0])[1], sims[1].v, 1e-9)
    for sim in sims:
        sim.step(50)
        sim.prescribe("crank.angle", None)
        assert not len(sim.prescribed) and sim.dynamics.model.clock is None
    q, v = joints_of(sims[0])
    assert np.abs(q - sims[1].q).max() < 5e-3 and np.abs(v - sims[1].v).max() < 0.05
    sims[0].step(20)
    assert abs(joints_of(sims[0])[1][0] - 2.0) > 0.05


@EACH
def test_a_coordinate_that_is_told_to_stay_bears_what_hangs_on_it(method: str, integrator: str) -> None:
    """Both bars at rest a quarter turn from below: m g c of each; beyond a limit, over which a motion prevails."""
    scene = bars(limits=(-0.5, 0.5), friction=0.3)
    sim = rd.Simulation(scene.compile(method), 1 / 500, integrator)
    sim.q = sim.dynamics.from_reduced([0.7, 0.0])[0]
    sim.prescribe("crank.angle", 0.7)
    sim.prescribe("rod.angle", 0.0)
    sim.step(100)
    assert_close(joints_of(sim)[0][:2], [0.7, 0.0], 1e-6)
    c, s = np.cos(0.7), np.sin(0.7)
    arms = 0.05 * c - 0.3 * s, 0.05 * c - 0.9 * s  # of the centres of mass, along x
    assert sim.prescribed["rod.angle"].force == pytest.approx(-9.81 * (arms[1] + 0.6 * s), rel=1e-3)
    assert sim.prescribed["crank.angle"].force == pytest.approx(-9.81 * sum(arms), rel=1e-3)


def test_snapshots_copies_and_edits_keep_motions() -> None:
    scene = bars()
    sim = rd.Simulation(scene.compile("velocity_constraints"), 1 / 240)
    sim.prescribe("crank.angle", swing)
    sim.step(10)
    kept, other = sim.snapshot(), copy.copy(sim)
    sim.step(10)
    want = sim.q.copy()
    sim.restore(kept)
    for one in (sim, other):
        one.step(10)
        assert np.array_equal(one.q, want)
    more = Body("more", mass=0.5, center_of_mass=(0, 0, -0.2), inertia=np.eye(3) * 0.01)
    scene["rod"].attach(more, joints.revolute("y"), at=rd.pose((0, 0, -0.6)))
    sim.update(scene.compile("velocity_constraints"))
    sim.step(10)
    assert sim.q[-1] == sim.time and abs(sim.prescribed["crank.angle"].position - swing(sim.time)) < 2e-6


def test_what_cannot_begin_is_refused_by_name() -> None:
    sim = rd.Simulation(bars().compile("penalty"))
    with pytest.raises(rd.StateError, match=r"'crank.angle' is at 0, its motion begins at 0.3.*simulation.place"):
        sim.prescribe("crank.angle", 0.3)
    with pytest.raises(rd.ModelError, match=r"no coordinate 'crank.wx'; the scene has crank.angle, rod.angle"):
        sim.prescribe("crank.wx", 0.0)
    sim.prescribe("crank.angle", 0.0)
    with pytest.raises(rd.StateError, match=r"motors\['crank.angle'\]: that is prescribed"):
        sim.motors["crank.angle"] = rd.Motor(velocity=1.0)
