"""Bullet by the addresses of its functions and through PyBullet: the same results, and no crash where it is gone."""

import ctypes
import math
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pybullet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recursive_dyn as rd
from bridge import PyBulletMirror
from bridge.collision import bullet_functions, bullet_surroundings
from bridge.collision.contact_points import (
    NEW_PAIRS,
    NO_ROOM,
    Aside,
    Known,
    PairFrictions,
    RawPoints,
    gathered,
    insert,
)
from bridge.collision.routes import DirectRoute, OrdinaryRoute
from bridge.collision.symbol_table import symbols
from recursive_dyn.contact.contact_buffer import ContactBuffer
from recursive_dyn.contact.contacts import STATIC
from scene import Body, Scene, joints, shapes

H = 1 / 240
direct = pytest.mark.skipif(bullet_functions.functions() is None, reason="Bullet's functions are out of reach here")


@pytest.fixture
def client():
    number = pybullet.connect(pybullet.DIRECT)
    pybullet.setGravity(0, 0, -9.81, physicsClientId=number)
    yield number
    if pybullet.isConnected(number):
        pybullet.disconnect(number)


@pytest.fixture(scope="module")
def tumbling():
    """Shapes of many kinds that fall on a box and over its edge on the ground, and a body without any."""
    scene = Scene()
    rough = rd.Material(0.6, rolling_friction=1e-3, restitution=0.2)
    scene.world.shapes.append(shapes.Box((0.8, 0.8, 0.4), at=rd.pose((0, 0, 0.2))))
    kinds = [
        shapes.Box((0.3, 0.2, 0.1), material=rough),
        shapes.Capsule(0.06, 0.3),
        shapes.Cylinder(0.1, 0.2),
        shapes.Sphere(0.1, material=rough),
        shapes.Box((0.2, 0.2, 0.2)),
    ]
    for k, shape in enumerate(kinds):
        at = rd.pose((0.12 * k - 0.2, 0.05 * k, 0.55 + 0.22 * k), rpy=(0.3 * k, 0.2, 0.1 * k))
        body = scene.world.attach(Body(f"b{k}", [shape], mass=1.0 + k), joints.free(), at=at)
    body.attach(Body("frame", mass=0.1, center_of_mass=(0, 0, 0), inertia=1e-3 * np.eye(3)), joints.revolute("z"))
    return scene, scene.compile()


def ordinary(monkeypatch) -> None:
    monkeypatch.setattr(bullet_surroundings, "reached", lambda client: None)


def courses(scene, dynamics, steps, client=None, each=None) -> list[bytes]:
    """Everything that a simulation and its contacts say, step by step."""
    sim = rd.Simulation(dynamics, H)
    told = []
    with PyBulletMirror(scene, sim, client=client, gui=False) as shown:
        for k in range(steps):
            if each:
                each(k, shown)
            shown.step()
            c = sim.contacts
            arrays = sim.q, sim.v, c.a, c.b, c.key, c.point_a, c.point_b, c.normal, c.distance, c.friction, c.drift
            told.append(b"".join(x.tobytes() for x in arrays) + repr(shown.contacts).encode())
    return told


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


# What the functions are told apart by


def untried(monkeypatch) -> None:
    """Let what is known of this process be found anew, and forgotten after the test."""
    monkeypatch.setattr(bullet_functions, "functions", bullet_functions.functions.__wrapped__)


@direct
def test_a_probe_that_differs_in_one_bit_leads_through_pybullet(tumbling, monkeypatch):
    untried(monkeypatch)
    tell = pybullet.getContactPoints

    def nearly(*args, **named):
        points = [list(point) for point in tell(*args, **named)]
        points[3][8] = math.nextafter(points[3][8], 1.0)
        return tuple(map(tuple, points))

    with monkeypatch.context() as lie:
        lie.setattr(pybullet, "getContactPoints", nearly)
        assert bullet_functions.functions() is None
        with PyBulletMirror(tumbling[0], rd.Simulation(tumbling[1]), gui=False) as shown:
            assert isinstance(shown._surroundings._route, OrdinaryRoute)
    assert bullet_functions.functions() is not None


@direct
@pytest.mark.parametrize("missing", ["sPhysicsClients1", "b3GetUserData"])
def test_what_a_library_does_not_tell_is_done_through_pybullet(tumbling, monkeypatch, missing):
    untried(monkeypatch)
    monkeypatch.setattr(
        bullet_functions, "symbols", lambda path, names: symbols(path, [name for name in names if name != missing])
    )
    assert bullet_functions.functions() is None
    with PyBulletMirror(tumbling[0], rd.Simulation(tumbling[1], H), gui=False) as shown:
        shown.step(60)
        assert len(shown.contacts) > 0


@direct
def test_symbols_lie_where_the_loader_has_them():
    names = ["b3SubmitClientCommand", "b3GetStatusType", "sPhysicsClients1", "no such name"]
    known = symbols(pybullet.__file__, names)
    assert sorted(known) == sorted(names[:3])
    library = ctypes.PyDLL(pybullet.__file__)
    starts = {ctypes.cast(getattr(library, name), ctypes.c_void_p).value - known[name].offset for name in names[:2]}
    assert len(starts) == 1


