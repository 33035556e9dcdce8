"""Snapshots of a scene that was another: refused by what differs, as objects and bytes, before anything is written."""

import copy
import pickle
import zlib

import numpy as np
import pytest

import recursive_dyn as rd
from bridge import PyBulletMirror
from recursive_dyn.simulation.saved.packed_state import _HEAD
from scene import Body, Scene, joints, shapes


def arm(constrained=False, sprung=False):
    scene = Scene()
    given = {"mass": 1.0, "center_of_mass": (0, 0, -0.2), "inertia": 0.02 * np.eye(3)}
    a = scene.world.attach(Body("a", **given), joints.revolute("y"))
    b = a.attach(Body("b", **given), joints.revolute("y"), at=rd.pose((0, 0, -0.4)))
    if constrained:
        scene.distance(b, scene.world, 0.8, point_a=(0, 0, -0.4))
    if sprung:
        scene.spring(b, scene.world, 50.0, rest=0.1, point_b=(0.1, 0, 0.2))
    return scene


def geared(scene, ratio):
    scene.constraints.clear()
    scene.gear(scene["b"].q[0], scene["a"].q[0], ratio)


def another_body(scene):
    scene["b"].detach()
    scene["a"].attach(Body("c", mass=5, inertia=0.1 * np.eye(3)), joints.revolute("y"))


def heavier(scene):
    scene["b"].detach()
    given = {"mass": 1.5, "center_of_mass": (0, 0, -0.2), "inertia": 0.02 * np.eye(3)}
    scene["a"].attach(Body("b", **given), joints.revolute("y"), at=rd.pose((0, 0, -0.4)))


CHANGES = [
    (arm(constrained=True), lambda s: s.constraints.clear(), r"constraints.*went"),
    (arm(), lambda s: s.distance(s["b"], s.world, 0.8, point_a=(0, 0, -0.4)), r"constraints.*came"),
    (arm(constrained=True), lambda s: geared(s, -2.0), "constraints"),
    (arm(sprung=True), lambda s: s.forces.clear(), r"force elements.*went"),
    (arm(), lambda s: setattr(s, "gravity", (0, 0, 5.0)), "gravity differs"),
    (arm(), lambda s: s.swap("b", joints.revolute("x")), "joints"),
    (arm(), another_body, "bodies"),
    (arm(), heavier, "masses"),
]


@pytest.mark.parametrize("scene, change, said", CHANGES, ids=[said for *_, said in CHANGES])
def test_what_was_edited_refuses_snapshots_from_before(scene, change, said):
    scene = copy.deepcopy(scene)
    simulation = rd.Simulation(scene.compile(), 1 / 60)
    simulation.step(2)
    taken = simulation.snapshot(), simulation.snapshot_bytes()
    change(scene)
    simulation.update(scene.compile())
    simulation.step()
    now = simulation.snapshot_bytes()
    for snapshot, told in zip(taken, (said, said.partition(".*")[0]), strict=True):
        with pytest.raises(rd.StateError, match=f"another scene: .*{told}"):
            simulation.restore(snapshot)
        assert simulation.snapshot_bytes() == now


@pytest.mark.parametrize("as_bytes", [True, False])
def test_a_rollback_across_a_break_takes_what_broke_put_in_again(as_bytes):
    """Refused while the hook is missing; to the last bit the same once it is back."""
    scene = Scene()
    ball = scene.world.attach(Body("ball", mass=1.0, inertia=0.1 * np.eye(3)), joints.free())
    scene.pin(ball, scene.world, (0, 0, 0.5), (0, 0, 0.5), breaks_at=45.0, name="hook")
    scene.distance(ball, scene.world, 2.0, point_b=(2.0, 0, 0), name="rod")
    before = [*scene.constraints]
    sim = rd.Simulation(scene.compile(), 1 / 60)
    taken = sim.snapshot_bytes() if as_bytes else sim.snapshot()

    def pulled():
        sim.apply_force("ball", (0, 0, -60.0))
        sim.step(3)
        return sim.q.copy()

    first = pulled()
    assert scene.constraints == before[1:]
    with pytest.raises(rd.StateError, match=r"the constraints.*differ.*scene.constraints\[:\] ="):
        sim.restore(taken)
    scene.constraints.append(before[0])
    sim.update(scene.compile())
    with pytest.raises(rd.StateError, match="the constraints differ" if as_bytes else "in another order"):
        sim.restore(taken)
    scene.constraints[:] = before
    sim.update(scene.compile())
    sim.restore(taken)
    np.testing.assert_array_equal(pulled(), first)


