"""Steps that machine code cuts into parts: as many as Python says, the same bit by bit, whole or not at all."""

import numpy as np
import pybullet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from routes_to_bullet import H, direct

import recursive_dyn as rd
from bridge import PyBulletMirror
from recursive_dyn.simulation.stepping.detection import Detection
from recursive_dyn.simulation.stepping.step_machine import StepMachine
from scene import Body, Scene, joints, shapes

pytestmark = direct
LOUD = rd.Material(0.4, restitution=0.6)


@pytest.fixture(scope="module")
def pit():
    """Balls, boxes and an arm with a limit between two walls on a floor; two of the balls pass each other."""
    scene = Scene()
    scene.world.shapes.append(shapes.Box((3, 3, 0.2), at=rd.pose((0, 0, -0.1)), material=LOUD))
    for side in (-1, 1):
        scene.world.shapes.append(shapes.Box((0.1, 3, 2), at=rd.pose((0.8 * side, 0, 1)), material=LOUD))
    for k in range(4):
        form = shapes.Sphere(0.06, material=LOUD) if k % 2 else shapes.Box((0.1, 0.12, 0.08), material=LOUD)
        at = rd.pose((0.3 * k - 0.45, 0.02 * k, 0.5))
        scene.world.attach(Body(f"b{k}", [form], mass=0.5), joints.free(), at=at)
    arm = Body("arm", [shapes.Capsule(0.03, 0.3, at=rd.pose((0, 0, -0.2)))], mass=0.3)
    scene.world.attach(arm, joints.revolute("y", limits=(-0.4, 0.4), friction=0.02), at=rd.pose((0, 0.5, 0.9)))
    scene.pair("b1", "b3", collide=False)
    return scene, scene.compile()


def started(pit, speed: float) -> rd.Simulation:
    sim = rd.Simulation(pit[1], H)
    sim.v[:] = speed * np.random.default_rng(5).normal(size=sim.v.size)
    return sim


def everything(sim: rd.Simulation, shown: PyBulletMirror) -> tuple:
    """What a step leaves behind."""
    told = sim.solution
    numbers = told.contacts, told.rows, told.islands, told.iterations, told.residual, told.penetration, told.substeps
    c = sim.contacts
    arrays = sim.q, sim.v, c.a, c.b, c.key, c.point_a, c.distance, c.impulse
    return (*(x.tobytes() for x in arrays), sim.time, numbers, sim.contact_events, sim.coordinate_impulses,
            repr(shown.contacts))  # fmt: skip


def test_parts_are_the_same_by_machine_code_and_by_hand(pit, monkeypatch):
    runs = []
    for by_hand in (False, True):
        if by_hand:
            monkeypatch.setattr(Detection, "lookout", lambda *given: None)
        sim, run = started(pit, 12.0), []
        with PyBulletMirror(pit[0], sim, gui=False, ground=False) as shown:
            for _ in range(60):
                shown.step()
                run.append(everything(sim, shown))
        runs.append(run)
    assert runs[0] == runs[1]
    parts = {step[9][-1] for step in runs[0]}
    assert 1 in parts and len(parts) > 3 and max(parts) > 4
    assert any("limit of arm" in name for step in runs[0] for name in step[11])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.5, 80.0))
def test_as_many_parts_as_python_says(pit, seed, speed):
    rng = np.random.default_rng(seed)
    sim = rd.Simulation(pit[1], H)
    with PyBulletMirror(pit[0], sim, gui=False, ground=False) as shown:
        shown.step()
        surroundings, machine = shown._surroundings, sim._timesteps._machine
        for _ in range(10):
            sim.q[:3] = rng.uniform((-0.7, -1, 0.1), (0.7, 1, 1.5))
            sim.v[:] = rng.normal(size=sim.v.size) * rng.choice([0.0, speed], sim.v.size)
            lookout = surroundings.lookout(sim.present, machine.buffer, machine.h)
            assert 1 + lookout.haste() == surroundings.substeps(sim, H)
        sim.v[:] = 1e200
        lookout = surroundings.lookout(sim.present, machine.buffer, machine.h)
        assert lookout.haste() == 0, "a velocity out of all bounds is told elsewhere"


