"""Islands that sleep wake exactly when anything acts on them, and go on as if they had never slept."""

import numpy as np
import pybullet
import pytest
from contact_scenes import G, at, mirror, position, put, set_twist, twist
from sleepers import AFTER, BOX, DEFAULT, DROP, NAMES, H, asleep, drums, floor, stack, trace, two_stacks

import recursive_dyn as rd
from bridge.closed_form.closed_scene import ClosedScene
from bridge.closed_form.closed_surroundings import ClosedSurroundings
from scene import Scene, shapes


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
    # half the slop, 2e-6 before: what stands, as what slept does, is not let down to that depth any more
    np.testing.assert_allclose(with_sleep[: hit + 24], without[: hit + 24], atol=1e-5)


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


def test_what_wakes_within_a_call_touches_what_it_slept_on():
    """Where contacts are found once a call: those of what slept then were not, and it fell 22 mm into the floor."""
    scene = floor(Scene())
    stack(scene, "a", 0.0, 1)
    put(scene, "ball", shapes.Sphere(0.05), at(3.0, 0.0, DROP))
    with asleep(scene) as shown:
        sim, slot, begun, height = shown.sim, 3, shown.sim.time, position(shown.sim, "a0")[2]
        sim.contact.detect = "frame"
        sim.control = lambda q, v, time: 1e-3 * (np.arange(sim.dynamics.nv) == slot) * (time > begun + 1.5 * H)
        shown.step(12)
        assert sim.asleep == ()
        assert position(sim, "a0")[2] == pytest.approx(height, abs=1e-6)
