"""Walker to push (Panda3D): six feet on one closed spline, driven by one coordinate; shove it from coin to coin."""

from __future__ import annotations

import numpy as np
from panda3d import core

import recursive_dyn as rd
from bridge import Plugin
from demos.game_options import picture_wanted
from demos.panda_nodes import caption, lit, matrix, node_of, shadow, window
from scene import Body, Scene, joints, shapes

SIZE, SECONDS = (960, 600), 60.0
STAND = [(0.24 - 0.06 * k, 0, 0) for k in range(9)]  # points of a foot's spline, m: half of its pieces are straight
STEP = np.array([*STAND, (-0.30, 0, 0.12), (0.0, 0, 0.26), (0.30, 0, 0.12)])
PACE, DOWN, FOOT = 11.0, 0.62, 0.07  # pieces a second, m
HIPS = [(x, side) for x in (0.55, 0.0, -0.55) for side in (-1, 1)]
TABLE, PUSH = (14.0, 7.0, 0.4), 110.0  # m, N
COINS = [(-3.8, 0.5), (-2.6, 1.1), (-1.2, 1.4), (0.2, 1.2), (1.6, 0.4), (3.0, -0.5), (4.4, -1.0), (5.8, -0.9)]
BLUE, CREAM, GOLD = (0.16, 0.42, 0.72, 1), (0.93, 0.90, 0.82, 1), (0.98, 0.74, 0.12, 1)
SUN = (-0.4, -0.5, 0.77)  # towards it
TEAL, DARK = (0.30, 0.62, 0.60, 1), (0.16, 0.18, 0.22, 1)


