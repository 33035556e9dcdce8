"""Mass properties of shapes and bodies: closed forms, frames, composition, and every input that must be refused."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import numpy as np
import pybullet_data
import pytest
import sympy as sp
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph
from recursive_dyn.graph.traversal import evaluate
from scene import Body, shapes
from scene.mass_properties import MassProperties, combine, of_body

SOLIDS = [
    shapes.Box((0.3, 0.5, 0.7)),
    shapes.Sphere(0.4),
    shapes.Capsule(0.2, 0.9),
    shapes.Cylinder(0.3, 0.8),
    shapes.Ellipsoid((0.2, 0.3, 0.5)),
    shapes.Torus(0.5, 0.2),
]
BOX = np.diag([0.1, 0.11, 0.12])
NAN = float("nan")


def kind(shape):
    return type(shape).__name__


def pose(translation, vector):
    """4x4 pose with the rotation by |vector| radians about it (Rodrigues)."""
    angle = float(np.linalg.norm(vector))
    x, y, z = np.asarray(vector) / angle if angle > 0 else np.zeros(3)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    X = np.eye(4)
    X[:3, :3] += np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
    X[:3, 3] = translation
    return X


def with_pose(shape, at):
    return dataclasses.replace(shape, at=at)


def assert_same(a, b, rtol):
    """Equal within `rtol` of the body's own scales: its mass, its radius of gyration, its trace."""
    trace = np.trace(np.asarray(b.inertia, dtype=float))
    assert a.mass == pytest.approx(b.mass, rel=rtol)
    np.testing.assert_allclose(a.center_of_mass, b.center_of_mass, atol=rtol * np.sqrt(trace / b.mass))
    np.testing.assert_allclose(a.inertia, b.inertia, atol=rtol * trace)


poses = st.builds(
    pose,
    st.tuples(*[st.floats(-2, 2)] * 3),
    st.tuples(*[st.floats(-3, 3)] * 3),
)
lengths = st.floats(0.05, 2.0)
solids = st.one_of(
    st.builds(shapes.Box, st.tuples(lengths, lengths, lengths)),
    st.builds(shapes.Sphere, lengths),
    st.builds(shapes.Capsule, lengths, lengths),
    st.builds(shapes.Cylinder, lengths, lengths),
    st.builds(shapes.Ellipsoid, st.tuples(lengths, lengths, lengths)),
    st.builds(lambda minor, gap: shapes.Torus(minor + gap, minor), lengths, lengths),
)


class TestClosedForms:
    @pytest.mark.parametrize("shape", SOLIDS, ids=kind)
    def test_a_tessellation_converges_to_the_closed_form(self, shape):
        exact = shape.mass_properties(700.0)
        assert exact.mass == pytest.approx(700.0 * shape.volume)

        def error(sections):
            mesh = shapes.Mesh(shapes.to_trimesh(shape, sections)).mass_properties(700.0)
            np.testing.assert_allclose(mesh.center_of_mass, exact.center_of_mass, atol=1e-12)
            return abs(mesh.mass / exact.mass - 1), np.abs(mesh.inertia - exact.inertia).max() / np.trace(exact.inertia)

        # Inscribed polygons miss O(1/n^2) of the area: halving the edges quarters the error of mass and of inertia.
        coarse, fine = error(40), error(160)
        for rough, close in zip(coarse, fine, strict=True):
            assert close < max(rough / 10, 1e-12)
        assert max(fine) < 2e-3

    def test_textbook_values(self):
        sphere = shapes.Sphere(2.0).mass_properties(3.0)
        assert sphere.mass == pytest.approx(32 * np.pi)
        np.testing.assert_allclose(sphere.inertia, np.eye(3) * 0.4 * 32 * np.pi * 4, rtol=1e-15)
        box = of_body("box", [shapes.Box((1, 2, 3))], mass=12.0)
        np.testing.assert_allclose(box.inertia, np.diag([13.0, 10.0, 5.0]), rtol=1e-15)

    def test_a_ball_is_the_limit_of_ellipsoid_and_capsule(self):
        ball = shapes.Sphere(0.3).mass_properties(1.0)
        assert_same(shapes.Ellipsoid((0.3, 0.3, 0.3)).mass_properties(1.0), ball, 1e-14)
        assert_same(shapes.Capsule(0.3, 1e-12).mass_properties(1.0), ball, 1e-11)

    @pytest.mark.parametrize("shape", SOLIDS, ids=kind)
    def test_tessellations_are_closed_and_wound_outward(self, shape):
        mesh = shapes.to_trimesh(with_pose(shape, pose((1, 2, 3), (1, 0, 0))))
        assert mesh.is_volume and mesh.volume > 0
        np.testing.assert_allclose(mesh.bounds.sum(axis=0), 0, atol=1e-12)  # `at` is not applied

    def test_a_plane_has_no_mass_and_no_triangles(self):
        plane = shapes.Plane(normal=(0, 0, 2))
        assert plane.normal == (0.0, 0.0, 1.0)
        assert plane.volume == 0.0 and plane.mass_properties(1.0).mass == 0.0
        with pytest.raises(ModelError, match="Plane"):
            shapes.to_trimesh(plane)


