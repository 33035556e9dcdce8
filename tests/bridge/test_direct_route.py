"""Bullet by the addresses of its functions and through PyBullet: the same results, and no crash where it is gone."""

import math
import subprocess
import sys
import threading

import numpy as np
import pybullet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from on_a_display import ON_A_DISPLAY, needs_display
from routes_to_bullet import H, ball_over_ground, courses, direct, ordinary

import recursive_dyn as rd
from bridge import PyBulletMirror
from bridge.bodies.true_shapes import nothing_true
from bridge.collision import bullet_surroundings
from bridge.collision.contact_points import (
    NEW_PAIRS,
    NO_ROOM,
    Aside,
    Known,
    PairFrictions,
    gathered,
    insert,
)
from bridge.collision.raw_points import RawPoints
from bridge.collision.routes import OrdinaryRoute
from recursive_dyn.contact.contact_buffer import ContactBuffer
from recursive_dyn.contact.contacts import STATIC
from scene import Body, Scene, joints, shapes


@direct
def test_both_routes_lead_to_the_same_motion_bit_by_bit(tumbling, monkeypatch):
    by_address = courses(*tumbling, 240)
    ordinary(monkeypatch)
    through_pybullet = courses(*tumbling, 240)
    assert by_address == through_pybullet
    assert len(set(by_address)) == 240


def bullets_world(client: int) -> None:
    """A belt, a ball that is free, and a box that is not."""
    box = pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=[0.5, 0.5, 0.05], physicsClientId=client)
    ball = pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=0.1, physicsClientId=client)
    belt = pybullet.createMultiBody(0, box, -1, [0, 0, 0.45], physicsClientId=client)
    pybullet.resetBaseVelocity(belt, [0.3, 0, 0], physicsClientId=client)
    pybullet.createMultiBody(1.0, ball, -1, [0.05, 0, 1.7], physicsClientId=client)


@direct
@pytest.mark.parametrize("free", [True, False])
def test_both_routes_agree_on_what_is_bullets_own(tumbling, monkeypatch, free):
    """Coming and going while it moves."""
    made = []

    def each(step: int, shown) -> None:
        client = shown.client
        if step == 20:
            ball = pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=0.15, physicsClientId=client)
            made.append(pybullet.createMultiBody(2.0 * free, ball, -1, [0.1, 0.1, 0.6], physicsClientId=client))
        if step == 60:
            pybullet.removeBody(made.pop(), physicsClientId=client)

    told = []
    for route in ("direct", "ordinary"):
        if route == "ordinary":
            ordinary(monkeypatch)
        client = pybullet.connect(pybullet.DIRECT)
        pybullet.setGravity(0, 0, -9.81, physicsClientId=client)
        bullets_world(client)
        if not free:
            pybullet.removeBody(1, physicsClientId=client)
        told.append(courses(*tumbling, 100, client, each))
        pybullet.disconnect(client)
    assert told[0] == told[1]
    assert any(b"bullet:" in step for step in told[0])


@pytest.mark.parametrize("route", [pytest.param("direct", marks=direct), "ordinary"])
def test_who_comes_and_goes_between_steps_is_noticed(monkeypatch, client, route):
    """Foreign bodies are met at once and forgotten at once; one of ours that is exchanged for another is missed."""
    if route == "ordinary":
        ordinary(monkeypatch)
    scene = ball_over_ground()
    form = pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=0.1, physicsClientId=client)
    with PyBulletMirror(scene, rd.Simulation(scene.compile(), H), client=client, ground=False) as shown:
        for mass in (0.0, 1.0):
            shown.step(3)
            other = pybullet.createMultiBody(mass, form, -1, [0, 0, 0.299], physicsClientId=client)
            shown.step()
            assert f"bullet:{other}" in {c.body_b for c in shown.contacts}
            pybullet.removeBody(other, physicsClientId=client)
            shown.step()
            assert {c.body_b for c in shown.contacts} == {"world"}
        pybullet.removeBody(shown.bullet_bodies["ball"][0], physicsClientId=client)
        assert pybullet.createMultiBody(0.0, form, -1, [0, 0, 3], physicsClientId=client) in shown.bullet_bodies["ball"]
        with pytest.raises(rd.StateError, match=r"'ball'.*removed"):
            shown.step()


# What is done, and what is not done


class Watched(OrdinaryRoute):
    """Notes what is asked of Bullet."""

    def __init__(self, connection) -> None:
        super().__init__(connection)
        self.placed: list[int] = []
        self.detections = 0

    def place(self, placing) -> None:
        self.placed += placing.ids[placing.due[: placing.waiting[0]]].tolist()
        super().place(placing)

    def detect(self) -> None:
        self.detections += 1
        super().detect()


@pytest.fixture
def watched(monkeypatch):
    ordinary(monkeypatch)
    monkeypatch.setattr(bullet_surroundings, "OrdinaryRoute", Watched)


