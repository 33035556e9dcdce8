"""A step in one go of machine code, and stage by stage: the same; and Bullet's bodies, put in place when asked for."""

import gc
import random
import signal
import weakref

import numpy as np
import pybullet
import pytest
from routes_to_bullet import H, ball_over_ground, courses, direct

import recursive_dyn as rd
from bridge import PyBulletMirror
from recursive_dyn.codegen import call_sequence
from recursive_dyn.codegen.loops.calling import Bound
from recursive_dyn.simulation.stepping.detection import Detection
from recursive_dyn.simulation.stepping.step_machine import StepMachine
from scene import Body, Scene, joints


@direct
@pytest.mark.parametrize("otherwise", ["stage by stage", "without Python's own functions"])
def test_however_a_step_is_taken_it_is_the_same_bit_by_bit(tumbling, monkeypatch, otherwise):
    stages = []
    advance = StepMachine.advance
    monkeypatch.setattr(StepMachine, "advance", lambda *given: stages.append(advance(*given)) or stages[-1])
    in_one_go = courses(*tumbling, 240)
    assert stages.count(StepMachine.ALL) > 100, "most of them end in one go"
    if otherwise == "stage by stage":
        monkeypatch.setattr(Detection, "lookout", lambda *given: None)
    else:
        monkeypatch.setattr(call_sequence, "_interpreter", lambda: None)
    assert courses(*tumbling, 240) == in_one_go


def swinging() -> Scene:
    """An arm with a motor, a limit and dry friction, which touches nothing."""
    scene = Scene()
    arm = Body("arm", mass=1.0, center_of_mass=(0, 0, -0.3), inertia=0.02 * np.eye(3))
    scene.world.attach(arm, joints.revolute("y", limits=(-0.5, 0.5), friction=0.05))
    hand = Body("hand", mass=0.5, center_of_mass=(0, 0, -0.2), inertia=0.01 * np.eye(3))
    arm.attach(hand, joints.revolute("x"), at=rd.pose((0, 0, -0.6)))
    return scene


def test_a_step_without_surroundings_is_the_same_stage_by_stage(monkeypatch):
    dynamics, ends = swinging().compile(), []
    for in_one_go in (True, False):
        if not in_one_go:
            monkeypatch.setattr(Detection, "lookout", lambda *given: None)
        sim = rd.Simulation(dynamics, H)
        sim.motors["hand.angle"] = rd.Motor(velocity=1.0, max_force=2.0)
        sim.v[:] = 2.0, 0.0
        sim.step(100)
        ends.append([sim.q.tobytes(), sim.v.tobytes(), repr(sim.coordinate_impulses), sim.solution.rows])
        assert set(sim.solution.times) == {"flight", "detection", "solve"}
        assert all(t >= 0.0 for t in sim.solution.times.values())
    assert ends[0] == ends[1] and "low limit of arm.angle" not in ends[0][2]


@pytest.mark.parametrize("seen", [False, True])
def test_once_steps_go_on_nothing_is_bound_anew(tumbling, monkeypatch, seen):
    """Neither where nobody looks at Bullet's bodies, nor where all are put in place after every step, bare ones too."""
    with PyBulletMirror(tumbling[0], rd.Simulation(tumbling[1], H), gui=False) as shown:
        shown.step(480)
        if seen:
            assert shown.client >= 0
        shown.step(2)
        shown.queries.ray((0, 0, 3), (0, 0, -1))
        bound = []
        monkeypatch.setattr(Bound, "__init__", lambda self, code, *given: bound.append(code))
        for _ in range(20):
            shown.step()
            shown.queries.ray((0, 0, 3), (0, 0, -1))
        assert not bound


# Where Bullet's bodies are


def standing(shown: PyBulletMirror, client: int) -> np.ndarray:
    """Where Bullet has the ball, asked behind the mirror's back."""
    return np.array(pybullet.getBasePositionAndOrientation(shown._mirrored.bodies.of["ball"][0], client)[0])


@pytest.fixture
def rolling():
    scene = ball_over_ground()
    sim = rd.Simulation(scene.compile(), H)
    sim.v[3:] = 1.0, 0.0, 0.5
    with PyBulletMirror(scene, sim, gui=False, ground=False) as shown:
        yield shown


