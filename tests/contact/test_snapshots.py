"""Snapshots in contact: what follows is the same to the last bit, here, in a fresh mirror, and in another process."""

import copy
import multiprocessing
import pickle
from contextlib import ExitStack

import numpy as np
import pybullet
import pytest
from contact_scenes import at, bullet, bullet_ball, mirror, position, put
from test_articulated import doll

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints, shapes

H = 1 / 240
BEFORE, AFTER = 120, 60


def tumbling() -> Scene:
    """Boxes, a ball, a capsule and a cylinder thrown at each other."""
    scene, rng = Scene(), np.random.default_rng(0)
    forms = [shapes.Box((0.2, 0.15, 0.1)), shapes.Sphere(0.1), shapes.Capsule(0.06, 0.2), shapes.Cylinder(0.08, 0.2)]
    for k in range(8):
        place = rd.pose((0.12 * (k % 2), 0.1 * (k % 3), 0.15 + 0.2 * k), rng.uniform(-3, 3, 3))
        put(scene, f"body{k}", forms[k % 4], place)
    return scene


def stacked() -> Scene:
    """A wall of bricks and a ball that is about to run into it."""
    scene = Scene()
    for row in range(3):
        for k in range(3):
            put(
                scene,
                f"brick{row}{k}",
                shapes.Box((0.2, 0.1, 0.1)),
                at(0.21 * k + 0.1 * (row % 2), 0, 0.05 + 0.1 * row),
            )
    slide = joints.prismatic("y")
    scene.world.attach(Body("ram", [shapes.Sphere(0.1)], mass=5.0), slide, at=at(0.25, -0.6, 0.2))
    return scene


def hollow() -> Scene:
    """A ball and a die in a bowl of triangles, and a ring that spins on its rim."""
    scene = Scene()
    steps = np.linspace(-1, 1, 21)
    x, y = np.meshgrid(steps, steps, indexing="ij")
    scene.world.shapes.append(shapes.HeightField(0.4 * (x**2 + y**2), (0.1, 0.1)))
    put(scene, "ball", shapes.Sphere(0.1), at(0.4, 0.1, 0.3))
    put(scene, "die", shapes.Box((0.1, 0.1, 0.1)), at(-0.3, 0.2, 0.3, (0.3, 0.2, 0.1)))
    put(scene, "ring", shapes.Torus(0.12, 0.03), at(0.0, -0.3, 0.35, (1.2, 0.2, 0.1)))
    return scene


SCENES = {"tumbling": tumbling, "stacked": stacked, "hollow": hollow, "doll": lambda: doll(0.6)}


def started(name: str, dynamics=None) -> tuple[Scene, rd.Simulation]:
    scene = SCENES[name]()
    sim = rd.Simulation(scene.compile() if dynamics is None else dynamics, H)
    if name == "stacked":
        sim.v[-1] = 2.5
    return scene, sim


def continued(sim: rd.Simulation, step, count: int = AFTER) -> list[bytes]:
    """The states of the steps that follow, with their contacts and events."""
    states = []
    for _ in range(count):
        step()
        touching = sorted((e.kind, e.body_a, e.body_b, e.impulse) for e in sim.contact_events)
        states.append(sim.q.tobytes() + sim.v.tobytes() + repr((len(sim.contacts), touching)).encode())
    return states


@pytest.fixture(scope="module", params=SCENES)
def run(request):
    """A scene's name, its dynamics, a snapshot amid contacts, and what followed it."""
    scene, sim = started(request.param)
    with PyBulletMirror(scene, sim, gui=False) as shown:
        shown.step(BEFORE)
        snapshot = sim.snapshot()
        states = continued(sim, shown.step)
        assert len(sim.contacts) > 1
        yield request.param, sim, shown, snapshot, states


def test_what_follows_a_snapshot_follows_it_again(run):
    """Whatever happened in between: other steps, another place, nothing."""
    _, sim, shown, snapshot, states = run
    for between in range(3):
        if between == 1:
            sim.v[:] += 0.3
            shown.step(70)
        elif between == 2:
            sim.q[:] = sim.dynamics.neutral()
            shown.sync()
            _ = shown.contacts
        sim.restore(snapshot)
        assert continued(sim, shown.step) == states


def test_a_fresh_mirror_goes_on_alike(run):
    """Of the same dynamics and of one compiled anew; with steps of the simulation alone and with the mirror's."""
    name, sim, _, snapshot, states = run
    for dynamics in (sim.dynamics, None):
        scene, other = started(name, dynamics)
        with PyBulletMirror(scene, other, gui=False) as shown:
            other.restore(snapshot)
            assert continued(other, other.step) == states
        scene, other = started(name, dynamics)
        other.restore(snapshot)
        with PyBulletMirror(scene, other, gui=False) as shown:
            other.restore(snapshot)
            assert continued(other, shown.step) == states


def test_other_ids_in_a_connection_that_others_use_change_nothing(run):
    name, sim, _, snapshot, states = run
    scene, other = started(name, sim.dynamics)
    with bullet() as client:
        for k in range(3):
            pybullet.removeBody(bullet_ball(client, (50.0 + k, 0.0, 50.0), mass=0.0), client)
        bullet_ball(client, (60.0, 0.0, 60.0), mass=0.0)
        with PyBulletMirror(scene, other, client=client) as shown:
            other.restore(snapshot)
            assert continued(other, shown.step) == states