def test_only_bodies_with_shapes_that_moved_are_placed(watched):
    scene = Scene(gravity=(0, 0, 0))
    for name, x in (("moves", 0.0), ("stands", 1.0)):
        body = scene.world.attach(Body(name, [shapes.Sphere(0.1)], mass=1.0), joints.free(), at=rd.pose((x, 0, 1)))
    bare = Body("bare", mass=1.0, center_of_mass=(0.1, 0, 0), inertia=np.eye(3))
    body.attach(bare, joints.revolute("z"), at=rd.pose((0.5, 0, 0)))
    sim = rd.Simulation(scene.compile(), H)
    sim.v[3] = 0.5
    with PyBulletMirror(scene, sim, gui=False) as shown:
        route, ids = shown._surroundings._route, shown._mirrored.bodies.of
        route.placed.clear()
        shown.step()
        assert set(route.placed) == {ids["moves"][0]}
        sim.v[-1] = 1.0
        shown.step(10)
        assert set(route.placed) == {ids["moves"][0], ids["stands"][0]}, "the one turns the other"
        body = shown.bullet_bodies["bare"][0]  # now that its number is known, it is where it belongs
        for _ in range(2):
            turn = pybullet.getBasePositionAndOrientation(body, shown.client)[1]
            R = np.reshape(pybullet.getMatrixFromQuaternion(turn), (3, 3))
            np.testing.assert_allclose(R, sim.frames()[0][2, :3, :3], atol=1e-12)
            shown.step(5)


def test_sync_puts_everything_right():
    scene = ball_over_ground()
    scene.gravity = np.zeros(3)
    with PyBulletMirror(scene, rd.Simulation(scene.compile(), H), gui=False, ground=False) as shown:
        body = shown.bullet_bodies["ball"][0]
        pybullet.resetBasePositionAndOrientation(body, (5, 5, 5), (0, 0, 0, 1), shown.client)
        shown.sync()
        assert pybullet.getBasePositionAndOrientation(body, shown.client)[0] == (0.0, 0.0, 0.1)


@pytest.mark.parametrize("shape", [shapes.Box((0.2, 0.2, 0.2)), shapes.Sphere(0.1)])
def test_bullet_looks_twice_where_bodies_have_moved_far(watched, shape):
    """As long as it tells the points: of a ball on a box it need only say that they touch."""
    scene = Scene(gravity=(0, 0, 0))
    scene.world.shapes.append(shapes.Box((4, 4, 0.2), at=rd.pose((0, 0, -0.1))))
    scene.world.attach(Body("rests", [shape], mass=1.0), joints.free(), at=rd.pose((0, 0, 0.1)))
    sim = rd.Simulation(scene.compile(), H)
    with PyBulletMirror(scene, sim, gui=False, ground=False) as shown:
        route, forgiven, twice = (
            shown._surroundings._route,
            0.5 * 0.02 * 0.1 * math.sqrt(3.0),
            type(shape) is shapes.Box,
        )
        route.detections = 0
        shown.step()
        assert route.detections == 2, "nothing had been seen"
        shown.step(10)
        assert route.detections == 12
        sim.v[3] = 1.1 * forgiven / H
        shown.step(10)
        assert route.detections == (32 if twice else 22)
        sim.v[3] = 0.4 * forgiven / H
        shown.step(9)
        assert route.detections == (32 + 9 + 3 if twice else 22 + 9)


@pytest.mark.parametrize("touching", [True, False])
def test_bullet_always_looks_twice_where_its_own_bodies_touch(watched, client, touching):
    """Somewhere else they change nothing."""
    shape = pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=[1, 1, 0.1], physicsClientId=client)
    pybullet.createMultiBody(0, shape, -1, [0, 0, -0.1], physicsClientId=client)
    scene = Scene(gravity=(0, 0, -9.81 if touching else 0))
    height = 0.1 if touching else 0.3
    scene.world.attach(Body("ball", [shapes.Sphere(0.1)], mass=1.0), joints.free(), at=rd.pose((0, 0, height)))
    with PyBulletMirror(scene, rd.Simulation(scene.compile(), H), client=client, ground=False) as shown:
        route = shown._surroundings._route
        route.detections = 0
        shown.step(10)
        assert route.detections == (20 if touching else 11)


