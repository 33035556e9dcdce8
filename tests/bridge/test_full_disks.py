"""Convex parts and mesh files when the disk is full, or when the cache holds something else in their place."""

import errno
import io
import os
from pathlib import Path

import numpy as np
import pytest
import trimesh

import recursive_dyn as rd
from bridge import mesh_cache
from bridge.bodies import convex_decomposition as decomposition
from bridge.meshes.files import MeshFiles
from bridge.meshes.triangle_mesh import Triangles
from scene import shapes


def one_array() -> bytes:
    file = io.BytesIO()
    np.save(file, np.eye(3))
    return file.getvalue()


def some_arrays() -> bytes:
    return mesh_cache.packed({name: np.zeros((2, 3)) for name in ("frame", "counts", "vertices", "faces")})


def ring():
    return trimesh.creation.torus(1.0, 0.3, major_sections=16, minor_sections=8)


@pytest.mark.parametrize(
    "payload",
    (b"", b"no archive", b"PK\3\4", one_array(), some_arrays()),
    ids=("empty", "text", "cut", "one array", "other arrays"),
)
def test_what_is_kept_in_place_of_parts_is_cut_anew(payload, monkeypatch, tmp_path):
    """An intact entry of something else, as another version of the program might leave it."""
    monkeypatch.setenv("RECURSIVE_DYN_CACHE", str(tmp_path / "cache"))
    made = io.BytesIO()
    np.savez(made, np.eye(4, 3), np.array([[0, 1, 2]]))
    monkeypatch.setattr(decomposition, "_run", lambda *_: (made.getvalue(), None))
    stored = {}
    monkeypatch.setattr(mesh_cache.cache, "store", stored.__setitem__)
    monkeypatch.setattr(mesh_cache.cache, "load", lambda key: payload)
    parts = decomposition.hulls(shapes.Mesh(ring()))
    assert parts is not None and len(parts.parts) == 1
    (kept,) = stored.values()
    monkeypatch.setattr(mesh_cache.cache, "load", lambda key: kept)
    monkeypatch.setattr(decomposition, "_run", lambda *_: pytest.fail("it was cut again"))
    again = decomposition.hulls(shapes.Mesh(ring()))
    assert again is not None
    np.testing.assert_array_equal(again.parts[0][0], parts.parts[0][0])


def full(*arguments, **options):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_stops_no_cutting(monkeypatch, tmp_path):
    monkeypatch.setenv("RECURSIVE_DYN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(os, "replace", full)
    monkeypatch.setattr("tempfile.mkdtemp", full)
    parts = decomposition.hulls(shapes.Mesh(ring()))
    assert parts is not None and len(parts.parts) >= 6


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="no memory to put files in")
def test_meshes_are_written_to_memory_where_the_disk_is_full(monkeypatch):
    files, mesh = MeshFiles(), Triangles.shaded(ring().vertices, ring().faces)
    write = Path.write_text
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", lambda self, text: write(self, text) if "/dev/shm" in str(self) else full())
        kept = Path(files.add(mesh).path)
        assert kept.read_text().count("\nf ") == len(mesh.faces)
        patch.setattr(Path, "write_text", full)
        with pytest.raises(rd.ModelError, match=r"No space left.*TMPDIR"):
            files.add(mesh).write()
    files.close()
    assert not kept.parent.exists()
