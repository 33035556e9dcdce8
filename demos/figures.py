"""pybullet_data's human figure, almost six metres tall, dressed: its file leaves gaps between trunk, head and limbs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import recursive_dyn as rd
from demos.leg import rod
from scene import Body, joints, shapes

DAMPING, RUBBING = 4.0, 1.0  # N m s/rad and N m in each coordinate of a joint; a figure weighs 45 kg
SKIN = (0.93, 0.78, 0.65, 1)
# How far balls turn, of axes "y" and "-y" about z and x: limbs hang along -y, and a turn about z takes them forward.
LIMBER = {
    "hip": joints.TurnLimits((1.0, 0.6), (-0.5, 0.5), "-y", (0, 0, 0.7)),
    "right_shoulder": joints.TurnLimits((1.5, 1.2), (-0.9, 0.9), "-y", (-0.6, 0, 0.5)),
    "left_shoulder": joints.TurnLimits((1.5, 1.2), (-0.9, 0.9), "-y", (0.6, 0, 0.5)),
    "ankle": joints.TurnLimits((0.6, 0.3), (-0.3, 0.3), "-y"),
    "chest": joints.TurnLimits((0.7, 0.4), (-0.7, 0.7), "y"),
    "neck": joints.TurnLimits((0.7, 0.5), (-1.0, 1.0), "y"),
}
SLIM, NECK = 0.85, 0.17  # of the thinner of two neighbours; m
UPRIGHT = (np.pi / 2, 0, 0)  # the file's figures stand along y and look along x


def figure_file() -> Path:
    """Where it is."""
    import pybullet_data

    return Path(pybullet_data.getDataPath()) / "humanoid" / "humanoid.urdf"


def dress(root: Body, color: tuple[float, ...], material: rd.Material, damping: float, rubbing: float) -> None:
    """Give a figure flesh between its bones, a colour, a surface, friction and stops in its joints; head and hands are
    bare."""
    for body in list(root.walk()):
        bare = any(part in body.name for part in ("neck", "wrist"))
        body.shapes = [
            replace(s, color=SKIN if bare else color, material=material) for s in [*body.shapes, *between(body)]
        ]
        if body is not root:
            body.joint = body.joint.adjusted(damping=damping, friction=rubbing)
            for name, limits in LIMBER.items():
                if body.name.endswith(name):
                    body.joint = body.joint.adjusted(limits=limits)


def between(body: Body) -> list[shapes.Shape]:
    """What fills the gaps between a body's own shape, its joint and those of its children; nothing hits it."""
    if not body.shapes:
        return []
    ends = [(np.zeros(3), body), *((child.place[:3, 3], child) for child in body.children if child.shapes)]
    result: list[shapes.Shape] = []
    for end, other in ends:
        near = np.clip(end @ axis(body), *reach(body)) * axis(body) if axis(body).any() else body.shapes[0].at[:3, 3]
        thick = NECK if "neck" in other.name else SLIM * min(thickness(body), thickness(other))
        if np.linalg.norm(end - near) > 1e-6:
            result.append(replace(rod(near, end, thick, SKIN), collision=False))
    return result


def thickness(body: Body) -> float:
    """Radius of a body's first shape, or half the height of a box."""
    shape = body.shapes[0]
    return shape.radius if isinstance(shape, shapes.Sphere | shapes.Capsule) else 0.11


def axis(body: Body) -> np.ndarray:
    """Along a capsule through the body's origin (3,), zero for other shapes."""
    shape = body.shapes[0]
    return shape.at[:3, 2] if isinstance(shape, shapes.Capsule) else np.zeros(3)


def reach(body: Body) -> tuple[float, float]:
    """From where to where a capsule's axis goes, m from the body's origin."""
    shape = body.shapes[0]
    assert isinstance(shape, shapes.Capsule)
    middle = float(shape.at[:3, 3] @ shape.at[:3, 2])
    return middle - shape.length / 2, middle + shape.length / 2