class TestFrames:
    @given(solids, poses)
    @settings(max_examples=60, deadline=None)
    def test_a_pose_turns_the_inertia_and_carries_the_centre(self, shape, at):
        here = shape.mass_properties(500.0)
        there = with_pose(shape, at).mass_properties(500.0)
        size = np.trace(here.inertia)
        assert there.mass == here.mass
        np.testing.assert_allclose(there.center_of_mass, at[:3, 3], atol=1e-14)
        assert np.trace(there.inertia) == pytest.approx(size, rel=1e-13)
        np.testing.assert_allclose(
            np.linalg.eigvalsh(there.inertia), np.linalg.eigvalsh(here.inertia), atol=1e-13 * size
        )
        np.testing.assert_array_equal(there.inertia, there.inertia.T)
        axis = at[:3, 2]  # the shape's z axis is principal
        np.testing.assert_allclose(there.inertia @ axis, here.inertia[2, 2] * axis, atol=1e-13 * size)

    @given(poses)
    @settings(max_examples=20, deadline=None)
    def test_a_mesh_moved_by_its_vertices_or_by_its_pose_is_the_same(self, at):
        mesh = trimesh.creation.box(extents=(0.3, 0.5, 0.7))
        mesh.apply_translation((0.1, 0.2, -0.3))
        posed = shapes.Mesh(mesh, at=at).mass_properties(10.0)
        # By hand: trimesh's apply_transform takes a turn of 1e-9 for the identity.
        moved = trimesh.Trimesh(mesh.vertices @ at[:3, :3].T + at[:3, 3], mesh.faces)
        assert_same(shapes.Mesh(moved).mass_properties(10.0), posed, 1e-12)

    def test_a_pose_of_six_digits_is_orthonormalised(self):
        at = np.round(pose((0, 0, 0), (0.3, 0.5, -0.2)), 6)
        plate = shapes.Box((1, 1, 1e-9), at=at)
        np.testing.assert_allclose(plate.at[:3, :3].T @ plate.at[:3, :3], np.eye(3), atol=1e-11)
        of_body("plate", [plate])  # would violate the triangle inequality by 1e-6 otherwise

    def test_shapes_keep_their_own_copy(self):
        at = np.eye(4)
        shape = shapes.Sphere(1, at=at)
        at[0, 3] = 5.0
        assert shape.at[0, 3] == 0.0
        with pytest.raises(ValueError, match="read-only"):
            shape.at[0, 3] = 1.0
        np.testing.assert_array_equal(shapes.Sphere(1, at=None).at, np.eye(4))


