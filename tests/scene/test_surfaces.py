"""The library of surfaces, and what touching means: common point, opposed normals, no more and no fewer coordinates."""

import numpy as np
import pytest
import sympy as sp

import recursive_dyn as rd
from scene import Body, Scene, joints
from scene.joints import surfaces

EVERY = {
    "plane": surfaces.plane(),
    "sphere": surfaces.sphere(0.7),
    "sphere x": surfaces.sphere(0.7, poles="x"),
    "sphere y": surfaces.sphere(0.7, poles="y"),
    "ellipsoid": surfaces.ellipsoid(0.5, 0.8, 1.1),
    "ellipsoid x": surfaces.ellipsoid(0.5, 0.8, 1.1, poles="x"),
    "ellipsoid y": surfaces.ellipsoid(0.5, 0.8, 1.1, poles="y"),
    "spheroid": surfaces.ellipsoid(0.5, 0.5, 1.1),
    "spheroid x": surfaces.ellipsoid(1.1, 0.5, 0.5, poles="x"),
    "torus": surfaces.torus(1.0, 0.3),
    "torus x": surfaces.torus(1.0, 0.3, poles="x"),
    "torus y": surfaces.torus(1.0, 0.3, poles="y"),
    "cylinder": surfaces.cylinder(0.4),
    "cylinder x": surfaces.cylinder(0.4, poles="x"),
    "paraboloid": surfaces.paraboloid(0.7, 2.0),
}
CLOSED = [name for name in EVERY if name.split()[0] in ("sphere", "ellipsoid", "spheroid", "torus")]
u, v = sp.symbols("u v", real=True)


def compiled(joint, **parameters):
    scene = Scene()
    for name, value in parameters.items():
        scene.parameter(name, value)
    scene.world.attach(Body("glider", mass=1.0, inertia=np.eye(3)), joint)
    return scene.compile()


def refused(joint, pattern):
    with pytest.raises(rd.ModelError, match=rf"(?s)joint of 'glider'.*{pattern}"):
        compiled(joint)


def operations(joint):
    return sum(vars(compiled(joint).operation_count("forward_dynamics")).values())


# Frames


@pytest.mark.parametrize("name", EVERY)
def test_the_closed_form_is_the_frame_of_the_normed_derivatives(name):
    rng = np.random.default_rng(1)
    q = np.column_stack([rng.uniform(-3, 3, 20), rng.uniform(-1.5, 1.5, 20)])  # between the poles
    closed, derived = (compiled(j) for j in (joints.surface(EVERY[name]), joints.surface(*EVERY[name])))
    np.testing.assert_allclose(closed.poses(q), derived.poses(q), rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", EVERY)
def test_the_closed_form_costs_no_more_operations(name):
    assert operations(joints.surface(EVERY[name])) <= operations(joints.surface(*EVERY[name]))


@pytest.mark.parametrize("name", [n for n in CLOSED if "torus" not in n])
def test_the_frame_goes_on_over_a_pole(name):
    d = compiled(joints.surface(EVERY[name]))
    for pole in (np.pi / 2, -np.pi / 2):
        before, at, after = d.poses([[0.4, pole - 1e-7], [0.4, pole], [0.4, pole + 1e-7]])[:, 0]
        np.testing.assert_allclose(before, after, rtol=0, atol=1e-6)  # two steps of 1e-7, curvatures of a few per m
        np.testing.assert_allclose(at, (before + after) / 2, rtol=0, atol=1e-12)
        assert np.linalg.matrix_rank(d.jacobian([0.4, pole], "glider")) == 2
        assert np.isfinite(d.forward_dynamics([0.4, pole], [1.0, 2.0])).all()


@pytest.mark.parametrize("name", CLOSED)
def test_normals_point_outward(name):
    """A surface that contains the origin in its inside, or in its hole: steps along the normal leave it."""
    d = compiled(joints.surface(EVERY[name]))
    rng = np.random.default_rng(2)
    X = d.poses(rng.uniform(-3, 3, (50, 2)))[:, 0]
    vertices, faces = EVERY[name].mesh(96, 64)
    a, b, c = (vertices[faces[:, i]] for i in range(3))

    def winding(p):  # solid angle over 4 pi: 1 inside, 0 outside
        x, y, z = (t - p for t in (a, b, c))
        nx, ny, nz = (np.linalg.norm(t, axis=1) for t in (x, y, z))
        top = np.einsum("ni,ni->n", x, np.cross(y, z))
        dots = [np.einsum("ni,ni->n", s, t) for s, t in ((x, y), (y, z), (z, x))]
        return np.arctan2(top, nx * ny * nz + dots[0] * nz + dots[1] * nx + dots[2] * ny).sum() / (2 * np.pi)

    for G in X:
        assert winding(G[:3, 3] + 0.05 * G[:3, 2]) == pytest.approx(0.0, abs=1e-9)
        assert winding(G[:3, 3] - 0.05 * G[:3, 2]) == pytest.approx(1.0, abs=1e-9)


def test_a_plane_and_a_paraboloid_look_up():
    for surface in (surfaces.plane(), surfaces.paraboloid(0.5, 0.5)):
        X = compiled(joints.surface(surface)).poses([0.3, -0.2])[0]
        assert X[2, 2] > 0.5
    z = compiled(joints.surface(surfaces.paraboloid(0.5, 2.0))).poses([0.3, -0.2])[0, 2, 3]
    assert z == pytest.approx(0.3**2 / (2 * 0.5) + 0.2**2 / (2 * 2.0))


def test_a_translated_child_keeps_its_axes():
    torus = surfaces.torus(1.0, 0.3)
    moved, turned = (compiled(joints.surface(torus, frame=f)) for f in ("translation", "tangent"))
    X = moved.poses([0.3, 0.8])[0]
    np.testing.assert_array_equal(X[:3, :3], np.eye(3))
    np.testing.assert_allclose(X[:, 3], turned.poses([0.3, 0.8])[0, :, 3], atol=1e-15)
    with pytest.raises(rd.ModelError, match="'tangent' or 'translation', not 'normal'"):
        joints.surface(torus, frame="normal")


# Sizes and symbols


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan"), float("inf"), "wide", None, (1.0, 2.0)])
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("sphere", lambda x: surfaces.sphere(x)),
        ("ellipsoid", lambda x: surfaces.ellipsoid(1.0, x, 1.0)),
        ("torus", lambda x: surfaces.torus(1.0, x)),
        ("cylinder", lambda x: surfaces.cylinder(x)),
        ("paraboloid", lambda x: surfaces.paraboloid(x, 1.0)),
    ],
)
def test_sizes_are_positive(name, make, bad):
    with pytest.raises(rd.ModelError, match=rf"surfaces\.{name}"):
        make(bad)


