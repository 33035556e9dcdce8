"""Shapes of all kinds that are thrown at a wall, a convex mesh or a free plate, time and again in the same scene."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import trimesh
from contact_scenes import at, energy, mirror, position, put, set_twist

import recursive_dyn as rd
from scene import Scene, shapes

SHAPES = ("box", "sphere", "capsule", "cylinder", "ellipsoid", "torus", "mesh")
TARGETS = ("wall", "convex mesh", "plate")
STEPS = (1 / 240, 1 / 60, 1 / 30)
SIDE = 4.0  # m, of what they are thrown at
SPEEDS = (5.0, 150.0)  # m/s
SPIN = 30.0  # rad/s
REST = 6  # steps after the way is gone
ABOVE = 1.0  # m, where they are made


@dataclass(frozen=True)
class Throw:
    """One throw. lowest: of its centre over the surface that it was thrown at, in inner radii; left: the same at the
    end; won: share of the energy; overlap: m, told at the end."""

    speed: float
    h: float
    lowest: float
    left: float
    won: float
    overlap: float
    hurried: int
    parts: int


def some_shape(kind: str, rng: np.random.Generator, material: rd.Material) -> tuple[shapes.Shape, float]:
    """Of 3 to 20 cm; its inner radius, m."""
    if kind == "box":
        size = rng.uniform(0.03, 0.2, 3)
        return shapes.Box(tuple(size), material=material), 0.5 * size.min()
    if kind == "ellipsoid":
        radii = rng.uniform(0.015, 0.1, 3)
        return shapes.Ellipsoid(tuple(radii), material=material), radii.min()
    if kind == "mesh":
        points = rng.normal(size=(30, 3))
        points *= rng.uniform(0.7, 1.0, (30, 1)) / np.linalg.norm(points, axis=1, keepdims=True)
        hull = trimesh.convex.convex_hull(points * rng.uniform(0.03, 0.1))
        inner = np.einsum("ij,ij->i", hull.face_normals, hull.triangles[:, 0]).min()
        return shapes.Mesh(hull, material=material), float(inner)
    radius, length = rng.uniform(0.015, 0.06), rng.uniform(0.03, 0.08)
    if kind == "sphere":
        return shapes.Sphere(radius, material=material), radius
    if kind == "capsule":
        return shapes.Capsule(radius, length, material=material), radius
    if kind == "cylinder":
        return shapes.Cylinder(radius, length, material=material), min(radius, 0.5 * length)
    minor = radius * rng.uniform(0.3, 0.6)
    return shapes.Torus(radius + 0.02, minor, material=material), minor


def throws(kind: str, target: str, seed: int, count: int, substeps: int | None = None) -> list[Throw]:
    """A shape thrown so often, from anywhere, as fast and as turning as it may be; substeps: parts of a step at most,
    if not as many as usual."""
    rng = np.random.default_rng([SHAPES.index(kind), TARGETS.index(target), seed])
    material = rd.Material(friction=rng.choice([0.0, 0.3, 0.8]), restitution=rng.choice([0.0, 0.5]))
    thick, scene = rng.uniform(0.02, 0.1), Scene(gravity=(0, 0, 0))
    at_what, below = (SIDE, SIDE, thick), at(0, 0, -0.5 * thick)
    if target == "wall":
        scene.world.shapes.append(shapes.Box(at_what, at=below, material=material))
    elif target == "convex mesh":
        scene.world.shapes.append(shapes.Mesh(trimesh.creation.box(at_what), at=below, material=material))
    else:
        put(scene, "plate", shapes.Box(at_what, material=material), below, 10 ** rng.uniform(1, 4))
    shape, inner = some_shape(kind, rng, material)
    put(scene, "thrown", shape, at(0, 0, ABOVE), 1.0)
    found = []
    with mirror(scene, STEPS[0], "linearly_implicit_rk4", ground=False) as shown:
        if substeps is not None:
            shown.sim.contact.substeps = substeps
        start = shown.sim.snapshot()
        for _ in range(count):
            shown.sim.restore(start)
            found.append(_thrown(shown, rng, thick if target == "plate" else None, inner))
    return found


def _thrown(shown, rng: np.random.Generator, plate: float | None, inner: float) -> Throw:
    sim = shown.sim
    sim.timestep = h = float(rng.choice(STEPS))
    speed = float(np.exp(rng.uniform(*np.log(SPEEDS))))
    way, turn, spin = np.append(rng.uniform(-0.7, 0.7, 2), -1.0), rng.normal(size=4), rng.normal(size=3)
    way /= np.linalg.norm(way)
    here = way / way[2] * rng.uniform(0.4, 0.9) - (0.0, 0.0, ABOVE)
    sim.q[-7:] = *here, *turn / np.linalg.norm(turn)
    set_twist(sim, "thrown", spin * rng.uniform(0, SPIN) / np.linalg.norm(spin), speed * way)
    before, hurried, heights, won, parts = energy(sim), sim.report.parts_hurried, [], 0.0, 1
    for _ in range(int(1.0 / speed / h) + 3 + REST):
        shown.step()
        place = np.append(position(sim, "thrown"), 1.0)
        if plate is not None:
            place = np.linalg.inv(sim.frames()[0][0]) @ place - (0, 0, 0.5 * plate, 0)
        beside = np.abs(place[:2]).max()
        if beside < 0.5 * SIDE - 0.2 or place[2] < -0.3 * beside:  # nothing is known of what left it along its surface
            heights.append(place[2] / inner)
        if beside > 0.5 * SIDE - 0.2:
            break
        won, parts = max(won, energy(sim) / before - 1.0), max(parts, sim.solution.substeps)
    hurried = sim.report.parts_hurried - hurried
    lowest, left = min(heights, default=np.inf), heights[-1] if heights else np.inf
    return Throw(speed, h, lowest, left, won, sim.solution.penetration, hurried, parts)
