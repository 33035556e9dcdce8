"""Edits that no cache knows: they take effect with programs that are interpreted, and code comes when it comes."""

import numpy as np
import pytest
from wishes import only_later

import recursive_dyn as rd
from bridge import Plugin
from recursive_dyn.codegen import kernel as kernel_module
from recursive_dyn.codegen.interpreting.interpreter import ENTRY
from scene import Body, Scene, joints, shapes

H = 1 / 240


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A cache that knows loops, and no program, as none is granted through it."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def later(monkeypatch, folder):
    return only_later(monkeypatch, folder)


def chain(joint=joints.ball, links=4):
    """Links over a plane, which the last ones hit."""
    scene, node = Scene(), None
    scene.world.shapes.append(shapes.Plane())
    for k in range(links):
        link = Body(f"link {k}", [shapes.Capsule(0.04, 0.2, at=rd.pose((0, 0, -0.15)))], mass=1.0)
        at = rd.pose((0, 0, -0.3 if k else 0.3 * links + 0.02))
        node = (node or scene.world).attach(link, joint(damping=0.01), at)
    return scene


def started(scene, **options):
    game = Plugin(scene, H, **options)
    game.simulation.v[:] = np.sin(np.arange(game.simulation.dynamics.nv))
    game.step(3)
    return game


def momentum(game):
    simulation = game.simulation
    return simulation.dynamics.momentum(simulation.q, simulation.v)


def motion(game, steps):
    game.step(steps)
    return np.concatenate([game.simulation.q, game.simulation.v]).view(np.int64).tolist()


def cut(scene):
    scene.cut("link 2")


def swap(scene):
    scene.swap("link 3", joints.universal("x", "y"))


def attach(scene):
    for k in range(5):
        body = Body(f"box {k}", [shapes.Box((0.1, 0.1, 0.1))], mass=1.0)
        scene.world.attach(body, joints.free(), rd.pose((1.0, k, 0.06)))


def programs(game):
    """The kernels of what runs, but those of forests, which are made of others."""
    return [k for k in game.simulation.dynamics._compiled.kernels.values() if k.entry != "rd_forest"]


@pytest.mark.parametrize("edit", [cut, *(pytest.param(edit, marks=pytest.mark.slow) for edit in (swap, attach))])
def test_what_follows_an_edit_is_the_same_whenever_code_comes(edit, later):
    """Never, or in the middle, and after going back to before it came: bit for bit."""
    ends = []
    for comes in (False, True):
        with started(chain()) as game:
            edit(game.scene)
            game.update()
            assert all(kernel.entry == ENTRY for kernel in programs(game)), "nothing was compiled for it"
            before = game.snapshot()
            motion(game, 6)
            assert not comes or later.grant()
            ends.append(motion(game, 6))
            game.restore(before)
            assert motion(game, 12) == ends[-1]
    assert ends[0] == ends[1]


def test_the_background_gives_what_waiting_gives():
    """The same scene, edited in the same step, whether its programs are made in this thread or in another one."""
    ends = []
    for wait in (True, False):
        with started(chain()) as game:
            game.scene.cut("link 2")
            game.update(wait=wait)
            if not wait:
                game._coming.result(60.0)
                game._follow()
            assert not game.updating
            ends.append(motion(game, 8))
    assert ends[0] == ends[1]


def test_a_cut_keeps_momentum_and_poses_while_programs_are_interpreted():
    with started(chain()) as game:
        before, poses = momentum(game), game.simulation.present.poses.copy()
        cut(game.scene)
        game.update()
        np.testing.assert_allclose(momentum(game), before, atol=1e-12)
        np.testing.assert_allclose(game.simulation.present.poses, poses, atol=1e-12)
        assert all(kernel.entry == ENTRY for kernel in programs(game))


def test_an_interrupted_edit_leaves_what_runs_and_is_made_again(monkeypatch):
    """Ctrl-C while programs are made for it."""
    with started(chain()) as game, started(chain()) as other:
        cut(game.scene)
        with monkeypatch.context() as patch:
            calls, made = [], kernel_module.Interpreted

            def interpreted(*given):
                calls.append(given)
                if len(calls) == 2:
                    raise KeyboardInterrupt
                return made(*given)

            patch.setattr(kernel_module, "Interpreted", interpreted)
            with pytest.raises(KeyboardInterrupt):
                game.update()
        assert len(calls) == 2 and game.simulation.dynamics.nq == other.simulation.dynamics.nq
        game.simulation.step(3), other.simulation.step(3)
        np.testing.assert_array_equal(game.simulation.q, other.simulation.q)
        game.update()
        assert game.simulation.dynamics.nq == other.simulation.dynamics.nq + 3
        game.step(3)
