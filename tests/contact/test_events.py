"""Events, force sensors, contacts kept for a frame, and snapshots."""

import numpy as np
import pytest
from contact_scenes import INTEGRATORS, G, at, mirror, position, put, set_twist, twist

import recursive_dyn as rd
from recursive_dyn.contact.contacts import Contacts, FreeBodies
from scene import Body, Scene, joints, shapes

H = 1 / 240


def kinds(shown) -> dict:
    return {(e.body_a, e.body_b): e.kind for e in shown.sim.contact_events}


def test_a_bounce_begins_and_ends():
    """One begin whose impulse is (1 + e) m v, then an end, then nothing until the next."""
    scene = Scene()
    put(scene, "ball", shapes.Sphere(0.1, material=rd.Material(0.0, restitution=0.5)), at(0.3, -0.2, 0.6), 2.0)
    with mirror(scene, H, "rk4") as shown:
        told = []
        while len(told) < 3:
            shown.step()
            told += shown.sim.contact_events
            if told and told[-1].kind == "begin" and shown.sim.contact_events:
                (event,) = shown.sim.contact_events
                assert (event.body_a, event.body_b) == ("ball", "world")
                if len(told) == 1:
                    v = np.sqrt(2 * G * 0.5)
                    assert event.impulse == pytest.approx(1.5 * 2.0 * v, rel=0.01)
                np.testing.assert_allclose(event.point, (0.3, -0.2, 0.0), atol=1e-6)
        assert [e.kind for e in told] == ["begin", "end", "begin"]
        assert told[1].impulse == 0.0


def test_what_rests_stays():
    scene = Scene()
    put(scene, "box", shapes.Box((0.2,) * 3), at(z=0.1), 3.0)
    with mirror(scene, H, "rk4") as shown:
        shown.step()
        assert kinds(shown) == {("box", "world"): "begin"}
        for count in (1, 10):
            shown.step(count)
            (event,) = shown.sim.contact_events
            assert event.kind == "stay"
            assert event.impulse == pytest.approx(3.0 * G * count * H, rel=1e-3)
        shown.step(0)
        shown.sim.q[2] += 1.0
        shown.step()
        assert kinds(shown) == {("box", "world"): "end"}
        shown.step()
        assert kinds(shown) == {}


@pytest.mark.parametrize("names", [(), ("crate", "barrel")])
def test_free_bodies_of_a_detector_are_told_by_name(names):
    """By "free 0", "free 1" where it says none; a name for each, or none at all."""
    scene = Scene(gravity=(0, 0, 0))
    put(scene, "ball", shapes.Sphere(0.1), at(z=0.0), 1.0)
    sim = rd.Simulation(scene.compile(), H)
    still = np.zeros((2, 6))
    free = FreeBodies(np.array([[0, 0, -1.0], [0, 0, 1.0]]), np.ones(2), np.tile(np.eye(3), (2, 1, 1)), still, still)
    points = np.array([[0, 0, -0.1], [0, 0, 0.1]])
    normals = np.array([[0, 0, 1.0], [0, 0, -1.0]])
    given = [np.array([0, 0]), np.array([1, 2]), points, points, normals, np.zeros(2), np.zeros((2, 5)), np.arange(2)]
    sim.detect = lambda sim: Contacts(*given, free=free, free_names=names)
    sim.step()
    told = {e.body_b for e in sim.contact_events if e.body_a == "ball"}
    assert told == set(names or ("free 0", "free 1"))
    sim.detect = lambda sim: Contacts(*given, free=free, free_names=("one",))
    with pytest.raises(rd.StateError, match="names 1 free bodies, of which there are 2"):
        sim.step()


def test_a_call_of_many_steps_tells_all_of_them():
    """Within one call a ball may begin and end; a second one that rests only stays."""
    scene = Scene()
    put(scene, "ball", shapes.Sphere(0.1, material=rd.Material(0.0, restitution=1.0)), at(z=0.15), 2.0)
    put(scene, "box", shapes.Box((0.2,) * 3), at(2.0, 0.0, 0.1))
    with mirror(scene, H, "rk4") as shown:
        shown.step(3)
        shown.step(40)  # the ball falls 5 cm in 0.1 s and is in the air again
        told = [(e.kind, e.body_a) for e in shown.sim.contact_events]
        assert set(told) == {("begin", "ball"), ("end", "ball"), ("stay", "box")}
        begun = next(e for e in shown.sim.contact_events if e.kind == "begin")
        assert begun.impulse == pytest.approx(2 * 2.0 * np.sqrt(2 * G * 0.05), rel=0.02)


def test_pairs_of_bodies_are_told_by_name():
    scene = Scene(gravity=(0, 0, 0))
    for k in range(2):
        put(scene, f"ball{k}", shapes.Sphere(0.1), at(0.5 * k))
    with mirror(scene, H, ground=False) as shown:
        set_twist(shown.sim, "ball0", velocity=(1.0, 0, 0))
        seen: dict = {}
        for _ in range(100):
            shown.step()
            for event in shown.sim.contact_events:
                seen.setdefault(event.kind, event)
        assert (seen["begin"].body_a, seen["begin"].body_b) == ("ball0", "ball1")
        assert seen["begin"].impulse == pytest.approx(0.5, rel=1e-9)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_sensor_shows_the_weight(integrator):
    """Force: what lies on it and itself. Moment: its own weight's about a frame that is not in its middle."""
    scene = Scene()
    form = shapes.Box((0.4, 0.4, 0.2), at=at(0.1, -0.05, 0.0))
    scene.world.attach(Body("table", [form], mass=4.0), joints.free(), at=at(0.0, 0.0, 0.1))
    put(scene, "load", shapes.Box((0.1,) * 3), at(0.1, -0.05, 0.25), 1.5)
    with mirror(scene, H, integrator) as shown:
        shown.step(60)
        table, load = shown.sim.contact_wrench("table"), shown.sim.contact_wrench(shown.scene["load"])
        np.testing.assert_allclose(load, [0, 0, 0, 0, 0, 1.5 * G], atol=2e-3)
        # from the ground 5.5 g at (0.1, -0.05), from the load -1.5 g there
        np.testing.assert_allclose(table[3:], [0, 0, 4.0 * G], atol=2e-3)
        np.testing.assert_allclose(table[:3], np.cross((0.1, -0.05, 0.0), (0, 0, 4.0 * G)), atol=2e-3)