def scene() -> Scene:
    """A table, the walker at its left end, and coins."""
    made = Scene()
    made.world.shapes.append(shapes.Box(TABLE, at=rd.pose((0, 0, -0.5 * TABLE[2])), color=TEAL))
    head = shapes.Sphere(0.2, at=rd.pose((0.75, 0, 0.1)), color=CREAM)
    trunk = Body("trunk", [shapes.Box((1.4, 0.5, 0.2), color=BLUE), head], mass=22.0)
    made.world.attach(trunk, joints.free(), at=rd.pose((-5.6, 0, DOWN + FOOT + 0.02)))
    gait = made.coordinate("gait")
    walk = joints.bspline(STEP, closed=True)
    for k, (x, side) in enumerate(HIPS):
        start = 0.0 if (k + k // 2) % 2 else 0.5 * len(STEP)  # two tripods take turns
        grip = shapes.Sphere(FOOT, color=DARK, material=rd.Material(friction=1.0))
        foot = Body(f"foot {k}", [grip], mass=0.4)
        trunk.attach(foot, walk.driven(gait + start), at=rd.pose((x, 0.5 * side, -DOWN)))
    for k, place in enumerate(COINS):
        coin = shapes.Cylinder(0.2, 0.05, at=rd.pose(rpy=(np.pi / 2, 0, 0)), color=GOLD, collision=False)
        made.world.attach(Body(f"coin {k}", [coin]), joints.revolute("z"), at=rd.pose((*place, 0.5)))
    return made


class Game:
    """score: coins; over: the time is up, all are gathered, or the walker fell off."""

    def __init__(self) -> None:
        self.scene, self.score, self.fell = scene(), 0, False
        self.plugin = Plugin(self.scene)
        simulation = self.plugin.simulation
        simulation.motors["gait"] = rd.Motor(velocity=PACE, max_force=400.0)
        simulation.v[-len(COINS) :] = 2.5

    @property
    def over(self) -> bool:
        return self.fell or self.score == len(COINS) or self.plugin.simulation.time > SECONDS

    def frame(self, dt: float, push: tuple[int, int]) -> None:
        """A frame; push: forward or back, left or right, at the walker's head."""
        force = PUSH * np.array((*push, 0.0))
        self.plugin.before_step = [lambda plugin: plugin.simulation.apply_force("trunk", force, (0.6, 0, 0))]
        self.plugin.on_frame(dt)
        poses = self.plugin.poses()
        pose = poses[self.plugin.bodies.index("trunk")]
        trunk, self.fell = pose[:3, 3], bool(pose[2, 3] < 0.3 or pose[2, 2] < 0.3)
        for k, name in enumerate(self.plugin.bodies):
            if name.startswith("coin") and np.linalg.norm(poses[k, :2, 3] - trunk[:2]) < 0.75:
                self.scene[name].detach()
                self.score += 1
        if len(self.scene.bodies) != len(self.plugin.bodies):
            self.plugin.update()


class View:
    """Panda3D nodes that follow the bodies; offscreen for pictures."""

    def __init__(self, game: Game, visible: bool) -> None:
        self.game, self.base = game, window(SIZE, visible)
        lit(self.base.render, SUN)
        node_of(game.scene.world.shapes, self.base.render)
        root = self.base.render.attachNewNode("bodies")
        shadow(root, self.base.render, SUN)
        self.nodes = {name: node_of(game.scene[name].shapes, root) for name in game.plugin.bodies}
        self.legs = [node_of([shapes.Capsule(0.035, 1.0, color=CREAM)], root) for _ in HIPS]
        self.text = caption(self.base)

    def draw(self) -> None:
        """One frame."""
        poses = dict(zip(self.game.plugin.bodies, self.game.plugin.poses(), strict=True))
        for name in [name for name in self.nodes if name not in poses]:
            self.nodes.pop(name).removeNode()
        for name, X in poses.items():
            self.nodes[name].setMat(matrix(X))
        trunk = poses["trunk"]
        for k, (x, side) in enumerate(HIPS):
            hip, foot = trunk[:3, :3] @ (x, 0.27 * side, 0) + trunk[:3, 3], poses[f"foot {k}"][:3, 3]
            self.legs[k].setPos(*(0.5 * (hip + foot)).tolist())
            self.legs[k].lookAt(*foot.tolist())
            self.legs[k].setHpr(self.legs[k], 0, 90, 0)
            self.legs[k].setScale(1, 1, float(np.linalg.norm(foot - hip)))
        x, y, _ = trunk[:3, 3].tolist()
        self.base.camera.setPos(0.8 * x - 1.5, y - 7.5, 4.2)
        self.base.camera.lookAt(0.8 * x + 0.6, 0.5 * y, 0.2)
        left = max(0.0, SECONDS - self.game.plugin.simulation.time)
        self.text.setText(f"coins {self.game.score} of {len(COINS)}    {left:.0f} s    WASD shove its head")
        self.base.graphicsEngine.renderFrame()


def script(game: Game) -> tuple[int, int]:
    """What somebody would press who wants the next coin ahead."""
    poses = dict(zip(game.plugin.bodies, game.plugin.poses(), strict=True))
    trunk = poses["trunk"]
    head = trunk[:3, :3] @ (0.75, 0, 0) + trunk[:3, 3]
    ahead = [X[1, 3] for name, X in poses.items() if name.startswith("coin") and X[0, 3] > head[0]]
    side = ahead[0] - head[1] - 0.6 * trunk[1, 0] if ahead else 0.0
    return 0, int(np.sign(side)) if abs(side) > 0.1 else 0


def main(arguments: list[str] | None = None) -> None:
    """Play, or take a picture of a game that plays itself."""
    picture, game = picture_wanted(__doc__, arguments), Game()
    view = View(game, visible=picture is None)
    if picture is not None:
        for _ in range(560):
            game.frame(1 / 60, script(game))
        for _ in range(3):
            view.draw()
        view.base.win.saveScreenshot(core.Filename.fromOsSpecific(str(picture)))
        return
    held, clock = view.base.mouseWatcherNode.isButtonDown, core.ClockObject.getGlobalClock()
    up, down, left, right = (core.KeyboardButton.asciiKey(key) for key in "wsad")
    while not game.over:
        view.base.taskMgr.step()
        game.frame(clock.getDt(), (held(up) - held(down), held(left) - held(right)))
        view.draw()
    print(f"{game.score} of {len(COINS)} coins" + (", and it fell" if game.fell else ""))


if __name__ == "__main__":
    main()
