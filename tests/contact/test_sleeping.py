"""Islands at rest sleep: they stay where they are to the bit, bear what they bore, and are kept by snapshots."""

import multiprocessing

import numpy as np
import pytest
from contact_scenes import G, at, mirror, put, set_twist
from sleepers import AFTER, DEFAULT, NAMES, ROUGH, H, asleep, drums, flap, floor, sleepy, stack, trace, two_stacks

import recursive_dyn as rd
from bridge import Plugin
from bridge.collision import bullet_surroundings
from scene import Body, Scene, joints, shapes


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


def test_bodies_are_where_the_state_says_wherever_they_slept_before():
    """What is known of sleepers is of where they sleep: here, elsewhere, and here again."""
    with asleep(two_stacks()) as shown:
        sim = shown.sim
        taken = sim.snapshot()
        sim.place("b3", at(5.0, 1.0, 0.05), np.zeros(6))
        shown.step(150)
        assert "b3" in sim.asleep
        for _ in range(2):
            shown.step()
            q, v = sim.q, sim.v
            np.testing.assert_allclose(sim.present.poses, sim.dynamics.poses(q), atol=1e-12)
            np.testing.assert_allclose(sim.present.twists, sim.dynamics.velocities(q, v), atol=1e-12)
            sim.restore(taken)


@pytest.mark.parametrize("packed", [False, True])
def test_rest_begins_where_a_body_is_put(packed):
    """What was put at rest elsewhere while it slid rests from there, in the run that comes after a restore too."""
    scene = floor(Scene())
    stack(scene, "box", 0.0, 1)
    with sleepy(scene) as shown:
        sim = shown.sim
        set_twist(sim, "box0", velocity=(1.0, 0.0, 0.0))
        shown.step(5)
        sim.place("box0", at(-2.0, 1.0, 0.05), np.zeros(6))
        taken = sim.snapshot_bytes() if packed else sim.snapshot()
        ends = []
        for _ in range(2):
            shown.step(5)
            ends.append(sim.snapshot_bytes())
            sim.restore(taken)
        assert ends[0] == ends[1]


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


def _run(_: int) -> bytes:
    with sleepy(two_stacks()) as shown:
        return b"".join(trace(shown, 340))


@pytest.mark.slow
def test_other_processes_sleep_and_wake_alike():
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        one, other = pool.map(_run, range(2))
    assert one == other == _run(0)


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


@pytest.mark.parametrize("at_stop", [False, True])
def test_what_hangs_on_balls_with_limits_sleeps(at_stop):
    """A limb beside its trunk on the ground, or leaning on the cone of its joint: as a doll's do. It never did once."""
    scene = floor(Scene())
    trunk = Body("trunk", [shapes.Box((0.4, 0.3, 0.2), material=ROUGH)], mass=3.0)
    scene.world.attach(trunk, joints.free(), at=rd.pose((0, 0, 0.1)))
    along = rd.pose((0.2, 0, 0), rpy=(0, np.pi / 2, 0))
    limb = Body("limb", [shapes.Capsule(0.05, 0.3, at=along, material=ROUGH)], mass=0.5)
    ball = joints.ball(limits=joints.TurnLimits(0.3, axis="x"), damping=0.1)
    trunk.attach(limb, ball, at=rd.pose((0.2, 0, 0.6 if at_stop else 0.0)))
    with sleepy(scene) as shown:
        shown.step(720)
        assert shown.sim.asleep == ("trunk", "limb")
        assert any("swing limit of limb" in name for name in shown.sim.coordinate_impulses) == at_stop


@pytest.mark.parametrize("value", [0, -1.0, "soon", True])
def test_a_time_of_rest_is_positive(value):
    sim = rd.Simulation(floating().compile())
    with pytest.raises(rd.StateError, match="sleep_after"):
        sim.contact.sleep_after = value