def test_other_mistakes_are_named():
    with pytest.raises(rd.ModelError, match=r"surfaces\.torus: tube 1\.0 must be less than radius 1\.0"):
        surfaces.torus(1.0, 1.0)
    with pytest.raises(rd.ModelError, match=r"surfaces\.sphere: poles is the axis 'x', 'y' or 'z', not 'w'"):
        surfaces.sphere(1.0, poles="w")
    with pytest.raises(rd.ModelError, match=r"or one of joints\.surfaces"):
        joints.surface([u, v, u * v])
    with pytest.raises(rd.ModelError, match="give flip, turn and spin by name"):
        joints.surface_on_surface(surfaces.sphere(1.0), surfaces.sphere(1.0), False)
    with pytest.raises(rd.ModelError, match="turn must be a finite angle"):
        joints.surface_on_surface(surfaces.sphere(1.0), surfaces.sphere(1.0), turn=float("nan"))
    with pytest.raises(rd.ModelError, match="names each coordinate once"):
        joints.surface_on_surface([u, v, u**2 + v**2], (u, v), [u, v, u**2 + v**2], (u, v))


def test_a_size_may_be_a_parameter_of_any_name():
    """A parameter named as the joint's coordinates are is not mistaken for one of them."""
    for name in ("u", "v1"):
        scene = Scene()
        size = scene.parameter(name, 0.5)
        scene.world.attach(Body("glider", mass=1.0, inertia=np.eye(3)), joints.surface(surfaces.sphere(2 * size)))
        d = scene.compile()
        assert np.linalg.norm(d.poses([0.3, 0.4])[0, :3, 3]) == pytest.approx(1.0)
        d.parameters[name] = 0.8
        assert np.linalg.norm(d.poses([0.3, 0.4])[0, :3, 3]) == pytest.approx(1.6)
        first = surfaces.torus(size, size / 4)
        joint = joints.surface_on_surface(first, surfaces.ellipsoid(size, size, 1.0))
        d = compiled(joint, **{name: 0.5})
        assert d.coordinates == ("glider.u1", "glider.v1", "glider.u2", "glider.v2")


def test_a_surface_may_be_used_twice():
    ball = surfaces.sphere(0.5)
    d = compiled(joints.surface_on_surface(ball, ball))
    assert d.coordinates == ("glider.u1", "glider.v1", "glider.u2", "glider.v2")


# Meshes


@pytest.mark.parametrize("name", EVERY)
def test_a_mesh_lies_on_its_surface_and_looks_outward(name):
    surface = EVERY[name]
    vertices, faces = surface.mesh(40, 30)
    edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    _, shared = np.unique(edges, axis=0, return_counts=True)
    normals = np.cross(vertices[faces[:, 1]] - vertices[faces[:, 0]], vertices[faces[:, 2]] - vertices[faces[:, 0]])
    assert np.linalg.norm(normals, axis=1).min() > 1e-6
    if name in CLOSED:
        assert (shared == 2).all()
        assert len(vertices) - len(shared) + len(faces) == (0 if "torus" in name else 2)  # Euler's characteristic
        volume = np.einsum("ni,ni->", vertices[faces[:, 0]], normals) / 6
        exact = {
            "sphere": 0.7**3,
            "ellipsoid": 0.5 * 0.8 * 1.1,
            "spheroid": 0.5**2 * 1.1,
            "torus": 0.3**2 * 1.5 * np.pi,
        }
        assert volume == pytest.approx(exact[name.split()[0]] * 4 / 3 * np.pi, rel=0.03)  # an inscribed polyhedron
    else:
        assert shared.max() == 2
        away = (0, 0, 1) if name in ("plane", "paraboloid") else vertices[faces].mean(axis=1)
        assert (np.sum(normals * away, axis=1) > 0.0).all()


def test_a_mesh_of_part_of_a_surface_and_with_parameters():
    size = sp.Symbol("size", real=True)
    vertices, _ = surfaces.cylinder(size).mesh(16, 3, v=(0.0, 2.0), parameters={"size": 0.3})
    np.testing.assert_allclose(np.hypot(vertices[:, 0], vertices[:, 1]), 0.3, atol=1e-15)
    assert vertices[:, 2].min() == 0.0 and vertices[:, 2].max() == 2.0
    with pytest.raises(rd.ModelError, match=r"surfaces\.cylinder depends on 'size'.*parameters="):
        surfaces.cylinder(size).mesh()
    with pytest.raises(rd.ModelError, match="nu and nv of 3 or more, not 2 and 24"):
        surfaces.sphere(1.0).mesh(2)
    half, faces = surfaces.sphere(1.0).mesh(20, 10, u=(0.0, np.pi))
    assert half[:, 1].min() > -1e-12 and faces.max() == len(half) - 1
