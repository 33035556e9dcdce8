"""Games play by script without a window, keep score, and draw what there is; the runner lists and runs them."""

import os
import runpy
import subprocess
import sys

import numpy as np
import pytest

import recursive_dyn as rd
from bridge import Camera, Plugin
from bridge.drawing.gl_context import usable
from bridge.plugin.outlines import Outlines, edges
from demos.game_options import picture_wanted
from recursive_dyn.examples import __main__ as examples
from scene import Body, Scene, joints, shapes

CAMERA = Camera(distance=4.0, yaw=0.0, pitch=0.0, target=(0, 0, 0))
SIZE = (200, 100)


def still_life():
    scene = Scene(gravity=(0, 0, 0))
    scene.world.attach(Body("ball", [shapes.Sphere(0.3)]), joints.free(), at=rd.pose((0.5, 0, 0.2)))
    scene.world.attach(Body("box", [shapes.Box((0.4, 0.4, 0.4))]), joints.free(), at=rd.pose((-0.6, 0, 0)))
    return Plugin(scene)


def test_the_runner_lists_games_and_says_what_there_is(capsys):
    examples.main(["-l"])
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed] == ["marble_run", "rollback", "walker", "wrecking_ball"]
    assert all(len(line.split()) > 5 for line in listed)
    with pytest.raises(SystemExit):
        examples.main(["chess"])
    assert "no game 'chess'; there are marble_run, rollback" in capsys.readouterr().err
    kept = sys.argv
    try:
        examples.main(["rollback", "--frames", "2"])
    finally:
        sys.argv = kept
    assert "none of them different" in capsys.readouterr().out


def test_what_a_game_lacks_is_said_before_it_starts(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("demos.game_options.has_display", lambda: False)
    for arguments, message in (([], "no display"), (["--picture", str(tmp_path / "nowhere" / "a.png")], "no folder")):
        with pytest.raises(SystemExit):
            picture_wanted("A game.", arguments)
        assert message in capsys.readouterr().err
    assert picture_wanted("A game.", ["--picture", str(tmp_path / "a.png")]) == tmp_path / "a.png"
    (tmp_path / "chess.py").write_text('"""Chess."""\nimport no_such_package\n')
    monkeypatch.setattr(examples, "games", lambda: {"chess": tmp_path / "chess.py"})
    monkeypatch.setattr(sys, "argv", sys.argv)
    with pytest.raises(SystemExit):
        examples.main(["chess"])
    assert "chess needs 'no_such_package', which is not installed" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["marble_run", "walker", "wrecking_ball"])
def test_games_are_short(name):
    assert len(examples.games()[name].read_text().splitlines()) < 150


@pytest.mark.slow
def test_a_marble_gathers_gems_and_meets_hammers():
    from demos.games.marble_run import GEMS, Game

    game, back = Game(), 0
    assert game.plugin.collisions == "closed form" and not game.over
    for frame in range(900):
        stuck = frame > 60 and game.plugin.simulation.v[0] < 0.4
        back = back - 1 if back else 60 * stuck
        game.frame(1 / 60, -1 if back else 1)
        if game.over:
            break
    assert game.over and game.score == GEMS and game.knocks > 0
    assert len(game.plugin.bodies) == 1 + 4  # gems went


@pytest.mark.skipif(not usable(), reason="no OpenGL 3.3 here")
def test_the_marble_run_shows_what_there_is():
    from demos.games.marble_run import Game, View

    game = Game()
    view = View(game, visible=False)
    colors = view.draw().reshape(-1, 3).astype(int)
    red = (colors[:, 0] > 150) & (colors[:, 1] < 90)
    blue = (colors[:, 2] > 130) & (colors[:, 0] < 60)
    assert 100 < red.sum() < 5000 and 100 < blue.sum() < 5000  # gems, the marble
    for _ in range(60):
        game.frame(1 / 60, 1)
    assert (
        game.plugin.collisions == "closed form" and game.score == 24 - sum("gem" in b for b in game.plugin.bodies) > 1
    )
    view.debug = True
    assert (view.draw().reshape(-1, 3) != colors).any(axis=1).sum() > 500  # pyglet's outlines
    view.context.close()