@pytest.mark.parametrize("error", [rd.StateError("out of reach"), KeyboardInterrupt()], ids=["error", "interrupt"])
def test_a_step_that_fails_after_its_second_part_goes_back_whole(pit, monkeypatch, error):
    """And is then taken as by a twin that never failed."""
    advance, parts, failed = StepMachine.advance, [], 0

    def failing(self, *given):
        stage = advance(self, *given)
        parts.append(stage if len(given) > 5 else None)
        if parts[-2:] == [StepMachine.ALL] * 2 and len(parts) == 3:
            raise error
        return stage

    sim, twin = started(pit, 12.0), started(pit, 12.0)
    with (
        PyBulletMirror(pit[0], sim, gui=False, ground=False) as shown,
        PyBulletMirror(pit[0], twin, gui=False, ground=False) as other,
    ):
        for _ in range(40):
            before = everything(sim, shown)[:-1]
            parts.clear()
            with monkeypatch.context() as patch:
                patch.setattr(StepMachine, "advance", failing)
                try:
                    sim.step()
                except type(error):
                    failed += 1
                    snapshot = sim.snapshot()
                    assert everything(sim, shown)[:10] == before[:10]
                    assert sim.coordinate_impulses == before[11]
                else:
                    snapshot = None
            if snapshot is not None:
                sim.restore(snapshot)
                twin.restore(twin.snapshot())
                sim.step()
            twin.step()
            assert everything(sim, shown)[:10] == everything(twin, other)[:10]
            assert sim.coordinate_impulses == twin.coordinate_impulses and sim.contact_events == twin.contact_events
        assert failed > 3


def test_impulses_of_contacts_are_those_of_the_whole_step():
    """m (v - v0) = m g h + their sum, however many parts there were: wheels that roll fast over a floor of boxes."""
    scene, h = Scene(), 1 / 60
    scene.world.shapes.append(shapes.Box((60, 3, 0.2), at=rd.pose((20, 0, -0.1))))
    trunk = scene.world.attach(
        Body("trunk", [shapes.Box((0.8, 0.3, 0.1))], mass=4.0), joints.free(), rd.pose((0, 0, 0.15))
    )
    for x in (-0.3, 0.3):
        for y in (-0.25, 0.25):
            wheel = Body(f"wheel {x} {y}", [shapes.Cylinder(0.1, 0.08, at=rd.pose(rpy=(np.pi / 2, 0, 0)))], mass=0.5)
            trunk.attach(wheel, joints.revolute("y"), at=rd.pose((x, y, -0.05)))
    sim, mass, parts, errors = rd.Simulation(scene.compile(), h), 6.0, [], []
    sim.v[3] = 12.0
    sim.v[6:] = 110.0
    with PyBulletMirror(scene, sim, gui=False, ground=False) as shown:
        shown.step(20)
        for _ in range(60):
            before = sim.dynamics.momentum(sim.q, sim.v)[3:]
            shown.step()
            parts.append(sim.solution.substeps)
            change = sim.dynamics.momentum(sim.q, sim.v)[3:] - before - (0, 0, -9.81 * mass * h)
            errors.append(np.abs(np.sum([c.impulse for c in shown.contacts], axis=0) - change).max())
    assert min(parts) > 1
    assert max(errors) < 1e-9


def test_what_cannot_be_met_cuts_no_step(client):
    """Drawings, and bodies without shapes, the scene's and Bullet's own: wherever they are, or Bullet has them."""
    scene = Scene(gravity=(0, 0, 0))
    ball = scene.world.attach(Body("ball", [shapes.Sphere(0.05)], mass=1.0), joints.free(), at=rd.pose((-1, 0, 0.0)))
    scene.world.attach(Body("frame", mass=1.0, inertia=np.eye(3)), joints.free())
    sim = rd.Simulation(scene.compile(), H)
    pybullet.createMultiBody(0, -1, -1, (0.3, 0.0, 0.0), physicsClientId=client)
    with PyBulletMirror(scene, sim, client=client, ground=False) as shown:
        shown.add_polyline([(-0.1, 0.0, 0.0), (0.1, 0.0, 0.0)])
        sim.v[3] = 20.0
        for _ in range(30):
            shown.step()
            assert sim.solution.substeps == 1
        assert sim.frames()[0][scene.bodies.index(ball), 0, 3] > 1.0
