"""Wrecking ball (pygame): swing a ball on a chain of tori, each gliding in the next, and tear the tower down."""

from __future__ import annotations

import os

import numpy as np
import pygame

import recursive_dyn as rd
from bridge import Camera, Plugin
from bridge.plugin.pygame_drawing import PygameDrawing
from demos.flat_shading import FlatShading
from demos.game_options import picture_wanted
from demos.torus_chain import BELOW, HANGING, RADIUS, hinged_ring, ring, ring_in_ring
from scene import Body, Scene, joints, shapes

SIZE = (960, 600)
RINGS, BALL = 4, 0.6  # above the ball, m
HEIGHT, REACH, SPEED, HOLD = 7.2, 4.0, 3.5, 60_000.0  # of the trolley, m, m/s, N
ROWS, COLUMNS, BRICK = 8, 3, (0.5, 0.62, 0.42)
SECONDS = 45.0
ICE, IRON, CLAY = (0.30, 0.36, 0.46, 1), (0.22, 0.23, 0.27, 1), ((0.80, 0.42, 0.30, 1), (0.88, 0.58, 0.36, 1))
SKY, EARTH, SHADE = ((226, 234, 244), (150, 184, 222)), (118, 132, 104), (92, 104, 84)


def scene() -> Scene:
    """A trolley on a beam, a chain of tori with a ball, and a tower on a platform."""
    made = Scene()
    made.world.shapes.append(shapes.Plane(material=rd.Material(friction=0.7), visual=False))
    made.world.shapes.append(shapes.Box((2 * REACH + 3, 0.3, 0.3), at=rd.pose((-1, 0, HEIGHT + 0.75)), color=ICE))
    rail = joints.prismatic("x", limits=(-REACH, REACH))
    trolley = Body("trolley", [shapes.Box((1.0, 0.5, 0.35), color=CLAY[1], collision=False)], mass=800.0)
    node = made.world.attach(trolley, rail, at=rd.pose((-1, 0, HEIGHT + 0.45)))
    trolley.shapes.append(shapes.Torus(RADIUS, 0.11, at=rd.pose((0, 0, -0.5)) @ BELOW, color=ICE, collision=False))
    for k in range(RINGS):
        body = ring(f"ring {k}", CLAY[1] if k % 2 else ICE)
        body.shapes = [shapes.Torus(RADIUS, 0.11, color=CLAY[1] if k % 2 else ICE, collision=False)]
        link = ring_in_ring(40.0) if k else hinged_ring(40.0)
        node = node.attach(body, link, at=None if k else rd.pose((0, 0, -0.5)) @ BELOW)
    ball = shapes.Sphere(BALL, at=rd.pose((0, RADIUS + BALL, 0)), color=IRON)
    hook = shapes.Torus(RADIUS, 0.11, color=IRON, collision=False)
    node.attach(Body("ball", [hook, ball], density=1000.0), ring_in_ring(40.0), at=None)
    for row in range(ROWS):
        for k in range(COLUMNS):
            at = rd.pose((2.9 + (k + 0.5 * (row % 2) - 1.25) * 0.52, 0, (row + 0.5) * BRICK[2]))
            brick = Body(f"brick {row}.{k}", [shapes.Box(BRICK, color=CLAY[(row + k) % 2])], density=150.0)
            made.world.attach(brick, joints.free(), at=at)
    return made


class Game:
    """keys: of pygame that are held; score: bricks that are down; over: the time is up, or all are."""

    def __init__(self) -> None:
        self.plugin = Plugin(scene(), hit_speed=1.5)
        simulation = self.plugin.simulation
        simulation.q[1 : 3 + 4 * RINGS] = (0.0, 0.0, *HANGING * RINGS)
        self.bricks = [k for k, name in enumerate(self.plugin.bodies) if name.startswith("brick")]
        self.start = simulation.frames()[0][self.bricks, 2, 3]
        self.aim, self.loudest = 0.0, 0.0

    @property
    def score(self) -> int:
        fallen = self.start - self.plugin.poses()[self.bricks, 2, 3] > 0.3 * BRICK[2]
        return int(fallen.sum())

    @property
    def over(self) -> bool:
        return self.plugin.simulation.time > SECONDS or self.score == len(self.bricks)

    def frame(self, dt: float, keys: set[int]) -> None:
        """A frame: left and right drive the trolley, whose motor follows."""
        self.aim += SPEED * dt * ((pygame.K_RIGHT in keys) - (pygame.K_LEFT in keys))
        self.aim = min(max(self.aim, -REACH), REACH)
        follow = rd.Motor(position=self.aim, kp=40_000.0, kd=12_000.0, max_force=HOLD)
        self.plugin.simulation.motors["trolley.distance"] = follow
        self.plugin.on_frame(dt)
        self.loudest = max((event.impulse for event in self.plugin.events if event.kind == "hit"), default=0.0)