@pytest.fixture(scope="module")
def elsewhere():
    """Another process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        yield pool


def _there(name: str, data: bytes) -> list[bytes]:
    scene, sim = started(name)
    with PyBulletMirror(scene, sim, gui=False) as shown:
        sim.restore(pickle.loads(data))
        return continued(sim, shown.step)


def test_another_process_goes_on_alike(run, elsewhere):
    name, _, _, snapshot, states = run
    assert elsewhere.apply_async(_there, (name, pickle.dumps(snapshot))).get(timeout=120) == states


def test_rays_find_bodies_where_they_are_after_a_snapshot():
    scene = Scene()
    put(scene, "ball", shapes.Sphere(0.1), at(z=0.5))
    with mirror(scene, H) as shown:
        shown.step(10)
        height = position(shown.sim)[2]
        snapshot = shown.sim.snapshot()
        assert shown.queries.ray((0, 0, 3), (0, 0, 0)).point[2] == pytest.approx(height + 0.1, abs=1e-9)
        shown.step(10)
        shown.sim.restore(snapshot)
        assert shown.queries.ray((0, 0, 3), (0, 0, 0)).point[2] == pytest.approx(height + 0.1, abs=1e-9)


def test_bullets_own_bodies_are_kept_by_bullet():
    """With saveState beside it a snapshot brings back both worlds; without, Bullet's bodies stay where they went."""
    with bullet() as client, ExitStack() as stack:
        crate = bullet_ball(client, (0.02, 0.0, 0.35))
        scene = Scene()
        put(scene, "ball", shapes.Sphere(0.1), at(z=0.1))
        shown = stack.enter_context(mirror(scene, H, client=client))

        def followed() -> list:
            states = []
            for _ in range(40):
                shown.step()
                states.append((shown.sim.q.tobytes(), pybullet.getBasePositionAndOrientation(crate, client)))
            return states

        shown.step(40)
        snapshot, saved = shown.sim.snapshot(), pybullet.saveState(client)
        first = followed()
        gone = pybullet.getBasePositionAndOrientation(crate, client)
        shown.sim.restore(snapshot)
        assert pybullet.getBasePositionAndOrientation(crate, client) == gone
        pybullet.restoreState(stateId=saved, physicsClientId=client)
        shown.sim.restore(snapshot)
        assert followed() == first


def test_events_after_a_restore_are_those_after_the_snapshot():
    """A ball on the ground stays; one that bounces begins and ends as it did the first time."""
    scene = Scene()
    put(scene, "lies", shapes.Sphere(0.1), at(z=0.1))
    put(scene, "falls", shapes.Sphere(0.1, material=rd.Material(restitution=0.8)), at(1.0, 0, 0.3))

    def told(sim) -> list:
        events = []
        for _ in range(120):
            sim.step()
            events.append([(e.kind, e.body_a, e.body_b) for e in sim.contact_events])
        return events

    with mirror(scene, H) as shown:
        sim = shown.sim
        sim.step(20)
        snapshot = sim.snapshot()
        first = told(sim)
        kinds = [kind for events in first for kind, a, _ in events if a == "falls"]
        assert kinds.count("begin") == kinds.count("end") >= 2
        assert not any(event[0] != "stay" for events in first for event in events if event[1] == "lies")
        sim.step(11)
        sim.restore(snapshot)
        assert sim.contact_events == ()
        assert told(sim) == first
        other = rd.Simulation(sim.dynamics, H, "rk4")
        with PyBulletMirror(scene, other, gui=False):
            other.restore(snapshot)
            assert told(other) == first, "nobody who touched already begins to"


def test_a_snapshot_remembers_bullets_own_in_touch():
    with bullet() as client:
        bullet_ball(client, (0.0, 0.0, 0.299))
        scene = Scene()
        put(scene, "ball", shapes.Sphere(0.1), at(z=0.1))
        with mirror(scene, H, client=client) as shown:
            shown.step(5)
            snapshot = shown.sim.snapshot()
            shown.step()
            kinds = {(e.kind, e.body_b) for e in shown.sim.contact_events}
            assert len(kinds) == 2 and {kind for kind, _ in kinds} == {"stay"}
            shown.sim.restore(snapshot)
            shown.step()
            assert {(e.kind, e.body_b) for e in shown.sim.contact_events} == kinds


def test_what_a_step_leaves_is_what_its_state_says():
    """A bouncing body with an arm: where bodies are and how they move is worked out from q and v, to the bit, and so a
    step starts from the same approach speeds whether the state was led to or restored."""
    scene, bouncy = Scene(), rd.Material(0.5, restitution=0.8)
    scene.world.shapes.append(shapes.Box((6, 6, 0.4), at=at(z=-0.2), material=bouncy))
    body = put(scene, "body", shapes.Box((0.3, 0.2, 0.15), material=bouncy), at(z=0.5, rpy=(0.3, 0.2, 0.1)))
    body.attach(Body("arm", [shapes.Capsule(0.04, 0.3, material=bouncy)], mass=0.5), joints.revolute("y"), at=at(0.25))
    with mirror(scene, H, "semi_implicit_euler", ground=False) as shown:
        sim = shown.sim
        sim.contact.restitution_threshold = 0.0
        for _ in range(60):
            shown.step(3)
            for told, again in zip(sim.frames(), copy.copy(sim).frames(), strict=True):
                np.testing.assert_array_equal(told, again)
            snapshot, ends = sim.snapshot(), []
            for _ in range(2):
                sim.restore(snapshot)
                shown.step(5)
                ends.append(sim.q.tobytes() + sim.v.tobytes())
            assert ends[0] == ends[1]
            sim.restore(snapshot)
