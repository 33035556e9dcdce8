"""Islands at rest sleep: they stay where they are to the bit, and wake exactly when anything acts on them."""

import multiprocessing

import numpy as np
import pybullet
import pytest
import trimesh
from contact_scenes import G, at, mirror, position, put, set_twist, twist

import recursive_dyn as rd
from bridge import Plugin, PyBulletMirror
from bridge.closed_form.closed_scene import ClosedScene
from bridge.closed_form.closed_surroundings import ClosedSurroundings
from bridge.collision import bullet_surroundings
from scene import Body, Scene, joints, shapes

H, AFTER, DROP = 1 / 240, 0.5, 8.0
BOX, ROUGH = (0.2, 0.2, 0.1), rd.Material(friction=0.8)
DEFAULT = "linearly_implicit_rk4"


def floor(scene: Scene) -> Scene:
    scene.world.shapes.append(shapes.Box((20.0, 20.0, 1.0), at=at(z=-0.5), material=ROUGH))
    return scene


def stack(scene: Scene, name: str, x: float, count: int = 4) -> None:
    for k in range(count):
        put(scene, f"{name}{k}", shapes.Box(BOX, material=ROUGH), at(x, 0.0, 0.05 + 0.1 * k))


def two_stacks() -> Scene:
    """Of boxes, and a ball far above the first."""
    scene = floor(Scene())
    stack(scene, "a", 0.0)
    stack(scene, "b", 2.0)
    put(scene, "ball", shapes.Sphere(0.05, material=ROUGH), at(0.03, 0.02, DROP))
    return scene


def drums() -> Scene:
    """Convex meshes on each other, and a ball far above."""
    scene, drum = floor(Scene()), trimesh.creation.cylinder(radius=0.1, height=0.1, sections=6)
    for k in range(3):
        put(scene, f"b{k + 1}", shapes.Mesh(drum), at(0.0, 0.0, 0.05 + 0.1 * k, (0.0, 0.0, 0.2 * k)))
    put(scene, "ball", shapes.Sphere(0.05, material=ROUGH), at(0.03, 0.02, DROP))
    return scene


def sleepy(scene: Scene, **options) -> PyBulletMirror:
    shown = mirror(scene, H, DEFAULT, **options)
    shown.sim.contact.sleep_after = AFTER
    return shown


def asleep(scene: Scene, **options) -> PyBulletMirror:
    """A mirror of a scene in which all that can sleep does."""
    shown = sleepy(scene, **options)
    shown.step(180)
    assert shown.sim.asleep
    return shown


NAMES = tuple(f"{name}{k}" for name in "ab" for k in range(4))


def test_a_stack_falls_asleep_after_its_time_and_stays_to_the_bit():
    with sleepy(two_stacks()) as shown:
        sim = shown.sim
        shown.step(round(AFTER / H) - 1)
        assert sim.asleep == ()
        shown.step(60)
        assert sim.asleep == NAMES
        q, v, ball = sim.q.copy(), sim.v.copy(), slice(7 * 8, None)
        shown.step(30)
        assert sim.q[: ball.start].tobytes() == q[: ball.start].tobytes()
        assert not sim.v[:48].any() and not v[:48].any()
        assert sim.q[58] < q[58] - 0.5


def test_what_sleeps_goes_on_bearing_its_weight():
    """Contacts, wrenches and events are told as before: a box bears those above it, and touches go on."""
    with asleep(two_stacks()) as shown:
        sim = shown.sim
        assert sim.solution.contacts == 0 and sim.solution.asleep == len(sim.contacts)
        touching = sim.touching
        shown.step(5)
        assert sim.touching == touching
        assert {event.kind for event in sim.contact_events} == {"stay"}
        for event in sim.contact_events:
            if event.kind == "stay" and event.body_b == "world":
                assert event.impulse == pytest.approx(5 * H * 4 * G, rel=1e-5)
        for name in "ab":
            for k in range(4):
                np.testing.assert_allclose(sim.contact_wrench(f"{name}{k}")[3:], (0, 0, G), atol=1e-3)
        assert len(sim.contacts) >= 32
        assert {contact.body_b for contact in shown.contacts} >= {"world", "a1"}