def test_a_sensor_shows_friction_and_its_lever():
    scene = Scene()
    put(scene, "block", shapes.Box((0.4, 0.4, 0.1), material=rd.Material(0.5)), at(z=0.05), 2.0)
    with mirror(scene, H, "rk4") as shown:
        for _ in range(30):
            shown.sim.apply_force("block", (6.0, 0.0, 0.0))
            shown.step()
        wrench = shown.sim.contact_wrench("block")
        np.testing.assert_allclose(wrench[3:], [-6.0, 0.0, 2.0 * G], atol=1e-3)
        np.testing.assert_allclose(wrench[:3], 0.0, atol=2e-3)  # the weight leans forward against friction's lever


def test_unknown_bodies_have_no_sensor():
    scene = Scene()
    put(scene, "box", shapes.Box((0.2,) * 3), at(z=0.1))
    with mirror(scene) as shown, pytest.raises(rd.ModelError, match="box7"):
        shown.sim.contact_wrench("box7")


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_contacts_kept_for_a_frame_do_as_well(integrator):
    """A resting and a sliding box, 8 steps a frame: as with contacts found in every step."""
    ends = []
    for how in ("step", "frame"):
        scene = Scene()
        for k, mu in enumerate((0.9, 0.2)):
            put(scene, f"box{k}", shapes.Box((0.3, 0.3, 0.1), material=rd.Material(mu)), at(0.0, k, 0.05))
        scene.world.shapes.append(shapes.Plane(material=rd.Material(1.0)))
        with mirror(scene, 1 / 480, integrator) as shown:
            shown.sim.contact.detect = how
            shown.step(8)
            set_twist(shown.sim, "box1", velocity=(2.0, 0, 0))
            for _ in range(20):
                shown.step(8)
            ends.append(np.concatenate([position(shown.sim, k) for k in range(2)] + [twist(shown.sim, 1)]))
            assert shown.sim.solution.contacts == 8
            assert shown.sim.solution.penetration < 1e-4
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-4)
    assert ends[0][9] == pytest.approx(2.0 - np.sqrt(0.2) * G * 160 / 480, abs=1e-3)


def test_a_frame_detects_once():
    """The detector is asked once a call of step, and by ``step`` in each timestep."""
    scene = Scene()
    put(scene, "box", shapes.Box((0.2,) * 3), at(z=0.1))
    with mirror(scene) as shown:
        inner, asked = shown.sim.detect, []

        def counting(sim):
            asked.append(sim.time)
            return inner(sim)

        shown.sim.detect = counting
        for how, calls in (("step", 6), ("frame", 1)):
            shown.sim.contact.detect = how
            asked.clear()
            shown.sim.step(6)
            assert len(asked) == calls


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_snapshot_goes_on_bit_by_bit(integrator):
    """Warm starts, carried momenta and all: from the snapshot again, and in a simulation of its own."""
    scene = Scene()
    for k in range(4):
        put(scene, f"box{k}", shapes.Box((0.2,) * 3), at(0.01 * k, 0.0, 0.1 + 0.21 * k, (0.02 * k, 0.0, 0.1)))
    arm = scene.world.attach(
        Body("arm", [shapes.Capsule(0.05, 0.5)], mass=1.0), joints.revolute("y"), at=at(0.4, 0, 0.5)
    )
    arm.attach(Body("hand", [shapes.Sphere(0.1)], mass=0.5), joints.ball(), at=at(z=-0.4))
    with mirror(scene, H, integrator) as shown:
        sim = shown.sim
        sim.motors["arm.angle"] = rd.Motor(velocity=1.0, max_force=5.0)
        shown.step(30)
        snapshot = sim.snapshot()
        paths = []
        for _ in range(2):
            sim.restore(snapshot)
            states = []
            for _ in range(40):
                shown.step()
                states.append(np.concatenate([sim.q, sim.v, [sim.time]]))
            paths.append(np.array(states))
        np.testing.assert_array_equal(paths[0], paths[1])
        assert np.ptp(paths[0][:, -1]) > 0 and sim.solution.contacts > 4


def test_running_twice_is_the_same_bit_by_bit():
    ends = []
    for _ in range(2):
        scene = Scene()
        for k in range(5):
            put(scene, f"box{k}", shapes.Box((0.2,) * 3), at(0.02 * k, 0.0, 0.1 + 0.25 * k, (0.1 * k, 0.0, 0.2)))
        with mirror(scene, 1 / 120, "implicit_midpoint") as shown:
            shown.step(90)
            ends.append(np.concatenate([shown.sim.q, shown.sim.v]))
    np.testing.assert_array_equal(*ends)
