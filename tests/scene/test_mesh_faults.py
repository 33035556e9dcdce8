"""Mesh files that are missing, damaged or named by what no file system takes; files that ask for too much memory."""

import json
import tracemalloc
import warnings

import numpy as np
import pytest
import trimesh

import recursive_dyn as rd
from scene import Scene, shapes


@pytest.mark.parametrize("name", ["a" * 5000, "a/" * 3000, "a\0b", "gone.stl", ""])
def test_a_name_that_is_no_file_is_refused(name):
    with pytest.raises(rd.ModelError, match=r"Mesh '.*no such file"):
        shapes.Mesh(name)


@pytest.mark.parametrize("kind", ["glb", "stl", "ply", "obj"])
def test_a_damaged_file_is_read_or_refused(kind, tmp_path):
    path = tmp_path / f"mesh.{kind}"
    trimesh.creation.icosphere(subdivisions=1).export(path)
    data, rng = path.read_bytes(), np.random.default_rng(0)
    for _ in range(60):
        damaged = bytearray(data)
        for i in rng.integers(min(len(data), 1500), size=4):
            damaged[i] = rng.integers(256)
        path.write_bytes(damaged[: rng.integers(len(data))] if rng.random() < 0.3 else damaged)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                assert len(shapes.to_trimesh(shapes.Mesh(path)).faces)
            except rd.ModelError as error:
                assert f"mesh.{kind}" in str(error)


def test_corners_are_vertices(tmp_path):
    mesh = trimesh.creation.box()
    mesh.faces[0, 0] = 99
    with pytest.raises(rd.ModelError, match="a corner that is none of the 8 vertices"):
        _ = shapes.Mesh(mesh).geometry


def document(shape: dict) -> str:
    world = {"format": "recursive-dyn scene", "version": 2, "gravity": [0, 0, 0], "bodies": []}
    return json.dumps({**world, "scenery": [shape]})


ROWS = [[0, 0, 0]] * 20_000
LONG = "1" * 200_000


@pytest.mark.parametrize(
    "shape",
    [
        {"kind": "Mesh", "scale": [1, 1, 1], "vertices": [[LONG, 0, 0], *ROWS], "faces": [[0, 1, 2]]},
        {"kind": "Mesh", "scale": [1, 1, 1], "vertices": ROWS, "faces": [[LONG, 1, 2], *ROWS]},
        {"kind": "HeightField", "spacing": [1, 1], "heights": [[0] * 40_000, *[[]] * 40_000]},
        {"kind": "HeightField", "spacing": [1, 1], "heights": [[LONG, 0], *[[0, 0]] * 20_000]},
    ],
    ids=["vertices", "faces", "ragged heights", "heights"],
)
def test_a_file_gets_memory_for_what_it_holds_only(shape, tmp_path):
    """NumPy makes a table of texts as wide as the longest: half a megabyte would take gigabytes."""
    (tmp_path / "scene.json").write_text(document(shape))
    tracemalloc.start()
    try:
        with pytest.raises(rd.SceneFileError, match=rf"the world: .* of {shape['kind']} must be"):
            Scene.load(tmp_path / "scene.json")
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()