def test_other_files_have_no_symbols(tmp_path):
    whole = Path(pybullet.__file__)
    with open(whole, "rb") as file:
        start = file.read(4096)
    for k, data in enumerate((b"", b"\x7fELF", start, b"MZ" + start, start[:18])):
        path = tmp_path / str(k)
        path.write_bytes(data)
        assert symbols(path, ["b3GetStatusType"]) == {}
    assert symbols(tmp_path / "nothing", ["b3GetStatusType"]) == {}


# Connections that come and go


def ball_over_ground() -> Scene:
    scene = Scene()
    scene.world.attach(Body("ball", [shapes.Sphere(0.1)], mass=1.0), joints.free(), at=rd.pose((0, 0, 0.1)))
    scene.world.shapes.append(shapes.Box((1, 1, 0.2), at=rd.pose((0, 0, -0.1))))
    return scene


@direct
def test_a_connection_that_is_gone_is_not_called():
    scene = ball_over_ground()
    dynamics = scene.compile()
    for _ in range(3):
        client = pybullet.connect(pybullet.DIRECT)
        shown = PyBulletMirror(scene, rd.Simulation(dynamics, H), client=client, ground=False)
        shown.step(5)
        assert isinstance(shown._surroundings._route, DirectRoute)
        pybullet.disconnect(client)
        for call in (shown.step, shown.sim.step, shown.sync):
            with pytest.raises(rd.StateError, match="create a new PyBulletMirror"):
                call()
        again = pybullet.connect(pybullet.DIRECT)
        assert again == client, "Bullet gives the number to the next one"
        pybullet.createMultiBody(1.0, -1, -1, (0, 0, 1), physicsClientId=again)
        for call in (shown.step, shown.sim.step):
            with pytest.raises(rd.StateError, match="create a new PyBulletMirror"):
                call()
        shown.close()
        assert pybullet.getNumBodies(again) == 1
        pybullet.disconnect(again)


@direct
def test_many_connections_at_once():
    """Each mirror speaks to its own."""
    scene = ball_over_ground()
    dynamics = scene.compile()
    mirrors = []
    for k in range(4):
        sim = rd.Simulation(dynamics, H)
        sim.q[2] += 0.1 * k
        mirrors.append(PyBulletMirror(scene, sim, gui=False, ground=False))
    for _ in range(10):
        for shown in mirrors:
            shown.step()
    for k, shown in enumerate(mirrors):
        height = pybullet.getBasePositionAndOrientation(shown.bullet_bodies["ball"][0], shown.client)[0][2]
        assert height == shown.sim.present.poses[0, 2, 3]
        assert bool(shown.contacts) == (k == 0)
        shown.close()


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


def test_bullet_looks_twice_where_bodies_have_moved_far(watched):
    scene = ball_over_ground()
    scene.gravity = np.zeros(3)
    sim = rd.Simulation(scene.compile(), H)
    with PyBulletMirror(scene, sim, gui=False, ground=False) as shown:
        route, forgiven = shown._surroundings._route, 0.5 * 0.02 * 0.1 * math.sqrt(3.0)
        route.detections = 0
        shown.step()
        assert route.detections == 2, "nothing had been seen"
        shown.step(10)
        assert route.detections == 12
        sim.v[3] = 1.1 * forgiven / H
        shown.step(10)
        assert route.detections == 32
        sim.v[3] = 0.4 * forgiven / H
        shown.step(9)
        assert route.detections == 32 + 9 + 3


def test_where_bullet_has_bodies_of_its_own_it_always_looks_twice(watched, client):
    shape = pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=[1, 1, 0.1], physicsClientId=client)
    pybullet.createMultiBody(0, shape, -1, [0, 0, -0.1], physicsClientId=client)
    scene = Scene()
    scene.world.attach(Body("ball", [shapes.Sphere(0.1)], mass=1.0), joints.free(), at=rd.pose((0, 0, 0.1)))
    with PyBulletMirror(scene, rd.Simulation(scene.compile(), H), client=client, ground=False) as shown:
        route = shown._surroundings._route
        route.detections = 0
        shown.step(10)
        assert route.detections == 20


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
    known = Known(numbers, 10 * np.arange(8), rng.random(8), np.arange(8) == 1, np.array([3]), np.array([2]))
    frictions = PairFrictions(np.full(256, -1), np.zeros((256, 5)))
    buffer, wanted = ContactBuffer(64), Aside(*np.zeros((2, 64), int), np.zeros((64, 2), int), np.zeros(3, int))
    result = gathered(raw, known, frictions, buffer.table, wanted)
    if result == NEW_PAIRS:
        keys = np.unique(wanted.wanted[: wanted.sizes[1]])
        insert(keys, np.arange(5.0 * len(keys)).reshape(-1, 5), frictions)
        result = gathered(raw, known, frictions, buffer.table, wanted)
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
    assert gathered.python(raw, known, frictions, plain.table, aside) == result
    assert all((x == y).all() for x, y in zip(plain.table, table, strict=True))
    if n > 1:
        assert gathered(raw, known, frictions, ContactBuffer(n - 1).table, aside) == NO_ROOM
        assert aside.sizes[0] == n


@direct
@pytest.mark.skipif(shutil.which("xvfb-run") is None, reason="a window needs a display; xvfb-run makes one")
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
    command = ["xvfb-run", "-a", "-s", "-screen 0 800x600x24", sys.executable, "-c", code]
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
