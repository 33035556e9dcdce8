"""Scenes that are not at rest, to be timed while they move: walls, dominoes, things poured into a pit, ragdolls."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from demos.benchmark.contact.description import Ball, Block, Drum, Pill, Robot, Solid, Task, Vector

STEP, FRAME = 1 / 240, 1 / 60  # s
BRICK = (0.4, 0.2, 0.15)  # m
DENSITY = 600.0  # kg/m^3
JOSTLE = 0.5  # m/s and rad/s, of bricks at the start
SEED = 7
BUDGETS = (1000, 15, 1)  # iterations: exact, and for games


def task(
    name: str,
    seconds: float,
    solids: list[Solid],
    walls: Sequence[tuple[Vector, Vector]] = (),
    dolls: Sequence[Robot] = (),
) -> Task:
    """Something to be timed while it moves, on the ground."""
    return Task(
        name, STEP, seconds, tuple(solids), friction=0.6, ground_friction=0.6, correction=True, walls=tuple(walls),
        dolls=tuple(dolls), sample=lambda engine: engine.positions(), error=lambda t, x: 0.0,
    )  # fmt: skip


def wall(bricks: int) -> Task:
    """A wall of ``bricks`` whose bricks slip, rock and settle."""
    rng, width = np.random.default_rng(SEED), round(np.sqrt(bricks * 0.6))
    solids, row = [], 0
    while len(solids) < bricks:
        for k in range(min(width, bricks - len(solids))):
            place = ((k + 0.5 * (row % 2)) * (BRICK[0] + 2e-3), 0.0, (row + 0.5) * BRICK[2])
            velocity, spin = JOSTLE * rng.normal(size=(2, 3)) * ((1, 1, 0.2), (0.2, 0.2, 1))
            solids.append(Solid(f"brick {len(solids) + 1}", Block(BRICK), DENSITY * float(np.prod(BRICK)), place,
                                vector(velocity), spin=vector(spin)))  # fmt: skip
        row += 1
    return task(f"wall of {bricks} bricks, jostled", 1.0 if bricks < 50 else 0.5, solids)


def dominoes(count: int = 30) -> Task:
    """A row of dominoes, the first of which is tipped over."""
    size = (0.02, 0.1, 0.2)
    solids = [
        Solid(f"domino {k + 1}", Block(size), DENSITY * float(np.prod(size)), (0.08 * k, 0.0, 0.5 * size[2]),
              (0.3, 0.0, 0.0) if k == 0 else (0.0, 0.0, 0.0), spin=(0.0, 3.0, 0.0) if k == 0 else (0.0, 0.0, 0.0))
        for k in range(count)
    ]  # fmt: skip
    return task(f"{count} dominoes", 1.5, solids)


def pit(count: int = 35) -> Task:
    """Boxes, balls, capsules and cylinders of all sizes, poured into a pit of four walls."""
    rng = np.random.default_rng(SEED)
    solids = []
    for k in range(count):
        a, b, c = (float(x) for x in rng.uniform(0.06, 0.16, 3))
        shape, volume = [
            (Block((2 * a, 2 * b, 2 * c)), 8 * a * b * c),
            (Ball(a), 4 / 3 * np.pi * a**3),
            (Pill(0.6 * a, 2 * b), np.pi * (0.6 * a) ** 2 * (2 * b + 0.8 * a)),
            (Drum(a, 2 * b), 2 * np.pi * a * a * b),
        ][k % 4]
        place = vector(np.array([0.44 * (k % 3 - 1), 0.44 * (k // 3 % 3 - 1), 0.35 + 0.6 * (k // 9)]))
        turn, spin = vector(rng.uniform(-1.5, 1.5, 3)), vector(rng.normal(size=3))
        mass = DENSITY * float(volume)
        solids.append(Solid(f"thing {k + 1}", shape, mass, place, (0.0, 0.0, -1.0), turn, spin))
    walls = [((2.0, 0.2, 2.4), (0.0, y, 1.2)) for y in (-0.9, 0.9)]
    walls += [((0.2, 1.6, 2.4), (x, 0.0, 1.2)) for x in (-0.9, 0.9)]
    return task(f"{count} mixed shapes into a pit", 1.5, solids, walls)


def ragdolls(count: int = 4) -> Task:
    """Figures of boxes and hinges, limp, that fall over and onto each other."""
    dolls = [Robot(ragdoll(), (0.35 * (k % 2), 0.25 * (k // 2), 1.05 + 1.75 * k), {}) for k in range(count)]
    return task(f"{count} ragdolls falling", 2.0, [], dolls=dolls)


def allowed(task: Task, iterations: int) -> Task:
    """The same, whose solves may take so many iterations of ours."""
    return replace(task, name=f"{task.name}, {iterations} iterations", iterations=iterations)


def tasks() -> dict[str, Task]:
    """All of them, by name, those in which things are fast in a game's steps too, and walls with other budgets."""
    found = [wall(30), wall(100), dominoes(), pit(), ragdolls()]
    found += [replace(each, name=f"{each.name}, 1/60 s", timestep=FRAME) for each in found[2:]]
    found += [allowed(wall(bricks), iterations) for bricks in (30, 100) for iterations in BUDGETS]
    return {each.name: each for each in found}