@pytest.mark.slow
def test_a_wrecking_ball_brings_the_tower_down(monkeypatch):
    pygame = pytest.importorskip("pygame", reason="pygame-ce is not installed: pip install pygame-ce")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setenv("SDL_AUDIODRIVER", "dummy")
    from demos.games.wrecking_ball import EARTH, SIZE, Game, View

    game, loudest = Game(), 0.0
    for _ in range(30):
        game.frame(1 / 60, set())
    assert game.plugin.collisions == "closed form" and game.score == 0
    for frame in range(330):
        game.frame(1 / 60, {pygame.K_LEFT} if frame < 70 else {pygame.K_RIGHT} if frame < 220 else set())
        loudest = max(loudest, game.loudest)
    assert game.score > 8 and loudest > 50.0
    view = View(game)
    view.debug = True
    view.draw()
    picture = pygame.surfarray.array3d(view.screen)
    assert picture.shape == (*SIZE, 3)
    assert 0.2 < (picture == EARTH).all(axis=2).mean() < 0.7 and len(np.unique(picture.reshape(-1, 3), axis=0)) > 300
    pygame.quit()


@pytest.mark.slow
def test_a_walker_is_shoved_from_coin_to_coin(tmp_path):
    pytest.importorskip("panda3d", reason="Panda3D is not installed: pip install panda3d")
    picture = tmp_path / "walker.png"
    done = subprocess.run(
        [sys.executable, "-m", "recursive_dyn.examples", "walker", "--picture", str(picture)],
        capture_output=True, text=True, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    if "Could not open window" in done.stderr:
        pytest.skip("Panda3D opens no window here, not even one that nobody sees")
    assert done.returncode == 0, done.stderr
    from PIL import Image

    seen = np.asarray(Image.open(picture).convert("RGB")).reshape(-1, 3).astype(int)
    assert ((abs(seen - (76, 158, 153)) < 12).all(axis=1)).mean() > 0.2  # the table
    assert (seen[:, 2] - seen[:, 0] > 90).sum() > 1000 and (seen[:, 0] - seen[:, 2] > 120).sum() > 300  # trunk, coins
    walker = runpy.run_path(str(examples.games()["walker"]))
    game = walker["Game"]()
    for _ in range(560):
        game.frame(1 / 60, walker["script"](game))
    assert game.score >= 4 and not game.fell
    game.plugin.simulation.q[0] = 20.0  # beside the table
    for _ in range(60):
        game.frame(1 / 60, (0, 0))
    assert game.fell and game.over


def test_outlines_lie_on_surfaces_and_follow_bodies():
    for shape, far in (
        (shapes.Sphere(0.3), lambda x: np.linalg.norm(x) - 0.3),
        (shapes.Capsule(0.2, 0.5), lambda x: np.linalg.norm(x - (0, 0, np.clip(x[2], -0.25, 0.25))) - 0.2),
        (shapes.Box((1, 2, 3)), lambda x: np.max(np.abs(x) - (0.5, 1, 1.5))),
        (shapes.Torus(0.5, 0.1), lambda x: np.hypot(np.hypot(x[0], x[1]) - 0.5, x[2]) - 0.1),
    ):
        assert max(abs(far(point)) for point in edges(shape).reshape(-1, 3)) < 1e-12
    with still_life() as plugin:
        outlines = Outlines(plugin)
        lines, colors = outlines.lines(CAMERA, SIZE)
        scale = 100 / (2 * 4.0 * np.tan(np.radians(20)))  # pixels a metre, 4 m away
        middle = lines[: 3 * 24].reshape(-1, 2)  # the ball's circles
        np.testing.assert_allclose(
            (middle.min(axis=0) + middle.max(axis=0)) / 2, (100 + 0.5 * scale, 50 - 0.2 * scale), atol=1
        )
        assert len(lines) == len(colors) == 3 * 24 + 12
        named, _ = outlines.lines(Camera(distance=4.0, yaw=0.0, pitch=0.0, target="ball"), SIZE)
        np.testing.assert_allclose(named[: 3 * 24].reshape(-1, 2).mean(axis=0), (100, 50), atol=1)
        whole, _ = outlines.lines(Camera(), SIZE)
        assert (whole >= 0).all() and (whole <= SIZE).all()
        assert len(outlines.lines(CAMERA, (0, 0))[0]) == 0
        plugin.scene["ball"].detach()
        plugin.update()
        assert len(outlines.lines(CAMERA, SIZE)[0]) == 12


def test_outlines_are_drawn_by_pygame():
    pygame = pytest.importorskip("pygame", reason="pygame-ce is not installed: pip install pygame-ce")
    from bridge.plugin.pygame_drawing import PygameDrawing

    surface = pygame.Surface(SIZE)
    with still_life() as plugin:
        PygameDrawing(surface, plugin, CAMERA).draw()
        picture = pygame.surfarray.array3d(surface)
        assert picture[:100].any() and picture[100:].any() and not picture[100 - 4 : 100 + 4].any()
