"""A windmill whose sails are branches of balls, rings and ellipsoids that touch: 18 surface joints, 73 coordinates.

After Si & Guenter (2011), figure 2 and table 1 (WM): sphere on sphere, sphere on ellipsoid, sphere on torus, torus on
torus and torus on ellipsoid, four coordinates each, and the hub's hinge. Contacts lie on the bodies' equators, far from
the poles, where u and v have no meaning; springs along the coordinates keep them there while the sails sway. One
step a frame of 1/60 s, by the default rule.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from trimesh import creation

import recursive_dyn as rd
from bridge import Camera
from demos.stage import Stage, compiled
from scene import Body, Scene, joints, shapes
from scene.joints import Joint

HUB_RADIUS, HEIGHT = 0.3, 2.9  # m
DENSITY = 100.0
STIFFNESS, DAMPING = 400.0, 1.0  # N m/rad and N m s/rad of each coordinate of a contact
SPEED = 2.6  # rad/s
INWARD, OUTWARD = np.pi, 0.0  # u of the contacts of a body in a sail, whose x axis runs along the sail
CREAM, WOOD, ROOF = (0.93, 0.89, 0.8, 1), (0.45, 0.3, 0.2, 1), (0.62, 0.24, 0.18, 1)
RED, BLUE, GOLD = (0.82, 0.25, 0.2, 1), (0.2, 0.45, 0.75, 1), (0.93, 0.68, 0.18, 1)


@dataclass(frozen=True)
class Round:
    """A sphere or ellipsoid with semi-axes ``radii`` along x, y, z, or a torus about z when it has a ``tube``."""

    radii: tuple[float, float, float]
    tube: float = 0.0

    @property
    def kind(self) -> str:
        """Which of Si & Guenter's surfaces this is."""
        if self.tube:
            return "torus"
        return "sphere" if len(set(self.radii)) == 1 else "ellipsoid"

    @property
    def surface(self) -> joints.surfaces.Surface:
        """u is the longitude about z, v = 0 the outer equator; v = pi is the inside of a torus."""
        if self.kind == "torus":
            return joints.surfaces.torus(self.radii[0], self.tube)
        if self.kind == "sphere":
            return joints.surfaces.sphere(self.radii[0])
        return joints.surfaces.ellipsoid(*self.radii)

    def shape(self, color: tuple[float, ...]) -> shapes.Shape:
        """The same body to be weighed and drawn."""
        if self.tube:
            return shapes.Torus(self.radii[0], self.tube, color=color)
        return shapes.Ellipsoid(self.radii, color=color)


def ball(radius: float) -> Round:
    """A sphere."""
    return Round((radius, radius, radius))


def ring(radius: float, tube: float) -> Round:
    """A torus."""
    return Round((radius, radius, radius), tube)


@dataclass(frozen=True)
class Piece:
    """One body of a sail; interlocked: through the ring before it instead of against its outside."""

    body: Round
    color: tuple[float, ...]
    turn: float = np.pi  # about the common normal: pi leaves the axes parallel to those of the body before
    interlocked: bool = False


HUB = ball(HUB_RADIUS)
CROSSED = np.pi / 2
SAILS = (
    (
        Piece(ring(0.16, 0.045), GOLD),
        Piece(ring(0.16, 0.045), BLUE, CROSSED, interlocked=True),
        Piece(Round((0.45, 0.06, 0.17)), CREAM),
    ),
    (
        Piece(ball(0.14), RED),
        Piece(Round((0.36, 0.15, 0.06)), CREAM),
        Piece(ring(0.12, 0.035), GOLD),
    ),
)
COUNT = 6


def contact(outer: Round, piece: Piece, start: float, stiffness: float, damping: float) -> tuple[Joint, np.ndarray]:
    """(joint, where it starts and rests): the piece touches ``outer`` at longitude ``start``."""
    inside = np.pi if piece.interlocked else 0.0
    rest = np.array([start, inside, INWARD, inside])
    joint = joints.surface_on_surface(
        outer.surface, piece.body.surface, turn=piece.turn, stiffness=stiffness, damping=damping, rest=rest
    )
    return joint, rest


def pairs() -> list[tuple[str, ...]]:
    """The kinds of surface that meet in each of the joints, in alphabetical order."""
    found = []
    for i in range(COUNT):
        before = HUB
        for piece in SAILS[i % len(SAILS)]:
            found.append(tuple(sorted((before.kind, piece.body.kind))))
            before = piece.body
    return found


def mill(stiffness: float = STIFFNESS, damping: float = DAMPING) -> tuple[Scene, np.ndarray]:
    """The scene of 73 coordinates and the q (73,) at which its sails are straight."""
    scene = Scene()
    scene.world.shapes += tower()
    hub = Body("hub", [HUB.shape(WOOD)], density=DENSITY)
    scene.world.attach(hub, joints.revolute("z"), at=rd.pose((0, -0.85, HEIGHT), (np.pi / 2, 0, 0)))
    q = [np.zeros(1)]
    for i in range(COUNT):
        node, before, start = hub, HUB, 2 * np.pi * i / COUNT
        for k, piece in enumerate(SAILS[i % len(SAILS)]):
            joint, rest = contact(before, piece, start, stiffness, damping)
            body = Body(f"sail{i}.{k}", [piece.body.shape(piece.color)], density=DENSITY)
            node, before, start = node.attach(body, joint), piece.body, OUTWARD
            q.append(rest)
    return scene, np.concatenate(q)


def tower() -> list[shapes.Shape]:
    """What stands still: a tapered tower with a door, a cap, and the shaft that the hub turns on."""
    base, top, eaves = 0.75, 0.42, HEIGHT - 0.35
    wall = creation.revolve(np.array([[0, 0], [base, 0], [top, eaves], [0, eaves]]), sections=64)
    cap = creation.revolve(np.array([[0, 0], [0.56, 0], [0.5, 0.35], [0.3, 0.7], [0, 0.85]]), sections=64)
    taper = (base - top) / eaves
    door = rd.pose((0, 0.36 * taper - base, 0.36), (-np.arctan(taper), 0, 0))
    shaft = rd.pose((0, -0.5, HEIGHT), (np.pi / 2, 0, 0))
    return [
        shapes.Mesh(wall, color=CREAM),
        shapes.Mesh(cap, at=rd.pose((0, 0, eaves)), color=ROOF),
        shapes.Cylinder(0.08, 0.7, at=shaft, color=WOOD),
        shapes.Box((0.34, 0.08, 0.74), at=door, color=WOOD),
    ]


def build() -> Stage:
    """The mill turning, nothing holding it back but its sails' friction."""
    scene, start = mill()
    simulation = compiled(scene, 1 / 60)
    simulation.q = start
    simulation.v[0] = SPEED
    return Stage(scene, simulation, seconds=8.0,
                 camera=Camera(target=(0, -0.5, 2.3), distance=6.9, yaw=24, pitch=-5))  # fmt: skip
