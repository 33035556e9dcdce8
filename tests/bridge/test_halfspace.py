"""Shapes on planes: depth against support functions, and all the points that a body rests on."""

import math

import numpy as np
import pytest
import trimesh

import recursive_dyn as rd
from bridge.planes.half_spaces import HalfSpaces
from bridge.planes.lowest_points import MOST
from bridge.planes.supports import Support, supports
from scene import shapes

NORMAL = np.array([0.1, 0.2, 0.9]) / np.linalg.norm([0.1, 0.2, 0.9])
POINT = np.array([0.3, 0.1, -0.2])
ROUNDING = 1e-12

SOLID = trimesh.creation.icosphere(subdivisions=2, radius=0.3)
# Each shape with its support function: how far it reaches along a unit vector of its own frame.
KINDS = {
    "box": (lambda at: shapes.Box((0.2, 0.3, 0.4), at=at), lambda d: np.abs(d) @ (0.1, 0.15, 0.2)),
    "sphere": (lambda at: shapes.Sphere(0.2, at=at), lambda d: 0.2),
    "capsule": (lambda at: shapes.Capsule(0.1, 0.4, at=at), lambda d: 0.1 + 0.2 * abs(d[2])),
    "cylinder": (
        lambda at: shapes.Cylinder(0.1, 0.4, at=at),
        lambda d: 0.1 * math.hypot(d[0], d[1]) + 0.2 * abs(d[2]),
    ),
    "torus": (lambda at: shapes.Torus(0.3, 0.1, at=at), lambda d: 0.3 * math.hypot(d[0], d[1]) + 0.1),
    "ellipsoid": (
        lambda at: shapes.Ellipsoid((0.1, 0.2, 0.3), at=at),
        lambda d: float(np.linalg.norm(d * (0.1, 0.2, 0.3))),
    ),
    "mesh": (
        lambda at: shapes.Mesh(SOLID, scale=(1, 2, -1), at=at),
        lambda d: float((SOLID.vertices * (1, 2, -1) @ d).max()),
    ),
}


def random_pose(rng):
    return rd.pose(xyz=tuple(rng.normal(size=3)), rpy=tuple(rng.uniform(-3, 3, 3)))


@pytest.mark.parametrize("kind", KINDS)
def test_lowest_point_of_every_shape(kind):
    """Any pose of the shape in its body and of the body over a slanted plane, just above and well within."""
    make, reach = KINDS[kind]
    rng = np.random.default_rng(5)
    for gap in (1e-3, -1e-6, -0.03) * 10:
        at, X = random_pose(rng), random_pose(rng)
        down = -(X @ at)[:3, :3].T @ NORMAL
        centre = POINT + NORMAL * (reach(down) + gap) + np.cross(NORMAL, rng.normal(size=3))
        X[:3, 3] = centre - X[:3, :3] @ at[:3, 3]
        planes = HalfSpaces([(POINT, NORMAL, None)])
        planes.add(1, make(at))
        found = planes.contacts(np.stack([np.eye(4), X]))
        assert found.distance.min() == pytest.approx(gap, abs=ROUNDING)
        np.testing.assert_allclose((found.point - POINT) @ NORMAL, found.distance, atol=ROUNDING)
        assert (found.body == 1).all() and (found.shape == 0).all() and (found.plane == 0).all()


def level(shape, height, rpy=(0.0, 0.0, 0.0)):
    planes = HalfSpaces([((0, 0, 0), (0, 0, 1), None)])
    planes.add(0, shape)
    return planes.contacts(rd.pose(xyz=(0.0, 0.0, height), rpy=rpy)[None])


LYING = (0.0, math.pi / 2, 0.0)
RESTS = {
    "box": (shapes.Box((0.2, 0.3, 0.4)), 0.2, (0, 0, 0.3), 4),
    "edge": (shapes.Box((0.2, 0.4, 0.2)), 0.1 * math.sqrt(2), (0, math.pi / 4, 0.0), 2),
    "lying capsule": (shapes.Capsule(0.1, 0.4), 0.1, LYING, 2),
    "upright capsule": (shapes.Capsule(0.1, 0.4), 0.3, (0, 0, 0), 1),
    "standing cylinder": (shapes.Cylinder(0.1, 0.4), 0.2, (0, 0, 0), 4),
    "lying cylinder": (shapes.Cylinder(0.1, 0.4), 0.1, LYING, 2),
    "flat torus": (shapes.Torus(0.3, 0.1), 0.1, (0, 0, 0), 4),
    "wheel": (shapes.Torus(0.3, 0.1), 0.4, LYING, 1),
    "disc": (shapes.Mesh(trimesh.creation.cylinder(0.3, 0.2, sections=64)), 0.1, (0, 0, 0), 4),
}


