"""Mass properties of meshes: any shape of them, open and damaged ones refused."""

from pathlib import Path

import numpy as np
import pytest
import trimesh
from test_shapes import BOX, NAN, assert_same, pose

from recursive_dyn.errors import ModelError
from scene import shapes
from scene.mass_properties import of_body


def open_box():
    mesh = trimesh.creation.box(extents=(1, 1, 1))
    return trimesh.Trimesh(mesh.vertices, mesh.faces[1:])


class TestMesh:
    def test_file_and_scale(self, tmp_path):
        path = tmp_path / "box.stl"
        trimesh.creation.box(extents=(100, 200, 300)).export(path)
        from_mm = shapes.Mesh(str(path), scale=1e-3)
        box = shapes.Box((0.1, 0.2, 0.3))
        assert from_mm.volume == pytest.approx(box.volume, rel=1e-12)
        assert_same(from_mm.mass_properties(1000.0), box.mass_properties(1000.0), 1e-12)
        assert shapes.to_trimesh(from_mm).volume == pytest.approx(box.volume, rel=1e-12)
        stretched = shapes.Mesh(path, scale=(1e-3, 2e-3, 3e-3))
        assert_same(stretched.mass_properties(1.0), shapes.Box((0.1, 0.4, 0.9)).mass_properties(1.0), 1e-12)

    def test_seams_between_textures_are_no_holes(self):
        cube = trimesh.creation.box(extents=(1, 2, 3))
        apart = trimesh.Trimesh(cube.triangles.reshape(-1, 3), np.arange(36).reshape(-1, 3), process=False)
        assert_same(shapes.Mesh(apart).mass_properties(1.0), shapes.Box((1, 2, 3)).mass_properties(1.0), 1e-13)

    def test_a_triangle_shrunk_to_an_edge_is_no_hole(self):
        cube = trimesh.creation.box(extents=(1, 2, 3))
        first, second = cube.faces[0][:2]
        sliver = trimesh.Trimesh(cube.vertices, [*cube.faces, [first, first, second]], process=False)
        assert_same(shapes.Mesh(sliver).mass_properties(1.0), shapes.Box((1, 2, 3)).mass_properties(1.0), 1e-13)

    @pytest.mark.parametrize("size, away", [(1e-6, 0.0), (1e6, 0.0), (1.0, 1e4)])
    def test_tiny_huge_and_distant_meshes_keep_their_inertia(self, size, away):
        mesh = trimesh.Trimesh(*trimesh.remesh.subdivide(*_cube(size)), process=False)
        mesh.vertices += away
        box = shapes.Box((size,) * 3, at=pose((away,) * 3, (0, 0, 0))).mass_properties(1.0)
        # The vertices themselves are rounded to away * 1e-16.
        assert_same(shapes.Mesh(mesh).mass_properties(1.0), box, 1e-12 + 1e-15 * away)

    def test_a_mirrored_mesh_may_be_shown_but_has_no_mass(self):
        mirrored = shapes.Mesh(trimesh.creation.box(extents=(1, 1, 1)), scale=(1, -1, 1))
        assert shapes.to_trimesh(mirrored).volume == pytest.approx(1.0)
        with pytest.raises(ModelError, match=r"body 'left'.*inside out.*mirror"):
            of_body("left", [mirrored])
        turned = shapes.Mesh(trimesh.creation.box(extents=(1, 1, 1)), scale=(-1, -1, 1))
        assert turned.volume == pytest.approx(1.0)  # two mirrors are a rotation

    def test_an_open_mesh_may_be_shown_on_a_body_that_is_known(self):
        mesh = shapes.Mesh(open_box())
        known = of_body("shell", [mesh], mass=1.0, center_of_mass=(0, 0, 0), inertia=BOX)
        np.testing.assert_array_equal(known.inertia, BOX)
        for given_ in ({}, {"density": 1.0}, {"mass": 1.0}, {"mass": 1.0, "inertia": BOX}):
            with pytest.raises(
                ModelError, match=r"body 'shell'.*not watertight.*give mass, center_of_mass and inertia"
            ):
                of_body("shell", [mesh], **given_)

    def test_wrong_windings_are_refused(self):
        cube = trimesh.creation.box(extents=(1, 1, 1))
        inverted = trimesh.Trimesh(cube.vertices, cube.faces[:, ::-1], process=False)
        with pytest.raises(ModelError, match="inside out"):
            shapes.Mesh(inverted).mass_properties(1.0)
        mixed = cube.faces.copy()
        mixed[0] = mixed[0, ::-1]
        with pytest.raises(ModelError, match="wound both ways"):
            _ = shapes.Mesh(trimesh.Trimesh(cube.vertices, mixed, process=False)).volume

    def test_a_flat_mesh_is_refused(self):
        sheet = trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 1]], process=False)
        with pytest.raises(ModelError, match="Mesh: the mesh is closed but flat"):
            shapes.Mesh(sheet).mass_properties(1.0)
        dot = trimesh.Trimesh(np.ones((3, 3)), [[0, 1, 2]], process=False)
        with pytest.raises(ModelError, match="Mesh"):
            shapes.Mesh(dot).mass_properties(1.0)

    def test_missing_unreadable_and_empty_files(self, tmp_path):
        with pytest.raises(ModelError, match=r"nowhere\.obj.*no such file"):
            shapes.Mesh(tmp_path / "nowhere.obj")
        with pytest.raises(ModelError, match="no such file"):
            shapes.Mesh(tmp_path)
        for name, content in (
            ("garbage.stl", b"\x00garbage"),
            ("garbage.glb", b"not a glb"),
            ("unknown.xyzzy", b"1"),
            ("empty.obj", b""),
            ("points.ply", b"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n"
             b"property float z\nend_header\n0 0 0\n"),
        ):  # fmt: skip
            path = Path(tmp_path / name)
            path.write_bytes(content)
            mesh = shapes.Mesh(path)  # read only when needed
            with pytest.raises(ModelError, match=name):
                of_body("a", [mesh])

    def test_not_a_mesh(self):
        with pytest.raises(ModelError, match=r"path or a trimesh\.Trimesh"):
            shapes.Mesh(3)
        bad = trimesh.creation.box()
        bad.vertices[0, 0] = NAN
        with pytest.raises(ModelError, match="finite"):
            shapes.Mesh(bad).mass_properties(1.0)


def _cube(size):
    cube = trimesh.creation.box(extents=(size,) * 3)
    return cube.vertices, cube.faces
