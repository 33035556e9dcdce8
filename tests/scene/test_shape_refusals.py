"""Shapes and bodies that are refused, by name."""

import numpy as np
import pytest
import sympy as sp
import trimesh
from test_shapes import BOX, NAN, pose

from recursive_dyn.errors import ModelError
from scene import shapes
from scene.mass_properties import MassProperties, of_body


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: shapes.Box((1, 0, 1)), "Box: size must be positive"),
        (lambda: shapes.Box((1, -1, 1)), "Box: size must be positive"),
        (lambda: shapes.Box((1, NAN, 1)), "Box: size has an entry that is NaN"),
        (lambda: shapes.Box((1, 1)), r"Box: size must be an array of shape \(3,\)"),
        (lambda: shapes.Box(1.0), r"Box: size must be an array of shape \(3,\)"),
        (lambda: shapes.Box([[1], [1, 2], 3]), "Box: size"),
        (lambda: shapes.Box((sp.Symbol("R"), 1, 1)), "Box: size cannot depend on scene parameters"),
        (lambda: shapes.Sphere(0.0), "Sphere: radius must be positive"),
        (lambda: shapes.Sphere(-1.0), "Sphere: radius must be positive"),
        (lambda: shapes.Sphere(NAN), "Sphere: radius"),
        (lambda: shapes.Sphere(float("inf")), "Sphere: radius"),
        (lambda: shapes.Sphere("1"), "Sphere: radius must be a number"),
        (lambda: shapes.Sphere(None), "Sphere: radius must be a number"),
        (lambda: shapes.Sphere(1j), "Sphere: radius must be a number"),
        (lambda: shapes.Sphere(1e100), "Sphere: radius .* out of range"),
        (lambda: shapes.Capsule(0.1, 0.0), "Capsule: length must be positive"),
        (lambda: shapes.Capsule(-0.1, 1.0), "Capsule: radius must be positive"),
        (lambda: shapes.Cylinder(0.0, 1.0), "Cylinder: radius must be positive"),
        (lambda: shapes.Cylinder(1.0, NAN), "Cylinder: length"),
        (lambda: shapes.Ellipsoid((1, 2, -3)), "Ellipsoid: radii must be positive"),
        (lambda: shapes.Torus(1.0, 0.0), "Torus: minor must be positive"),
        (lambda: shapes.Torus(1.0, 1.0), r"Torus: minor 1\.0 must be less than major"),
        (lambda: shapes.Torus(0.5, 1.0), r"Torus: minor 1\.0 must be less than major"),
        (lambda: shapes.Plane((0, 0, 0)), "Plane: normal must not be zero"),
        (lambda: shapes.Plane((0, NAN, 1)), "Plane: normal"),
        (lambda: shapes.Mesh(trimesh.creation.box(), scale=0.0), "Mesh: scale must not be zero"),
        (lambda: shapes.Mesh(trimesh.creation.box(), scale=(1, 2)), "Mesh: scale"),
        (lambda: shapes.Mesh(trimesh.creation.box(), scale=NAN), "Mesh: scale"),
        (lambda: shapes.Sphere(1, at=np.eye(3)), r"Sphere: at must be an array of shape \(4, 4\)"),
        (lambda: shapes.Sphere(1, at=np.diag([1, 1, 1.001, 1])), "Sphere: the pose at= must hold an orthonormal"),
        (lambda: shapes.Sphere(1, at=np.diag([1, 1, -1, 1])), "Sphere: the pose at= must hold .* right-handed"),
        (lambda: shapes.Sphere(1, at=np.diag([1e200, 1, 1, 1])), "Sphere: the pose at="),
        (lambda: shapes.Sphere(1, at=np.diag([1, 1, 1, 2])), "Sphere: the last row"),
        (lambda: shapes.Sphere(1, at=pose((NAN, 0, 0), (0, 0, 0))), "Sphere: at has an entry that is NaN"),
        (lambda: shapes.Sphere(1, color=(1, 0, 0)), "Sphere: color"),
        (lambda: shapes.Sphere(1, color=(255, 0, 0, 1)), "Sphere: color is red"),
        (lambda: shapes.Sphere(1).mass_properties(0.0), "Sphere: density must be positive"),
        (lambda: shapes.Sphere(1).mass_properties(NAN), "Sphere: density must be positive"),
        (lambda: shapes.to_trimesh(shapes.Sphere(1), 2), "Sphere: a tessellation"),
    ],
)
def test_a_bad_shape_is_refused_by_name(make, message):
    with pytest.raises(ModelError, match=message):
        make()