@pytest.mark.parametrize("surroundings", ["bullet", "closed form"])
def test_it_wakes_when_hit_and_goes_on_as_if_it_had_never_slept(surroundings):
    """Until the hit, at it and in the tenth of a second after it: the other moved by less than a solve leaves."""
    runs = []
    for after in (AFTER, np.inf):
        scene = two_stacks()
        if surroundings == "bullet":
            shown = mirror(scene, H, DEFAULT, ground=False)
            sim = shown.sim
        else:
            sim = rd.Simulation(scene.compile(), H)
            sim.surroundings = ClosedSurroundings(ClosedScene(scene, sim.dynamics))
        sim.contact.sleep_after = after
        rows, slept = [], []
        for _ in range(340):
            sim.step()
            rows.append(sim.q.copy())
            slept.append(len(sim.asleep))
        runs.append((np.array(rows), slept))
        if surroundings == "bullet":
            shown.close()
    (with_sleep, slept), (without, never) = runs
    hit = int(np.sqrt(2 * (DROP - 0.45) / G) / H)
    assert not any(never)
    assert slept[hit - 3] == 8 and slept[hit + 3] == 4  # the other stack sleeps on
    np.testing.assert_allclose(with_sleep[: hit + 24], without[: hit + 24], atol=2e-6)


def test_momentum_is_kept_when_a_sleeper_is_hit():
    """Boxes on a floor without friction, struck from the side: what the ball loses they get, to rounding."""
    scene, smooth = Scene(), rd.Material(friction=0.0)
    scene.world.shapes.append(shapes.Box((20.0, 20.0, 1.0), at=at(z=-0.5), material=smooth))
    put(scene, "box", shapes.Box(BOX, material=smooth), at(z=0.05))
    put(scene, "puck", shapes.Sphere(0.05, material=smooth), at(-3.0, 0.0, 0.05))
    with asleep(scene) as shown:
        sim = shown.sim
        assert sim.asleep == ("box", "puck")
        set_twist(sim, "puck", velocity=(4.0, 0.0, 0.0))
        shown.step()
        assert sim.asleep == ("box",)
        while sim.asleep:
            before = sim.dynamics.momentum(sim.q, sim.v)[3:5]
            energy = sim.dynamics.kinetic_energy(sim.q, sim.v)
            np.testing.assert_allclose(before, (4.0, 0.0), atol=1e-12)
            shown.step()
        shown.step(5)
        np.testing.assert_allclose(sim.dynamics.momentum(sim.q, sim.v)[3:5], before, atol=1e-12)
        assert twist(sim, "box")[3] > 1.0
        assert sim.dynamics.kinetic_energy(sim.q, sim.v) <= energy


def push(sim):
    sim.apply_force("a3", (3.0, 0.0, 0.0))


def torque(sim):
    sim.tau[20] = 1.0


def move(sim):
    sim.q[2] += 1e-9


def throw(sim):
    sim.v[3] = 1e-3


def drive(sim):
    sim.motors["a0"] = rd.Motor(position=(0.0, 0.0, 0.3))


def lead(sim):
    sim.control = lambda q, v, t: np.where(np.arange(len(v)) == 0, 1.0, 0.0)


def place(sim):
    sim.place("a2", velocity=(0, 0, 0, 0, 0, 0.1))


def grab(sim):
    sim.grab("a3").move((0.5, 0.0, 0.35))


@pytest.mark.parametrize("disturb", [push, torque, move, throw, drive, lead, place, grab])
def test_it_wakes_when_something_acts_on_it(disturb):
    """And all that hangs together with it, but not the other stack."""
    with asleep(two_stacks()) as shown:
        sim = shown.sim
        disturb(sim)
        shown.step()
        assert sim.asleep == NAMES[4:]
        q = sim.q.copy()
        shown.step()
        assert (sim.q[:7] != q[:7]).any() or (sim.q[21:28] != q[21:28]).any()


def changed_step(shown):
    shown.sim.timestep = 1 / 120


def woken(shown):
    shown.sim.wake()


def other_pair(shown):
    shown.pair("a0", "a1", material=rd.Material(friction=0.1))


def turned_off(shown):
    shown.sim.contact.sleep_after = np.inf


def no_mirror(shown):
    shown.close()


@pytest.mark.parametrize("change", [changed_step, woken, other_pair, turned_off, no_mirror])
def test_all_wake_where_what_holds_them_changes(change):
    with asleep(two_stacks()) as shown:
        change(shown)
        shown.sim.step()
        assert shown.sim.asleep == ()
        shown.sim.step(10)
        fallen = position(shown.sim, "a0")[2] - 0.05
        assert fallen == pytest.approx(-0.5 * G * (11 * H) ** 2 if change is no_mirror else 0.0, abs=1e-4)


