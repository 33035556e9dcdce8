"""Edits that are compiled while the old scene runs on, and what joints break into, which is compiled before they do."""

import time

import numpy as np
import pytest

import recursive_dyn as rd
from bridge import Plugin
from recursive_dyn.integrators.driven import DRIVEN
from scene import Body, Scene, joints, shapes

H = 1 / 240


def chain(count=3):
    scene, node = Scene(), None
    scene.world.shapes.append(shapes.Plane())
    for k in range(count):
        link = Body(f"link {k}", [shapes.Capsule(0.04, 0.2, at=rd.pose((0, 0, -0.15)))], mass=1.0)
        at = rd.pose((0, 0, -0.3 if k else 3.0))
        node = (node or scene.world).attach(link, joints.revolute("xy"[k % 2], damping=0.01), at)
    return scene


def settled(game, most=60.0):
    """Frames until what is edited is followed; how many."""
    end, frames = time.monotonic() + most, 0
    while game.updating and time.monotonic() < end:
        game.step()
        frames += 1
        time.sleep(0.002)
    assert not game.updating
    return frames


def ready(game, most=60.0):
    end = time.monotonic() + most
    while not game.simulation.preparing.idle and time.monotonic() < end:
        time.sleep(0.01)


def undriven(dynamics):
    """What is compiled that does not push."""
    kernels = dynamics._compiled.kernels
    return {key: kernels[key] for key in dynamics.compiled_functions if not key[0].startswith(DRIVEN)}


def test_the_old_scene_runs_on_to_the_last_bit_until_the_new_one_is_ready():
    scene, alone = chain(), Plugin(chain())
    with Plugin(scene) as game:
        for each in (game, alone):
            each.simulation.v = [0.5, 1.0, -2.0]
            each.step(5)
        scene.cut("link 2")
        game.update(wait=False)
        assert game.updating and game.simulation.dynamics.nq == 3
        game.simulation.preparing.add(lambda: time.sleep(0.3), (), urgent=False)  # not waited for
        while game.updating:
            np.testing.assert_array_equal(game.simulation.q, alone.simulation.q)
            game.step(), alone.step()
        assert game.simulation.dynamics.nq == 9
        compiled = undriven(game.simulation.dynamics)
        game.step(10)
        assert undriven(game.simulation.dynamics) == compiled


def test_an_edit_that_cannot_be_compiled_is_told_and_the_scene_runs_on():
    scene = chain()
    with Plugin(scene, prompt=False) as game:
        game.step(3)
        scene["link 2"].attach(Body("lost", mass=1.0, inertia=np.eye(3)), joints.revolute("x").follow("nobody"))
        game.update()
        with pytest.raises(rd.ModelError, match="nobody"):
            settled(game)
        time_before = game.simulation.time
        game.step(5)
        assert game.simulation.time == pytest.approx(time_before + 5 * H) and game.simulation.dynamics.nq == 3
        scene["lost"].detach()
        game.update()
        settled(game)


def test_a_joint_that_breaks_is_told_once_and_goes_once_it_can():
    scene = chain()
    scene["link 1"].breaks_at(force=1.0)
    with Plugin(scene, prompt=False) as game:
        game.step()
        told = list(game.events)
        while game.updating:
            game.step()
            told += game.events
        game.step(5)
        told += game.events
        assert [event.body_a for event in told if event.kind == "broken"] == ["link 1"]
        assert game.simulation.dynamics.nq == 9 and scene["link 1"].parent is scene.world


def test_what_a_joint_breaks_into_is_compiled_before_it_breaks():
    scene = chain()
    scene["link 1"].breaks_at(force=50.0)
    with Plugin(scene) as game:
        game.step(3)
        ready(game)
        known = [d for d in game.simulation.preparing._known.values() if d.nq == 9]
        game.simulation.v = [0, 20.0, 0]  # the second one flies
        while not game.simulation.broken:
            game.step()
        assert game.simulation.dynamics._compiled in [d._compiled for d in known]
        assert scene["link 1"].strength is None


@pytest.mark.parametrize("pushed", [False, True])
def test_what_pushes_is_waited_for_only_where_something_was_pushed(pushed):
    scene = chain()
    with Plugin(scene, prompt=False) as game:
        pushes = {key for key in game.simulation.dynamics.compiled_functions if key[0].startswith(DRIVEN)}
        assert pushes  # a frame that first pushes something waits for nothing
        if pushed:
            game.simulation.apply_force("link 2", (1.0, 0.0, 0.0))
        game.step(3)
        scene.cut("link 2")
        game.update()
        coming = game._coming
        made = coming.result(60.0)
        assert (pushes <= {*made.compiled_functions}) is pushed
        settled(game)
        ready(game)
        assert pushes <= {*game.simulation.dynamics.compiled_functions}
        game.simulation.apply_force("link 2", (1.0, 0.0, 0.0))
        game.step()
        assert game.simulation.preparing.pushed


def test_an_edit_before_that_has_been_prepared_loses_nothing():
    scene = chain(4)
    with Plugin(scene, prompt=False) as game:
        pushes = {key for key in game.simulation.dynamics.compiled_functions if key[0].startswith(DRIVEN)}
        for name in ("link 3", "link 2"):
            scene.cut(name)
            game.update()
            settled(game)
        ready(game)
        assert pushes <= {*game.simulation.dynamics.compiled_functions}


def test_a_preparation_says_what_came_of_it():
    scene = chain()
    sim = rd.Simulation(scene.compile(), H)
    made = sim.prepare(scene.compile).result(60.0)
    assert made.bodies == sim.dynamics.bodies and set(sim.dynamics.compiled_functions) <= set(made.compiled_functions)
    sim.update(made)
    sim.step()
    slow = sim.prepare(lambda: time.sleep(0.5) or scene.compile())
    with pytest.raises(rd.StateError, match="not ready"):
        slow.result(0.01)
    assert not slow.done
    slow.result(60.0)
    assert sim.__copy__().preparing.idle
