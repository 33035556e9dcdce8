"""Walls of bricks as problems of one solve: free bodies, and their contacts in closed form.

Bricks stay where they are from solve to solve, as in steps so short that nothing moves far; velocities go on.
"""

from __future__ import annotations

from dataclasses import dataclass

import impulse_problems as made
import numpy as np

import recursive_dyn as rd
from recursive_dyn.contact.contacts import STATIC, Contacts, FreeBodies
from recursive_dyn.contact.problem import EarlierContacts, ImpulseProblem
from scene import Body, Scene, joints, shapes

BRICK = np.array([0.2, 0.1, 0.1])  # m
GRAVITY = 9.81
H = 1 / 240  # s
SLOP = 2e-5  # m


@dataclass
class Wall:
    """Bricks (n of them) by centres (n, 3), masses (n,) and twists (n, 6), and contacts (k of them): bodies a, b, of
    which -1 is the ground, points (k, 3), normals (k, 3) from b to a, frictions (5,)."""

    centers: np.ndarray
    masses: np.ndarray
    twists: np.ndarray
    a: np.ndarray
    b: np.ndarray
    points: np.ndarray
    normals: np.ndarray
    frictions: np.ndarray

    @property
    def inertia(self) -> np.ndarray:
        """(n, 3, 3), world axes."""
        x, y, z = BRICK**2
        return np.diag([y + z, x + z, x + y]) / 12.0 * self.masses[:, None, None]

    def velocities(self, twists: np.ndarray, turning: bool = False) -> np.ndarray:
        """Of a against b at the contacts (k, 3), or, if ``turning``, their angular ones; world axes."""
        V, x = np.vstack([twists, np.zeros(6)]), np.vstack([self.centers, np.zeros(3)])
        if turning:
            return V[self.a, :3] - V[self.b, :3]
        at = [V[k, 3:] + np.cross(V[k, :3], self.points - x[k]) for k in (self.a, self.b)]
        return at[0] - at[1]

    def kinetic(self, twists: np.ndarray) -> float:
        """Kinetic energy, J."""
        turning = np.einsum("ni,nij,nj->", twists[:, :3], self.inertia, twists[:, :3])
        return 0.5 * float(turning + (self.masses * (twists[:, 3:] ** 2).sum(1)).sum())


def wall(
    rng: np.random.Generator, rows: int, columns: int, kick: float = 0.2, ratio: float = 1.0,
    frictions: tuple[float, ...] = (0.5, 0.5, 0.0, 0.0, 0.0),
) -> Wall:  # fmt: skip
    """Rows of bricks in bond whose ends touch, too; each is kicked by so many m/s and rad/s and weighs between 1 kg and
    ``ratio`` kg."""
    number = {(c + 0.5 * (r % 2), r): k for k, (r, c) in enumerate(np.ndindex(rows, columns))}
    found = list[tuple[int, int, tuple[float, float, float], tuple[float, float, float]]]()
    for (x, r), k in number.items():
        below = [(x + s, number[x + s, r - 1]) for s in (-0.5, 0.5) if (x + s, r - 1) in number] if r else [(x, -1)]
        for other, j in below:
            ends = max(x, other) - 0.5, min(x, other) + 0.5
            found += [(k, j, (end, side, r), (0.0, 0.0, 1.0)) for end in ends for side in (-0.5, 0.5)]
        if (x - 1, r) in number:
            beside = number[x - 1, r]
            found += [(k, beside, (x - 0.5, side, z), (1.0, 0.0, 0.0)) for side in (-0.5, 0.5) for z in (r, r + 1)]
    a, b, points, normals = (np.array(column) for column in zip(*found, strict=True))
    centers = np.array([(x, 0.0, r + 0.5) for x, r in number]) * BRICK
    masses = ratio ** rng.uniform(0.0, 1.0, len(number))
    twists = kick * rng.normal(size=(len(number), 6))
    return Wall(centers, masses, twists, a, b, points * BRICK, normals, np.array(frictions))


def bystander() -> rd.Dynamics:
    """A model that takes no part."""
    scene = Scene()
    scene.world.attach(Body("far away", [shapes.Sphere(0.1)]), joints.revolute("z"))
    return scene.compile()


def flown(these: Wall) -> np.ndarray:
    """Twists (n, 6) at the end of a step in which nothing touches."""
    return these.twists - GRAVITY * H * np.eye(6)[5]


def problem(
    d: rd.Dynamics, these: Wall, earlier: EarlierContacts | None = None, iterations: int = 200
) -> ImpulseProblem:
    """A step's solve, from surfaces that lie on each other as the last one left them, where all touch at its end."""
    mean = 0.5 * (these.velocities(these.twists) + these.velocities(flown(these)))
    count, first = len(these.a), len(d.bodies)
    free = FreeBodies(these.centers, 1.0 / these.masses, np.linalg.inv(these.inertia), these.twists, flown(these))
    gaps = np.minimum(H * (mean * these.normals).sum(1), 0.0) - 0.5 * SLOP
    found = Contacts(
        these.a + first, np.where(these.b < 0, STATIC, these.b + first), these.points, these.points, these.normals,
        gaps, np.tile(these.frictions, (count, 1)), np.arange(count), free, np.zeros((count, 3)),
    )  # fmt: skip
    none = made.rows(np.random.default_rng(0), d.nv, 0, 0, 0)
    return made.problem(d, (np.zeros(d.nq), np.zeros(d.nv)), found, none, earlier, iterations, H)