BALL = [shapes.Sphere(0.1)]
SKEW = np.array([[1, 0.1, 0], [0, 1, 0], [0, 0, 1.0]])
R = sp.Symbol("R")


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"mass": 0.0}, "mass must be positive, not 0.0; leave it out where a body has none"),
        ({"mass": 0, "inertia": BOX}, "mass must be positive, not 0; leave it out where a body has none"),
        ({"mass": -1.0}, "mass must be positive"),
        ({"mass": NAN}, "mass must be positive and finite"),
        ({"mass": float("inf")}, "mass must be positive and finite"),
        ({"mass": "heavy"}, "mass must be a number"),
        ({"mass": [1.0, 2.0]}, "mass must be a number"),
        ({"mass": sp.I}, "mass must be a number"),
        ({"mass": sp.nan}, "mass must be positive and finite"),
        ({"mass": 1.0, "density": 1.0, "shapes": BALL}, "mass and density are both given"),
        ({"density": 0.0, "shapes": BALL}, "density must be positive"),
        ({"density": -5.0, "shapes": BALL}, "density must be positive"),
        ({"density": NAN, "shapes": BALL}, "density must be positive"),
        ({"density": 1000.0}, "no shape has volume"),
        ({"density": 1000.0, "shapes": [shapes.Plane()]}, "no shape has volume"),
        ({"inertia": BOX}, "give mass"),
        ({"center_of_mass": (0, 0, 1)}, "give mass"),
        ({"mass": 1.0, "center_of_mass": (0, NAN, 0)}, "center_of_mass has an entry that is NaN"),
        ({"mass": 1.0, "center_of_mass": (0, NAN, R)}, "center_of_mass has an entry that is NaN"),
        ({"mass": 1.0, "center_of_mass": (0, 0)}, r"center_of_mass must be an array of shape \(3,\)"),
        ({"mass": 1.0, "inertia": np.eye(2)}, r"inertia must be an array of shape \(3, 3\)"),
        ({"mass": 1.0, "inertia": (1, 1, 1)}, r"inertia must be an array of shape \(3, 3\)"),
        ({"mass": 1.0, "inertia": np.eye(3) * NAN}, "inertia has an entry that is NaN"),
        ({"mass": 1.0, "inertia": SKEW}, "inertia must be symmetric"),
        ({"mass": 1.0, "inertia": [[1, R, 0], [0, 1, 0], [0, 0, 1]]}, "inertia must be symmetric"),
        ({"mass": 1.0, "inertia": np.diag([1, 1, -1])}, "positive definite"),
        ({"mass": 1.0, "inertia": -np.eye(3)}, "positive definite"),
        ({"mass": 1.0, "inertia": np.diag([1, 1, 0])}, "positive definite"),
        ({"mass": 1.0, "inertia": np.diag([1, 1, 2.001])}, "exceeds the sum of the others"),
        ({"shapes": shapes.Sphere(0.1)}, "shapes must be a list of shapes"),
        ({"shapes": [0.1]}, "shapes must be a list of shapes"),
    ],
)
def test_a_bad_body_is_refused_by_name(arguments, message):
    with pytest.raises(ModelError, match=f"(?s)body 'arm': .*{message}"):
        of_body("arm", **arguments)


def test_a_turned_degenerate_inertia_is_refused_too():
    rotation = pose((0, 0, 0), (0.3, 0.4, 0.5))[:3, :3]
    with pytest.raises(ModelError, match="positive definite"):
        of_body("rod", mass=1.0, inertia=rotation @ np.diag([1, 1, 0]) @ rotation.T)


def test_check_names_the_body():
    zero = np.zeros((3, 3))
    MassProperties(0.0, np.zeros(3), zero).check("frame")
    for bad in (
        MassProperties(-1.0, np.zeros(3), zero),
        MassProperties(NAN, np.zeros(3), zero),
        MassProperties(0.0, np.zeros(3), BOX),
        MassProperties(1.0, [0, NAN, 0], BOX),
    ):
        with pytest.raises(ModelError, match="body 'arm'"):
            bad.check("arm")
    with pytest.raises(ModelError, match="inertia"):
        MassProperties(1.0, np.zeros(3), np.zeros(3))