def ragdoll() -> str:
    """URDF of a figure 1.6 m tall: a trunk, head, two-part arms and legs, nine hinges, knees and elbows bent."""
    robot = ET.Element("robot", name="doll")
    _link(robot, "trunk", (0.2, 0.34, 0.55), (0.0, 0.0, 0.0))
    _limb(robot, "head", "trunk", (0.18, 0.16, 0.24), (0.0, 0.0, 0.3), 0.3, up=True)
    for side, y in (("left", 1.0), ("right", -1.0)):
        _limb(robot, f"{side} arm", "trunk", (0.08, 0.08, 0.3), (0.0, 0.23 * y, 0.22), 0.4 * y)
        _limb(robot, f"{side} hand", f"{side} arm", (0.07, 0.07, 0.28), (0.0, 0.0, -0.32), -0.6)
        _limb(robot, f"{side} thigh", "trunk", (0.12, 0.12, 0.38), (0.0, 0.1 * y, -0.29), -0.5 * y)
        _limb(robot, f"{side} shin", f"{side} thigh", (0.1, 0.1, 0.38), (0.0, 0.0, -0.4), 0.7)
    return ET.tostring(robot, encoding="unicode")


def _limb(
    robot: ET.Element, name: str, parent: str, size: Vector, place: Vector, bent: float, up: bool = False
) -> None:
    _link(robot, name, size, (0.0, 0.0, (0.5 if up else -0.5) * size[2]))
    joint = ET.SubElement(robot, "joint", name=f"{name} hinge", type="continuous")
    ET.SubElement(joint, "parent", link=parent)
    ET.SubElement(joint, "child", link=name)
    ET.SubElement(joint, "origin", xyz=_text(place), rpy=_text((0.0, bent, 0.0)))
    ET.SubElement(joint, "axis", xyz="0 1 0")


def _link(robot: ET.Element, name: str, size: Vector, middle: Vector) -> None:
    mass, (x, y, z) = 1000.0 * float(np.prod(size)), (s * s for s in size)
    link = ET.SubElement(robot, "link", name=name)
    inertial, collision = ET.SubElement(link, "inertial"), ET.SubElement(link, "collision")
    for element in (inertial, collision):
        ET.SubElement(element, "origin", xyz=_text(middle), rpy="0 0 0")
    ET.SubElement(inertial, "mass", value=str(mass))
    moments = {"ixx": y + z, "iyy": x + z, "izz": x + y}
    ET.SubElement(inertial, "inertia", {k: str(mass * m / 12.0) for k, m in moments.items()}, ixy="0", ixz="0", iyz="0")
    ET.SubElement(ET.SubElement(collision, "geometry"), "box", size=_text(size))


def vector(values: np.ndarray) -> Vector:
    """Three numbers."""
    x, y, z = values.tolist()
    return x, y, z


def _text(values: Vector) -> str:
    return " ".join(map(str, values))