class TestCombine:
    @given(st.lists(st.tuples(solids, poses, st.floats(1.0, 1e4)), min_size=1, max_size=4))
    @settings(max_examples=40, deadline=None)
    def test_the_inertia_about_the_origin_and_the_first_moment_add(self, parts):
        single = [with_pose(shape, at).mass_properties(density) for shape, at, density in parts]

        def about_origin(p):
            c = p.center_of_mass
            return p.inertia + p.mass * (c @ c * np.eye(3) - np.outer(c, c))

        whole = combine(single)
        assert whole.mass == pytest.approx(sum(p.mass for p in single), rel=1e-14)
        first = sum(p.mass * p.center_of_mass for p in single)
        np.testing.assert_allclose(whole.mass * whole.center_of_mass, first, atol=1e-12 * whole.mass)
        total = sum(about_origin(p) for p in single)
        np.testing.assert_allclose(about_origin(whole), total, atol=1e-12 * np.trace(total))

    def test_a_box_cut_in_eight_is_the_box(self):
        corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
        size = np.array([0.4, 0.6, 1.0])
        eighths = [shapes.Box(size / 2, at=pose(size / 4 * c, (0, 0, 0))) for c in corners]
        assert_same(of_body("cut", eighths), of_body("whole", [shapes.Box(size)]), 1e-14)

    def test_a_compound_is_its_meshes_joined(self):
        at = [pose((1, 0, 0), (0.3, 0.1, 0)), pose((-1, 0.5, 0), (0, 0, 2)), pose((0, 0, 2), (1, 1, 1))]
        bodies = [shapes.Box((0.3, 0.5, 0.7)), shapes.Torus(0.5, 0.1), shapes.Capsule(0.2, 0.5)]
        meshes = [shapes.to_trimesh(b).apply_transform(X) for b, X in zip(bodies, at, strict=True)]
        joined = shapes.Mesh(trimesh.util.concatenate(meshes)).mass_properties(1000.0)
        parts = [shapes.Mesh(shapes.to_trimesh(b), at=X) for b, X in zip(bodies, at, strict=True)]
        assert_same(of_body("compound", parts), joined, 1e-12)

    def test_symbolic_parts(self):
        m = Graph().input(("parameter", "m"))
        parts = [MassProperties(m, [1, 0, 0], np.zeros((3, 3))), MassProperties(2.0, [0, 1, 0], BOX)]
        whole = combine(parts)
        numeric = combine([MassProperties(3.0, [1, 0, 0], np.zeros((3, 3))), parts[1]])

        def at_three(array):
            return np.array(evaluate(list(np.ravel(array)), {("parameter", "m"): 3.0}), dtype=float)

        np.testing.assert_allclose(at_three(whole.center_of_mass), numeric.center_of_mass, rtol=1e-14)
        np.testing.assert_allclose(at_three(whole.inertia), numeric.inertia.ravel(), atol=1e-15)

    def test_nothing_has_no_mass(self):
        assert combine([]).mass == 0.0
        assert not combine([]).inertia.any()