@pytest.mark.parametrize("overlap", [1e-9, 1e-4, 1e-2])
@pytest.mark.parametrize("name", RESTS)
def test_points_that_a_body_rests_on(name, overlap):
    """Their polygon holds the middle, so that nothing rocks; all as deep."""
    shape, height, rpy, count = RESTS[name]
    found = level(shape, height - overlap, rpy)
    resting = found.distance < -0.9 * overlap
    assert count <= resting.sum() <= MOST
    np.testing.assert_allclose(found.distance[resting], -overlap, rtol=1e-6, atol=ROUNDING)
    np.testing.assert_allclose(found.point[resting][:, :2].mean(axis=0), (0, 0), atol=0.05)
    assert len(set(found.feature.tolist())) == len(found.feature)


def test_features_stay_with_their_corners():
    box = shapes.Box((0.2, 0.2, 0.2))
    flat, tilted = level(box, 0.0999), level(box, 0.0999, (1e-4, 2e-4, 0.0))
    for found in (flat, tilted):
        assert len(found.feature) == 4
    for feature, point in zip(tilted.feature, tilted.point, strict=True):
        (same,) = flat.point[flat.feature == feature]
        np.testing.assert_allclose(point, same, atol=1e-3)
    rims = level(shapes.Cylinder(0.1, 0.01), -0.1, (0.3, 0.0, 0.0))
    assert len(set(rims.feature.tolist())) == len(rims.feature) > 4


def test_margin_and_materials_and_several_planes():
    rough, smooth = rd.Material(friction=1.0), rd.Material(friction=0.0)
    scenery = [
        shapes.Plane(material=rough),
        shapes.Plane(normal=(1, 0, 0), at=rd.pose(xyz=(-1, 0, 0)), material=smooth),
        shapes.Plane(at=rd.pose(xyz=(0, 0, 9)), collision=False),
        shapes.Box((1, 1, 1)),
    ]
    planes = HalfSpaces.of(scenery)
    assert len(planes) == 2
    assert planes.plane_materials == [rough, smooth]
    ball = planes.add(0, shapes.Sphere(0.5))
    box = planes.add(1, shapes.Box((1, 1, 1)))
    poses = np.stack([rd.pose(xyz=(-0.5, 0, 0.505)), rd.pose(xyz=(3, 0, 0.499))])
    found = planes.contacts(poses)
    rows = set(zip(found.body.tolist(), found.shape.tolist(), found.plane.tolist(), strict=True))
    assert rows == {(0, ball, 1), (1, box, 0)}
    assert set(planes.contacts(poses, margin=0.01).plane.tolist()) == {0, 1}
    assert len(planes.contacts(poses, margin=-1.0).body) == 0
    assert len(HalfSpaces([]).contacts(poses).body) == 0


def test_an_unknown_shape_is_told_and_can_be_registered():
    class Needle(shapes.Capsule):
        pass

    class Cloud(shapes.Shape):
        @property
        def volume(self):
            return 0.0

        def _solid(self):
            raise NotImplementedError

    planes = HalfSpaces([((0, 0, 0), (0, 0, 1), None)])
    planes.add(0, Needle(0.1, 0.2))  # as the capsule that it is
    with pytest.raises(rd.ModelError, match=r"Cloud.*supports\.register"):
        planes.add(0, Cloud())
    supports.register(Cloud, lambda shape: [Support(0, np.zeros((1, 3)), (1.0, 0.0, 0.0))])
    assert planes.add(0, Cloud()) == 1


@pytest.mark.parametrize("tilt", [0.0, 1e-13, 1e-11, 1e-9, 1e-6])
@pytest.mark.parametrize("kind", ["cylinder", "torus"])
def test_what_all_but_lies_flat_is_as_low_as_it_is(kind, tilt):
    """However it is turned: of a small tilt rounding leaves a part along the axis."""
    make, reach = KINDS[kind]
    for turn in np.random.default_rng(2).uniform(-3.0, 3.0, (20, 3)):
        X = rd.pose(rpy=turn)
        axis = X[:3, 2] * math.cos(tilt) + X[:3, 0] * math.sin(tilt)
        spaces = HalfSpaces([(np.zeros(3), axis, None)])
        X[:3, 3] = reach(X[:3, :3].T @ axis) * axis
        spaces.add(0, make(X))
        found = spaces.contacts(np.eye(4)[None])
        assert found.distance.min() == pytest.approx(0.0, abs=1e-14)
        assert np.abs(found.distance[:4]).max() < 1.0 * tilt + 1e-14