def test_the_same_scene_made_or_edited_another_way_is_the_same():
    """Put in and taken out again, copied, sent, made anew."""
    scene = arm(constrained=True, sprung=True)
    simulation = rd.Simulation(scene.compile(), 1 / 60)
    simulation.step(2)
    taken, data = simulation.snapshot(), simulation.snapshot_bytes()
    scene.gravity, (group,), (element,) = (0, 0, -5.0), scene.constraints, scene.forces
    scene.constraints.clear()
    scene.forces.clear()
    scene.world.attach(Body("more", mass=1.0, inertia=np.eye(3)), joints.free())
    simulation.update(scene.compile())
    scene.gravity = (0, 0, -9.81)
    scene.constraints.append(group)
    scene.forces.append(element)
    scene["more"].detach()
    simulation.update(scene.compile())
    others = [rd.Simulation(arm(constrained=True, sprung=True).compile(), 1 / 60), copy.copy(simulation), simulation]
    for other in others:
        for snapshot in (taken, pickle.loads(pickle.dumps(taken)), data):
            other.restore(snapshot)
            np.testing.assert_array_equal(other.q, taken.q)


OTHERWISE = [
    ((1 / 120, "semi_implicit_euler"), "the timestep differs"),
    ((1 / 60, "rk4"), "the integrator differs"),
    ((1 / 120, "rk4"), "the timestep and the integrator differ from"),
]


@pytest.mark.parametrize("steps, said", OTHERWISE, ids=[said for _, said in OTHERWISE])
def test_bytes_say_in_what_steps_are_taken_otherwise(steps, said):
    """It is the same scene, which no update would change; objects are taken."""
    simulation = rd.Simulation(arm().compile(), 1 / 60, "semi_implicit_euler")
    simulation.step(2)
    other = rd.Simulation(arm().compile(), *steps)
    other.restore(simulation.snapshot())
    with pytest.raises(rd.StateError, match=said) as told:
        other.restore(simulation.snapshot_bytes())
    assert "another scene" not in str(told.value)


def no_state(simulation, as_bytes):
    """A snapshot whose quaternion is zero, with the checksum of what it says."""
    if not as_bytes:
        taken = simulation.snapshot()
        taken.q[3:7] = 0.0
        return taken
    data = simulation.snapshot_bytes()
    head, body = [*_HEAD.unpack(data[: _HEAD.size])], bytearray(data[_HEAD.size :])
    body[8 * (2 + 3) : 8 * (2 + 7)] = bytes(32)
    head[4] = 0
    head[4] = zlib.crc32(_HEAD.pack(*head) + bytes(body))
    return _HEAD.pack(*head) + bytes(body)


@pytest.mark.parametrize("as_bytes", [True, False])
def test_numbers_of_no_state_leave_all_as_it_was(as_bytes):
    """A box that tumbles on the ground goes on as its twin, which was never asked: Bullet's memory included."""
    runs = []
    for asked in (False, True):
        scene = Scene()
        box = Body("box", [shapes.Box((0.4, 0.3, 0.2))], mass=1.0)
        scene.world.attach(box, joints.free(), at=rd.pose((0, 0, 0.2)))
        simulation = rd.Simulation(scene.compile(), 1 / 120)
        simulation.v = [2.0, 1.0, 0.5, 0.3, 0.0, 0.0]
        with PyBulletMirror(scene, simulation) as mirror:
            mirror.step(5)
            wrong = no_state(simulation, as_bytes)
            mirror.step(20)
            if asked:
                with pytest.raises(rd.StateError, match=r"not those of a state.*quaternion of zeros"):
                    simulation.restore(wrong)
            runs.append([simulation.q.copy(), simulation.v.copy(), simulation.time, simulation.present.poses.copy()])
            mirror.step(20)
            runs[-1] += [simulation.q.copy(), simulation.v.copy(), simulation.snapshot_bytes()]
    for one, other in zip(*runs, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("what", ["q", "v", "tau"])
def test_objects_with_numbers_that_are_none_are_refused(what):
    simulation = rd.Simulation(arm().compile(), 1 / 60)
    simulation.step(2)
    taken, now = simulation.snapshot(), simulation.snapshot_bytes()
    getattr(taken, what)[-1] = np.nan
    with pytest.raises(rd.StateError, match="not those of a state"):
        simulation.restore(taken)
    assert simulation.snapshot_bytes() == now