def test_who_was_told_a_connections_number_finds_bodies_in_place_after_every_step(rolling):
    rolling.step(5)
    client = rolling.client
    for _ in range(3):
        np.testing.assert_array_equal(standing(rolling, client), rolling.sim.frames()[0][0, :3, 3])
        rolling.step()


def test_so_does_who_was_told_the_bodies_numbers(rolling):
    rolling.step(5)
    (body,) = rolling.bullet_bodies["ball"]
    for _ in range(3):
        place = pybullet.getBasePositionAndOrientation(body, rolling._connection.id)[0]
        np.testing.assert_array_equal(place, rolling.sim.frames()[0][0, :3, 3])
        rolling.step()


def test_so_does_whose_connection_it_is(client):
    scene = ball_over_ground()
    sim = rd.Simulation(scene.compile(), H)
    sim.v[3] = 1.0
    with PyBulletMirror(scene, sim, client=client, ground=False) as shown:
        for _ in range(3):
            shown.step()
            np.testing.assert_array_equal(standing(shown, client), sim.frames()[0][0, :3, 3])


def test_so_does_who_put_bodies_of_his_own_beside_them(rolling):
    """Also if he guessed the connection's number."""
    client = rolling._connection.id
    form = pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=0.1, physicsClientId=client)
    pybullet.createMultiBody(0.0, form, -1, [3, 0, 3], physicsClientId=client)
    for _ in range(3):
        rolling.step()
        np.testing.assert_array_equal(standing(rolling, client), rolling.sim.frames()[0][0, :3, 3])


@pytest.mark.parametrize("told", [False, True])
def test_queries_and_pictures_are_of_the_present_state_without_a_sync(rolling, told):
    """What was written to the state counts at once, and once more when it is taken back."""
    if told:
        assert rolling.client >= 0
    for _ in range(3):
        rolling.step()
        x, _, z = rolling.sim.frames()[0][0, :3, 3]
        picture, q = rolling.image(32, 24), rolling.sim.q.copy()
        rolling.sim.q[0] += 0.3
        asked = rolling.queries
        assert asked.ray((x + 0.3, 0, 3), (x + 0.3, 0, 0.01)).point[2] == pytest.approx(z + 0.1, abs=1e-6)
        assert asked.ray((x, 0, 3), (x, 0, 0.01)) is None
        assert "ball" in asked.overlapping((x + 0.25, -0.1, z), (x + 0.35, 0.1, z))
        rolling.sim.q[2] += 1.0
        assert asked.closest("ball", "world", 5.0).distance == pytest.approx(z + 0.9, abs=1e-6)
        assert (rolling.image(32, 24) != picture).any()
        rolling.sim.q[:] = q
        assert asked.ray((x, 0, 3), (x, 0, 0.01)).point[2] == pytest.approx(z + 0.1, abs=1e-6)
        np.testing.assert_array_equal(rolling.image(32, 24), picture)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer that interrupts")
def test_a_mirror_that_is_interrupted_shows_the_last_whole_step(rolling):
    """Ctrl-C at seeded times: state, queries and pictures are those of a step of a run that nobody interrupted."""
    sim, rng = rolling.sim, random.Random(3)
    start, states = sim.snapshot(), {}
    for step in range(400):
        states[step] = sim.q.tobytes() + sim.v.tobytes()
        rolling.step()
    handlers = [
        (signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler)),
        (signal.SIGALRM, signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))),
    ]
    try:
        for _ in range(30):
            sim.restore(start)
            rolling.sync()
            with pytest.raises(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-4, 4e-3))
                while sim.time < 350 * H:
                    rolling.step()
                while True:
                    pass
            assert states[round(sim.time / H)] == sim.q.tobytes() + sim.v.tobytes()
            poses, _ = sim.frames()
            x, _, z = poses[0, :3, 3]
            np.testing.assert_array_equal(rolling._whereabouts.poses, poses)
            assert rolling.queries.ray((x, 0, 3), (x, 0, z)).point[2] == pytest.approx(z + 0.1, abs=1e-6)
    finally:
        for number, handler in handlers:
            signal.signal(number, handler)


def test_a_mirror_whose_queries_are_held_goes_by_itself():
    scene = ball_over_ground()
    shown = PyBulletMirror(scene, rd.Simulation(scene.compile(), H), gui=False)
    queries, gone = shown.queries, weakref.ref(shown)
    shown.step()
    del shown
    gc.collect()
    assert gone() is None and queries.ray((0, 0, 3), (0, 0, -3)).body == "ball"
