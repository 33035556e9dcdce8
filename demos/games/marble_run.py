"""Marble run (pyglet): a marble on a spline with a loop; push it past swinging hammers and gather the gems."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyglet

import recursive_dyn as rd
from bridge import Camera, Plugin
from bridge.drawing.gl_context import DrawingContext
from bridge.drawing.opengl import gl
from bridge.drawing.painter import FINE, Painter
from bridge.drawing.pieces import Piece
from bridge.meshes.tube import tube
from bridge.picture.opengl_display import OnCard
from bridge.picture.scene_view import SceneView
from bridge.plugin.pyglet_drawing import PygletDrawing
from demos.game_options import picture_wanted
from scene import Body, Scene, joints, shapes

SIZE, SECONDS = (960, 600), 30.0
TRACK = np.array([
    (-5.5, -2.0, 4.2), (-3.6, -2.6, 3.2), (-2.0, -2.6, 1.2), (0.0, -2.5, 0.5), (1.9, -2.4, 0.6), (3.2, -2.2, 1.7),
    (2.6, -1.9, 3.0), (1.2, -1.6, 3.1), (0.4, -1.3, 1.8), (1.4, -1.0, 0.6), (3.4, -0.8, 0.5), (5.4, 0.2, 0.9),
    (5.6, 2.0, 1.3), (3.8, 2.8, 0.8), (1.6, 2.4, 1.7), (-0.6, 2.6, 0.7), (-2.8, 2.4, 1.5), (-5.0, 1.8, 2.6),
    (-6.2, 0.0, 3.7),
])  # fmt: skip
MARBLE, MASS, PUSH, DRAG = 0.22, 2.0, 8.0, 0.5  # m, kg, N, N s/m
GEMS = 24
HAMMERS = (0.17, 0.50, 0.66, 0.83)  # shares of the lap
GLASS, STEEL, RUBY, OAK, IRON = ((0.10, 0.45, 0.85, 1), (0.75, 0.77, 0.82, 1), (0.92, 0.16, 0.32, 1),
                                 (0.52, 0.36, 0.24, 1), (0.25, 0.27, 0.31, 1))  # fmt: skip


class Game:
    """score: gems gathered; over: the time is up, or all are."""

    def __init__(self) -> None:
        rail = joints.bspline(TRACK, closed=True, arc_length=True, damping=DRAG)
        self.path, self.scene, self.score, self.knocks = rail.path, Scene(), 0, 0
        self.lap = self.path.length
        self.scene.world.attach(Body("marble", [shapes.Sphere(MARBLE, color=GLASS)], mass=MASS), rail)
        for k in range(GEMS):
            place = self.path.frames(self.lap * (k + 0.6) / GEMS)[:3, 3]
            gem = shapes.Box((0.16, 0.16, 0.16), at=rd.pose(rpy=(0.6, 0.6, 0)), color=RUBY, collision=False)
            self.scene.world.attach(Body(f"gem {k}", [gem]), joints.revolute("z"), at=rd.pose(place))
        for k, share in enumerate(HAMMERS):
            x, y, z = self.path.frames(self.lap * share)[:3, 3]
            rod = shapes.Capsule(0.04, 1.2, at=rd.pose((0, 0, -0.7)), color=IRON, collision=False)
            head = shapes.Box((0.5, 0.5, 0.36), at=rd.pose((0, 0, -1.5)), color=OAK)
            hammer = Body(f"hammer {k}", [rod, head], density=400.0)
            self.scene.world.attach(hammer, joints.revolute("x"), at=rd.pose((x, y, z + 1.55)))
            for side in (-1, 1):
                at = rd.pose((x + 0.4 * side, y, 0.5 * z + 0.75))
                self.scene.world.shapes.append(shapes.Capsule(0.05, z + 1.4, at=at, color=IRON, collision=False))
        self.plugin = Plugin(self.scene)
        simulation = self.plugin.simulation
        simulation.q[-len(HAMMERS) :] = 0.5, -0.6, 0.7, -0.5
        spinning = [name.startswith("gem") for name in self.plugin.bodies]
        simulation.v[spinning] = 2.0

    @property
    def over(self) -> bool:
        return self.plugin.simulation.time > SECONDS or self.score == GEMS

    def frame(self, dt: float, push: int) -> None:
        """A frame; push: -1 backward, 1 forward along the track."""
        simulation = self.plugin.simulation
        simulation.tau[0] = PUSH * push
        self.plugin.on_frame(dt)
        self.knocks += sum(event.kind == "hit" and event.body_a == "marble" for event in self.plugin.events)
        poses = self.plugin.poses()
        for k, name in enumerate(self.plugin.bodies):
            if name.startswith("gem") and np.linalg.norm(poses[k, :3, 3] - poses[0, :3, 3]) < MARBLE + 0.1:
                self.scene[name].detach()
                self.score += 1
        if len(self.scene.bodies) != len(self.plugin.bodies):
            self.plugin.update()


class View:
    """What is drawn, by the painter of the viewer; F1 shows the outlines that collide."""

    def __init__(self, game: Game, visible: bool) -> None:
        self.game, self.context = game, DrawingContext(*SIZE, visible=visible, caption="Marble run")
        self.window: Any = self.context.window
        self.debug, self.bodies = False, ()
        self.camera = Camera(distance=15.5, yaw=24, pitch=-27, target=(-0.2, 0.1, 1.5))
        with self.context.current():
            self.painter = Painter(self.context)
            self.label = pyglet.text.Label("", x=24, y=SIZE[1] - 40, font_size=18, color=(30, 40, 60, 255))
            self.outlines = PygletDrawing(self.window, game.plugin, self.camera)

    def draw(self) -> np.ndarray:
        """One frame, and its pixels."""
        game = self.game
        with self.context.current():
            if self.bodies != game.plugin.bodies:
                self.bodies, self.placed = game.plugin.bodies, OnCard(self.context)
                self.view = SceneView(game.scene, game.plugin.simulation)
                rail = game.path.points(600) - (0, 0, MARBLE + 0.05)
                self.view.pieces.append(Piece(tube(np.concatenate([rail, rail[:1]]), 0.05), STEEL))
            shown = self.view.shown(game.plugin.poses())
            target = self.painter.draw(self.placed.at(shown), shown.grounds, self.camera, SIZE, FINE)
            result = self.painter.averaged(target)
            result.bind()
            gl.glDisable(gl.GL_DEPTH_TEST)
            gl.glBindVertexArray(0)
            if self.debug:
                self.outlines.draw()
            left = max(0.0, SECONDS - game.plugin.simulation.time)
            self.label.text = f"gems {game.score} of {GEMS}    knocks {game.knocks}    {left:.0f} s    arrows push"
            self.label.draw()
            result.copy_to(0)
            return result.colors()


def main(arguments: list[str] | None = None) -> None:
    """Play, or take a picture of a game that plays itself."""
    picture, game = picture_wanted(__doc__, arguments), Game()
    view = View(game, visible=picture is None)
    if picture is not None:
        for _ in range(170):
            game.frame(1 / 60, 1)
        pyglet.image.ImageData(*SIZE, "RGB", view.draw()[::-1].tobytes()).save(str(picture))
        return
    keys = pyglet.window.key.KeyStateHandler()
    view.window.push_handlers(keys)

    def frame(dt: float) -> None:
        game.frame(dt, keys[pyglet.window.key.RIGHT] - keys[pyglet.window.key.LEFT])
        view.debug = keys[pyglet.window.key.F1]
        view.draw()
        view.window.flip()
        if game.over:
            pyglet.app.exit()

    pyglet.clock.schedule_interval(frame, 1 / 60)
    pyglet.app.run()
    print(f"{game.score} of {GEMS} gems, {game.knocks} knocks, {game.plugin.simulation.time:.0f} s")


if __name__ == "__main__":
    main()