# Points as contacts


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 40))
def test_points_become_contacts(seed, count):
    """Of the scene's bodies, the lower number first, each point once, compiled as in plain Python."""
    rng = np.random.default_rng(seed)
    ids = rng.integers(0, 8, (count, 4))
    ids = ids[np.lexsort((ids[:, 1], ids[:, 0]))]
    values = rng.normal(size=(count, 10))
    for k in range(1, count, 5):
        values[k], ids[k] = values[k - 1], ids[k - 1]
    raw = RawPoints(ids, values, np.array([count]))
    numbers = np.array([STATIC, STATIC, 0, 1, 2, 3, 4, STATIC])  # 3 and 4 are free bodies of Bullet's
    boxy, gathering = np.zeros((2, 8), dtype=bool)
    foreign, counts = np.arange(8) == 1, (np.array([3]), np.array([2]))
    together = np.array([0, 1, 2, 3, 4, 5, 5 + seed % 2, 7])  # both of these, or not
    known = Known(numbers, 10 * np.arange(8), rng.random(8), foreign, boxy, gathering, together, *counts)
    frictions = PairFrictions(np.full(256, -1), np.zeros((256, 5)))
    nothing, poses = nothing_true(8), np.zeros((3, 4, 4))
    buffer, wanted = ContactBuffer(64), Aside(*np.zeros((2, 64), int), np.zeros((64, 2), int), np.zeros(3, int))
    result = gathered(raw, known, frictions, nothing, poses, buffer.table, wanted)
    if result == NEW_PAIRS:
        keys = np.unique(wanted.wanted[: wanted.sizes[1]])
        insert(keys, np.arange(5.0 * len(keys)).reshape(-1, 5), frictions)
        result = gathered(raw, known, frictions, nothing, poses, buffer.table, wanted)
    assert result == wanted.sizes[2] >= 0
    n, table = buffer.count, buffer.table
    a, b = table.a[:n], table.b[:n]
    assert ((a >= 0) & ((b == STATIC) | (a < b))).all()
    assert (np.linalg.norm(np.diff(table.points[:n, 0], axis=0), axis=1) > 0.0).all()
    own = {frozenset(pair) for pair in numbers[ids[:, :2]].tolist() if len({*pair}) == 2 and {*pair} & {0, 1, 2}}
    assert own <= {frozenset(pair) for pair in zip(a.tolist(), b.tolist(), strict=True)}
    for pair in zip(a.tolist(), b.tolist(), strict=True):
        assert frozenset(pair) in own or min(pair) >= 3 or pair[1] == STATIC
    plain, aside = ContactBuffer(64), Aside(*(x.copy() for x in wanted))
    assert gathered.python(raw, known, frictions, nothing, poses, plain.table, aside) == result
    assert all((x == y).all() for x, y in zip(plain.table, table, strict=True))
    if n > 1:
        assert gathered(raw, known, frictions, nothing, poses, ContactBuffer(n - 1).table, aside) == NO_ROOM
        assert aside.sizes[0] == n


@direct
@needs_display
def test_a_window_is_spoken_to_by_address_and_may_be_closed():
    """Its contacts are those without one."""
    code = """
import numpy as np, pybullet, recursive_dyn as rd
from bridge import PyBulletMirror
from bridge.collision.routes import DirectRoute
from scene import Body, Scene, joints, shapes
scene = Scene()
scene.world.shapes.append(shapes.Box((2, 2, 0.2), at=rd.pose((0, 0, -0.1))))
tilt = rd.pose((0, 0, 0.2), rpy=(0.3, 0.2, 0.1))
scene.world.attach(Body("box", [shapes.Box((0.3, 0.2, 0.1))], mass=1.0), joints.free(), at=tilt)
dynamics = scene.compile()
told = []
for gui in (True, False):
    sim = rd.Simulation(dynamics)
    mirror = PyBulletMirror(scene, sim, gui=gui, ground=False)
    assert isinstance(mirror._surroundings._route, DirectRoute)
    for _ in range(60):
        mirror.step()
    told.append((sim.q.tobytes(), sim.contacts.point_a.tobytes(), len(sim.contacts)))
    place = pybullet.getBasePositionAndOrientation(mirror.bullet_bodies["box"][0], mirror.client)[0]
    assert place == tuple(sim.frames()[0][0, :3, 3])
    pybullet.disconnect(mirror.client)
    try:
        sim.step()
    except rd.StateError as error:
        assert "create a new PyBulletMirror" in str(error)
    else:
        raise AssertionError("the window is gone")
assert told[0] == told[1] and told[0][2] > 0, told
print("done")
"""
    command = [*ON_A_DISPLAY, sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert result.returncode == 0 and "done" in result.stdout, result.stdout + result.stderr


@direct
def test_threads_take_turns():
    """One draws rays while the other steps, in one connection: Bullet is never in two calls at once."""
    scene = ball_over_ground()
    sim = rd.Simulation(scene.compile(), H)
    with PyBulletMirror(scene, sim, gui=False, ground=False) as shown:
        stop, hits = threading.Event(), []

        def look() -> None:
            while not stop.is_set():
                hits.append(pybullet.rayTest((0, 0, 3), (0, 0, -3), physicsClientId=shown.client)[0][0])

        other = threading.Thread(target=look)
        other.start()
        try:
            for _ in range(400):
                shown.step()
        finally:
            stop.set()
            other.join()
        assert set(hits) == {shown.bullet_bodies["ball"][0]}