def test_what_a_whole_step_does_is_told_of_one_that_is_cut():
    """While a bullet of a ball goes by, steps are taken in parts: who sleeps bears what it did in whole ones."""
    with asleep(two_stacks()) as shown:
        sim = shown.sim
        set_twist(sim, "ball", velocity=(0.0, 0.0, -60.0))
        while sim.solution.substeps == 1:
            shown.step()
        told = {(e.body_a, e.body_b): e.impulse for e in sim.contact_events}
        assert told[("b0", "b1")] == pytest.approx(3 * G * H, rel=1e-4)
        for k in range(4):
            assert sim.contact_wrench(f"b{k}")[5] == pytest.approx(G, rel=1e-4)


@pytest.mark.parametrize("detect", ["step", "frame"])
def test_contacts_that_are_kept_for_a_frame_wake_it_too(detect):
    with asleep(two_stacks()) as shown:
        sim = shown.sim
        sim.contact.detect = detect
        while position(sim, "ball")[2] > 0.3 and len(sim.asleep) == 8:
            shown.step(4)
        shown.step(12)
        assert sim.asleep == NAMES[4:] and abs(position(sim, "a0")[2] - 0.05) < 1e-3


def test_it_falls_when_its_floor_goes():
    """Scenery that is removed, and a body of the scene that is: from then on what lay there falls freely."""
    scene = floor(Scene())
    stack(scene, "a", 0.0, 2)
    with asleep(scene, ground=False) as shown:
        sim, z = shown.sim, position(shown.sim, "a0")[2]
        scene.world.shapes.clear()
        shown.update()
        shown.step(24)
        assert position(sim, "a0")[2] - z == pytest.approx(-0.5 * G * 0.1**2, rel=1e-9)
    scene = floor(Scene())
    stack(scene, "a", 0.0, 3)
    with asleep(scene, ground=False) as shown:
        sim, z = shown.sim, position(shown.sim, "a2")[2]
        scene["a1"].detach()
        shown.update()
        shown.step(24)
        assert position(sim, "a2")[2] - z == pytest.approx(-0.5 * G * 0.1**2, rel=1e-9)


def test_gravity_that_is_a_parameter_wakes_it():
    scene = Scene()
    g = scene.parameter("g", G)
    scene.gravity = (0, 0, -g)
    stack(floor(scene), "a", 0.0, 2)
    with asleep(scene) as shown:
        shown.sim.parameters["g"] = -1.0
        shown.step(24)
        assert shown.sim.asleep == () and position(shown.sim, "a0")[2] == pytest.approx(0.05 + 0.005, abs=1e-4)