class View:
    """What is drawn; F1 shows the outlines that collide."""

    def __init__(self, game: Game) -> None:
        pygame.init()
        self.game, self.screen = game, pygame.display.set_mode(SIZE)
        self.font, self.debug = pygame.font.Font(None, 34), False
        self.camera = Camera(distance=15.5, yaw=14, pitch=-7, target=(0.4, 0, 3.9), fov=40)
        self.shading = FlatShading(game.plugin, self.camera, SIZE)
        self.outlines = PygameDrawing(self.screen, game.plugin, self.camera)
        self.sound = pygame.mixer.Sound(buffer=thud()) if pygame.mixer.get_init() else None
        low = self.shading.points([(0.0, 400.0, 0.0)])[0, 1]
        share = np.clip(np.arange(SIZE[1]) / low, 0, 1)[None, :, None]
        rows = np.where(np.arange(SIZE[1])[None, :, None] < low, (1 - share) * SKY[1] + share * SKY[0], EARTH)
        self.sky = pygame.surfarray.make_surface(np.broadcast_to(rows, (*SIZE, 3)))

    def draw(self) -> None:
        """One frame."""
        self.screen.blit(self.sky, (0, 0))
        for points in self.shading.shadows():
            pygame.draw.polygon(self.screen, SHADE, points)
        for points, color in self.shading.faces():
            pygame.draw.polygon(self.screen, color, points)
            pygame.draw.aalines(self.screen, color, True, points)
        if self.debug:
            self.outlines.draw()
        left = max(0.0, SECONDS - self.game.plugin.simulation.time)
        text = f"down {self.game.score} of {len(self.game.bricks)}     {left:.0f} s    arrows drive, F1: outlines"
        self.screen.blit(self.font.render(text, True, (40, 46, 60)), (24, 18))
        if self.sound and self.game.loudest > 50.0:
            self.sound.play()
        pygame.display.flip()


def thud() -> bytes:
    """A short low sound, 16 bits at 44,100 a second, two channels."""
    t = np.arange(8000) / 44_100
    wave = 12_000 * np.exp(-18 * t) * np.sin(2 * np.pi * 70 * t)
    return np.repeat(wave.astype(np.int16), 2).tobytes()


def main(arguments: list[str] | None = None) -> None:
    """Play, or take a picture of a game that plays itself."""
    picture = picture_wanted(__doc__, arguments)
    if picture is not None:
        os.environ.update(SDL_VIDEODRIVER="dummy", SDL_AUDIODRIVER="dummy")
    game, clock = Game(), pygame.time.Clock()
    view = View(game)
    if picture is not None:
        for frame in range(330):
            game.frame(1 / 60, {pygame.K_LEFT} if frame < 70 else {pygame.K_RIGHT} if frame < 220 else set())
        view.draw()
        pygame.image.save(view.screen, str(picture))
        return
    while not game.over:
        for event in pygame.event.get():
            if event.type == pygame.QUIT:
                return
            view.debug ^= event.type == pygame.KEYDOWN and event.key == pygame.K_F1
        pressed = pygame.key.get_pressed()
        game.frame(clock.tick(60) / 1000, {key for key in (pygame.K_LEFT, pygame.K_RIGHT) if pressed[key]})
        view.draw()
    print(f"{game.score} of {len(game.bricks)} bricks are down")


if __name__ == "__main__":
    main()
