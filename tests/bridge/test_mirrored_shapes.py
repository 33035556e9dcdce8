"""Depths of shapes on the plane, who touches whom, and what is shown of each."""

import math

import numpy as np
import pytest
import trimesh
from test_mirror import mirror, pose

from scene import Body, Scene, joints, shapes

TILT = (0.7, 0.4, 1.1)


def lowest(radii, R):
    return math.sqrt(sum((r * R[2, k]) ** 2 for k, r in enumerate(radii)))


SIZES = (0.2, 0.3, 0.4)
AXIS = pose(rpy=TILT)[2, :3]  # the world's z axis in the body's frame
CORNER = float(0.5 * np.abs(AXIS) @ SIZES)
ROUND = math.hypot(AXIS[0], AXIS[1])


def mesh(file, tmp_path, at, **options):
    box = trimesh.creation.box(SIZES)
    if file:
        box.export(tmp_path / file)
    return shapes.Mesh(tmp_path / file if file else box, at=at, **options)


# How each shape is made, how far it reaches below its origin when tilted (its support function), and how exactly Bullet
# knows that: its own shapes and hulls to the tolerance of its iterations, round ones as the bridge tessellates them.
TOUCHING = {
    "box": (lambda path, at: shapes.Box(SIZES, at=at), CORNER, 1e-6),
    "sphere": (lambda path, at: shapes.Sphere(0.2, at=at), 0.2, 1e-9),
    "capsule": (lambda path, at: shapes.Capsule(radius=0.1, length=0.4, at=at), 0.1 + 0.2 * abs(AXIS[2]), 1e-6),
    "cylinder": (
        lambda path, at: shapes.Cylinder(radius=0.1, length=0.4, at=at),
        0.2 * abs(AXIS[2]) + 0.1 * ROUND,
        1e-6,
    ),
    "ellipsoid": (
        lambda path, at: shapes.Ellipsoid((0.1, 0.2, 0.3), at=at),
        float(np.linalg.norm(AXIS * (0.1, 0.2, 0.3))),
        0.005 * 0.3,
    ),
    "torus": (lambda path, at: shapes.Torus(0.3, 0.1, at=at), 0.1 + 0.3 * ROUND, 0.0026 * 0.3),
    "obj": (lambda path, at: mesh("box.obj", path, at, scale=2.0), 2.0 * CORNER, 1e-6),
    "stl": (lambda path, at: mesh("box.stl", path, at, scale=(2.0, 2.0, 2.0)), 2.0 * CORNER, 1e-6),
    "memory": (lambda path, at: mesh("", path, at), CORNER, 1e-6),
    "mirrored": (lambda path, at: mesh("", path, at, scale=(1.0, 1.0, -1.0)), CORNER, 1e-6),
}


@pytest.mark.parametrize("kind", TOUCHING)
@pytest.mark.parametrize(("gap", "inner"), [(0.0015, pose()), (-0.004, pose(0.1, -0.2, 0.3, rpy=(0.5, 0.6, 0.7)))])
def test_depth_of_every_shape_on_the_plane(kind, gap, inner, tmp_path):
    """A tilted shape at a known height, placed by its body's pose or partly by its own."""
    make, reach, tolerance = TOUCHING[kind]
    scene = Scene()
    body = Body("body", [make(tmp_path, inner)], mass=1.0, center_of_mass=(0, 0, 0), inertia=np.eye(3))
    at = pose(0.3, 0.2, reach + gap, rpy=TILT) @ np.linalg.inv(inner)
    scene.world.attach(body, joints.free(), at=at)
    with mirror(scene, ground=True) as shown:
        assert min(c.distance for c in shown.contacts) == pytest.approx(gap, abs=tolerance)
        for contact in shown.contacts:
            np.testing.assert_allclose(contact.normal, (0, 0, 1), atol=1e-6)