def test_on_a_slope_it_stays_until_friction_goes():
    """tan 20 degrees < 0.8: it sleeps there; with less it slides as on paper."""
    angle = np.radians(20.0)
    scene = Scene(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    stack(floor(scene), "a", 0.0, 1)
    with asleep(scene) as shown:
        sim, q = shown.sim, shown.sim.q.copy()
        shown.step(240)
        assert sim.q.tobytes() == q.tobytes()
        shown.pair("a0", "world", material=rd.Material(friction=0.1))
        shown.step(24)
        wanted = G * (np.sin(angle) - 0.1 * np.cos(angle)) * 0.1
        assert twist(sim, "a0")[3] == pytest.approx(wanted, rel=1e-9)


def ball(tilt: float) -> Scene:
    """With its centre of mass low, on a plane, tilted."""
    scene = Scene()
    scene.world.shapes.append(shapes.Plane(material=ROUGH))
    low = Body(
        "body", [shapes.Sphere(0.1, at=at(z=0.03))], mass=1.0, center_of_mass=(0, 0, 0), inertia=0.003 * np.eye(3)
    )
    X = rd.pose(rpy=(0, tilt, 0))
    X[:3, 3] = np.array([0, 0, 0.1]) - X[:3, :3] @ (0, 0, 0.03)
    scene.world.attach(low, joints.free(), at=X)
    return scene


def spinning() -> Scene:
    """A ball that turns about the vertical without friction against turning."""
    scene = Scene()
    put(scene, "body", shapes.Sphere(0.1), at(z=0.1))
    return scene


def hanging() -> Scene:
    """A pendulum at rest, which nothing touches."""
    scene = Scene()
    scene.world.attach(Body("body", [shapes.Sphere(0.1, at=at(z=-0.5))]), joints.revolute("y"), at=at(z=2.0))
    return scene


def floating() -> Scene:
    scene = Scene(gravity=(0, 0, 0))
    put(scene, "body", shapes.Sphere(0.1), at(z=1.0))
    return scene


SLOW = {"rocks": (ball(1e-3), 0.0), "rocks hardly": (ball(1e-4), 0.0), "spins": (spinning(), 1e-3),
        "hangs": (hanging(), 0.0), "floats": (floating(), 0.0)}  # fmt: skip


@pytest.mark.parametrize("name", SLOW)
def test_what_moves_slowly_or_touches_nothing_never_sleeps(name):
    """It goes on to the bit as without sleep, also where it turns back."""
    scene, spin = SLOW[name]
    ends = []
    for after in (0.1, np.inf):
        with mirror(scene, H, DEFAULT) as shown:
            sim = shown.sim
            sim.contact.sleep_after = after
            if spin:
                set_twist(sim, "body", omega=(0, 0, spin))
            for _ in range(10):
                shown.step(48)
                assert sim.asleep == ()
            ends.append(sim.q.tobytes() + sim.v.tobytes())
    assert ends[0] == ends[1]


def trace(shown, count: int = 200) -> list[bytes]:
    """States, who sleeps and what touches in steps that follow."""
    rows = []
    for _ in range(count):
        shown.step()
        told = sorted((e.kind, e.body_a, e.body_b, e.impulse) for e in shown.sim.contact_events)
        rows.append(shown.sim.q.tobytes() + shown.sim.v.tobytes() + repr((told, shown.sim.asleep)).encode())
    return rows


@pytest.mark.parametrize("begun", [100, 200])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", ["boxes", "drums"])
def test_snapshots_hold_who_sleeps_and_since_when_others_rest(begun, packed, kind):
    """In the same mirror and in a fresh one, before they sleep and after, up to the hit and beyond."""
    made = two_stacks if kind == "boxes" else drums
    with sleepy(made()) as shown:
        sim = shown.sim
        shown.step(begun)
        taken = sim.snapshot_bytes() if packed else sim.snapshot()
        wanted = trace(shown)
        assert any(row.endswith(b"'b3'))") for row in wanted) and not wanted[-1].endswith(repr(NAMES).encode() + b")")
        sim.restore(taken)
        assert trace(shown) == wanted
        with sleepy(made()) as fresh:
            fresh.step(30)
            fresh.sim.restore(taken)
            assert trace(fresh) == wanted


def test_plugins_roll_back_to_what_slept():
    """A game by closed forms: bytes taken while some sleep lead to the same in another one."""

    def game() -> Plugin:
        plugin = Plugin(two_stacks(), H)
        plugin.simulation.contact.sleep_after = AFTER
        return plugin

    def states(plugin: Plugin) -> list[bytes]:
        rows = []
        for _ in range(150):
            plugin.on_frame(H)
            rows.append(plugin.simulation.q.tobytes() + repr(plugin.simulation.asleep).encode())
        return rows

    with game() as one, game() as other:
        one.step(200)
        assert one.simulation.asleep == NAMES
        taken = one.snapshot()
        wanted = states(one)
        assert wanted[-1].endswith(repr(NAMES[4:]).encode())
        other.step(10)
        other.restore(taken)
        assert states(other) == wanted


def test_a_snapshot_of_a_sleeper_that_was_moved_wakes_it_too():
    with asleep(two_stacks()) as shown:
        sim = shown.sim
        sim.q[2] += 1e-6
        taken = sim.snapshot(), sim.snapshot_bytes()
        wanted = trace(shown, 20)
        assert wanted[0].endswith(repr(NAMES[4:]).encode() + b")")
        for snapshot in taken:
            sim.restore(snapshot)
            assert trace(shown, 20) == wanted


def test_what_bullet_is_asked_by_is_all_the_same(monkeypatch):
    """By the addresses of its functions and through PyBullet: bit by bit, asleep, at the hit and afterwards."""
    runs = []
    for route in ("direct", "ordinary"):
        if route == "ordinary":
            monkeypatch.setattr(bullet_surroundings, "reached", lambda client: None)
        with sleepy(two_stacks()) as shown:
            runs.append(trace(shown, 340))
    assert runs[0] == runs[1]


def test_contacts_are_found_where_they_are_asked_for_while_it_sleeps():
    """After a sync all of them, by the mirror's own look; who sleeps sleeps on, to the bit."""
    with asleep(two_stacks()) as shown:
        q, told = shown.sim.q.copy(), {(c.body_a, c.body_b) for c in shown.contacts}
        shown.sync()
        assert {(c.body_a, c.body_b) for c in shown.contacts} == told
        assert shown.queries.ray((0, 0, 3), (0, 0, -1)).body == "a3"
        shown.step(5)
        assert shown.sim.asleep == NAMES and shown.sim.q[:56].tobytes() == q[:56].tobytes()
        shown.sim.wake()
        shown.step(2)
        assert {(c.body_a, c.body_b) for c in shown.contacts} == told


def test_it_wakes_when_bullet_has_a_body_of_its_own():
    scene = floor(Scene())
    stack(scene, "a", 0.0)
    with asleep(scene) as shown:
        ball = pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=0.1, physicsClientId=shown.client)
        pybullet.createMultiBody(5.0, ball, -1, [0.0, 0.0, 0.52], physicsClientId=shown.client)
        q = shown.sim.q.copy()
        shown.step(10)
        assert shown.sim.asleep == () and (shown.sim.q != q).any()