class TestOfBody:
    def test_default_density_is_water(self):
        assert of_body("a", [shapes.Box((1, 1, 1))]).mass == pytest.approx(1000.0)
        assert of_body("a", [shapes.Box((1, 1, 1))], density=2.0).mass == pytest.approx(2.0)

    def test_a_given_mass_scales_the_distribution(self):
        dumbbell = [shapes.Sphere(0.1, at=pose((0, 0, z), (0, 0, 0))) for z in (0.0, 1.0)]
        free, scaled = of_body("a", dumbbell), of_body("a", dumbbell, mass=2.0)
        assert scaled.mass == 2.0
        np.testing.assert_allclose(scaled.center_of_mass, [0, 0, 0.5], atol=1e-15)
        np.testing.assert_allclose(scaled.inertia, free.inertia * 2.0 / free.mass, rtol=1e-14)

    def test_a_given_centre_keeps_the_inertia_of_the_shapes(self):
        box = [shapes.Box((1, 2, 3))]
        moved = of_body("a", box, mass=12.0, center_of_mass=(0.1, 0, 0))
        np.testing.assert_array_equal(moved.center_of_mass, [0.1, 0, 0])
        np.testing.assert_array_equal(moved.inertia, of_body("a", box, mass=12.0).inertia)

    def test_a_given_inertia_stands_and_the_centre_follows_from_the_shapes(self):
        ball = [shapes.Sphere(0.1, at=pose((0, 0, 1), (0, 0, 0)))]
        result = of_body("a", ball, mass=1.0, inertia=BOX)
        np.testing.assert_array_equal(result.inertia, BOX)
        np.testing.assert_array_equal(result.center_of_mass, [0, 0, 1])

    def test_a_point_mass_and_a_massless_frame(self):
        point = of_body("a", mass=2.0, center_of_mass=(0, 0, -1))
        assert point.mass == 2.0 and not point.inertia.any()
        np.testing.assert_array_equal(of_body("a", mass=2.0, inertia=np.zeros((3, 3))).inertia, np.zeros((3, 3)))
        assert of_body("a").mass == 0.0
        assert of_body("ground", [shapes.Plane()]).mass == 0.0
        assert of_body("ground", [shapes.Plane()], mass=1.0).mass == 1.0

    def test_plates_and_slender_rods_are_bodies(self):
        at = pose((0, 0, 0), (0.3, 0.4, 0.5))
        of_body("plate", [shapes.Box((1, 1, 1e-9), at=at)])
        of_body("wire", [shapes.Cylinder(1e-5, 10.0, at=at)])
        of_body("given", mass=1.0, inertia=np.diag([1.0, 1.0, 2.0]))

    def test_flags_do_not_change_the_mass(self):
        parts = [shapes.Sphere(0.1), shapes.Box((1, 1, 1), collision=False), shapes.Box((1, 1, 1), visual=False)]
        assert of_body("a", parts).mass == pytest.approx(1000 * sum(p.volume for p in parts))

    def test_symbolic_mass_scales_the_shapes(self):
        m = sp.Symbol("m", real=True)
        body = Body("a", [shapes.Box((1, 2, 3))], mass=m)
        assert body.mass == m and body.inertia.dtype == object and body.center_of_mass.dtype == np.float64
        np.testing.assert_allclose(
            np.array([sp.sympify(e).subs(m, 12) for e in body.inertia.diagonal()], dtype=float), [13, 10, 5], rtol=1e-14
        )

    def test_symbolic_entries_are_kept_and_numbers_of_sympy_become_floats(self):
        R = sp.Symbol("R", real=True)
        body = Body("a", mass=sp.Rational(1, 2), center_of_mass=sp.Matrix([0, R, 1]), inertia=sp.diag(R, R, 2))
        assert body.mass == 0.5 and isinstance(body.mass, float)
        assert body.center_of_mass.shape == (3,) and body.center_of_mass[1] == R
        assert body.inertia[0, 0] == R and body.inertia[2, 2] == 2.0
        numeric = of_body("a", mass=1, inertia=sp.diag(1, 1, sp.Rational(3, 2)))
        assert numeric.inertia.dtype == np.float64

    def test_symbolic_density(self):
        rho = sp.Symbol("rho", real=True)
        assert Body("a", [shapes.Box((1, 1, 2))], density=rho).mass.subs(rho, 3.0) == pytest.approx(6.0)


def test_primitives_do_not_import_trimesh():
    code = (
        "import sys; from scene import shapes; from scene.mass_properties import of_body;"
        "of_body('a', [shapes.Torus(1, 0.1)], mass=1.0);"
        "assert 'trimesh' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_collada_files_are_read():
    """Robots' pictures are often such files; what reads them is not a part of trimesh."""
    cone = Path(pybullet_data.getDataPath()) / "racecar" / "meshes" / "cone.dae"
    mesh = shapes.Mesh(cone).geometry
    assert len(mesh.faces) == 38 and np.isfinite(mesh.vertices).all()
