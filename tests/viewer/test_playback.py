"""A simulation by the clock: what was is found again to the last bit, and time passes as asked."""

import numpy as np
import pybullet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recursive_dyn as rd
from bridge import PyBulletMirror
from bridge.viewer import history
from bridge.viewer.history import History
from bridge.viewer.playback import Playback
from bridge.viewer.push import MOST, MOST_TURNING, Push
from scene import Body, Scene, joints, shapes


def arm(gravity=(0, 0, -9.81)):
    scene = Scene(gravity=gravity)
    first = Body("first", [shapes.Capsule(0.05, 0.5, at=rd.pose((0, 0, -0.25)))])
    second = Body("second", [shapes.Capsule(0.04, 0.4, at=rd.pose((0, 0, -0.2)))])
    scene.world.attach(first, joints.revolute("y")).attach(second, joints.revolute("x"), at=rd.pose((0, 0, -0.5)))
    simulation = rd.Simulation(scene.compile(), 1 / 240)
    simulation.q = [0.7, 0.3]
    return scene, simulation


def state(simulation):
    return (*simulation.q.tolist(), *simulation.v.tolist(), simulation.time)


@given(st.lists(st.integers(-6, 6).filter(bool), min_size=1, max_size=12))
def test_steps_back_return_to_the_very_states(moves):
    """Ahead and back in any order: the state with a number is always the same, also where it is computed again."""
    _, simulation = ARM
    simulation.restore(START)
    playback, known = Playback(simulation), {0: state(simulation)}
    for move in moves:
        for _ in range(abs(move)):
            playback.one() if move > 0 else playback.back()
            number = playback.history.at
            assert state(simulation) == known.setdefault(number, state(simulation))
    playback.reset()
    assert state(simulation) == known[0]


ARM = arm()
START = ARM[1].snapshot()


def test_bodies_of_bullets_own_go_back_too():
    scene = Scene()
    scene.world.attach(Body("ball", [shapes.Sphere(0.1)]), joints.free(), at=rd.pose((0, 0, 0.5)))
    simulation = rd.Simulation(scene.compile())
    with PyBulletMirror(scene, simulation, gui=False) as mirror:
        crate = pybullet.createMultiBody(
            1.0, pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=[0.1] * 3), basePosition=(0.05, 0, 0.9)
        )

        def whereabouts():
            return (
                *state(simulation),
                *np.concatenate(pybullet.getBasePositionAndOrientation(crate, mirror.client)),
                *np.concatenate(pybullet.getBaseVelocity(crate, mirror.client)),
            )

        mirror.step()  # it is seen now
        playback, known = Playback(simulation, mirror.step), [whereabouts()]
        for _ in range(120):
            playback.one()
            known.append(whereabouts())
        assert known[-1][-11] < 0.8  # it fell
        for number in (120, 60, 3, 0):
            playback.seek(number)
            np.testing.assert_allclose(whereabouts(), known[number], atol=1e-12)


def test_states_of_a_simulation_that_feels_a_mirror_are_found_again():
    scene = Scene()
    scene.world.attach(Body("ball", [shapes.Sphere(0.1)]), joints.free(), at=rd.pose((0, 0, 0.101)))
    simulation = rd.Simulation(scene.compile())
    with PyBulletMirror(scene, simulation, gui=False) as mirror:
        playback, known = Playback(simulation, mirror.step), [state(simulation)]
        for _ in range(20):
            playback.one()
            known.append(state(simulation))
        for number in (20, 11, 3, 0):
            playback.seek(number)
            assert state(simulation) == known[number]


def test_time_passes_as_the_clock_says():
    _, simulation = arm()
    playback = Playback(simulation)
    assert sum(playback.advance(1 / 60) for _ in range(60)) == 240
    playback.speed = 0.5
    assert sum(playback.advance(1 / 60) for _ in range(60)) == 120
    playback.paused = True
    assert playback.advance(0.05) == 0
    playback.paused = False
    before = simulation.time
    playback.speed = 1.0
    playback.advance(3600.0)  # after an hour's sleep
    assert simulation.time - before <= 0.1 + 1e-9
    for bad in (-1.0, np.nan, np.inf, "1", None):
        with pytest.raises(rd.StateError, match="frame time"):
            playback.advance(bad)
    for bad in (0.0, -1.0, np.nan, np.inf, "2"):
        with pytest.raises(rd.StateError, match="speed"):
            playback.speed = bad


def test_a_long_history_keeps_its_start_and_its_end(monkeypatch):
    monkeypatch.setattr(history, "LONGEST", 20)
    monkeypatch.setattr(history, "FEWEST", 5)
    _, simulation = arm()
    start = state(simulation)
    kept = History(simulation)
    for _ in range(100):
        simulation.step()
        kept.note()
    assert len(kept) <= 20 and kept.times == sorted(kept.times) and kept.times[-1] == simulation.time
    end = state(simulation)
    kept.seek(0)
    assert state(simulation) == start
    kept.seek(10**9)
    assert state(simulation) == end


def test_effective_mass_of_a_free_body_is_its_mass_and_of_a_turn_its_least_moment():
    scene = Scene(gravity=(0, 0, 0))
    body = Body("body", mass=3.0, center_of_mass=(0, 0, 0), inertia=np.diag([0.2, 0.3, 0.4]))
    scene.world.attach(body, joints.free())
    simulation = rd.Simulation(scene.compile())
    assert Push(simulation, "body", np.zeros(3)).effective_mass() == pytest.approx(3.0, rel=1e-12)
    assert Push(simulation, "body", np.zeros(3), turning=True).effective_mass() == pytest.approx(0.2, rel=1e-12)


@given(st.lists(st.floats(-1e6, 1e6), min_size=6, max_size=6), st.booleans())
def test_a_push_is_bounded_by_the_effective_mass(numbers, turning):
    _, simulation = ARM
    simulation.restore(START)
    push = Push(simulation, "second", np.array([0.0, 0.0, -0.4]), turning)
    push.target = np.array(numbers[:3])
    simulation.v = np.array(numbers[3:5]) * 1e-3
    most = push.effective_mass() * (MOST_TURNING if turning else MOST)
    assert np.linalg.norm(push.load()) <= most * (1.0 + 1e-12)


def test_a_push_brings_the_point_to_the_hand():
    """Weightless, the spring is critically damped: the point comes to rest where the hand is."""
    _, simulation = arm(gravity=(0, 0, 0))
    push = Push(simulation, "second", np.array([0.0, 0.0, -0.4]))
    assert np.allclose(push.load(), 0.0)  # it starts where it takes hold
    goal = simulation.q + np.array([0.2, -0.2])
    X = simulation.dynamics.poses(goal)[1]
    push.target = X[:3, :3] @ push.point + X[:3, 3]
    playback = Playback(simulation)
    playback.before.append(push.act)
    for _ in range(960):
        playback.one()
    assert np.linalg.norm(push.held() - push.target) < 1e-3
    assert np.abs(simulation.v).max() < 1e-2


def test_a_body_that_cannot_move_is_not_pushed():
    scene = Scene()
    scene.world.attach(Body("rail", [shapes.Sphere(0.1)]), joints.prismatic("x"))
    simulation = rd.Simulation(scene.compile())
    assert Push(simulation, "rail", np.zeros(3), turning=True).effective_mass() == 0.0