def test_convex_meshes_wake_from_all_their_points():
    """Of which Bullet finds one at a time: woken without a touch, they stay where they were."""
    with asleep(drums()) as shown:
        q, count = shown.sim.q[:21].copy(), len(shown.sim.contacts)
        shown.step(5)  # in which Bullet looks for the ball
        shown.sim.wake()
        shown.step()
        assert len(shown.sim.contacts) == count
        shown.step(20)
        np.testing.assert_allclose(shown.sim.q[:21], q, atol=1e-6)


def _run(_: int) -> bytes:
    with sleepy(two_stacks()) as shown:
        return b"".join(trace(shown, 340))


@pytest.mark.slow
def test_other_processes_sleep_and_wake_alike():
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        one, other = pool.map(_run, range(2))
    assert one == other == _run(0)


def flap() -> Scene:
    """A flap that its stop holds up, with a box on it; another one that dry friction holds, and a box on the floor."""
    scene = floor(Scene())
    for name, y, options in (("flap", 0.0, {"limits": (-1.0, 0.0)}), ("rough", 1.0, {"friction": 20.0})):
        board = Body(name, [shapes.Box((0.6, 0.3, 0.02), at=at(0.3), material=ROUGH)], mass=1.0)
        scene.world.attach(board, joints.revolute("y", **options), at=at(0.0, y, 0.5))
        put(scene, f"{name} box", shapes.Box((0.1, 0.1, 0.1), material=ROUGH), at(0.3, y, 0.56))
    stack(scene, "a", 2.0, 1)
    put(scene, "ball", shapes.Sphere(0.05, material=ROUGH), at(0.3, 0.0, DROP))
    return scene


@pytest.mark.parametrize("integrator", [DEFAULT, "semi_implicit_euler"])
def test_what_stops_and_dry_friction_hold_sleeps(integrator):
    """Their impulses are told on, and kept for when they wake: 20 N at 0.3 m, to what a solve leaves open."""
    with mirror(flap(), H, integrator) as shown:
        sim = shown.sim
        sim.contact.sleep_after = AFTER
        shown.step(200)
        assert sim.asleep == ("flap", "flap box", "rough", "rough box", "a0")
        for _ in range(2):
            told = sim.coordinate_impulses
            assert told["high limit of flap.angle"] == pytest.approx(2 * G * 0.3 * H, rel=1e-4)
            assert abs(told["friction of rough.angle"]) == pytest.approx(2 * G * 0.3 * H, rel=1e-4)
            shown.step(3)
        q = sim.q.copy()
        sim.wake()
        shown.step()
        assert sim.solution.iterations <= 3
        np.testing.assert_allclose(sim.q[:-7], q[:-7], atol=1e-8)


def test_a_flap_alone_that_nothing_touches_never_sleeps():
    scene = flap()
    scene["flap box"].detach()
    with sleepy(scene) as shown:
        shown.step(240)
        assert shown.sim.asleep == ("rough", "rough box", "a0")


def test_limbs_with_limits_sleep_and_wake_by_snapshots_alike():
    with sleepy(flap()) as shown:
        shown.step(200)
        assert len(shown.sim.asleep) == 5
        taken = shown.sim.snapshot(), shown.sim.snapshot_bytes()
        wanted = trace(shown, 150)
        assert not wanted[-1].endswith(wanted[0][-80:])
        for snapshot in taken:
            shown.sim.restore(snapshot)
            assert trace(shown, 150) == wanted


@pytest.mark.parametrize("value", [0, -1.0, "soon", True])
def test_a_time_of_rest_is_positive(value):
    sim = rd.Simulation(floating().compile())
    with pytest.raises(rd.StateError, match="sleep_after"):
        sim.contact.sleep_after = value
